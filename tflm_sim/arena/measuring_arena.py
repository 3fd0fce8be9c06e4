"""``MeasuringArena``: a roomy arena that records what must fit (``Needs``) and sends no events.

It returns the same offsets as the arena that it derives from, and refuses the same requests. A property test compares
its needs with those that follow from the other arena's events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tflm_sim.arena.arena import NEWEST_RULES, ArenaRules, SingleArenaBufferAllocator, Temps, overwrites_temps
from tflm_sim.arena.events import Event, OpEvent, Phase, PlanDone, PlanFits
from tflm_sim.arena.needs import PERIOD, ArenaStep, Needs, PlaceFacts
from tflm_sim.arena.stages import Stage


class MeasuringArena(SingleArenaBufferAllocator):
    """Notes needs instead of sending events (mutable).

    Args:
        size: Bytes from the aligned start of the arena to its end.
        address: Where the arena starts in memory; only its low bits matter.
        pointer_size: Bytes of ``size_t``.
        table_bytes: Bytes of the planner's tables for one buffer.
        rules: Which version of the allocator it is.

    Attributes:
        needs: What must fit.
    """

    __slots__ = ("_group_spans", "_place", "_planner_tables", "_table_bytes", "needs")

    def __init__(
        self, size: int, *, address: int = 0, pointer_size: int = 4, table_bytes: int, rules: ArenaRules = NEWEST_RULES
    ) -> None:
        super().__init__(size, address=address, pointer_size=pointer_size, rules=rules)
        self.needs = Needs()
        self._table_bytes = table_bytes
        self._place: PlaceFacts = Phase, (Stage.START,)
        self._group_spans = cache(_group_spans)

    @property
    def ends_modulo_16(self) -> tuple[int, int]:
        """Where temps begin and where the tail is, modulo 16."""
        return (self.address + self.temp) % PERIOD, (self.address + self.tail) % PERIOD

    def take_step(self, step: ArenaStep) -> bool:
        """Do a step that was recorded at the same ends modulo 16; False where its requests must be made one by one."""
        needs, head = self.needs, self.head
        if head != self.temp or self._temp_count or self._checksum or not needs.is_settled:
            return False
        if self.tail - head <= step.tail + step.non_persistent:
            return False
        self.tail -= step.tail
        needs.take_step(step, head, self._place)
        return True

    def tell(self, kind: Callable[..., Event], *facts: Any) -> None:
        """Record a stage, and a finished plan."""
        if kind is OpEvent or kind is Phase:
            self._place = kind, facts
        elif kind is PlanFits:
            self.needs.plan(facts[0], self.address, self._place)
        elif kind is PlanDone:
            buffers = facts[3]
            tables = buffers * self._table_bytes
            self.needs.tables(self._planner_tables, tables, buffers, self.address, self._place)

    def log(self, message: str) -> None:
        """Discard the message: a measuring arena has no log."""

    def allocate_persistent_buffer(
        self, size: int, alignment: int, *, category: str = "", label: str = ""
    ) -> int | None:
        """Take ``size`` bytes from the tail."""
        address = self.address
        offset = (address + self.tail - size) // alignment * alignment - address
        if size < 0 or offset < self.temp:
            taken = super().allocate_persistent_buffer(size, alignment, category=category, label=label)
            if taken is None:
                return None
            offset = taken
        self.tail = offset
        temps = self._live_temps
        floor = max(temps.values()) if temps and overwrites_temps(size, category) else self.head
        self.needs.persist(floor, size, alignment, self.size - offset, label, self._place)
        return offset

    def allocate_temp(self, size: int, alignment: int) -> int | None:
        """Take ``size`` bytes after the last temp."""
        offset = super().allocate_temp(size, alignment)
        if offset is not None:
            if self._place[1][0] is Stage.PLANNER_ARENA:
                self._planner_tables = offset
            else:
                self.needs.below(self.temp, "temp", size, alignment, "", self._place)
        return offset

    def allocate_temps(self, wanted: Temps) -> tuple[tuple[int, ...], int]:
        """Take one temp after the other; they are recorded as one, and freed by the offset of the first."""
        taken = self.allocate_temp_groups((wanted,))
        return super().allocate_temps(wanted) if taken is None else (taken[0], len(wanted))

    def allocate_temp_groups(self, groups: tuple[Temps, ...]) -> list[tuple[int, ...]] | None:
        """Take groups of temps, each recorded as one; None where :meth:`allocate_temps` has to take them one by one."""
        needs, temp, live = self.needs, self.temp, self._live_temps
        spans = self._group_spans(groups, self.address + temp & PERIOD - 1)
        end = temp + spans[-1][1]
        if end > self.tail or not needs.is_settled:
            return None
        taken: list[tuple[int, ...]] = []
        for start, stop in spans:
            first = temp + start
            live[first] = temp + stop
            self._checksum ^= self.address + first
            taken.append((first,))
        self._temp_count += len(spans)
        self.temp = end
        needs.below(end, "temp", *groups[-1][-1], "", self._place)
        return taken

    def reset_temp_allocations(self) -> bool:
        if self._temp_count or self._checksum or not self.rules.checks_temps:
            return super().reset_temp_allocations()
        self.temp = self.head
        return True

    def deallocate_temps(self, offsets: Sequence[int]) -> None:
        for offset in offsets:
            self._live_temps.pop(offset, None)
            self._checksum ^= self.address + offset
            self._temp_count -= 1

    def resize_buffer(self, size: int, alignment: int) -> bool:
        """Set the head to ``size`` bytes from the arena's start."""
        if size == self.head == self.temp and self.needs.is_settled and not self.address % alignment:
            return True
        ok = super().resize_buffer(size, alignment)
        self.needs.head = self.head
        self.needs.below(self.head, "head", size, alignment, "", self._place)
        return ok


def _group_spans(groups: tuple[Temps, ...], start: int) -> tuple[tuple[int, int], ...]:
    """Return the start of each group's first temp and the end of its last one, counted from ``start``.

    Only ``start`` modulo 16 matters.
    """
    spans, end = [], start
    for group in groups:
        first = end + -end % group[0][1]
        for size, alignment in group:
            end += -end % alignment + size
        spans.append((first - start, end - start))
    return tuple(spans)
