"""What TFLM's CMSIS-NN kernels ask for, request by request; tests/golden compares them with real traces."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

PLACE = "tensorflow/lite/micro/kernels/cmsis_nn/"
IN, OUT = ((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((1, 8, 8, 6), T.INT8, {"scale": 0.5})
KERNEL = ((6, 3, 3, 4), T.INT8, {"scale": 0.1})
BIAS = ((6,), T.INT32, {"scale": 0.05})
SAME = {"padding": 0, "stride_w": 1, "stride_h": 1}
ARRAYS = ["persistent 24 per_channel_output_multiplier", "persistent 24 per_channel_output_shift"]


def of(kernel, op, inputs, outputs, *, target="cortex-m4", **arguments):
    return kernel(op, inputs, outputs, target=target, kernels="cmsis_nn", **arguments)


def test_conv_takes_its_arrays_between_two_rounds_of_temps(kernel):
    bench = of(kernel, "CONV_2D", [IN, KERNEL, BIAS], [OUT], options=SAME)
    # OpDataConv (56) and a buffer index.
    assert bench.init() == ["persistent 60 cmsis_nn/conv.OpData"]
    inner = ["temp 0", "temp 1", "temp 2", "temp 3", "free 3", "free 0", "free 1", "free 2"]
    # 3 * 3 * 4 = 36 rows, two int16 columns.
    scratch = ["scratch 144 convolve_wrapper_s8"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 3", *ARRAYS, *inner, *scratch, "free 3", "free 0", "free 1"]


def test_float_conv_has_neither_arrays_nor_scratch(kernel):
    inputs = [((1, 8, 8, 4), T.FLOAT32), ((6, 3, 3, 4), T.FLOAT32)]
    lines = of(kernel, "CONV_2D", inputs, [((1, 8, 8, 6), T.FLOAT32)], options=SAME).prepare()
    assert not [line for line in lines if line.startswith(("persistent", "scratch"))]


def test_conv_of_int16_copies_columns_too(kernel):
    inputs = [((1, 8, 8, 4), T.INT16, {"scale": 0.5}), KERNEL]
    lines = of(kernel, "CONV_2D", inputs, [((1, 8, 8, 6), T.INT16, {"scale": 0.5})], options=SAME).prepare()
    assert "scratch 144 convolve_wrapper_s16" in lines


@pytest.mark.parametrize(
    ("source", "kernel_spec", "message"),
    [
        (((8, 8, 4), T.INT8), KERNEL, "conv.cc:85 input->dims->size != 4 (3 != 4)"),
        (((1, 8, 8, 5), T.INT8), KERNEL, "conv.cc:92 input->dims->data[3] % filter->dims->data[3] != 0 (1 != 0)"),
        (((1, 8, 8, 4), T.INT8), ((6, 3, 3, 4), T.INT16), "conv.cc Hybrid models are not supported on TFLite Micro."),
    ],
)
def test_conv_refuses(kernel, source, kernel_spec, message):
    assert of(kernel, "CONV_2D", [source, kernel_spec], [OUT]).refusal() == PLACE + message


def test_conv_halts_where_groups_do_not_divide_the_outputs(kernel):
    wide = ((1, 8, 8, 16), T.INT8, {"scale": 0.5})
    assert of(kernel, "CONV_2D", [wide, KERNEL], [OUT]).refusal().startswith("halts: ")


def test_depthwise_conv_needs_columns_where_the_window_is_not_3x3(kernel):
    window = ((1, 5, 5, 4), T.INT8, {"scale": 0.1, "quantized_dimension": 3})
    options = SAME | {"depth_multiplier": 1}
    result = ((1, 8, 8, 4), T.INT8, {"scale": 0.5})
    lines = of(kernel, "DEPTHWISE_CONV_2D", [IN, window], [result], options=options).prepare()
    assert "scratch 200 depthwise_conv_wrapper" in lines  # 4 * 5 * 5 int16


def test_transpose_conv_asks_for_two_buffers_even_of_0_bytes(kernel):
    inputs = [((4,), T.INT32), KERNEL, IN]
    lines = of(kernel, "TRANSPOSE_CONV", inputs, [OUT], options=SAME).prepare()
    # 4 channels: rows of sums, (7 * 1 + 3) * 6 * 3 int32.
    assert lines[5:7] == ["scratch 720 transpose_conv_s8", "scratch 0 transpose_conv_s8_reverse_conv"]


def fully_connected(kernel, target, output, filter_arguments=()):
    weights = ((10, 32), T.INT8, {"scale": 0.1, **dict(filter_arguments)})
    bias = ((10,), T.INT32, {"scale": 0.05, "data": bytes(40)})
    inputs = [((1, 32), T.INT8, {"scale": 0.5}), weights, bias]
    return of(kernel, "FULLY_CONNECTED", inputs, [(output, T.INT8, {"scale": 0.5})], target=target)


def test_fully_connected_keeps_the_sums_of_constant_weights_on_mve(kernel):
    constant = {"data": bytes(320)}
    assert "persistent 40 kernel_sums" in fully_connected(kernel, "cortex-m55", (1, 10), constant).prepare()
    assert "scratch 40 fully_connected_s8" in fully_connected(kernel, "cortex-m55", (1, 10)).prepare()
    lines = fully_connected(kernel, "cortex-m4", (1, 10), constant).prepare()
    assert not [line for line in lines if line.startswith(("persistent", "scratch"))]


def test_fully_connected_of_three_dimensions_runs_as_a_convolution(kernel):
    # A multiplier and a shift for each of 10 outputs.
    assert "scratch 80 conv_1x1 quantization" in fully_connected(kernel, "cortex-m4", (1, 1, 10)).prepare()


def test_fully_connected_of_one_dimension_halts(kernel):
    assert fully_connected(kernel, "cortex-m4", (10,)).refusal().startswith("halts: ")


def test_batch_matmul_takes_transposed_copies_before_the_quantization(kernel):
    sides = [((2, 3, 4), T.INT8, {"scale": 0.5}), ((2, 4, 5), T.INT8, {"scale": 0.5})]
    output = ((2, 3, 5), T.INT8, {"scale": 0.5})
    options = {"adj_x": False, "adj_y": False}
    lines = of(kernel, "BATCH_MATMUL", sides, [output], options=options, target="cortex-m55").prepare()
    assert [line for line in lines if line.startswith(("persistent", "scratch"))] == [
        "persistent 12 transposed TfLiteEvalTensor",
        "persistent 16 transposed dims",
        "persistent 40 transposed data",
        "persistent 16 dims",
        "persistent 28 QuantizationOpDataBatchMatmul",
        "scratch 20 fully_connected_s8",
    ]


def test_average_pooling_takes_its_temps_again(kernel):
    pool = {"padding": 1, "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
    output = ((1, 7, 7, 4), T.INT8, {"scale": 0.5})
    lines = of(kernel, "AVERAGE_POOL_2D", [IN], [output], options=pool).prepare()
    assert lines == [
        "temp 0",
        "temp 1",
        "free 0",
        "free 1",
        "temp 0",
        "temp 1",
        "scratch 16 avgpool",
        "free 1",
        "free 0",
    ]


def test_softmax_and_svdf_have_op_data_of_their_own(kernel):
    source = ((1, 10), T.FLOAT32)
    # SoftmaxParams (56) and two int32.
    assert of(kernel, "SOFTMAX", [source], [source]).init() == ["persistent 64 cmsis_nn/softmax.CMSISNNSoftmaxParams"]
    # OpDataSvdf (36) and a pointer.
    assert of(kernel, "SVDF", [source], [source]).init() == ["persistent 40 cmsis_nn/svdf.CmsisNnOpDataSvdf"]


def test_softmax_refuses_types_that_do_not_go_together(kernel):
    bench = of(kernel, "SOFTMAX", [((1, 10), T.INT8)], [((1, 10), T.FLOAT32)])
    assert bench.refusal() == f"{PLACE}softmax.cc Input and output data types are not supported together."


def test_add_refuses_int16_with_a_zero_point(kernel):
    tensors = [((4,), T.INT16, {"scale": 0.5, "zero_point": zero_point}) for zero_point in (0, 3)]
    bench = of(kernel, "ADD", tensors, [((4,), T.INT16, {"scale": 0.5})])
    assert bench.refusal() == f"{PLACE}add.cc:315 input2->params.zero_point != 0 (3 != 0)"


def test_an_operator_without_an_overlay_is_the_reference_kernel(kernel):
    bench = of(kernel, "RELU", [((4,), T.FLOAT32)], [((4,), T.FLOAT32)])
    assert bench.init() == ["persistent 28 ReluOpData"]


@pytest.mark.parametrize("refused", ["temp 0", "temp 1"])
def test_average_pooling_does_not_look_at_the_tensors_that_it_takes_again(kernel, refused):
    pool = {"padding": 1, "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
    output = ((1, 7, 7, 4), T.INT8, {"scale": 0.5})
    bench = of(kernel, "AVERAGE_POOL_2D", [IN], [output], options=pool, refuse=refused)
    bench.spared = 1
    assert bench.refusal().startswith("halts: tensorflow/lite/micro/kernels/cmsis_nn/pooling.cc: ")


@pytest.mark.parametrize(("zero_points", "line", "name"), [((1, 0), 124, "input"), ((0, 1), 125, "output")])
def test_a_layer_of_int16_has_no_zero_points(kernel, zero_points, line, name):
    source, result = (((1, 4), T.INT16, {"scale": 0.5, "zero_point": value}) for value in zero_points)
    weights = ((4, 4), T.INT8, {"scale": 0.1, "zero_point": 0})
    refusal = of(kernel, "FULLY_CONNECTED", [source, weights], [result]).refusal()
    assert refusal == f"{PLACE}fully_connected.cc:{line} {name}->params.zero_point != 0 (1 != 0)"
