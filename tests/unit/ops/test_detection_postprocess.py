"""TFLite_Detection_PostProcess: 6 boxes, 3 detections, 2 classes unless said otherwise."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

FILE = "tensorflow/lite/micro/kernels/detection_postprocess.cc"
BOXES, SCORES, ANCHORS = ((1, 6, 4), T.FLOAT32), ((1, 6, 5), T.FLOAT32), ((6, 4), T.FLOAT32)
OUTPUTS = [((1,), T.FLOAT32)] * 4
TAKE, FREE = ["temp 0", "temp 1", "temp 2"], ["free 0", "free 1", "free 2"]


def _bench(kernel, *, max_detections=3, num_classes=2, inputs=(BOXES, SCORES, ANCHORS), outputs=OUTPUTS, **arguments):
    options = bytes(flexbuffers.Dumps({"max_detections": max_detections, "num_classes": num_classes}))
    return kernel("TFLite_Detection_PostProcess", inputs, outputs, **{"custom_options": options, **arguments})


def test_eleven_scratch_buffers(kernel):
    bench = _bench(kernel)
    # 6 ints and floats, the bool with its padding, 4 floats, 11 indices, 3 pairs of scale and zero point: 28 * 4.
    assert bench.init() == ["persistent 112 detection_postprocess.OpData"]
    assert bench.prepare() == [
        *TAKE,
        "scratch 6 active candidates",  # a byte per box
        "scratch 96 decoded boxes",  # 6 boxes * 4 floats
        "scratch 120 scores",  # 6 * 5 floats
        "scratch 24 score buffer",
        "scratch 24 kept scores",
        "scratch 72 scores after suppression",  # 3 * 6 floats
        "scratch 72 sorted values",
        "scratch 24 kept indices",
        "scratch 72 sorted indices",
        "scratch 72 sort buffer",  # max(2 classes, 3 detections) * 6 ints
        "scratch 72 selected",  # min(6 boxes, 3 detections) * 6 ints
        *FREE,
    ]


def test_the_last_two_follow_classes_and_boxes_when_these_decide(kernel):
    requests = _bench(kernel, max_detections=10, num_classes=90).prepare()
    assert "scratch 2160 sort buffer" in requests  # 90 classes * 6 ints
    assert "scratch 144 selected" in requests  # 6 boxes * 6 ints


def test_options_that_are_left_out_are_0(kernel):
    requests = _bench(kernel, custom_options=bytes(flexbuffers.Dumps({}))).prepare()
    assert "scratch 0 sorted values" in requests


def test_a_negative_count_is_a_huge_unsigned_size(kernel):
    requests = _bench(kernel, max_detections=-1).prepare()
    assert f"scratch {2**32 - 24} sorted values" in requests  # -1 * 6 * 4
    assert f"scratch {2**64 - 24} sorted values" in _bench(kernel, max_detections=-1, target="x86_64").prepare()


@pytest.mark.parametrize(("arguments", "message"), [
    ({"inputs": (BOXES, SCORES)}, "160 NumInputs(node) != 3 (2 != 3)"),
    ({"inputs": (ANCHORS, SCORES, ANCHORS)}, "168 NumDimensions(input_box_encodings) != 3 (2 != 3)"),
    ({"inputs": (BOXES, ANCHORS, ANCHORS)}, "169 NumDimensions(input_class_predictions) != 3 (2 != 3)"),
    ({"inputs": (BOXES, SCORES, BOXES)}, "170 NumDimensions(input_anchors) != 2 (3 != 2)"),
    ({"outputs": OUTPUTS[:3]}, "172 NumOutputs(node) != 4 (3 != 4)"),
])  # fmt: skip
def test_refusals(kernel, arguments, message):
    assert _bench(kernel, **arguments).refusal() == f"{FILE}:{message}"


@pytest.mark.parametrize("arguments", [
    {"custom_options": None},
    {"custom_options": b"\1\2\3"},
    {"inputs": (None, SCORES, ANCHORS)},
    {"inputs": (BOXES, None, ANCHORS)},
    {"inputs": (BOXES, SCORES, None)},
])  # fmt: skip
def test_halts(kernel, arguments):
    assert _bench(kernel, **arguments).refusal().startswith("halts: ")
