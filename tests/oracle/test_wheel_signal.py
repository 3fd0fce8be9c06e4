"""The signal library's kernels, allowed and refused, do in the wheel what they do in our simulation of it."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

FLAG = ((), T.BOOL)
CONSTANT = {"data": [1] * 16}
FRAMER = {"frame_size": 20, "frame_step": 8, "prefill": True}
STACKER = {"num_channels": 3, "stacker_left_context": 1, "stacker_right_context": 2, "stacker_step": 2}
SUBTRACTION = {
    "alternate_one_minus_smoothing": 1,
    "alternate_smoothing": 2,
    "clamping": True,
    "min_signal_remaining": 3,
    "num_channels": 20,
    "one_minus_smoothing": 4,
    "smoothing": 5,
    "smoothing_bits": 6,
    "spectral_subtraction_bits": 7,
}
FILTER_BANK = [((10,), T.UINT32), *[((16,), T.INT16, CONSTANT)] * 5]


def i16(*shape):
    return (shape, T.INT16)


def u32(*shape):
    return (shape, T.UINT32)


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), [
    ("SignalDelay", [i16(2, 3, 10)], [i16(2, 3, 10)], {"delay_length": 7}),
    ("SignalDelay", [i16(10)], [i16(10)], {"delay_length": 0}),
    ("SignalEnergy", [i16(16)], [u32(8)], {"start_index": 0, "end_index": 8}),
    ("SignalFftAutoScale", [i16(16)], [i16(16), ((), T.INT32)], {}),
    ("SignalFilterBank", FILTER_BANK, [((2,), T.UINT64)], {"num_channels": 2}),
    ("SignalFilterBankLog", [u32(32)], [i16(32)], {"input_correction_bits": 3, "output_scale": 1600}),
    ("SignalFilterBankSpectralSubtraction", [u32(20)], [u32(20), u32(20)], SUBTRACTION),
    ("SignalFilterBankSquareRoot", [((20,), T.UINT64), ((), T.INT32)], [u32(20)], {}),
    ("SignalFramer", [i16(2, 32)], [i16(2, 4, 20), FLAG], FRAMER),
    ("SignalFramer", [i16(32)], [i16(4, 20), FLAG], {**FRAMER, "prefill": False}),
    ("SignalPCAN", [u32(20), u32(20), ((16,), T.INT16, CONSTANT)], [u32(20)], {"snr_shift": 6}),
    ("SignalStacker", [i16(3)], [i16(12), FLAG], STACKER),
    ("SignalWindow", [i16(4, 16), ((16,), T.INT16, CONSTANT)], [i16(4, 16)], {"shift": 12}),
])  # fmt: skip
def test_streams_and_spectra(same_as_wheel, one_op, op, inputs, outputs, options):
    model = one_op(op, inputs, outputs, custom_options=bytes(flexbuffers.Dumps(options)))
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize("type_", [T.INT16, T.INT32, T.FLOAT32])
@pytest.mark.parametrize("fft_length", [2, 6, 7, 64, 512])
def test_the_state_of_a_transform_for_each_type_and_length(same_as_wheel, one_op, type_, fft_length):
    options = bytes(flexbuffers.Dumps({"T": int(type_), "fft_length": fft_length}))
    signal, spectrum = ((fft_length,), type_), ((fft_length + 2,), type_)
    assert same_as_wheel(one_op("SignalRfft", [signal], [spectrum], custom_options=options)).status == "ok"
    assert same_as_wheel(one_op("SignalIrfft", [spectrum], [signal], custom_options=options)).status == "ok"


@pytest.mark.parametrize("type_", [T.INT16, T.FLOAT32])
def test_overlap_add_for_each_type(same_as_wheel, one_op, type_):
    options = bytes(flexbuffers.Dumps({"T": int(type_), "frame_step": 8}))
    model = one_op("SignalOverlapAdd", [((3, 2, 16), type_)], [((3, 16), type_)], custom_options=options)
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), [
    ("SignalDelay", [((10,), T.FLOAT32)], [i16(10)], {"delay_length": 7}),
    ("SignalEnergy", [i16(2, 16)], [u32(8)], {"start_index": 0, "end_index": 8}),
    ("SignalFftAutoScale", [i16(16)], [i16(16), ((1,), T.INT32)], {}),
    ("SignalFilterBank", [*FILTER_BANK[:5], ((3,), T.INT32)], [((2,), T.UINT64)], {"num_channels": 2}),
    ("SignalFilterBankLog", [i16(32)], [i16(32)], {"input_correction_bits": 3, "output_scale": 1600}),
    ("SignalFilterBankSquareRoot", [((20,), T.UINT64)], [u32(20)], {}),
    ("SignalFramer", [i16(2, 30)], [i16(2, 4, 20), FLAG], FRAMER),
    ("SignalFramer", [i16(2, 32)], [i16(2, 32), FLAG], FRAMER),
    ("SignalIrfft", [((66,), T.INT16)], [((64,), T.INT8)], {"T": 7, "fft_length": 64}),
    ("SignalOverlapAdd", [i16(3, 2, 16)], [i16(3, 16)], {"T": 0, "frame_step": 8}),
    ("SignalOverlapAdd", [i16(16)], [i16()], {"T": 7, "frame_step": 8}),
    ("SignalPCAN", [u32(20), u32(20), None], [u32(20)], {"snr_shift": 6}),
    ("SignalRfft", [((64,), T.INT8)], [((66,), T.INT16)], {"T": 7, "fft_length": 64}),
    ("SignalRfft", [((2, 65), T.INT16)], [((2, 66), T.INT16)], {"T": 7, "fft_length": 64}),
    ("SignalRfft", [((65,), T.FLOAT32)], [((66,), T.FLOAT32)], {"T": 0, "fft_length": 64}),
    ("SignalStacker", [i16(3)], [i16(3, 4), FLAG], STACKER),
    ("SignalWindow", [i16(4, 16), ((16,), T.INT16, CONSTANT)], [i16(64)], {"shift": 12}),
])  # fmt: skip
def test_refusals(same_as_wheel, one_op, op, inputs, outputs, options):
    model = one_op(op, inputs, outputs, custom_options=bytes(flexbuffers.Dumps(options)))
    assert same_as_wheel(model).status == "error"
