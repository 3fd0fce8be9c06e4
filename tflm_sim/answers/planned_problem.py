"""What the memory planner was asked to place, row by row of the AllocationInfo array, as planners know buffers.

Sizes are rounded up to 16 as TFLM does before it plans, so offsets need no alignment of their own, and TFLM's greedy
planner gives exactly the head of the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import UsageError
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.planners.plan_svg import Drawn
from tflm_sim.planners.problem import Problem
from tflm_sim.units import align_up


def problem_of(infos: Sequence[AllocationInfo], *, title: str = "") -> Problem:
    """Return rows of the AllocationInfo array as a problem for planners.

    Raises:
        UsageError: The model fixes a buffer at a negative offset, which TFLM accepts and no planner can.
    """
    for info in infos:
        if info.offline_offset < ONLINE_PLANNED_BUFFER:
            raise UsageError(f"{_name(info)} is fixed at the negative offset {info.offline_offset}")
    return Problem(tuple(map(planned_buffer, infos)), title)


def drawn_buffers(model: Model, infos: Sequence[AllocationInfo]) -> list[Drawn]:
    """Return how pictures show rows of the AllocationInfo array: what each is for, and the name that the model has."""
    return [Drawn(category_of(model, info), _shown_name(model, info)) for info in infos]


def category_of(model: Model, info: AllocationInfo) -> str:
    """Return the key of ``palette.CATEGORIES`` that a row of the AllocationInfo array is of."""
    if info.tensor < 0:
        return "scratch"
    subgraph = model.subgraphs[info.subgraph]
    if subgraph.tensors[info.tensor].is_variable:
        return "planned_variable"
    if info.subgraph == 0 and info.tensor in subgraph.input_tensors:
        return "input"
    return "output" if info.subgraph == 0 and info.tensor in subgraph.output_tensors else "activation"


def _shown_name(model: Model, info: AllocationInfo) -> str:
    if info.tensor < 0:
        return f"scratch {info.scratch} of #{info.node}"
    return model.subgraphs[info.subgraph].tensors[info.tensor].name or f"tensor {info.tensor}"


def planned_buffer(info: AllocationInfo) -> Buffer:
    """Return a row of the AllocationInfo array, whose scopes are inclusive, as a ``Buffer``."""
    offset = info.offline_offset if info.offline_offset >= 0 else None
    size = align_up(info.size, BUFFER_ALIGNMENT)
    return Buffer(size, info.first_created, info.last_used + 1, offset=offset, name=_name(info))


def _name(info: AllocationInfo) -> str:
    if info.scratch >= 0:
        return f"subgraph{info.subgraph}.op{info.node}.scratch{info.scratch}"
    return f"subgraph{info.subgraph}.tensor{info.tensor}"
