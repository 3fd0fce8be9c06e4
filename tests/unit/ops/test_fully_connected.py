"""FULLY_CONNECTED: four temps, per-channel arrays only for a filter with more than one scale."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"

FLOAT_IN, FLOAT_FILTER, FLOAT_OUT = ((2, 16), T.FLOAT32), ((8, 16), T.FLOAT32), ((2, 8), T.FLOAT32)
IN, FILTER, OUT = ((2, 16), T.INT8, {"scale": 0.5}), ((8, 16), T.INT8, {"scale": 0.1}), ((2, 8), T.INT8, {"scale": 0.5})
IN16, OUT16 = ((2, 16), T.INT16, {"scale": 0.5}), ((2, 8), T.INT16, {"scale": 0.5})
BIAS = ((8,), T.INT32, {"scale": 0.05})
ALL_TEMPS = ["temp 0", "temp 1", "temp 2", "temp 3"]
ALL_FREES = ["free 0", "free 1", "free 2", "free 3"]


def per_channel(type_=T.INT8, count=8, axis=0):
    return ((8, 16), type_, {"scale": [0.1] * count, "quantized_dimension": axis})


def test_init_takes_op_data(kernel):
    # Nine words, two pointers, a bool padded to a word: 36 + 8 + 4.
    assert kernel("FULLY_CONNECTED", [IN, FILTER], [OUT]).init() == ["persistent 48 OpDataFullyConnected"]


@pytest.mark.parametrize(("inputs", "output"), [
    ([IN, FILTER, BIAS], OUT),
    ([IN16, FILTER, ((8,), T.INT64, {"scale": 0.05})], OUT16),
    ([FLOAT_IN, FLOAT_FILTER, ((8,), T.FLOAT32)], FLOAT_OUT),
])  # fmt: skip
def test_one_scale_needs_no_memory(kernel, inputs, output):
    assert kernel("FULLY_CONNECTED", inputs, [output]).prepare() == ALL_TEMPS + ALL_FREES


def test_the_bias_is_optional(kernel):
    expected = ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]
    assert kernel("FULLY_CONNECTED", [IN, FILTER], [OUT]).prepare() == expected
    assert kernel("FULLY_CONNECTED", [IN, FILTER, None], [OUT]).prepare() == expected


def test_each_scale_takes_a_multiplier_and_a_shift(kernel):
    # 8 scales of 4 bytes, twice.
    arrays = ["persistent 32 per_channel_output_multiplier", "persistent 32 per_channel_output_shift"]
    for source, output in ((IN, OUT), (IN16, OUT16)):
        bench = kernel("FULLY_CONNECTED", [source, per_channel(), BIAS], [output])
        assert bench.prepare() == ALL_TEMPS + arrays + ALL_FREES


@pytest.mark.parametrize(("target", "runtime"), [("x86_64", "2024-05-29"), ("x86_64", "2024-09-26"),
                                                  ("esp32", "esp-tflite-micro@1.3.1")])  # fmt: skip
def test_scales_per_channel_were_refused_for_four_months_of_2024(kernel, target, runtime):
    bench = kernel("FULLY_CONNECTED", [IN, per_channel(), BIAS], [OUT], target=target, runtime=runtime)
    assert bench.refusal() == (
        KERNELS + "fully_connected_common.cc FullyConnected per-channel quantization not yet supported. Please set "
        "converter._experimental_disable_per_channel_quantization_for_dense_layers = True."
    )


@pytest.mark.parametrize("runtime", ["2024-05-28", "2024-09-27"])
def test_before_and_after_they_were_not(kernel, runtime):
    assert kernel("FULLY_CONNECTED", [IN, per_channel(), BIAS], [OUT], runtime=runtime).prepare()[-1] == "free 3"


def test_an_int4_filter_is_unpacked_to_a_byte_per_element(kernel):
    inputs = [IN, ((8, 16), T.INT4, {"scale": 0.1}), BIAS]
    expected = [*ALL_TEMPS, "scratch 128 unpacked_filter", *ALL_FREES]
    assert kernel("FULLY_CONNECTED", inputs, [OUT]).prepare() == expected


def test_compressed_tensors_get_scratch_for_what_they_unpack_to(kernel):
    bench = kernel("FULLY_CONNECTED", [IN, FILTER, BIAS], [OUT], compressed=(1, 2), target="x86_64-compression")
    # 8 x 16 bytes; 8 biases of 4 bytes.
    expected = [*ALL_TEMPS, "scratch 128 decompressed", "scratch 32 decompressed", *ALL_FREES]
    assert bench.prepare() == expected


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [OUT], "fully_connected.cc:48 input != nullptr was not true."),
    ([IN, None], [OUT], "fully_connected.cc:51 filter != nullptr was not true."),
    ([IN, FILTER], [], "fully_connected.cc:56 output != nullptr was not true."),
    ([IN, FILTER], [FLOAT_OUT], "fully_connected.cc:57 input->type != output->type (INT8 != FLOAT32)"),
    ([IN, per_channel(T.INT4)], [OUT],
     "fully_connected_common.cc:99 (input->type == kTfLiteInt8 && filter->type != kTfLiteInt4) || "
     "(input->type == kTfLiteInt16 && filter->type != kTfLiteInt4) was not true."),
    ([IN, per_channel(count=6)], [OUT],
     "fully_connected_common.cc:107 per_channel_quantization_size != "
     "filter->dims->data[affine_quantization->quantized_dimension] (6 != 8)"),
])  # fmt: skip
def test_refusals(kernel, inputs, outputs, message):
    assert kernel("FULLY_CONNECTED", inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("source", "filter_type", "names"), [
    (FLOAT_IN, T.INT8, ("FLOAT32", "INT8")), (IN, T.INT16, ("INT8", "INT16")), (IN16, T.INT4, ("INT16", "INT4")),
])  # fmt: skip
def test_a_mix_of_types_is_refused(kernel, source, filter_type, names):
    output = ((2, 8), *source[1:])
    bench = kernel("FULLY_CONNECTED", [source, ((8, 16), filter_type, {"scale": 0.1})], [output])
    assert bench.refusal() == f"Input type: {names[0]} with filter type: {names[1]} not supported."


@pytest.mark.parametrize(("bias", "output_scale", "activation", "message"), [
    # |0.5 * 0.1 - 0.2| / 0.5 is 0.3.
    (((8,), T.INT32, {"scale": 0.2}), 0.5, "NONE", ":322 scale_diff / output_scale <= 0.02 was not true."),
    (BIAS, 0.0, "NONE", ":322 scale_diff / output_scale <= 0.02 was not true."),
    (None, 0.0, "RELU", ":349 no_integer_overflow_from_quantization was not true."),
])  # fmt: skip
def test_scales_that_do_not_fit_are_refused(kernel, bias, output_scale, activation, message):
    output = ((2, 8), T.INT8, {"scale": output_scale})
    options = {"fused_activation_function": activation}
    assert kernel("FULLY_CONNECTED", [IN, FILTER, bias], [output], options=options).refusal() == KERNEL_UTIL + message


def test_a_type_without_kernel_is_refused_for_its_range(kernel):
    inputs, output = [((2, 16), T.INT32), ((8, 16), T.INT32)], ((2, 8), T.INT32)
    assert kernel("FULLY_CONNECTED", inputs, [output]).refusal() == KERNEL_UTIL + ":405 false was not true."


def test_a_filter_with_a_zero_point_halts(kernel):
    uint8 = {"scale": 0.5, "zero_point": 128}
    inputs, output = [((2, 16), T.UINT8, uint8), ((8, 16), T.UINT8, uint8)], ((2, 8), T.UINT8, uint8)
    assert "filter->params.zero_point == 0" in kernel("FULLY_CONNECTED", inputs, [output]).refusal()


def test_a_channel_axis_past_the_rank_halts(kernel):
    assert "dims->data[2]" in kernel("FULLY_CONNECTED", [IN, per_channel(axis=2)], [OUT]).refusal()


def test_without_memory_for_op_data_prepare_halts(kernel):
    assert "node->user_data != nullptr" in kernel("FULLY_CONNECTED", [IN, FILTER], [OUT], refuse="persistent").refusal()


@pytest.mark.parametrize(("options", "message"), [
    ({"quantized_bias_type": 99}, "Unsupported data type 99 in tensor"),
    ({"weights_format": 2}, "Unhandled fully-connected weights format."),
])  # fmt: skip
def test_the_parser_refuses_unknown_options(kernel, options, message):
    with pytest.raises(PrepareError, match=message):
        kernel("FULLY_CONNECTED", [], [], options=options).parse()
    kernel("FULLY_CONNECTED", [], [], options={"weights_format": "SHUFFLED4x16INT8"}).parse()
