"""Which shapes a strict resize allows: those that the file leaves open with -1.

Source: tflite/core/subgraph.cc ResizeInputTensorStrict @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels.conditions import SUBGRAPH, line_of
from tflm_sim.extensions.lite.op_resolver import refused


def tensor_at(tensors: Sequence[TfLiteTensor], index: int, release: str, *, strict: bool = False) -> TfLiteTensor:
    """Return a tensor that a caller names for a resize, a strict one or not.

    Raises:
        PrepareError: There is none.
    """
    if not 0 <= index < len(tensors):
        text = "tensor_index < context_.tensors_size && tensor_index >= 0"
        raise refused_at(text, "", " was not true.", release, number=2 if strict else 1)
    return tensors[index]


def refused_at(left: str, right: str, says: str, release: str, number: int = 1) -> PrepareError:
    """Return the error of a check in subgraph.cc: its line, its text, what is said of it."""
    line = line_of(SUBGRAPH, left, right, number, release)
    return refused(f"tflite/core/subgraph.cc:{line} {f'{left} != {right}' if right else left}{says}")


def check_signature(tensors: Sequence[TfLiteTensor], index: int, shape: tuple[int, ...], release: str) -> None:
    """Refuse a shape that differs where the tensor's signature is known.

    Raises:
        PrepareError: It does, it has another rank, or there is no such tensor.
    """
    tensor = tensor_at(tensors, index, release, strict=True)
    if tensor.rank != len(shape):
        raise refused_at("tensor->dims->size", "dims.size()", f" ({tensor.rank} != {len(shape)})", release)
    for place, (known, size) in enumerate(zip(tensor.signature or tensor.shape, shape, strict=False)):
        if known not in (-1, size):
            raise refused(
                f"Attempting to resize dimension {place} of tensor {index} with value {known} to {size}. "
                "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1."
            )
