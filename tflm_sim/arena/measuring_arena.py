"""``MeasuringArena``: a roomy arena that notes what must fit (``Needs``) and tells nobody what happens.

It hands out the same offsets as the arena it derives from, whose events would give the same needs; a property test
holds them equal. Where something is refused it does what that arena does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tflm_sim.arena.arena import NEWEST_RULES, ArenaRules, SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, OpEvent, Phase, PlanDone, PlanFits
from tflm_sim.arena.needs import PERIOD, Needs, Told
from tflm_sim.arena.stages import Stage
from tflm_sim.units import align_up


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

    __slots__ = ("_layouts", "_place", "_planner_tables", "_table_bytes", "needs")

    def __init__(
        self,
        size: int,
        *,
        address: int = 0,
        pointer_size: int = 4,
        table_bytes: int,
        rules: ArenaRules = NEWEST_RULES,
    ) -> None:
        super().__init__(size, address=address, pointer_size=pointer_size, rules=rules)
        self.needs = Needs()
        self._table_bytes = table_bytes
        self._place: Told = Phase, (Stage.START,)
        self._planner_tables = 0
        self._layouts: dict[tuple[tuple[tuple[int, int], ...], int], tuple[int, int]] = {}

    def tell(self, kind: Callable[..., Event], *facts: Any) -> None:
        """Take notice of a stage, and of a finished plan."""
        if kind is OpEvent or kind is Phase:
            self._place = kind, facts
        elif kind is PlanFits:
            self.needs.plan(facts[0], self._place)
        elif kind is PlanDone:
            buffers = facts[3]
            tables = buffers * self._table_bytes
            floor = align_up(self._planner_tables + tables, PERIOD)
            self.needs.below(floor, "planner", tables, 0, str(buffers), self._place)

    def log(self, message: str) -> None:
        """Nobody reads it."""

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
        floor = max(self.head, *self._live_temps.values()) if self._live_temps else self.head
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

    def allocate_temps(self, wanted: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], int]:
        """Take one temp after the other; they count as one, whose start stands for all of them."""
        needs, temp = self.needs, self.temp
        start = self.address + temp & PERIOD - 1
        layout = self._layouts.get((wanted, start))
        if layout is None:
            layout = self._layouts[wanted, start] = _layout(wanted, start)
        first, end = temp + layout[0], temp + layout[1]
        if end > self.tail or not needs.is_settled:
            return super().allocate_temps(wanted)
        self.temp = self._live_temps[first] = end
        self._checksum ^= self.address + first
        self._temp_count += 1
        if end + needs.tail_used > needs.late_need:
            needs.below(end, "temp", *wanted[-1], "", self._place)
        elif end > needs.non_persistent:
            needs.non_persistent = end
        return (first,), len(wanted)

    def deallocate_temps(self, offsets: Sequence[int]) -> None:
        """Give temps back."""
        for offset in offsets:
            self._live_temps.pop(offset, None)
            self._checksum ^= self.address + offset
            self._temp_count -= 1

    def resize_buffer(self, size: int, alignment: int) -> bool:
        """Set the head to ``size`` bytes from the arena's start."""
        if self.head != self.temp or self.address % alignment or not 0 <= size <= self.tail:
            ok = super().resize_buffer(size, alignment)
        else:
            self.head = self.temp = size
            ok = True
        needs, head = self.needs, self.head
        needs.head = head
        if head + needs.tail_used > needs.late_need or head > needs.non_persistent:
            needs.below(head, "head", size, alignment, "", self._place)
        return ok


def _layout(wanted: Sequence[tuple[int, int]], start: int) -> tuple[int, int]:
    """Return where the first of several temps starts, and where the last ends, from ``start`` on (modulo 16)."""
    first, end = -1, start
    for size, alignment in wanted:
        offset = align_up(end, alignment)
        first, end = offset if first < 0 else first, offset + size
    return first - start, end - start
