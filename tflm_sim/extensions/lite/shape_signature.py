"""Which shapes a strict resize allows: those that the file leaves open with -1.

Source: tflite/core/subgraph.cc ResizeInputTensorStrict @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.op_resolver import refused


def tensor_at(tensors: Sequence[TfLiteTensor], index: int, line: int) -> TfLiteTensor:
    """Return a tensor that a caller names; ``line`` is where the runtime looks.

    Raises:
        PrepareError: There is none.
    """
    if not 0 <= index < len(tensors):
        text = "tensor_index < context_.tensors_size && tensor_index >= 0 was not true."
        raise refused(f"tflite/core/subgraph.cc:{line} {text}")
    return tensors[index]


def check_signature(tensors: Sequence[TfLiteTensor], index: int, shape: tuple[int, ...]) -> None:
    """Refuse a shape that differs where the tensor's signature is known.

    Raises:
        PrepareError: It does, it has another rank, or there is no such tensor.
    """
    tensor = tensor_at(tensors, index, 1264)
    if tensor.rank != len(shape):
        text = f"tensor->dims->size != dims.size() ({tensor.rank} != {len(shape)})"
        raise refused(f"tflite/core/subgraph.cc:1268 {text}")
    for place, (known, size) in enumerate(zip(tensor.signature or tensor.shape, shape, strict=False)):
        if known not in (-1, size):
            raise refused(
                f"Attempting to resize dimension {place} of tensor {index} with value {known} to {size}. "
                "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1."
            )
