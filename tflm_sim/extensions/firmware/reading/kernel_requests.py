"""How often a program's kernels ask for memory, beside the kernels of TFLM: one that asks more often is changed.

    SoftmaxInit       context->AllocatePersistentBuffer(context, 56)      ldr r3, [r0, #56]; movs r1, #56; bx r3
    SoftmaxPrepare    context->AllocatePersistentBuffer(context, 5000)    of TFLM's, none asks for that

A Register function passes on the addresses of Init and Prepare. From there the code is followed wherever the context
is passed. How often TFLM's own kernels ask at most is a table that ``tools/upstream/kernel_requests.py`` makes of their
sources. A kernel that asks as often, but for more bytes, is not noticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.code_values import ARGUMENT, CallSite, CodeReader, Value
from tflm_sim.extensions.firmware.reading.linked_kernels import registering_functions
from tflm_sim.extensions.firmware.reading.symbol_names import COMPUTES, function_name
from tflm_sim.targets.changes import CORAL, EDGE_IMPULSE, ESP, UPSTREAM
from tflm_sim.targets.kernel_library import REFERENCE
from tflm_sim.targets.runtime import Runtime

TABLE = Path(__file__).with_name("kernel_requests.txt")
_PERSISTENT, _SCRATCH = 14, 16
"""Words of TfLiteContext before its AllocatePersistentBuffer and RequestScratchBufferInArena.

Source: tensorflow/lite/core/c/common.h @ 90b983c, in words of 32 and of 64 bits.
"""
_CALLED = {
    _PERSISTENT: "MicroContextAllocatePersistentBuffer", _SCRATCH: "MicroContextRequestScratchBufferInArena"
}  # fmt: skip
"""What TfLiteContext has there, and kernels of October 2026 call themselves. Source: nm of the wheel of 2026-10-23."""
_LIBRARIES = {REFERENCE.name: UPSTREAM, "cmsis_nn": UPSTREAM, "esp_nn": ESP}
"""Libraries whose kernels are in the table, and in which repository's positions."""
_FORKS = (CORAL, EDGE_IMPULSE)
_CONTEXT = Value(f"{ARGUMENT}0", 0)


class Requests(NamedTuple):
    """How often something asks for memory: for what stays, and for scratch buffers."""

    persistent: int
    scratch: int

    def plus(self, other: Requests) -> Requests:
        return Requests(self.persistent + other.persistent, self.scratch + other.scratch)

    def is_within(self, other: Requests) -> bool:
        """Whether neither is more often than in ``other``."""
        return self.persistent <= other.persistent and self.scratch <= other.scratch

    def most(self, other: Requests) -> Requests:
        return Requests(max(self.persistent, other.persistent), max(self.scratch, other.scratch))


NONE = Requests(0, 0)


@cache
def _table() -> dict[tuple[str, str], list[tuple[int, Requests]]]:
    """Return by library and operator since which position its kernel asks how often."""
    rows = (line.split() for line in TABLE.read_text("utf-8").splitlines())
    return {
        (library, op): [
            (int(since), Requests(*map(int, count.split(",")))) for since, _, count in map(_parted, changes)
        ]
        for library, op, *changes in rows
    }


def _parted(change: str) -> tuple[str, str, str]:
    return change.partition(":")


def known_requests(op: str, runtime: Runtime, library: str) -> Requests | None:
    """Return how often a kernel of TFLM asks at most; None for a library or a fork whose sources were not read."""
    if library not in _LIBRARIES or any(map(runtime.position, _FORKS)):
        return None
    found = []
    for name in (REFERENCE.name, library):
        rows = _table().get((name, op), ())
        position = runtime.position(_LIBRARIES[name])
        found += [count for since, count in rows if since <= position][-1:] or [count for _, count in rows[:1]]
    return reduce(Requests.most, found) if found else None


def kernel_requests(graph: CallGraph, reader: CodeReader | None) -> tuple[tuple[str, Requests], ...]:
    """Return how often the kernel of each operator of a program asks for memory; () where no code is read."""
    if reader is None:
        return ()
    return tuple((op, _Kernel(graph, reader, register).requests()) for op, register in registering_functions(graph))


class _Kernel:
    """The code of the kernel that a Register function names."""

    def __init__(self, graph: CallGraph, reader: CodeReader, register: Function) -> None:
        self._elf, self._graph, self._reader, self._register = graph.elf, graph, reader, register

    def requests(self) -> Requests:
        word = self._elf.bits // 8
        asked: dict[int, set[int]] = {_PERSISTENT: set(), _SCRATCH: set()}
        work = [(function, _CONTEXT) for function in self._named()]
        seen = set(work)
        while work:
            function, context = work.pop()
            for call in self._reader.calls(function):
                place = None if call.through is None else call.through.base
                for slot, sites in asked.items():
                    is_asked = place == f"[{context.base}+{slot * word}]" or _CALLED[slot] in self._names(call)
                    if is_asked and call.arguments[0] == context:
                        sites.add(call.site)
                following = set(self._given(call, context)) - seen
                seen |= following
                work += following
        return Requests(len(asked[_PERSISTENT]), len(asked[_SCRATCH]))

    def _named(self) -> Iterator[Function]:
        """Yield the functions whose addresses a Register function passes on, or has among its constants."""
        mask = ~1 if self._elf.machine == "ARM" else ~0
        values = (value for call in self._reader.calls(self._register) for value in call.arguments)
        numbers = {value.offset for value in values if value is not None and not value.base}
        start, end = self._register.start & ~3, self._register.start + self._register.size
        numbers |= {self._reader.constant(at, 4) or 0 for at in range(start, end, 4)}
        for number in sorted(numbers):
            function = self._graph.functions.get(number & mask)
            if function is not None and not any(COMPUTES.search(function_name(name)) for name in function.names):
                yield function

    def _names(self, call: CallSite) -> list[str]:
        function = None if call.target is None else self._graph.functions.get(call.target)
        return [] if function is None else list(map(function_name, function.names))

    def _given(self, call: CallSite, context: Value) -> Iterator[tuple[Function, Value]]:
        """Yield the function that a call passes the context to, with what the context is there."""
        function = None if call.target is None else self._graph.functions.get(call.target)
        if function is not None:
            for position, value in enumerate(call.arguments):
                if value == context:
                    yield function, Value(f"{ARGUMENT}{position}", 0)
