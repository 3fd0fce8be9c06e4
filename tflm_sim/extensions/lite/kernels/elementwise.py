"""Kernels whose output has the shape of an input, or what two inputs broadcast to.

Source: tflite/kernels/{activations,add,sub,mul,div,elementwise,comparisons,logical,...}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.arithmetic import binary_shape
from tflm_sim.extensions.lite.kernels.call import Prepare, PrepareCall, checked_log2
from tflm_sim.extensions.lite.kernels.scales import check_activation

_BYTES = (t.UINT8, t.INT8)
_SOFTMAX = 5


Check = Callable[[PrepareCall, TfLiteTensor, TfLiteTensor], None]
"""What a kernel asks of its input and its output beyond their types."""


def activation(place: int, check: Check | None = None) -> Prepare:
    """Return the Prepare of an activation: an output of the input's type and shape.

    Args:
        place: How many kernels stand before it in activations.cc that check the same.
        check: What it asks for before it sizes its output.
    """

    def prepare(call: PrepareCall) -> None:
        value, output = call.operands(1, place + 1)
        if place != _SOFTMAX:  # which does not compare types
            call.same_type(value, output, number=place + (place < _SOFTMAX))
        if check is not None:
            check(call, value, output)
        call.resize(output, value.shape)

    return prepare


def _check_hard_swish(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    """Quantized, the output is not coarser than a 128th of the input by a power of two."""
    call.resize(output, value.shape)
    if output.type in _BYTES:
        for tensor, name in ((value, "input"), (output, "output")):
            call.ensure(tensor.zero_point >= -(2**15), f"{name}->params.zero_point >= INT16_MIN")
            call.ensure(tensor.zero_point < 2**15, f"{name}->params.zero_point <= INT16_MAX")
        multiplier = value.scale / 128 / output.scale if output.scale else 0.0
        call.ensure(math.frexp(multiplier)[1] <= 0, "params->output_multiplier_exponent <= 0")


def _check_relu(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    if value.type == t.INT16:
        call.zero_points(input=value, output=output)


def _check_leaky_relu(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    if value.type == t.INT16:
        call.zero_points(input=value, output=output, number=2)


def _check_tanh(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    """16-bit outputs have the scale 1/32768."""
    if value.type == t.INT16:
        call.zero_points(input=value, output=output, number=3)
        log2 = checked_log2(output.scale)
        call.ensure(log2 is not None, "CheckedLog2(output->params.scale, &output_scale_log2_rounded)")
        call.ensure_eq(log2 or 0, -15, "output_scale_log2_rounded", "-kOutputFractionalBits")


def _check_logistic(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    """Quantized outputs have one scale only."""
    if value.type in _BYTES:
        number = 2 if value.type == t.INT8 else 1
        call.ensure(output.scale == 1 / 256, "output->params.scale == 1. / 256", number)
    elif value.type == t.INT16:
        call.ensure(output.scale == 1 / 32768, "output->params.scale == 1. / 32768")
        call.ensure(output.zero_point == 0, "output->params.zero_point == 0")
        call.zero_points(input=value, output=output, number=4)


def _check_softmax(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    call.ensure(value.rank >= 1, "NumDimensions(input) >= 1")
    if value.type == output.type == t.INT8:
        call.ensure_eq(output.zero_point, -128, "output->params.zero_point")
        call.ensure_near(output.scale, 1 / 256, "output->params.scale", "1.f / 256")
    elif value.type == output.type == t.INT16:
        call.zero_points(output=output, number=5)
        call.ensure_near(output.scale, 1 / 32768, "output->params.scale", "1.f / 32768")
    if value.type in _BYTES:
        _check_softmax_input(call, value.scale * call.option("beta"))
    elif value.type == t.INT16:
        call.zero_points(input=value, number=5)
        call.zero_points(output=output, number=6)


def _check_softmax_input(call: PrepareCall, scale: float) -> None:
    """End the process where the reference kernel's multiplier of an 8-bit input is not above 1."""
    if not call.is_optimized and not scale * 2**26 > 1:
        raise PrepareCall.abort("the input's scale makes a multiplier that is not above 1")


def _check_log_softmax(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    if value.type in _BYTES:
        call.ensure_double_eq(output.scale, 16 / 256, "output->params.scale", "16.0 / 256")
        call.ensure_eq(output.zero_point, 255 if value.type == t.UINT8 else 127, "output->params.zero_point")
        _check_softmax_input(call, value.scale)


same_shape = activation(0)
hard_swish = activation(0, _check_hard_swish)
relu = activation(1, _check_relu)
leaky_relu = activation(2, _check_leaky_relu)
tanh = activation(3, _check_tanh)
logistic = activation(4, _check_logistic)
softmax = activation(_SOFTMAX, _check_softmax)
log_softmax = activation(6, _check_log_softmax)


def elu(call: PrepareCall) -> None:
    """ELU and GELU look at their tensors before they count them."""
    call.input(0), call.output()
    same_shape(call)


def takes_type(call: PrepareCall) -> None:
    """Size the output as the input and give it the input's type."""
    value, output = call.operands(1)
    output.type = value.type
    call.resize(output, value.shape)


def prelu(call: PrepareCall) -> None:
    """PRELU: the slopes may broadcast, the output may not."""
    call.counts(2, number=0)
    value, output, alpha = call.input(0), call.output(), call.input(1)
    output.type = value.type
    call.resize(output, call.broadcast(value, alpha))
    call.ensure(value.shape == output.shape, "HaveSameShapes(input, output)")


def binary(call: PrepareCall) -> None:
    """Two inputs of one type, whose type the output takes: DIV, MAXIMUM, BITWISE_XOR and their like."""
    call.counts(2)
    if call.source == "maximum_minimum.cc":
        one, other = call.operand(0, "op_context.input1"), call.operand(1, "op_context.input2")
        output = call.output()
        call.same_type(one, other, "op_context.input1", "op_context.input2")
    else:
        one, other, output = call.input(0), call.input(1), call.output()
        call.same_type(one, other, "input1", "input2")
    allowed, message = _BINARY_TYPES.get(call.source, ((), ""))
    if allowed and one.type not in allowed:
        raise call.failure(message.format(t.type_name(one.type)))
    output.type = one.type
    shape = binary_shape(call)
    if call.source == "div.cc" and output.type in (*_BYTES, t.INT16):
        check_activation(call, output)
    call.resize(output, shape)


# What some of these kernels accept, and what they say of other types.
_BINARY_TYPES = {
    "floor_div.cc": ((t.FLOAT32, t.INT32, t.INT16, t.INT8), "Type '{}' is not supported by floor_div."),
    "floor_mod.cc": ((t.INT8, t.INT16, t.INT32, t.FLOAT32, t.INT64), "Type '{}' is not supported by floor_mod."),
    "pow.cc": ((t.INT32, t.FLOAT32), "Unsupported data type {}."),
    "logical.cc": ((t.BOOL,), "Logical ops only support bool type."),
}


def comparison(call: PrepareCall) -> None:
    """LESS and its like; only EQUAL and NOT_EQUAL compare strings."""
    one, other, output = call.operands(2)
    if call.node.registration.op not in ("EQUAL", "NOT_EQUAL"):
        call.ensure(one.type != t.STRING, "input1->type != kTfLiteString")
    call.same_type(one, other, "input1", "input2")
    output.type = t.BOOL
    call.resize(output, binary_shape(call))


_FLOAT, _FIXED = (t.FLOAT32,), (t.FLOAT32, t.INT8, t.INT16)
_UNARY_TYPES = {
    "ABS": (*_FIXED, t.INT32),
    "SIN": (t.FLOAT32, t.FLOAT16),
    "COS": (t.FLOAT32, t.FLOAT16),
    "LOG": _FIXED,
    "SQRT": _FIXED,
    "RSQRT": _FIXED,
    "SQUARE": _FLOAT,
    "LOGICAL_NOT": (t.BOOL,),
}
_UNARY_NAMES = {"LOGICAL_NOT": "Not"}


def unary(call: PrepareCall) -> None:
    """ABS, SIN and their like: which types, and what quantized ones need."""
    call.counts(1)
    op = call.node.registration.op
    value, output = call.input(0), call.output()
    call.same_type(value, output)
    if value.type not in _UNARY_TYPES[op]:
        name = _UNARY_NAMES.get(op, op.capitalize())
        form = "Type %s is unsupported by op %s."
        call.refuse_at(form, f"Type {t.type_name(value.type)} is unsupported by op {name}.")
    if value.type == t.INT8 or (value.type == t.INT16 and value.quantization is not None):
        call.affine(value, "input")
        call.affine(output, "output")
        if value.type == t.INT16:
            call.ensure_eq(value.zero_point, 0, "op_data->input_offset")
            call.ensure_eq(output.zero_point, 0, "op_data->output_offset")
    call.resize(output, value.shape)


def floating(call: PrepareCall) -> None:
    """FLOOR, CEIL, ROUND: floats only."""
    value, output = call.input(0), call.output()
    call.counts(1)
    if call.source == "ceil.cc":
        call.is_type(value, t.FLOAT32, "input")
    elif call.source == "floor.cc":
        call.one_of(value.type, (t.FLOAT32, t.FLOAT16, t.BFLOAT16), "input->type")
    else:
        call.ensure_supported(value.type, (t.FLOAT32, t.FLOAT16, t.BFLOAT16), "Type '{}' is not supported by round.")
    output.type = value.type
    call.resize(output, value.shape)


def cumsum(call: PrepareCall) -> None:
    value, axis, output = call.operands(2)
    call.one_of(value.type, (t.INT32, t.FLOAT32, t.INT64), "input->type")
    call.is_c_type(axis, t.INT32, "axis")
    call.ensure_eq(axis.elements, 1, "NumElements(axis)")
    call.ensure(value.rank >= 1, "NumDimensions(input) >= 1")
    call.resize(output, value.shape)


def l2_normalization(call: PrepareCall) -> None:
    value, output = call.operands(1)
    call.ensure(value.rank >= 1, "NumDimensions(input) >= 1")
    call.one_of(output.type, (t.FLOAT32, t.UINT8, t.INT8), "output->type")
    call.same_type(value, output)
    if output.type in _BYTES:
        call.ensure_double_eq(output.scale, 1 / 128, "output->params.scale", "(1. / 128.)")
        call.ensure_eq(output.zero_point, 128 if output.type == t.UINT8 else 0, "output->params.zero_point")
    call.ensure_eq(call.activation, 0, "params->activation", "kTfLiteActNone")
    call.resize(output, value.shape)


def local_response_normalization(call: PrepareCall) -> None:
    value, output = call.operands(1)
    call.rank(value, 4, "input")
    call.is_type(output, t.FLOAT32, "output")
    call.same_type(value, output)
    call.resize(output, value.shape)


def atan2(call: PrepareCall) -> None:
    """ATAN2: shapes are compared by their ranks alone."""
    call.ensure_eq(call.input_count, 2, "tflite::NumInputs(node)")
    call.ensure_eq(call.output_count, 1, "tflite::NumOutputs(node)")
    y, x, output = call.input(0), call.input(1), call.output()
    call.ensure_eq(y.rank, x.rank, "tflite::NumDimensions(a)", "tflite::NumDimensions(b)")
    call.same_type(y, x, "input_y", "input_x")
    call.same_type(y, output, "input_y")
    call.one_of(y.type, (t.FLOAT32, t.FLOAT64, t.BFLOAT16, t.FLOAT16), "input_y->type")
    call.resize(output, y.shape)


def sign(call: PrepareCall) -> None:
    call.ensure_eq(call.input_count, 1, "tflite::NumInputs(node)")
    value, output = call.input(0), call.output()
    call.same_type(value, output)
    call.resize(output, value.shape)


def exponential(call: PrepareCall) -> None:
    """EXP."""
    call.counts(1)
    value, output = call.operand(0, "input"), call.output()
    output.type = value.type
    if value.type == t.INT16:
        call.zero_points(input=value, output=output)
    call.resize(output, value.shape)


def complex_part(call: PrepareCall) -> None:
    """REAL, IMAG and COMPLEX_ABS."""
    call.counts(1)
    value = call.input(0)
    call.one_of(value.type, (t.COMPLEX64, t.COMPLEX128), "input->type")
    output = call.output()
    call.is_type(output, t.FLOAT32 if value.type == t.COMPLEX64 else t.FLOAT64, "output")
    call.resize(output, value.shape)


def bucketize(call: PrepareCall) -> None:
    call.counts(1)
    boundaries = call.option("boundaries", ())
    if list(boundaries) != sorted(boundaries):
        raise call.failure("Expected sorted boundaries")
    value, output = call.input(0), call.output()
    call.ensure_supported(
        value.type, (t.INT32, t.FLOAT32, t.INT64, t.FLOAT64), "Type '{}' is not supported by bucketize."
    )
    output.type = t.INT32
    call.resize(output, value.shape)


def add_n(call: PrepareCall) -> None:
    """ADD_N: each thread adds in a tensor of its own."""
    call.ensure(call.input_count >= 2, "num_inputs >= 2")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    first, output = call.input(0), call.output()
    output.type = first.type
    scratch = call.reserve(1)
    call.take(scratch)
    threads = min(max(1, call.input_count // 2), max(call.subgraph.threads, 1))
    call.temporary(scratch, first.type, (threads * first.elements,))
    for place in range(1, call.input_count):
        value = call.input(place)
        call.ensure(first.shape == value.shape, "HaveSameShapes(input1, input)")
        call.same_type(first, value, "input1", "input")
    call.resize(output, first.shape)


def stablehlo_binary(call: PrepareCall) -> None:
    """STABLEHLO_ADD and its like: equal shapes only."""
    one, other, output = call.operands(2)
    call.same_type(one, other, "input_tensor1", "input_tensor2")
    call.ensure_eq(one.rank, other.rank, "input_tensor1->dims->size", "input_tensor2->dims->size")
    for left, right in zip(one.shape, other.shape, strict=True):
        call.ensure_eq(left, right, "input_tensor1->dims->data[idx]", "input_tensor2->dims->data[idx]")
    call.resize(output, one.shape)


def stablehlo_shift_left(call: PrepareCall) -> None:
    one, other, output = call.operands(2)
    call.same_type(one, other, "input1", "input2")
    output.type = one.type
    call.resize(output, one.shape)
