"""The kernels of an Arduino library of 2023: what was compared is modelled, the rest is refused by name."""

import pytest

from tflm_sim.errors import UnsupportedOpError
from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.presets import target

MODELLED = {
    "ADD",
    "AVERAGE_POOL_2D",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
    "MAX_POOL_2D",
    "RESHAPE",
    "SOFTMAX",
}


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
    bench = of(kernel, "DEPTHWISE_CONV_2D", [source, window], [source], options=options)
    assert "scratch 72 depthwise_conv_wrapper" in bench.prepare()  # 4 * 9 int16


def test_other_types_are_refused_by_name(kernel):
    source = ((4,), T.INT16, {"scale": 0.5})
    with pytest.raises(UnsupportedOpError, match=r"ADD of Chirale_TensorFLowLite 2\.0\.0 .* float32 and int8 only"):
        of(kernel, "ADD", [source, source], [source]).prepare()


def test_other_operators_are_refused_by_name(kernel):
    table = registrations(target("nano33ble-chirale"))
    for op in set(table) - MODELLED:
        assert table[op].prepare is None
    with pytest.raises(UnsupportedOpError, match=r"SVDF of Chirale_TensorFLowLite 2\.0\.0 is not modelled"):
        of(kernel, "SVDF", [((1, 4), T.FLOAT32)], [((1, 4), T.FLOAT32)]).init()
