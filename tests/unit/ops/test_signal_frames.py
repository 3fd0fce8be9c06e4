"""SignalDelay, SignalFramer, SignalOverlapAdd, SignalStacker and SignalWindow.

On a Cortex-M4 a circular buffer is 24 bytes (six 32-bit members) and every element twice, at 2 bytes.
"""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

KERNELS = "signal/micro/kernels/"
FLAG = ((), T.BOOL)
FRAMER = {"frame_size": 20, "frame_step": 8, "prefill": True}


def i16(*shape):
    return (shape, T.INT16)


def _bench(kernel, op, inputs, outputs, options, **arguments):
    packed = None if options is None else bytes(flexbuffers.Dumps(options))
    return kernel(op, inputs, outputs, custom_options=packed, **arguments)


def _halts(bench):
    return bench.refusal().startswith("halts: ")


def test_delay_keeps_a_circular_buffer_per_stream(kernel):
    bench = _bench(kernel, "SignalDelay", [i16(2, 3, 10)], [i16(2, 3, 10)], {"delay_length": 7})
    assert bench.init() == ["persistent 20 delay.TFLMSignalFrontendDelayParams"]  # three int32, two pointers
    arrays = ["persistent 24 state_buffers", "persistent 24 circular_buffers"]  # 2 * 3 pointers each
    buffers = ["persistent 92 circular buffer"] * 6  # 24 + 2 * 2 * (10 + 7)
    assert bench.prepare() == ["temp 0", "temp 1", *arrays, *buffers, "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [i16(10)], "62 NumInputs(node) != 1 (0 != 1)"),
    ([i16(10)], [], "63 NumOutputs(node) != 1 (0 != 1)"),
    ([None], [i16(10)], "68 input != nullptr was not true."),
    ([i16(10)], [None], "71 output != nullptr was not true."),
    ([((10,), T.INT8)], [i16(10)], "73 input->type != kTfLiteInt16 (INT8 != INT16)"),
    ([i16(10)], [((10,), T.INT8)], "74 output->type != kTfLiteInt16 (INT8 != INT16)"),
])  # fmt: skip
def test_delay_refusals(kernel, inputs, outputs, message):
    bench = _bench(kernel, "SignalDelay", inputs, outputs, {"delay_length": 7})
    assert bench.refusal() == f"{KERNELS}delay.cc:{message}"


def test_delay_without_params(kernel):
    bench = _bench(kernel, "SignalDelay", [i16(10)], [i16(10)], {"delay_length": 7}, refuse="persistent 20")
    assert bench.refusal() == f"{KERNELS}delay.cc:79 params != nullptr was not true."


@pytest.mark.parametrize(("stream", "delay"), [(i16(), 7), (i16(2, 0), 7), (i16(10), -1), (i16(10), -11)])
def test_delay_halts(kernel, stream, delay):
    assert _halts(_bench(kernel, "SignalDelay", [stream], [stream], {"delay_length": delay}))
    assert _halts(_bench(kernel, "SignalDelay", [stream], [stream], None))


@pytest.mark.parametrize(("options", "size"), [
    # 20 elements in steps of 8 take 24; 24 + 2 * 2 * 24.
    (FRAMER, 120),
    ({**FRAMER, "prefill": False}, 120),
    ({**FRAMER, "frame_size": 16}, 88),
])  # fmt: skip
def test_framer_rounds_the_frame_up_to_whole_steps(kernel, options, size):
    bench = _bench(kernel, "SignalFramer", [i16(2, 32)], [i16(2, 4, 20), FLAG], options)
    assert bench.init() == ["persistent 28 framer.TFLMSignalFramerParams"]  # four int32, a bool, two pointers
    arrays = ["persistent 8 state_buffers", "persistent 8 circular_buffers"]
    own = [*arrays, *[f"persistent {size} circular buffer"] * 2]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", *own, "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [i16(4, 20), FLAG], "80 NumInputs(node) != 1 (0 != 1)"),
    ([i16(32)], [i16(4, 20)], "81 NumOutputs(node) != 2 (1 != 2)"),
    ([i16(32)], [i16(4, 20), None], "93 output_valid != nullptr was not true."),
    ([i16(32)], [i16(20), FLAG], "95 NumDimensions(input) + 1 != NumDimensions(output) (2 != 1)"),
    ([i16(32)], [i16(4, 20), ((1,), T.BOOL)], "96 NumDimensions(output_valid) != 0 (1 != 0)"),
    ([((32,), T.INT8)], [i16(4, 20), FLAG], "98 input->type != kTfLiteInt16 (INT8 != INT16)"),
    ([i16(32)], [((4, 20), T.INT8), FLAG], "99 output->type != kTfLiteInt16 (INT8 != INT16)"),
    ([i16(32)], [i16(4, 20), i16()], "100 output_valid->type != kTfLiteBool (INT16 != BOOL)"),
    ([i16(4)], [i16(4, 20), FLAG], "106 innermost_dim >= params->frame_step was not true."),
    ([i16(30)], [i16(4, 20), FLAG], "107 innermost_dim % params->frame_step != 0 (6 != 0)"),
])  # fmt: skip
def test_framer_refusals(kernel, inputs, outputs, message):
    assert _bench(kernel, "SignalFramer", inputs, outputs, FRAMER).refusal() == f"{KERNELS}framer.cc:{message}"


@pytest.mark.parametrize("options", [
    {**FRAMER, "frame_step": 0},
    {**FRAMER, "frame_size": 4},  # prefills with 4 - 8 zeros
    {**FRAMER, "frame_size": -80},
    {"frame_size": 20},
])  # fmt: skip
def test_framer_halts(kernel, options):
    assert _halts(_bench(kernel, "SignalFramer", [i16(32)], [i16(4, 20), FLAG], options))


@pytest.mark.parametrize(("type_", "element"), [(T.INT16, 2), (T.FLOAT32, 4)])
def test_overlap_add_keeps_a_frame_per_stream(kernel, type_, element):
    frames, signal = ((3, 2, 16), type_), ((3, 16), type_)
    bench = _bench(kernel, "SignalOverlapAdd", [frames], [signal], {"T": int(type_), "frame_step": 8})
    # Four int32, a one-byte enum with its padding, a pointer.
    assert bench.init() == ["persistent 24 overlap_add.TFLMSignalOverlapAddParams"]
    own = ["persistent 12 state_buffers", *[f"persistent {16 * element} overlap"] * 3]
    assert bench.prepare() == ["temp 0", "temp 1", *own, "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [i16(16)], "78 NumInputs(node) != 1 (0 != 1)"),
    ([i16(2, 16)], [], "79 NumOutputs(node) != 1 (0 != 1)"),
    ([None], [i16(16)], "85 input != nullptr was not true."),
    ([i16(2, 16)], [None], "88 output != nullptr was not true."),
    ([i16(2, 16)], [i16(2, 16)], "90 NumDimensions(input) != NumDimensions(output) + 1 (2 != 3)"),
    ([((2, 16), T.FLOAT32)], [i16(16)], "92 input->type != TfLiteTypeEnum (FLOAT32 != INT16)"),
    ([i16(2, 16)], [((16,), T.FLOAT32)], "93 output->type != TfLiteTypeEnum (FLOAT32 != INT16)"),
    ([i16(16)], [i16()], "99 input_shape.DimensionsCount() >= 2 was not true."),
])  # fmt: skip
def test_overlap_add_refusals(kernel, inputs, outputs, message):
    bench = _bench(kernel, "SignalOverlapAdd", inputs, outputs, {"T": 7, "frame_step": 8})
    assert bench.refusal() == f"{KERNELS}overlap_add.cc:{message}"


@pytest.mark.parametrize(("op", "stream", "outputs", "options"), [
    ("SignalDelay", i16(100_001, 8), [i16(100_001, 8)], {"delay_length": 1}),
    ("SignalFramer", i16(100_001, 8), [i16(1, 1, 1), FLAG], FRAMER),
    ("SignalOverlapAdd", i16(100_001, 1, 8), [i16(1, 1)], {"T": 7, "frame_step": 8}),
])  # fmt: skip
def test_more_streams_than_a_device_has_memory_for(kernel, op, stream, outputs, options):
    assert "100001 streams" in _bench(kernel, op, [stream], outputs, options).refusal()


def test_overlap_add_of_another_type_has_no_params(kernel):
    bench = _bench(kernel, "SignalOverlapAdd", [i16(2, 16)], [i16(16)], {"T": 2, "frame_step": 8})
    assert bench.init() == []
    assert _halts(bench)


@pytest.mark.parametrize(("frames", "refuse"), [(i16(0, 16), ""), (i16(2, -1), ""), (i16(2, 16), "persistent 32")])
def test_overlap_add_halts(kernel, frames, refuse):
    bench = _bench(kernel, "SignalOverlapAdd", [frames], [i16(16)], {"T": 7, "frame_step": 8}, refuse=refuse)
    assert _halts(bench)


STACKER = {"num_channels": 3, "stacker_left_context": 1, "stacker_right_context": 2, "stacker_step": 2}


def test_stacker_takes_all_in_init(kernel):
    bench = _bench(kernel, "SignalStacker", [i16(3)], [i16(12), FLAG], STACKER)
    # Four int32, two size_t, a bool, two pointers; then 24 + 2 * 2 * (3 channels * (1 + 2 + 1) frames).
    assert bench.init() == ["persistent 36 stacker.TFLMSignalStackerParams", "persistent 72 circular buffer"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([i16(3)], [i16(12)], "93 NumOutputs(node) != 2 (1 != 2)"),
    ([i16(3)], [i16(3, 4), FLAG], "108 NumDimensions(output) != 1 (2 != 1)"),
    ([i16(3)], [i16(12), i16()], "113 output_valid->type != kTfLiteBool (INT16 != BOOL)"),
])  # fmt: skip
def test_stacker_refusals(kernel, inputs, outputs, message):
    assert _bench(kernel, "SignalStacker", inputs, outputs, STACKER).refusal() == f"{KERNELS}stacker.cc:{message}"


def test_stacker_halts_on_a_negative_size(kernel):
    assert _halts(_bench(kernel, "SignalStacker", [i16(3)], [i16(12), FLAG], {**STACKER, "num_channels": -1}))


WEIGHTS = ((16,), T.INT16, {"data": [1] * 16})


def test_window_only_checks(kernel):
    bench = _bench(kernel, "SignalWindow", [i16(4, 16), WEIGHTS], [i16(4, 16)], {"shift": 12})
    assert bench.init() == ["persistent 8 window.TFLMSignalWindowParams"]  # two int32
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([i16(16)], [i16(16)], "57 NumInputs(node) != 2 (1 != 2)"),
    ([i16(16), None], [i16(16)], "67 weights != nullptr was not true."),
    ([i16(), WEIGHTS], [i16()], "72 NumDimensions(input) >= 1 was not true."),
    ([i16(16), i16(1, 16)], [i16(16)], "73 NumDimensions(weights) != 1 (2 != 1)"),
    ([i16(1, 16), WEIGHTS], [i16(16)], "74 NumDimensions(input) != NumDimensions(output) (2 != 1)"),
    ([i16(16), ((16,), T.INT8)], [i16(16)], "77 weights->type != kTfLiteInt16 (INT8 != INT16)"),
])  # fmt: skip
def test_window_refusals(kernel, inputs, outputs, message):
    bench = _bench(kernel, "SignalWindow", inputs, outputs, {"shift": 12})
    assert bench.refusal() == f"{KERNELS}window.cc:{message}"


def test_window_halts_on_options_without_a_value(kernel):
    assert _halts(_bench(kernel, "SignalWindow", [i16(16), WEIGHTS], [i16(16)], {}))
