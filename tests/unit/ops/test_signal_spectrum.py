"""SignalEnergy, SignalFilterBank and its relatives, SignalPCAN."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

KERNELS = "signal/micro/kernels/"
SUBTRACTION = [
    "alternate_one_minus_smoothing",
    "alternate_smoothing",
    "clamping",
    "min_signal_remaining",
    "num_channels",
    "one_minus_smoothing",
    "smoothing",
    "smoothing_bits",
    "spectral_subtraction_bits",
]


def i16(*shape):
    return (shape, T.INT16)


def u32(*shape):
    return (shape, T.UINT32)


def u64(*shape):
    return (shape, T.UINT64)


def _bench(kernel, op, inputs, outputs, options, **arguments):
    return kernel(op, inputs, outputs, custom_options=bytes(flexbuffers.Dumps(options)), **arguments)


@pytest.mark.parametrize(("op", "inputs", "outputs", "options", "init", "prepare"), [
    ("SignalEnergy", [i16(16)], [u32(8)], {"start_index": 0, "end_index": 8},
     ["persistent 8 energy.TFLMSignalEnergyParams"], "temp 0, temp 1, free 0, free 1"),
    ("SignalFilterBankLog", [u32(8)], [i16(8)], {"input_correction_bits": 3, "output_scale": 1},
     ["persistent 8 filter_bank_log.TFLMSignalLogParams"], "temp 0, temp 1, free 0, free 1"),
    # A pair of 36-byte config and two words; 20 channels of 4 bytes.
    ("SignalFilterBankSpectralSubtraction", [u32(20)], [u32(20), u32(20)], dict.fromkeys(SUBTRACTION, 20),
     ["persistent 44 filter_bank_spectral_subtraction.TFLMSignalSpectralSubtractionParams",
      "persistent 80 noise estimate"], "temp 0, temp 1, temp 2, free 0, free 1, free 2"),
    ("SignalPCAN", [u32(8), u32(8), i16(5)], [u32(8)], {"snr_shift": 6},
     ["persistent 4 tflm_signal::TfLitePcanParams"],
     "temp 0, temp 1, temp 2, temp 3, free 0, free 3, free 1, free 2"),
])  # fmt: skip
def test_what_they_take(kernel, op, inputs, outputs, options, init, prepare):
    bench = _bench(kernel, op, inputs, outputs, options)
    assert bench.init() == init
    assert bench.prepare() == prepare.split(", ")


def test_square_root_frees_its_output_before_the_scale(kernel):
    bench = kernel("SignalFilterBankSquareRoot", [u64(8), ((), T.INT32)], [u32(8)])
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 2", "free 1"]


BANK = [u32(10), i16(4), i16(4), i16(3), i16(3), i16(3)]


def test_filter_bank_looks_at_one_tensor_after_the_other(kernel):
    bench = _bench(kernel, "SignalFilterBank", BANK, [u64(2)], {"num_channels": 2})
    # A config of eight words and a pointer; an accumulator of 8 bytes per channel and one more.
    assert bench.init() == ["persistent 36 filter_bank.TFLMSignalFilterBankParams", "persistent 24 work area"]
    assert bench.prepare() == [step for index in range(7) for step in (f"temp {index}", f"free {index}")]


def test_filter_bank_prepares_without_its_work_area(kernel):
    bench = _bench(kernel, "SignalFilterBank", BANK, [u64(2)], {"num_channels": 2}, refuse="persistent 24")
    assert len(bench.prepare()) == 14


def test_a_negative_channel_count_is_a_huge_unsigned_size(kernel):
    bench = _bench(kernel, "SignalFilterBank", BANK, [u64(2)], {"num_channels": -5})
    assert bench.init()[1] == f"persistent {2**32 - 32} work area"  # (-5 + 1) * 8


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("SignalEnergy", [i16(2, 8)], [u32(8)], "energy.cc:75 NumDimensions(input) != 1 (2 != 1)"),
    ("SignalEnergy", [i16(16)], [i16(8)], "energy.cc:79 output->type != kTfLiteUInt32 (INT16 != UINT32)"),
    ("SignalEnergy", [None], [u32(8)], "energy.cc:70 input != nullptr was not true."),
    ("SignalFilterBank", BANK[:5], [u64(2)], "filter_bank.cc:75 NumInputs(node) != 6 (5 != 6)"),
    ("SignalFilterBank", [i16(10), *BANK[1:]], [u64(2)],
     "filter_bank.cc:83 input->type != kTfLiteUInt32 (INT16 != UINT32)"),
    ("SignalFilterBank", [*BANK[:3], i16(), *BANK[4:]], [u64(2)],
     "filter_bank.cc:100 NumDimensions(input) != 1 (0 != 1)"),
    ("SignalFilterBank", [*BANK[:5], None], [u64(2)], "filter_bank.cc:111 input != nullptr was not true."),
    ("SignalFilterBank", BANK, [None], "filter_bank.cc:118 output != nullptr was not true."),
    ("SignalFilterBank", BANK, [u32(2)], "filter_bank.cc:120 output->type != kTfLiteUInt64 (UINT32 != UINT64)"),
    ("SignalFilterBankLog", [None], [None], "filter_bank_log.cc:72 input != nullptr was not true."),
    ("SignalFilterBankLog", [u32(8)], [None], "filter_bank_log.cc:73 output != nullptr was not true."),
    ("SignalFilterBankSpectralSubtraction", [u32(8)], [u32(8), i16(8)],
     "filter_bank_spectral_subtraction.cc:124 noise_estimate->type != kTfLiteUInt32 (INT16 != UINT32)"),
    ("SignalFilterBankSquareRoot", [u64(8), u32()], [u32(8)],
     "filter_bank_square_root_common.cc:47 scale_bits->type != kTfLiteInt32 (UINT32 != INT32)"),
    ("SignalPCAN", [u32(8), u32(8), None], [u32(8)], "pcan.cc:69 gain_lut != nullptr was not true."),
    ("SignalPCAN", [u32(8), u32(8), u32(5)], [u32(8)],
     "pcan.cc:81 gain_lut->type != kTfLiteInt16 (UINT32 != INT16)"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    options = dict.fromkeys(["a", "b", "c", "d", "e", "f", "g", "h", "i"], 2)
    assert _bench(kernel, op, inputs, outputs, options).refusal() == KERNELS + message


def test_what_is_there_before_a_missing_tensor_depends_on_the_kernel(kernel):
    options = {"a": 1, "b": 2}
    energy = _bench(kernel, "SignalEnergy", [None], [u32(8)], options)
    energy.refusal()
    assert energy.requests == []
    log = _bench(kernel, "SignalFilterBankLog", [None], [i16(8)], options)
    log.refusal()
    assert log.requests == ["temp 0"]


def test_subtraction_without_its_noise_estimate_halts(kernel):
    options = dict.fromkeys(SUBTRACTION, 20)
    arguments = ("SignalFilterBankSpectralSubtraction", [u32(20)], [u32(20), u32(20)], options)
    assert _bench(kernel, *arguments, refuse="persistent 80").refusal().startswith("halts: ")


@pytest.mark.parametrize("op", ["SignalEnergy", "SignalFilterBank", "SignalFilterBankLog", "SignalPCAN"])
def test_options_that_are_left_out_halt(kernel, op):
    assert _bench(kernel, op, [u32(8)], [u32(8)], {}).refusal().startswith("halts: ")
