"""Who calls whom: direct calls in machine code (``jumps.py``), and the functions that they stand in.

Data that looks like a call counts as one here. Callers who need certainty follow the function's code
(``code_values.py``), which never reaches data.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading.elf import EXECUTABLE, FUNCTION, Elf, Section
from tflm_sim.extensions.firmware.reading.jumps import JUMPS, Jump

_MAX_CODE_BYTES = 16 * 1024**2
"""Bytes of code that are searched; a larger program is not searched at all."""

_MAX_CHAIN = 100
"""Calls of a chain that are followed; from there on it counts as one."""


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
    """The functions of a program and the calls between them.

    Args:
        elf: The program.
        find: What yields each direct call or jump in code at an address; None for what its processor has.
    """

    def __init__(self, elf: Elf, find: Callable[[int, bytes], Iterator[Jump]] | None = None) -> None:
        self.elf = elf
        self._find = find

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
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        function = self.functions[self._starts[index]]
        return function if address < function.start + function.size else None

    @cached_property
    def callers(self) -> dict[int, tuple[int, ...]]:
        """Addresses of the calls (and jumps) to each function."""
        code = list(_code(self.elf))
        find = self._find or JUMPS.get(self.elf.machine)
        found: dict[int, list[int]] = {}
        if find is None or sum(section.size for section in code) > _MAX_CODE_BYTES:
            return {}
        for section in code:
            for site, target, _ in find(section.address, bytes(self.elf.bytes_of(section))):
                if target in self.functions:
                    found.setdefault(target, []).append(site)
        return {target: tuple(sites) for target, sites in found.items()}

    def calling_functions(self, start: int) -> frozenset[int]:
        found = (self.function_at(site) for site in self.callers.get(start, ()))
        return frozenset(function.start for function in found if function is not None)

    def leading_to(self, starts: frozenset[int], ignored: frozenset[int]) -> frozenset[int]:
        """Return the functions of ``starts`` and those that call them, directly or through others.

        Args:
            starts: First addresses of functions.
            ignored: Functions whose calls do not count.
        """
        found, work = set(starts), list(starts)
        while work:
            above = self.calling_functions(work.pop()) - found - ignored
            found |= above
            work += above
        return frozenset(found)

    def count_call_chains(self, start: int, ignored: frozenset[int] = frozenset(), *, most: int = 100) -> int:
        """Return how many chains of calls lead to the function at ``start``, up to ``most``; 0 where nothing calls it.

        Args:
            start: The function's first address.
            ignored: Functions whose calls of it do not count; on the way, those that the chain goes through already.
            most: Where counting ends.
        """
        count, inside = 0, ignored | {start}
        for site in self.callers.get(start, ()) if len(inside) < _MAX_CHAIN else ():
            caller = self.function_at(site)
            if caller is not None and caller.start not in inside and count < most:
                count += max(1, self.count_call_chains(caller.start, inside, most=most - count))
        return min(count, most)


def _code(elf: Elf) -> Iterator[Section]:
    for section in elf.sections:
        if section.is_allocated and section.flags & EXECUTABLE and section.has_bits:
            yield section
