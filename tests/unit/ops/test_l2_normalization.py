"""L2_NORMALIZATION: float32 and int8, up to 4 dimensions, no fused activation."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

PLACE = "tensorflow/lite/micro/kernels/l2norm.cc:"
FLOATS, INT8 = ((2, 8), T.FLOAT32), ((2, 8), T.INT8, {"scale": 0.1})


@pytest.mark.parametrize("tensor", [FLOATS, INT8])
def test_one_word_of_op_data_and_two_temps(kernel, tensor):
    bench = kernel("L2_NORMALIZATION", [tensor], [tensor])
    assert bench.init() == ["persistent 4 L2NormalizationParams"]
    assert bench.prepare() == ["temp 0", "temp 1", "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([FLOATS, FLOATS], [FLOATS], "44 NumInputs(node) != 1 (2 != 1)"),
    ([FLOATS], [], "45 NumOutputs(node) != 1 (0 != 1)"),
    ([None], [FLOATS], "51 input != nullptr was not true."),
    ([((1,) * 5, T.FLOAT32)], [FLOATS], "55 NumDimensions(input) <= 4 was not true."),
    ([FLOATS], [((2, 8), T.INT16)], "57 output->type == kTfLiteFloat32 || output->type == kTfLiteInt8 was not true."),
    ([FLOATS], [INT8], "59 input->type != output->type (FLOAT32 != INT8)"),
])  # fmt: skip
def test_refusals(kernel, inputs, outputs, message):
    assert kernel("L2_NORMALIZATION", inputs, outputs).refusal() == PLACE + message


def test_a_fused_activation_is_refused(kernel):
    bench = kernel("L2_NORMALIZATION", [FLOATS], [FLOATS], options={"fused_activation_function": "RELU6"})
    assert bench.refusal() == PLACE + "68 params->activation != kTfLiteActNone (3 != 0)"


def test_an_unknown_activation_counts_as_none(kernel):
    kernel("L2_NORMALIZATION", [FLOATS], [FLOATS], options={"fused_activation_function": 77}).prepare()


def test_missing_memory(kernel):
    assert kernel("L2_NORMALIZATION", [FLOATS], [FLOATS], refuse="temp 1").refusal() == (
        PLACE + "54 output != nullptr was not true."
    )
    assert "node->user_data" in kernel("L2_NORMALIZATION", [FLOATS], [FLOATS], refuse="persistent").refusal()
