"""``InitializeTfLiteTensorFromFlatbuffer``: the structs that one ``TfLiteTensor`` takes, temp or persistent.

    TfLiteTensor | TfLiteAffineQuantization | zero points (int32 length + one int32 per scale)
                 '---- only with scales and zero points in the file ----'

Source: tensorflow/lite/micro/micro_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES, EvalTensor, types_without_size
from tflm_sim.ops.roles import INT_ARRAY_ALIGNMENT, int_array_size
from tflm_sim.targets.target import Target

STRUCTS = ("TfLiteTensor", "TfLiteAffineQuantization", "quantization zero_point")
"""What one tensor takes, in order; the last two only with scales and zero points."""
FAILURES = ("", "Unable to allocate TfLiteAffineQuantization.\n", "Unable to allocate quantization->zero_point.\n")
"""What the device prints where each of them does not fit; the first is up to the caller."""


class TensorStructs:
    """The (size, alignment) of the structs of tensors on one target, in bytes (mutable: it caches them).

    Args:
        target: Struct sizes.
    """

    def __init__(self, target: Target) -> None:
        tensor, quantization = STRUCTS[:2]
        self._tensor = (target.sizeof(tensor), target.alignof(tensor))
        self._quantization = (target.sizeof(quantization), target.alignof(quantization))
        self._broadcasts_zero_points = target.runtime.has("zero_points_broadcast")
        self._sized = TYPE_SIZES.keys() - types_without_size(target.runtime)
        self._found: dict[tuple[int, int], tuple[tuple[tuple[int, int], ...], bool]] = {}

    def of(self, tensor: EvalTensor) -> tuple[tuple[tuple[int, int], ...], bool]:
        """Return the structs of a tensor, and whether ``TfLiteTypeSizeOf`` knows its type; else TFLM does not fill them
        in.

        Raises:
            PrepareError: The version reads a zero point for each scale, and the file has fewer.
        """
        channels = 0 if tensor.affine is None else tensor.affine.scale_count
        if channels and not self._broadcasts_zero_points:
            _ensure_zero_points(tensor)
        found = self._found.get((channels, tensor.type))
        if found is None:
            is_sized = tensor.type in self._sized
            structs: tuple[tuple[int, int], ...] = (self._tensor,)
            if channels and is_sized:
                structs += (self._quantization, (int_array_size(channels), INT_ARRAY_ALIGNMENT))
            found = self._found[channels, tensor.type] = structs, is_sized
        return found


def _ensure_zero_points(tensor: EvalTensor) -> None:
    assert tensor.affine is not None, "it has scales"
    scales, zero_points = tensor.affine.scale_count, tensor.affine.zero_point_count
    if zero_points < scales:
        raise PrepareError(
            f"tensor {tensor.index} has {scales} scales and {zero_points} zero points: the device reads past their end",
            status="abort",
        )
