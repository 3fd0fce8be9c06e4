"""``MicroAllocator``: what a model takes from the arena, in upstream's order.

    create              allocator objects, planner                                        tail
    start_model         builtin-data allocator | room for 12 scratch requests             tail | head
                        SubgraphAllocations, (compression), eval tensors, nodes           tail
    each Prepare        kernel requests; then temps reset, head = room for 12 more        tail, temp | head
    finish_model        scratch handles | subgraph offsets, AllocationInfo                tail | temp
                        variables | the planner on all that is left                       tail | temp
                        head = largest plan so far                                        head

Source: tensorflow/lite/micro/micro_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tflm_sim.allocator.compression import CompressedTensorsAllocator
from tflm_sim.allocator.constants import MAX_SCRATCH_BUFFERS_PER_OP, MICRO_ARENA_BUFFER_ALIGNMENT
from tflm_sim.allocator.recording import RecordedAllocationType
from tflm_sim.allocator.tensors import is_convertible, populate_tensor
from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.arena.events import AllocInfo, Corruption, Phase, PlanAdd, PlanDone, PlanOffset, ScratchRequest, Variable
from tflm_sim.errors import AllocatorSequenceError, ArenaOverflowError, PlanningError, PrepareError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import AllocationInfo, LifetimeBuilder
from tflm_sim.model.types import Model
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.planners.greedy import GreedyMemoryPlanner
from tflm_sim.planners.linear import LinearMemoryPlanner
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER, MemoryPlanner
from tflm_sim.target.target import Target
from tflm_sim.units import align_up

PLANNERS: dict[str, Callable[[], MemoryPlanner]] = {"greedy": GreedyMemoryPlanner, "linear": LinearMemoryPlanner}

# The objects that Create places, in order: the arena allocator(s), then the planner, then the MicroAllocator.
ALLOCATOR_STRUCTS = {
    "plain": (("SingleArenaBufferAllocator",), "MicroAllocator"),
    "recording": (("RecordingSingleArenaBufferAllocator",), "RecordingMicroAllocator"),
    "split": (("PersistentArenaBufferAllocator", "NonPersistentArenaBufferAllocator"), "MicroAllocator"),
}

_SCRATCH_REQUEST = "internal::ScratchBufferRequest"


class ModelAllocation:
    """What one model has taken so far (mutable): its eval tensors, scratch requests and final plan.

    Attributes:
        subgraph_tensors: The eval tensors of each subgraph.
        compressed_tensors: Per subgraph, the indices of tensors with lookup tables.
        scratch_requests: In the order of the requests.
        op_names: The name of each operator whose kernel was found, per subgraph.
        infos: The final AllocationInfo array; empty before the plan.
        scopes: Which (subgraph, operator) each scope of the infos belongs to.
        offsets: The plan: head offset by index into ``infos``.
        variable_offsets: Arena offset of the variable tensors in the tail, by (subgraph, tensor).
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.subgraph_tensors: list[list[EvalTensor]] = []
        self.compressed_tensors: tuple[frozenset[int], ...] = (frozenset(),) * len(model.subgraphs)
        self.scratch_requests: list[lifetimes.ScratchRequest] = []
        self.unassigned_scratch: list[tuple[int, int]] = []
        self.infos: list[AllocationInfo] = []
        self.scopes: list[tuple[int, int]] = []
        self.op_names: list[list[str]] = [[] for _ in model.subgraphs]
        self.offsets: dict[int, int] = {}
        self.variable_offsets: dict[tuple[int, int], int] = {}


class MicroAllocator:
    """Allocates for one model after another on one arena (mutable).

    Several models may share it, one after the other: their tails add up, the head is the largest plan.

    Args:
        arena: The arena; its allocator objects are placed at once.
        target: Struct sizes.
        kind: "plain", "recording" or "split" (persistent and non-persistent memory in two arenas).
        planner: "greedy" or "linear".
        preserved: Tensors, (subgraph, tensor), whose lifetimes are drawn out to the end.

    Raises:
        ArenaOverflowError: The arena is too small for the allocator itself; the device uses a null pointer.
    """

    def __init__(
        self,
        arena: ArenaAllocator,
        target: Target,
        *,
        kind: str = "plain",
        planner: str = "greedy",
        preserved: Collection[tuple[int, int]] = (),
    ) -> None:
        self.arena = arena
        self._preserved = preserved
        self.target = target
        self.planner = PLANNERS[planner]()
        self.max_head_usage = 0
        self._allocating: ModelAllocation | None = None
        arena_structs, allocator_struct = ALLOCATOR_STRUCTS[kind]
        arena.emit(Phase("create", (("aligned_size", arena.size),)))
        for struct in (*arena_structs, type(self.planner).__name__, allocator_struct):
            self._object(struct)

    # -- the tail ---------------------------------------------------------------------------------------------------

    def _object(self, struct: str) -> None:
        """Place a C++ object: upstream constructs it without looking whether there was room."""
        size, alignment = self.target.sizeof(struct), self.target.alignof(struct)
        if self.arena.allocate_persistent_buffer(size, alignment, label=struct) is None:
            raise ArenaOverflowError(
                f"tail: no room for the {struct} ({size} bytes): the device constructs it at a null pointer",
                status="abort",
            )

    def _array(self, struct: str, count: int, message: str, category: str = "") -> None:
        size = self.target.sizeof(struct) * count
        self._tail(size, self.target.alignof(struct), category, f"{struct}[{count}]", message.format(size=size))

    def _tail(self, size: int, alignment: int, category: str, label: str, message: str) -> int:
        offset = self.arena.allocate_persistent_buffer(size, alignment, category=category, label=label)
        if offset is None:
            self.arena.log(message)
            raise ArenaOverflowError(f"tail: {size} bytes (align {alignment}) for {label} do not fit")
        return offset

    def allocate_persistent_buffer(self, size: int, label: str) -> int | None:
        """``AllocatePersistentBuffer``: tail bytes for a kernel, aligned to 16; None when they do not fit."""
        return self.arena.allocate_persistent_buffer(
            size, MICRO_ARENA_BUFFER_ALIGNMENT, category=RecordedAllocationType.PERSISTENT_BUFFER_DATA, label=label
        )

    def allocate_builtin_data(self, struct: str) -> None:
        """Take a parser's builtin-data struct.

        Raises:
            ArenaOverflowError: It does not fit; the parser writes through the null pointer.
        """
        self._object(struct)

    # -- start ------------------------------------------------------------------------------------------------------

    def start_model_allocation(self, model: Model) -> ModelAllocation:
        """Take what every model needs before its operators are looked at.

        Raises:
            AllocatorSequenceError: Another model is still being allocated.
            ArenaOverflowError: The arena is full.
            PrepareError: A tensor has a type that TFLM does not know.
        """
        if self._allocating is not None:
            message = "MicroAllocator: Model allocation started before finishing previously allocated model"
            self.arena.log(message)
            raise AllocatorSequenceError(message, device_message=message)
        allocation = self._allocating = ModelAllocation(model)
        self.arena.emit(Phase("builtin_data_allocator"))
        self._object("micro_allocator.MicroBuiltinDataAllocator")
        self.arena.emit(Phase("init_scratch"))
        if not self._make_room_for_scratch_requests(0):
            raise ArenaOverflowError("head: no room for the scratch buffer requests of the first operator")
        count = len(model.subgraphs)
        self.arena.emit(Phase("subgraph_allocations", (("n", count),)))
        self._array("SubgraphAllocations", count, "Failed to allocate memory for model metadata.")
        if self.target.runtime.compression:
            allocation.compressed_tensors = CompressedTensorsAllocator(model, self.target, self.arena).allocate()
        self._allocate_eval_tensors(allocation)
        for index, subgraph in enumerate(model.subgraphs):
            self.arena.emit(Phase("node_regs", (("sg", index), ("n", len(subgraph.operators)))))
            self._array(
                "NodeAndRegistration",
                len(subgraph.operators),
                "Failed to allocate memory for node_and_registrations.",
                RecordedAllocationType.NODE_AND_REGISTRATION_ARRAY,
            )
        return allocation

    def _allocate_eval_tensors(self, allocation: ModelAllocation) -> None:
        for index, subgraph in enumerate(allocation.model.subgraphs):
            self.arena.emit(Phase("eval_tensors", (("sg", index), ("n", len(subgraph.tensors)))))
            self._array(
                "TfLiteEvalTensor",
                len(subgraph.tensors),
                "Failed to allocate memory for context->eval_tensors, {size} bytes required",
                RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA,
            )
            tensors: list[EvalTensor] = []
            for position, tensor in enumerate(subgraph.tensors):
                if not is_convertible(tensor.type, self.arena.log):
                    message = f"Failed to initialize tensor {position}"
                    self.arena.log(message)
                    raise PrepareError(message, device_message=message)
                if not 0 <= tensor.buffer < len(allocation.model.buffers):
                    raise PrepareError(f"tensor {position} has no buffer {tensor.buffer}", status="abort")
                tensors.append(EvalTensor(allocation.model, tensor, position))
            allocation.subgraph_tensors.append(tensors)

    def _make_room_for_scratch_requests(self, request_count: int) -> bool:
        size = self.target.sizeof(_SCRATCH_REQUEST) * (request_count + MAX_SCRATCH_BUFFERS_PER_OP)
        return self.arena.resize_buffer(size, self.target.alignof(_SCRATCH_REQUEST))

    # -- prepare ----------------------------------------------------------------------------------------------------

    def request_scratch_buffer(self, allocation: ModelAllocation, size: int, subgraph: int, label: str) -> int | None:
        """``RequestScratchBufferInArena``: the request's index; None, with a log line, past the limit per operator."""
        if len(allocation.unassigned_scratch) >= MAX_SCRATCH_BUFFERS_PER_OP:
            self.arena.log(f"Scratch buffer request exceeds limit per operator ({MAX_SCRATCH_BUFFERS_PER_OP})")
            return None
        index = len(allocation.scratch_requests) + len(allocation.unassigned_scratch)
        table_end = self.target.sizeof(_SCRATCH_REQUEST) * (index + 1)
        if table_end > self.arena.head:
            self.arena.emit(Corruption(f"scratch request {index} is written past the head ({self.arena.head})"))
        allocation.unassigned_scratch.append((subgraph, size))
        self.arena.emit(ScratchRequest(size, subgraph, index, label))
        return index

    def finish_prepare_node_allocations(self, allocation: ModelAllocation, node: int) -> None:
        """Empty the temp section and make room for the next operator's scratch requests.

        A refused reset or resize is logged and otherwise ignored, as the interpreter upstream ignores it.
        """
        if not self.arena.reset_temp_allocations():
            return
        for subgraph, size in allocation.unassigned_scratch:
            allocation.scratch_requests.append(lifetimes.ScratchRequest(subgraph, node, size))
        allocation.unassigned_scratch.clear()
        self._make_room_for_scratch_requests(len(allocation.scratch_requests))

    def allocate_temp_tensor(self, tensor: EvalTensor, subgraph: int) -> KernelTensor | None:
        """``AllocateTempTfLiteTensor``: None, with the device's log lines, when it does not fit or has a bad type."""

        def take(size: int, alignment: int, label: str) -> int | None:
            return self.arena.allocate_temp(size, alignment)

        struct = "TfLiteTensor"
        offset = self.arena.allocate_temp(self.target.sizeof(struct), self.target.alignof(struct))
        if offset is None:
            self.arena.log(f"Failed to allocate temp. memory for tensor {tensor.index}, subgraph {subgraph}")
            return None
        quantization = populate_tensor(tensor, self.target, take, self.arena.log)
        if quantization is None:
            self.arena.log("Failed to populate a temp TfLiteTensor struct from flatbuffer data!")
            return None
        return KernelTensor(tensor, (offset, *quantization))

    def deallocate_temp_tensor(self, tensor: KernelTensor) -> None:
        """``DeallocateTempTfLiteTensor``: zero points, quantization, tensor."""
        for offset in reversed(tensor.offsets):
            self.arena.deallocate_temp(offset)

    # -- finish -----------------------------------------------------------------------------------------------------

    def finish_model_allocation(self, allocation: ModelAllocation) -> None:
        """Place the scratch handles, the variables and the plan.

        Raises:
            ArenaOverflowError: The arena is full.
            PlanningError: The planner, or the lifetime walk, refuses the model.
        """
        if self._allocating is not allocation:
            message = "MicroAllocator: Model allocation finished before starting allocating model"
            self.arena.log(message)
            raise AllocatorSequenceError(message, device_message=message)
        count = len(allocation.scratch_requests)
        self.arena.emit(Phase("scratch_handles", (("n", count),)))
        handles_fit = count == 0 or self._scratch_handles(count)
        self._commit_static_memory_plan(allocation, handles_fit=handles_fit)
        self._allocating = None

    def _scratch_handles(self, count: int) -> bool:
        size, alignment = self.target.sizeof("ScratchBufferHandle") * count, self.target.alignof("ScratchBufferHandle")
        label = f"ScratchBufferHandle[{count}]"
        return self.arena.allocate_persistent_buffer(size, alignment, label=label) is not None

    def _planning_temp(self, size: int, alignment: int) -> int:
        offset = self.arena.allocate_temp(size, alignment)
        if offset is None:
            self.arena.log(f"Failed to allocate memory for memory planning, {size} bytes required")
            raise ArenaOverflowError(f"temp: {size} bytes (align {alignment}) for memory planning do not fit")
        return offset

    def _commit_static_memory_plan(self, allocation: ModelAllocation, *, handles_fit: bool) -> None:
        arena, pointer_size = self.arena, self.target.abi.pointer_size
        arena.emit(Phase("plan"))
        subgraph_offsets = self._planning_temp(pointer_size * len(allocation.model.subgraphs), pointer_size)
        tensor_count = sum(map(len, allocation.subgraph_tensors))
        info_count = tensor_count + len(allocation.scratch_requests)
        struct = "AllocationInfo"
        info_array = self._planning_temp(self.target.sizeof(struct) * info_count, self.target.alignof(struct))
        offline = lifetimes.offline_planned_offsets(allocation.model, tensor_count)
        for index in range(len(allocation.subgraph_tensors)):
            self._allocate_variables(allocation, index, offline)
        builder = LifetimeBuilder(allocation.model, allocation.subgraph_tensors, allocation.scratch_requests, offline)
        allocation.infos = builder.build()
        allocation.scopes = builder.scopes
        if self._preserved:
            _draw_out(allocation, self._preserved)
        for index, info in enumerate(allocation.infos):
            arena.emit(_info_event(index, info))
        planner_arena, remaining = self._plan(allocation, handles_fit=handles_fit)
        arena.deallocate_temp(info_array)
        arena.deallocate_temp(subgraph_offsets)
        arena.deallocate_temp(planner_arena)
        if not arena.reset_temp_allocations() or not arena.deallocate_resizable_buffer():
            raise AllocatorSequenceError("the head cannot be resized for the plan while temps are out")
        usage = self.planner.maximum_memory_size()
        arena.emit(PlanDone(usage, self.max_head_usage, remaining))
        self.max_head_usage = max(self.max_head_usage, usage)
        if not arena.reserve_non_persistent_overlay_memory(self.max_head_usage, MICRO_ARENA_BUFFER_ALIGNMENT):
            raise ArenaOverflowError(f"head: the plan of {self.max_head_usage} bytes does not fit below the tail")

    def _allocate_variables(self, allocation: ModelAllocation, subgraph: int, offline: Sequence[int] | None) -> None:
        self.arena.emit(Phase("variables", (("sg", subgraph),)))
        for tensor in allocation.subgraph_tensors[subgraph]:
            # Upstream indexes the offsets by the tensor's index in its own subgraph here.
            if not tensor.tensor.is_variable or (offline and offline[tensor.index] != ONLINE_PLANNED_BUFFER):
                continue
            size = lifetimes.byte_length(tensor)
            self.arena.emit(Variable(tensor.index, size))
            allocation.variable_offsets[subgraph, tensor.index] = self._tail(
                size,
                MICRO_ARENA_BUFFER_ALIGNMENT,
                RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA,
                f"variable tensor {tensor.index} of subgraph {subgraph}",
                f"Failed to allocate variable tensor of size {size}",
            )

    def _plan(self, allocation: ModelAllocation, *, handles_fit: bool) -> tuple[int, int]:
        arena, planner = self.arena, self.planner
        arena.emit(Phase("planner_arena"))
        remaining = arena.available_memory(MICRO_ARENA_BUFFER_ALIGNMENT)
        planner_arena = arena.allocate_temp(remaining, MICRO_ARENA_BUFFER_ALIGNMENT)
        if planner_arena is None:
            raise ArenaOverflowError("temp: nothing is left for the memory planner")
        planned = [index for index, info in enumerate(allocation.infos) if info.needs_allocating]
        try:
            planner.init(remaining)
            for index in planned:
                info = allocation.infos[index]
                size = align_up(info.size, MICRO_ARENA_BUFFER_ALIGNMENT)
                first, last, offline = info.first_created, info.last_used, info.offline_offset
                arena.emit(PlanAdd(index, info.size, size, first, last, offline))
                fixed = None if offline == ONLINE_PLANNED_BUFFER else offline
                planner.add_buffer(size, first, last, offline_offset=fixed)
            for position, index in enumerate(planned):
                if allocation.infos[index].scratch >= 0 and not handles_fit:
                    raise ArenaOverflowError("the scratch handles did not fit: a null pointer is used", status="abort")
                allocation.offsets[index] = offset = planner.offset_for_buffer(position)
                arena.emit(PlanOffset(index, position, offset))
        except PlanningError as error:
            arena.log(error.device_message)
            raise
        return planner_arena, remaining

    # -- input and output tensors -----------------------------------------------------------------------------------

    def allocate_persistent_tensor(self, tensor: EvalTensor) -> bool:
        """``AllocatePersistentTfLiteTensor``: False, with the device's log lines, when it does not fit."""

        def take(size: int, alignment: int, label: str) -> int | None:
            category = RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA
            return self.arena.allocate_persistent_buffer(size, alignment, category=category, label=label)

        struct = "TfLiteTensor"
        size, alignment = self.target.sizeof(struct), self.target.alignof(struct)
        category = RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_DATA
        if self.arena.allocate_persistent_buffer(size, alignment, category=category, label=struct) is None:
            self.arena.log("Failed to allocate memory for persistent TfLiteTensor")
            return False
        if populate_tensor(tensor, self.target, take, self.arena.log) is None:
            self.arena.log("Failed to populate a persistent TfLiteTensor struct from flatbuffer data!")
            return False
        return True


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
