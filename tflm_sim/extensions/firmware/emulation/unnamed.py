"""TFLM's functions in a program without symbols: by the messages that they print, and by tables of virtual functions.

    "Failed starting model allocation" <- what loads its address <- the function around that: AllocateTensors()
    "Failed to resize buffer"          <- ... ResizeBuffer(); the table that holds it holds AllocateTemp() five before

Where a function begins is known by who calls it or holds its address, and by what stands before it: an end of another
function, or its constants. Source: micro_interpreter.cc, micro_allocator.h, arena_allocator/ibuffer_allocator.h,
single_arena_buffer_allocator.h @ 90b983c; the order of AllocateVariables() and CommitStaticMemoryPlan() is that of
every version since 2021.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TypeVar

from tflm_sim.extensions.firmware.emulation.functions import Entry, Watched
from tflm_sim.extensions.firmware.emulation.loads import constants, is_behind_an_end, loads
from tflm_sim.extensions.firmware.reading.elf import EXECUTABLE, Elf
from tflm_sim.extensions.firmware.reading.jumps import JUMPS, Jump

_Found = TypeVar("_Found")

_ALLOCATE, _TEMP, _PERSISTENT = (
    b"Failed starting model allocation", b"Failed to allocate temp memory", b"Failed to allocate tail memory"
)  # fmt: skip
_RESIZE, _VARIABLES = b"Failed to resize buffer", b"Failed to allocate variable tensor"
_PRINTED = {
    Watched.ALLOCATE_TENSORS: _ALLOCATE,
    Watched.INVOKE: b"Invoke() called after initialization failed",
    Watched.START_MODEL: b"MicroAllocator: Model allocation started before",
    Watched.REQUEST_SCRATCH: b"Scratch buffer request ex",  # "exeeds" until 2026
}
_SLOTS = {
    _RESIZE: {
        Watched.TEMP: -5, Watched.TEMP_FREE: -4, Watched.TEMP_RESET: -2,
        Watched.RESIZE: 0, Watched.RESIZE_FREE: 1, Watched.RESERVE: 3,
    },
    _TEMP: {Watched.TEMP: 0, Watched.TEMP_RESET: 1},
    _VARIABLES: {Watched.COMMIT_PLAN: 3},
}  # fmt: skip
"""Functions by their place in a table, counted from the one that prints the message. Before June 2022 there was no
ResizeBuffer(), and ResetTempAllocations() came behind AllocateTemp()."""
_PERSISTENT_SLOT, _SHIFTED_SLOT = 6, 12
"""From ResizeBuffer(): AllocatePersistentBuffer(), and the same function for the object's second table."""
_BESIDE = {slot for slots in _SLOTS.values() for slot in slots.values()} | {_PERSISTENT_SLOT, _SHIFTED_SLOT}
_BEFORE_TABLE = 8
"""Bytes of a table before its first function."""
_PRINTERS = {0: Watched.PRINT, 1: Watched.REPORT}
"""The function that is given a message, by the number of the argument that it is."""
_NEAR = 14
"""The call that prints a message begins within so many bytes from the load of it on."""


def functions_by_message(elf: Elf, *, is_arm: bool) -> dict[Watched, tuple[Entry, ...]]:
    """Return the entries of the functions that are there, by what they are to us; {} where one of those needed is not.

    Needed are AllocateTensors() and the allocator's functions; each has to be found once.
    """
    return _Search(elf, is_arm).found()


class _Search:
    def __init__(self, elf: Elf, is_arm: bool) -> None:
        held = [one for one in elf.sections if one.is_allocated and one.has_bits]
        self._bit = int(is_arm)
        self._is_arm = is_arm
        self._parts = [(one.address, bytes(elf.bytes_of(one))) for one in held]
        self._code = [(one.address, bytes(elf.bytes_of(one))) for one in held if one.flags & EXECUTABLE]
        self._calls = self._in_code(JUMPS["ARM" if is_arm else "RISC-V"])
        self._texts = {at: text for text in _texts() for at in self._places_of(text)}
        self._loads = self._in_code(partial(loads, values=self._texts, is_arm=is_arm))
        self._starts = sorted(self._all_starts())

    def _in_code(self, read: Callable[[int, bytes], Iterable[_Found]]) -> list[_Found]:
        return [one for address, code in self._code for one in read(address, code)]

    def _places_of(self, text: bytes) -> Iterator[int]:
        for address, data in self._parts:
            for match in re.finditer(re.escape(b"\0" + text), b"\0" + data):
                yield address + match.start()

    def _all_starts(self) -> set[int]:
        """Return where functions begin: what is called, or pointed to, or where a jump leaves its function."""
        pointed = {value - self._bit for _, value in self._words() if value & 1 == self._bit}
        known = set(self._behind_ends(pointed | {jump.target for jump in self._calls if jump.is_call}))
        order = sorted(known)
        jumped = {jump.target for jump in self._calls if not jump.is_call and _leaves(order, jump)}
        return known | set(self._behind_ends(jumped))

    def _behind_ends(self, targets: set[int]) -> Iterator[int]:
        """Yield those of ``targets`` before which a function ends, or constants stand."""
        for address, code in self._code:
            loaded = set(constants(address, code)) if self._is_arm else set()
            for target in targets:
                at = target - address
                if 0 <= at < len(code) and (target - 4 in loaded or is_behind_an_end(code, at, is_arm=self._is_arm)):
                    yield target

    def _words(self) -> Iterator[tuple[int, int]]:
        for address, data in self._parts:
            first = -address % 4
            whole = memoryview(data)[first : first + (len(data) - first) // 4 * 4].cast("I")
            yield from zip(range(address + first, address + len(data), 4), whole, strict=False)

    def _printing(self, text: bytes) -> set[int]:
        """Return the functions that load a message that begins with ``text``."""
        return set(self._around(load.address for load in self._loads if self._texts[load.value] == text))

    def _around(self, addresses: Iterable[int]) -> Iterator[int]:
        """Yield the functions in which addresses are."""
        for address in addresses:
            index = bisect_right(self._starts, address) - 1
            if index >= 0:
                yield self._starts[index]

    def found(self) -> dict[Watched, tuple[Entry, ...]]:
        roles = {role: self._printing(text) for role, text in _PRINTED.items()}
        roles[Watched.START_MODEL] -= roles[Watched.ALLOCATE_TENSORS]
        for role, address in self._in_tables():
            roles.setdefault(role, set()).add(address)
        if any(len(roles.get(role, ())) != 1 for role in (Watched.ALLOCATE_TENSORS, Watched.TEMP)):
            return {}
        roles[Watched.CREATE_ALLOCATOR] = self._makers()
        entries = {role: tuple(Entry(one, 0) for one in sorted(found)) for role, found in roles.items() if found}
        persistent = self._persistent()
        return entries | {Watched.PERSISTENT: persistent} | self._printer() if persistent else {}

    def _in_tables(self) -> Iterator[tuple[Watched, int]]:
        """Yield the functions that tables of virtual functions hold."""
        temporary, variables = map(self._printing, (_TEMP, _VARIABLES))
        tables = self._tables(_RESIZE, self._resizers) or self._tables(_TEMP, temporary)
        for table in (*tables, *self._tables(_VARIABLES, variables)):
            yield from table.items()

    @cached_property
    def _resizers(self) -> set[int]:
        """ResizeBuffer(), and what else prints its message; without those into which a compiler only copied its code.

        Beside ResizeBuffer() in its table stands AllocateTemp(), which prints a message, too.
        """
        found, temporary = self._printing(_RESIZE), self._printing(_TEMP)
        return {
            one for one in found if any(t[Watched.TEMP] in temporary for t in self._tables(_RESIZE, {one}))
        } or found

    def _tables(self, text: bytes, printing: set[int]) -> list[dict[Watched, int]]:
        """Return what the tables say that hold one of the functions that print ``text``."""
        return [
            {role: around[slot] for role, slot in _SLOTS[text].items()}
            for around in self._tables_of(printing)
            if all(slot in around for slot in _SLOTS[text].values())
        ]

    def _makers(self) -> set[int]:
        """Return the functions that make a MicroAllocator, and their callers: Create() and Create() in an arena.

        Each that makes one loads where the functions of its table begin, or the table, whose two words come before.
        """
        variables = {one + self._bit for one in self._printing(_VARIABLES)}
        held, begins = dict(self._words()), set()
        for address in [at for at, value in held.items() if value in variables]:
            while self._is_code(held.get(address - 4, 0)):
                address -= 4
            begins |= {address, address - _BEFORE_TABLE}
        made_by = self._in_code(partial(loads, values=begins, is_arm=self._is_arm))
        makers = set(self._around(load.address for load in made_by))
        return makers | set(self._around(jump.where for jump in self._calls if jump.target in makers))

    def _tables_of(self, functions: set[int]) -> Iterator[Mapping[int, int]]:
        """Yield the functions beside one of ``functions`` in each table that holds it, by their distance from it."""
        wanted = {one + self._bit for one in functions}
        held = dict(self._words()) if wanted else {}
        for address, value in held.items():
            if value in wanted:
                near = ((slot, held.get(address + 4 * slot, 0)) for slot in _BESIDE)
                yield {slot: one - self._bit for slot, one in near if self._is_code(one)}

    def _is_code(self, value: int) -> bool:
        return value & 1 == self._bit and any(start <= value < start + len(code) for start, code in self._code)

    def _persistent(self) -> tuple[Entry, ...]:
        """Return AllocatePersistentBuffer(), and the copy of it that takes the address of a part of the object."""
        functions = self._printing(_PERSISTENT)
        tables = list(self._tables_of(self._resizers))
        plain = functions & {table[_PERSISTENT_SLOT] for table in tables if _PERSISTENT_SLOT in table}
        shifted = functions & {table[_SHIFTED_SLOT] for table in tables if _SHIFTED_SLOT in table}
        whole = plain or functions - shifted
        return (*(Entry(one, 0) for one in sorted(whole)), *(Entry(one, 4) for one in sorted(shifted - whole)))

    def _printer(self) -> dict[Watched, tuple[Entry, ...]]:
        """Return what most messages are given to."""
        targets = {jump.where: jump.target for jump in self._calls if jump.is_call}
        counted: Counter[tuple[int, int]] = Counter()
        for load in self._loads:
            called = (targets[at] for at in range(load.address, load.address + _NEAR, 2) if at in targets)
            target = next(called, None)
            if target is not None and load.argument in _PRINTERS:
                counted[load.argument, target] += 1
        if not counted:
            return {}
        number, target = max(counted, key=counted.__getitem__)
        return {_PRINTERS[number]: (Entry(target, 0),)}


def _leaves(starts: list[int], jump: Jump) -> bool:
    """Whether a jump goes out of the function in which it stands; ``starts``: of functions, in order."""
    return bisect_right(starts, jump.where) != bisect_right(starts, jump.target)


def _texts() -> Iterator[bytes]:
    yield from _PRINTED.values()
    yield from (*_SLOTS, _PERSISTENT)
