"""TFLM's ``GreedyMemoryPlanner``: by descending size, each buffer into the first gap that is free for its lifetime.

    bytes
    30 |     .---.           size 20, times 1..2: placed first, at 0
       | .---.   |           size 10, times 0..1: alive together with it, so above it, at 20
    20 | '---+---+
       |     |   |
     0 +-0---1---2- time

Buffers with an offline offset come first, in the order in which they were added, and are never moved or checked. The
others follow by size; among equal sizes the one that was added *last* comes first, because upstream fills its table
from the tail and sorts it stably. A gap that is just big enough is used. ``greedy_offsets`` is the readable truth;
the C core (``native``) gives the same offsets in less time and is used where it was built.

Source: tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc @ 90b983c
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.deadline import NEVER, Deadline, deadline_in
from tflm_sim.planners.memory_planner import (
    ONLINE_PLANNED_BUFFER,
    BufferRequirements,
    check_buffer_index,
    too_many_buffers,
)
from tflm_sim.units import align_up

PER_BUFFER_SIZE = 40
"""Bytes of the planner's tables for one buffer: requirements 16, two sorted ints 8, list entry 12, offset 4."""

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


def greedy_offsets(buffers: Sequence[BufferRequirements], deadline: Deadline = NEVER) -> list[int]:
    """Return TFLM's offset for each buffer, in bytes; plain Python, O(n^2).

    Raises:
        PlanningError: A value does not fit TFLM's 32-bit integers, or is negative where it must not be.
        NoPlanInTime: The deadline came first.
    """
    from bisect import insort

    offsets = [0] * len(buffers)
    placed: list[tuple[int, int]] = []
    for index in deadline.watch(placement_order(buffers)):
        buffer = buffers[index]
        _check(buffer)
        if buffer.offline_offset == ONLINE_PLANNED_BUFFER:
            active = (
                (offset, buffers[other]) for offset, other in placed if _are_active_together(buffers[other], buffer)
            )
            offsets[index] = _first_gap(buffer, active)
        else:
            offsets[index] = buffer.offline_offset
        if offsets[index] + buffer.size > _INT32_MAX:
            raise PlanningError(
                f"the buffers reach beyond {_INT32_MAX:,} bytes, the most that a 32-bit planner can count"
            )
        insort(placed, (offsets[index], index), key=itemgetter(0))
    return offsets


def _offsets(buffers: Sequence[BufferRequirements], deadline: Deadline = NEVER) -> list[int]:
    """Return TFLM's offsets from the C core where it was built, else from Python."""
    return native.greedy(buffers, deadline)[0] if native.available() else greedy_offsets(buffers, deadline)


def placement_order(buffers: Sequence[BufferRequirements]) -> list[int]:
    """Return the buffers' indices in the order in which they are placed."""
    offline = [i for i, buffer in enumerate(buffers) if buffer.offline_offset != ONLINE_PLANNED_BUFFER]
    online = [i for i, buffer in enumerate(buffers) if buffer.offline_offset == ONLINE_PLANNED_BUFFER]
    return offline + sorted(online, key=lambda i: (-buffers[i].size, -i))


def _check(buffer: BufferRequirements) -> None:
    if not all(_INT32_MIN <= value <= _INT32_MAX for value in buffer):
        raise PlanningError("a buffer has a size, time or offset outside 32-bit integers")
    if buffer.size < 0 or buffer.alignment < 1 or _INT32_MIN in (buffer.first_time_used, buffer.last_time_used):
        raise PlanningError("a buffer has a negative size, an alignment below 1 or a time of -2^31")


def _are_active_together(a: BufferRequirements, b: BufferRequirements) -> bool:
    return a.first_time_used <= b.last_time_used and b.first_time_used <= a.last_time_used


def _first_gap(wanted: BufferRequirements, active: Iterable[tuple[int, BufferRequirements]]) -> int:
    """Return the lowest offset with room below the next of ``active`` (ascending offsets), else the one above all."""
    candidate = 0
    for offset, other in active:
        if offset - candidate >= wanted.size:
            break
        candidate = max(candidate, align_up(offset + other.size, wanted.alignment))
    return candidate


class GreedyMemoryPlanner:
    """TFLM's default planner (mutable while buffers are added; the plan is computed when it is asked for).

    Args:
        scratch_size: Bytes of arena for the planner's tables, 40 a buffer; None for as many as it takes.
    """

    per_buffer_size = PER_BUFFER_SIZE

    def __init__(self, scratch_size: int | None = None) -> None:
        self._max_buffer_count = None if scratch_size is None else scratch_size // PER_BUFFER_SIZE
        self._buffers: list[BufferRequirements] = []
        self._offsets: list[int] | None = None

    @property
    def buffer_count(self) -> int:
        return len(self._buffers)

    @property
    def buffers(self) -> Sequence[BufferRequirements]:
        """The buffers in the order in which they were added."""
        return self._buffers

    def init(self, scratch_size: int) -> None:
        """Forget all buffers and plan with tables of ``scratch_size`` bytes."""
        self._max_buffer_count = scratch_size // PER_BUFFER_SIZE
        self._buffers = []
        self._offsets = None

    def add_buffer(
        self, size: int, first_time_used: int, last_time_used: int, *, offline_offset: int | None = None
    ) -> None:
        """Add a buffer of ``size`` bytes, needed from ``first_time_used`` to ``last_time_used``, both inclusive.

        Raises:
            PlanningError: The tables are full ("Too many buffers (max is N)").
        """
        if self._max_buffer_count is not None and len(self._buffers) >= self._max_buffer_count:
            raise too_many_buffers(self._max_buffer_count)
        offset = ONLINE_PLANNED_BUFFER if offline_offset is None else offline_offset
        self._buffers.append(BufferRequirements(size, offset, first_time_used, last_time_used))
        self._offsets = None

    def offsets(self) -> Sequence[int]:
        """Return the offset of every buffer in bytes; PlanningError as ``greedy_offsets``."""
        if self._offsets is None:
            self._offsets = _offsets(self._buffers)
        return self._offsets

    def maximum_memory_size(self) -> int:
        """Return the highest end in bytes, 0 without buffers.

        An offline offset below -1 can put an end below zero; upstream's unsigned figure is then just below 2^32.
        """
        rows = zip(self.offsets(), self._buffers, strict=True)
        return max([offset + buffer.size & 0xFFFFFFFF for offset, buffer in rows], default=0)

    def offset_for_buffer(self, buffer_index: int) -> int:
        """Return the offset in bytes; PlanningError when there is no such buffer."""
        offsets = self.offsets()
        check_buffer_index(buffer_index, len(offsets))
        return offsets[buffer_index]

    def do_any_buffers_overlap(self) -> bool:
        """Return whether two buffers share a byte at one moment, which only offline offsets can cause; O(n^2)."""
        placed = list(zip(self.offsets(), self._buffers, strict=True))
        return any(
            _are_active_together(buffer, other) and offset < begin + other.size and begin < offset + buffer.size
            for index, (offset, buffer) in enumerate(placed)
            for begin, other in placed[:index]
        )

    def print_memory_plan(self) -> list[str]:
        """Return the lines that PrintMemoryPlan sends to the log."""
        from tflm_sim.planners.print_plan import memory_plan_lines

        return memory_plan_lines(self._buffers, self.offsets())


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return TFLM's greedy plan, with alignments honoured where TFLM aligns the sizes beforehand.

    Args:
        buffers: What to place.
        time_limit: Seconds; None for as long as it takes.

    Raises:
        PlanningError: A value does not fit TFLM's 32-bit integers.
        NoPlanInTime: The time was over before there was a plan.
    """
    return plan_of(buffers, _offsets(greedy_requirements(buffers), deadline_in(time_limit)))


def greedy_requirements(buffers: Sequence[Buffer]) -> list[BufferRequirements]:
    """Return ``buffers`` as TFLM's planners keep them."""
    return [BufferRequirements(*row) for row in native.rows(buffers)]
