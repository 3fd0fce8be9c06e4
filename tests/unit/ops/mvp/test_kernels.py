"""What the MVP's kernels ask for, request by request; tests/golden compares them with real runs."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.model.types import TensorType as T

FOLDER = "util/third_party/tensorflow_extra/siliconlabs/"
IN, OUT = ((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((1, 8, 8, 6), T.INT8, {"scale": 0.5})
KERNEL = ((6, 3, 3, 4), T.INT8, {"scale": 0.1})
BIAS = ((6,), T.INT32, {"scale": 0.05, "data": bytes(24)})
SAME = {"padding": 0, "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}


def of(kernel: Any, op: str, inputs: Any, outputs: Any, **arguments: Any) -> Any:
    return kernel(op, inputs, outputs, target="cortex-m33", kernels="mvp", runtime="silabs-gsdk@4.4.1", **arguments)


def test_a_convolution_on_the_mvp_keeps_two_numbers_of_16_bits_a_channel(kernel: Any) -> None:
    bench = of(kernel, "CONV_2D", [IN, KERNEL, BIAS], [OUT], options=SAME)
    # An enum of a byte, two floats, an index: 16; 24 ints and pointers and a bool: 27 * 4 - 4 = 104; two pointers.
    assert bench.init() == ["persistent 128 siliconlabs/conv.OpData"]
    temps, frees = ["temp 3", "temp 2", "temp 0", "temp 1"], ["free 0", "free 1", "free 3", "free 2"]
    assert bench.prepare() == [*temps, "persistent 12 bias", "persistent 12 output_scaler", *frees]


def test_a_convolution_that_the_mvp_does_not_take_is_cmsis_nns(kernel: Any) -> None:
    lines = of(kernel, "CONV_2D", [IN, KERNEL, BIAS], [OUT], options={**SAME, "dilation_w_factor": 2}).prepare()
    # Two columns of 3 * 3 * 4 int16.
    assert lines[4:7] == [
        "persistent 24 per_channel_output_multiplier",
        "persistent 24 per_channel_output_shift",
        "scratch 144 convolve_wrapper_s8",
    ]


def test_a_float_convolution_keeps_its_op_data_only(kernel: Any) -> None:
    inputs = [((1, 8, 8, 4), T.FLOAT32), ((6, 3, 3, 4), T.FLOAT32)]
    lines = of(kernel, "CONV_2D", inputs, [((1, 8, 8, 6), T.FLOAT32)], options=SAME).prepare()
    assert lines == ["temp 2", "temp 0", "temp 1", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([((1, 8, 8, 4), T.INT16), KERNEL], "Type INT16 not currently supported."),
        ([None, KERNEL], FOLDER + "conv.cc:118 input != nullptr was not true."),
        ([IN, None], FOLDER + "conv.cc:120 filter != nullptr was not true."),
        (
            [IN, KERNEL, ((6,), T.INT32)],
            f"halts: {FOLDER}conv.cc: the bias is no constant, and is read before there is data; what the device does "
            "is undefined",
        ),
        (
            [((8, 8, 4), T.INT8), KERNEL],
            f"halts: {FOLDER}conv.cc: dims->data[3] of a tensor of rank 3 does not hold, the device halts",
        ),
    ],
)
def test_a_convolution_refuses(kernel: Any, inputs: Any, message: str) -> None:
    assert of(kernel, "CONV_2D", inputs, [OUT], options=SAME).refusal() == message


def test_a_depthwise_convolution_has_no_scratch_pointer_in_its_parameters(kernel: Any) -> None:
    inputs = [IN, ((1, 3, 3, 4), T.INT8, {"scale": 0.1})]
    bench = of(kernel, "DEPTHWISE_CONV_2D", inputs, [IN], options=SAME)
    assert bench.init() == ["persistent 124 siliconlabs/depthwise_conv.OpData"]
    assert bench.prepare()[3:5] == ["persistent 8 bias", "persistent 8 output_scaler"]


@pytest.mark.parametrize(("channels", "scratch"), [(6, 2), (600, 4)])
def test_a_transposed_convolution_sums_in_16_bits_on_the_mvp_and_in_32_else(
    kernel: Any, channels: int, scratch: int
) -> None:
    # 600 channels in rows of 8: strides of 4,800.
    output = ((1, 8, 8, channels), T.INT8, {"scale": 0.5})
    inputs = [((4,), T.INT32), ((channels, 3, 3, 4), T.INT8, {"scale": 0.1}), IN]
    lines = of(
        kernel, "TRANSPOSE_CONV", inputs, [output], options={"padding": 0, "stride_w": 1, "stride_h": 1}
    ).prepare()
    assert f"scratch {64 * channels * scratch} accumulator" in lines


POOL = {"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}


def test_a_pooling_takes_its_tensors_twice(kernel: Any) -> None:
    pooled = ((1, 4, 4, 4), T.INT8, {"scale": 0.5})
    bench = of(kernel, "AVERAGE_POOL_2D", [IN], [pooled], options=POOL)
    assert bench.init() == ["persistent 84 siliconlabs/pooling.OpData"]
    temps = ["temp 0", "temp 1"]
    assert bench.prepare() == [*temps, *temps, "free 0", "free 1", "free 0", "free 1"]


def test_an_average_that_the_mvp_does_not_take_has_cmsis_nns_sums(kernel: Any) -> None:
    # 1,100 columns are more than a dimension; 550 / 2 columns and channels of int32.
    inputs = [((1, 8, 1100, 5), T.INT8, {"scale": 0.5})]
    outputs = [((1, 4, 550, 5), T.INT8, {"scale": 0.5})]
    assert "scratch 20 avgpool" in of(kernel, "AVERAGE_POOL_2D", inputs, outputs, options=POOL).prepare()
    assert not [
        line for line in of(kernel, "MAX_POOL_2D", inputs, outputs, options=POOL).prepare() if "scratch" in line
    ]


def test_a_pooling_halts_where_the_file_says_another_shape(kernel: Any) -> None:
    output = ((1, 4, 5, 4), T.INT8, {"scale": 0.5})
    message = f"halts: {FOLDER}pooling.cc:75: out_width == data->op_params.output_width does not hold, the device halts"
    assert of(kernel, "MAX_POOL_2D", [IN], [output], options=POOL).refusal() == message


def test_a_fully_connected_layer_keeps_a_bias_of_16_bits(kernel: Any) -> None:
    inputs = [((1, 256), T.INT8, {"scale": 0.5}), ((6, 256), T.INT8, {"scale": 0.1}), BIAS]
    bench = of(kernel, "FULLY_CONNECTED", inputs, [((1, 6), T.INT8, {"scale": 0.5})])
    assert bench.init() == ["persistent 100 siliconlabs/fully_connected.OpData"]
    temps = ["temp 0", "temp 1", "temp 2", "temp 3"]
    assert bench.prepare() == [*temps, "persistent 12 bias", "free 0", "free 1", "free 2", "free 3"]


def test_a_fully_connected_layer_without_a_bias_keeps_nothing(kernel: Any) -> None:
    inputs = [((1, 256), T.INT8, {"scale": 0.5}), ((6, 256), T.INT8, {"scale": 0.1})]
    lines = of(kernel, "FULLY_CONNECTED", inputs, [((1, 6), T.INT8, {"scale": 0.5})]).prepare()
    assert not [line for line in lines if line.startswith("persistent")]


def test_a_fully_connected_layer_of_int16_is_refused_silently(kernel: Any) -> None:
    inputs = [((1, 256), T.INT16), ((6, 256), T.INT8)]
    assert of(kernel, "FULLY_CONNECTED", inputs, [((1, 6), T.INT16)]).refusal() == ""


@pytest.mark.parametrize(("op", "size", "struct"), [("ADD", 84, "add.OpData"), ("MUL", 72, "mul.SlOpDataMul")])
def test_elementwise_operators_keep_the_parameters_of_both_ways(kernel: Any, op: str, size: int, struct: str) -> None:
    bench = of(kernel, op, [IN, IN], [IN])
    assert bench.init() == [f"persistent {size} siliconlabs/{struct}"]
    assert [line for line in bench.prepare() if not line.startswith(("temp", "free"))] == []


def test_a_product_takes_its_tensors_twice(kernel: Any) -> None:
    temps, frees = ["temp 0", "temp 1", "temp 2"], ["free 0", "free 1", "free 2"]
    assert of(kernel, "MUL", [IN, IN], [IN]).prepare() == [*temps, *frees, *temps, *frees]
