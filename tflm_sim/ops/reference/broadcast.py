"""Operators about broadcasting: BROADCAST_TO, BROADCAST_ARGS, SELECT_V2; FILL and ZEROS_LIKE.

Source: tensorflow/lite/micro/kernels/{broadcast_to,broadcast_args,select,fill,zeros_like}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.element_types import STRUCT_CODES, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, source, take_all, trusted, trusting
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import fail
from tflm_sim.units import int32

MAX_BROADCAST_DIMS = 5
_INDEX_TYPES = (TensorType.INT32, TensorType.INT64)
_TOO_MANY = "BroadcastTo only supports 1-5D tensor."
_BROADCASTABLE = "Output shape must be broadcastable from input shape."


def _two_inputs(k: Kernel) -> None:
    k.ensure(len(k.node.inputs) == 2, "NumInputs(node) == 2")
    k.ensure_eq(len(k.node.outputs), 1, "NumOutputs(node)")


def _broadcast_to(k: Kernel, source: KernelTensor, shape: KernelTensor, output: KernelTensor) -> None:
    k.ensure_msg(len(source.shape) <= MAX_BROADCAST_DIMS, _TOO_MANY)
    k.one_of(shape.type, _INDEX_TYPES, "shape->type")
    k.same_c_type(source, output)
    k.ensure(source.type != TensorType.STRING, "input->type != kTfLiteString")
    k.ensure_msg(shape.is_constant, "Non-constant >shape< tensor is not supported")
    _check_output_shape(k, source, shape, output)


def _check_output_shape(k: Kernel, source: KernelTensor, shape: KernelTensor, output: KernelTensor) -> None:
    """``ValidateOutputTensor``."""
    k.rank(shape, 1, "shape")
    rank = len(output.shape)
    k.ensure_msg(rank == k.dim(shape, 0), "Output must match with the expected shape dimension.")
    k.ensure_msg(len(source.shape) <= rank, _BROADCASTABLE)
    k.ensure_msg(rank <= MAX_BROADCAST_DIMS, _TOO_MANY)
    code = "i" if shape.type == TensorType.INT32 else "q"
    asked = [int32(value) for value in k.constants(shape, rank, "shape", code)]
    for size, wanted in zip(source.shape, asked[rank - len(source.shape) :], strict=True):
        k.ensure_msg(size in (1, wanted), _BROADCASTABLE)
    same = all(size == wanted for size, wanted in zip(output.shape, asked, strict=True))
    k.ensure(same, "output_shape.Dims(idx) == get_shape_data(idx)")


def _broadcast_args(k: Kernel, shape1: KernelTensor, shape2: KernelTensor, output: KernelTensor) -> None:
    k.one_of(shape1.type, _INDEX_TYPES, "shape1->type")
    k.same_c_type(shape1, shape2, "shape1", "shape2")
    k.same_c_type(shape1, output, "shape1")
    for tensor, name in ((shape1, "shape1"), (shape2, "shape2"), (output, "output")):
        k.rank(tensor, 1, name)


def init_select(node: Node) -> Steps[object]:
    """What Init of SELECT_V2 asks for, and goes on without."""
    yield Persistent(node.target.sizeof("select.OpData"), "select.OpData")
    return "select.OpData"


def _select(k: Kernel, condition: KernelTensor, x: KernelTensor, y: KernelTensor, output: KernelTensor) -> None:
    k.is_type(condition, TensorType.BOOL, "input_condition")
    k.same_type(x, y, "input_x", "input_y")
    k.use(output)
    all_single = all(flat_size(tensor) == 1 for tensor in (condition, x, y, output))
    if not k.has("select_broadcasts"):
        k.ensure(all_single or condition.shape == x.shape == y.shape, "same_shape")
    elif not condition.shape == x.shape == y.shape and not all_single:
        _check_broadcast(k, condition.shape, x.shape, y.shape, output=output.shape)
        k.op_data("data")


def _prepare_select(node: Node) -> Steps[None]:
    """``SelectPrepare``; before 78b4040c8 it never gave four single elements back: the temps' reset is refused."""
    if node.target.runtime.has("select_frees"):
        yield from _SELECT_V2(node)
        return
    k = Kernel(node, "select.cc")
    k.counts(inputs=3)
    tensors = trusting(k, _SELECT, (yield from take_all(k, _SELECT)))
    _select(k, *tensors)
    if not all(flat_size(tensor) == 1 for tensor in tensors):
        yield from k.free(*tensors)


def _check_broadcast(k: Kernel, *shapes: tuple[int, ...], output: tuple[int, ...]) -> None:
    """``CheckBroadcastShape``: from the innermost dimension outwards."""
    rank = max(len(shape) for shape in shapes)
    k.ensure_eq(rank, len(output), "out_dims", "output_shape->size")
    for axis in range(-1, -rank - 1, -1):
        sizes = [shape[axis] if -axis <= len(shape) else 1 for shape in shapes]
        wanted = 0 if min(sizes) == 0 else max(sizes)
        if any(size not in (1, wanted) for size in sizes):
            raise fail("Given shapes are not broadcastable.")
        k.ensure_eq(output[axis], wanted, "output_shape->data[out_dims - i - 1]", "max_value")


_TO = trusted(INPUT, source(1, "shape"), OUTPUT)
_ARGS = trusted(source(0, "shape1"), source(1, "shape2"), OUTPUT)
_SELECT = trusted(source(0, "input_condition"), source(1, "input_x"), source(2, "input_y"), OUTPUT)
_SELECT_V2 = Prepare("select.cc", counts(3), takes=_SELECT, body=_select)


_SIGNED_INTEGERS = (TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.INT64)


def _fill(k: Kernel, dims: KernelTensor, value: KernelTensor, output: KernelTensor) -> None:
    k.rank(value, 0, "value")
    k.same_c_type(value, output, "value")
    k.ensure_msg(dims.is_constant, "Non-constant >dims< tensor is not supported")
    if dims.is_constant or not k.has("fill_without_dims"):
        _ensure_dims(k, output.shape, dims)


def _ensure_dims(k: Kernel, shape: tuple[int, ...], dims: KernelTensor) -> None:
    """``EnsureEq``: the constant vector ``dims`` holds ``shape``, in any signed integer type."""
    k.rank(dims, 1, "tensor")
    k.ensure_eq(len(shape), dims.shape[0], "array->size", "tensor_len")
    if dims.type not in _SIGNED_INTEGERS:
        raise fail(f"cannot compare int array to tensor of type {type_number(dims.type)}.")
    for size, value in zip(shape, k.constants(dims, len(shape), "dims", STRUCT_CODES[dims.type]), strict=True):
        if size != value:
            k.refuse("array->data[i]", "GetTensorData<T>(tensor)[i]", f"{size} != {int32(value)}")


MODELS: tuple[OpModel, ...] = (
    OpModel("BROADCAST_TO", prepare=Prepare("broadcast_to.cc", _two_inputs, takes=_TO, body=_broadcast_to)),
    OpModel("BROADCAST_ARGS", prepare=Prepare("broadcast_args.cc", _two_inputs, takes=_ARGS, body=_broadcast_args)),
    OpModel("SELECT_V2", init=init_select, prepare=_prepare_select, source="select.cc"),
    OpModel("FILL", prepare=Prepare("fill.cc", takes=(source(0, "dims"), source(1, "value"), OUTPUT), body=_fill)),
    OpModel("ZEROS_LIKE", prepare=Prepare("zeros_like.cc", counts(1))),
)

EVALS: tuple[EvalRow, ...] = (
    # It prints an address as a number.
    known_types("FILL", "i1", "FLOAT32 INT32 INT8", "Fill only currently supports float32 for input 1, got ?.", 337),
    known_types("FILL", "i1", "FLOAT32", "Fill only currently supports float32 for input 1, got ?."),
    known_types(
        "SELECT_V2", "i1", "FLOAT32 INT8 INT16", "Does not support type other than int8|int16|float32, but got {name}"
    ),
    known_types(
        "ZEROS_LIKE",
        "i0",
        "INT64 INT32 INT8 FLOAT32",
        "ZerosLike only currently supports int64, int32, and float32, got {number}.",
    ),
)
