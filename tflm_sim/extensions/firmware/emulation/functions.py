"""Where TFLM's functions are in a program: by the linker's names, which LTO and -O2 decorate with suffixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.elf import FUNCTION, Symbol


class Watched(Enum):
    """The role of a function that is watched; the value is a pattern of its mangled name."""

    ALLOCATE_TENSORS = tflm_names.ALLOCATE_TENSORS
    INVOKE = tflm_names.INVOKE
    INVOKE_SUBGRAPH = tflm_names.INVOKE_SUBGRAPH
    CREATE_ALLOCATOR = tflm_names.CREATE_IN_ARENA
    CREATE_TWO = tflm_names.CREATE_IN_TWO_ARENAS
    CREATE_ARENA = tflm_names.CREATE_ARENA
    PERSISTENT = tflm_names.PERSISTENT
    TEMP = tflm_names.TEMP
    TEMP_FREE = tflm_names.TEMP_FREE
    TEMP_RESET = tflm_names.TEMP_RESET
    RESIZE = tflm_names.RESIZE
    RESIZE_FREE = tflm_names.RESIZE_FREE
    RESERVE = tflm_names.RESERVE
    START_MODEL = tflm_names.START_MODEL
    COMMIT_PLAN = tflm_names.COMMIT_PLAN
    REQUEST_SCRATCH = tflm_names.REQUEST_SCRATCH
    PRINT = r"_Z11MicroPrintfPKcz"
    REPORT = tflm_names.REPORT
    LOG = r"DebugLog"
    ALLOCATE = r"malloc|_?sbrk|pvPortMalloc|k_malloc|heap_caps_malloc|_Znw[jm]|_Zna[jm]"
    MAIN = r"main"
    CONSTRUCTORS = r"__libc_init_array"
    ABORT = (
        r"abort|_Z9AbortImplv|__assert_func|__cxa_pure_virtual|Error_Handler"
        r"|HardFault_Handler|MemManage_Handler|BusFault_Handler|UsageFault_Handler"
    )


_PARTIAL = re.compile(r"\.(?:part|cold)(?:\.\d+)?")
_SUFFIX = re.compile(r"\.(?:isra|constprop|lto_priv|localalias)\b.*")
_SPECIALISED = re.compile(r"\.(?:isra|constprop)\b")
"""What GCC calls a copy of a function whose arguments it changed."""
_THUNK = re.compile(r"_ZThn(\d+)_(.*)")
_SHORTEST_COPY = 16
"""Bytes: a shorter thunk only corrects the object's address and goes on in the function itself."""
_ROLES = {role: re.compile(role.value) for role in Watched}

_WITHOUT_ARGUMENTS = frozenset({
    Watched.ALLOCATE_TENSORS, Watched.INVOKE, Watched.INVOKE_SUBGRAPH, Watched.COMMIT_PLAN,
    Watched.MAIN, Watched.CONSTRUCTORS, Watched.ABORT,
})  # fmt: skip
"""Functions whose arguments are not asked for."""


class Entry(NamedTuple):
    """An entry of a function, with how far inside of the object the address points that it is called with."""

    address: int
    shift: int


def functions_by_role(symbols: Iterable[Symbol], code_bit: int) -> dict[Watched, tuple[Entry, ...]]:
    found: dict[Watched, dict[Entry, None]] = {}
    for symbol in symbols:
        if symbol.type == FUNCTION:
            name, shift = _whole_function(symbol)
            for role in _roles_of(name, _SPECIALISED.search(symbol.name) is not None):
                found.setdefault(role, {})[Entry(symbol.value & ~code_bit, shift)] = None
    return {role: tuple(entries) for role, entries in found.items()}


def _whole_function(symbol: Symbol) -> tuple[str, int]:
    """Return the name of the function that a symbol is an entry of, "" for a part of one; and the entry's shift."""
    if _PARTIAL.search(symbol.name):
        return "", 0
    name = _SUFFIX.sub("", symbol.name)
    thunk = _THUNK.fullmatch(name)
    if thunk is None:
        return name, 0
    return ("_Z" + thunk[2], int(thunk[1])) if symbol.size >= _SHORTEST_COPY else ("", 0)


def _roles_of(name: str, has_other_arguments: bool) -> Iterator[Watched]:
    for role, pattern in _ROLES.items():
        if pattern.fullmatch(name) and (role in _WITHOUT_ARGUMENTS or not has_other_arguments):
            yield role
