"""What TFLM's CMSIS-NN kernels asked for between October 2022 and today, request by request."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T


def of(kernel, op, inputs, outputs, day, *, target="cortex-m55", **arguments):
    return kernel(op, inputs, outputs, target=target, kernels="cmsis_nn", runtime=day, **arguments)


def requests(bench):
    return [line for line in bench.prepare() if line.startswith(("persistent", "scratch", "buffer"))]


SOURCE, RESULT = ((1, 4), T.INT8, {"scale": 0.5}), ((1, 3), T.INT8, {"scale": 0.5})


def weights(type_=T.INT8, *, data=b"x" * 12):
    return ((3, 4), type_, {"scale": 0.1, "data": data})


@pytest.mark.parametrize(
    ("day", "size"),
    [
        ("2023-09-01", 60),  # OpDataFullyConnected (9 words), two arrays, a buffer and three sizes
        ("2023-09-20", 64),  # and kernel_sums
        ("2024-09-26", 64),
        ("2024-09-27", 72),  # OpDataFullyConnected is 3 words longer; an index stands for the two arrays
    ],
)
def test_op_data_of_a_fully_connected_layer(kernel, day, size):
    bench = of(kernel, "FULLY_CONNECTED", [SOURCE, weights()], [RESULT], day)
    assert bench.init() == [f"persistent {size} cmsis_nn/fully_connected.OpData"]


KEPT, SCRATCH = ["persistent 12 kernel_sums"], ["scratch 12 fully_connected_s8"]


@pytest.mark.parametrize(
    ("day", "filter_", "expected"),
    [
        ("2023-09-18", weights(), []),
        ("2023-09-19", weights(), KEPT),
        ("2024-02-23", weights(), KEPT),
        ("2024-02-23", weights(data=None), SCRATCH),
        ("2026-08-20", weights(data=None), SCRATCH),
    ],
)
def test_sums_of_a_fully_connected_layer_on_mve(kernel, day, filter_, expected):
    assert requests(of(kernel, "FULLY_CONNECTED", [SOURCE, filter_], [RESULT], day)) == expected


def test_a_bias_that_is_computed_counts_since_october_2025(kernel):
    inputs = [SOURCE, weights(), ((3,), T.INT32, {"scale": 0.05})]
    assert requests(of(kernel, "FULLY_CONNECTED", inputs, [RESULT], "2025-10-16")) == KEPT
    assert requests(of(kernel, "FULLY_CONNECTED", inputs, [RESULT], "2025-10-17")) == SCRATCH


def test_sums_of_a_filter_without_data_read_through_a_null_pointer(kernel):
    bench = of(kernel, "FULLY_CONNECTED", [SOURCE, weights(data=None)], [RESULT], "2023-10-20")
    assert bench.refusal().startswith("halts: ")


def test_int4_weights_are_unpacked_for_their_sums_and_once_more(kernel):
    bench = of(kernel, "FULLY_CONNECTED", [SOURCE, weights(T.INT4, data=b"x" * 6)], [RESULT], "2023-10-20")
    lines = bench.prepare()
    at = lines.index("persistent 12 kernel_sums")
    assert lines[at : at + 4] == [
        "persistent 12 kernel_sums",
        "temp buffer 12",
        "free buffer 0",
        "scratch 12 unpacked_filter",
    ]


def test_int4_weights_of_a_convolution_are_unpacked_since_november_2022(kernel):
    inputs = [((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((6, 3, 3, 4), T.INT4, {"scale": 0.1}), ((6,), T.INT32)]
    outputs = [((1, 8, 8, 6), T.INT8, {"scale": 0.5})]
    for day, expected in (("2022-11-21", False), ("2022-11-22", True), ("2023-11-13", True), ("2023-11-14", False)):
        lines = requests(of(kernel, "CONV_2D", inputs, outputs, day, target="cortex-m4"))
        assert ("scratch 216 unpacked_filter" in lines) == expected, day


def test_depthwise_weights_of_another_type_were_refused_in_words(kernel):
    source, bias = ((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((4,), T.INT32, {"scale": 0.05})
    window = ((1, 3, 3, 4), T.INT16, {"scale": 0.1, "quantized_dimension": 3})
    arguments = {"options": {"padding": 0, "stride_w": 1, "stride_h": 1, "depth_multiplier": 1}}
    bench = of(kernel, "DEPTHWISE_CONV_2D", [source, window, bias], [source], "2024-01-20", **arguments)
    assert bench.refusal() == "Filter type INT16 (7) not supported."


def test_a_transposed_convolution_summed_outputs_in_a_second_buffer(kernel):
    inputs = [((4,), T.INT32, {"data": b"x" * 16}), ((5, 2, 2, 3), T.INT8, {"scale": 0.1})]
    inputs.append(((1, 4, 4, 3), T.INT8, {"scale": 0.5}))
    bench = of(kernel, "TRANSPOSE_CONV", inputs, [((1, 8, 8, 5), T.INT8, {"scale": 0.5})], "2024-01-20")
    assert requests(bench)[2:4] == [
        f"scratch {2 * 2 * 4 * 4 * 5 * 4} transpose_conv_s8",
        f"scratch {8 * 8 * 5 * 4} accumulator",
    ]


def lstm(type_=T.INT8):
    """A batch of 2, 4 steps, 3 inputs, a state of 5."""
    kept = {"data": b"x" * 25}
    inputs = [((2, 4, 3), type_, {"scale": 0.1})]
    inputs += [((5, 3), T.INT8, {"scale": 0.01, "data": b"x" * 15})] * 4 + [
        ((5, 5), T.INT8, {"scale": 0.01, **kept})
    ] * 4
    inputs += [*[None] * 3, *[((5,), T.INT32, {"scale": 0.001, "data": b"x" * 20})] * 4, *[None] * 2]
    inputs += [((2, 5), type_, {"scale": 0.1, "is_variable": True})]
    inputs += [((2, 5), T.INT16, {"scale": 2.0**-11, "is_variable": True}), *[None] * 4]
    return inputs, [((2, 4, 5), type_, {"scale": 0.1})]


BETWEEN = [((1,), T.INT8, {"scale": 0.1})] * 5


@pytest.mark.parametrize(
    ("day", "type_", "biases", "sums", "buffers"),
    [
        ("2023-03-02", T.INT8, 8, 0, 4),
        ("2023-03-02", T.INT16, 0, 0, 4),
        ("2024-02-09", T.INT8, 0, 8, 3),
        ("2024-02-09", T.INT16, 0, 0, 4),
        ("2024-04-23", T.INT16, 0, 8, 3),
    ],
)
def test_what_an_lstm_keeps(kernel, day, type_, biases, sums, buffers):
    bench = of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", *lstm(type_), day, intermediates=BETWEEN)
    lines = requests(bench)
    assert lines.count("persistent 20 effective_bias") == biases
    assert sum("kernel_sum" in line for line in lines) == sums
    assert sum(line.startswith("scratch 20 buffer") for line in lines) == buffers


def test_op_data_of_an_lstm(kernel):
    # OpDataLSTM, and of 2023 1 + 34 + 3 + 1 + 4 + 4 + 13 + 2 = 62 words, since 15 + 4 gates of 10, rounded up to 56.
    sizes = {
        day: of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", *lstm(), day).init() for day in ("2023-04-10", "2024-02-09")
    }
    assert sizes["2023-04-10"] == [f"persistent {688 + 62 * 4} cmsis_nn/unidirectional_sequence_lstm.OpData"]
    assert sizes["2024-02-09"] == [f"persistent {688 + 56 * 4} cmsis_nn/unidirectional_sequence_lstm.OpData"]


def test_an_lstm_of_2023_refuses_what_its_scales_do_not_fit(kernel):
    inputs, outputs = lstm()
    arguments = {"intermediates": BETWEEN}
    inputs[19][2]["scale"] = 0.3
    bench = of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "2023-04-10", **arguments)
    assert "CheckedLog2(cell_state->params.scale, &cell_scale) was not true." in bench.refusal()
    inputs[19][2]["scale"] = 2.0**-8
    bench = of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "2023-04-10", **arguments)
    assert bench.refusal().endswith(" cell_scale <= -9 was not true.")
    without = of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "2023-04-10")
    assert without.refusal().startswith("halts: ")
