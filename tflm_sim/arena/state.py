"""``ArenaState``: what the arena looks like after each event; the only place that computes state from events.

head | live temps | ......... free ......... | tail          stage: who is at work; plan: what the planner holds
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from tflm_sim.arena.arena import overwrites_temps
from tflm_sim.arena.events import Event, OpEvent, Persist, Phase, Resize, Run, Temp, TempFree, TempReset
from tflm_sim.arena.stages import Stage

START_PHASE = Phase(Stage.START)


class ArenaState:
    """Head, live temps, tail, stage and planner after each event (mutable); an :data:`~tflm_sim.arena.events.Observer`.

    A subclass that does more with events passes a table of handlers. A handler is called when the state is up to date.

    Args:
        handlers: The handler of each kind of event.

    Attributes:
        head: Bytes of the head.
        temps: The temps that were not freed, by offset.
        temp_end: Where the temp section ends: freed temps stay in it until its reset.
        tail_used: Bytes of persistent memory.
        place: The phase or operator that is at work.
        planner_tables: Where the planner's tables start in the temp section; -1 before a plan.
    """

    def __init__(self, handlers: Mapping[type, Callable[[Any], None]] | None = None) -> None:
        self.head = 0
        self.temps: dict[int, Temp] = {}
        self.temp_end = 0
        self.tail_used = 0
        self.place: OpEvent | Phase = START_PHASE
        self.planner_tables = -1
        self._handlers = handlers or {}

    def __call__(self, event: Event) -> None:
        kind = type(event)
        update = _UPDATES.get(kind)
        if update is not None:
            update(self, event)
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(event)

    def fold(self, events: Iterable[Event]) -> Self:
        """Process events, one after the other; return self."""
        for event in events:
            self(event)
        return self

    @property
    def stage(self) -> Stage:
        """The phase, or the step of an operator."""
        return self.place.stage

    @property
    def operator(self) -> tuple[int, int] | None:
        """The (subgraph, operator) that is at work, None outside of operators."""
        return (self.place.subgraph, self.place.op) if isinstance(self.place, OpEvent) else None

    @property
    def floor(self) -> int:
        """Bytes from the arena's start that are in use: the head, and up to the last temp that was not freed."""
        return max(self.head, max((temp.temp_end for temp in self.temps.values()), default=0))

    def floor_below(self, event: Persist) -> int:
        """Bytes from the arena's start that a persistent allocation must not lie over, so that nothing is lost."""
        return self.floor if overwrites_temps(event.size, event.category) else self.head

    def _run(self, _: Run) -> None:
        self.head = self.temp_end = self.tail_used = 0
        self.temps = {}
        self.place, self.planner_tables = START_PHASE, -1

    def _enter(self, event: OpEvent | Phase) -> None:
        self.place = event

    def _persist(self, event: Persist) -> None:
        self.tail_used = event.tail_used

    def _temp(self, event: Temp) -> None:
        self.temps[event.offset] = event
        self.temp_end = event.temp_end
        if self.place.stage is Stage.PLANNER_ARENA:
            self.planner_tables = event.offset

    def _temp_free(self, event: TempFree) -> None:
        self.temps.pop(event.offset, None)

    def _temp_reset(self, event: TempReset) -> None:
        if event.ok:
            self.temps.clear()
        self.temp_end = event.head if event.ok else event.temp_end

    def _resize(self, event: Resize) -> None:
        self.head = event.head
        if event.ok:
            self.temp_end = event.head


_UPDATES: dict[type, Callable[[ArenaState, Any], None]] = {
    Run: ArenaState._run,
    Phase: ArenaState._enter,
    OpEvent: ArenaState._enter,
    Persist: ArenaState._persist,
    Temp: ArenaState._temp,
    TempFree: ArenaState._temp_free,
    TempReset: ArenaState._temp_reset,
    Resize: ArenaState._resize,
}
