"""SOFTMAX with its int16 tables, and LOG_SOFTMAX with its int8 data."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
FLOATS = ((2, 8), T.FLOAT32)
INT8 = ((2, 8), T.INT8, {"scale": 0.1})
INT16 = ((2, 8), T.INT16, {"scale": 0.1})
INT8_OUT = ((2, 8), T.INT8, {"scale": 1 / 256, "zero_point": -128})
WIDE_OUT = ((2, 8), T.INT16, {"scale": 1 / 65536, "zero_point": -32768})
INT16_OUT = ((2, 8), T.INT16, {"scale": 1 / 32768})
BETA = {"beta": 1.0}
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]


def quantized(scale, zero_point=0, type_=T.INT8):
    return ((2, 8), type_, {"scale": scale, "zero_point": zero_point})


def test_init_takes_op_data(kernel):
    # A double, seven words and five pointers: 8 + 28 + 20; with 8-byte pointers 8 + 28 + 4 + 40.
    assert kernel("SOFTMAX", [FLOATS], [FLOATS]).init() == ["persistent 56 SoftmaxParams"]
    assert kernel("SOFTMAX", [FLOATS], [FLOATS], target="x86_64").init() == ["persistent 80 SoftmaxParams"]


@pytest.mark.parametrize(("source", "output"), [(FLOATS, FLOATS), (INT8, INT8_OUT), (INT8, WIDE_OUT)])
def test_float_and_int8_take_no_memory(kernel, source, output):
    assert kernel("SOFTMAX", [source], [output], options=BETA).prepare() == IN_OUT


def test_int16_takes_two_tables_of_513_numbers(kernel):
    tables = ["persistent 1026 exp_lut", "persistent 1026 one_over_one_plus_x_lut"]
    assert kernel("SOFTMAX", [INT16], [INT16_OUT], options=BETA).prepare() == [*IN_OUT[:2], *tables, *IN_OUT[2:]]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([FLOATS, FLOATS], [FLOATS], ":148 NumInputs(node) != 1 (2 != 1)"),
    ([FLOATS], [FLOATS, FLOATS], ":149 NumOutputs(node) != 1 (2 != 1)"),
    ([None], [FLOATS], ":151 input != nullptr was not true."),
    ([((), T.FLOAT32)], [FLOATS], ":152 NumDimensions(input) >= 1 was not true."),
    ([FLOATS], [INT16_OUT], ":49 input->type == kTfLiteInt8 || input->type == kTfLiteInt16 was not true."),
    # kTfLiteInt8 is 9, kTfLiteFloat32 is 1.
    ([INT8], [FLOATS], ":52 input->type != output->type (9 != 1)"),
    ([INT16], [quantized(1 / 32768, 1, T.INT16)], ":57 output->params.zero_point != 0 (1 != 0)"),
    ([quantized(0.1, 3, T.INT16)], [INT16_OUT], ":91 input->params.zero_point != 0 (3 != 0)"),
    ([INT16], [quantized(1 / 16384, 0, T.INT16)],
     ":93 output->params.scale not near 1.f / 32768 (0.000061 != 0.000031)"),
    ([INT8], [quantized(1 / 65536, 0, T.INT16)], ":98 output->params.zero_point != -32768 (0 != -32768)"),
    ([INT8], [quantized(0.5, -32768, T.INT16)], ":99 output->params.scale not near 1.f / 65536 (0.500000 != 0.000015)"),
    ([INT8], [quantized(1 / 256, -127)], ":103 output->params.zero_point != -128 (-127 != -128)"),
    ([INT8], [quantized(0.1, -128)], ":104 output->params.scale == 1.f / 256 was not true."),
    ([((2, 8), T.UINT8)], [((2, 8), T.UINT8)], ":133 input->type != kTfLiteFloat32 (UINT8 != FLOAT32)"),
])  # fmt: skip
def test_softmax_refusals(kernel, inputs, outputs, message):
    assert kernel("SOFTMAX", inputs, outputs, options=BETA).refusal() == KERNELS + "softmax_common.cc" + message


def test_a_refusal_of_the_parameters_frees_both_temps_first(kernel):
    bench = kernel("SOFTMAX", [INT8], [FLOATS], options=BETA)
    bench.refusal()
    assert bench.requests == IN_OUT


@pytest.mark.parametrize(("refuse", "message"), [
    ("temp 1", ":154 output != nullptr was not true."),
    ("persistent 56", ":156 node->user_data != nullptr was not true."),
    ("persistent 1026 exp", ":39 raw_exp_lut != nullptr was not true."),
    ("persistent 1026 one", ":43 one_over_one_plus_x_lut != nullptr was not true."),
])  # fmt: skip
def test_missing_memory_is_refused(kernel, refuse, message):
    bench = kernel("SOFTMAX", [INT16], [INT16_OUT], options=BETA, refuse=refuse)
    assert bench.refusal() == KERNELS + "softmax_common.cc" + message


@pytest.mark.parametrize(("options", "scale"), [(None, 0.1), (BETA, 0.0), (BETA, 2.0**-26), ({"beta": -1.0}, 0.1)])
def test_int8_halts_unless_beta_times_scale_is_above_2_to_the_minus_26(kernel, options, scale):
    assert "> 1" in kernel("SOFTMAX", [quantized(scale)], [INT8_OUT], options=options).refusal()
    kernel("SOFTMAX", [quantized(2.0**-25)], [INT8_OUT], options=BETA).prepare()
    kernel("SOFTMAX", [quantized(1e30)], [INT8_OUT], options=BETA).prepare()


def test_log_softmax_takes_data_for_int8_only(kernel):
    assert kernel("LOG_SOFTMAX", [FLOATS], [FLOATS]).prepare() == IN_OUT
    # Seven words.
    expected = [*IN_OUT[:2], "persistent 28 log_softmax.LogSoftmaxOpData", *IN_OUT[2:]]
    assert kernel("LOG_SOFTMAX", [INT8], [quantized(1 / 16, 127)]).prepare() == expected


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([FLOATS, FLOATS], [FLOATS], ":49 NumInputs(node) != 1 (2 != 1)"),
    ([FLOATS], [], ":50 NumOutputs(node) != 1 (0 != 1)"),
    ([None], [FLOATS], ":53 input != nullptr was not true."),
    ([FLOATS], [INT8], ":57 input->type != output->type (FLOAT32 != INT8)"),
    ([FLOATS], [((2, 7), T.FLOAT32)], ":59 HaveSameShapes(input, output) was not true."),
    ([INT8], [quantized(0.1, 127)], ":72 output->params.scale == kOutputScale was not true."),
    ([INT8], [quantized(1 / 16, 0)], ":73 output->params.zero_point == kOutputZeroPoint was not true."),
])  # fmt: skip
def test_log_softmax_refusals(kernel, inputs, outputs, message):
    assert kernel("LOG_SOFTMAX", inputs, outputs).refusal() == KERNELS + "log_softmax.cc" + message


def test_log_softmax_halts_on_what_it_cannot_compute(kernel):
    output = quantized(1 / 16, 127)
    assert "> 1" in kernel("LOG_SOFTMAX", [quantized(0.0)], [output]).refusal()
    scalar = ((), T.INT8, {"scale": 0.1})
    assert "skip_dim" in kernel("LOG_SOFTMAX", [scalar], [((), T.INT8, output[2])]).refusal()
    assert "data != nullptr" in kernel("LOG_SOFTMAX", [INT8], [output], refuse="persistent").refusal()
