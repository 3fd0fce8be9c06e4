"""FILL and ZEROS_LIKE: outputs whose values do not come from a tensor of their own shape.

Source: tensorflow/lite/micro/kernels/{fill,zeros_like}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import OUTPUT, Kernel, Prepare, counts, source
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import fail
from tflm_sim.units import int32

_INTEGER_CODES: dict[int, str] = {
    TensorType.INT8: "b",
    TensorType.INT16: "h",
    TensorType.INT32: "i",
    TensorType.INT64: "q",
}


def _fill(k: Kernel, dims: KernelTensor, value: KernelTensor, output: KernelTensor) -> None:
    k.rank(value, 0, "value")
    k.same_c_type(value, output, "value")
    k.ensure_msg(dims.is_constant, "Non-constant >dims< tensor is not supported")
    _ensure_dims(k, output.shape, dims)


def _ensure_dims(k: Kernel, shape: tuple[int, ...], dims: KernelTensor) -> None:
    """``EnsureEq``: the constant vector ``dims`` holds ``shape``, in any signed integer type."""
    k.rank(dims, 1, "tensor")
    k.ensure_eq(len(shape), dims.shape[0], "array->size", "tensor_len")
    code = _INTEGER_CODES.get(dims.type)
    if code is None:
        raise fail(f"cannot compare int array to tensor of type {type_number(dims.type)}.")
    for size, value in zip(shape, k.constants(dims, len(shape), "dims", code), strict=True):
        if size != value:
            k.refuse("array->data[i] != GetTensorData<T>(tensor)[i]", f"({size} != {int32(value)})")


MODELS: tuple[OpModel, ...] = (
    OpModel("FILL", prepare=Prepare("fill.cc", takes=(source(0, "dims"), source(1, "value"), OUTPUT), body=_fill)),
    OpModel("ZEROS_LIKE", prepare=Prepare("zeros_like.cc", counts(1))),
)
