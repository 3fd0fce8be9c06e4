"""Who calls whom: direct calls in machine code, found by their encoding, and the functions that they stand in.

A word that is data and looks like a call is one here, too. Whoever needs certainty reads the function
(:mod:`tflm_sim.firmware.code_values`), where data is never reached.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from tflm_sim.firmware.elf import EXECUTABLE, FUNCTION, Elf, Section
from tflm_sim.values import NamedTuple

_MOST_CODE = 16 * 1024**2
"""Bytes of code that are searched; a larger program is not searched at all."""
_NEAR_CALL = re.compile(b"[\xe8\xe9]")


class Function(NamedTuple):
    """A function's code.

    Attributes:
        start: Its first address.
        size: Bytes.
        names: What the linker calls it; a constructor has two names.
    """

    start: int
    size: int
    names: tuple[str, ...]


class CallGraph:
    """The functions of a program and the calls between them."""

    def __init__(self, elf: Elf) -> None:
        self.elf = elf

    @cached_property
    def functions(self) -> dict[int, Function]:
        """Every function by the address of its first instruction."""
        mask = ~1 if self.elf.machine == "ARM" else ~0
        found: dict[int, Function] = {}
        for symbol in self.elf.symbols:
            if symbol.type == FUNCTION:
                start = symbol.value & mask
                known = found.get(start, Function(start, 0, ()))
                found[start] = Function(start, max(known.size, symbol.size), (*known.names, symbol.name))
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return sorted(self.functions)

    def function_at(self, address: int) -> Function | None:
        """Return the function that holds an address, None where none does."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        function = self.functions[self._starts[index]]
        return function if address < function.start + function.size else None

    @cached_property
    def callers(self) -> dict[int, tuple[int, ...]]:
        """Addresses of the calls (and jumps) to each function."""
        code = list(_code(self.elf))
        find = _CALLS.get(self.elf.machine)
        found: dict[int, list[int]] = {}
        if find is None or sum(section.size for section in code) > _MOST_CODE:
            return {}
        for section in code:
            for site, target in find(bytes(self.elf.bytes_of(section)), section):
                if target in self.functions:
                    found.setdefault(target, []).append(site)
        return {target: tuple(sites) for target, sites in found.items()}

    def calling_functions(self, start: int) -> frozenset[int]:
        """Return the starts of the functions that call the one at ``start``."""
        found = (self.function_at(site) for site in self.callers.get(start, ()))
        return frozenset(function.start for function in found if function is not None)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _thumb_calls(data: bytes, section: Section) -> Iterator[tuple[int, int]]:
    """Yield (site, target) of BL, BLX and B.W. Source: Armv7-M ARM, A7.7.12, A7.7.18."""
    words = memoryview(data[: len(data) // 2 * 2]).cast("H")
    for i in [i for i, word in enumerate(words[:-1]) if word & 0xF800 == 0xF000 and words[i + 1] & 0x9000 == 0x9000]:
        first, second = words[i], words[i + 1]
        sign = first >> 10 & 1
        high = (second >> 13 & 1 ^ sign ^ 1) << 23 | (second >> 11 & 1 ^ sign ^ 1) << 22
        offset = _signed(sign << 24 | high | (first & 0x3FF) << 12 | (second & 0x7FF) << 1, 25)
        site = section.address + 2 * i
        yield site, site + 4 + offset


def _riscv_calls(data: bytes, section: Section) -> Iterator[tuple[int, int]]:
    """Yield (site, target) of JAL, C.JAL, C.J and AUIPC with JALR. Source: RISC-V Unprivileged ISA, 2.5 and 16.4."""
    words = memoryview(data[: len(data) // 2 * 2]).cast("H")
    for i, low in enumerate(words[:-1]):
        site = section.address + 2 * i
        if low & 0x7F == 0x6F:
            word = low | words[i + 1] << 16
            offset = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            yield site, site + _signed(offset, 21)
        elif low & 0x6003 == 0x2001:
            bits = low >> 2
            offset = (
                (bits >> 10 & 1) << 11 | (bits >> 6 & 1) << 10 | (bits >> 7 & 3) << 8 | (bits >> 5 & 1) << 6
                | (bits >> 4 & 1) << 7 | (bits & 1) << 5 | (bits >> 9 & 1) << 4 | (bits >> 1 & 7) << 1
            )  # fmt: skip
            yield site, site + _signed(offset, 12)
        elif low & 0x7F == 0x17 and i + 3 < len(words) and words[i + 2] & 0x707F == 0x67:
            upper, jump = low | words[i + 1] << 16, words[i + 2] | words[i + 3] << 16
            if jump >> 15 & 31 == upper >> 7 & 31:
                yield site + 4, site + _signed(upper & 0xFFFFF000, 32) + _signed(jump >> 20, 12)


def _x86_calls(data: bytes, section: Section) -> Iterator[tuple[int, int]]:
    """Yield (site, target) of CALL and JMP with a displacement of 32 bits."""
    for match in _NEAR_CALL.finditer(data, 0, max(len(data) - 4, 0)):
        at = match.start()
        displacement = int.from_bytes(data[at + 1 : at + 5], "little", signed=True)
        yield section.address + at, section.address + at + 5 + displacement


_CALLS = {"ARM": _thumb_calls, "RISC-V": _riscv_calls, "x86-64": _x86_calls}


def _code(elf: Elf) -> Iterator[Section]:
    for section in elf.sections:
        if section.is_allocated and section.flags & EXECUTABLE and section.has_bits:
            yield section
