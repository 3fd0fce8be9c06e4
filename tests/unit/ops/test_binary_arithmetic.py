"""ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, ADD_N, MAXIMUM and MINIMUM."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.reference import REFERENCE

KERNELS = "tensorflow/lite/micro/kernels/"
KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"
FLOATS = ((2, 8), T.FLOAT32)
PREPARED = ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]
SIZES = {
    "ADD": (60, "OpDataAdd"),
    "SUB": (52, "OpDataSub"),
    "MUL": (36, "OpDataMul"),
    # Seven words.
    "DIV": (28, "div.OpDataDiv"),
    # A bool padded to 8 because ArithmeticParams, 104 bytes, holds int64s.
    "SQUARED_DIFFERENCE": (112, "squared_difference.OpData"),
}
LINES = {
    "ADD": ("add_common.cc", 88, 91, 94),
    "SUB": ("sub_common.cc", 90, 93, 96),
    "MUL": ("mul_common.cc", 44, 47, 50),
    "DIV": ("div.cc", 80, 83, 86),
    "SQUARED_DIFFERENCE": ("squared_difference.cc", 98, 101, 104),
}


def quantized(type_=T.INT8, scale=0.5, zero_point=0):
    return ((2, 8), type_, {"scale": scale, "zero_point": zero_point})


@pytest.mark.parametrize("op", SIZES)
@pytest.mark.parametrize("tensor", [FLOATS, quantized(), quantized(T.INT16), ((2, 8), T.INT32)])
def test_op_data_from_init_and_three_temps_from_prepare(kernel, op, tensor):
    bench = kernel(op, [tensor, tensor], [tensor])
    size, struct = SIZES[op]
    assert bench.init() == [f"persistent {size} {struct}"]
    assert bench.prepare() == PREPARED


@pytest.mark.parametrize("op", SIZES)
def test_missing_tensors_are_refused(kernel, op):
    file, *lines = LINES[op]
    missing = (([None, FLOATS], "input1"), ([FLOATS, None], "input2"))
    for (inputs, name), line in zip(missing, lines, strict=False):
        assert kernel(op, inputs, [FLOATS]).refusal() == f"{KERNELS}{file}:{line} {name} != nullptr was not true."
    refused = kernel(op, [FLOATS, FLOATS], [FLOATS], refuse="temp 2").refusal()
    assert refused == f"{KERNELS}{file}:{lines[2]} output != nullptr was not true."


@pytest.mark.parametrize("op", SIZES)
def test_without_memory_for_op_data_prepare_halts(kernel, op):
    assert "node->user_data" in kernel(op, [FLOATS, FLOATS], [FLOATS], refuse="persistent").refusal()


@pytest.mark.parametrize(("op", "lines"), [("ADD", (104, 106)), ("SUB", (103, 105, 107)), ("DIV", (96, 98))])
def test_int32_is_refused_with_quantization(kernel, op, lines):
    plain, scaled = ((2, 8), T.INT32), ((2, 8), T.INT32, {"scale": 0.5})
    file = LINES[op][0]
    for quantized_index, (line, name) in enumerate(zip(lines, ("input1", "input2", "output"), strict=False)):
        tensors = [scaled if i == quantized_index else plain for i in range(3)]
        message = f"{file}:{line} {name}->quantization.type != kTfLiteNoQuantization (1 != 0)"
        assert kernel(op, tensors[:2], tensors[2:]).refusal() == KERNELS + message


@pytest.mark.parametrize("op", ["MUL", "DIV"])
def test_a_fused_relu_needs_an_output_scale(kernel, op):
    tensors = [quantized(), quantized()], [quantized(scale=0.0)]
    bench = kernel(op, *tensors, options={"fused_activation_function": "RELU6"})
    assert bench.refusal() == KERNEL_UTIL + ":349 no_integer_overflow_from_quantization was not true."
    assert kernel(op, *tensors).prepare() == PREPARED


@pytest.mark.parametrize("op", ["ADD", "SUB"])
def test_a_fused_relu6_of_a_sum_has_to_fit_32_bits(kernel, op):
    # 6 / 2^-29 = 3 * 2^30 does not, while 2 * 2^-20 / (2^20 * 2^-29) = 2^-10 is a fine multiplier.
    tensors = [quantized(scale=2.0**-20)] * 2, [quantized(scale=2.0**-29)]
    bench = kernel(op, *tensors, options={"fused_activation_function": "RELU6"})
    assert bench.refusal() == KERNEL_UTIL + ":349 no_integer_overflow_from_quantization was not true."
    assert kernel(op, *tensors, options={"fused_activation_function": "RELU"}).prepare() == PREPARED


@pytest.mark.parametrize(("op", "scales"), [
    # Of the inputs and the output: input / (2 * larger input) and 2 * larger / (2^20 * output) are to be in (0, 1).
    ("ADD", (None, 0.5, 0.5)), ("ADD", (0.0, 0.0, 0.5)), ("ADD", (0.5, 0.5, 0.0)), ("ADD", (0.5, 0.5, 1e-7)),
    ("ADD", (-0.5, 0.5, 0.5)), ("ADD", (float("nan"), 0.5, 0.5)), ("ADD", (0.5, 0.5, None)),
    ("SUB", (None, 0.5, 0.5)), ("SUB", (0.5, 0.5, None)), ("SUB", (0.5, 0.5, 1e-7)), ("SUB", (3e38, 0.5, 0.5)),
    ("SQUARED_DIFFERENCE", (0.0, 0.0, 0.5)), ("SQUARED_DIFFERENCE", (0.5, 0.0, 0.5)),
])  # fmt: skip
def test_scales_that_cannot_be_rescaled_halt(kernel, op, scales):
    tensors = [quantized(scale=scale) if scale is not None else ((2, 8), T.INT8) for scale in scales]
    assert kernel(op, tensors[:2], tensors[2:]).refusal().startswith("halts: ")


def test_add_halts_without_output_quantization(kernel):
    halted = kernel("ADD", [quantized(), quantized()], [((2, 8), T.INT8)]).refusal()
    assert "add_common.cc:42: output->quantization.type != kTfLiteNoQuantization" in halted


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("MUL", [FLOATS] * 3, [FLOATS], "mul_common.cc:52 NumInputs(node) != 2 (3 != 2)"),
    ("MUL", [FLOATS] * 2, [FLOATS] * 2, "mul_common.cc:53 NumOutputs(node) != 1 (2 != 1)"),
    ("MUL", [FLOATS, quantized()], [FLOATS], "mul_common.cc:55 input1->type != input2->type (FLOAT32 != INT8)"),
    ("MUL", [quantized(T.INT16, 0.5, 1), quantized(T.INT16)], [quantized(T.INT16)],
     "mul_common.cc:73 data->input1_zero_point != 0 (1 != 0)"),
    ("MUL", [quantized(T.INT16), quantized(T.INT16, 0.5, 2)], [quantized(T.INT16)],
     "mul_common.cc:74 data->input2_zero_point != 0 (2 != 0)"),
    ("MUL", [quantized(T.INT16), quantized(T.INT16)], [quantized(T.INT16, 0.5, 3)],
     "mul_common.cc:75 data->output_zero_point != 0 (3 != 0)"),
    ("DIV", [FLOATS, quantized()], [FLOATS], "div.cc:49 input1->type != input2->type (FLOAT32 != INT8)"),
    ("DIV", [FLOATS, FLOATS], [quantized()], "div.cc:50 input1->type != output->type (FLOAT32 != INT8)"),
    ("SQUARED_DIFFERENCE", [FLOATS], [FLOATS], "squared_difference.cc:91 NumInputs(node) != 2 (1 != 2)"),
    ("SQUARED_DIFFERENCE", [FLOATS] * 2, [], "squared_difference.cc:92 NumOutputs(node) != 1 (0 != 1)"),
    ("SQUARED_DIFFERENCE", [FLOATS, quantized()], [FLOATS],
     "squared_difference.cc:106 input1->type != input2->type (FLOAT32 != INT8)"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message


NAMES = ("input1", "input2", "output")


@pytest.mark.parametrize(("type_", "zero_point", "lines", "text"), [
    (T.INT8, -129, (115, 119, 123), "zero_point >= integer_type_min"),
    (T.INT8, 128, (117, 121, 125), "zero_point <= integer_type_max"),
    (T.INT16, 1, (136, 137, 138), "zero_point == 0"),
])  # fmt: skip
def test_squared_difference_checks_each_zero_point(kernel, type_, zero_point, lines, text):
    for i, (line, name) in enumerate(zip(lines, NAMES, strict=True)):
        tensors = [quantized(type_, 0.5, zero_point if j == i else 0) for j in range(3)]
        message = f"squared_difference.cc:{line} {name}_quantization_params.{text} was not true."
        assert kernel("SQUARED_DIFFERENCE", tensors[:2], tensors[2:]).refusal() == KERNELS + message


def test_squared_difference_takes_the_output_s_type_from_the_inputs(kernel):
    assert kernel("SQUARED_DIFFERENCE", [quantized(), quantized()], [FLOATS]).prepare() == PREPARED


TEMPS_OF_ADD_N = ["temp 0", "temp 3", "temp 1", "free 1", "temp 2", "free 2"]


def test_add_n_takes_a_pointer_for_each_input_as_scratch(kernel):
    assert REFERENCE["ADD_N"].init is None
    expected = [*TEMPS_OF_ADD_N, "scratch 12 input_pointers", "free 0", "free 3"]
    assert kernel("ADD_N", [FLOATS] * 3, [FLOATS]).prepare() == expected
    expected[6] = "scratch 24 input_pointers"
    assert kernel("ADD_N", [FLOATS] * 3, [FLOATS], target="x86_64").prepare() == expected


def test_add_n_of_int8_takes_op_data_in_prepare(kernel):
    # Ten words.
    memory = ["persistent 40 add_n.OpData", "scratch 12 input_pointers"]
    expected = [*TEMPS_OF_ADD_N, *memory, "free 0", "free 3"]
    assert kernel("ADD_N", [quantized()] * 3, [quantized()]).prepare() == expected


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([FLOATS], [FLOATS], ":51 num_inputs >= 2 was not true."),
    ([FLOATS] * 2, [], ":52 NumOutputs(node) != 1 (0 != 1)"),
    ([None, FLOATS], [FLOATS], ":57 input_tensor_first != nullptr was not true."),
    ([FLOATS] * 2, [quantized()], ":63 output->type != input_tensor_first->type (INT8 != FLOAT32)"),
    ([FLOATS, None], [FLOATS], ":66 input != nullptr was not true."),
    ([FLOATS, ((8, 2), T.FLOAT32)], [FLOATS],
     ":67 HaveSameShapes(input_tensor_first, input) was not true."),
    ([FLOATS, quantized()], [FLOATS], ":68 input_tensor_first->type != input->type (FLOAT32 != INT8)"),
    ([quantized(), quantized(zero_point=1)], [quantized()],
     ":72 input_tensor_first->params.zero_point == input->params.zero_point was not true."),
    ([quantized(), quantized(scale=0.25)], [quantized()],
     ":74 input_tensor_first->params.scale == input->params.scale was not true."),
])  # fmt: skip
def test_add_n_refusals(kernel, inputs, outputs, message):
    assert kernel("ADD_N", inputs, outputs).refusal() == KERNELS + "add_n.cc" + message


def test_add_n_refuses_other_types_and_halts_on_scales_of_zero(kernel):
    ints = ((2, 8), T.INT32)
    assert kernel("ADD_N", [ints, ints], [ints]).refusal() == "ADD_N only supports FLOAT32 and INT8, got INT32."
    for scale, output_scale in ((0.0, 0.5), (0.5, 0.0)):
        inputs = [quantized(scale=scale)] * 2
        assert kernel("ADD_N", inputs, [quantized(scale=output_scale)]).refusal().startswith("halts: ")


@pytest.mark.parametrize("op", ["MAXIMUM", "MINIMUM"])
def test_maximum_and_minimum_ask_for_nothing(op):
    assert (REFERENCE[op].builtin_data, REFERENCE[op].init, REFERENCE[op].prepare) == (None, None, None)


@pytest.mark.parametrize(("op", "struct"), [
    ("ADD", "TfLiteAddParams"), ("SUB", "TfLiteSubParams"), ("MUL", "TfLiteMulParams"), ("DIV", "TfLiteDivParams"),
    ("SQUARED_DIFFERENCE", None), ("ADD_N", None),
])  # fmt: skip
def test_builtin_data(op, struct):
    assert REFERENCE[op].builtin_data == struct
