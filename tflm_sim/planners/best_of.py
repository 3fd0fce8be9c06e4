"""Best-of: run the quick planners, cheapest first, and keep the smallest plan; for when time is short.

It ends as soon as a plan reaches the lower bound, because then no other can be smaller.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

from tflm_sim.planners import gpu, greedy, hill_climb, vela
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.lower_bound import lower_bound

_PLANNERS: tuple[Callable[[Sequence[Buffer]], Plan], ...] = (
    partial(gpu.plan, strategy=gpu.MemoryStrategy.GREEDY_BY_SIZE),
    partial(gpu.plan, strategy=gpu.MemoryStrategy.GREEDY_BY_BREADTH),
    vela.plan,
)


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the smallest plan of TFLM's greedy, GREEDY_BY_SIZE, GREEDY_BY_BREADTH, Vela's greedy and hill climb.

    Args:
        buffers: What to place. With fixed offsets only TFLM's greedy and hill climb are tried.
        time_limit: Seconds for everything; no planner but hill climb is interrupted.

    Raises:
        PlanningError: A value does not fit TFLM's 32-bit integers.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    bound = lower_bound(buffers)
    has_fixed = any(buffer.offset is not None for buffer in buffers)
    best = greedy.plan(buffers)
    for place in () if has_fixed else _PLANNERS:
        if best.peak <= bound or time.monotonic() >= deadline:
            return best
        best = min(best, place(buffers), key=_peak)
    left = deadline - time.monotonic()
    if best.peak <= bound or left <= 0:
        return best
    return min(best, hill_climb.plan(buffers, time_limit=left), key=_peak)


def _peak(plan: Plan) -> int:
    return plan.peak
