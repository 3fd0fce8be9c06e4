"""Events of the arena as rows of a document, and back; to which operator the builtin data belong, and who asks.

Persist, Temp, TempFree, TempReset, Resize, ScratchRequest, OpEvent, Phase   <->   ExecutedEvent
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tflm_sim.arena.events import (
    Corruption,
    Event,
    OpEvent,
    Persist,
    Phase,
    Resize,
    ScratchRequest,
    Temp,
    TempFree,
    TempReset,
)
from tflm_sim.arena.stages import Stage
from tflm_sim.extensions.firmware.emulation.execution import ExecutedEvent


class HeldAddress(NamedTuple):
    """An operator, and an address in the arena that its node contains."""

    subgraph: int
    op: int
    name: str


def with_askers(
    events: Sequence[Event], owners: Mapping[int, HeldAddress], functions: Mapping[tuple[Stage, int, int], str]
) -> Iterator[Event]:
    """Yield the events with who asks: an event before each operator's builtin data, a function's name in a request.

    Args:
        events: Of one AllocateTensors().
        owners: The operator whose node holds an address, by offset in the arena.
        functions: The name of each Init and Prepare, by step, subgraph and operator.
    """
    is_before_kernels, function = True, ""
    for event in events:
        if isinstance(event, OpEvent):
            is_before_kernels, function = False, functions.get((event.stage, event.subgraph, event.op), "")
        elif isinstance(event, Phase | TempReset):  # After each Prepare TFLM empties the temps: the next is its own.
            function = ""
        if is_before_kernels and isinstance(event, Persist) and event.offset in owners:
            owner = owners[event.offset]
            yield OpEvent(Stage.OP_PARSE, owner.subgraph, owner.op, owner.name, True)
        if function and isinstance(event, Persist | ScratchRequest):
            event = event._replace(label=function)
        yield event


def rows_of(events: Iterable[Event]) -> Iterator[ExecutedEvent]:
    for event in events:
        if isinstance(event, Phase):
            yield ExecutedEvent("phase", event.stage.value, -1, -1, 0, 0, 0, 0)
        elif isinstance(event, OpEvent):
            yield ExecutedEvent(event.stage.value, event.name, event.subgraph, event.op, 0, 0, 0, 0)
        elif isinstance(event, Persist):
            yield _row("persist", event.size, event.alignment, event.offset, event.used, event.label)
        elif isinstance(event, Temp):
            yield _row("temp", event.size, event.alignment, event.offset, event.temp_end)
        elif isinstance(event, TempFree):
            yield _row("temp_free", 0, 0, event.offset, 0)
        elif isinstance(event, TempReset):
            yield _row("temp_reset", int(event.ok), 0, event.temp_end, event.head)
        elif isinstance(event, Resize):
            yield _row("resize", event.size, event.alignment, event.head, int(event.ok))
        elif isinstance(event, ScratchRequest):
            yield ExecutedEvent("scratch", event.label, event.subgraph, -1, event.size, 0, event.request, 0)
        elif isinstance(event, Corruption):
            yield ExecutedEvent("corruption", event.text, -1, -1, 0, 0, 0, 0)


def _row(kind: str, size: int, alignment: int, offset: int, used: int, name: str = "") -> ExecutedEvent:
    return ExecutedEvent(kind, name, -1, -1, size, alignment, offset, used)


def events_of(rows: Iterable[ExecutedEvent], arena_size: int) -> Iterator[Event]:
    """Yield the event of each row.

    Args:
        rows: Of one AllocateTensors().
        arena_size: Bytes from the aligned start of the arena.
    """
    tail = arena_size
    for kind, name, subgraph, op, size, alignment, offset, used in rows:
        if kind == "persist":
            tail = offset
            yield Persist(size, alignment, offset, used, arena_size - offset, "", name)
        elif kind == "temp":
            yield Temp(size, alignment, offset, used, tail)
        elif kind == "temp_free":
            yield TempFree(offset)
        elif kind == "temp_reset":
            yield TempReset(bool(size), offset, used)
        elif kind == "resize":
            yield Resize(size, alignment, bool(used), offset, tail)
        elif kind == "scratch":
            yield ScratchRequest(size, subgraph, offset, name)
        elif kind == "phase":
            yield Phase(Stage(name))
        elif kind == "corruption":
            yield Corruption(name)
        else:
            yield OpEvent(Stage(kind), subgraph, op, name, True)
