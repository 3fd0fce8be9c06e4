"""Checks that the CMSIS-NN kernels of TFLM share."""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.requests import KernelTensor

_SUPPORTED = (TensorType.FLOAT32, TensorType.INT16, TensorType.INT8)


def check_supported_input(k: Kernel, tensor: KernelTensor) -> None:
    """Refuse what is neither float32 nor int16 nor int8."""
    k.ensure_msg(tensor.type in _SUPPORTED, "Input data type not supported")


def check_rank_4(k: Kernel, **tensors: KernelTensor) -> None:
    """``TFLITE_DCHECK_EQ(<name>_shape.DimensionsCount(), 4)`` of each tensor."""
    for name, tensor in tensors.items():
        k.check(len(tensor.shape) == 4, f"{name}_shape.DimensionsCount() == 4")
