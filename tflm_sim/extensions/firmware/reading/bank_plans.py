"""Plans over banks of RAM in a program: what ``plan --bank -o banks.h`` wrote, found by its first bytes.

    Plan    "tflm_banks1" | banks, head, tail | name of the model | buffers | Entry[] | Need[]     constant
    Given   the plan's address | start and bytes of each bank                                      in RAM

Both lie in a program whether or not it has symbols. The banks that it gives are in its file, too, where they are
constants; otherwise they are there once it runs.

Source: extensions/banks/bank_planner.hpp
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from struct import Struct

from tflm_sim.checks.program_need import BankBuffer
from tflm_sim.extensions.firmware.reading.image import AddressIndex, Image

MARK = b"tflm_banks1\0"
_PLAN, _ENTRY, _NEED, _BANK = Struct("<12s4B4I"), Struct("<IIhh"), Struct("<3I"), Struct("<2I")
_MAX_BANKS = 7
_BANK_BITS = 3
"""Of an entry's first word, the lowest; above them stands the offset, as GCC and Clang lay out bit-fields."""
_MAX_NAME = 200
_MAX_BUFFERS = 1 << 16
_UNIT = 16
"""Bytes in which offsets and sizes are counted."""

ReadMemory = Callable[[int, int], bytes]
"""(address, bytes) -> what lies there, as far as something does."""


@dataclass(frozen=True, slots=True)
class PlannedBank:
    """A bank of a plan.

    Attributes:
        name: What it is called.
        needed: Bytes that the plan, the tail and TFLM's own temporary memory take.
        planned: Bytes from its start to the end of the plan.
        buffers: What lies in it.
    """

    name: str
    needed: int
    planned: int
    buffers: tuple[BankBuffer, ...]


@dataclass(frozen=True, slots=True)
class BankTable:
    """A plan.

    Attributes:
        address: Where it lies.
        model: The name of the model for which it was written.
        banks: The fastest first.
        head: The number of the head's bank.
        tail: That of persistent memory.
        buffers: Bytes, first and last use of each buffer, as TFLM asks for them.
    """

    address: int
    model: str
    banks: tuple[PlannedBank, ...]
    head: int
    tail: int
    buffers: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class GivenBanks:
    """The banks that a program gives to a plan.

    Attributes:
        table: The plan.
        banks: Start and bytes of each bank; null where the program's file does not say.
    """

    table: BankTable
    banks: tuple[tuple[int, int], ...] | None = None


def bank_plans(image: Image) -> tuple[GivenBanks, ...]:
    """Return the plans of a program, with the banks that it gives them as far as its data says."""
    pieces = AddressIndex((piece.address, len(piece.data), str(number)) for number, piece in enumerate(image.pieces))

    def read(address: int, size: int) -> bytes:
        row = pieces.at(address)
        return b"" if row is None else bytes(image.pieces[int(row[2])].data[address - row[0] :][:size])

    tables = [table for piece in image.pieces for table in _tables(piece.address, bytes(piece.data), read)]
    written = {section.address for section in image.elf.sections if section.is_writable} if image.elf else set()
    data = [bytes(piece.data) for piece in image.pieces if not written or piece.address in written] if tables else []
    return tuple(
        GivenBanks(table, next((banks for each in data for banks in banks_in(each, table)), None)) for table in tables
    )


def banks_in(data: bytes, table: BankTable) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the banks that are given to a plan in a stretch of memory."""
    wanted, size, at = table.address.to_bytes(4, "little"), len(table.banks) * _BANK.size, -1
    while (at := data.find(wanted, at + 1)) >= 0:
        found = data[at + 4 : at + 4 + size]
        if at % 4 or len(found) < size:
            continue
        banks = tuple(_BANK.iter_unpack(found))
        if all((start or not bank.needed) and start + size <= 1 << 32 and size < 1 << 31
               for (start, size), bank in zip(banks, table.banks, strict=True)):  # fmt: skip
            yield banks


def _tables(start: int, part: bytes, read: ReadMemory) -> Iterator[BankTable]:
    at = -1
    while (at := part.find(MARK, at + 1)) >= 0:
        if len(part) - at >= _PLAN.size:
            _, banks, head, tail, _, name, count, entries, needs = _PLAN.unpack_from(part, at)
            table = _table(start + at, (banks, head, tail, name, count, entries, needs), read)
            if table is not None:
                yield table


def _table(address: int, fields: Sequence[int], read: ReadMemory) -> BankTable | None:
    """Return a plan; None where what looks like one has no sense."""
    banks, head, tail, name, count, entries, needs = fields
    if not (0 < banks <= _MAX_BANKS and head < banks and tail < banks and count <= _MAX_BUFFERS):
        return None
    rows, needed = read(entries, count * _ENTRY.size), read(needs, banks * _NEED.size)
    if len(rows) < count * _ENTRY.size or len(needed) < banks * _NEED.size:
        return None
    entries_of: list[list[BankBuffer]] = [[] for _ in range(1 << _BANK_BITS)]
    buffers = []
    for number, (place, units, first, last) in enumerate(_ENTRY.iter_unpack(rows)):
        known_by = units * _UNIT, first, last
        bank, offset = place & ((1 << _BANK_BITS) - 1), (place >> _BANK_BITS) * _UNIT
        entries_of[bank].append(BankBuffer(number, offset, *known_by))
        buffers.append(known_by)
    planned = tuple(
        PlannedBank(_text(read(text, _MAX_NAME)), size, end, tuple(entries_of[number]))
        for number, (text, size, end) in enumerate(_NEED.iter_unpack(needed))
    )
    return BankTable(address, _text(read(name, _MAX_NAME)), planned, head, tail, tuple(buffers))


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "replace")
