"""When every tensor and scratch buffer is alive: upstream's ``AllocationInfoBuilder``, without an arena.

Time is counted in *scopes*: 0 is the start of the model, each visited operator begins the next one, and so does each
subgraph that a control flow operator enters. A buffer is alive from ``first_created`` to ``last_used``, both included.

    scope        0      1        2        3
    subgraph   inputs  CONV_2D  SOFTMAX
    input       ####################             first 0, last 1: read by the operator of scope 1
    conv out            ##################       first 1, last 2
    output                       ##########      first 2, last 2

Source: tensorflow/lite/micro/micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tflm_sim.errors import ModelError, PlanningError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.schema import builtin_operator_code
from tflm_sim.model.types import Model, Operator, Subgraph
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.units import int32

UNINITIALIZED_LIFETIME = -1
OFFLINE_MEMORY_ALLOCATION = "OfflineMemoryAllocation"

# Which subgraphs an operator runs, in order. Upstream looks at the raw ``builtin_code`` field here.
CONTROL_FLOW = {
    builtin_operator_code("IF"): ("then_subgraph_index", "else_subgraph_index"),
    builtin_operator_code("CALL_ONCE"): ("init_subgraph_index",),
    builtin_operator_code("WHILE"): ("cond_subgraph_index", "body_subgraph_index"),
}

# This index is passed over where lifetimes are marked.
NO_SUBGRAPH = -1

# Subgraphs can nest so that exponentially many operators are visited; we stop at this many.
MAX_SCOPES = 1_000_000


@dataclass(frozen=True, slots=True)
class LifetimeRules:
    """What the versions of ``AllocationInfoBuilder`` differ in; the defaults are the newest.

    Attributes:
        inputs_are_used: A subgraph's inputs are used where it starts, its outputs created at the latest where it ends.
        created_is_used: Whatever is created is used in that scope.
        outputs_outlive_subgraphs: A control flow operator's outputs are used after its subgraphs, not before.
        plans_empty: Tensors of no bytes are planned, and intermediates may have bytes.
        variables_offline: A variable can be planned offline.
        offline_across_subgraphs: An offline plan has one offset for each tensor of all subgraphs; else each subgraph
            reads it from its start.
        offline_name: How much of the metadata's name is compared: "whole", "prefix" (of the name) or "shorter".
        unsized: Types without a size, beside those that no version has one for.
    """

    inputs_are_used: bool = True
    created_is_used: bool = False
    outputs_outlive_subgraphs: bool = True
    plans_empty: bool = False
    variables_offline: bool = True
    offline_across_subgraphs: bool = True
    offline_name: str = "whole"
    unsized: frozenset[int] = frozenset()

    def names_offline_plan(self, name: str) -> bool:
        """Return whether TFLM reads metadata of this name as an offline plan."""
        if self.offline_name == "whole":
            return name == OFFLINE_MEMORY_ALLOCATION
        if self.offline_name == "prefix":
            return name.startswith(OFFLINE_MEMORY_ALLOCATION)
        shorter = min(len(name), len(OFFLINE_MEMORY_ALLOCATION))
        return name[:shorter] == OFFLINE_MEMORY_ALLOCATION[:shorter]


NEWEST_RULES = LifetimeRules()


@dataclass(slots=True)
class AllocationInfo:
    """A row of upstream's array (mutable while lifetimes are marked; then several runs of a model may share it).

    Attributes:
        subgraph: Index of the subgraph.
        tensor: Tensor index, or -1 for a scratch buffer.
        scratch: Scratch index, or -1 for a tensor.
        node: The operator that requested the scratch buffer, or -1.
        size: Bytes.
        needs_allocating: Whether the planner has to place it.
        offline_offset: The offset that the model's metadata asks for, or ``ONLINE_PLANNED_BUFFER``.
        first_created: First scope in which it is alive, or -1 when no visited operator names it.
        last_used: Last scope in which it is alive, or -1.
    """

    subgraph: int
    tensor: int
    scratch: int
    node: int
    size: int
    needs_allocating: bool
    offline_offset: int = ONLINE_PLANNED_BUFFER
    first_created: int = UNINITIALIZED_LIFETIME
    last_used: int = UNINITIALIZED_LIFETIME

    def created(self, scope: int) -> None:
        """Mark it alive from ``scope`` unless it was created before."""
        if self.first_created == UNINITIALIZED_LIFETIME:
            self.first_created = scope


class ScratchBufferRequest(NamedTuple):
    """``ScratchBufferRequest``: the operator that requested a scratch buffer, and the bytes."""

    subgraph: int
    node: int
    size: int


def offline_planned_offsets(
    model: Model, tensor_count: int, rules: LifetimeRules = NEWEST_RULES
) -> Sequence[int] | None:
    """Return the offsets of ``OfflineMemoryAllocation``, ``tensor_count`` of them; None without that metadata.

    Raises:
        PlanningError: The metadata is for another number of tensors, or there is no such buffer.
    """
    offsets: Sequence[int] | None = None
    for metadata in model.metadata:
        if metadata.name is None or not rules.names_offline_plan(metadata.name):
            continue
        data = _from_buffer_on(model, metadata.buffer)
        count = struct.unpack_from("<I", data, 8)[0] if len(data) >= 12 else tensor_count
        if count != tensor_count:
            message = (
                f"Nbr of offline buffer offsets ({int32(count)}) in metadata not equal nbr tensors ({tensor_count})\n"
            )
            raise PlanningError(message.strip(), device_message=message)
        if len(data) < 12 + 4 * count:
            raise PlanningError(
                "the OfflineMemoryAllocation buffer is too short: the device reads past its end", status="abort"
            )
        offsets = struct.unpack_from(f"<{count}i", data, 12)
    return offsets


def _from_buffer_on(model: Model, index: int) -> memoryview:
    """Return a buffer's bytes and what follows in the file: upstream does not look where the buffer ends."""
    buffer = model.buffers[index] if index < len(model.buffers) else None
    if buffer is None or buffer.data is None:
        raise PlanningError(
            f"the OfflineMemoryAllocation buffer {index} has no data: a null pointer is read", status="abort"
        )
    return model.source[buffer.address :] if buffer.address else buffer.data


class TensorLifetimes(NamedTuple):
    """When the tensors of a model are alive, and when its operators run.

    Attributes:
        infos: One row per tensor of all subgraphs.
        scopes: Which (subgraph, operator) each scope belongs to; the operator is -1 at the start of a subgraph.
        spans: The first and the last scope, inclusive, of each (subgraph, operator) that runs.
    """

    infos: list[AllocationInfo]
    scopes: list[tuple[int, int]]
    spans: dict[tuple[int, int], tuple[int, int]]

    def scratch_infos(self, requests: Sequence[ScratchBufferRequest]) -> list[AllocationInfo]:
        """Return a row per scratch buffer, alive while its operator runs.

        Args:
            requests: In the order in which they were made.

        Raises:
            PlanningError: Its operator does not run.
        """
        infos = []
        for index, (subgraph, node, size) in enumerate(requests):
            span = self.spans.get((subgraph, node))
            if span is None:
                raise PlanningError(
                    f"scratch buffer {index} belongs to operator {node} of subgraph {subgraph}, which nothing runs: "
                    "the device plans it with whatever bytes are in memory",
                    status="abort",
                )
            infos.append(AllocationInfo(subgraph, -1, index, node, size, True, ONLINE_PLANNED_BUFFER, *span))
        return infos


class LifetimeBuilder:
    """Finds the lifetimes of a model's tensors (mutable while it walks).

    Args:
        model: The model.
        subgraph_tensors: The eval tensors of each subgraph, after every Prepare.
        offline_offsets: One per tensor of all subgraphs, or None.
        rules: Which version of TFLM it is.
    """

    def __init__(
        self,
        model: Model,
        subgraph_tensors: Sequence[Sequence[EvalTensor]],
        offline_offsets: Sequence[int] | None,
        rules: LifetimeRules = NEWEST_RULES,
    ) -> None:
        self._rules = rules
        self._model = model
        self._scope = 0
        self._scopes: list[tuple[int, int]] = [(0, -1)]
        self._entered: set[int] = set()
        self._infos: list[AllocationInfo] = []
        self._tensor_infos: list[list[AllocationInfo]] = []
        self._spans: dict[tuple[int, int], tuple[int, int]] = {}
        for index, tensors in enumerate(subgraph_tensors):
            if not rules.plans_empty:
                self._check_intermediates(index, tensors)
            before = 0 if not rules.offline_across_subgraphs else len(self._infos)
            offline = None if offline_offsets is None else offline_offsets[before : before + len(tensors)]
            rows = list(_tensor_infos(index, tensors, offline, rules))
            self._tensor_infos.append(rows)
            self._infos += rows

    def build(self) -> TensorLifetimes:
        """Walk the model from subgraph 0 and return what was found.

        Raises:
            PlanningError: TFLM refuses the model.
            ModelError: Nested subgraphs make more scopes than we walk.
        """
        walks = [self._mark_subgraph(0)]
        while walks:
            for entered in walks[-1]:
                walks.append(self._mark_subgraph(entered))
                break
            else:
                walks.pop()
        return TensorLifetimes(self._infos, self._scopes, self._spans)

    def _check_intermediates(self, subgraph: int, tensors: Sequence[EvalTensor]) -> None:
        for operator in self._model.subgraphs[subgraph].operators:
            for tensor in operator.intermediate_tensors:
                if size := byte_length(tensors[tensor], self._rules.unsized):
                    message = f"Does not support intermediate tensor with non-zero size: {size}"
                    raise PlanningError(message, device_message=message)

    def _mark_subgraph(self, subgraph_index: int) -> Iterator[int]:
        """Walk one subgraph; yields each subgraph that is to be walked before going on."""
        if subgraph_index in self._entered:
            raise PlanningError(f"subgraph {subgraph_index} runs itself: the device's stack overflows", status="abort")
        self._entered.add(subgraph_index)
        subgraph, rules = self._model.subgraphs[subgraph_index], self._rules
        infos = self._tensor_infos[subgraph_index]
        self._mark_inputs(subgraph, infos)
        for index, operator in enumerate(subgraph.operators):
            start = self._next_scope(subgraph_index, index)
            for tensor in operator.output_tensors:
                self._created(infos[tensor], start)
                if not rules.outputs_outlive_subgraphs:
                    infos[tensor].last_used = start
            for option in CONTROL_FLOW.get(self._model.operator_codes[operator.opcode_index].raw_builtin_code, ()):
                entered = self._entered_subgraph(operator.options, option)
                if entered != NO_SUBGRAPH:
                    self._next_scope(entered, -1)
                    yield entered
            self._used(operator, infos)
            first, _ = self._spans.get((subgraph_index, index), (start, start))
            self._spans[subgraph_index, index] = first, self._scope
        self._mark_outputs(subgraph, infos)
        self._entered.remove(subgraph_index)

    def _mark_inputs(self, subgraph: Subgraph, infos: Sequence[AllocationInfo]) -> None:
        for tensor in subgraph.input_tensors:
            self._created(infos[tensor], self._scope)
            if self._rules.inputs_are_used:
                infos[tensor].last_used = self._scope

    def _mark_outputs(self, subgraph: Subgraph, infos: Sequence[AllocationInfo]) -> None:
        for tensor in subgraph.output_tensors:
            if self._rules.inputs_are_used:
                infos[tensor].created(self._scope)
            infos[tensor].last_used = self._scope

    def _created(self, info: AllocationInfo, scope: int) -> None:
        """``UpdateFirstCreated``."""
        if info.first_created == UNINITIALIZED_LIFETIME:
            info.first_created = scope
            if self._rules.created_is_used:
                info.last_used = scope

    def _used(self, operator: Operator, infos: list[AllocationInfo]) -> None:
        """Mark what an operator and the subgraphs that it ran read, and wrote."""
        scope = self._scope
        for tensor in operator.input_tensors:
            if tensor >= 0:
                infos[tensor].last_used = scope
        if self._rules.outputs_outlive_subgraphs:
            for tensor in operator.output_tensors:
                infos[tensor].last_used = scope

    def _next_scope(self, subgraph: int, operator: int) -> int:
        if self._scope >= MAX_SCOPES:
            raise ModelError(f"the subgraphs nest so that more than {MAX_SCOPES:,} operators run: not simulated")
        self._scope += 1
        self._scopes.append((subgraph, operator))
        return self._scope

    def _entered_subgraph(self, options: Mapping[str, object], option: str) -> int:
        index = options.get(option)
        if not isinstance(index, int) or not NO_SUBGRAPH <= index < len(self._tensor_infos):
            raise PlanningError(
                f"{option} is {index}, not a subgraph of the model: the device reads other memory", status="abort"
            )
        return index


def _tensor_infos(
    subgraph: int, tensors: Sequence[EvalTensor], offline: Sequence[int] | None, rules: LifetimeRules
) -> Iterator[AllocationInfo]:
    """Yield the row of each tensor before anything is marked; ``offline``: an offset for each, or None."""
    for index, tensor in enumerate(tensors):
        size = byte_length(tensor, rules.unsized)
        offset = ONLINE_PLANNED_BUFFER if offline is None else offline[index]
        if tensor.tensor.is_variable:
            needs = rules.variables_offline and offset != ONLINE_PLANNED_BUFFER
        else:
            needs = tensor.data is None and tensor.resource_id is None and (size != 0 or rules.plans_empty)
        yield AllocationInfo(subgraph, index, -1, -1, size, needs, offset)


def byte_length(tensor: EvalTensor, unsized: frozenset[int] = frozenset()) -> int:
    """Return ``TfLiteEvalTensorByteLength``.

    Args:
        tensor: The tensor.
        unsized: Types that the version of TFLM has no size for yet.

    Raises:
        PlanningError: TFLM has no size for the tensor's type; the device says nothing.
    """
    try:
        if tensor.type not in unsized:
            return tensor.byte_length
    except KeyError:
        pass
    raise PlanningError(f"tensor {tensor.index} has a type without a size in TFLM ({tensor.type})")
