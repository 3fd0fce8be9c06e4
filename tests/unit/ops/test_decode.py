"""TFLM_DECODE: inputs 0 and 1 are encoded and ancillary, tensor 2 is the output."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
LUT, HUFFMAN, PRUNE, CUSTOM = 0, 1, 2, 127
ENCODED = ((8,), T.UINT8, {"data": bytes(8)})
OUTPUT = ((16,), T.INT8)
TAKE, FREE = ["temp 0", "temp 1", "temp 2"], ["free 0", "free 1", "free 2"]
POINTERS = "persistent 4 DecodeState pointers"


def ancillary(decode_type, *, version=1, state_version=1, parameters=0):
    data = bytes([decode_type, version, 0, 0, state_version, parameters]) + bytes(10)
    return ((16,), T.UINT8, {"data": data})


def channels(type_=T.INT8, *, axis=0, zero_point=0, shape=(4, 2, 4)):
    return (shape, type_, {"scale": [0.5] * 4, "zero_point": zero_point, "quantized_dimension": axis})


# vtable, context and profiler: 12; then the state's own members.
STATES = {LUT: "persistent 36 DecodeStateLut", HUFFMAN: "persistent 28 DecodeStateHuffman",
          PRUNE: "persistent 40 DecodeStatePrune"}  # fmt: skip


@pytest.mark.parametrize("decode_type", STATES)
def test_a_state_for_each_output(kernel, decode_type):
    bench = kernel("TFLM_DECODE", [ENCODED, ancillary(decode_type)], [OUTPUT])
    assert bench.model.init is None
    assert bench.prepare() == [POINTERS, *TAKE, STATES[decode_type], *FREE]


def test_pairs_are_decoded_in_order(kernel):
    bench = kernel("TFLM_DECODE", [ENCODED, ancillary(LUT), ENCODED, ancillary(PRUNE)], [OUTPUT, OUTPUT])
    assert bench.prepare() == [
        "persistent 8 DecodeState pointers",
        *["temp 0", "temp 1", "temp 4", STATES[LUT], "free 0", "free 1", "free 4"],
        *["temp 2", "temp 3", "temp 5", STATES[PRUNE], "free 2", "free 3", "free 5"],
    ]


def test_pruned_channels_with_zero_points_keep_a_byte_each(kernel):
    bench = kernel("TFLM_DECODE", [ENCODED, ancillary(PRUNE)], [channels(zero_point=[0, 0, 0, 7])])
    assert bench.prepare() == [POINTERS, *TAKE, STATES[PRUNE], "persistent 4 zero points", *FREE]


@pytest.mark.parametrize("output", [
    channels(zero_point=[0] * 4),
    ((16,), T.INT8, {"scale": 0.5, "zero_point": 7}),
    channels(T.INT16, zero_point=[0] * 4),
    channels(zero_point=[2**32] * 4),  # 0 in 32 bits
])  # fmt: skip
def test_no_zero_points_are_kept(kernel, output):
    assert kernel("TFLM_DECODE", [ENCODED, ancillary(PRUNE)], [output]).prepare() == [
        POINTERS,
        *TAKE,
        STATES[PRUNE],
        *FREE,
    ]


@pytest.mark.parametrize("axis", [0, 2])
def test_channels_run_along_the_first_or_the_last_axis(kernel, axis):
    bench = kernel("TFLM_DECODE", [ENCODED, ancillary(LUT)], [channels(axis=axis)])
    assert bench.prepare() == [POINTERS, *TAKE, STATES[LUT], *FREE]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [], "decode.cc:55 num_outputs > 0 was not true."),
    ([ENCODED], [OUTPUT], "decode.cc:56 num_inputs != num_outputs * 2 (1 != 2)"),
    ([((8,), T.UINT8), ancillary(LUT)], [OUTPUT], "decode.cc:93 IsConstantTensor(input) was not true."),
    ([ENCODED, ((8,), T.UINT8)], [OUTPUT], "decode.cc:94 IsConstantTensor(ancillary) was not true."),
    ([ENCODED, ancillary(HUFFMAN)], [((16,), T.INT16)],
     "decode_state_huffman.cc:45 output.type != kTfLiteInt8 (INT16 != INT8)"),
    ([ENCODED, ancillary(PRUNE)], [channels(T.INT16, zero_point=[1] * 4)],
     "decode_state_prune.cc All zero-points must be zero"),
])  # fmt: skip
def test_refusals_with_a_place(kernel, inputs, outputs, message):
    assert kernel("TFLM_DECODE", inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([None, ancillary(LUT)], OUTPUT, "failed to allocate input tensor 0"),
    ([ENCODED, None], OUTPUT, "failed to allocate ancillary tensor 1"),
    ([ENCODED, ancillary(LUT)], None, "failed to allocate output tensor 0"),
    ([ENCODED, ancillary(LUT, version=3)], OUTPUT, "version 3 != 1"),
    ([ENCODED, ancillary(LUT, state_version=3)], OUTPUT, "unsupported version 3"),
    ([ENCODED, ancillary(LUT)], channels(axis=1), "unsupported quantization axis 1"),
    ([ENCODED, ancillary(PRUNE)], channels(axis=-1), "unsupported quantization axis 4294967295"),
    ([ENCODED, ancillary(CUSTOM)], OUTPUT, "failed to allocate DecodeState[0]"),
])  # fmt: skip
def test_refusals_without_a_place(kernel, inputs, output, message):
    assert kernel("TFLM_DECODE", inputs, [output]).refusal() == message


@pytest.mark.parametrize(("decode_type", "line"), [
    (CUSTOM, "log Custom decode type not yet supported"),
    (9, "log unsupported decode type 9"),
])  # fmt: skip
def test_a_refused_pair_is_freed(kernel, decode_type, line):
    bench = kernel("TFLM_DECODE", [ENCODED, ancillary(decode_type)], [OUTPUT])
    assert bench.refusal() == "failed to allocate DecodeState[0]"
    assert bench.requests == [POINTERS, *TAKE, line, *FREE]


def test_what_was_found_before_a_missing_tensor_is_freed(kernel):
    bench = kernel("TFLM_DECODE", [ENCODED, None], [OUTPUT])
    bench.refusal()
    assert bench.requests == [POINTERS, "temp 0", "free 0"]


def test_an_ensure_frees_nothing(kernel):
    bench = kernel("TFLM_DECODE", [((8,), T.UINT8), ancillary(LUT)], [OUTPUT])
    bench.refusal()
    assert bench.requests == [POINTERS, *TAKE]


@pytest.mark.parametrize(("refuse", "message"), [
    ("persistent 4 D", KERNELS + "decode.cc:62 node->user_data != nullptr was not true."),
    ("persistent 40", "failed to allocate DecodeState[0]"),
    ("persistent 4 z", "unable to allocate zero_points_"),
])  # fmt: skip
def test_a_full_arena(kernel, refuse, message):
    inputs = [ENCODED, ancillary(PRUNE)]
    assert kernel("TFLM_DECODE", inputs, [channels(zero_point=[1] * 4)], refuse=refuse).refusal() == message


def test_metadata_that_is_cut_short_halts(kernel):
    short = ((4,), T.UINT8, {"data": b"\0\1\0\0"})
    assert kernel("TFLM_DECODE", [ENCODED, short], [OUTPUT]).refusal().startswith("halts: ")
