"""Flatbuffers from a tree of nodes, written front to back in one pass over a queue.

    [root offset][identifier] vtable, root table, then every node that a written node refers to, in order ... [tail]

Invariant: a node lies behind all nodes that refer to it, because offsets are unsigned, and is aligned for what it
holds relative to the start of the file. Equal input gives equal bytes. The tail is data that follows the flatbuffer
as it is, starting at a multiple of 16 bytes: an older file that new tables refer into, or buffers outside of the
flatbuffer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from struct import calcsize, pack, pack_into

from tflm_sim.model.flatbuf import SCALARS
from tflm_sim.units import align_up

TAIL_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class Blob:
    """A vector of scalars: its length in elements, its bytes, and the alignment of the first byte."""

    count: int
    payload: bytes | memoryview
    alignment: int = 4


@dataclass(frozen=True, slots=True)
class InTail:
    """Something that the tail already holds, ``position`` bytes from the tail's start."""

    position: int


class TableNode:
    """A table to be written (mutable until then). Slots are the schema's field indices."""

    __slots__ = ("children", "scalars", "tail_positions")

    def __init__(self) -> None:
        self.scalars: dict[int, tuple[str, int | float]] = {}
        self.children: dict[int, Node] = {}
        self.tail_positions: dict[int, int] = {}

    def scalar(self, slot: int, kind: str, value: int | float, default: int | float = 0) -> None:
        """Add a scalar of the schema type ``kind``, unless it has its default value."""
        if value != default:
            self.scalars[slot] = (kind, value)

    def child(self, slot: int, node: Node | None) -> None:
        """Add a reference to a node; None leaves the field out."""
        if node is not None:
            self.children[slot] = node

    def tail_position(self, slot: int, position: int) -> None:
        """Add a ulong with the place in the file of the tail's byte ``position``."""
        self.scalars[slot] = ("ulong", 0)
        self.tail_positions[slot] = position


@dataclass(frozen=True, slots=True)
class TableVector:
    """A vector of tables."""

    tables: Sequence[TableNode | InTail]


Node = TableNode | TableVector | Blob | InTail


def numbers(code: str, values: Sequence[int] | Sequence[float] | None) -> Blob | None:
    """Return a vector of numbers with the ``struct`` code of an element, None for None."""
    if values is None:
        return None
    return Blob(len(values), pack(f"<{len(values)}{code}", *values), max(4, calcsize(f"<{code}")))


def text(value: str | None) -> Blob | None:
    """Return a string with the NUL that must follow it, None for None."""
    if value is None:
        return None
    encoded = value.encode("utf-8")
    return Blob(len(encoded), encoded + b"\0")


def serialize(root: TableNode, identifier: bytes, *, tail: bytes | bytearray | memoryview = b"") -> bytes:
    """Return the flatbuffer under ``root``, padded to 16 bytes when a tail follows."""
    writer = _Writer(identifier)
    writer.write_all(root)
    return writer.finish(tail)


class _Writer:
    """The bytes so far and what is left to patch."""

    def __init__(self, identifier: bytes) -> None:
        self.out = bytearray(4) + identifier
        self.queue: deque[tuple[int, Node]] = deque()
        self.into_tail: list[tuple[int, int]] = []
        self.tail_positions: list[tuple[int, int]] = []
        self.vtables: dict[bytes, int] = {}

    def write_all(self, root: TableNode) -> None:
        self.queue.append((0, root))
        while self.queue:
            where, node = self.queue.popleft()
            if isinstance(node, InTail):
                self.into_tail.append((where, node.position))
            else:
                position = self._write(node)
                pack_into("<I", self.out, where, position - where)

    def finish(self, tail: bytes | bytearray | memoryview) -> bytes:
        """Return the file, references into the tail resolved."""
        if len(tail):
            self._pad_to(TAIL_ALIGNMENT, 0)
        base = len(self.out)
        for where, position in self.into_tail:
            pack_into("<I", self.out, where, base + position - where)
        for where, position in self.tail_positions:
            pack_into("<Q", self.out, where, base + position)
        return bytes(self.out) + bytes(tail)

    def _pad_to(self, alignment: int, ahead: int) -> None:
        """Pad so that the byte ``ahead`` bytes from here is aligned."""
        end = len(self.out) + ahead
        self.out += bytes(align_up(end, alignment) - end)

    def _write(self, node: TableNode | TableVector | Blob) -> int:
        if isinstance(node, TableNode):
            return self._write_table(node)
        if isinstance(node, TableVector):
            return self._write_table_vector(node)
        self._pad_to(node.alignment, 4)
        position = len(self.out)
        self.out += pack("<I", node.count) + node.payload
        return position

    def _write_table_vector(self, node: TableVector) -> int:
        self._pad_to(4, 0)
        position = len(self.out)
        self.out += pack("<I", len(node.tables)) + bytes(4 * len(node.tables))
        self.queue.extend((position + 4 * i, table) for i, table in enumerate(node.tables, 1))
        return position

    def _write_table(self, node: TableNode) -> int:
        """Write a vtable, unless an equal one is there, and its table."""
        offsets, size, alignment = _layout(node)
        vtable = self._vtable(offsets, size)
        self._pad_to(alignment, 0)
        position = len(self.out)
        self.out += pack("<i", position - vtable) + bytes(size - 4)
        for slot, (kind, value) in node.scalars.items():
            SCALARS[kind].pack_into(self.out, position + offsets[slot], value)
        self.tail_positions += ((position + offsets[slot], p) for slot, p in node.tail_positions.items())
        self.queue.extend((position + offsets[slot], child) for slot, child in sorted(node.children.items()))
        return position

    def _vtable(self, offsets: dict[int, int], size: int) -> int:
        """Return the position of the vtable with these field offsets and this table size."""
        slots = max(offsets, default=-1) + 1
        encoded = pack(f"<{2 + slots}H", 4 + 2 * slots, size, *(offsets.get(slot, 0) for slot in range(slots)))
        if encoded not in self.vtables:
            self._pad_to(2, 0)
            self.vtables[encoded] = len(self.out)
            self.out += encoded
        return self.vtables[encoded]


def _layout(node: TableNode) -> tuple[dict[int, int], int, int]:
    """Return (offset of each field by slot, the table's size, its alignment): wide fields first, after the i32."""
    widths = {slot: SCALARS[kind].size for slot, (kind, _) in node.scalars.items()} | dict.fromkeys(node.children, 4)
    offsets: dict[int, int] = {}
    end = 4
    for slot, width in sorted(widths.items(), key=lambda item: (-item[1], item[0])):
        offsets[slot] = align_up(end, width)
        end = offsets[slot] + width
    return offsets, align_up(end, 4), max(4, *widths.values()) if widths else 4
