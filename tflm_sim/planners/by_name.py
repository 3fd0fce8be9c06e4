"""The planners by name, behind one call: buffers in, a plan out, for those who compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tflm_sim.errors import UsageError, expect
from tflm_sim.planners import best_of, exact, gpu, greedy, hill_climb, hill_climb_tvm, linear, vela
from tflm_sim.planners.buffers import Buffer, Plan

EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Planner:
    """A strategy.

    Attributes:
        name: What ``tflm-sim plan --planner`` calls it.
        summary: One line for people.
        place: Returns the plan; its keyword ``time_limit`` is in seconds, None for the planner's own.
        is_search: It returns its best plan when the time is over; the others have none until they are done.
        most_buffers: Above this many it would take minutes and is refused; None where that cannot be.
    """

    name: str
    summary: str
    place: Callable[..., Plan]
    is_search: bool = False
    most_buffers: int | None = None

    def __call__(self, buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
        """Return a plan for ``buffers`` within so many seconds.

        Raises:
            NoPlanInTime: There was no plan in time.
            UsageError: Too many buffers for it, or fixed offsets that it does not know.
            PlanningError: It refuses them.
        """
        if self.most_buffers is not None and len(buffers) > self.most_buffers:
            raise UsageError(f"{self.name} would take minutes with more than {self.most_buffers:,} buffers")
        return self.place(buffers, time_limit=time_limit)


_GPU_SUMMARIES = {
    gpu.MemoryStrategy.NAIVE: "an object for every tensor",
    gpu.MemoryStrategy.EQUALITY: "tensors of one size share objects",
    gpu.MemoryStrategy.GREEDY_IN_ORDER: "by first use, into the object that wastes least",
    gpu.MemoryStrategy.GREEDY_BY_BREADTH: "by the bytes alive at a task, then by size, into shared objects",
    gpu.MemoryStrategy.GREEDY_BY_SIZE: "by size, into the smallest gap",
    gpu.MemoryStrategy.GREEDY_BEST: "the better of two ways to share objects",
    gpu.MemoryStrategy.MINCOSTFLOW: "shared objects as a minimum-cost flow",
}
_MINCOSTFLOW_MOST_BUFFERS = 1000


def _gpu(strategy: gpu.MemoryStrategy) -> Planner:
    return Planner(
        f"gpu_{strategy.value}",
        f"TFLite GPU delegate: {_GPU_SUMMARIES[strategy]}",
        partial(gpu.plan, strategy=strategy),
        most_buffers=_MINCOSTFLOW_MOST_BUFFERS if strategy is gpu.MemoryStrategy.MINCOSTFLOW else None,
    )


PLANNERS = {
    planner.name: planner
    for planner in (
        Planner("greedy", "TFLM: by size, into the first gap (what the device does)", greedy.plan),
        Planner("linear", "TFLM: every buffer for itself (preserve_all_tensors)", linear.plan),
        *map(_gpu, gpu.MemoryStrategy),
        Planner("vela_greedy", "Vela: by first use, into the smallest gap", vela.plan),
        Planner("hill_climb", "Vela: swap what pushed the highest buffer up", hill_climb.plan, is_search=True),
        Planner(
            "hill_climb_tvm",
            "TVM: by size, then swap what the highest buffer meets",
            hill_climb_tvm.plan,
            is_search=True,
        ),
        Planner("best_of", "the best of the quick ones", best_of.plan, is_search=True),
        Planner(EXACT, "the smallest plan, with its proof, or the best within the time", exact.plan, is_search=True),
    )
}


DEFAULT_PLANNERS = ("greedy", "gpu_greedy_by_size", "vela_greedy", "hill_climb")
"""Those that are compared where nobody names any."""


def planner(name: str, planners: Mapping[str, Planner] = PLANNERS) -> Planner:
    """Return a planner by name; UsageError names them all."""
    expect(name, str, "the name of a planner")
    if name not in planners:
        raise UsageError(f"there is no planner '{name}'; use one of: {', '.join(planners)}")
    return planners[name]
