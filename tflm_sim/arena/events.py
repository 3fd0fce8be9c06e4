"""Everything that happens while a model is prepared, as immutable events in the order of the device.

The allocators and the interpreter emit events; recorder, ledger, trace and sanitizer are observers of the one stream
(``Observer``: any callable that takes an event). Offsets are bytes from the aligned start of the arena.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tflm_sim.arena.stages import Stage
from tflm_sim.errors import each_of


class Run(NamedTuple):
    """A new interpreter starts on an arena."""

    kind: str
    arena_size: int


class Phase(NamedTuple):
    """The allocator enters a phase; ``facts`` are the numbers that belong to it."""

    stage: Stage
    facts: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return self.stage.words


class Persist(NamedTuple):
    """Tail bytes were taken: [offset, offset + size). ``used`` counts alignment padding too.

    ``category`` is the ``RecordedAllocationType`` that TFLM's own report counts it under, "" where that report names
    none; ``label`` says what it is for.
    """

    size: int
    alignment: int
    offset: int
    used: int
    tail_used: int
    category: str
    label: str


class Temp(NamedTuple):
    """Temp bytes were taken: [offset, offset + size)."""

    size: int
    alignment: int
    offset: int
    temp_end: int
    tail_offset: int


class TempFree(NamedTuple):
    """A temp was freed; the temp section does not shrink before its reset."""

    offset: int


class TempReset(NamedTuple):
    """The temp section was emptied, or that was refused because temps were not freed."""

    ok: bool
    temp_end: int
    head: int


class Resize(NamedTuple):
    """The head was resized, or that was refused."""

    size: int
    alignment: int
    ok: bool
    head: int
    tail_offset: int


class ScratchRequest(NamedTuple):
    """A kernel asked for a scratch buffer; ``request`` counts them from 0."""

    size: int
    subgraph: int
    request: int
    label: str


class ScratchUse(NamedTuple):
    """A kernel looked up a scratch buffer that (``subgraph``, ``op``) asked for; -1 and -1 where nobody did."""

    request: int
    subgraph: int
    op: int


class OpEvent(NamedTuple):
    """An operator is parsed, initialised, about to be prepared, prepared, or invoked; later events belong to it.

    ``stage`` is one of ``OP_PARSE`` to ``OP_INVOKE``; ``has`` says whether the registration has the function.
    """

    stage: Stage
    subgraph: int
    op: int
    name: str
    has: bool

    def __str__(self) -> str:
        return f"{self.stage.words} of {self.name} #{self.op} in subgraph {self.subgraph}"


class Variable(NamedTuple):
    """A variable tensor gets its bytes in the tail (the next ``Persist``)."""

    tensor: int
    size: int


class AllocInfo(NamedTuple):
    """A row of the final AllocationInfo array. ``first`` and ``last`` are inclusive; -1 where never marked.

    ``tensor`` is -1 for a scratch buffer, ``scratch`` and ``node`` are -1 for a tensor.
    """

    info: int
    subgraph: int
    tensor: int
    scratch: int
    node: int
    size: int
    needs_allocating: bool
    first: int
    last: int
    offline_offset: int


class PlanAdd(NamedTuple):
    """A buffer goes to the planner; ``size`` is rounded up to 16."""

    info: int
    requested: int
    size: int
    first: int
    last: int
    offline_offset: int


class PlanOffset(NamedTuple):
    """The planner's answer for a buffer: its offset in the head."""

    info: int
    planner_index: int
    offset: int


class PlanFits(NamedTuple):
    """Old versions check that ``needed`` bytes of the plan fit beside the room for scratch requests."""

    needed: int
    available: int


class PlanDone(NamedTuple):
    """The plan is final; the planner had ``planner_arena`` bytes for its tables of ``buffer_count`` buffers."""

    head_usage: int
    previous_max_head: int
    planner_arena: int
    buffer_count: int


class LogLine(NamedTuple):
    """A line that the device prints."""

    text: str


class Corruption(NamedTuple):
    """Bytes that are in use were handed out again; the device goes on with damaged data."""

    text: str


class End(NamedTuple):
    """The interpreter is done."""

    kind: str
    status: str
    arena_used_bytes: int


Event = (
    Run
    | Phase
    | Persist
    | Temp
    | TempFree
    | TempReset
    | Resize
    | ScratchRequest
    | ScratchUse
    | OpEvent
    | Variable
    | AllocInfo
    | PlanAdd
    | PlanOffset
    | PlanFits
    | PlanDone
    | LogLine
    | Corruption
    | End
)
Observer = Callable[[Event], None]


def each_observer(given: Iterable[Observer]) -> tuple[Observer, ...]:
    """Return several observers; UsageError for what cannot be called."""
    return each_of(given, Callable, "observers that can be called with an event")
