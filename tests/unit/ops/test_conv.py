"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV: per-channel arrays, temps twice, scratch for what is packed."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"
HYBRID = " Hybrid models are not supported on TFLite Micro."

FLOAT_IN, FLOAT_OUT = ((1, 8, 8, 4), T.FLOAT32), ((1, 8, 8, 6), T.FLOAT32)
INT8_IN, INT8_OUT = ((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((1, 8, 8, 6), T.INT8, {"scale": 0.5})
INT16_IN, INT16_OUT = ((1, 8, 8, 4), T.INT16, {"scale": 0.5}), ((1, 8, 8, 6), T.INT16, {"scale": 0.5})
BIAS = ((6,), T.INT32, {"scale": 0.05})
SHAPE_SIZES = ((6,), T.INT32)

# filter: [out_channels, h, w, in_channels], for DEPTHWISE_CONV_2D [1, h, w, out_channels].
CONV_SHAPE, DEPTHWISE_SHAPE = (6, 3, 3, 4), (1, 3, 3, 6)
# Two arrays of one 32-bit number for each of 6 channels.
ARRAYS = ["persistent 24 per_channel_output_multiplier", "persistent 24 per_channel_output_shift"]


def weights(shape=CONV_SHAPE, type_=T.INT8, scale=0.1, axis=0):
    return (shape, type_, {"scale": scale, "quantized_dimension": axis})


def depthwise_weights(type_=T.INT8, scale=0.1):
    return weights(DEPTHWISE_SHAPE, type_, scale, 3)


def test_init_takes_op_data(kernel):
    # OpDataConv: 4 paddings of 4, then 10 words: 16 + 40.
    assert kernel("CONV_2D", [INT8_IN, weights()], [INT8_OUT]).init() == ["persistent 56 OpDataConv"]
    assert kernel("DEPTHWISE_CONV_2D", [INT8_IN, weights()], [INT8_OUT]).init() == ["persistent 56 OpDataConv"]
    # ConvParams (56), and four words: 56 + 16.
    bench = kernel("TRANSPOSE_CONV", [SHAPE_SIZES, weights(), INT8_IN], [INT8_OUT])
    assert bench.init() == ["persistent 72 transpose_conv.OpData"]


def test_conv_takes_its_temps_twice(kernel):
    outer, inner = ["temp 3", "temp 0", "temp 1"], ["temp 0", "temp 1", "temp 2", "temp 3"]
    freed_inside, freed_outside = ["free 3", "free 0", "free 1", "free 2"], ["free 1", "free 0", "free 3"]
    for inputs, output in (([INT8_IN, weights(), BIAS], INT8_OUT), ([INT16_IN, weights(), BIAS], INT16_OUT)):
        assert kernel("CONV_2D", inputs, [output]).prepare() == outer + ARRAYS + inner + freed_inside + freed_outside


@pytest.mark.parametrize(("day", "halts"), [("2022-01-31", False), ("2022-02-01", True), ("2023-08-24", False)])
def test_a_bias_that_is_not_there_was_given_back_for_a_time(kernel, day, halts):
    bench = kernel("CONV_2D", [FLOAT_IN, (CONV_SHAPE, T.FLOAT32)], [FLOAT_OUT], runtime=day)
    if halts:
        assert bench.refusal().startswith("halts: ")
    else:
        assert bench.prepare()[3:5] == ARRAYS


def test_float_conv_without_a_bias_has_per_channel_arrays_too(kernel):
    inputs = [FLOAT_IN, (CONV_SHAPE, T.FLOAT32)]
    inner = ["temp 0", "temp 1", "temp 2", "free 2", "free 0", "free 1"]
    expected = ["temp 2", "temp 0", "temp 1", *ARRAYS, *inner, "free 1", "free 0", "free 2"]
    assert kernel("CONV_2D", inputs, [FLOAT_OUT]).prepare() == expected


def test_depthwise_conv_frees_in_an_order_of_its_own(kernel):
    bench = kernel("DEPTHWISE_CONV_2D", [INT8_IN, depthwise_weights(), BIAS], [INT8_OUT])
    inner = ["temp 0", "temp 1", "temp 2", "temp 3", "free 0", "free 1", "free 2", "free 3"]
    assert bench.prepare() == ["temp 3", "temp 0", "temp 1", *ARRAYS, *inner, "free 3", "free 0", "free 1"]


def test_depthwise_conv_halts_on_a_third_input_that_is_absent(kernel):
    assert (
        "bias is a null pointer"
        in kernel("DEPTHWISE_CONV_2D", [INT8_IN, depthwise_weights(), None], [INT8_OUT]).refusal()
    )
    kernel("CONV_2D", [INT8_IN, weights(), None], [INT8_OUT]).prepare()


def test_an_int4_filter_is_unpacked_to_a_byte_per_element(kernel):
    # 6 x 3 x 3 x 4 and 1 x 3 x 3 x 6 elements. CONV_2D asks after its inner temps, DEPTHWISE_CONV_2D before.
    requests = kernel("CONV_2D", [INT8_IN, weights(type_=T.INT4)], [INT8_OUT]).prepare()
    assert requests[-4:] == ["scratch 216 unpacked_filter", "free 1", "free 0", "free 2"]
    requests = kernel("DEPTHWISE_CONV_2D", [INT8_IN, depthwise_weights(T.INT4)], [INT8_OUT]).prepare()
    assert requests[5] == "scratch 54 unpacked_filter"


@pytest.mark.parametrize(("output", "source", "scratch"), [
    (FLOAT_OUT, FLOAT_IN, []),
    # An int32, an int64 for each of the 8 x 8 x 6 outputs.
    (INT8_OUT, INT8_IN, ["scratch 1536 accumulator"]),
    (INT16_OUT, INT16_IN, ["scratch 3072 accumulator"]),
])  # fmt: skip
def test_transpose_conv_accumulates_in_scratch(kernel, output, source, scratch):
    filter_type = T.FLOAT32 if source is FLOAT_IN else T.INT8
    inner = [] if source is FLOAT_IN else ["temp 2", "temp 1", "temp 3", "free 2", "free 1", "free 3"]
    expected = ["temp 3", "temp 2", "temp 1", *ARRAYS, *scratch, *inner, "free 3", "free 2", "free 1"]
    bench = kernel("TRANSPOSE_CONV", [SHAPE_SIZES, weights(type_=filter_type), source], [output])
    assert bench.prepare() == expected


def test_transpose_conv_widens_a_16_bit_bias(kernel):
    inputs = [SHAPE_SIZES, weights(), INT16_IN, ((6,), T.INT16, {"scale": 0.05})]
    requests = kernel("TRANSPOSE_CONV", inputs, [INT16_OUT]).prepare()
    # 6 values of 8 bytes.
    assert requests[-8:-7] == ["scratch 48 bias_converted"]


def test_compressed_tensors_get_scratch_for_what_they_unpack_to(kernel):
    arguments = {"compressed": (1, 2), "target": "x86_64-compression"}
    # 216 filter bytes, 6 biases of 4 bytes.
    scratch = ["scratch 216 decompressed", "scratch 24 decompressed"]
    requests = kernel("CONV_2D", [INT8_IN, weights(), BIAS], [INT8_OUT], **arguments).prepare()
    assert requests[-5:-3] == scratch
    depthwise = [INT8_IN, depthwise_weights(), BIAS]
    requests = kernel("DEPTHWISE_CONV_2D", depthwise, [INT8_OUT], **arguments).prepare()
    assert requests[-5:-3] == ["scratch 54 decompressed", "scratch 24 decompressed"]
    arguments["compressed"] = (1, 3)
    requests = kernel("TRANSPOSE_CONV", [SHAPE_SIZES, weights(), INT8_IN, BIAS], [INT8_OUT], **arguments).prepare()
    assert requests[-5:-3] == scratch


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_a_compressed_int4_filter_is_refused(kernel, op):
    kernel_weights = weights(type_=T.INT4) if op == "CONV_2D" else depthwise_weights(T.INT4)
    bench = kernel(op, [INT8_IN, kernel_weights], [INT8_OUT], compressed=(1,), target="x86_64-compression")
    assert bench.refusal() == "Compression not supported with INT4 tensors"


AFFINE = "filter->quantization.type != kTfLiteAffineQuantization (0 != 1)"
SCALE_COUNT = "affine_quantization->scale->size"
SCALES = SCALE_COUNT + " == 1 || " + SCALE_COUNT + " == filter->dims->data[{}] was not true."


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([INT8_IN, weights()], [], "conv_common.cc:150 output != nullptr was not true."),
    ([None, weights()], [INT8_OUT], "conv_common.cc:153 input != nullptr was not true."),
    ([INT8_IN], [INT8_OUT], "conv_common.cc:156 filter != nullptr was not true."),
    # kTfLiteInt8 is 9, kTfLiteFloat32 is 1.
    ([INT8_IN, weights()], [FLOAT_OUT], "conv_common.cc:158 input->type != output->type (9 != 1)"),
    ([FLOAT_IN, weights()], [FLOAT_OUT], "conv_common.cc" + HYBRID),
    ([INT16_IN, weights(type_=T.INT4)], [INT16_OUT], "conv_common.cc" + HYBRID),
    ([INT8_IN, (CONV_SHAPE, T.INT8)], [INT8_OUT], "conv_common.cc:185 " + AFFINE),
    ([INT8_IN, weights(scale=[0.1] * 4)], [INT8_OUT], "conv_common.cc:194 " + SCALES.format("kConvQuantizedDimension")),
    ([INT8_IN, weights(), BIAS, BIAS], [INT8_OUT],
     "conv_common.cc:88 has_bias || node->inputs->size == 2 was not true."),
    ([INT8_IN, weights()], [INT8_OUT, INT8_OUT], "conv_common.cc:89 node->outputs->size != 1 (2 != 1)"),
])  # fmt: skip
def test_conv_refusals(kernel, inputs, outputs, message):
    assert kernel("CONV_2D", inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([INT8_IN, depthwise_weights()], [], "depthwise_conv_common.cc:150 output != nullptr was not true."),
    ([None, depthwise_weights()], [INT8_OUT], "depthwise_conv_common.cc:153 input != nullptr was not true."),
    ([INT8_IN], [INT8_OUT], "depthwise_conv_common.cc:156 filter != nullptr was not true."),
    ([INT8_IN, (DEPTHWISE_SHAPE, T.INT8)], [INT8_OUT], "depthwise_conv_common.cc:176 " + AFFINE),
    ([INT8_IN, depthwise_weights(scale=[0.1] * 4)], [INT8_OUT],
     "depthwise_conv_common.cc:185 " + SCALES.format("kDepthwiseConvQuantizedDimension")),
    ([FLOAT_IN, depthwise_weights()], [FLOAT_OUT], "depthwise_conv_common.cc" + HYBRID),
    ([INT8_IN, depthwise_weights(), BIAS, BIAS], [INT8_OUT],
     "depthwise_conv_common.cc:88 has_bias || node->inputs->size == 2 was not true."),
    ([INT8_IN, depthwise_weights()], [INT8_OUT, INT8_OUT],
     "depthwise_conv_common.cc:89 node->outputs->size != 1 (2 != 1)"),
])  # fmt: skip
def test_depthwise_conv_refusals(kernel, inputs, outputs, message):
    assert kernel("DEPTHWISE_CONV_2D", inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([SHAPE_SIZES, weights(), INT8_IN], [], "transpose_conv.cc:164 output != nullptr was not true."),
    ([SHAPE_SIZES, weights()], [INT8_OUT], "transpose_conv.cc:167 input != nullptr was not true."),
    ([SHAPE_SIZES, None, INT8_IN], [INT8_OUT], "transpose_conv.cc:170 filter != nullptr was not true."),
    ([SHAPE_SIZES, weights(), FLOAT_IN], [FLOAT_OUT], "transpose_conv.cc" + HYBRID),
    ([SHAPE_SIZES, (CONV_SHAPE, T.INT8), INT8_IN], [INT8_OUT], "transpose_conv.cc:213 " + AFFINE),
    ([SHAPE_SIZES, weights(scale=[0.1] * 4), INT8_IN], [INT8_OUT],
     "transpose_conv.cc:222 " + SCALES.format("kTransposeConvQuantizedDimension")),
    ([SHAPE_SIZES, weights(), INT8_IN, BIAS, BIAS], [INT8_OUT],
     "transpose_conv.cc:78 has_bias || node->inputs->size == 3 was not true."),
    ([SHAPE_SIZES, weights(), INT8_IN], [INT8_OUT, INT8_OUT],
     "transpose_conv.cc:79 node->outputs->size != 1 (2 != 1)"),
])  # fmt: skip
def test_transpose_conv_refusals(kernel, inputs, outputs, message):
    assert kernel("TRANSPOSE_CONV", inputs, outputs).refusal() == KERNELS + message


UINT8 = ((1, 8, 8, 4), T.UINT8, {"scale": 0.5})
UINT8_OUT = ((1, 8, 8, 6), T.UINT8, {"scale": 0.5})


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([((1, 8, 8, 4), T.INT16), weights()], INT16_OUT,
     ":221 input->quantization.type != kTfLiteAffineQuantization (0 != 1)"),
    ([UINT8, (CONV_SHAPE, T.UINT8)], UINT8_OUT, ":223 " + AFFINE),
    ([UINT8, weights(DEPTHWISE_SHAPE, T.UINT8, [0.1] * 6, 3)], UINT8_OUT,
     ":239 input->type == kTfLiteInt8 || input->type == kTfLiteInt16 was not true."),
    ([INT16_IN, weights(DEPTHWISE_SHAPE, T.INT16, [0.1] * 6, 3)], INT16_OUT,
     ":241 filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4 was not true."),
    ([INT16_IN, weights(DEPTHWISE_SHAPE, T.INT8, [0.1] * 3, 3)], INT16_OUT,
     ":243 affine_quantization->scale->size != num_channels (3 != 6)"),
    ([INT8_IN, weights(DEPTHWISE_SHAPE, T.INT8, [0.1] * 6, 1)], INT8_OUT,
     ":244 num_channels != filter->dims->data[affine_quantization->quantized_dimension] (6 != 3)"),
    # |0.5 * 0.1 - 0.5| / 0.5 is 0.9.
    ([UINT8, weights(DEPTHWISE_SHAPE, T.UINT8, 0.1, 3), ((6,), T.INT32, {"scale": 0.5})], UINT8_OUT,
     ":322 scale_diff / output_scale <= 0.02 was not true."),
    ([UINT8, weights(DEPTHWISE_SHAPE, T.UINT8, -0.1, 3)], UINT8_OUT, ":335 input_product_scale >= 0 was not true."),
    ([INT8_IN, depthwise_weights()], FLOAT_OUT, ":405 false was not true."),
])  # fmt: skip
def test_quantization_that_kernel_util_refuses(kernel, inputs, output, message):
    assert kernel("DEPTHWISE_CONV_2D", inputs, [output]).refusal() == KERNEL_UTIL + message


def test_a_fused_relu_needs_an_output_scale(kernel):
    output = ((1, 8, 8, 6), T.INT8, {"scale": 0.0})
    message = KERNEL_UTIL + ":349 no_integer_overflow_from_quantization was not true."
    for activation in ("RELU", "RELU6", "RELU_N1_TO_1"):
        bench = kernel("CONV_2D", [INT8_IN, weights()], [output], options={"fused_activation_function": activation})
        assert bench.refusal() == message
    kernel("CONV_2D", [INT8_IN, weights()], [output]).prepare()


@pytest.mark.parametrize(("op", "inputs"), [
    ("CONV_2D", [((8, 4), T.INT8, {"scale": 0.5}), weights()]),
    ("CONV_2D", [INT8_IN, weights((6, 3))]),
    ("DEPTHWISE_CONV_2D", [INT8_IN, weights((1, 3, 3))]),
    ("TRANSPOSE_CONV", [SHAPE_SIZES, weights(()), INT8_IN]),
])  # fmt: skip
def test_a_read_past_the_rank_halts(kernel, op, inputs):
    assert "dims->data[" in kernel(op, inputs, [INT8_OUT]).refusal()


def test_transpose_conv_halts_on_a_16_bit_filter(kernel):
    bench = kernel("TRANSPOSE_CONV", [SHAPE_SIZES, weights(type_=T.INT16), INT16_IN], [INT16_OUT])
    assert bench.refusal().startswith("halts: tensorflow/lite/micro/kernels/transpose_conv.cc: filter->type")


def test_missing_memory_halts_where_it_is_written(kernel):
    for op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        bench = kernel(op, [INT8_IN, weights((6, 3, 3, 6))], [INT8_OUT], refuse="persistent 24")
        assert "per_channel_output_multiplier != nullptr" in bench.refusal()
        assert "node->user_data != nullptr" in kernel(op, [INT8_IN], [INT8_OUT], refuse="persistent").refusal()
    # A float model never writes them.
    kernel("CONV_2D", [FLOAT_IN, (CONV_SHAPE, T.FLOAT32)], [FLOAT_OUT], refuse="persistent 24").prepare()


@pytest.mark.parametrize("op", ["CONV_2D", "TRANSPOSE_CONV"])
def test_an_unknown_bias_type_is_refused_by_the_parser(kernel, op):
    kernel(op, [], [], options={"quantized_bias_type": "INT32"}).parse()
    with pytest.raises(PrepareError, match="Unsupported data type 50 in tensor"):
        kernel(op, [], [], options={"quantized_bias_type": 50}).parse()
