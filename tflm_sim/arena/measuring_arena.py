"""``MeasuringArena``: a roomy arena that notes what must fit (``Needs``) and tells nobody what happens.

It hands out the same offsets as the arena it derives from, whose events would give the same needs; a property test
holds them equal. Where something is refused it does what that arena does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tflm_sim.arena.arena import NEWEST_RULES, ArenaRules, SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, OpEvent, Phase, PlanDone, PlanFits
from tflm_sim.arena.needs import PERIOD, Needs, Place
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

    __slots__ = ("_place", "_planner_tables", "_table_bytes", "needs")

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
        self._place: Place = Phase, (Stage.START,)
        self._planner_tables = 0

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
        offset = super().allocate_persistent_buffer(size, alignment, category=category, label=label)
        if offset is not None:
            floor = max(self.head, self.live_temp_end) if self._live_temps else self.head
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

    def allocate_temps(self, wanted: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """Take one temp after the other."""
        needs, address, temp = self.needs, self.address, self.temp
        offsets = []
        for size, alignment in wanted:
            offset = -(-(address + temp) // alignment) * alignment - address
            temp = offset + size
            offsets.append(offset)
        if temp > self.tail or not needs.is_settled:
            return super().allocate_temps(wanted)
        self.temp = temp
        checksum, live = self._checksum, self._live_temps
        for offset in offsets:
            live[offset] = temp
            checksum ^= address + offset
        self._checksum = checksum
        self._temp_count += len(offsets)
        if temp + needs.tail_used > needs.late_need:
            needs.below(temp, "temp", *wanted[-1], "", self._place)
        elif temp > needs.non_persistent:
            needs.non_persistent = temp
        return tuple(offsets)

    def deallocate_temps(self, offsets: Sequence[int]) -> None:
        """Give temps back."""
        checksum, live, address = self._checksum, self._live_temps, self.address
        for offset in offsets:
            live.pop(offset, None)
            checksum ^= address + offset
        self._checksum = checksum
        self._temp_count -= len(offsets)

    def resize_buffer(self, size: int, alignment: int) -> bool:
        """Set the head to ``size`` bytes from the arena's start."""
        ok = super().resize_buffer(size, alignment)
        self.needs.head = self.head
        self.needs.below(self.head, "head", size, alignment, "", self._place)
        return ok
