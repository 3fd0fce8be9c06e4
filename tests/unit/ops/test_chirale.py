"""The kernels of an Arduino library of 2023: CMSIS-NN's of then, with fewer checks, and none for what has no bias."""

import pytest

from tflm_sim.model.types import TensorType as T


def of(kernel, op, inputs, outputs, **arguments):
    return kernel(op, inputs, outputs, target="nano33ble-chirale", kernels=None, **arguments)


def test_fully_connected_keeps_fake_channels_in_the_tail(kernel):
    inputs = [((1, 4), T.INT8, {"scale": 0.5}), ((3, 4), T.INT8, {"scale": 0.1})]
    bench = of(kernel, "FULLY_CONNECTED", inputs, [((1, 1, 3), T.INT8, {"scale": 0.5})])
    # OpDataFullyConnected (9 words) and six words.
    assert bench.init() == ["persistent 60 cmsis_nn/fully_connected.OpData"]
    assert [line for line in bench.prepare() if not line.startswith(("temp", "free"))] == [
        "persistent 12 per_channel_output_multiplier",
        "persistent 12 per_channel_output_shift",
    ]


def test_a_3x3_depthwise_convolution_asks_for_columns(kernel):
    source = ((1, 8, 8, 4), T.INT8, {"scale": 0.5})
    window = ((1, 3, 3, 4), T.INT8, {"scale": 0.1, "quantized_dimension": 3})
    options = {"padding": 0, "stride_w": 1, "stride_h": 1, "depth_multiplier": 1}
    inputs = [source, window, ((4,), T.INT32, {"scale": 0.05})]
    bench = of(kernel, "DEPTHWISE_CONV_2D", inputs, [source], options=options)
    assert "scratch 72 depthwise_conv_wrapper" in bench.prepare()  # 4 * 9 int16


def test_a_hybrid_convolution_is_prepared_without_a_word(kernel):
    inputs = [((1, 8, 8, 4), T.FLOAT32), ((6, 3, 3, 4), T.INT8, {"scale": 0.1}), ((6,), T.FLOAT32)]
    bench = of(kernel, "CONV_2D", inputs, [((1, 8, 8, 6), T.FLOAT32)])
    assert not [line for line in bench.prepare() if line.startswith(("persistent", "scratch"))]


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_a_convolution_without_a_bias_halts(kernel, op):
    weights = (6, 3, 3, 4) if op == "CONV_2D" else (1, 3, 3, 6)
    inputs = [((1, 8, 8, 4), T.FLOAT32), (weights, T.FLOAT32)]
    bench = of(kernel, op, inputs, [((1, 8, 8, 6), T.FLOAT32)])
    assert bench.refusal().startswith("halts: ")
    assert "bias is a null pointer, which is read" in bench.refusal()


def test_an_int4_filter_is_unpacked(kernel):
    inputs = [((1, 8, 8, 4), T.INT8, {"scale": 0.5}), ((6, 3, 3, 4), T.INT4, {"scale": 0.1}), ((6,), T.INT32)]
    bench = of(kernel, "CONV_2D", inputs, [((1, 8, 8, 6), T.INT8, {"scale": 0.5})])
    assert "scratch 216 unpacked_filter" in bench.prepare()  # 6 * 3 * 3 * 4


def test_a_lstm_is_the_kernel_of_january_2023(kernel):
    """Before tflite-micro 0a1ccdfdd of 2023-02-02, which brought OpDataLSTM."""
    bench = of(kernel, "UNIDIRECTIONAL_SEQUENCE_LSTM", [], [])
    assert bench.init()[0].endswith(" unidirectional_sequence_lstm.UnidirectionalSequenceLstmOpData")
