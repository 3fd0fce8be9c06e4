"""Who calls a function: direct calls and jumps, read from the program's code.

    Thumb     bl, b.w                    1111 0Sii iiii iiii  1?J1 ?Jii iiii iiii
    RISC-V    jal, c.j; auipc and jalr   the pair that a linker leaves where it does not relax

Source: Armv7-M Architecture Reference Manual, A7.7.18 (BL), A7.7.12 (B, encoding T4); RISC-V
unprivileged ISA, 2.5 and "C" extension.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from tflm_sim.values import NamedTuple

_HALF, _WORD = Struct("<HH"), Struct("<I")
_LINK = 1
"""The number of ra."""


_SHORT_JUMP = ((12, 11), (11, 4), (10, 9), (9, 8), (8, 10), (7, 6), (6, 7), (5, 3), (4, 2), (3, 1), (2, 5))
"""Bits of c.j -> those of its distance."""


class Jump(NamedTuple):
    """A direct call or jump: where it stands, where it goes, and whether it comes back."""

    where: int
    target: int
    is_call: bool


def jumps(address: int, code: bytes, *, is_arm: bool) -> Iterator[Jump]:
    """Yield each direct call or jump in ``code`` at ``address``."""
    yield from (_thumb if is_arm else _riscv)(address, code)


def _thumb(address: int, code: bytes) -> Iterator[Jump]:
    for at in range(0, len(code) - 3, 2):
        first, second = _HALF.unpack_from(code, at)
        if first >> 11 == 0b11110 and second & 0x9000 == 0x9000:
            sign = first >> 10 & 1
            i1, i2 = (1 ^ sign ^ (second >> 13 & 1)), (1 ^ sign ^ (second >> 11 & 1))
            offset = (i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1) - (sign << 24)
            yield Jump(address + at, address + at + 4 + offset, second & 0x4000 != 0)


def _riscv(address: int, code: bytes) -> Iterator[Jump]:
    upper: dict[int, int] = {}
    for at in range(0, len(code) - 3, 2):
        (word,) = _WORD.unpack_from(code, at)
        here, is_call = address + at, word >> 7 & 31 == _LINK
        if word & 0x7F == 0x6F:
            offset = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            yield Jump(here, here + offset - ((word >> 31) << 21), is_call)
        elif word & 0xE003 == 0xA001:
            offset = sum((word >> bit & 1) << to for bit, to in _SHORT_JUMP)
            yield Jump(here, here + _signed(offset, 12), False)
        elif word & 0x7F == 0x17:
            upper[here] = here + _signed(word & 0xFFFFF000, 32)
        elif word & 0x707F == 0x67 and here - 4 in upper:
            yield Jump(here, upper[here - 4] + _signed(word >> 20, 12) & ~1, is_call)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
