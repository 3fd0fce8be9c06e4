"""CIRCULAR_BUFFER."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

FILE = "tensorflow/lite/micro/kernels/circular_buffer_common.cc"
OPTIONS = bytes(flexbuffers.Dumps({"cycles_max": 1}))


def int8(*shape):
    return (shape, T.INT8)


SOURCE, SLOTS = int8(1, 1, 1, 8), int8(1, 5, 1, 8)


@pytest.mark.parametrize("options", [OPTIONS, b"", None])
def test_two_tensors_are_taken_and_freed(kernel, options):
    bench = kernel("CIRCULAR_BUFFER", [SOURCE], [SLOTS], custom_options=options)
    assert bench.init() == ["persistent 8 OpDataCircularBuffer"]  # two ints
    assert bench.prepare() == ["temp 0", "temp 1", "free 0", "free 1"]


@pytest.mark.parametrize(("source", "output", "message"), [
    (None, SLOTS, "50 input != nullptr was not true."),
    (SOURCE, None, "51 output != nullptr was not true."),
    (int8(2, 1, 1, 8), SLOTS, "52 input->dims->data[0] != output->dims->data[0] (2 != 1)"),
    (int8(1, 3, 1, 8), SLOTS, "53 1 != input->dims->data[1] (1 != 3)"),
    (int8(1, 1, 2, 8), SLOTS, "54 input->dims->data[2] != output->dims->data[2] (2 != 1)"),
    (int8(1, 1, 1, 9), SLOTS, "55 output->dims->data[3] != input->dims->data[3] (8 != 9)"),
    (((1, 1, 1, 8), T.INT16), SLOTS, "57 input->type != output->type (INT16 != INT8)"),
    (((1, 1, 1, 8), T.INT16), ((1, 5, 1, 8), T.INT16), "60 input->type != kTfLiteInt8 (INT16 != INT8)"),
])  # fmt: skip
def test_refusals(kernel, source, output, message):
    assert kernel("CIRCULAR_BUFFER", [source], [output]).refusal() == f"{FILE}:{message}"


def test_dimensions_that_are_not_there_halt(kernel):
    assert kernel("CIRCULAR_BUFFER", [int8(1, 1, 1)], [SLOTS]).refusal().startswith("halts: ")


def test_options_that_are_no_flexbuffer_halt(kernel):
    assert kernel("CIRCULAR_BUFFER", [SOURCE], [SLOTS], custom_options=b"\1").refusal().startswith("halts: ")


FULL = ((1,), T.BOOL)


def test_a_second_output_says_since_2026_09_23_whether_it_is_full(kernel):
    bench = kernel("CIRCULAR_BUFFER", [SOURCE], [SLOTS, FULL], runtime="b57ba0d")
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 2", "free 0", "free 1"]
    before = kernel("CIRCULAR_BUFFER", [SOURCE], [SLOTS, FULL], runtime="aade8e6")
    assert before.prepare() == ["temp 0", "temp 1", "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([SOURCE] * 2, [SLOTS], "41 node->inputs->size == 1 was not true."),
    ([SOURCE], [SLOTS, FULL, FULL], "42 node->outputs->size == 1 || node->outputs->size == 2 was not true."),
    ([SOURCE], [SLOTS, None], "69 valid_output != nullptr was not true."),
    ([SOURCE], [SLOTS, int8(1)], "70 valid_output->type != kTfLiteBool (INT8 != BOOL)"),
    ([SOURCE], [SLOTS, ((2,), T.BOOL)], "71 ElementCount(*valid_output->dims) != 1 (2 != 1)"),
])  # fmt: skip
def test_refusals_of_a_second_output(kernel, inputs, outputs, message):
    assert kernel("CIRCULAR_BUFFER", inputs, outputs, runtime="b57ba0d").refusal() == f"{FILE}:{message}"


def test_an_operator_without_a_vector_of_outputs_halts(kernel):
    assert kernel("CIRCULAR_BUFFER", [SOURCE], None, runtime="b57ba0d").refusal().startswith("halts: ")
