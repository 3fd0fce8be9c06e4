"""``RamBank``: a piece of RAM that holds tensors, as ``--bank dtcm=64KiB@0x20000000`` names it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from tflm_sim.document_types import Count
from tflm_sim.errors import UsageError
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.sizes import parse_size
from tflm_sim.targets.boards import Board
from tflm_sim.units import align_down, align_up

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
MAX_BANKS = 7
"""The table of ``banks.h`` has three bits for a bank."""


@dataclass(frozen=True, slots=True)
class RamBank:
    """A bank; in a list of banks the fastest is in front.

    Attributes:
        name: What it is called; a word of letters, digits and underscores.
        size: Bytes of it that tensors may have.
        address: Of its first byte, None where nobody said: then it is taken for a multiple of 16.
    """

    name: str
    size: Count
    address: int | None = None

    @property
    def lost(self) -> int:
        """Bytes in front of its first multiple of 16, which nothing can use."""
        return 0 if self.address is None else align_up(self.address, BUFFER_ALIGNMENT) - self.address

    @property
    def usable(self) -> int:
        """Bytes between its first and its last multiple of 16."""
        first = self.lost + (self.address or 0)
        return max(align_down((self.address or 0) + self.size, BUFFER_ALIGNMENT) - first, 0)


def parse_banks(texts: Iterable[str], board: Board | None = None) -> tuple[RamBank, ...]:
    """Return the banks of ``--bank NAME[=SIZE[@ADDRESS]]``, in their order: the fastest first.

    Args:
        texts: What was given.
        board: The board whose banks may be named without a size.

    Raises:
        UsageError: A text is no bank, a name is there twice, or the board has no such bank.
    """
    banks = tuple(_parsed(text, board) for text in texts)
    names = [bank.name.lower() for bank in banks]
    if len(set(names)) < len(names):
        raise UsageError(f"--bank: two banks are called '{next(name for name in names if names.count(name) > 1)}'")
    if not 1 < len(banks) <= MAX_BANKS:
        raise UsageError(
            f"--bank is given {len(banks)} time{'s' * (len(banks) != 1)}; give it for each bank that tensors may "
            f"have, two to {MAX_BANKS}, the fastest first: --bank dtcm=64KiB --bank psram=2MiB"
        )
    _refuse_overlaps(banks)
    return banks


def _refuse_overlaps(banks: tuple[RamBank, ...]) -> None:
    known = [(bank.address, bank) for bank in banks if bank.address is not None]
    for (start, one), (following, other) in pairwise(sorted(known, key=lambda row: row[0])):
        if start + one.size > following:
            raise UsageError(
                f"--bank: {one.name} reaches to {start + one.size:#x}, {other.name} begins at {following:#x}"
            )


def _parsed(text: str, board: Board | None) -> RamBank:
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--bank '{text}': write NAME=SIZE or NAME=SIZE@ADDRESS, with a NAME of letters, digits and underscores: "
            "--bank dtcm=64KiB@0x20000000"
        )
    if not equals:
        return RamBank(name, _size_on_board(name, board))
    size, at, address = rest.partition("@")
    bank = RamBank(name, parse_size(size.strip()), parse_size(address.strip()) if at else None)
    if not bank.usable:
        raise UsageError(f"--bank '{text}': it holds no 16 bytes")
    if bank.size >= 1 << 31 or (bank.address or 0) + bank.size > 1 << 32:
        raise UsageError(f"--bank '{text}': it does not lie in 32 bits of addresses")
    return bank


def _size_on_board(name: str, board: Board | None) -> int:
    """Return the bytes of the bank that a board calls so, or the only one whose name has this in it."""
    if board is None:
        raise UsageError(f"--bank {name} has no size: write {name}=64KiB, or name the board that has it with --board")
    plain = {re.sub(r"[^a-z0-9]", "", bank.name.lower()): bank for bank in board.ram}
    asked = name.lower().replace("_", "")
    found = [bank for title, bank in plain.items() if title == asked] or [
        bank for title, bank in plain.items() if asked in title
    ]
    if len(found) != 1:
        raise UsageError(f"--bank {name}: {board.name} has {board.ram_text}; RAM outside the chip needs its size")
    return found[0].size
