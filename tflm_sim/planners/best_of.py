"""Best-of: run the quick planners, cheapest first, and keep the smallest plan, where the exact planner takes too long.

It ends as soon as a plan reaches the lower bound, because then no other can be smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from tflm_sim.errors import NoPlanInTime, PlanningError
from tflm_sim.planners import gpu, greedy, hill_climb, vela
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.deadline import deadline_in
from tflm_sim.planners.lower_bound import lower_bound

_PLANNERS: tuple[Callable[..., Plan], ...] = (
    partial(gpu.plan, strategy=gpu.MemoryStrategy.GREEDY_IN_ORDER),
    partial(gpu.plan, strategy=gpu.MemoryStrategy.GREEDY_BY_SIZE),
    partial(gpu.plan, strategy=gpu.MemoryStrategy.GREEDY_BY_BREADTH),
    vela.plan,
)


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the smallest plan of six planners.

    They are TFLM's greedy, the delegate's GREEDY_IN_ORDER, which is done in time with any number of buffers,
    GREEDY_BY_SIZE and GREEDY_BY_BREADTH, Vela's greedy and hill climb.

    Args:
        buffers: What to place. With fixed offsets only TFLM's greedy and hill climb are tried.
        time_limit: Seconds for everything; hill climb gets half of them at least. TFLM's greedy is left out where a
            value does not fit its 32 bits. None: until hill climb ends by itself.

    Raises:
        NoPlanInTime: There was no plan in time.
        PlanningError: No planner takes the buffers.
    """
    deadline, quick = deadline_in(time_limit), deadline_in(time_limit).share(2)
    bound = lower_bound(buffers)
    has_fixed = any(buffer.offset is not None for buffer in buffers)
    best: Plan | None = None
    for place in (greedy.plan,) if has_fixed else (greedy.plan, *_PLANNERS):
        with suppress(PlanningError, NoPlanInTime):
            best = _smaller(best, place(buffers, time_limit=quick.share(2).seconds_left))
        if best is not None and (best.peak <= bound or deadline.is_over):
            return best
    try:
        return _smaller(best, hill_climb.plan(buffers, time_limit=deadline.seconds_left))
    except (PlanningError, NoPlanInTime):
        if best is None:
            raise
        return best


def _smaller(best: Plan | None, other: Plan) -> Plan:
    return other if best is None else min(best, other, key=lambda plan: plan.peak)
