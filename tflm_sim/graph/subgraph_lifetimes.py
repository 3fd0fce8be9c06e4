"""Lifetimes before one plan spanned all subgraphs (until 8c41f9606, 2022-03-02): each subgraph is planned alone.

Time is counted in operators of the subgraph. So that one picture can show all plans, the operators of the subgraphs
before it are counted too; every plan sees its own subgraph alone, which makes no difference to it.

    operator       0        1        2
    input       ########                     first 0, though nothing marks an input that no operator reads
    conv out    ##################           first 0, last 1
    output               ##################  last 2: outputs live to the last operator

All scratch requests of the model take part in every plan, by the number of their operator.

Source: AllocationInfoBuilder in tensorflow/lite/micro/micro_allocator.cc @ 217ad9fcb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tflm_sim.errors import PlanningError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import UNINITIALIZED_LIFETIME, AllocationInfo, ScratchBufferRequest, byte_length
from tflm_sim.model.types import Model, Subgraph
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER


@dataclass(frozen=True, slots=True)
class SubgraphRules:
    """What the versions differ in.

    Attributes:
        outputs_are_used: An operator's output that nothing reads lives through that operator.
        partial_lifetimes: A tensor that is only written may be planned; older versions refuse it.
        vectors_may_be_absent: A subgraph or operator may have no inputs or outputs vector.
    """

    outputs_are_used: bool
    partial_lifetimes: bool
    vectors_may_be_absent: bool


def subgraph_lifetimes(
    model: Model,
    subgraph_index: int,
    tensors: Sequence[EvalTensor],
    scratch_requests: Sequence[ScratchBufferRequest],
    offline_offsets: Sequence[int] | None,
    rules: SubgraphRules,
) -> list[AllocationInfo]:
    """Return one row per tensor of a subgraph, then one per scratch buffer of the model.

    Raises:
        PlanningError: TFLM refuses a lifetime, or reads through a null pointer.
    """
    subgraph = model.subgraphs[subgraph_index]
    start = sum(len(before.operators) for before in model.subgraphs[:subgraph_index])
    infos = []
    for tensor in tensors:
        offset = ONLINE_PLANNED_BUFFER if offline_offsets is None else offline_offsets[tensor.index]
        needs = not tensor.has_data and not tensor.tensor.is_variable
        infos.append(AllocationInfo(subgraph_index, tensor.index, -1, -1, byte_length(tensor), needs, offset))
    _mark(subgraph, infos, start, rules)
    if not rules.partial_lifetimes:
        _check(infos, start)
    for index, request in enumerate(scratch_requests):
        scope = start + request.node
        scratch = AllocationInfo(request.subgraph, -1, index, request.node, request.size, needs_allocating=True)
        scratch.first_created = scratch.last_used = scope
        infos.append(scratch)
    return infos


def _mark(subgraph: Subgraph, infos: list[AllocationInfo], start: int, rules: SubgraphRules) -> None:
    for tensor in _vector(subgraph.inputs, rules):
        infos[tensor].first_created = start
    for tensor in _vector(subgraph.outputs, rules):
        infos[tensor].last_used = start + len(subgraph.operators) - 1
    for index, operator in enumerate(subgraph.operators, start=start):
        for tensor in _vector(operator.inputs, rules):
            if tensor >= 0:  # An absent input marks the bytes before the array, which nothing reads.
                infos[tensor].last_used = max(infos[tensor].last_used, index)
        for tensor in _vector(operator.outputs, rules):
            infos[tensor].created(index)
            if rules.outputs_are_used:
                infos[tensor].last_used = max(infos[tensor].last_used, index)


def _vector(indices: tuple[int, ...] | None, rules: SubgraphRules) -> tuple[int, ...]:
    if indices is None and not rules.vectors_may_be_absent:
        raise PlanningError("an inputs or outputs vector is absent: a null pointer is read", status="abort")
    return indices or ()


def _check(infos: list[AllocationInfo], start: int) -> None:
    """Refuse what is written and never read, or the other way round, and is to be planned."""
    for info in infos:
        first, last = info.first_created, info.last_used
        is_read_only = first == UNINITIALIZED_LIFETIME and last != UNINITIALIZED_LIFETIME
        is_partial = UNINITIALIZED_LIFETIME in (first, last) and not is_read_only
        if is_partial and info.needs_allocating:
            shown = [scope - start if scope != UNINITIALIZED_LIFETIME else scope for scope in (first, last)]
            message = (
                f"Logic error in memory planner, tensor {info.tensor} has an invalid lifetime: "
                f"first_created: {shown[0]}, last_used: {shown[1]}"
            )
            raise PlanningError(message, device_message=message)
