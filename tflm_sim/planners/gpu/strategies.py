"""The delegate's entry points by strategy, and ``plan``, which puts them behind the planner interface.

Source: tflite/delegates/gpu/common/memory_management.h, memory_management.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import accumulate
from math import lcm
from typing import Any

from tflm_sim.errors import PlanningError, UsageError
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.deadline import NEVER, Deadline, deadline_in
from tflm_sim.planners.gpu.by_breadth import greedy_by_breadth
from tflm_sim.planners.gpu.by_size import greedy_by_size_objects, greedy_by_size_offsets
from tflm_sim.planners.gpu.equality import equality, equality_with_hash, naive
from tflm_sim.planners.gpu.in_order import greedy_in_order, greedy_in_order_multidimensional
from tflm_sim.planners.gpu.min_cost_flow import min_cost_flow
from tflm_sim.planners.gpu.records import (
    BHWC,
    ObjectsAssignment,
    OffsetsAssignment,
    SizeT,
    TensorUsageRecord,
    UInt2,
    UInt3,
    UsageGraph,
)
from tflm_sim.units import align_up


class MemoryStrategy(Enum):
    """How tensors are assigned, by upstream's names."""

    NAIVE = "naive"
    EQUALITY = "equality"
    GREEDY_IN_ORDER = "greedy_in_order"
    GREEDY_BY_BREADTH = "greedy_by_breadth"
    GREEDY_BY_SIZE = "greedy_by_size"
    GREEDY_BEST = "greedy_best"
    MINCOSTFLOW = "mincostflow"


def best_greedy(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> ObjectsAssignment[int]:
    """Return the smaller of GREEDY_BY_SIZE and GREEDY_BY_BREADTH in total object bytes, the former when equal."""
    candidates = (greedy_by_size_objects(records, deadline), greedy_by_breadth(records, deadline))
    return min(candidates, key=lambda assignment: sum(assignment.object_sizes))


_Strategies = dict[MemoryStrategy, Callable[..., ObjectsAssignment[Any]]]
_TEXTURE: _Strategies = {
    MemoryStrategy.NAIVE: naive,
    MemoryStrategy.EQUALITY: equality,
    MemoryStrategy.GREEDY_IN_ORDER: greedy_in_order_multidimensional,
}
_BY_SIZE_TYPE: dict[type, _Strategies] = {
    int: {
        MemoryStrategy.NAIVE: naive,
        MemoryStrategy.EQUALITY: equality_with_hash,
        MemoryStrategy.GREEDY_IN_ORDER: greedy_in_order,
        MemoryStrategy.GREEDY_BY_BREADTH: greedy_by_breadth,
        MemoryStrategy.GREEDY_BY_SIZE: greedy_by_size_objects,
        MemoryStrategy.GREEDY_BEST: best_greedy,
        MemoryStrategy.MINCOSTFLOW: min_cost_flow,
    },
    BHWC: {MemoryStrategy.NAIVE: naive, MemoryStrategy.EQUALITY: equality_with_hash},
    UInt2: _TEXTURE,
    UInt3: _TEXTURE,
}


_SLOW: set[Callable[..., ObjectsAssignment[int]]] = {
    greedy_by_breadth,
    greedy_by_size_objects,
    best_greedy,
    min_cost_flow,
}
"""More than O(n log n) steps: they heed a deadline."""


def assign_objects_to_tensors(
    records: Sequence[TensorUsageRecord[SizeT]],
    strategy: MemoryStrategy,
    *,
    reallocation_graph: UsageGraph | None = None,
    deadline: Deadline = NEVER,
) -> ObjectsAssignment[SizeT]:
    """Return which shared object each tensor uses, and the objects' sizes.

    Args:
        records: All with sizes of one type; ascending by first task, as the delegate has them.
        strategy: Sizes in bytes know all strategies, textures and BHWC only some.
        reallocation_graph: Only GREEDY_IN_ORDER on sizes in bytes heeds it; the others ignore it, as upstream.
        deadline: When it has to end.

    Raises:
        NoPlanInTime: The deadline came first.
        PlanningError: The strategy does not know this type of size.
    """
    size_type = type(records[0].tensor_size) if records else int
    assign = _BY_SIZE_TYPE[size_type].get(strategy)
    if assign is None:
        message = "MemoryStrategy is not supported with current tensor size type."
        raise PlanningError(f"{strategy.name} on {size_type.__name__}: {message}", device_message=message)
    if assign is greedy_in_order:
        return assign(records, reallocation_graph)
    return assign(records, deadline) if assign in _SLOW else assign(records)


def objects_to_offsets(assignment: ObjectsAssignment[int]) -> OffsetsAssignment:
    """Return the same assignment with the objects one after the other in one block."""
    *starts, total = accumulate(assignment.object_sizes, initial=0)
    return OffsetsAssignment(tuple(starts[object_id] for object_id in assignment.object_ids), total)


def assign_offsets_to_tensors(
    records: Sequence[TensorUsageRecord[int]],
    strategy: MemoryStrategy,
    *,
    base_addr_align_bytes: int = 1,
    reallocation_graph: UsageGraph | None = None,
    deadline: Deadline = NEVER,
) -> OffsetsAssignment:
    """Return where each tensor is in one block.

    Only GREEDY_BY_SIZE thinks in offsets and heeds ``base_addr_align_bytes``; the others line up their objects.
    """
    if strategy is MemoryStrategy.GREEDY_BY_SIZE:
        return greedy_by_size_offsets(records, base_addr_align_bytes=base_addr_align_bytes, deadline=deadline)
    return objects_to_offsets(
        assign_objects_to_tensors(records, strategy, reallocation_graph=reallocation_graph, deadline=deadline)
    )


def plan(buffers: Sequence[Buffer], strategy: MemoryStrategy, *, time_limit: float | None = None) -> Plan:
    """Return the strategy's plan for ``buffers``; sizes are rounded up to the alignment that serves all of them.

    Args:
        buffers: What to place.
        strategy: How.
        time_limit: Seconds; None for as long as it takes.

    Raises:
        NoPlanInTime: The time was over before there was a plan.
        UsageError: A buffer has a fixed offset, which the delegate does not know.
        PlanningError: MINCOSTFLOW on more than 2^31 - 1 bytes.
    """
    if any(buffer.offset is not None for buffer in buffers):
        raise UsageError(f"the GPU delegate's {strategy.name} cannot plan buffers with a fixed offset")
    alignment = lcm(*(buffer.alignment for buffer in buffers))
    order = sorted(range(len(buffers)), key=lambda i: buffers[i].lower)
    records = [
        TensorUsageRecord(align_up(buffers[i].size, alignment), buffers[i].lower, buffers[i].upper - 1) for i in order
    ]
    assignment = assign_offsets_to_tensors(records, strategy, deadline=deadline_in(time_limit))
    placed = dict(zip(order, assignment.offsets, strict=True))
    return plan_of(buffers, (placed[i] for i in range(len(buffers))))
