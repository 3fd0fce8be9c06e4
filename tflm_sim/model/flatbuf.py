"""Bounds-checked views of a flatbuffer: tables, vectors and strings over one memoryview.

    file    [root: u32][identifier: 4 bytes] ... vtable ... table ... vector ...
    table   [distance back to its vtable: i32][inline fields ...]
    vtable  [own size: u16][table size: u16][offset of field 0 in the table: u16, 0 = absent][field 1] ...
    vector  [count: u32][elements ...]      string: a vector of bytes with a NUL behind it

Invariant: a read either lies inside the file or raises :class:`ModelError` with the offset. Nothing recurses, and what
is turned into Python objects is bounded by ``PARSED_BYTES_PER_FILE_BYTE``: well-formed files share a few vectors, but
many references to one huge vector would let a small file ask for unlimited memory.

Positions are bytes from the start of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, calcsize, error, unpack_from
from typing import Any

from tflm_sim.errors import ModelError
from tflm_sim.model.schema import SCALAR_CODES

# Two bytes parsed per byte stored leave room for shared vectors; no file that a converter wrote comes near it.
PARSED_BYTES_PER_FILE_BYTE = 2
MIN_PARSED_BYTES = 4096

# Fields that a vtable view keeps. The widest table that we read (StablehloConvolutionOptions) has 17.
MAX_FIELDS = 20

IDENTIFIER_POSITION = 4
IDENTIFIER_SIZE = 4

_U16 = Struct("<H")
_U32 = Struct("<I")
_I32 = Struct("<i")
_read_u32 = _U32.unpack_from
_read_i32 = _I32.unpack_from

SCALARS: dict[str, Struct] = {name: Struct(f"<{code}") for name, code in SCALAR_CODES.items()}
"""The scalar types of the schema language as a flatbuffer has them, little-endian."""

_ELEMENT_WIDTHS = {code: calcsize(f"<{code}") for code in "?bBhHiIqQf"}


class FlatBuffer:
    """The bytes of one flatbuffer and what may still be parsed out of them (mutable: the budget).

    Attributes:
        data: The file's bytes.
        size: Their number.
        is_strict: Whether a tensor index that is out of range is an error at once.
        index_fault: Where it is not: the error of the first such index.
    """

    __slots__ = ("_budget", "_vtables", "data", "index_fault", "is_strict", "size")

    def __init__(self, data: memoryview, *, strict: bool = True) -> None:
        self.data = data
        self.is_strict = strict
        self.index_fault: ModelError | None = None
        self.size = len(data)
        self._budget = self.size * PARSED_BYTES_PER_FILE_BYTE + MIN_PARSED_BYTES
        self._vtables: dict[int, tuple[int, ...]] = {}

    def root(self, identifier: bytes | None = None) -> Table:
        """Return the root table, after checking the file identifier when one is asked for.

        Raises:
            ModelError: Too short, another identifier, or a root outside of the file.
        """
        if self.size < IDENTIFIER_POSITION + IDENTIFIER_SIZE:
            raise ModelError(f"{self.size} bytes are too few for a flatbuffer", offset=0)
        if identifier is not None:
            self._check_identifier(identifier)
        return Table(self, _U32.unpack_from(self.data)[0])

    def _check_identifier(self, identifier: bytes) -> None:
        found = bytes(self.data[IDENTIFIER_POSITION : IDENTIFIER_POSITION + IDENTIFIER_SIZE])
        if found == identifier:
            return
        if bytes(self.data[8:12]) == identifier:
            raise ModelError("the flatbuffer is size-prefixed: drop its first 4 bytes, TFLM cannot read them", offset=0)
        raise ModelError(f"the file identifier is {found!r} and not {identifier!r}", offset=IDENTIFIER_POSITION)

    def scalar(self, kind: Struct, position: int) -> Any:
        try:
            return kind.unpack_from(self.data, position)[0]
        except error:
            raise self._outside("a scalar", position, kind.size) from None

    def target(self, position: int) -> int:
        """Return the position that the 32-bit offset stored at ``position`` points to."""
        try:
            offset: int = _read_u32(self.data, position)[0]
        except error:
            raise self._outside("an offset", position, 4) from None
        return position + offset

    def fields(self, position: int) -> tuple[int, ...]:
        """Return where the table at ``position`` keeps its fields: bytes from ``position``, 0 for an absent field."""
        try:
            vtable: int = position - _read_i32(self.data, position)[0]
        except error:
            raise self._outside("a table", position, 4) from None
        fields = self._vtables.get(vtable)
        if fields is None:
            fields = self._vtables[vtable] = self._read_vtable(vtable)
        return fields

    def _read_vtable(self, position: int) -> tuple[int, ...]:
        """Return the field offsets of a vtable, padded with 0 to MAX_FIELDS."""
        if position < 0:
            raise ModelError(f"a vtable would lie {-position} bytes before the file", offset=0)
        # The runtime looks a field up when its slot starts inside the vtable, so an odd size counts as one byte more.
        size: int = self.scalar(_U16, position)
        count = min(max(0, (size - 3) // 2), MAX_FIELDS)
        try:
            fields: tuple[int, ...] = unpack_from(f"<{count}H", self.data, position + 4)
        except error:
            raise self._outside("a vtable", position, 4 + 2 * count) from None
        return fields + (0,) * (MAX_FIELDS - count)

    def field_past_view(self, position: int) -> int | None:
        """Return the first slot from ``MAX_FIELDS`` on that the table at ``position`` stores, or None."""
        vtable: int = position - _read_i32(self.data, position)[0]
        size: int = self.scalar(_U16, vtable)
        rest = bytes(self.data[vtable + 4 + 2 * MAX_FIELDS : vtable + size + size % 2])
        empty = len(rest) - len(rest.lstrip(b"\0"))
        return None if empty == len(rest) else MAX_FIELDS + empty // 2

    def vector(self, position: int, width: int) -> tuple[int, int]:
        """Return (position of the first element, count) of the vector at ``position`` with ``width``-byte elements."""
        try:
            count: int = _read_u32(self.data, position)[0]
        except error:
            raise self._outside("a vector", position, 4) from None
        start = position + 4
        if count * width > self.size - start:
            raise self._outside(f"a vector of {count} x {width} bytes", position, 4 + count * width)
        return start, count

    def numbers(self, position: int, code: str) -> tuple[Any, ...]:
        """Return the numbers of the vector at ``position``; ``code`` is the ``struct`` code of an element."""
        width = _ELEMENT_WIDTHS[code]
        start, count = self.vector(position, width)
        self.charge(count * width, position)
        return unpack_from(f"<{count}{code}", self.data, start)

    def raw_numbers(self, position: int, width: int) -> bytes:
        """Return the bytes of the vector at ``position`` with ``width``-byte elements, to be read later."""
        start, count = self.vector(position, width)
        self.charge(count * width, position)
        return bytes(self.data[start : start + count * width])

    def view(self, position: int) -> memoryview:
        """Return the bytes of the byte vector at ``position`` without copying them."""
        start, count = self.vector(position, 1)
        return self.data[start : start + count]

    def text(self, position: int) -> str:
        """Return the string at ``position``, invalid UTF-8 replaced."""
        view = self.view(position)
        self.charge(len(view), position)
        return str(view, "utf-8", "replace")

    def charge(self, size: int, position: int) -> None:
        """Count ``size`` bytes as parsed; refuse the file once more was parsed than it can hold honestly."""
        self._budget -= size
        if self._budget < 0:
            raise ModelError("more is referenced than the file holds: its vectors overlap", offset=position)

    def _outside(self, what: str, position: int, size: int) -> ModelError:
        """Return the error for something that does not lie inside the file."""
        end = position + size
        return ModelError(f"{what} would end at byte {end} of a file of {self.size}: is it truncated?", offset=position)


class Table:
    """One table of a flatbuffer. Fields are named by their slot: their index in the schema's declaration.

    Attributes:
        buffer: The flatbuffer around it.
        position: Where the table starts.
    """

    __slots__ = ("_fields", "buffer", "position")

    def __init__(self, buffer: FlatBuffer, position: int) -> None:
        self.buffer = buffer
        self.position = position
        self._fields = buffer.fields(position)

    def field_offset(self, slot: int) -> int:
        """Return where a field is, in bytes from the table's start; 0 when it is absent."""
        return self._fields[slot]

    def has(self, slot: int) -> bool:
        """Whether the file stores this field."""
        return self._fields[slot] != 0

    def slots(self) -> Iterator[int]:
        """Yield the slots that the file stores, in order; of those from ``MAX_FIELDS`` on the first only."""
        yield from (slot for slot, offset in enumerate(self._fields) if offset)
        past = self.buffer.field_past_view(self.position)
        if past is not None:
            yield past

    def scalar(self, slot: int, kind: Struct, default: Any = 0) -> Any:
        """Return a scalar field, ``default`` when it is absent; ``kind`` is a value of ``SCALARS``."""
        offset = self._fields[slot]
        return self.buffer.scalar(kind, self.position + offset) if offset else default

    def target(self, slot: int) -> int | None:
        """Return the position that an offset field points to, None when it is absent."""
        offset = self._fields[slot]
        return self.buffer.target(self.position + offset) if offset else None

    def table(self, slot: int) -> Table | None:
        """Return a table field, None when it is absent."""
        position = self.target(slot)
        return None if position is None else Table(self.buffer, position)

    def tables(self, slot: int) -> list[Table] | None:
        """Return a vector of tables, None when it is absent."""
        position = self.target(slot)
        if position is None:
            return None
        buffer = self.buffer
        offsets = buffer.numbers(position, "I")
        return [Table(buffer, position + 4 * i + offset) for i, offset in enumerate(offsets, 1)]

    def numbers(self, slot: int, code: str) -> tuple[Any, ...] | None:
        """Return a vector of numbers (``code``: the ``struct`` code of an element), None when it is absent."""
        position = self.target(slot)
        return None if position is None else self.buffer.numbers(position, code)

    def raw_numbers(self, slot: int, width: int) -> bytes | None:
        """Return the bytes of a vector of numbers (``width``: bytes of an element), None when it is absent."""
        offset = self._fields[slot]
        if not offset:
            return None
        buffer = self.buffer
        return buffer.raw_numbers(buffer.target(self.position + offset), width)

    def view(self, slot: int) -> memoryview | None:
        """Return a byte vector without copying it, None when it is absent."""
        position = self.target(slot)
        return None if position is None else self.buffer.view(position)

    def text(self, slot: int) -> str | None:
        """Return a string, None when it is absent."""
        position = self.target(slot)
        return None if position is None else self.buffer.text(position)
