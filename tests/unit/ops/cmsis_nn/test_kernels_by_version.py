"""What TFLM's CMSIS-NN kernels asked for between April 2021 and today, request by request."""

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


PAIR_OF_INT16 = ((1, 8, 8, 4), T.INT16, {"scale": 0.5}), ((1, 8, 8, 6), T.INT16, {"scale": 0.5})
WEIGHTS = ((6, 3, 3, 4), T.INT8, {"scale": 0.1})
STEPS = {"padding": 0, "stride_w": 1, "stride_h": 1}


@pytest.mark.parametrize(("day", "arrays"), [("2021-06-07", 2), ("2021-06-08", 0), ("2026-08-01", 0)])
@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_float_convolutions_had_arrays_until_june_2021(kernel, op, day, arrays):
    window = (6, 3, 3, 4) if op == "CONV_2D" else (1, 3, 3, 6)
    inputs = [((1, 8, 8, 4), T.FLOAT32), (window, T.FLOAT32), ((6,), T.FLOAT32)]
    bench = of(kernel, op, inputs, [((1, 8, 8, 6), T.FLOAT32)], day=day, options=STEPS)
    assert len(requests(bench)) == arrays


def test_a_convolution_of_int16_came_in_march_2022(kernel):
    source, output = PAIR_OF_INT16
    inputs = [source, WEIGHTS, ((6,), T.INT64)]
    before = of(kernel, "CONV_2D", inputs, [output], day="2022-03-28", target="cortex-m4", options=STEPS)
    assert before.refusal().startswith("halts: ")  # It writes into arrays that it has not asked for.
    # Six channels of int32, twice; two columns of 3 * 3 * 4 int16.
    lines = requests(of(kernel, "CONV_2D", inputs, [output], "2022-03-29", target="cortex-m4", options=STEPS))
    assert [line.split()[1] for line in lines] == ["24", "24", "144"]


def test_softmax_had_the_reference_prepare_until_may_2022(kernel):
    tensor = ((1, 10), T.FLOAT32)
    assert of(kernel, "SOFTMAX", [tensor], [tensor], day="2022-05-12").init() == ["persistent 56 SoftmaxParams"]
    own = of(kernel, "SOFTMAX", [tensor], [tensor], day="2022-05-13")
    assert own.init() == ["persistent 64 cmsis_nn/softmax.CMSISNNSoftmaxParams"]


@pytest.mark.parametrize(("day", "size"), [("2022-05-08", 32), ("2022-05-09", 36), ("2023-09-19", 40)])
def test_svdf_grew_by_a_zero_point_and_by_sums(kernel, day, size):
    tensor = ((1, 10), T.FLOAT32)
    bench = of(kernel, "SVDF", [tensor], [tensor], day=day)
    assert bench.init() == [f"persistent {size} cmsis_nn/svdf.CmsisNnOpDataSvdf"]


@pytest.mark.parametrize(
    ("day", "size"),
    # OpDataFullyConnected of 32 bytes and an index; two pointers; three sizes.
    [("2022-02-14", 36), ("2022-02-15", 44), ("2022-05-11", 56)],
)
def test_fully_connected_grew(kernel, day, size):
    inputs = [((1, 32), T.INT8), ((10, 32), T.INT8)]
    bench = of(kernel, "FULLY_CONNECTED", inputs, [((1, 10), T.INT8)], day=day)
    assert bench.init() == [f"persistent {size} cmsis_nn/fully_connected.OpData"]


def test_fully_connected_had_two_dimensions_until_february_2022(kernel):
    def layer(day):
        types = [((1, 4, 32), T.INT8, {"scale": 0.5}), ((10, 32), T.INT8, {"scale": 0.1})]
        types.append(((10,), T.INT32, {"scale": 0.05}))
        return of(kernel, "FULLY_CONNECTED", types, [((1, 4, 10), T.INT8, {"scale": 0.5})], day=day)

    assert layer("2022-02-14").refusal().startswith("halts: ")
    assert [line.split()[1] for line in requests(layer("2022-02-15"))] == ["40", "40"]


@pytest.mark.parametrize(
    ("day", "type_", "halts"),
    [
        ("2022-05-10", T.FLOAT32, False),  # Only for int8 were the dimensions read.
        ("2022-05-10", T.INT8, True),
        ("2022-05-11", T.FLOAT32, True),
        ("2023-01-13", T.INT8, True),
        ("2026-08-20", T.FLOAT32, True),
    ],
)
def test_fully_connected_of_no_dimension_halts_for_all_types_since_may_2022(kernel, day, type_, halts):
    inputs = [((1, 32), type_, {"scale": 0.5}), ((1, 32), type_, {"scale": 0.1, "data": bytes(128)})]
    bench = of(kernel, "FULLY_CONNECTED", inputs, [((), type_, {"scale": 0.5})], day=day, target="cortex-m4")
    if halts:
        assert bench.refusal().startswith("halts: ")
    else:
        assert bench.prepare()


@pytest.mark.parametrize(("day", "file"), [("2021-11-08", "cmsis_nn/mul.cc:61"), ("2021-11-09", "mul_common.cc:47")])
def test_mul_stands_in_the_common_file_since_november_2021(kernel, day, file):
    tensor = ((4,), T.INT8, {"scale": 0.5})
    bench = of(kernel, "MUL", [tensor, tensor, tensor], [tensor], day=day)
    said = "NumInputs(node) != 2 (3 != 2)"
    assert bench.refusal().endswith(said)
    assert ("cmsis_nn" in bench.refusal()) == ("cmsis_nn" in file)


@pytest.mark.parametrize("day", ["2021-06-20", "2021-06-22"])
def test_average_pooling_took_its_tensors_once_in_a_prepare_of_its_own(kernel, day):
    pool = STEPS | {"filter_width": 2, "filter_height": 2}
    tensors = [((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((1, 7, 7, 4), T.INT8, {"scale": 0.5})]
    lines = of(kernel, "AVERAGE_POOL_2D", tensors[:1], tensors[1:], day, target="cortex-m4", options=pool).prepare()
    assert lines.count("temp 0") == (1 if day == "2021-06-20" else 2)
    assert lines.count("scratch 16 avgpool") == 1
