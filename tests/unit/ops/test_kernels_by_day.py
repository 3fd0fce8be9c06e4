"""Kernels on both sides of a change of upstream: what they ask for, and what they say."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
AXES = ((2,), T.INT32, {"data": [1, 2]})
IMAGE, PIXEL = (1, 4, 5, 3), (1, 3)


def _scratch(kernel, type_, runtime):
    inputs = [(IMAGE, type_, {"scale": 0.5}), AXES]
    requests = kernel("MEAN", inputs, [(PIXEL, type_, {"scale": 0.5})], runtime=runtime).prepare()
    return [int(line.split()[1]) for line in requests if line.startswith("scratch")]


@pytest.mark.parametrize(("type_", "runtime", "sizes"), [
    # An int32 per element of the output, (1, 3).
    (T.INT16, "2021-07-22", []),
    (T.INT16, "2021-07-23", [12]),
    (T.UINT8, "2021-08-22", [12]),
    (T.UINT8, "2021-08-23", []),
    # Ints: twice one per element of the output, one per axis, one per element of the input, 1 x 4 x 5 x 3.
    (T.FLOAT32, "2022-06-05", []),
    (T.FLOAT32, "2022-06-06", [12, 12, 8, 240]),
    (T.INT8, "2022-06-07", [12, 12, 12, 8, 240]),
    (T.FLOAT32, "2022-06-08", []),
])  # fmt: skip
def test_mean_asks_for_the_scratch_of_its_day(kernel, type_, runtime, sizes):
    assert _scratch(kernel, type_, runtime) == sizes


def test_max_keeps_the_dims_of_its_input_for_two_days(kernel):
    bench = kernel("REDUCE_MAX", [(IMAGE, T.FLOAT32), AXES], [(PIXEL, T.FLOAT32)], runtime="2022-06-07")
    assert "scratch 240 normalized_dims" in bench.prepare()


@pytest.mark.parametrize(("op", "inputs", "runtime", "message"), [
    ("SPLIT", [((), T.INT32), ((4,), T.FLOAT32)], "2025-08-01", "split.cc Non constant axis tensor not supported"),
    ("SPLIT", [((), T.INT32), ((4,), T.FLOAT32)], "2025-08-02", "split.cc Non-constant >axis< tensor is not supported"),
    ("RESIZE_BILINEAR", [(IMAGE, T.FLOAT32), ((2,), T.INT32)], "2025-08-01",
     "resize_bilinear.cc Non constant size tensor not supported"),
    ("PAD", [((4,), T.FLOAT32), ((1, 2), T.INT32)], "2025-08-01",
     "pad_common.cc IsConstantTensor(paddings) was not true."),
])  # fmt: skip
def test_an_input_that_must_be_constant_is_refused_in_the_words_of_the_day(kernel, op, inputs, runtime, message):
    refusal = kernel(op, inputs, [((4,), T.FLOAT32)], runtime=runtime).refusal()
    assert refusal.startswith(KERNELS)
    assert refusal.split(" ", 1)[1] == message.split(" ", 1)[1]


def test_a_size_of_resize_nearest_neighbor_was_dynamic(kernel):
    inputs = [(IMAGE, T.FLOAT32), ((2,), T.INT32)]
    bench = kernel("RESIZE_NEAREST_NEIGHBOR", inputs, [(IMAGE, T.FLOAT32)], runtime="2025-08-01")
    assert bench.refusal() == "Dynamic tensors are unsupported in tfmicro."


@pytest.mark.parametrize(("runtime", "ends"), [
    ("2021-11-01", "halts"),  # it compares values that are not there yet
    ("2021-11-02", ""),
    ("2025-08-07", ""),
    ("2025-08-08", "fill.cc Non-constant >dims< tensor is not supported"),
])  # fmt: skip
def test_fill_takes_dims_that_are_not_constant_for_four_years(kernel, runtime, ends):
    bench = kernel("FILL", [((2,), T.INT32), ((), T.FLOAT32)], [((2, 3), T.FLOAT32)], runtime=runtime)
    if ends:
        assert ends in bench.refusal()
    else:
        assert bench.prepare()[-1].startswith("free")


def test_expand_dims_checks_nothing_in_its_first_prepare(kernel):
    inputs = [((2,), T.FLOAT32), ((1,), T.FLOAT32, {"data": [0.0]})]
    kernel("EXPAND_DIMS", inputs, [((1, 2), T.FLOAT32)], runtime="2021-11-01").prepare()
    bench = kernel("EXPAND_DIMS", inputs, [((1, 2), T.FLOAT32)], runtime="2021-11-02")
    assert bench.refusal() == "Axis type FLOAT32 (1) not supported by Expand_Dims."


def test_int16_layers_with_a_scale_per_channel_were_refused(kernel):
    inputs = [((1, 4), T.INT16, {"scale": 0.5}), ((2, 4), T.INT8, {"data": [0] * 8, "scale": [0.5, 0.25]}), None]
    outputs = [((1, 2), T.INT16, {"scale": 0.5})]
    refusal = kernel("FULLY_CONNECTED", inputs, outputs, runtime="2025-03-16").refusal()
    assert refusal.endswith(" input->type == kTfLiteInt8 && filter->type != kTfLiteInt4 was not true.")
    kernel("FULLY_CONNECTED", inputs, outputs, runtime="2025-03-17").prepare()


def test_floats_were_printed_with_a_power_of_two(kernel):
    inputs, outputs = [((1, 4), T.INT16, {"scale": 0.5})], [((1, 4), T.INT16, {"scale": 0.75})]
    # 0.75 = 1.4999999 / 2 as it was printed, 1 / 32768 = 1.0 / 2^15.
    before = kernel("SOFTMAX", inputs, outputs, runtime="2023-07-05").refusal()
    assert before.endswith(" (1.4999999*2^-1 != 1.0*2^-15)")
    after = kernel("SOFTMAX", inputs, outputs, runtime="2023-07-06").refusal()
    assert "(0.750000 != 0.000031)" in after


@pytest.mark.parametrize(("runtime", "refused"), [("2021-08-22", False), ("2021-08-23", True), ("2022-05-10", False)])
def test_dequantize_takes_uint8_with_a_gap(kernel, runtime, refused):
    bench = kernel("DEQUANTIZE", [((4,), T.UINT8, {"scale": 0.5})], [((4,), T.FLOAT32)], runtime=runtime)
    if refused:
        assert bench.refusal().endswith("input->type == kTfLiteInt8 || input->type == kTfLiteInt16 was not true.")
    else:
        assert bench.prepare()[-1].startswith("free")


@pytest.mark.parametrize("runtime", ["2021-06-07", "2022-10-05"])
def test_pooling_refused_no_type(kernel, runtime):
    bench = kernel("MAX_POOL_2D", [(IMAGE, T.INT32)], [(IMAGE, T.INT32)], runtime=runtime)
    assert bench.prepare()[-1].startswith("free")


def _lstm_inputs(cells=(4, 3)):
    weights, state = ((4, 3), T.FLOAT32), ((2, 4), T.FLOAT32, {"is_variable": True})
    bias = ((4,), T.FLOAT32)
    recurrent = ((4, 4), T.FLOAT32)
    return [((2, 5, 3), T.FLOAT32), (cells, T.FLOAT32), *[weights] * 3, *[recurrent] * 4, None, None, None, *[bias] * 4,
            None, None, state, state, None, None, None, None]  # fmt: skip


def test_the_lstm_of_2022_checks_dims(kernel):
    outputs = [((2, 5, 4), T.FLOAT32)]
    op, runtime = "UNIDIRECTIONAL_SEQUENCE_LSTM", "2022-10-05"
    kernel(op, _lstm_inputs(), outputs, runtime=runtime).prepare()
    refusal = kernel(op, _lstm_inputs(cells=(4, 2)), outputs, runtime=runtime).refusal()
    assert refusal.endswith(" input_to_input_weights->dims->data[1] != n_input (2 != 3)")
    refusal = kernel(op, _lstm_inputs(), [((2, 5, 3), T.FLOAT32)], runtime=runtime).refusal()
    assert refusal.endswith(" output->dims->data[2] != n_output (3 != 4)")


@pytest.mark.parametrize(("runtime", "prints"), [("2023-02-02", ["log Prepared Float!"]), ("2023-02-03", [])])
def test_the_lstm_of_one_day_prints_that_it_is_prepared(kernel, runtime, prints):
    bench = kernel("UNIDIRECTIONAL_SEQUENCE_LSTM", _lstm_inputs(), [((2, 5, 4), T.FLOAT32)], runtime=runtime)
    assert [line for line in bench.prepare() if line.startswith("log")] == prints


def _transpose_conv(kernel, type_, runtime, *, scales=1):
    """From (1, 2, 2, 1) to (1, 4, 4, 1) with a filter of 3 x 3."""
    filter_type = T.INT8 if type_ == T.INT16 else type_
    weights = ((1, 3, 3, 1), filter_type, {"data": [0] * 9, "scale": [0.5] * scales})
    source, shape = ((1, 2, 2, 1), type_, {"scale": 0.5}), ((4,), T.INT32, {"data": [1, 4, 4, 1]})
    bias = ((1,), T.INT64 if type_ == T.INT16 else T.INT32, {"data": [0], "scale": 0.25})
    outputs = [((1, 4, 4, 1), type_, {"scale": 0.5})]
    options = {"padding": "SAME", "stride_w": 2, "stride_h": 2}
    return kernel("TRANSPOSE_CONV", [shape, weights, source, bias], outputs, options=options, runtime=runtime)


@pytest.mark.parametrize(("type_", "runtime", "scratch"), [
    # An int32 for each of 16 elements, an int64 for int16.
    (T.UINT8, "2021-08-22", ["scratch 64 accumulator"]),
    (T.UINT8, "2021-08-23", []),
    (T.INT16, "2021-06-22", []),
    (T.INT16, "2021-06-23", ["scratch 128 accumulator"]),
    (T.INT8, "2021-06-22", ["scratch 64 accumulator"]),
])  # fmt: skip
def test_transpose_conv_accumulates_the_types_of_its_day(kernel, type_, runtime, scratch):
    requests = _transpose_conv(kernel, type_, runtime).prepare()
    assert [line for line in requests if line.startswith("scratch")] == scratch


@pytest.mark.parametrize(("runtime", "name"), [("2024-12-15", "kConv"), ("2024-12-16", "kTransposeConv")])
def test_transpose_conv_renamed_a_constant(kernel, runtime, name):
    refusal = _transpose_conv(kernel, T.INT8, runtime, scales=3).refusal()
    assert refusal.endswith(f"== filter->dims->data[{name}QuantizedDimension] was not true.")


@pytest.mark.parametrize(("runtime", "place"), [
    ("2024-10-28", "./tensorflow/lite/micro/kernels/batch_matmul.h:70"),
    ("2025-06-30", f"{KERNELS}batch_matmul_common.cc:38"),
])  # fmt: skip
def test_a_check_in_a_header_is_named_as_it_was_compiled(kernel, runtime, place):
    inputs = [((2, 3), T.FLOAT32), ((2, 4, 3), T.FLOAT32)]
    bench = kernel("BATCH_MATMUL", inputs, [((2, 4), T.FLOAT32)], runtime=runtime, options={"adj_y": True})
    assert bench.refusal() == f"{place} output_rank <= NumDimensions(output) was not true."


def _int8(*shape, **quantization):
    return (shape, T.INT8, quantization)


SQUARE = _int8(2, 2, scale=0.5)
SEVEN = (2,) * 7
DECODE = [((4,), T.UINT8, {"data": bytes(4)}), ((16,), T.UINT8, {"data": bytes([128, 1, 0, 0, 1, *bytes(11)])})]
SVDF = [
    *(_int8(1, 4, scale=0.5), _int8(2, 4, scale=0.5)),
    ((2, 3), T.INT16, {"scale": 0.5}),
    ((2,), T.INT32, {"scale": 9.0}),
    ((1, 6), T.INT16, {"scale": 0.5, "is_variable": True}),
]


@pytest.mark.parametrize(("op", "inputs", "output", "options", "before", "since"), [
    ("ADD", [SQUARE, SQUARE], _int8(2, 2), None, "halts: ",
     "add_common.cc:41 output->quantization.type != kTfLiteNoQuantization was not true."),
    ("RESHAPE", [_int8(2, 2)], _int8(0, -1), None, "halts: ",
     "reshape_common.cc:67 num_output_elements != 0 was not true."),
    ("RESHAPE", [_int8(2, 2)], _int8(3), None,
     "reshape_common.cc:89 ReshapeOutput(context, node) != kTfLiteOk (1 != 0)",
     "reshape_common.cc:78 num_input_elements != num_output_elements (4 != 3)"),
    ("SQUEEZE", [_int8(1, 2)], _int8(1), None, "halts: ",
     "squeeze.cc:83 out_idx < output_dims->size && output_dims->data[out_idx] >= input_dims->data[in_idx] was not "
     "true."),
    ("SPACE_TO_DEPTH", [_int8(1, 2, 2, 1)], _int8(1, 1, 1, 4), {"block_size": 0}, "halts: ",
     "space_to_depth.cc:58 block_size > 0 was not true."),
    ("SPACE_TO_DEPTH", [None], _int8(1, 1, 1, 4), {"block_size": 2},
     "space_to_depth.cc:46 input != nullptr was not true.",
     "space_to_depth.cc:48 input != nullptr && output != nullptr was not true."),
    ("DYNAMIC_UPDATE_SLICE", [(SEVEN, T.INT8), (SEVEN, T.INT8), ((7,), T.INT32)], (SEVEN, T.INT8), None, "",
     "dynamic_update_slice.cc:155 NumDimensions(operand) >= 1 && NumDimensions(operand) <= kMaxDimensions was not "
     "true."),
])  # fmt: skip
def test_what_is_refused_since_2026_10_14(kernel, op, inputs, output, options, before, since):
    old = kernel(op, inputs, [output], options=options, runtime="2026-10-13")
    if before:
        assert old.refusal().removeprefix(KERNELS).startswith(before)
    else:
        assert old.prepare()
    assert kernel(op, inputs, [output], options=options, runtime="2026-10-14").refusal() == KERNELS + since


def test_reshape_prepares_twice_for_its_message_until_2026_10_13(kernel):
    counts = {}
    for runtime in ("2026-10-13", "2026-10-14"):
        bench = kernel("RESHAPE", [_int8(2, 2)], [_int8(3)], runtime=runtime)
        assert "!=" in bench.refusal()
        counts[runtime] = bench.requests.count("temp 0")
    assert counts == {"2026-10-13": 2, "2026-10-14": 1}


@pytest.mark.parametrize(("runtime", "logs"), [
    ("aab6e2f", ["log unsupported decode type 128"]),
    ("cd32a51", []),  # An interpreter can be given a state for it, and has none here.
])  # fmt: skip
def test_decode_says_nothing_of_a_type_that_can_be_registered(kernel, runtime, logs):
    bench = kernel("TFLM_DECODE", DECODE, [((4,), T.INT8)], runtime=runtime)
    assert bench.refusal() == "failed to allocate DecodeState[0]"
    assert [line for line in bench.requests if line.startswith("log ")] == logs


@pytest.mark.parametrize(("runtime", "text"), [
    ("2026-10-12", "static_cast<double>(activation_state->params.scale * weights_time->params.scale)"),
    ("2026-10-13",
     "(static_cast<double>(activation_state->params.scale) * static_cast<double>(weights_time->params.scale))"),
])  # fmt: skip
def test_svdf_multiplies_scales_as_double_since_2026_10_13(kernel, runtime, text):
    bench = kernel("SVDF", SVDF, [_int8(1, 2, scale=0.5)], options={"rank": 1}, runtime=runtime)
    assert f"std::abs(static_cast<double>(bias->params.scale) - {text}) < 1e-5 was not true." in bench.refusal()


def test_rfft_refuses_an_input_longer_than_its_transform_since_2026_09_23(kernel):
    flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")
    options = bytes(flexbuffers.Dumps({"T": 7, "fft_length": 8}))
    tensors = [((9,), T.INT16)], [((10,), T.INT16)]
    assert kernel("SignalRfft", *tensors, custom_options=options, runtime="aade8e6").prepare()
    refused = kernel("SignalRfft", *tensors, custom_options=options, runtime="b57ba0d").refusal()
    assert refused == "signal/micro/kernels/rfft.cc:104 params->input_length <= params->fft_length was not true."
