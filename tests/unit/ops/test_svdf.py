"""SVDF: 8 filters of rank 2 on 16 inputs, a memory of 10."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
RANK = {"rank": 2}
# input [batch, input], weights_feature [filters, input], weights_time [filters, memory], bias [units],
# activation_state [batch, memory * filters], output [batch, units].
SHAPES = ((1, 16), (8, 16), (8, 10), (4,), (1, 80))
OUTPUT_SHAPE = (1, 4)
FLOATS = [(shape, T.FLOAT32) for shape in SHAPES[:4]] + [(SHAPES[4], T.FLOAT32, {"is_variable": True})]
FLOAT_OUT = (OUTPUT_SHAPE, T.FLOAT32)
TYPES = (T.INT8, T.INT8, T.INT16, T.INT32, T.INT16)
# The bias scale is activation_state * weights_time: 0.1 * 0.1.
INT8S = [
    (shape, type_, {"scale": 0.01 if i == 3 else 0.1, "is_variable": i == 4})
    for i, (shape, type_) in enumerate(zip(SHAPES, TYPES, strict=True))
]
INT8_OUT = (OUTPUT_SHAPE, T.INT8, {"scale": 0.1})
TEMPS = [f"temp {i}" for i in range(6)]
FREES = ["free 0", "free 1", "free 2", "free 4", "free 5", "free 3"]


def changed(inputs, position, shape=None, type_=None, **arguments):
    """Return the inputs with another shape, type or builder argument for one of them."""
    old_shape, old_type, *old = inputs[position]
    new = (shape or old_shape, type_ if type_ is not None else old_type, {**(old[0] if old else {}), **arguments})
    return [*inputs[:position], new, *inputs[position + 1 :]]


def test_init_takes_op_data(kernel):
    assert kernel("SVDF", FLOATS, [FLOAT_OUT]).init() == ["persistent 36 OpDataSvdf"]


def test_float_takes_one_scratch(kernel):
    # 1 batch * 8 filters * 4 bytes.
    assert kernel("SVDF", FLOATS, [FLOAT_OUT], options=RANK).prepare() == [*TEMPS, "scratch 32 scratch", *FREES]


def test_int8_takes_scratch_for_its_output_too(kernel):
    # 1 batch * 4 units * 4 bytes.
    expected = [*TEMPS, "scratch 32 scratch", "scratch 16 scratch_output", *FREES]
    assert kernel("SVDF", INT8S, [INT8_OUT], options=RANK).prepare() == expected
    int8_state = changed(changed(INT8S, 2, type_=T.INT8), 4, type_=T.INT8)
    assert kernel("SVDF", int8_state, [INT8_OUT], options=RANK).prepare() == expected


def test_the_bias_is_optional_in_name_only(kernel):
    without = [*FLOATS[:3], None, FLOATS[4]]
    assert "svdf_common.cc: bias is a null pointer" in kernel("SVDF", without, [FLOAT_OUT], options=RANK).refusal()
    without = [*INT8S[:3], None, INT8S[4]]
    assert "svdf_common.cc: bias is a null pointer" in kernel("SVDF", without, [INT8_OUT], options=RANK).refusal()


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([None, *FLOATS[1:]], [FLOAT_OUT], ":379 input != nullptr was not true."),
    ([FLOATS[0], None, *FLOATS[2:]], [FLOAT_OUT], ":382 weights_feature != nullptr was not true."),
    ([*FLOATS[:2], None, *FLOATS[3:]], [FLOAT_OUT], ":385 weights_time != nullptr was not true."),
    (FLOATS[:4], [FLOAT_OUT], ":390 activation_state != nullptr was not true."),
    (changed(FLOATS, 1, (7, 16)), [FLOAT_OUT], ":397 num_filters % rank != 0 (1 != 0)"),
    (changed(FLOATS, 0, type_=T.INT16), [FLOAT_OUT],
     ":402 input->type == kTfLiteFloat32 || input->type == kTfLiteInt8 was not true."),
    (changed(FLOATS, 0, (1, 16, 1)), [FLOAT_OUT], ":404 NumDimensions(input) != 2 (3 != 2)"),
    (FLOATS, [FLOAT_OUT, FLOAT_OUT], ":408 node->outputs->size != 1 (2 != 1)"),
    (FLOATS, [((4,), T.FLOAT32)], ":412 NumDimensions(output) != 2 (1 != 2)"),
    (FLOATS, [((2, 4), T.FLOAT32)], ":413 output->dims->data[0] != batch_size (2 != 1)"),
    (FLOATS, [((1, 5), T.FLOAT32)], ":414 output->dims->data[1] != num_units (5 != 4)"),
    (changed(FLOATS, 1, (8,)), [FLOAT_OUT], ":417 NumDimensions(weights_feature) != 2 (1 != 2)"),
    (changed(FLOATS, 1, (8, 3)), [FLOAT_OUT], ":418 weights_feature->dims->data[1] != input_size (3 != 16)"),
    (changed(FLOATS, 2, (8, 10, 1)), [FLOAT_OUT], ":421 NumDimensions(weights_time) != 2 (3 != 2)"),
    (changed(FLOATS, 2, (9, 10)), [FLOAT_OUT], ":422 weights_time->dims->data[0] != num_filters (9 != 8)"),
    (changed(FLOATS, 3, (5,)), [FLOAT_OUT], ":427 bias->dims->data[0] != num_units (5 != 4)"),
    (changed(FLOATS, 4, (80,)), [FLOAT_OUT], ":431 NumDimensions(activation_state) != 2 (1 != 2)"),
    (changed(FLOATS, 4, (2, 80)), [FLOAT_OUT], ":432 activation_state->dims->data[0] != batch_size (2 != 1)"),
    (changed(FLOATS, 4, (1, 81)), [FLOAT_OUT],
     ":433 activation_state->dims->data[1] != memory_size * num_filters (81 != 80)"),
    (changed(FLOATS, 4, is_variable=False), [FLOAT_OUT], ":436 activation_state->is_variable != true (0 != 1)"),
    ([*FLOATS, FLOATS[0]], [FLOAT_OUT], ":438 node->inputs->size != 5 (6 != 5)"),
    # The numbers are TfLiteType's: 1 float32, 2 int32, 3 uint8, 7 int16, 9 int8.
    (changed(INT8S, 1, type_=T.UINT8), [INT8_OUT], ":444 weights_feature->type != kTfLiteInt8 (3 != 9)"),
    (changed(INT8S, 2, type_=T.INT32), [INT8_OUT],
     ":445 (weights_time->type == kTfLiteInt16) || (weights_time->type == kTfLiteInt8) was not true."),
    (changed(INT8S, 4, type_=T.INT32), [INT8_OUT],
     ":447 (activation_state->type == kTfLiteInt16) || (activation_state->type == kTfLiteInt8) was not true."),
    (changed(INT8S, 3, type_=T.INT16), [INT8_OUT], ":450 bias->type != kTfLiteInt32 (7 != 2)"),
    (INT8S, [FLOAT_OUT], ":453 output->type != kTfLiteInt8 (FLOAT32 != INT8)"),
    (changed(INT8S, 3, scale=0.02), [INT8_OUT],
     ":464 std::abs(static_cast<double>(bias->params.scale) - static_cast<double>(activation_state->params.scale * "
     "weights_time->params.scale)) < 1e-5 was not true."),
    (changed(FLOATS, 1, type_=T.INT8), [FLOAT_OUT], ":492 weights_feature->type != kTfLiteFloat32 (9 != 1)"),
    (changed(FLOATS, 2, type_=T.INT8), [FLOAT_OUT], ":493 weights_time->type != kTfLiteFloat32 (9 != 1)"),
    (changed(FLOATS, 4, type_=T.INT8), [FLOAT_OUT], ":494 activation_state->type != kTfLiteFloat32 (9 != 1)"),
    (changed(FLOATS, 3, type_=T.INT8), [FLOAT_OUT], ":496 bias->type != kTfLiteFloat32 (9 != 1)"),
    (FLOATS, [INT8_OUT], ":498 output->type != kTfLiteFloat32 (INT8 != FLOAT32)"),
])  # fmt: skip
def test_refusals(kernel, inputs, outputs, message):
    assert kernel("SVDF", inputs, outputs, options=RANK).refusal() == KERNELS + "svdf_common.cc" + message


def test_a_missing_output_is_refused(kernel):
    refused = kernel("SVDF", FLOATS, [FLOAT_OUT], options=RANK, refuse="temp 5").refusal()
    assert refused == KERNELS + "svdf_common.cc:411 output != nullptr was not true."


@pytest.mark.parametrize("inputs", [
    changed(FLOATS, 0, (16,)), changed(FLOATS, 2, (8,)), [FLOATS[0], ((), T.FLOAT32), *FLOATS[2:]],
    [*FLOATS[:3], ((), T.FLOAT32), FLOATS[4]],
])  # fmt: skip
def test_a_read_past_the_rank_halts(kernel, inputs):
    assert "dims->data[" in kernel("SVDF", inputs, [FLOAT_OUT], options=RANK).refusal()


def test_a_rank_of_zero_halts(kernel):
    for options in ({"rank": 0}, None):
        assert "svdf_common.cc: a divisor" in kernel("SVDF", FLOATS, [FLOAT_OUT], options=options).refusal()
