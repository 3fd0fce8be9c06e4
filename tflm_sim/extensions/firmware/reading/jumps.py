"""Direct calls and jumps in machine code, found by their encoding.

    Thumb     bl, blx, b.w               1111 0Sii iiii iiii  1?J1 ?Jii iiii iiii
    RISC-V    jal, c.jal, c.j; auipc and jalr, the pair that a linker leaves where it does not relax
    x86-64    call and jmp with a displacement of 32 bits

A word that is data and looks like a jump is one here, too.

Source: Armv7-M Architecture Reference Manual, A7.7.12 (B, encoding T4), A7.7.18 (BL); RISC-V unprivileged ISA, 2.5 and
"C" extension (16.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_NEAR_CALL = re.compile(b"[\xe8\xe9]")
_RA = 1
_SHORT_JUMP = ((12, 11), (11, 4), (10, 9), (9, 8), (8, 10), (7, 6), (6, 7), (5, 3), (4, 2), (3, 1), (2, 5))
"""Bits of c.j and c.jal -> those of its distance."""


class Jump(NamedTuple):
    """A direct call or jump: where it stands, where it goes, and whether it comes back."""

    where: int
    target: int
    is_call: bool


def signed(value: int, bits: int) -> int:
    """Return the number that so many bits are as two's complement; those above them do not count."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _thumb(address: int, code: bytes) -> Iterator[Jump]:
    words = memoryview(code[: len(code) // 2 * 2]).cast("H")
    for i in [i for i, word in enumerate(words[:-1]) if word & 0xF800 == 0xF000 and words[i + 1] & 0x9000 == 0x9000]:
        first, second = words[i], words[i + 1]
        sign = first >> 10 & 1
        high = (second >> 13 & 1 ^ sign ^ 1) << 23 | (second >> 11 & 1 ^ sign ^ 1) << 22
        offset = signed(sign << 24 | high | (first & 0x3FF) << 12 | (second & 0x7FF) << 1, 25)
        site = address + 2 * i
        yield Jump(site, site + 4 + offset, second & 0x4000 != 0)


def _riscv(address: int, code: bytes) -> Iterator[Jump]:
    words = memoryview(code[: len(code) // 2 * 2]).cast("H")
    after = 0
    for i, low in enumerate(words[:-1]):
        if i < after:  # the second half of an instruction may look like a short jump
            continue
        after = i + (2 if low & 3 == 3 else 1)
        site = address + 2 * i
        if low & 0x7F == 0x6F:
            word = low | words[i + 1] << 16
            offset = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            yield Jump(site, site + signed(offset, 21), word >> 7 & 31 == _RA)
        elif low & 0x6003 == 0x2001:
            offset = sum((low >> bit & 1) << to for bit, to in _SHORT_JUMP)
            yield Jump(site, site + signed(offset, 12), low & 0x8000 == 0)
        elif low & 0x7F == 0x17 and i + 3 < len(words) and words[i + 2] & 0x707F == 0x67:
            upper, jump = low | words[i + 1] << 16, words[i + 2] | words[i + 3] << 16
            if jump >> 15 & 31 == upper >> 7 & 31:
                target = site + signed(upper & 0xFFFFF000, 32) + signed(jump >> 20, 12)
                yield Jump(site + 4, target & ~1, jump >> 7 & 31 == _RA)


def _x86(address: int, code: bytes) -> Iterator[Jump]:
    for match in _NEAR_CALL.finditer(code, 0, max(len(code) - 4, 0)):
        at = match.start()
        displacement = int.from_bytes(code[at + 1 : at + 5], "little", signed=True)
        yield Jump(address + at, address + at + 5 + displacement, code[at] == 0xE8)


JUMPS: Mapping[str, Callable[[int, bytes], Iterator[Jump]]] = {"ARM": _thumb, "RISC-V": _riscv, "x86-64": _x86}
"""By the machine of an ELF file, what yields each direct call or jump in code at an address."""
