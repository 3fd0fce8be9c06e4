"""RELU, RELU6, LEAKY_RELU, PRELU, HARD_SWISH, ELU, LOGISTIC and TANH."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]
FLOATS = ((2, 8), T.FLOAT32)
SIZES = {
    "RELU": (28, "ReluOpData"),
    "RELU6": (8, "Relu6OpData"),
    "LEAKY_RELU": (24, "LeakyReluOpData"),
    "PRELU": (28, "PreluParams"),
    "HARD_SWISH": (20, "HardSwishParams"),
    # A table of 256 bytes.
    "ELU": (256, "elu.OpData"),
    "LOGISTIC": (16, "OpDataLogistic"),
    "TANH": (16, "tanh.OpData"),
}


def quantized(type_=T.INT8, scale=0.1, zero_point=0):
    return ((2, 8), type_, {"scale": scale, "zero_point": zero_point})


def inputs_of(op, tensor):
    return [tensor, FLOATS] if op == "PRELU" else [tensor]


PREPARED = {
    "RELU6": ["temp 0", "free 0"],
    "PRELU": ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"],
    "TANH": ["temp 0", "temp 0", "temp 1", "free 0", "free 1", "free 0"],
}


@pytest.mark.parametrize("op", SIZES)
def test_op_data_from_init_and_temps_from_prepare(kernel, op):
    bench = kernel(op, inputs_of(op, FLOATS), [FLOATS])
    size, struct = SIZES[op]
    assert bench.init() == [f"persistent {size} {struct}"]
    assert bench.prepare() == PREPARED.get(op, IN_OUT)


@pytest.mark.parametrize(("op", "source", "output"), [
    ("RELU", quantized(), quantized()), ("RELU", quantized(T.INT16), quantized(T.INT16)),
    ("RELU6", quantized(scale=0.0), quantized()), ("RELU6", quantized(T.INT16), quantized(T.INT16)),
    ("LEAKY_RELU", quantized(), quantized()), ("LEAKY_RELU", quantized(T.INT16), quantized(T.INT16, scale=0.0)),
    ("HARD_SWISH", quantized(), quantized()), ("HARD_SWISH", quantized(T.INT16), quantized(T.INT16)),
    ("ELU", quantized(), quantized(scale=0.0)),
    ("LOGISTIC", quantized(), quantized(scale=1 / 256, zero_point=-128)),
    ("LOGISTIC", quantized(T.INT16, 2.0**-12), quantized(T.INT16, 2.0**-15)),
    # 2.6 * 4096 * 3 = 31,949 fits 16 bits.
    ("LOGISTIC", quantized(T.INT16, 2.6), quantized(T.INT16, 2.0**-15)),
    ("TANH", quantized(), quantized()),
    ("TANH", quantized(T.INT16, 2.0**-11), quantized(T.INT16, 2.0**-15)),
    ("TANH", quantized(T.INT16, 0.0), quantized(T.INT16, 2.0**-15)),
])  # fmt: skip
def test_quantized_types_ask_for_no_more(kernel, op, source, output):
    assert kernel(op, [source], [output]).prepare() == PREPARED.get(op, IN_OUT)


def test_prelu_takes_an_alpha_of_any_type_but_int8_for_int16(kernel):
    expected = PREPARED["PRELU"]
    assert kernel("PRELU", [quantized(), quantized()], [quantized(scale=0.0)]).prepare() == expected
    assert kernel("PRELU", [quantized(T.INT16), quantized()], [quantized(T.INT16)]).prepare() == expected
    bench = kernel("PRELU", [quantized(T.INT16), quantized(T.INT16)], [quantized(T.INT16)])
    assert bench.refusal() == KERNELS + "prelu_common.cc:101 alpha->type == kTfLiteInt8 was not true."


POT = "CheckedLog2(output->params.scale, &output_scale_log2_rounded) was not true."
BITS = "output_scale_log2_rounded != -kOutputFractionalBits (-14 != -15)"
MINIMUM = "std::numeric_limits<int8_t>::min()"


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("RELU", [], [FLOATS], "activations_common.cc:95 input != nullptr was not true."),
    ("RELU", [FLOATS], [], "activations_common.cc:98 output != nullptr was not true."),
    ("RELU", [quantized(T.INT16, zero_point=1)], [quantized(T.INT16)],
     "activations_common.cc:103 input->params.zero_point != 0 (1 != 0)"),
    ("RELU", [quantized(T.INT16)], [quantized(T.INT16, zero_point=2)],
     "activations_common.cc:104 output->params.zero_point != 0 (2 != 0)"),
    ("RELU6", [None], [FLOATS], "activations_common.cc:122 input != nullptr was not true."),
    ("LEAKY_RELU", [FLOATS, FLOATS], [FLOATS], "leaky_relu_common.cc:35 NumInputs(node) != 1 (2 != 1)"),
    ("LEAKY_RELU", [FLOATS], [], "leaky_relu_common.cc:36 NumOutputs(node) != 1 (0 != 1)"),
    ("LEAKY_RELU", [None], [FLOATS], "leaky_relu_common.cc:39 input != nullptr was not true."),
    ("LEAKY_RELU", [FLOATS], [quantized()], "leaky_relu_common.cc:43 input->type != output->type (FLOAT32 != INT8)"),
    ("PRELU", [None, FLOATS], [FLOATS], "prelu_common.cc:90 input != nullptr was not true."),
    ("PRELU", [FLOATS], [FLOATS], "prelu_common.cc:92 alpha != nullptr was not true."),
    ("PRELU", [FLOATS, FLOATS], [], "prelu_common.cc:94 output != nullptr was not true."),
    ("HARD_SWISH", [], [FLOATS], "hard_swish_common.cc:38 NumInputs(node) != 1 (0 != 1)"),
    ("HARD_SWISH", [FLOATS], [], "hard_swish_common.cc:39 NumOutputs(node) != 1 (0 != 1)"),
    ("HARD_SWISH", [None], [FLOATS], "hard_swish_common.cc:43 input != nullptr was not true."),
    # 1.0 / 128 / 0.001 is 7.8: its exponent is 3.
    ("HARD_SWISH", [quantized(scale=1.0)], [quantized(scale=0.001)],
     "hard_swish_common.cc:68 params->output_multiplier_exponent <= 0 was not true."),
    ("ELU", [FLOATS, FLOATS], [FLOATS], "elu.cc:85 NumInputs(node) != 1 (2 != 1)"),
    ("ELU", [FLOATS], [], "elu.cc:86 NumOutputs(node) != 1 (0 != 1)"),
    ("ELU", [None], [FLOATS], "elu.cc:89 input != nullptr was not true."),
    ("ELU", [FLOATS], [quantized()], "elu.cc:93 input->type != output->type (FLOAT32 != INT8)"),
    ("LOGISTIC", [], [FLOATS], "logistic_common.cc:39 input != nullptr was not true."),
    ("LOGISTIC", [FLOATS], [], "logistic_common.cc:42 output != nullptr was not true."),
    ("LOGISTIC", [FLOATS], [quantized()], "logistic_common.cc:44 input->type != output->type (FLOAT32 != INT8)"),
    ("LOGISTIC", [quantized()], [quantized(zero_point=-127)],
     f"logistic_common.cc:46 output->params.zero_point != {MINIMUM} (-127 != -128)"),
    ("LOGISTIC", [quantized(T.INT16, zero_point=1)], [quantized(T.INT16)],
     "logistic_common.cc:70 input->params.zero_point != 0 (1 != 0)"),
    ("LOGISTIC", [quantized(T.INT16)], [quantized(T.INT16, zero_point=1)],
     "logistic_common.cc:71 output->params.zero_point != 0 (1 != 0)"),
    ("LOGISTIC", [quantized(T.INT16)], [quantized(T.INT16, 0.1)], "logistic_common.cc:101 " + POT),
    ("LOGISTIC", [quantized(T.INT16)], [quantized(T.INT16, 0.0)], "logistic_common.cc:101 " + POT),
    ("LOGISTIC", [quantized(T.INT16)], [quantized(T.INT16, 2.0**-14)], "logistic_common.cc:103 " + BITS),
    ("TANH", [None], [FLOATS], "tanh.cc:142 input != nullptr was not true."),
    ("TANH", [FLOATS, FLOATS], [FLOATS], "tanh.cc:52 NumInputs(node) != 1 (2 != 1)"),
    ("TANH", [FLOATS], [], "tanh.cc:53 NumOutputs(node) != 1 (0 != 1)"),
    ("TANH", [FLOATS], [quantized()], "tanh.cc:61 input->type != output->type (FLOAT32 != INT8)"),
    ("TANH", [quantized(T.INT16, zero_point=1)], [quantized(T.INT16)],
     "tanh.cc:89 input->params.zero_point != 0 (1 != 0)"),
    ("TANH", [quantized(T.INT16)], [quantized(T.INT16, zero_point=1)],
     "tanh.cc:90 output->params.zero_point != 0 (1 != 0)"),
    ("TANH", [quantized(T.INT16)], [quantized(T.INT16, -0.5)], "tanh.cc:123 " + POT),
    ("TANH", [quantized(T.INT16)], [quantized(T.INT16, 2.0**-14)], "tanh.cc:125 " + BITS),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize("op", ["LOGISTIC", "TANH"])
def test_an_input_scale_too_large_for_the_table_halts(kernel, op):
    # 2.7 * 4096 * 3 = 33,177 is above 32,767.
    bench = kernel(op, [quantized(T.INT16, 2.7)], [quantized(T.INT16, 2.0**-15)])
    assert "data->input_multiplier <= 32767" in bench.refusal()


@pytest.mark.parametrize("op", ["LOGISTIC", "TANH"])
def test_an_input_scale_too_large_for_an_int_passes_where_the_cast_gives_the_minimum(kernel, op):
    tensors = ([quantized(T.INT16, 1e9)], [quantized(T.INT16, 2.0**-15)])
    assert kernel(op, *tensors, target="x86_64").prepare() == PREPARED.get(op, IN_OUT)
    assert "data->input_multiplier" in kernel(op, *tensors, target="cortex-m4").refusal()


def test_hard_swish_halts_on_a_negative_multiplier(kernel):
    assert "multiplier_int32_t >= 0" in kernel("HARD_SWISH", [quantized(scale=-0.1)], [quantized()]).refusal()
    both = [quantized(scale=-0.1)]
    assert "hard_swish_common.cc: multiplier_int32_t >= 0" in kernel("HARD_SWISH", both, both).refusal()


def test_hard_swish_without_an_output_scale_halts_where_infinity_becomes_minus_one(kernel):
    tensors = ([quantized()], [quantized(scale=0.0)])
    assert "multiplier_int32_t >= 0" in kernel("HARD_SWISH", *tensors, target="cortex-m4").refusal()
    assert kernel("HARD_SWISH", *tensors, target="x86_64").prepare() == IN_OUT


@pytest.mark.parametrize("op", SIZES)
def test_without_memory_for_op_data_prepare_halts_where_it_is_used(kernel, op):
    tensor = quantized()
    halted = kernel(op, inputs_of(op, tensor), [tensor], refuse="persistent").refusal()
    assert halted.startswith("halts: ")
    assert "data != nullptr" in halted


def test_relu_halts_on_seven_dimensions(kernel):
    seven = ((1,) * 7, T.INT8, {"scale": 0.1})
    assert "kMaxSmallSize" in kernel("RELU", [seven], [quantized()]).refusal()
    assert "kMaxSmallSize" in kernel("RELU", [quantized()], [seven]).refusal()
