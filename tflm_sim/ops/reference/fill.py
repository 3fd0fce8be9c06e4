"""FILL and ZEROS_LIKE: outputs whose values do not come from a tensor of their own shape.

Source: tensorflow/lite/micro/kernels/{fill,zeros_like}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import constant_values, ensure_counts
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import (
    ensure_c_types_eq,
    ensure_eq,
    ensure_msg,
    fail,
    free,
    full_place,
    input_tensor,
    output_tensor,
)
from tflm_sim.units import int32

_FILL, _ZEROS_LIKE = "fill.cc", "zeros_like.cc"
_INTEGER_CODES = {TensorType.INT8: "b", TensorType.INT16: "h", TensorType.INT32: "i", TensorType.INT64: "q"}


def _ensure_dims(shape: tuple[int, ...], dims: KernelTensor) -> None:
    """``EnsureEq``: the constant vector ``dims`` holds ``shape``, in any signed integer type."""
    ensure_eq(len(dims.shape), 1, f"{_FILL}:43", "NumDimensions(tensor)", "1")
    ensure_eq(len(shape), dims.shape[0], f"{_FILL}:45", "array->size", "tensor_len")
    code = next((code for type_, code in _INTEGER_CODES.items() if type_ == dims.type), None)
    if code is None:
        raise fail(f"cannot compare int array to tensor of type {type_number(dims.type)}.")
    place = f"{_FILL}:34"
    for size, value in zip(shape, constant_values(dims, len(shape), place, name="dims", code=code), strict=True):
        if size != value:
            texts = "array->data[i] != GetTensorData<T>(tensor)[i]"
            raise fail(f"{full_place(place)} {texts} ({size} != {int32(value)})")


def _prepare_fill(node: Node) -> Steps[None]:
    dims = yield from input_tensor(node, 0, f"{_FILL}:73", "dims")
    value = yield from input_tensor(node, 1, f"{_FILL}:76", "value")
    output = yield from output_tensor(node, 0, f"{_FILL}:79")
    ensure_eq(len(value.shape), 0, f"{_FILL}:82", "NumDimensions(value)", "0")
    ensure_c_types_eq(value.type, output.type, f"{_FILL}:85", "value->type", "output->type")
    ensure_msg(dims.is_constant, _FILL, "Non-constant >dims< tensor is not supported")
    _ensure_dims(output.shape, dims)
    yield from free(dims, value, output)


def _prepare_zeros_like(node: Node) -> Steps[None]:
    ensure_counts(node, _ZEROS_LIKE, 31, inputs=1)
    source = yield from input_tensor(node, 0, f"{_ZEROS_LIKE}:35")
    output = yield from output_tensor(node, 0, f"{_ZEROS_LIKE}:38")
    yield from free(source, output)


MODELS: tuple[OpModel, ...] = (
    OpModel("FILL", None, None, _prepare_fill, _FILL),
    OpModel("ZEROS_LIKE", None, None, _prepare_zeros_like, _ZEROS_LIKE),
)
