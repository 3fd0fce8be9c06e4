"""SignalRfft, SignalIrfft and SignalFftAutoScale."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

KERNELS = "signal/micro/kernels/"
KISS_FFT_STATE = 4 + 4 + 64 * 4
"""nfft, inverse, and 32 pairs of factors, in bytes."""


def _options(**values):
    return bytes(flexbuffers.Dumps(values))


def _bench(kernel, op, type_, fft_length, *, inputs=None, outputs=None, **arguments):
    signal = ((64,), type_)
    options = _options(T=int(type_), fft_length=fft_length)
    return kernel(
        op,
        [signal] if inputs is None else inputs,
        [signal] if outputs is None else outputs,
        **{"custom_options": options, **arguments},
    )


@pytest.mark.parametrize(("type_", "complex_size"), [(T.INT16, 4), (T.INT32, 8), (T.FLOAT32, 8)])
@pytest.mark.parametrize(("target", "params", "pointer"), [("cortex-m4", 32, 4), ("x86_64", 48, 8)])
def test_rfft_takes_its_state_in_init_and_scratch_in_prepare(kernel, type_, complex_size, target, params, pointer):
    bench = _bench(kernel, "SignalRfft", type_, 512, target=target)
    # 3 pointers, the inner state, 256 twiddles, 256 of tmpbuf, 128 super twiddles.
    state = 3 * pointer + KISS_FFT_STATE + (256 + 256 + 128) * complex_size
    struct = f"persistent {params} rfft.TfLiteAudioFrontendRfftParams"
    assert bench.init() == [struct, f"persistent {state} kissfft state"]
    scratch = f"scratch {512 * complex_size // 2} padded input"
    assert bench.prepare() == ["temp 0", "temp 1", scratch, "free 0", "free 1"]


@pytest.mark.parametrize(("type_", "complex_size", "header"), [(T.INT16, 4, 0), (T.INT32, 8, 0), (T.FLOAT32, 8, 8)])
def test_irfft_of_floats_has_a_header(kernel, type_, complex_size, header):
    bench = _bench(kernel, "SignalIrfft", type_, 64)
    # As above for 64; the header is the length and a pointer.
    state = header + 3 * 4 + KISS_FFT_STATE + (32 + 32 + 16) * complex_size
    struct = "persistent 24 irfft.TfLiteAudioFrontendIrfftParams"
    assert bench.init() == [struct, f"persistent {state} kissfft state"]
    assert bench.prepare() == ["temp 0", "temp 1", "free 0", "free 1"]


def test_a_length_of_zero_has_a_state_and_a_negative_even_one_never_comes_back(kernel):
    # 3 pointers, and the inner state without a twiddle.
    assert _bench(kernel, "SignalRfft", T.INT16, 0).init()[1] == f"persistent {3 * 4 + KISS_FFT_STATE} kissfft state"
    assert _bench(kernel, "SignalRfft", T.INT16, -2).refusal().startswith("halts: ")


def test_kissfft_refuses_odd_lengths_and_asks_for_nothing(kernel):
    assert _bench(kernel, "SignalRfft", T.INT16, 7).init()[1] == "persistent 0 kissfft state"
    assert _bench(kernel, "SignalIrfft", T.FLOAT32, 7).init()[1] == "persistent 8 kissfft state"


def test_half_of_an_even_length_that_is_odd_rounds_down(kernel):
    # 3 twiddles, 3 of tmpbuf, 1 super twiddle: 3 * 3 / 2 is 4.
    state = 3 * 4 + KISS_FFT_STATE + (3 + 4) * 4
    assert _bench(kernel, "SignalRfft", T.INT16, 6).init()[1] == f"persistent {state} kissfft state"


def test_rfft_survives_a_full_arena_and_irfft_does_not(kernel):
    bench = _bench(kernel, "SignalRfft", T.INT16, 64, refuse="persistent 600")
    assert bench.prepare() == ["temp 0", "temp 1", "scratch 128 padded input", "free 0", "free 1"]
    bench = _bench(kernel, "SignalIrfft", T.INT16, 64, refuse="persistent 596")
    assert bench.init()[1] == "persistent 596 kissfft state"
    assert bench.refusal().startswith("halts: ")


@pytest.mark.parametrize(("op", "file", "lines"), [
    ("SignalRfft", "rfft.cc", (78, 79, 84, 87, 89, 91, 92)),
    ("SignalIrfft", "irfft.cc", (83, 84, 90, 93, 95, 97, 98)),
])  # fmt: skip
@pytest.mark.parametrize(("inputs", "outputs", "line", "message"), [
    ([], None, 0, "NumInputs(node) != 1 (0 != 1)"),
    (None, [], 1, "NumOutputs(node) != 1 (0 != 1)"),
    ([None], None, 2, "input != nullptr was not true."),
    (None, [None], 3, "output != nullptr was not true."),
    ([((2, 64), T.INT16)], None, 4, "NumDimensions(input) != NumDimensions(output) (2 != 1)"),
    ([((64,), T.INT8)], None, 5, "input->type != TfLiteTypeEnum (INT8 != INT16)"),
    (None, [((64,), T.FLOAT32)], 6, "output->type != TfLiteTypeEnum (FLOAT32 != INT16)"),
])  # fmt: skip
def test_refusals(kernel, op, file, lines, inputs, outputs, line, message):
    bench = _bench(kernel, op, T.INT16, 64, inputs=inputs, outputs=outputs)
    assert bench.refusal() == f"{KERNELS}{file}:{lines[line]} {message}"


@pytest.mark.parametrize("op", ["SignalRfft", "SignalIrfft"])
@pytest.mark.parametrize("arguments", [
    {"custom_options": None},
    {"custom_options": b"\1\2\3"},
    {"custom_options": _options(T=9, fft_length=64)},
    {"custom_options": _options(T=7)},
    {"inputs": [((), T.INT16)], "outputs": [((), T.INT16)]},
    {"inputs": [((1,) * 7, T.INT16)], "outputs": [((1,) * 7, T.INT16)]},
])  # fmt: skip
def test_halts(kernel, op, arguments):
    assert _bench(kernel, op, T.INT16, 64, **arguments).refusal().startswith("halts: ")


def test_a_negative_even_length_never_comes_back(kernel):
    assert _bench(kernel, "SignalRfft", T.INT16, -2).refusal().startswith("halts: ")


AUTO_SCALE = {"op": "SignalFftAutoScale", "inputs": [((16,), T.INT16)], "outputs": [((16,), T.INT16), ((), T.INT32)]}


def test_auto_scale_frees_the_scale_bit_first(kernel):
    bench = kernel(**AUTO_SCALE)
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 2", "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [((16,), T.INT16)] * 2, "26 NumInputs(node) != 1 (0 != 1)"),
    ([((16,), T.INT16)], [], "27 NumOutputs(node) != 2 (0 != 2)"),
    ([((16,), T.INT16)], [((16,), T.INT16), None], "38 scale_bit != nullptr was not true."),
    ([((4, 4), T.INT16)], [((16,), T.INT16), ((), T.INT32)], "40 NumDimensions(input) != 1 (2 != 1)"),
    ([((16,), T.INT16)], [((16,), T.INT16), ((1,), T.INT32)], "42 NumDimensions(scale_bit) != 0 (1 != 0)"),
    ([((16,), T.INT8)], [((16,), T.INT16), ((), T.INT32)], "44 input->type != kTfLiteInt16 (INT8 != INT16)"),
    ([((16,), T.INT16)], [((16,), T.INT16), ((), T.INT16)], "46 scale_bit->type != kTfLiteInt32 (INT16 != INT32)"),
])  # fmt: skip
def test_auto_scale_refusals(kernel, inputs, outputs, message):
    bench = kernel("SignalFftAutoScale", inputs, outputs)
    assert bench.refusal() == f"{KERNELS}fft_auto_scale_common.cc:{message}"
