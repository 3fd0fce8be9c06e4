"""Instructions that load an address, and where functions begin: read from the program's code.

    Thumb     ldr r0, [pc, #n]           the address is a constant behind the function
              movw r0, ...; movt r0, ...
    RISC-V    lui a0, ...; addi a0, a0, ...

Source: Armv7-M Architecture Reference Manual, A7.7.44 (LDR literal), A7.7.76 (MOV, encoding T3), A7.7.79 (MOVT);
RISC-V unprivileged ISA, 2.4 and "C" extension.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from struct import Struct
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading.jumps import signed

_HALF, _WORD = Struct("<HH"), Struct("<I")
_FIRST_ARGUMENT = 10
"""The number of a0."""
_THUMB_ENDS = (
    (0xFFFF0000, 0x00000000), (0xFFFF0000, 0xBF000000), (0xFFFF0000, 0x46C00000),  # zeros, nop, mov r8, r8
    (0xFFFF0000, 0xD4D40000),  # with which lld fills up: TargetInfo of its Arch/ARM.cpp
    (0xFF000000, 0xBD000000), (0xFF000000, 0xBE000000), (0xFF000000, 0xDE000000),  # pop {..., pc}, bkpt, udf
    (0xFF070000, 0x47000000), (0xF8000000, 0xE0000000), (0x9000F800, 0x9000F000),  # bx, b, b.w and bl
    (0x8000FFD0, 0x8000E890),  # ldm ..., {..., pc}
)  # fmt: skip
_RISCV_ENDS = (
    (0xFFFF0000, 0x00000000), (0xFFFF0000, 0x00010000), (0xFFFF0000, 0x90020000),  # zeros, c.nop, c.ebreak
    (0xE0030000, 0xA0010000), (0xF07F0000, 0x80020000),  # c.j, c.jr
    (0x00000FFF, 0x0000006F), (0x00000FFF, 0x00000067),  # j, jr
    (0x00000FFF, 0x000000EF), (0x00000FFF, 0x000000E7),  # jal, jalr: of what never returns
    (0xFFFFFFFF, 0x00100073), (0xFFFFFFFF, 0x30200073), (0xFFFFFFFF, 0x00000013),  # ebreak, mret, nop
)  # fmt: skip
"""(mask, value) of the two half-words before a function, the last one uppermost: ends of another one, or filling."""


class AddressLoad(NamedTuple):
    """An instruction after which a register holds an address; ``argument``: which one of a function it would be."""

    address: int
    value: int
    argument: int


def loads(address: int, code: bytes, values: Container[int], *, is_arm: bool) -> Iterator[AddressLoad]:
    """Yield what loads one of ``values`` in ``code`` at ``address``."""
    yield from (one for one in (_thumb if is_arm else _riscv)(address, code) if one.value in values)


def _thumb(address: int, code: bytes) -> Iterator[AddressLoad]:
    low: dict[int, int] = {}
    for at in range(0, len(code) - 3, 2):
        first, second = _HALF.unpack_from(code, at)
        base = (address + at + 4 & -4) - address
        if first >> 11 == 0b01001:
            yield from _constant(address, code, at, base + 4 * (first & 0xFF), first >> 8 & 7)
        elif first & 0xFF7F == 0xF85F:
            offset = second & 0xFFF
            yield from _constant(address, code, at, base + (offset if first & 0x80 else -offset), second >> 12)
        elif first & 0xFB70 == 0xF240 and not second & 0x8000:
            half = (first & 0xF) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
            register = second >> 8 & 0xF
            if first & 0x80:
                yield AddressLoad(address + at, half << 16 | low.get(register, 0), register)
            else:
                low[register] = half


def _constant(address: int, code: bytes, at: int, where: int, register: int) -> Iterator[AddressLoad]:
    if 0 <= where <= len(code) - 4:
        yield AddressLoad(address + at, _WORD.unpack_from(code, where)[0], register)


def _riscv(address: int, code: bytes) -> Iterator[AddressLoad]:
    upper: dict[int, int] = {}
    at = 0
    while at < len(code) - 3:
        (word,) = _WORD.unpack_from(code, at)
        register, source, added = word >> 7 & 31, word >> 15 & 31, signed(word >> 20, 12)
        short = signed((word >> 12 & 1) << 5 | word >> 2 & 31, 6)
        size = 4 if word & 3 == 3 else 2
        if word & 0x7F in (0x37, 0x17):
            upper[register] = (word & 0xFFFFF000) + (address + at if word & 0x7F == 0x17 else 0)
        elif word & 0x707F == 0x13 and source in upper:
            yield AddressLoad(address + at, upper[source] + added & 0xFFFFFFFF, register - _FIRST_ARGUMENT)
        elif word & 0xE003 == 0x6001:
            upper[register] = short << 12
        elif word & 0xE003 == 0x0001 and register in upper:
            yield AddressLoad(address + at, upper[register] + short & 0xFFFFFFFF, register - _FIRST_ARGUMENT)
        at += size


def constants(address: int, code: bytes) -> Iterator[int]:
    """Yield the addresses of the words in ``code`` that Thumb instructions load."""
    for at in range(0, len(code) - 3, 2):
        first, second = _HALF.unpack_from(code, at)
        base = address + at + 4 & -4
        if first >> 11 == 0b01001:
            yield base + 4 * (first & 0xFF)
        elif first == 0xF8DF:
            yield base + (second & 0xFFF)


def is_behind_an_end(code: bytes, at: int, *, is_arm: bool) -> bool:
    """Whether what stands before ``at`` in ``code`` is an instruction with which a function ends, or fills up."""
    before, last = _HALF.unpack_from(code, at - 4) if at >= 4 else (0, 0)
    both = last << 16 | before
    return any(both & mask == value for mask, value in (_THUMB_ENDS if is_arm else _RISCV_ENDS))
