"""Best-of: run the quick planners, cheapest first, and keep the smallest plan; for when time is short.

It ends as soon as a plan reaches the lower bound, because then no other can be smaller.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from tflm_sim.errors import PlanningError
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
        time_limit: Seconds for everything; no planner but hill climb is interrupted. TFLM's greedy is left out where a
            value does not fit its 32 bits.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    bound = lower_bound(buffers)
    has_fixed = any(buffer.offset is not None for buffer in buffers)
    best: Plan | None = None
    for place in (greedy.plan,) if has_fixed else (greedy.plan, *_PLANNERS):
        with suppress(PlanningError):
            best = _smaller(best, place(buffers))
        if best is not None and (best.peak <= bound or time.monotonic() >= deadline):
            return best
    left = max(deadline - time.monotonic(), 0.0)
    return _smaller(best, hill_climb.plan(buffers, time_limit=left))


def _smaller(best: Plan | None, other: Plan) -> Plan:
    return other if best is None else min(best, other, key=_peak)


def _peak(plan: Plan) -> int:
    return plan.peak
