"""AVERAGE_POOL_2D and MAX_POOL_2D, which look at scales; L2_POOL_2D, which writes the output's shape."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]
FLOAT_IN, FLOAT_OUT = ((1, 9, 8, 4), T.FLOAT32), ((1, 4, 4, 4), T.FLOAT32)
INT8_IN, INT8_OUT = ((1, 9, 8, 4), T.INT8, {"scale": 0.5}), ((1, 4, 4, 4), T.INT8, {"scale": 0.5})
TWO_BY_TWO = {"stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
POOLS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")


@pytest.mark.parametrize("op", POOLS)
def test_a_pool_takes_op_data_and_frees_both_tensors(kernel, op):
    bench = kernel(op, [INT8_IN], [INT8_OUT])
    # 4 paddings and 4 activation limits of 4 bytes.
    assert bench.init() == ["persistent 32 OpDataPooling"]
    assert bench.prepare() == IN_OUT
    assert kernel(op, [FLOAT_IN], [FLOAT_OUT]).prepare() == IN_OUT


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [INT8_OUT], "pooling_common.cc:61 input != nullptr was not true."),
    ([INT8_IN], [], "pooling_common.cc:64 output != nullptr was not true."),
    ([INT8_IN], [((1, 4, 4, 4), T.INT8, {"scale": 0.25})], "pooling_common.cc:73 scale_diff <= 1.0e-6 was not true."),
    ([INT8_IN], [((1, 4, 4, 4), T.INT8, {"scale": 0.5, "zero_point": 1})],
     "pooling_common.cc:74 input->params.zero_point == output->params.zero_point was not true."),
])  # fmt: skip
def test_pool_refusals(kernel, inputs, outputs, message):
    assert kernel("MAX_POOL_2D", inputs, outputs).refusal() == KERNELS + message


def test_other_types_are_refused(kernel):
    # kTfLiteUInt8 is 3.
    bench = kernel("AVERAGE_POOL_2D", [((1, 9, 8, 4), T.UINT8)], [((1, 4, 4, 4), T.UINT8)])
    assert bench.refusal() == "Type UINT8 (3) not supported."


def test_an_activation_range_that_cannot_be_is_only_printed(kernel):
    printed = "log tensorflow/lite/kernels/kernel_util.cc:405 false was not true."
    bench = kernel("MAX_POOL_2D", [INT8_IN], [((1, 4, 4, 4), T.FLOAT32, {"scale": 0.5})])
    assert bench.prepare() == ["temp 0", "temp 1", printed, "free 0", "free 1"]


def test_a_rank_below_3_halts(kernel):
    assert "dims->data[2]" in kernel("MAX_POOL_2D", [((9, 8), T.FLOAT32)], [FLOAT_OUT]).refusal()


def test_without_memory_for_op_data_a_pool_halts(kernel):
    assert "node->user_data != nullptr" in kernel("MAX_POOL_2D", [INT8_IN], [INT8_OUT], refuse="persistent").refusal()


@pytest.mark.parametrize(("options", "height", "width"), [
    # SAME: ceil(9 / 2), ceil(8 / 2). VALID: (9 + 2 - 2) // 2, (8 + 2 - 2) // 2.
    ({"padding": "SAME", **TWO_BY_TWO}, 5, 4),
    ({"padding": "VALID", **TWO_BY_TWO}, 4, 4),
    # A window larger than the image: (9 + 1 - 20) / 1 is negative, and the width is refused first.
    ({"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": 20, "filter_width": 2}, 0, 7),
    ({"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 20}, 0, 0),
    ({"padding": 7, **TWO_BY_TWO}, 0, 0),
    ({**TWO_BY_TWO, "stride_w": 0}, 0, 0),
    (None, 0, 0),
])  # fmt: skip
def test_l2_pool_writes_the_windowed_shape_into_persistent_dims(kernel, options, height, width):
    bench = kernel("L2_POOL_2D", [FLOAT_IN], [FLOAT_OUT], options=options)
    assert bench.model.init is None
    # A length and four dimensions of 4 bytes.
    expected = ["temp 1", "temp 0", "persistent 20 dims", f"shape 1 (1, {height}, {width}, 4)", "free 1", "free 0"]
    assert bench.prepare() == expected


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([FLOAT_IN, FLOAT_IN], [FLOAT_OUT], "l2_pool_2d.cc:44 NumInputs(node) != 1 (2 != 1)"),
    ([FLOAT_IN], [], "l2_pool_2d.cc:45 NumOutputs(node) != 1 (0 != 1)"),
    ([None], [FLOAT_OUT], "l2_pool_2d.cc:51 input != nullptr was not true."),
    ([((9, 8), T.FLOAT32)], [FLOAT_OUT], "l2_pool_2d.cc:52 NumDimensions(input) != kTensorShapeRank (2 != 4)"),
    ([FLOAT_IN], [((9,), T.FLOAT32)], "l2_pool_2d.cc:53 NumDimensions(output) != kTensorShapeRank (1 != 4)"),
    ([FLOAT_IN], [INT8_OUT], "l2_pool_2d.cc:54 input->type != output->type (FLOAT32 != INT8)"),
    ([INT8_IN], [INT8_OUT], "l2_pool_2d.cc:71 input->type != kTfLiteFloat32 (INT8 != FLOAT32)"),
])  # fmt: skip
def test_l2_pool_refusals(kernel, inputs, outputs, message):
    assert kernel("L2_POOL_2D", inputs, outputs).refusal() == KERNELS + message
