"""Operators about broadcasting: BROADCAST_TO, BROADCAST_ARGS, SELECT_V2.

Source: tensorflow/lite/micro/kernels/{broadcast_to,broadcast_args,select}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.node_checks import constant_values, require, require_op_data
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_msg,
    ensure_types_eq,
    fail,
    free,
    optional_input,
    optional_output,
)
from tflm_sim.units import int32

MAX_BROADCAST_DIMS = 5
_INDEX_TYPES = (TensorType.INT32, TensorType.INT64)
_BROADCASTABLE = "Output shape must be broadcastable from input shape."


def _ensure_two_inputs(node: Node, file: str, line: int) -> None:
    ensure(len(node.inputs) == 2, f"{file}:{line}", "NumInputs(node) == 2")
    ensure_eq(len(node.outputs), 1, f"{file}:{line + 1}", "NumOutputs(node)", "1")


def _prepare_broadcast_to(node: Node) -> Steps[None]:
    file = "broadcast_to.cc"
    _ensure_two_inputs(node, file, 77)
    maybe_source = yield from optional_input(node, 0)
    maybe_shape = yield from optional_input(node, 1)
    maybe_output = yield from optional_output(node, 0)
    source = require(maybe_source, f"{file}:87", "input")
    ensure_msg(len(source.shape) <= MAX_BROADCAST_DIMS, file, "BroadcastTo only supports 1-5D tensor.")
    shape = require(maybe_shape, f"{file}:90", "shape")
    ensure(shape.type in _INDEX_TYPES, f"{file}:90", "shape->type == kTfLiteInt32 || shape->type == kTfLiteInt64")
    output = require(maybe_output, f"{file}:92", "output")
    ensure_c_types_eq(source.type, output.type, f"{file}:92", "input->type", "output->type")
    ensure(source.type != TensorType.STRING, f"{file}:96", "input->type != kTfLiteString")
    ensure_msg(shape.is_constant, file, "Non-constant >shape< tensor is not supported")
    _check_output_shape(source, shape, output)
    yield from free(source, shape, output)


def _check_output_shape(source: KernelTensor, shape: KernelTensor, output: KernelTensor) -> None:
    """``ValidateOutputTensor``."""
    file = "broadcast_to.cc"
    ensure_eq(len(shape.shape), 1, f"{file}:37", "NumDimensions(shape)", "1")
    rank = len(output.shape)
    ensure_msg(rank == dim(shape, 0, f"{file}:42"), file, "Output must match with the expected shape dimension.")
    ensure_msg(len(source.shape) <= rank, file, _BROADCASTABLE)
    ensure_msg(rank <= MAX_BROADCAST_DIMS, file, "BroadcastTo only supports 1-5D tensor.")
    code = "i" if shape.type == TensorType.INT32 else "q"
    asked = [int32(value) for value in constant_values(shape, rank, f"{file}:53", name="shape", code=code)]
    for size, wanted in zip(source.shape, asked[rank - len(source.shape) :], strict=True):
        ensure_msg(size in (1, wanted), file, _BROADCASTABLE)
    same = all(size == wanted for size, wanted in zip(output.shape, asked, strict=True))
    ensure(same, f"{file}:71", "output_shape.Dims(idx) == get_shape_data(idx)")


def _prepare_broadcast_args(node: Node) -> Steps[None]:
    file = "broadcast_args.cc"
    _ensure_two_inputs(node, file, 32)
    maybe_shape1 = yield from optional_input(node, 0)
    maybe_shape2 = yield from optional_input(node, 1)
    maybe_output = yield from optional_output(node, 0)
    shape1 = require(maybe_shape1, f"{file}:43", "shape1")
    ensure(shape1.type in _INDEX_TYPES, f"{file}:43", "shape1->type == kTfLiteInt32 || shape1->type == kTfLiteInt64")
    shape2 = require(maybe_shape2, f"{file}:45", "shape2")
    ensure_c_types_eq(shape1.type, shape2.type, f"{file}:45", "shape1->type", "shape2->type")
    output = require(maybe_output, f"{file}:46", "output")
    ensure_c_types_eq(shape1.type, output.type, f"{file}:46", "shape1->type", "output->type")
    ensure_eq(len(shape1.shape), 1, f"{file}:49", "NumDimensions(shape1)", "1")
    ensure_eq(len(shape2.shape), 1, f"{file}:50", "NumDimensions(shape2)", "1")
    ensure_eq(len(output.shape), 1, f"{file}:53", "NumDimensions(output)", "1")
    yield from free(shape1, shape2, output)


def _init_select(node: Node) -> Steps[object]:
    yield Persistent(node.target.sizeof("select.OpData"), "select.OpData")
    return "select.OpData"


def _prepare_select(node: Node) -> Steps[None]:
    ensure_eq(len(node.inputs), 3, "select.cc:78", "NumInputs(node)", "3")
    ensure_eq(len(node.outputs), 1, "select.cc:79", "NumOutputs(node)", "1")
    maybe_condition = yield from optional_input(node, 0)
    maybe_x = yield from optional_input(node, 1)
    maybe_y = yield from optional_input(node, 2)
    maybe_output = yield from optional_output(node, 0)
    condition = require(maybe_condition, "select.cc:95", "input_condition")
    ensure_types_eq(condition.type, TensorType.BOOL, "select.cc:95", "input_condition->type", "kTfLiteBool")
    x = require(maybe_x, "select.cc:96", "input_x")
    y = require(maybe_y, "select.cc:96", "input_y")
    ensure_types_eq(x.type, y.type, "select.cc:96", "input_x->type", "input_y->type")
    output = require(maybe_output, "select.cc:97", "output")
    all_single = all(runtime_flat_size(runtime_shape(tensor)) == 1 for tensor in (condition, x, y, output))
    if not condition.shape == x.shape == y.shape and not all_single:
        _check_broadcast(condition.shape, x.shape, y.shape, output=output.shape)
        require_op_data(node, "select.cc:113", "data")
    yield from free(condition, x, y, output)


def _check_broadcast(*shapes: tuple[int, ...], output: tuple[int, ...]) -> None:
    """``CheckBroadcastShape``: from the innermost dimension outwards."""
    rank = max(len(shape) for shape in shapes)
    ensure_eq(rank, len(output), "select.cc:55", "out_dims", "output_shape->size")
    for axis in range(-1, -rank - 1, -1):
        sizes = [shape[axis] if -axis <= len(shape) else 1 for shape in shapes]
        wanted = 0 if min(sizes) == 0 else max(sizes)
        if any(size not in (1, wanted) for size in sizes):
            raise fail("Given shapes are not broadcastable.")
        ensure_eq(output[axis], wanted, "select.cc:70", "output_shape->data[out_dims - i - 1]", "max_value")


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("BROADCAST_TO", None, None, _prepare_broadcast_to, _K + "broadcast_to.cc"),
    OpModel("BROADCAST_ARGS", None, None, _prepare_broadcast_args, _K + "broadcast_args.cc"),
    OpModel("SELECT_V2", None, _init_select, _prepare_select, _K + "select.cc"),
)
