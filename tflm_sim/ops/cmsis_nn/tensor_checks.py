"""Checks that the CMSIS-NN kernels of TFLM share. A place is written as in ``roles.py``."""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.reference.arithmetic import runtime_dim
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import abort, ensure_eq, ensure_msg

_SUPPORTED = (TensorType.FLOAT32, TensorType.INT16, TensorType.INT8)


def check_supported_input(tensor: KernelTensor, file: str) -> None:
    """Refuse what is neither float32 nor int16 nor int8."""
    ensure_msg(tensor.type in _SUPPORTED, file, "Input data type not supported")


def check_zero_zero_points(first_place: str, **tensors: KernelTensor) -> None:
    """``TF_LITE_ENSURE_EQ(context, <name>->params.zero_point, 0)`` of each tensor, line after line."""
    file, _, line = first_place.rpartition(":")
    for step, (name, tensor) in enumerate(tensors.items()):
        ensure_eq(tensor.zero_point, 0, f"{file}:{int(line) + step}", f"{name}->params.zero_point", "0")


def check_rank_4(first_place: str, **tensors: KernelTensor) -> None:
    """``TFLITE_DCHECK_EQ(<name>_shape.DimensionsCount(), 4)`` of each tensor."""
    for name, tensor in tensors.items():
        if len(tensor.shape) != 4:
            raise abort(first_place, f"{name}_shape.DimensionsCount() == 4")


def matching_dim(first: tuple[tuple[int, ...], int], second: tuple[tuple[int, ...], int]) -> int:
    """Return ``MatchingDim`` of two (shape, axis); different dimensions halt the device."""
    dims = runtime_dim(*first), runtime_dim(*second)
    if dims[0] != dims[1]:
        raise abort("tensorflow/lite/kernels/internal/types.h", f"MatchingDim: {dims[0]} == {dims[1]}")
    return dims[0]
