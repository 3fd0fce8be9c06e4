"""``CommitStaticMemoryPlan``: lifetimes, variables, the memory planner on all that is left, and the head.

    temp   subgraph offsets | AllocationInfo[] | the planner's tables (all that is left)      given back, in this order:
    tail   variable tensors                                                                   infos, offsets, tables
    head   first the scratch requests, in the end the largest plan so far

Until 8c41f9606 each subgraph was planned by itself, without subgraph offsets, and the plan had to fit beside the room
for scratch requests.

Source: tensorflow/lite/micro/micro_allocator.cc, micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from tflm_sim.arena.arena import ArenaAllocator, unsigned
from tflm_sim.arena.events import AllocInfo, Corruption, Phase, PlanAdd, PlanDone, PlanFits, PlanOffset, Variable
from tflm_sim.arena.stages import Stage
from tflm_sim.device.model_allocation import ModelAllocation, take_persistent
from tflm_sim.errors import AllocatorSequenceError, ArenaOverflowError, PlanningError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.eval_tensor import types_without_size
from tflm_sim.graph.lifetimes import AllocationInfo, LifetimeBuilder, LifetimeRules, TensorLifetimes
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.subgraph_lifetimes import SubgraphRules, subgraph_lifetimes
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER, MemoryPlanner
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.target import Target
from tflm_sim.units import align_up, int32


@lru_cache(maxsize=64)
def lifetime_rules(runtime: Runtime) -> LifetimeRules:
    """Return how a version of TFLM finds lifetimes across subgraphs."""
    names = (("offline_by_whole_name", "whole"), ("offline_by_shortest", "shorter"))
    return LifetimeRules(
        inputs_are_used=runtime.has("unused_tensors_live"),
        created_is_used=runtime.has("created_is_used"),
        outputs_outlive_subgraphs=runtime.has("outputs_outlive_subgraphs"),
        plans_empty=not runtime.has("empty_tensors"),
        variables_offline=runtime.has("offline_variables"),
        offline_across_subgraphs=runtime.has("offline_across_subgraphs"),
        offline_name=next((rule for change, rule in names if runtime.has(change)), "prefix"),
        unsized=types_without_size(runtime),
    )


def subgraph_rules(runtime: Runtime) -> SubgraphRules:
    """Return how a version of TFLM finds the lifetimes of one subgraph."""
    return SubgraphRules(
        outputs_are_used=runtime.has("outputs_are_used"),
        partial_lifetimes=runtime.has("partial_lifetimes"),
        vectors_may_be_absent=runtime.has("no_inputs"),
    )


class StaticMemoryPlan:
    """Plans one model after another on one arena (mutable: the planner, and the largest plan so far).

    Args:
        arena: The arena.
        target: Struct sizes.
        planner: TFLM's memory planner.
        preserved: Tensors, (subgraph, tensor), whose lifetimes are extended to the end.
    """

    def __init__(
        self, arena: ArenaAllocator, target: Target, planner: MemoryPlanner, preserved: Collection[tuple[int, int]]
    ) -> None:
        self._arena = arena
        self._target = target
        self._planner = planner
        self._preserved = preserved
        self._max_head_usage = 0

    def commit(self, allocation: ModelAllocation, *, handles_fit: bool) -> None:
        """Place the variables and the plan of one model; ``handles_fit``: whether the scratch handles did.

        Raises:
            ArenaOverflowError: The arena is full.
            PlanningError: The planner, or the lifetime walk, refuses the model.
        """
        self._planning(lambda: self._commit(allocation, handles_fit=handles_fit))

    def commit_subgraph(self, allocation: ModelAllocation, subgraph: int, *, handles_fit: bool) -> None:
        """Place the plan of one subgraph, as versions do that plan each by itself; raises as :meth:`commit`."""
        self._planning(lambda: self._commit_subgraph(allocation, subgraph, handles_fit=handles_fit))

    def _planning(self, work: Callable[[], None]) -> None:
        self._arena.tell(Phase, Stage.PLAN)
        try:
            work()
        except PlanningError as error:
            self._arena.log(error.device_message)
            raise

    def _commit(self, allocation: ModelAllocation, *, handles_fit: bool) -> None:
        arena, pointer_size = self._arena, self._target.abi.pointer_size
        subgraph_offsets = self._planning_temp(pointer_size * len(allocation.model.subgraphs), pointer_size)
        tensor_count = sum(map(len, allocation.subgraph_tensors))
        info_count = tensor_count + len(allocation.scratch_requests)
        struct = "AllocationInfo"
        infos = self._planning_temp(self._target.sizeof(struct) * info_count, self._target.alignof(struct))
        self._find_lifetimes(allocation, tensor_count)
        planned = [index for index, info in enumerate(allocation.infos) if info.needs_allocating]
        planner_arena, remaining = self._add_buffers(allocation, planned)
        self._take_offsets(allocation, planned, handles_fit=handles_fit)
        self._give_back(infos, subgraph_offsets, planner_arena)
        if self._target.runtime.has("resizable_buffer") and not arena.deallocate_resizable_buffer():
            raise AllocatorSequenceError(
                "the head cannot be resized for the plan: temps are out, or its buffer does not begin at the arena"
            )
        self._reserve_head(remaining, len(planned))

    def _commit_subgraph(self, allocation: ModelAllocation, subgraph: int, *, handles_fit: bool) -> None:
        model, tensors, runtime = allocation.model, allocation.subgraph_tensors[subgraph], self._target.runtime
        info_count = len(tensors) + len(allocation.scratch_requests)
        size, alignment = self._target.sizeof("AllocationInfo") * info_count, self._target.alignof("AllocationInfo")
        temp = self._planning_temp(size, alignment, "allocation_info")
        offline = lifetimes.offline_planned_offsets(model, len(tensors), lifetime_rules(runtime))
        requests, rules = allocation.scratch_requests, subgraph_rules(runtime)
        rows = subgraph_lifetimes(model, subgraph, tensors, requests, offline, rules)
        first = len(allocation.infos)
        allocation.infos += rows
        allocation.scopes += [(subgraph, index) for index in range(len(model.subgraphs[subgraph].operators))]
        if self._preserved:
            _draw_out(allocation, self._preserved)
        self._tell_infos(allocation, first)
        planned = [index for index, info in enumerate(rows, start=first) if info.needs_allocating]
        planner_arena, remaining = self._add_buffers(allocation, planned)
        self._give_back(temp, planner_arena)
        self._check_plan()
        self._take_offsets(allocation, planned, handles_fit=handles_fit)
        self._reserve_head(remaining, len(planned))

    def _check_plan(self) -> None:
        """Check that the plan fits into what is free above the scratch requests."""
        needed = self._planner.maximum_memory_size()
        available = self._arena.available_memory(BUFFER_ALIGNMENT)
        self._arena.tell(PlanFits, needed, available)
        if needed > available:
            message = (
                "Arena size is too small for all buffers. "
                f"Needed {unsigned(needed)} but only {unsigned(available)} was available."
            )
            self._arena.log(message)
            raise ArenaOverflowError(f"head: the plan of {needed:,} bytes does not fit", device_message=message)

    def _give_back(self, *temps: int) -> None:
        for temp in temps:
            self._arena.deallocate_temp(temp)
        if not self._arena.reset_temp_allocations():
            raise AllocatorSequenceError("the head cannot be resized for the plan while temps are out")

    def _reserve_head(self, remaining: int, buffer_count: int) -> None:
        arena, usage = self._arena, self._planner.maximum_memory_size()
        arena.tell(PlanDone, usage, self._max_head_usage, remaining, buffer_count)
        self._max_head_usage = max(self._max_head_usage, usage)
        if not arena.reserve_non_persistent_overlay_memory(self._max_head_usage, BUFFER_ALIGNMENT):
            raise ArenaOverflowError(f"head: the plan of {self._max_head_usage:,} bytes does not fit below the tail")

    def _planning_temp(self, size: int, alignment: int, purpose: str = "memory planning") -> int:
        offset = self._arena.allocate_temp(size, alignment)
        if offset is None:
            self._arena.log(f"Failed to allocate memory for {purpose}, {size} bytes required")
            raise ArenaOverflowError(f"temp: {size} bytes (align {alignment}) for memory planning do not fit")
        return offset

    def _find_lifetimes(self, allocation: ModelAllocation, tensor_count: int) -> None:
        rules = lifetime_rules(self._target.runtime)
        offline = lifetimes.offline_planned_offsets(allocation.model, tensor_count, rules)
        if rules.variables_offline:
            for index in range(len(allocation.subgraph_tensors)):
                self.allocate_variables(allocation, index, offline)
        built = _lifetimes(allocation, offline, rules)
        allocation.infos = built.infos + built.scratch_infos(allocation.scratch_requests)
        allocation.scopes = list(built.scopes)
        if self._preserved:
            _draw_out(allocation, self._preserved)
        self._tell_infos(allocation, 0)

    def _tell_infos(self, allocation: ModelAllocation, first: int) -> None:
        if self._arena.is_heard:
            for index, info in enumerate(allocation.infos[first:], start=first):
                self._arena.emit(_info_event(index, info))

    def allocate_variables(
        self, allocation: ModelAllocation, subgraph: int, offline: Sequence[int] | None = None
    ) -> None:
        """Place the variables of one subgraph, without those that are planned offline.

        Raises:
            ArenaOverflowError: The arena is full.
        """
        self._arena.tell(Phase, Stage.VARIABLES, (("sg", subgraph),))
        tensors = allocation.subgraph_tensors[subgraph]
        for index in outlines(allocation.model)[subgraph].variables:
            # Upstream indexes the offsets by the tensor's index in its own subgraph here.
            if offline and offline[index] != ONLINE_PLANNED_BUFFER:
                continue
            tensor = tensors[index]
            size = lifetimes.byte_length(tensor)
            self._arena.tell(Variable, tensor.index, size)
            allocation.variable_offsets[subgraph, tensor.index] = take_persistent(
                self._arena,
                size,
                BUFFER_ALIGNMENT,
                label=f"variable tensor {tensor.index} of subgraph {subgraph}",
                message=f"Failed to allocate variable tensor of size {int32(size)}",
                category=RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA,
            )

    def _add_buffers(self, allocation: ModelAllocation, planned: Sequence[int]) -> tuple[int, int]:
        """Give the planner all free bytes for its tables; return where they begin and how many they are."""
        arena, planner = self._arena, self._planner
        arena.tell(Phase, Stage.PLANNER_ARENA)
        remaining = arena.available_memory(BUFFER_ALIGNMENT)
        planner_arena = arena.allocate_temp(remaining, BUFFER_ALIGNMENT)
        if planner_arena is None:
            raise ArenaOverflowError("temp: nothing is left for the memory planner")
        planner.init(remaining)
        if remaining > arena.size and planned and planner.per_buffer_size:
            # The rest is less than nothing, and wraps: the planner believes that its tables have room behind the tail.
            arena.tell(Corruption, f"planner: tables of {len(planned)} buffers at {planner_arena} overwrite the tail")
        infos, is_heard = allocation.infos, arena.is_heard
        for index in planned:
            info = infos[index]
            size = int32(align_up(info.size, BUFFER_ALIGNMENT))
            first, last, offline = info.first_created, info.last_used, info.offline_offset
            if is_heard:
                arena.tell(PlanAdd, index, info.size, size, first, last, offline)
            planner.add_buffer(size, first, last, offline_offset=None if offline == ONLINE_PLANNED_BUFFER else offline)
        return planner_arena, remaining

    def _take_offsets(self, allocation: ModelAllocation, planned: Sequence[int], *, handles_fit: bool) -> None:
        is_heard, offsets = self._arena.is_heard, self._planner.offsets()
        for position, index in enumerate(planned):
            if not handles_fit and allocation.infos[index].scratch >= 0:
                raise ArenaOverflowError("the scratch handles did not fit: a null pointer is used", status="abort")
            allocation.offsets[index] = offset = offsets[position]
            if is_heard:
                self._arena.tell(PlanOffset, index, position, offset)


def _lifetimes(allocation: ModelAllocation, offline: Sequence[int] | None, rules: LifetimeRules) -> TensorLifetimes:
    """Return the lifetimes of the model's tensors; where no shape was changed, all targets share them."""
    model = allocation.model
    if not allocation.is_as_filed:
        return LifetimeBuilder(model, allocation.subgraph_tensors, offline, rules).build()
    found: TensorLifetimes | None = model.memo.get(("lifetimes", rules))
    if found is None:
        found = LifetimeBuilder(model, allocation.subgraph_tensors, offline, rules).build()
        model.memo["lifetimes", rules] = found
    return found


def _draw_out(allocation: ModelAllocation, preserved: Collection[tuple[int, int]]) -> None:
    """Let tensors that an operator names live until the last scope."""
    last = len(allocation.scopes) - 1
    for index, info in enumerate(allocation.infos):
        if (info.subgraph, info.tensor) in preserved and info.first_created != lifetimes.UNINITIALIZED_LIFETIME:
            allocation.infos[index] = replace(info, last_used=last)


def _info_event(index: int, info: AllocationInfo) -> AllocInfo:
    return AllocInfo(
        index,
        info.subgraph,
        info.tensor,
        info.scratch,
        info.node,
        info.size,
        info.needs_allocating,
        info.first_created,
        info.last_used,
        info.offline_offset,
    )
