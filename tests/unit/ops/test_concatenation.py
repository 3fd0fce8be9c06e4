"""CONCATENATION. With inputs a, b the output is tensor 2; the first input is taken twice."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
TWO_INPUTS = ["temp 0", "temp 2", "free 0", "temp 0", "free 0", "temp 1", "free 1", "free 2"]


def _rows(type_, count=1, **quantization):
    return ((count, 4), type_, quantization)


@pytest.mark.parametrize("type_", [T.FLOAT32, T.INT8, T.INT16, T.INT32, T.INT64, T.BOOL])
def test_the_inputs_are_looked_at_one_by_one(kernel, type_):
    bench = kernel("CONCATENATION", [_rows(type_), _rows(type_, 2)], [_rows(type_, 3)])
    # ConcatenationParams: int32, two pointers, two int32, float.
    assert bench.init() == ["persistent 24 concatenation.OpData"]
    assert bench.prepare() == TWO_INPUTS


def test_compressed_inputs_get_scratch_for_their_plain_data(kernel):
    bench = kernel(
        "CONCATENATION",
        [_rows(T.INT16), _rows(T.INT16, 2)],
        [_rows(T.INT16, 3)],
        target="x86_64-compression",
        compressed=[1],
    )
    # 40 bytes of ConcatenationParams and ten scratch indices of 4.
    assert bench.init() == ["persistent 80 concatenation.OpData"]
    # 2 x 4 elements of 2 bytes, between the take and the free of the second input.
    assert bench.prepare() == [*TWO_INPUTS[:6], "scratch 16 decompressed", *TWO_INPUTS[6:]]


def test_an_input_may_be_there_ten_times_but_not_eleven(kernel):
    ten = kernel("CONCATENATION", [_rows(T.INT8)] * 10, [_rows(T.INT8, 10)])
    assert len(ten.prepare()) == 3 + 2 * 10 + 1
    eleven = kernel("CONCATENATION", [_rows(T.INT8)] * 11, [_rows(T.INT8, 11)])
    assert eleven.refusal() == KERNELS + "concatenation.cc:158 num_inputs <= kMaxInputNum was not true."


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([None], _rows(T.INT8), "concatenation.cc:137 input_tensor != nullptr was not true."),
    ([_rows(T.UINT8)], _rows(T.UINT8),
     "concatenation.cc:148 input_type == kTfLiteFloat32 || input_type == kTfLiteInt8 || input_type == kTfLiteInt16 || "
     "input_type == kTfLiteInt32 || input_type == kTfLiteInt64 || input_type == kTfLiteBool was not true."),
    ([_rows(T.INT8)], _rows(T.INT16), "concatenation.cc:154 output_type != input_type (INT16 != INT8)"),
    ([_rows(T.INT8), None], _rows(T.INT8), "concatenation.cc:168 input != nullptr was not true."),
    ([_rows(T.INT8), _rows(T.INT16)], _rows(T.INT8), "concatenation.cc:169 input->type != input_type (INT16 != INT8)"),
    ([_rows(T.INT8, scale=1.0, zero_point=3)], _rows(T.INT8, scale=1.0),
     "concatenation.cc:185 input->params.zero_point != output_tensor->params.zero_point (3 != 0)"),
    ([_rows(T.INT16, scale=1.0, zero_point=3)], _rows(T.INT16),
     "concatenation.cc:189 input->params.zero_point != 0 (3 != 0)"),
    ([_rows(T.INT16)], _rows(T.INT16, scale=1.0, zero_point=-7),
     "concatenation.cc:205 output_tensor->params.zero_point != 0 (-7 != 0)"),
])  # fmt: skip
def test_refusals(kernel, inputs, output, message):
    assert kernel("CONCATENATION", inputs, [output]).refusal() == KERNELS + message


def test_seven_dimensions_are_too_many(kernel):
    seven = ((1,) * 7, T.INT8)
    assert kernel("CONCATENATION", [seven], [seven]).refusal() == (
        "Op Concatenation does not currently support num dimensions > 6 Tensor has 7 dimensions."
    )


@pytest.mark.parametrize(("options", "number"), [("RELU", 1), ("RELU6", 3), ("SIGN_BIT", 5)])
def test_a_fused_activation_is_refused(kernel, options, number):
    bench = kernel("CONCATENATION", [_rows(T.INT8)], [_rows(T.INT8)], options={"fused_activation_function": options})
    assert bench.refusal() == (f"{KERNELS}concatenation.cc:147 params->activation != kTfLiteActNone ({number} != 0)")


def test_options_of_another_operator_are_not_read(kernel):
    options = {"fused_activation_function": "RELU"}
    bench = kernel("CONCATENATION", [_rows(T.INT8)], [_rows(T.INT8)], options=options, options_type="AddOptions")
    assert bench.prepare() == ["temp 0", "temp 1", "free 0", "temp 0", "free 0", "free 1"]


@pytest.mark.parametrize(("target", "shown"), [
    # 0.1f as a double is 0x3FB99999A0000000: %d prints its lower, then its upper half.
    ("cortex-m4", "-1610612736 != 1069128089"),
    ("x86_64", "? != ?"),
])  # fmt: skip
def test_scales_that_differ_are_printed_as_integers(kernel, target, shown):
    tenth = 0.100000001490116119384765625
    bench = kernel("CONCATENATION", [_rows(T.INT8, scale=tenth)], [_rows(T.INT8, scale=0.5)], target=target)
    assert bench.refusal() == (
        f"{KERNELS}concatenation.cc:183 static_cast<double>(input->params.scale) != "
        f"static_cast<double>(output_tensor->params.scale) ({shown})"
    )
