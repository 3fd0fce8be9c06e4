"""RESHAPE, SQUEEZE, EXPAND_DIMS and SHAPE: the same elements under other dims.

RESHAPE is the one operator here that changes a shape: it computes the dimension that the output leaves open with -1,
in dims that it copies to the tail, and it turns the legacy output shape [0] into a scalar where it lies.

Source: tensorflow/lite/micro/kernels/{reshape,reshape_common,squeeze,expand_dims,shape}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import c_div, runtime_dim, runtime_shape
from tflm_sim.ops.reference.node_checks import (
    bounded_dims,
    constant_values,
    convertible_types,
    dims_option,
    ensure_counts,
    require,
)
from tflm_sim.ops.requests import KernelTensor, Log, SetShape, Steps
from tflm_sim.ops.roles import (
    abort,
    dim,
    ensure,
    ensure_eq,
    ensure_msg,
    ensure_types_eq,
    fail,
    free,
    freeing,
    full_place,
    input_tensor,
    optional_input,
    optional_output,
    output_tensor,
    writable_dims,
)
from tflm_sim.units import int32

_RESHAPE, _SQUEEZE, _EXPAND_DIMS, _SHAPE = "reshape_common.cc", "squeeze.cc", "expand_dims.cc", "shape.cc"
_OPEN = -1
_MAX_SQUEEZE_DIMS = 8


def _element_counts(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the number of elements without the open dimension, and that dimension's index, or -1."""
    count, stretch_dim = 1, -1
    for index, value in enumerate(shape):
        if value == _OPEN:
            ensure_eq(stretch_dim, -1, f"{_RESHAPE}:61", "stretch_dim", "-1")
            stretch_dim = index
        else:
            count = int32(count * value)
    return count, stretch_dim


def _reshape_output(node: Node) -> Steps[None]:
    """``ReshapeOutput``."""
    source = yield from input_tensor(node, 0, f"{_RESHAPE}:37")
    output = yield from output_tensor(node, 0, f"{_RESHAPE}:40")
    shape = output.shape
    if len(node.inputs) == 1 and shape == (0,):
        shape = ()
        yield SetShape(output.eval, shape)
    input_count = int32(source.flat_size)
    output_count, stretch_dim = _element_counts(shape)
    if stretch_dim >= 0:
        size = int32(c_div(input_count, output_count, f"{_RESHAPE}:73"))
        yield from writable_dims(output, (*shape[:stretch_dim], size, *shape[stretch_dim + 1 :]))
        output_count = int32(output_count * size)
    ensure_types_eq(source.type, output.type, f"{_RESHAPE}:77", "input->type", "output->type")
    ensure_eq(input_count, output_count, f"{_RESHAPE}:78", "num_input_elements", "num_output_elements")
    yield from free(source, output)


def _reshape_status(node: Node) -> Steps[int]:
    """Return 0, or 1 after printing why ``ReshapeOutput`` refuses."""
    try:
        yield from _reshape_output(node)
    except PrepareError as refusal:
        if refusal.status == "abort":
            raise
        yield Log(refusal.device_message)
        return 1
    return 0


def prepare_reshape(node: Node) -> Steps[None]:
    """``PrepareReshapeReference``; TF_LITE_ENSURE_EQ evaluates its arguments again to print them."""
    ensure(len(node.inputs) in (1, 2), f"{_RESHAPE}:88", "NumInputs(node) == 1 || NumInputs(node) == 2")
    ensure_eq(len(node.outputs), 1, f"{_RESHAPE}:89", "NumOutputs(node)", "1")
    if (yield from _reshape_status(node)) != 0:
        status = yield from _reshape_status(node)
        raise fail(f"{full_place(_RESHAPE)}:90 ReshapeOutput(context, node) != kTfLiteOk ({status} != 0)")


def _squeezed(node: Node, source: KernelTensor) -> set[int]:
    """Return the dimensions of the input that go away: those that the options name, or all of size 1."""
    dims = dims_option(node, "SqueezeOptions", "squeeze_dims")
    if not dims:
        return {index for index, size in enumerate(source.shape) if size == 1}
    rank = len(source.shape)
    expression = "current >= 0 && current < input_num_dims && input_dims->data[current] == 1"
    squeezed = {int32(index + rank) if index < 0 else index for index in dims}
    for current in squeezed:
        ensure(0 <= current < rank and source.shape[current] == 1, f"{_SQUEEZE}:74", expression)
    return squeezed


def _check_squeeze(node: Node, source: KernelTensor, output: KernelTensor | None) -> Steps[None]:
    output = require(output, f"{_SQUEEZE}:57", "op_context.output")
    ensure(len(source.shape) <= _MAX_SQUEEZE_DIMS, f"{_SQUEEZE}:61", "input_num_dims <= max_squeeze_dims")
    squeezed = _squeezed(node, source)
    kept = [size for index, size in enumerate(source.shape) if index not in squeezed]
    for index, size in enumerate(kept):
        if not dim(output, index, f"{_SQUEEZE}:83") >= size:
            raise abort(f"{_SQUEEZE}:83", "output_dims->data[out_idx++] >= input_dims->data[in_idx]")
    yield from ()


def _prepare_squeeze(node: Node) -> Steps[None]:
    ensure_counts(node, _SQUEEZE, 48, inputs=1)
    source = yield from optional_input(node, 0)
    output = yield from optional_output(node, 0)
    source = require(source, f"{_SQUEEZE}:52", "op_context.input")
    yield from freeing(_check_squeeze(node, source, output), source, output)


def _axis_value(axis: KernelTensor) -> int:
    """``GetAxisValueFromTensor``."""
    if len(runtime_shape(axis)) > 1:
        raise fail("Axis has only one element for Expand_Dims.")
    if axis.type != TensorType.INT32:
        raise fail(f"Axis type {type_name(axis.type)} ({type_number(axis.type)}) not supported by Expand_Dims.")
    return constant_values(axis, 1, f"{_EXPAND_DIMS}:43", name="axis")[0]


def _verify_tensor_dim(source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> None:
    """``VerifyTensorDim``: the output has the input's dims with a 1 put in before dimension ``axis``."""
    value = _axis_value(axis)
    input_shape = runtime_shape(source)
    if value < 0:
        value += len(input_shape) + 1
    ensure(value <= len(input_shape), f"{_EXPAND_DIMS}:66", "axis_value <= input_shape.DimensionsCount()")
    output_shape = runtime_shape(output)
    ranks = "output_shape.DimensionsCount() == input_shape.DimensionsCount() + 1"
    ensure(len(output_shape) == len(input_shape) + 1, f"{_EXPAND_DIMS}:73", ranks)
    for i, size in enumerate(output_shape):
        if i < value:
            line, text, expected = 77, "input_shape.Dims(i)", runtime_dim(input_shape, i)
        elif i == value:
            line, text, expected = 79, "1", 1
        else:
            line, text, expected = 81, "input_shape.Dims(i - 1)", runtime_dim(input_shape, i - 1)
        ensure(size == expected, f"{_EXPAND_DIMS}:{line}", f"output_shape.Dims(i) == {text}")


def _prepare_expand_dims(node: Node) -> Steps[None]:
    ensure_counts(node, _EXPAND_DIMS, 90, inputs=2)
    source = yield from input_tensor(node, 0, f"{_EXPAND_DIMS}:94")
    axis = yield from input_tensor(node, 1, f"{_EXPAND_DIMS}:97", "axis")
    output = yield from output_tensor(node, 0, f"{_EXPAND_DIMS}:100")
    ensure_msg(axis.is_constant, _EXPAND_DIMS, "Non-constant >axis< tensor is not supported")
    _verify_tensor_dim(source, axis, output)
    yield from free(source, axis, output)


def _prepare_shape(node: Node) -> Steps[None]:
    ensure_counts(node, _SHAPE, 39, inputs=1)
    yield from ()


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "RESHAPE",
        "TfLiteReshapeParams",
        None,
        prepare_reshape,
        _RESHAPE,
        parse=bounded_dims("ReshapeOptions", "new_shape", "reshape"),
    ),
    OpModel(
        "SQUEEZE",
        "TfLiteSqueezeParams",
        None,
        _prepare_squeeze,
        _SQUEEZE,
        parse=bounded_dims("SqueezeOptions", "squeeze_dims", "squeeze"),
    ),
    OpModel("EXPAND_DIMS", None, None, _prepare_expand_dims, _EXPAND_DIMS),
    OpModel(
        "SHAPE",
        "TfLiteShapeParams",
        None,
        _prepare_shape,
        _SHAPE,
        parse=convertible_types("ShapeOptions", "out_type"),
    ),
)
