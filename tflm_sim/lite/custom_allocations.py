"""Bytes that the caller lends to tensors; the planner does not place those.

Source: tflite/core/subgraph.cc SetCustomAllocationForTensor, VerifyCustomAllocationForTensor
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterable

from tflm_sim.errors import PrepareError
from tflm_sim.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.lite.simple_memory_arena import DEFAULT_ARENA_ALIGNMENT

_LENDABLE = (
    AllocationType.ARENA_RW,
    AllocationType.ARENA_RW_PERSISTENT,
    AllocationType.CUSTOM,
    AllocationType.NON_CPU,
)


class CustomAllocations:
    """What the tensors of one subgraph were lent (mutable)."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def lend(self, index: int, tensor: TfLiteTensor, data: bytearray | None, address: int) -> None:
        """Let a tensor use ``data``; how large it is does not matter yet.

        Args:
            index, tensor: The tensor.
            data: The bytes, None for a null pointer.
            address: Where they are said to be; a multiple of 64.

        Raises:
            PrepareError: A constant, a dynamic tensor, a null pointer, or an address that is not aligned.
        """
        kinds = ("ArenaRw", "ArenaRwPersistent", "Custom", "NonCpu")
        text = " || ".join(f"tensor->allocation_type == kTfLite{kind}" for kind in kinds)
        _ensure(tensor.allocation_type in _LENDABLE, 2631, f"({text})")
        _ensure(data is not None, 2634, "allocation.data != nullptr")
        _ensure(address % DEFAULT_ARENA_ALIGNMENT == 0, 2637, "data_ptr_value % kDefaultTensorAlignment == 0")
        self._sizes[index] = len(data or b"")
        tensor.allocation_type, tensor.data, tensor.offset = AllocationType.CUSTOM, data, None

    def check(self, indices: Iterable[int], tensors: list[TfLiteTensor]) -> None:
        """Refuse tensors that need more than they were lent; nothing is looked at while nothing is lent."""
        for index in indices if self._sizes else ():
            if tensors[index].allocation_type is AllocationType.CUSTOM:
                _ensure(index in self._sizes, 194, "idx_and_alloc != tensor_idx_to_alloc.end()")
                if self._sizes[index] < tensors[index].size:
                    message = f"Custom allocation is too small for tensor idx: {index}"
                    raise PrepareError(message, device_message=message)

    def check_all(self, tensors: list[TfLiteTensor]) -> None:
        """Check every tensor that was lent bytes, in the order of their indices."""
        for index in sorted(self._sizes):
            kind, kinds = tensors[index].allocation_type, list(AllocationType)
            numbers = f"({kinds.index(kind)} != {kinds.index(AllocationType.CUSTOM)})"
            if kind is not AllocationType.CUSTOM:
                message = f"tflite/core/subgraph.cc:1025 tensor_at_index->allocation_type != kTfLiteCustom {numbers}"
                raise PrepareError(message, device_message=message)
            self.check([index], tensors)


def _ensure(condition: bool, line: int, text: str) -> None:
    if not condition:
        message = f"tflite/core/subgraph.cc:{line} {text} was not true."
        raise PrepareError(message, device_message=message)
