"""ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, ADD_N, MAXIMUM and MINIMUM.

The binary ones keep an OpData from Init and take both inputs and the output as temps; MAXIMUM and MINIMUM have neither
Init nor Prepare. ADD_N asks for an array of pointers to its inputs as scratch.

Source: tensorflow/lite/micro/kernels/{add_common,sub_common,mul_common,div,squared_difference,add_n,
maximum_minimum}.cc @ 90b983c.
"""

from __future__ import annotations

from typing import NamedTuple

from tflm_sim.graph.eval_tensor import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, require_op_data
from tflm_sim.ops.reference.quantization import (
    check_activation_range,
    check_smaller_than_one,
    divide,
    ensure_not_quantized,
    float32,
    fused_activation,
)
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    input_tensor,
    op_data,
    output_tensor,
)

_ADD, _SUB, _MUL, _DIV = "add_common.cc", "sub_common.cc", "mul_common.cc", "div.cc"
_SQUARED, _ADD_N = "squared_difference.cc", "add_n.cc"
_FLOAT32, _INT8, _INT16, _INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32


class _Operands(NamedTuple):
    """The temps of a binary operator."""

    input1: KernelTensor
    input2: KernelTensor
    output: KernelTensor


def _operands(node: Node, file: str, *lines: int) -> Steps[_Operands]:
    """Take both inputs and the output, each checked at its line."""
    input1 = yield from input_tensor(node, 0, f"{file}:{lines[0]}", "input1")
    input2 = yield from input_tensor(node, 1, f"{file}:{lines[1]}", "input2")
    output = yield from output_tensor(node, 0, f"{file}:{lines[2]}")
    return _Operands(input1, input2, output)


def _ensure_plain_int32(tensors: _Operands, file: str, *lines: int) -> None:
    """int32 is for tensors without quantization: the inputs, and the output where there is a third line."""
    if tensors.output.type == _INT32:
        for tensor, line, name in zip(tensors, lines, tensors._fields, strict=False):
            ensure_not_quantized(tensor, f"{file}:{line}", name)


def _prepare_add(node: Node) -> Steps[None]:
    require_op_data(node, f"{_ADD}:82")
    tensors = yield from _operands(node, _ADD, 88, 91, 94)
    input1, input2, output = tensors
    if output.type in (_INT8, _INT16):
        if output.affine is None:
            raise abort(f"{_ADD}:42", "output->quantization.type != kTfLiteNoQuantization")
        twice_max = 2 * max(input1.scale, input2.scale)
        shifted_output_scale = (1 << _left_shift(output)) * output.scale
        check_smaller_than_one(
            node,
            divide(input1.scale, twice_max),
            divide(input2.scale, twice_max),
            divide(twice_max, shifted_output_scale),
        )
        check_activation_range(fused_activation(node, "AddOptions"), output)
    _ensure_plain_int32(tensors, _ADD, 104, 106)
    yield from free(*tensors)


def _prepare_sub(node: Node) -> Steps[None]:
    require_op_data(node, f"{_SUB}:80")
    tensors = yield from _operands(node, _SUB, 90, 93, 96)
    input1, input2, output = tensors
    if output.type in (_INT8, _INT16):
        twice_max = float32(2 * max(input1.scale, input2.scale))
        shifted_output_scale = float32((1 << _left_shift(output)) * output.scale)
        check_smaller_than_one(
            node,
            float32(divide(input1.scale, twice_max)),
            float32(divide(input2.scale, twice_max)),
            float32(divide(twice_max, shifted_output_scale)),
        )
        check_activation_range(fused_activation(node, "SubOptions"), output)
    _ensure_plain_int32(tensors, _SUB, 103, 105, 107)
    yield from free(*tensors)


def _left_shift(output: KernelTensor) -> int:
    """The headroom of the sum: so that a shifted input still fits 32 bits."""
    return 15 if output.type == _INT16 else 20


def _prepare_mul(node: Node) -> Steps[None]:
    require_op_data(node, f"{_MUL}:96")
    tensors = yield from _operands(node, _MUL, 44, 47, 50)
    input1, input2, output = tensors
    ensure_counts(node, _MUL, 52, inputs=2)
    ensure_types_eq(input1.type, input2.type, f"{_MUL}:55", "input1->type", "input2->type")
    if output.type in (_INT8, _INT16):
        check_activation_range(fused_activation(node, "MulOptions"), output)
        if input1.type == _INT16:
            for tensor, line, name in zip(tensors, (73, 74, 75), tensors._fields, strict=True):
                ensure_eq(tensor.zero_point, 0, f"{_MUL}:{line}", f"data->{name}_zero_point", "0")
    yield from free(*tensors)


def _prepare_div(node: Node) -> Steps[None]:
    require_op_data(node, f"{_DIV}:74")
    tensors = yield from _operands(node, _DIV, 80, 83, 86)
    input1, input2, output = tensors
    ensure_types_eq(input1.type, input2.type, f"{_DIV}:49", "input1->type", "input2->type")
    ensure_types_eq(input1.type, output.type, f"{_DIV}:50", "input1->type", "output->type")
    if output.type == _INT8:
        check_activation_range(fused_activation(node, "DivOptions"), output)
    _ensure_plain_int32(tensors, _DIV, 96, 98)
    yield from free(*tensors)


def _prepare_squared_difference(node: Node) -> Steps[None]:
    require_op_data(node, f"{_SQUARED}:87")
    ensure_counts(node, _SQUARED, 91, inputs=2)
    tensors = yield from _operands(node, _SQUARED, 98, 101, 104)
    input1, input2, _ = tensors
    ensure_types_eq(input1.type, input2.type, f"{_SQUARED}:106", "input1->type", "input2->type")
    if input1.type in (_INT8, _INT16):
        _check_zero_points(tensors)
        twice_max = 2 * max(input1.scale, input2.scale)
        check_smaller_than_one(node, divide(input1.scale, twice_max), divide(input2.scale, twice_max))
    yield from free(*tensors)


def _check_zero_points(tensors: _Operands) -> None:
    """int8 zero points have to fit int8, int16 ones have to be 0."""
    if tensors.input1.type == _INT8:
        for tensor, line, name in zip(tensors, (115, 119, 123), tensors._fields, strict=True):
            text = f"{name}_quantization_params.zero_point"
            ensure(tensor.zero_point >= -128, f"{_SQUARED}:{line}", f"{text} >= integer_type_min")
            ensure(tensor.zero_point <= 127, f"{_SQUARED}:{line + 2}", f"{text} <= integer_type_max")
        return
    for tensor, line, name in zip(tensors, (136, 137, 138), tensors._fields, strict=True):
        text = f"{name}_quantization_params.zero_point == 0"
        ensure(tensor.zero_point == 0, f"{_SQUARED}:{line}", text)


def _prepare_add_n(node: Node) -> Steps[None]:
    input_count = len(node.inputs)
    ensure(input_count >= 2, f"{_ADD_N}:51", "num_inputs >= 2")
    ensure_eq(len(node.outputs), 1, f"{_ADD_N}:52", "NumOutputs(node)", "1")
    first = yield from input_tensor(node, 0, f"{_ADD_N}:57", "input_tensor_first")
    output = yield from output_tensor(node, 0, f"{_ADD_N}:60")
    ensure_types_eq(output.type, first.type, f"{_ADD_N}:63", "output->type", "input_tensor_first->type")
    for position in range(1, input_count):
        tensor = yield from input_tensor(node, position, f"{_ADD_N}:66")
        _ensure_alike(first, tensor)
        yield from free(tensor)
    if output.type not in (_FLOAT32, _INT8):
        raise fail(f"ADD_N only supports FLOAT32 and INT8, got {type_name(output.type)}.")
    if output.type == _INT8:
        yield Persistent(node.target.sizeof("add_n.OpData"), "add_n.OpData")
    yield Scratch(node.target.abi.pointer_size * input_count, "input_pointers")
    if output.type == _INT8:
        twice = 2 * first.scale
        check_smaller_than_one(node, divide(first.scale, twice), divide(twice, (1 << 20) * output.scale))
    yield from free(first, output)


def _ensure_alike(first: KernelTensor, tensor: KernelTensor) -> None:
    """All inputs of ADD_N have one shape and type, and in int8 one quantization."""
    ensure(first.shape == tensor.shape, f"{_ADD_N}:67", "HaveSameShapes(input_tensor_first, input)")
    ensure_types_eq(first.type, tensor.type, f"{_ADD_N}:68", "input_tensor_first->type", "input->type")
    if first.type == _INT8:
        text = "input_tensor_first->params.zero_point == input->params.zero_point"
        ensure(first.zero_point == tensor.zero_point, f"{_ADD_N}:72", text)
        ensure(first.scale == tensor.scale, f"{_ADD_N}:74", "input_tensor_first->params.scale == input->params.scale")


MODELS: tuple[OpModel, ...] = (
    OpModel("ADD", "TfLiteAddParams", op_data("OpDataAdd"), _prepare_add, _ADD),
    OpModel("SUB", "TfLiteSubParams", op_data("OpDataSub"), _prepare_sub, _SUB),
    OpModel("MUL", "TfLiteMulParams", op_data("OpDataMul"), _prepare_mul, _MUL),
    OpModel("DIV", "TfLiteDivParams", op_data("div.OpDataDiv"), _prepare_div, _DIV),
    OpModel(
        "SQUARED_DIFFERENCE",
        None,
        op_data("squared_difference.OpData"),
        _prepare_squared_difference,
        _SQUARED,
    ),
    OpModel("ADD_N", None, None, _prepare_add_n, _ADD_N),
    OpModel("MAXIMUM", None, None, None, "maximum_minimum.cc"),
    OpModel("MINIMUM", None, None, None, "maximum_minimum.cc"),
)
