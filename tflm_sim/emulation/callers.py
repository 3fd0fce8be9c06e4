"""Who calls a function: direct calls and jumps, read from the program's code.

    Thumb     bl, b.w                    1111 0Sii iiii iiii  1?J1 ?Jii iiii iiii
    RISC-V    jal; auipc and jalr        the pair that a linker leaves where it does not relax

Source: Armv7-M Architecture Reference Manual, A7.7.18 (BL), A7.7.12 (B, encoding T4); RISC-V unprivileged ISA, 2.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

_HALF, _WORD = Struct("<HH"), Struct("<I")


def jumps(address: int, code: bytes, *, is_arm: bool) -> Iterator[tuple[int, int]]:
    """Yield (where, target) of each direct call or jump in ``code`` at ``address``."""
    yield from (_thumb if is_arm else _riscv)(address, code)


def _thumb(address: int, code: bytes) -> Iterator[tuple[int, int]]:
    for at in range(0, len(code) - 3, 2):
        first, second = _HALF.unpack_from(code, at)
        if first >> 11 == 0b11110 and second & 0x9000 == 0x9000:
            sign = first >> 10 & 1
            i1, i2 = (1 ^ sign ^ (second >> 13 & 1)), (1 ^ sign ^ (second >> 11 & 1))
            offset = (i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1) - (sign << 24)
            yield address + at, address + at + 4 + offset


def _riscv(address: int, code: bytes) -> Iterator[tuple[int, int]]:
    upper: dict[int, int] = {}
    for at in range(0, len(code) - 3, 2):
        (word,) = _WORD.unpack_from(code, at)
        here = address + at
        if word & 0x7F == 0x6F:
            offset = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            yield here, here + offset - ((word >> 31) << 21)
        elif word & 0x7F == 0x17:
            upper[here] = here + _signed(word & 0xFFFFF000, 32)
        elif word & 0x707F == 0x67 and here - 4 in upper:
            yield here, upper[here - 4] + _signed(word >> 20, 12) & ~1


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
