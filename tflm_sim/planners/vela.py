"""Vela's ``Greedy`` allocator: by time of birth, each buffer into the tightest gap among those alive at that moment.

It never looks ahead, so unlike TFLM's planner it can run while a graph executes.

Source: ethosu/vela/greedy_allocation.py @ ethos-u-vela 5.2.0
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from tflm_sim.errors import UsageError
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.deadline import deadline_in
from tflm_sim.units import align_up


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return Vela's greedy plan; of buffers born together the longer-lived comes first, then the earlier in the list.

    Args:
        buffers: What to place.
        time_limit: Seconds; None for as long as it takes.

    Raises:
        UsageError: A buffer has a fixed offset, which this allocator does not know.
        NoPlanInTime: The time was over before there was a plan.
    """
    if any(buffer.offset is not None for buffer in buffers):
        raise UsageError("Vela's greedy allocator cannot plan buffers with a fixed offset")
    offsets = [0] * len(buffers)
    alive: list[tuple[int, int]] = []
    by_birth = sorted(range(len(buffers)), key=lambda i: (buffers[i].lower, -buffers[i].upper))
    for index in deadline_in(time_limit).watch(by_birth):
        now = buffers[index].lower
        alive = [(offset, other) for offset, other in alive if buffers[other].upper > now]
        taken = [(offset, offset + buffers[other].size) for offset, other in alive]
        offsets[index] = _tightest_gap(buffers[index], taken)
        insort(alive, (offsets[index], index))
    return plan_of(buffers, offsets)


def _tightest_gap(buffer: Buffer, taken: Sequence[tuple[int, int]]) -> int:
    """Return the aligned offset in the smallest gap that holds the padded size, else above all of ``taken``."""
    size = align_up(buffer.size, buffer.alignment)
    gaps: list[tuple[int, int]] = []
    end = 0
    for begin, other_end in taken:
        candidate = align_up(end, buffer.alignment)
        if candidate + size <= begin:
            gaps.append((begin - candidate, candidate))
        end = max(end, other_end)
    return min(gaps)[1] if gaps else align_up(end, buffer.alignment)
