"""``InitializeTfLiteTensorFromFlatbuffer``: the structs that one ``TfLiteTensor`` takes, temp or persistent.

    TfLiteTensor | TfLiteAffineQuantization | zero points (int32 length + one int32 per scale)
                 '---- only with scales and zero points in the file ----'

Source: tensorflow/lite/micro/micro_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.graph.eval_tensor import TYPE_SIZES, EvalTensor
from tflm_sim.model.types import TensorType
from tflm_sim.ops.roles import INT_ARRAY_ALIGNMENT, int_array_size
from tflm_sim.targets.target import Target

_CONVERTIBLE = frozenset(TensorType)

Take = Callable[[int, int, str], int | None]
"""Takes (size, alignment, label) from a section; the offset, or None when it is full."""


def populate_tensor(
    tensor: EvalTensor, target: Target, take: Take, log: Callable[[str], None]
) -> tuple[int, ...] | None:
    """Take the quantization structs of ``tensor``; return their offsets, or None where upstream returns an error."""
    if not is_convertible(tensor.type, log) or tensor.type not in TYPE_SIZES:
        return None
    if tensor.affine is None:
        return ()
    struct = "TfLiteAffineQuantization"
    quantization = take(target.sizeof(struct), target.alignof(struct), struct)
    if quantization is None:
        log("Unable to allocate TfLiteAffineQuantization.\n")
        return None
    channels = len(tensor.affine.scale)
    zero_point = take(int_array_size(channels), INT_ARRAY_ALIGNMENT, "quantization zero_point")
    if zero_point is None:
        log("Unable to allocate quantization->zero_point.\n")
        return None
    return quantization, zero_point


def is_convertible(type_number: int, log: Callable[[str], None]) -> bool:
    """Return whether ``ConvertTensorType`` knows the type; log the device's complaint otherwise."""
    if type_number in _CONVERTIBLE:
        return True
    log(f"Unsupported data type {type_number} in tensor\n")
    return False
