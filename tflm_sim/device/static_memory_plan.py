"""``CommitStaticMemoryPlan``: lifetimes, variables, the memory planner on all that is left, and the head.

    temp   subgraph offsets | AllocationInfo[] | the planner's tables (all that is left)      given back, in this order:
    tail   variable tensors                                                                   infos, offsets, tables
    head   first the scratch requests, in the end the largest plan so far

Source: tensorflow/lite/micro/micro_allocator.cc, micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.arena.events import AllocInfo, Phase, PlanAdd, PlanDone, PlanOffset, Variable
from tflm_sim.arena.stages import Stage
from tflm_sim.device.constants import MICRO_ARENA_BUFFER_ALIGNMENT
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.recording import RecordedAllocationType
from tflm_sim.device.tail import take_persistent
from tflm_sim.errors import AllocatorSequenceError, ArenaOverflowError, PlanningError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.lifetimes import AllocationInfo, LifetimeBuilder
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER, MemoryPlanner
from tflm_sim.targets.target import Target
from tflm_sim.units import align_up, int32


class StaticMemoryPlan:
    """Plans one model after another on one arena (mutable: the planner, and the largest plan so far).

    Args:
        arena: Where.
        target: Struct sizes.
        planner: TFLM's memory planner.
        preserved: Tensors, (subgraph, tensor), whose lifetimes are drawn out to the end.
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
        self._arena.tell(Phase, Stage.PLAN)
        try:
            self._commit(allocation, handles_fit=handles_fit)
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
        planner_arena, remaining = self._plan(allocation, handles_fit=handles_fit)
        for temp in (infos, subgraph_offsets, planner_arena):
            arena.deallocate_temp(temp)
        if not arena.reset_temp_allocations() or not arena.deallocate_resizable_buffer():
            raise AllocatorSequenceError("the head cannot be resized for the plan while temps are out")
        usage = self._planner.maximum_memory_size()
        arena.tell(PlanDone, usage, self._max_head_usage, remaining, len(allocation.offsets))
        self._max_head_usage = max(self._max_head_usage, usage)
        if not arena.reserve_non_persistent_overlay_memory(self._max_head_usage, MICRO_ARENA_BUFFER_ALIGNMENT):
            raise ArenaOverflowError(f"head: the plan of {self._max_head_usage} bytes does not fit below the tail")

    def _planning_temp(self, size: int, alignment: int) -> int:
        offset = self._arena.allocate_temp(size, alignment)
        if offset is None:
            self._arena.log(f"Failed to allocate memory for memory planning, {size} bytes required")
            raise ArenaOverflowError(f"temp: {size} bytes (align {alignment}) for memory planning do not fit")
        return offset

    def _find_lifetimes(self, allocation: ModelAllocation, tensor_count: int) -> None:
        offline = lifetimes.offline_planned_offsets(allocation.model, tensor_count)
        for index in range(len(allocation.subgraph_tensors)):
            self._allocate_variables(allocation, index, offline)
        builder = LifetimeBuilder(allocation.model, allocation.subgraph_tensors, allocation.scratch_requests, offline)
        allocation.infos = builder.build()
        allocation.scopes = builder.scopes
        if self._preserved:
            _draw_out(allocation, self._preserved)
        if self._arena.is_heard:
            for index, info in enumerate(allocation.infos):
                self._arena.emit(_info_event(index, info))

    def _allocate_variables(self, allocation: ModelAllocation, subgraph: int, offline: Sequence[int] | None) -> None:
        self._arena.tell(Phase, Stage.VARIABLES, (("sg", subgraph),))
        for tensor in allocation.subgraph_tensors[subgraph]:
            # Upstream indexes the offsets by the tensor's index in its own subgraph here.
            if not tensor.tensor.is_variable or (offline and offline[tensor.index] != ONLINE_PLANNED_BUFFER):
                continue
            size = lifetimes.byte_length(tensor)
            self._arena.tell(Variable, tensor.index, size)
            allocation.variable_offsets[subgraph, tensor.index] = take_persistent(
                self._arena,
                size,
                MICRO_ARENA_BUFFER_ALIGNMENT,
                label=f"variable tensor {tensor.index} of subgraph {subgraph}",
                message=f"Failed to allocate variable tensor of size {int32(size)}",
                category=RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA,
            )

    def _plan(self, allocation: ModelAllocation, *, handles_fit: bool) -> tuple[int, int]:
        """Run the planner on what is left; return where its tables are and how many bytes they may take."""
        arena, planner = self._arena, self._planner
        arena.tell(Phase, Stage.PLANNER_ARENA)
        remaining = arena.available_memory(MICRO_ARENA_BUFFER_ALIGNMENT)
        planner_arena = arena.allocate_temp(remaining, MICRO_ARENA_BUFFER_ALIGNMENT)
        if planner_arena is None:
            raise ArenaOverflowError("temp: nothing is left for the memory planner")
        planned = [index for index, info in enumerate(allocation.infos) if info.needs_allocating]
        planner.init(remaining)
        for index in planned:
            info = allocation.infos[index]
            size = int32(align_up(info.size, MICRO_ARENA_BUFFER_ALIGNMENT))
            first, last, offline = info.first_created, info.last_used, info.offline_offset
            arena.tell(PlanAdd, index, info.size, size, first, last, offline)
            planner.add_buffer(size, first, last, offline_offset=None if offline == ONLINE_PLANNED_BUFFER else offline)
        for position, index in enumerate(planned):
            if allocation.infos[index].scratch >= 0 and not handles_fit:
                raise ArenaOverflowError("the scratch handles did not fit: a null pointer is used", status="abort")
            allocation.offsets[index] = offset = planner.offset_for_buffer(position)
            arena.tell(PlanOffset, index, position, offset)
        return planner_arena, remaining


def _draw_out(allocation: ModelAllocation, preserved: Collection[tuple[int, int]]) -> None:
    """Let tensors that an operator names live until the last scope."""
    for info in allocation.infos:
        if (info.subgraph, info.tensor) in preserved and info.first_created != lifetimes.UNINITIALIZED_LIFETIME:
            info.last_used = len(allocation.scopes) - 1


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
