"""RESHAPE, SQUEEZE, EXPAND_DIMS and SHAPE: the same elements under other dims.

RESHAPE is the one operator here that changes a shape: it computes the dimension that the output leaves open with -1,
in dims that it copies to the tail, and it turns the legacy output shape [0] into a scalar where it lies.

Source: tensorflow/lite/micro/kernels/{reshape,reshape_common,squeeze,expand_dims,shape}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.model.element_types import type_name, type_number
from tflm_sim.model.flatbuf import FlatBuffer, Table
from tflm_sim.model.schema import TensorSlot
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import OUTPUT_TYPE, EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import bounded_dims, convertible_types, dims_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, result, source, trusted
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_shape
from tflm_sim.ops.reference.output_shapes import expanded_dims, requested_shape
from tflm_sim.ops.requests import KernelTensor, Log, SetShape, Steps
from tflm_sim.ops.roles import fail, writable_dims
from tflm_sim.units import int32

_OPEN = -1
_MAX_SQUEEZE_DIMS = 8


def _element_counts(k: Kernel, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the number of elements without the open dimension, and that dimension's index, or -1."""
    count, stretch_dim = 1, -1
    for index, value in enumerate(shape):
        if value == _OPEN:
            k.ensure_eq(stretch_dim, -1, "stretch_dim")
            stretch_dim = index
        else:
            count = int32(count * value)
    if stretch_dim >= 0:
        k.ensure(count != 0, "num_output_elements != 0")
    return count, stretch_dim


def _reshape_output(k: Kernel) -> Steps[None]:
    """``ReshapeOutput``."""
    source = yield from k.input(0)
    computes = k.has("output_shapes")
    new_shape = (yield from k.optional_input(1)) if computes else None
    output = yield from k.output(0)
    shape = requested_shape(k, new_shape, output) if computes else output.shape
    if len(k.node.inputs) == 1 and shape == (0,):
        shape = ()
        if not computes:
            yield SetShape(output.eval, shape)
    input_count = int32(source.flat_size)
    output_count, stretch_dim = _element_counts(k, shape)
    if computes and shape == ():
        yield from writable_dims(output, shape)
    if stretch_dim >= 0:
        shape = output.shape
        size = int32(k.divide(input_count, output_count))
        stretched = (*shape[:stretch_dim], size, *shape[stretch_dim + 1 :])
        if k.has("reshape_dims"):
            yield from writable_dims(output, stretched)
        else:
            yield SetShape(output.eval, stretched)
        output_count = int32(output_count * size)
    k.same_type(source, output)
    k.ensure_eq(input_count, output_count, "num_input_elements", "num_output_elements")
    yield from k.free(source, new_shape, output)


def _reshape_status(k: Kernel) -> Steps[int]:
    """Return 0, or 1 after printing why ``ReshapeOutput`` refuses."""
    try:
        yield from _reshape_output(k)
    except PrepareError as refusal:
        if refusal.status == "abort":
            raise
        yield Log(refusal.device_message)
        return 1
    return 0


def prepare_reshape(node: Node) -> Steps[None]:
    """``PrepareReshapeReference``; its TF_LITE_ENSURE_EQ evaluated its arguments again to print them."""
    k = Kernel(node, "reshape_common.cc")
    k.ensure(len(node.inputs) in (1, 2), "NumInputs(node) == 1 || NumInputs(node) == 2")
    k.ensure_eq(len(node.outputs), 1, "NumOutputs(node)")
    if k.has("prepare_checks"):
        yield from _reshape_output(k)
    elif (yield from _reshape_status(k)) != 0:
        status = yield from _reshape_status(k)
        k.refuse("ReshapeOutput(context, node)", "kTfLiteOk", f"{status} != 0")


def _squeezed(k: Kernel, source: KernelTensor) -> set[int]:
    """Return the dimensions of the input that go away: those that the options name, or all of size 1."""
    dims = dims_option(k.node, "SqueezeOptions", "squeeze_dims")
    if not dims:
        return {index for index, size in enumerate(source.shape) if size == 1}
    rank = len(source.shape)
    expression = "current >= 0 && current < input_num_dims && input_dims->data[current] == 1"
    squeezed = {int32(index + rank) if index < 0 else index for index in dims}
    for current in squeezed:
        k.ensure(0 <= current < rank and source.shape[current] == 1, expression)
    return squeezed


def _squeeze(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.use(source, output)
    k.ensure(len(source.shape) <= _MAX_SQUEEZE_DIMS, "input_num_dims <= max_squeeze_dims")
    squeezed = _squeezed(k, source)
    kept = [size for index, size in enumerate(source.shape) if index not in squeezed]
    if k.has("prepare_checks"):
        fits = len(output.shape) >= len(kept) and all(
            ours >= size for ours, size in zip(output.shape, kept, strict=False)
        )
        k.ensure(fits, "out_idx < output_dims->size && output_dims->data[out_idx] >= input_dims->data[in_idx]")
        return
    for index, size in enumerate(kept):
        dim = output.shape[index] if index < len(output.shape) else _dim_past_the_end(k, output, index)
        k.check(dim >= size, "output_dims->data[out_idx++] >= input_dims->data[in_idx]")


def _dim_past_the_end(k: Kernel, tensor: KernelTensor, index: int) -> int:
    """Return ``dims->data[index]`` behind the last: dims lie in the file, so that it is what follows them there."""
    source = k.node.model.source
    dims = Table(FlatBuffer(source), tensor.eval.tensor.offset).target(TensorSlot.SHAPE) if len(source) else None
    if dims is None or dims + 8 + 4 * index > len(source):
        return k.dim(tensor, index)
    return int.from_bytes(source[dims + 4 + 4 * index :][:4], "little", signed=True)


def _axis_value(k: Kernel, axis: KernelTensor) -> int:
    """``GetAxisValueFromTensor``."""
    if len(runtime_shape(axis)) > 1:
        raise fail("Axis has only one element for Expand_Dims.")
    if axis.type != TensorType.INT32:
        raise fail(f"Axis type {type_name(axis.type)} ({type_number(axis.type)}) not supported by Expand_Dims.")
    return k.constants(axis, 1, "axis")[0]


def _expand_dims(k: Kernel, source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> Steps[None]:
    """``VerifyTensorDim``: the output has the input's dims with a 1 put in before dimension ``axis``."""
    if not k.has("expand_dims_prepares"):
        return
    k.ensure_msg(axis.is_constant, "Non-constant >axis< tensor is not supported")
    value = _axis_value(k, axis)
    input_shape = runtime_shape(source)
    if value < 0:
        value += len(input_shape) + 1
    if k.has("output_shapes"):
        yield from expanded_dims(k, source, value, output)
        return
    k.ensure(value <= len(input_shape), "axis_value <= input_shape.DimensionsCount()")
    output_shape = runtime_shape(output)
    ranks = "output_shape.DimensionsCount() == input_shape.DimensionsCount() + 1"
    k.ensure(len(output_shape) == len(input_shape) + 1, ranks)
    for i, size in enumerate(output_shape):
        if i < value:
            text, expected = "input_shape.Dims(i)", runtime_dim(input_shape, i)
        elif i == value:
            text, expected = "1", 1
        else:
            text, expected = "input_shape.Dims(i - 1)", runtime_dim(input_shape, i - 1)
        k.ensure(size == expected, f"output_shape.Dims(i) == {text}")


def _prepare_shape(node: Node) -> Steps[None]:
    Kernel(node, "shape.cc").counts(inputs=1)
    yield from ()


_CONTEXT = trusted(source(0, "op_context.input"), result(0, "op_context.output"))

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "RESHAPE",
        "TfLiteReshapeParams",
        prepare=prepare_reshape,
        parse=bounded_dims("ReshapeOptions", "new_shape", "reshape"),
    ),
    OpModel(
        "SQUEEZE",
        "TfLiteSqueezeParams",
        prepare=Prepare("squeeze.cc", counts(1), takes=_CONTEXT, body=_squeeze, frees_always=True),
        parse=bounded_dims("SqueezeOptions", "squeeze_dims", "squeeze"),
    ),
    OpModel(
        "EXPAND_DIMS",
        prepare=Prepare("expand_dims.cc", counts(2), takes=(INPUT, source(1, "axis"), OUTPUT), body=_expand_dims),
    ),
    OpModel("SHAPE", "TfLiteShapeParams", prepare=_prepare_shape, parse=convertible_types("ShapeOptions", "out_type")),
)

_EXPAND_DIMS = "Expand_Dims only currently supports int8, int16 and float32, got {number}."

EVALS: tuple[EvalRow, ...] = (
    known_types("EXPAND_DIMS", "i0", "FLOAT32 INT16 INT8", _EXPAND_DIMS, 1494),
    known_types(
        "EXPAND_DIMS", "i0", "FLOAT32 INT8", "Expand_Dims only currently supports int8 and float32, got {number}."
    ),
    known_types("SHAPE", "o0", "INT32", OUTPUT_TYPE),
)
