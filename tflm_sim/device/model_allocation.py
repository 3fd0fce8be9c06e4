"""``ModelAllocation``: what one model has allocated so far; ``take_persistent``: a checked allocation from the tail."""

from __future__ import annotations

from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.errors import ArenaOverflowError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import AllocationInfo, ScratchBufferRequest
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import Node


class ModelAllocation:
    """What one model has allocated so far (mutable): its eval tensors, scratch requests and final plan.

    Attributes:
        model: The model.
        subgraph_tensors: The eval tensors of each subgraph.
        compressed_tensors: Per subgraph, the indices of tensors with lookup tables.
        scratch_requests: In the order of the requests.
        unassigned_scratch: Requests, (subgraph, bytes), since the last Prepare that TFLM finished.
        op_names: The name of each operator whose kernel was found, per subgraph.
        infos: The final AllocationInfo array; empty before the plan.
        scopes: Which (subgraph, operator) each scope of the infos belongs to.
        offsets: The plan: head offset by index into ``infos``.
        variable_offsets: Arena offset of the variable tensors in the tail, by (subgraph, tensor).
        last_builtin_data: Arena offset and operator of the builtin data that were placed last.
        overran: Whether a kernel wrote past the end of what it allocated.
        is_as_filed: Whether all tensors are as in the file: no kernel changed a shape or made a tensor a resource.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.subgraph_tensors: list[list[EvalTensor]] = []
        self.compressed_tensors: tuple[frozenset[int], ...] = (frozenset(),) * len(model.subgraphs)
        self.scratch_requests: list[ScratchBufferRequest] = []
        self.unassigned_scratch: list[tuple[int, int]] = []
        self.infos: list[AllocationInfo] = []
        self.scopes: list[tuple[int, int]] = []
        self.op_names: list[list[str]] = [[] for _ in model.subgraphs]
        self.offsets: dict[int, int] = {}
        self.variable_offsets: dict[tuple[int, int], int] = {}
        self.last_builtin_data: tuple[int, Node] | None = None
        self.overran = False
        self.is_as_filed = True


def take_persistent(
    arena: ArenaAllocator, size: int, alignment: int, *, label: str, message: str, category: str = ""
) -> int:
    """Take ``size`` bytes from the tail and return their offset, for an allocation that TFLM checks.

    Args:
        arena: The arena.
        size, alignment: In bytes.
        label: What the bytes are for, for people.
        message: What the device prints when it does not fit.
        category: The ``RecordedAllocationType`` that counts it.

    Raises:
        ArenaOverflowError: It does not fit.
    """
    offset = arena.allocate_persistent_buffer(size, alignment, category=category, label=label)
    if offset is None:
        arena.log(message)
        raise ArenaOverflowError(
            f"tail: {size} bytes (align {alignment}) for {label} do not fit", device_message=message
        )
    return offset
