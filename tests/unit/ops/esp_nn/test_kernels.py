"""What esp-tflite-micro's ESP-NN kernels ask for, request by request."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

PLACE = "tensorflow/lite/micro/kernels/esp_nn/"
IN, OUT = ((1, 8, 8, 16), T.INT8, {"scale": 0.5}), ((1, 8, 8, 6), T.INT8, {"scale": 0.5})
KERNEL = ((6, 3, 3, 16), T.INT8, {"scale": 0.1})
DEPTHWISE = ((1, 3, 3, 16), T.INT8, {"scale": 0.1, "quantized_dimension": 3})
SAME = {"padding": 0, "stride_w": 1, "stride_h": 1}
ARRAYS = ["persistent 24 per_channel_output_multiplier", "persistent 24 per_channel_output_shift"]


def of(kernel, op, inputs, outputs, *, target="esp32-s3", kernels="esp_nn@1.1.2", **arguments):
    return kernel(op, inputs, outputs, target=target, kernels=kernels, **arguments)


def test_conv_is_the_reference_kernel_with_scratch_at_the_end(kernel):
    bench = of(kernel, "CONV_2D", [IN, KERNEL], [OUT], options=SAME)
    # OpDataConv (56) and a buffer index.
    assert bench.init() == ["persistent 60 esp_nn/conv.NodeData"]
    inner = ["temp 0", "temp 1", "temp 2", "free 2", "free 0", "free 1"]
    # Padded input 10 * 10 * 16, filter 9 * 16 * 6, sums 4 * 6, alignment 32.
    scratch = ["scratch 2520 esp_nn"]
    assert bench.prepare() == ["temp 2", "temp 0", "temp 1", *ARRAYS, *inner, *scratch, "free 2", "free 0", "free 1"]


@pytest.mark.parametrize(("version", "init", "takes"), [
    ("1.2.0", "persistent 60 esp_nn/conv.NodeData", ["temp 0", "temp 1", "temp 2"]),
    # A NodeData has four bytes more than the OpDataConv that is allocated for it.
    ("1.3.0", "persistent 56 OpDataConv", ["temp 2", "temp 0", "temp 1"]),
    ("1.3.5", "persistent 60 esp_nn/conv.NodeData", ["temp 2", "temp 0", "temp 1"]),
])  # fmt: skip
def test_conv_by_release(kernel, version, init, takes):
    bench = of(kernel, "CONV_2D", [IN, KERNEL], [OUT], options=SAME, runtime=f"esp-tflite-micro@{version}")
    assert bench.init() == [init]
    assert bench.prepare()[:3] == takes


@pytest.mark.parametrize(("version", "size"), [
    # Two groups of 8 channels: rows of 32 in a filter for 3 results, 10 * 10 * 8 of the padded image, 3 sums, a margin;
    # the group's image and results, a margin.
    ("1.3.7", 32 * 3 * 3 + 10 * 10 * 8 + 12 + 64 + 8 * 8 * 8 + 8 * 8 * 3 + 64),
    # The filter's channels are not given: rows of 48 in a filter for 6 results.
    ("1.3.5", 48 * 3 * 6 + 10 * 10 * 16 + 24 + 64),
])  # fmt: skip
def test_groups_are_seen_where_the_filters_channels_are_given(kernel, version, size):
    grouped = ((6, 3, 3, 8), T.INT8, {"scale": 0.1})
    runtime = f"esp-tflite-micro@{version}"
    bench = of(kernel, "CONV_2D", [IN, grouped], [OUT], options=SAME, kernels="esp_nn@25cae54", runtime=runtime)
    assert f"scratch {size} esp_nn" in bench.prepare()


@pytest.mark.parametrize(("version", "takes"), [
    ("1.2.0", ["temp 0", "temp 1", "temp 2", "temp 3"]),
    ("1.3.0", ["temp 0", "temp 1", "temp 3", "persistent 64 per_channel_output_multiplier"]),
    ("1.3.1", ["temp 3", "temp 0", "temp 1", "persistent 64 per_channel_output_multiplier"]),
])  # fmt: skip
def test_depthwise_conv_by_release(kernel, version, takes):
    bias, result = ((16,), T.INT32, {"scale": 0.05}), ((1, 8, 8, 16), T.INT8, {"scale": 0.5})
    options = SAME | {"depth_multiplier": 1}
    runtime = f"esp-tflite-micro@{version}"
    bench = of(kernel, "DEPTHWISE_CONV_2D", [IN, DEPTHWISE, bias], [result], options=options, runtime=runtime)
    assert bench.prepare()[:4] == takes


@pytest.mark.parametrize(("version", "message"), [
    ("1.3.0", f"{PLACE}fully_connected.cc Hybrid models are not supported on TFLite Micro."),
    ("1.3.1", "Input type: INT8 with filter type : INT16 not supported."),
])  # fmt: skip
def test_fully_connected_refuses_types_by_release(kernel, version, message):
    layer = [((2, 16), T.INT8, {"scale": 0.5}), ((8, 16), T.INT16, {"scale": 0.1})]
    result = ((2, 8), T.INT8, {"scale": 0.5})
    bench = of(kernel, "FULLY_CONNECTED", layer, [result], runtime=f"esp-tflite-micro@{version}")
    assert bench.refusal() == message


@pytest.mark.parametrize(("target", "kernels"), [("esp32", "esp_nn"), ("esp32-s3", "esp_nn_ansi")])
def test_conv_in_plain_c_has_no_scratch(kernel, target, kernels):
    lines = of(kernel, "CONV_2D", [IN, KERNEL], [OUT], options=SAME, target=target, kernels=kernels).prepare()
    assert not [line for line in lines if line.startswith("scratch")]


def test_conv_on_the_p4_divides_by_the_width_of_its_window(kernel):
    inputs = [((1, 8, 8, 2), T.INT8, {"scale": 0.5}), ((6, 2, 0, 2), T.INT8, {"scale": 0.1})]
    bench = of(kernel, "CONV_2D", inputs, [OUT], target="esp32-p4", kernels="esp_nn@1.2.7", options=SAME)
    assert "conv.cc: esp_nn_get_conv_scratch_size() divides by 0" in bench.refusal()


def test_depthwise_conv_reads_its_multiplier(kernel):
    result = ((1, 8, 8, 16), T.INT8, {"scale": 0.5})
    options = SAME | {"depth_multiplier": 1}
    bench = of(kernel, "DEPTHWISE_CONV_2D", [IN, DEPTHWISE], [result], options=options)
    assert "scratch 1760 esp_nn" in bench.prepare()  # 9 * 16, 10 * 10 * 16, 16


@pytest.mark.parametrize(
    ("window", "options", "message"),
    [
        ((3, 3, 16), {}, "185 filter->dims->size != 4 (3 != 4)"),
        ((2, 3, 3, 16), {}, "191 filter->dims->data[0] != 1 (2 != 1)"),
        ((1, 3, 3, 20), {}, "197 num_filter_channels % num_input_channels != 0 (4 != 0)"),
        ((1, 3, 3, 16), {"dilation_w_factor": 0}, "188 params.dilation_width_factor > 0 was not true."),
    ],
)
def test_depthwise_conv_refuses(kernel, window, options, message):
    bench = of(kernel, "DEPTHWISE_CONV_2D", [IN, (window, T.INT8)], [IN], options=SAME | options)
    assert bench.refusal() == f"{PLACE}depthwise_conv.cc:{message}"


def test_softmax_takes_the_second_dimension_for_its_width(kernel):
    source = ((1, 10), T.INT8, {"scale": 0.5})
    result = ((1, 10), T.INT8, {"scale": 1 / 256, "zero_point": -128})
    bench = of(kernel, "SOFTMAX", [source], [result], options={"beta": 1.0})
    # SoftmaxParams: 56; a buffer index, and padding to the alignment of its double.
    assert bench.init() == ["persistent 64 esp_nn/softmax.NodeData"]
    assert bench.prepare() == ["temp 0", "temp 1", "scratch 40 esp_nn", "free 0", "free 1"]


def test_fully_connected_says_it_a_little_differently(kernel):
    inputs = [((1, 4), T.INT8, {"scale": 0.5}), ((3, 4), T.INT16, {"scale": 0.1})]
    bench = of(kernel, "FULLY_CONNECTED", inputs, [((1, 3), T.INT8, {"scale": 0.5})])
    assert bench.refusal() == "Input type: INT8 with filter type : INT16 not supported."


def test_esp_tflite_micro_1_3_3_reduces_without_an_iterator(kernel):
    inputs = [((1, 4, 4, 2), T.INT8, {"scale": 0.5}), ((2,), T.INT32)]
    result = ((1, 2), T.INT8, {"scale": 0.5})
    scratch = {
        target: [line for line in of(kernel, "MEAN", inputs, [result], target=target).prepare() if "scratch" in line]
        for target in ("esp32-s3", "esp32-s3-esphome")
    }
    assert scratch["esp32-s3-esphome"] == ["scratch 8 accumulator"]
    assert scratch["esp32-s3"] == ["scratch 8 accumulator", "scratch 16 input_iter", "scratch 8 resolved_axis"]


def test_esp_tflite_micro_1_3_3_took_too_little_op_data(kernel):
    bench = of(kernel, "CONV_2D", [IN, KERNEL], [OUT], options=SAME, target="esp32-s3-esphome")
    assert bench.init() == ["persistent 56 OpDataConv"]
    assert "scratch 2520 esp_nn" in bench.prepare()


def test_esp_tflite_micro_1_3_3_writes_past_the_op_data_of_a_convolution(kernel):
    bench = of(kernel, "CONV_2D", [IN, KERNEL], [OUT], target="esp32-s3-esphome", kernels="esp_nn@1.2.1")
    assert bench.init() == ["persistent 56 OpDataConv"]
    # The bench answers 0: the op data lie at 0, their end is 56, and the scratch buffer is the first.
    assert [line for line in bench.prepare() if line.startswith("overrun")] == ["overrun 56 0 OpDataConv"]
    assert not [line for line in of(kernel, "CONV_2D", [IN, KERNEL], [OUT]).prepare() if line.startswith("overrun")]
