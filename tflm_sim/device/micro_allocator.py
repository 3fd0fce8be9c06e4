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

from collections.abc import Callable, Collection, Iterable, Sequence

from tflm_sim.arena.arena import ArenaAllocator, Temps
from tflm_sim.arena.events import Corruption, Phase, ScratchRequest
from tflm_sim.arena.stages import Stage
from tflm_sim.device.model_allocation import ModelAllocation, take_persistent
from tflm_sim.device.static_memory_plan import StaticMemoryPlan
from tflm_sim.device.tensors import FAILURES, STRUCTS, TensorStructs
from tflm_sim.errors import AllocatorSequenceError, ArenaOverflowError, PrepareError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.eval_tensor import EvalTensor, types_that_convert
from tflm_sim.graph.outline import outlines
from tflm_sim.model.types import Model, Subgraph
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.greedy import GreedyMemoryPlanner
from tflm_sim.planners.linear import LinearMemoryPlanner
from tflm_sim.planners.memory_planner import MemoryPlanner
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.targets.target import Target

PLANNERS: dict[str, Callable[[], MemoryPlanner]] = {"greedy": GreedyMemoryPlanner, "linear": LinearMemoryPlanner}

# The objects that Create places, in order: the arena allocator(s), then the planner, then the MicroAllocator.
ALLOCATOR_STRUCTS = {
    "plain": (("SingleArenaBufferAllocator",), "MicroAllocator"),
    "recording": (("RecordingSingleArenaBufferAllocator",), "RecordingMicroAllocator"),
    "split": (("PersistentArenaBufferAllocator", "NonPersistentArenaBufferAllocator"), "MicroAllocator"),
}

MAX_SCRATCH_BUFFERS_PER_OP = 12
"""``kMaxScratchBuffersPerOp``: how many scratch buffers one Prepare may request."""

_SCRATCH_REQUEST = "internal::ScratchBufferRequest"
_PERSISTENT_TENSOR_CATEGORIES = (
    RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_DATA,
    RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA,
    RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA,
)


class MicroAllocator:
    """Allocates for one model after another on one arena (mutable).

    Several models may share it, one after the other: their tails add up, the head is the largest plan.

    Args:
        arena: The arena; the allocator objects are placed in it by the constructor.
        target: Struct sizes.
        kind: "plain", "recording" or "split" (persistent and non-persistent memory in two arenas).
        planner: "greedy" or "linear".
        has_own_planner: Whether the firmware created the planner, outside of the arena.
        has_own_arena_allocator: Whether it created the SingleArenaBufferAllocator there, too.
        preserved: Tensors, (subgraph, tensor), whose lifetimes are extended to the end.

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
        has_own_planner: bool = False,
        has_own_arena_allocator: bool = False,
        preserved: Collection[tuple[int, int]] = (),
    ) -> None:
        self.arena = arena
        self.target = target
        memory_planner = PLANNERS[planner]()
        self._plan = StaticMemoryPlan(arena, target, memory_planner, preserved)
        self._allocating: ModelAllocation | None = None
        self._tensor_structs = TensorStructs(target)
        self._scratch_request_layout = target.sizeof(_SCRATCH_REQUEST), target.alignof(_SCRATCH_REQUEST)
        arena_structs, allocator_struct = ALLOCATOR_STRUCTS[kind]
        arena.tell(Phase, Stage.CREATE, (("aligned_size", arena.size),))
        is_planner_here = target.runtime.has("planner_in_arena") and not has_own_planner
        planner_structs = (type(memory_planner).__name__,) if is_planner_here else ()
        arena_structs_here = () if has_own_arena_allocator else arena_structs
        for struct in (*arena_structs_here, *planner_structs, allocator_struct):
            self.allocate_object(struct)

    # -- the tail ---------------------------------------------------------------------------------------------------

    def allocate_object(self, struct: str, message: str = "") -> int:
        """Place a C++ object, or a parser's builtin data; return its arena offset.

        Args:
            struct: Its class.
            message: What the device prints where it does not fit; "" where upstream does not check.

        Raises:
            ArenaOverflowError: It does not fit; where upstream does not check, it writes through a null pointer.
        """
        layout = self.target.layout(struct)
        size, alignment = layout.size, layout.alignment
        if message:
            return take_persistent(self.arena, size, alignment, label=struct, message=message)
        offset = self.arena.allocate_persistent_buffer(size, alignment, label=struct)
        if offset is None:
            raise ArenaOverflowError(
                f"tail: no room for the {struct} ({size} bytes): the device constructs it at a null pointer",
                status="abort",
            )
        return offset

    def _array(self, struct: str, count: int, message: str, category: str = "") -> None:
        size, alignment = self.target.sizeof(struct) * count, self.target.alignof(struct)
        label = f"{struct}[{count}]"
        take_persistent(self.arena, size, alignment, label=label, message=message.format(size=size), category=category)

    def allocate_persistent_buffer(self, size: int, label: str) -> int | None:
        """``AllocatePersistentBuffer``: tail bytes for a kernel, aligned to 16; None when they do not fit."""
        return self.arena.allocate_persistent_buffer(
            size, BUFFER_ALIGNMENT, category=RecordedAllocationType.PERSISTENT_BUFFER_DATA, label=label
        )

    # -- start ------------------------------------------------------------------------------------------------------

    def start_model_allocation(self, model: Model) -> ModelAllocation:
        """Allocate what every model needs before its operators are parsed.

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
        has_subgraphs = self.target.runtime.has("several_subgraphs")
        if has_subgraphs:
            self.arena.tell(Phase, Stage.BUILTIN_DATA_ALLOCATOR)
            self.allocate_object("micro_allocator.MicroBuiltinDataAllocator")
        self.arena.tell(Phase, Stage.INIT_SCRATCH)
        size, alignment = self._scratch_request_layout
        if self.arena.allocate_resizable_buffer(size * MAX_SCRATCH_BUFFERS_PER_OP, alignment) is None:
            raise ArenaOverflowError("head: no room for the scratch buffer requests of the first operator")
        count = len(model.subgraphs)
        if has_subgraphs:
            self.arena.tell(Phase, Stage.SUBGRAPH_ALLOCATIONS, (("n", count),))
            self._array("SubgraphAllocations", count, "Failed to allocate memory for model metadata.")
        elif count != 1:
            self.arena.log("Only 1 subgraph is currently supported.\n")
            raise PrepareError(f"this version knows one subgraph, the model has {count}", status="abort")
        if self.target.runtime.compression:
            from tflm_sim.device.compression import CompressedTensorsAllocator

            allocation.compressed_tensors = CompressedTensorsAllocator(model, self.target, self.arena).allocate()
        self._allocate_eval_tensors(allocation)
        for index, subgraph in enumerate(model.subgraphs):
            self.arena.tell(Phase, Stage.NODE_REGS, (("sg", index), ("n", len(subgraph.operators))))
            self._array(
                "NodeAndRegistration",
                len(subgraph.operators),
                "Failed to allocate memory for node_and_registrations.",
                RecordedAllocationType.NODE_AND_REGISTRATION_ARRAY,
            )
        return allocation

    def _allocate_eval_tensors(self, allocation: ModelAllocation) -> None:
        for index, subgraph in enumerate(allocation.model.subgraphs):
            self.arena.tell(Phase, Stage.EVAL_TENSORS, (("sg", index), ("n", len(subgraph.tensors))))
            self._array(
                "TfLiteEvalTensor",
                len(subgraph.tensors),
                "Failed to allocate memory for context->eval_tensors, {size} bytes required",
                RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA,
            )
            outline = outlines(allocation.model)[index]
            if not outline.types <= types_that_convert(self.target.runtime) or not outline.has_buffers:
                self._check_tensors(allocation.model, subgraph)
            allocation.subgraph_tensors.append(outline.eval_tensors())

    def _check_tensors(self, model: Model, subgraph: Subgraph) -> None:
        for position, tensor in enumerate(subgraph.tensors):
            if tensor.type not in types_that_convert(self.target.runtime):
                self.arena.log(f"Unsupported data type {tensor.type} in tensor\n")
                message = f"Failed to initialize tensor {position}"
                self.arena.log(message)
                raise PrepareError(message, device_message=message)
            if not 0 <= tensor.buffer < len(model.buffers):
                raise PrepareError(f"tensor {position} has no buffer {tensor.buffer}", status="abort")

    # -- prepare ----------------------------------------------------------------------------------------------------

    def request_scratch_buffer(self, allocation: ModelAllocation, size: int, subgraph: int, label: str) -> int | None:
        """``RequestScratchBufferInArena``: the request's index; None, with a log line, past the limit per operator."""
        if len(allocation.unassigned_scratch) >= MAX_SCRATCH_BUFFERS_PER_OP:
            verb = "exceeds" if self.target.runtime.has("limit_is_exceeded") else "exeeds"
            self.arena.log(f"Scratch buffer request {verb} limit per operator ({MAX_SCRATCH_BUFFERS_PER_OP})")
            return None
        index = len(allocation.scratch_requests) + len(allocation.unassigned_scratch)
        table_end = self.target.sizeof(_SCRATCH_REQUEST) * (index + 1)
        if table_end > self.arena.head:
            self.arena.tell(Corruption, f"scratch request {index} is written past the head ({self.arena.head})")
        allocation.unassigned_scratch.append((subgraph, size))
        self.arena.tell(ScratchRequest, size, subgraph, index, label)
        return index

    def finish_prepare_node_allocations(self, allocation: ModelAllocation, node: int) -> None:
        """Empty the temp section and make room for the next operator's scratch requests.

        A refused reset or resize is logged and otherwise ignored, as the interpreter upstream ignores it.
        """
        if not self.arena.reset_temp_allocations():
            return
        for subgraph, size in allocation.unassigned_scratch:
            allocation.scratch_requests.append(lifetimes.ScratchBufferRequest(subgraph, node, size))
        allocation.unassigned_scratch.clear()
        size, alignment = self._scratch_request_layout
        room = size * (len(allocation.scratch_requests) + MAX_SCRATCH_BUFFERS_PER_OP)
        self.arena.resize_buffer(room, alignment)

    def allocate_temp_tensor(self, tensor: EvalTensor, subgraph: int) -> KernelTensor | None:
        """``AllocateTempTfLiteTensor``: None, with the device's log lines, when it does not fit or has a bad type."""
        structs, is_sized = self._tensor_structs.of(tensor)
        offsets, fitted = self.arena.allocate_temps(structs)
        if fitted == len(structs) and is_sized:
            return KernelTensor(tensor, offsets)
        if not fitted:
            if not self.target.runtime.has("temp_tensor_checked"):
                raise _null_tensor("temp")
            self.arena.log(f"Failed to allocate temp. memory for tensor {tensor.index}, subgraph {subgraph}")
            return None
        if fitted < len(structs):
            self.arena.log(FAILURES[fitted])
        self.arena.log("Failed to populate a temp TfLiteTensor struct from flatbuffer data!")
        return None

    def allocate_temp_tensors(
        self, tensors: Sequence[EvalTensor], wanted: Sequence[tuple[int, bool]], subgraph: int
    ) -> list[KernelTensor | None]:
        """``AllocateTempTfLiteTensor`` of several.

        Args:
            tensors: The tensors of the subgraph.
            wanted: The index of each wanted tensor (negative: absent), and whether the kernel stops without it.
            subgraph: The subgraph's index.

        Returns:
            The temp tensors, None for one that does not fit or is absent; a required one that is None is the last.
        """
        present: list[EvalTensor] = []
        groups: list[Temps] = []
        for index, _ in wanted:
            if index < 0:
                break
            structs, is_sized = self._tensor_structs.of(tensors[index])
            if not is_sized:
                break
            present.append(tensors[index])
            groups.append(structs)
        else:
            taken = self.arena.allocate_temp_groups(tuple(groups))
            if taken is not None:
                return list(map(KernelTensor, present, taken))
        return self._allocate_one_by_one(tensors, wanted, subgraph)

    def _allocate_one_by_one(
        self, tensors: Sequence[EvalTensor], wanted: Sequence[tuple[int, bool]], subgraph: int
    ) -> list[KernelTensor | None]:
        answers: list[KernelTensor | None] = []
        for index, is_needed in wanted:
            answers.append(self.allocate_temp_tensor(tensors[index], subgraph) if index >= 0 else None)
            if is_needed and answers[-1] is None:
                break
        return answers

    def deallocate_temp_tensor(self, tensor: KernelTensor) -> None:
        """``DeallocateTempTfLiteTensor``: zero points, quantization, tensor."""
        self.deallocate_temp_tensors((tensor,))

    def deallocate_temp_tensors(self, tensors: Iterable[KernelTensor | None]) -> None:
        """``DeallocateTempTfLiteTensor`` of each tensor that is there."""
        offsets: list[int] = []
        for tensor in tensors:
            if tensor is not None:
                offsets += tensor.offsets[::-1]
        self.arena.deallocate_temps(offsets)

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
        runtime, handles_fit = self.target.runtime, True
        is_one_plan = runtime.has("plan_across_subgraphs")
        for subgraph in range(len(allocation.model.subgraphs)):
            if subgraph == 0 or not runtime.has("handles_once"):
                handles_fit = self._scratch_handles(len(allocation.scratch_requests))
            if not is_one_plan:
                self._plan.commit_subgraph(allocation, subgraph, handles_fit=handles_fit)
            if not runtime.has("offline_variables"):
                self._plan.allocate_variables(allocation, subgraph)
        if is_one_plan:
            self._plan.commit(allocation, handles_fit=handles_fit)
        self._allocating = None

    def _scratch_handles(self, count: int) -> bool:
        self.arena.tell(Phase, Stage.SCRATCH_HANDLES, (("n", count),))
        if count == 0:
            return True
        size, alignment = self.target.sizeof("ScratchBufferHandle") * count, self.target.alignof("ScratchBufferHandle")
        label = f"ScratchBufferHandle[{count}]"
        return self.arena.allocate_persistent_buffer(size, alignment, label=label) is not None

    # -- input and output tensors -----------------------------------------------------------------------------------

    def allocate_persistent_tensor(self, tensor: EvalTensor) -> bool:
        """``AllocatePersistentTfLiteTensor``: False, with the device's log lines, when it does not fit."""
        structs, is_sized = self._tensor_structs.of(tensor)
        for position, (size, alignment) in enumerate(structs):
            category = _PERSISTENT_TENSOR_CATEGORIES[position]
            label = STRUCTS[position]
            if self.arena.allocate_persistent_buffer(size, alignment, category=category, label=label) is None:
                if position == 0:
                    if not self.target.runtime.has("persistent_tensor_checked"):
                        raise _null_tensor("tail")
                    self.arena.log("Failed to allocate memory for persistent TfLiteTensor")
                    return False
                self.arena.log(FAILURES[position])
                break
        else:
            if is_sized:
                return True
        self.arena.log("Failed to populate a persistent TfLiteTensor struct from flatbuffer data!")
        return False


def _null_tensor(section: str) -> ArenaOverflowError:
    """Return the error of versions that write to a tensor struct without checking that it was allocated."""
    return ArenaOverflowError(
        f"{section}: no room for a TfLiteTensor: the device fills it in at a null pointer", status="abort"
    )
