"""An ELF file as plain values: header, sections, segments, symbols. Reads what it is asked for, and no further.

    file    [header][segment table] ... sections' bytes ... [section table]

Invariant: every read lies inside the file or raises :class:`FirmwareError` with the offset; time and memory are
proportional to the file, whatever its counts and sizes claim; compressed sections may hold ``MAX_INFLATED_BYTES`` bytes
together. Little-endian files only, 32 and 64 bits: no processor that TFLM has kernels for runs big-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

from tflm_sim.errors import FirmwareError
from tflm_sim.limits import MAX_INFLATED_BYTES

MAGIC = b"\x7fELF"
MACHINES = {3: "i386", 40: "ARM", 62: "x86-64", 94: "Xtensa", 183: "AArch64", 243: "RISC-V"}
"""``e_machine`` of the processors that TFLM is built for."""

WRITE, ALLOCATED, EXECUTABLE, COMPRESSED = 1, 2, 4, 0x800
"""Section flags."""
NO_BITS, SYMBOL_TABLE, DYNAMIC_SYMBOLS = 8, 2, 11
"""Section types."""
LOAD = 1
"""Segment type of what is put into memory."""
_WRITABLE_SEGMENT = 2
FUNCTION = 2
DATA = frozenset({0, 1})
"""Symbol types: a function; an object, which some assemblers write without a type."""
ABSOLUTE, UNDEFINED = 0xFFF1, 0
"""Section indices of symbols that lie in no section."""

MAX_SYMBOLS = 100_000
MAX_SECTIONS = 10_000

_HEADERS = {1: Struct("<HHIIIIIHHHHHH"), 2: Struct("<HHIQQQIHHHHHH")}
_SECTIONS = {1: Struct("<10I"), 2: Struct("<IIQQQQIIQQ")}
_SEGMENTS = {1: Struct("<8I"), 2: Struct("<IIQQQQQQ")}
_SYMBOLS = {1: Struct("<IIIBBH"), 2: Struct("<IBBHQQ")}
_SYMBOL_FIELDS = {1: itemgetter(0, 1, 2, 3, 5), 2: itemgetter(0, 4, 5, 1, 3)}
"""Of a symbol: name, value, size, info, section."""
_COMPRESSION = {1: Struct("<III"), 2: Struct("<IIQQ")}


@dataclass(frozen=True, slots=True)
class Section:
    """A named stretch of the file.

    Attributes:
        name: Its name, "" for none.
        type: ``sh_type``.
        flags: ``sh_flags``.
        address: Where it lies in memory, for what is allocated.
        offset: Where its bytes are in the file.
        size: Bytes; in memory for a section without bits.
        link: Index of the section that it refers to.
    """

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int

    @property
    def is_allocated(self) -> bool:
        """Whether it lies in memory on the device."""
        return bool(self.flags & ALLOCATED)

    @property
    def is_writable(self) -> bool:
        """Whether its flags say that it lies in RAM; see :meth:`Elf.is_in_ram`."""
        return bool(self.flags & WRITE)

    @property
    def has_bits(self) -> bool:
        """Whether the file holds its bytes."""
        return self.type not in (NO_BITS, 0)


@dataclass(frozen=True, slots=True)
class Segment:
    """What a loader puts into memory: bytes from the file, and zeros up to the size in memory.

    Attributes:
        address: Where the program finds it.
        load_address: Where it is stored: flash, for initialised data.
        offset: Where its bytes are in the file.
        file_size: Bytes in the file.
        memory_size: Bytes in memory.
        flags: 1 executable, 2 writable, 4 readable.
    """

    address: int
    load_address: int
    offset: int
    file_size: int
    memory_size: int
    flags: int

    @property
    def is_writable(self) -> bool:
        """Whether the program can write to it: what is copied when it starts lies in RAM, whatever its flags say."""
        return bool(self.flags & _WRITABLE_SEGMENT) or self.is_copied

    @property
    def is_copied(self) -> bool:
        """Whether its bytes are stored elsewhere, and copied when the program starts."""
        return self.file_size > 0 and self.load_address != self.address


class Symbol(NamedTuple):
    """A name for an address.

    Attributes:
        name: As the linker knows it (mangled).
        value: Address, or a number.
        size: Bytes, 0 where unknown.
        type: ``STT_*``: one of :data:`DATA`, :data:`FUNCTION`, ...
        section: Index of its section.
        is_local: Whether it is seen in its own object file alone (STB_LOCAL).
    """

    name: str
    value: int
    size: int
    type: int
    section: int
    is_local: bool = False


class Elf:
    """An ELF file.

    Attributes:
        data: The file's bytes.
        bits: 32 or 64.
        machine: "ARM", "RISC-V", ...; "machine N" for one without a name here.
        flags: ``e_flags``.
        entry: Where its first instruction is, with the Thumb bit on Arm.
        is_linked: Whether it is a program and not an object file.
    """

    def __init__(self, data: memoryview) -> None:
        self.data = data
        if len(data) < 20 or bytes(data[:4]) != MAGIC:
            raise FirmwareError("not an ELF file", offset=0)
        self._class, order = data[4], data[5]
        if self._class not in _HEADERS or order not in (1, 2):
            raise FirmwareError(f"an ELF file of unknown class {self._class} or byte order {order}", offset=4)
        if order == 2:
            raise FirmwareError("a big-endian ELF file; TFLM's targets are little-endian", offset=5)
        self.bits = 32 * self._class
        header = self._unpack(_HEADERS[self._class], 16, "the header")
        self._type, machine, _, self.entry, self._segments_at, self._sections_at, self.flags, _, *counts = header
        self._segment_size, self._segment_count, self._section_size, self._section_count, self._names_index = counts
        self.machine = MACHINES.get(machine, f"machine {machine}")
        self.is_linked = self._type in (2, 3)
        self._inflated = 0

    def _unpack(self, layout: Struct, offset: int, what: str) -> tuple[int, ...]:
        if offset + layout.size > len(self.data):
            raise FirmwareError(
                f"{what} would end at byte {offset + layout.size} of a file of {len(self.data)}: is it truncated?",
                offset=offset,
            )
        return layout.unpack_from(self.data, offset)

    def _rows(self, layout: Struct, at: int, count: int, stride: int, what: str) -> Iterator[tuple[int, ...]]:
        if count and stride < layout.size:
            raise FirmwareError(f"{what} has entries of {stride} bytes; {layout.size} are the least", offset=at)
        end = at + count * stride
        if count and end > len(self.data):
            raise FirmwareError(
                f"{what} would end at byte {end} of a file of {len(self.data)}: is it truncated?", offset=at
            )
        return (layout.unpack_from(self.data, at + i * stride) for i in range(count))

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        rows = self._rows(
            _SEGMENTS[self._class], self._segments_at, self._segment_count, self._segment_size, "the segment table"
        )
        found = []
        for row in rows:
            if self._class == 1:
                kind, offset, address, load, file_size, memory_size, flags, _ = row
            else:
                kind, flags, offset, address, load, file_size, memory_size, _ = row
            if kind == LOAD:
                self._check(offset, file_size, "a segment")
                found.append(Segment(address, load, offset, file_size, memory_size, flags))
        return tuple(found)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections by index; () for a file without a section table."""
        layout, count = _SECTIONS[self._class], self._section_count
        if self._sections_at and not count:
            count = self._unpack(layout, self._sections_at, "the section table")[5]
        if count > MAX_SECTIONS:
            raise FirmwareError(f"{count:,} sections are more than any firmware has", offset=self._sections_at)
        rows = list(self._rows(layout, self._sections_at, count, self._section_size, "the section table"))
        names = b""
        if self._names_index < len(rows):
            names = self._bytes(rows[self._names_index][4], rows[self._names_index][5], "the section names")
        return tuple(
            Section(_text(names, name), kind, flags, address, offset, size, link)
            for name, kind, flags, address, offset, size, link, *_ in rows
        )

    def is_in_ram(self, section: Section) -> bool:
        """Whether a section lies in RAM: its flags say so, or it is copied there when the program starts.

        GNU ld may mark a section as read-only that holds code as well, as .data does in the Pico SDK's scripts.
        """
        return section.is_writable or self.is_copied(section)

    def is_copied(self, section: Section) -> bool:
        """Whether a section is stored elsewhere, and copied when the program starts."""
        copied = (one for one in self.segments if one.is_copied)
        return any(one.address <= section.address < one.address + one.file_size for one in copied)

    def section(self, name: str) -> Section | None:
        """Return the first section of a name, None where there is none."""
        return next((section for section in self.sections if section.name == name), None)

    def bytes_of(self, section: Section) -> memoryview:
        """Return a section's bytes from the file, inflated where they are compressed; none for a section without."""
        if not section.has_bits:
            return memoryview(b"")
        what = f"section {section.name or '?'}"
        self._check(section.offset, section.size, what)
        raw = self.data[section.offset : section.offset + section.size]
        if section.flags & COMPRESSED:
            layout = _COMPRESSION[self._class]
            if len(raw) < layout.size:
                raise FirmwareError(f"{what} is too short for its compression header", offset=section.offset)
            fields = layout.unpack_from(raw)
            if fields[0] != 1:
                raise FirmwareError(
                    f"{what} is compressed by method {fields[0]}, which is not zlib: run objcopy "
                    "--decompress-debug-sections on the file",
                    offset=section.offset,
                )
            return self._inflate(raw[layout.size :], fields[1 if self._class == 1 else 2], section)
        if section.name.startswith(".zdebug") and bytes(raw[:4]) == b"ZLIB":
            return self._inflate(raw[12:], int.from_bytes(raw[4:12], "big"), section)
        return raw

    def _inflate(self, packed: memoryview, size: int, section: Section) -> memoryview:
        """Return what zlib packed: never more than 1,032 bytes for each byte, which is deflate's bound."""
        self._inflated += size
        if self._inflated > MAX_INFLATED_BYTES or size > 1032 * len(packed) + 64:
            raise FirmwareError(f"section {section.name} claims {size} bytes inflated", offset=section.offset)
        try:
            plain = zlib.decompressobj().decompress(packed, size)
        except zlib.error as problem:
            raise FirmwareError(
                f"section {section.name} cannot be inflated: {problem}", offset=section.offset
            ) from None
        if len(plain) != size:
            raise FirmwareError(f"section {section.name} is cut short", offset=section.offset)
        return memoryview(plain)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The defined symbols of the symbol table, in its order; () for a stripped file."""
        by_type = {section.type: section for section in reversed(self.sections)}
        table = by_type.get(SYMBOL_TABLE) or by_type.get(DYNAMIC_SYMBOLS)
        if table is None or table.link >= len(self.sections):
            return ()
        layout = _SYMBOLS[self._class]
        rows, names = self.bytes_of(table), bytes(self.bytes_of(self.sections[table.link]))
        count = len(rows) // layout.size
        if count > MAX_SYMBOLS:
            raise FirmwareError(f"{count:,} symbols are more than any firmware has", offset=table.offset)
        found, budget = [], len(self.data)
        fields = _SYMBOL_FIELDS[self._class]
        for row in layout.iter_unpack(rows[: count * layout.size]):
            name, value, size, info, section = fields(row)
            if name and section != UNDEFINED:
                found.append(Symbol(_text(names, name), value, size, info & 15, section, info < 16))
                budget -= len(found[-1].name)
                if budget < 0:
                    raise FirmwareError("the names of the symbols overlap", offset=table.offset)
        return tuple(found)

    def _bytes(self, offset: int, size: int, what: str) -> bytes:
        self._check(offset, size, what)
        return bytes(self.data[offset : offset + size])

    def _check(self, offset: int, size: int, what: str) -> None:
        if offset + size > len(self.data):
            raise FirmwareError(
                f"{what} would end at byte {offset + size} of a file of {len(self.data)}: is it truncated?",
                offset=offset,
            )


MAX_NAME_BYTES = 2000


def _text(table: bytes, offset: int) -> str:
    """Return the string at ``offset`` of a string table, cut after ``MAX_NAME_BYTES`` bytes, invalid UTF-8 replaced."""
    end = table.find(b"\0", offset, offset + MAX_NAME_BYTES)
    return table[offset : end if end >= 0 else offset + MAX_NAME_BYTES].decode("utf-8", "replace")
