"""CIRCULAR_BUFFER, BasicClassifier, TFLite_Detection_PostProcess and TFLM_DECODE do in the wheel what they do here."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")

LUT, HUFFMAN, PRUNE = 0, 1, 2
ENCODED = ((8,), T.UINT8, {"data": bytes(8)})
OUTPUT = ((16,), T.INT8, {"scale": 0.5})
PER_CHANNEL = {"scale": [0.1] * 4, "zero_point": [0, 1, 2, 3]}
DETECTION = {
    "max_detections": 3,
    "max_classes_per_detection": 1,
    "nms_score_threshold": 0.0,
    "nms_iou_threshold": 0.5,
    "num_classes": 2,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}
DETECTIONS = [((1, 3, 4), T.FLOAT32), ((1, 3), T.FLOAT32), ((1, 3), T.FLOAT32), ((1,), T.FLOAT32)]


def ancillary(decode_type, *, version=1, state_version=1, parameters=0):
    data = bytes([decode_type, version, 0, 0, state_version, parameters]) + bytes(26)
    return ((32,), T.UINT8, {"data": data})


def int8(*shape):
    return (shape, T.INT8, {"scale": 0.5})


@pytest.mark.parametrize("options", [flexbuffers.Dumps({"cycles_max": 1}), b""])
def test_circular_buffer(same_as_wheel, one_op, options):
    model = one_op("CIRCULAR_BUFFER", [int8(1, 1, 1, 8)], [int8(1, 5, 1, 8)], custom_options=bytes(options))
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize(("source", "output"), [
    (int8(1, 2, 1, 8), int8(1, 5, 1, 8)),
    (int8(1, 1, 1, 8), int8(1, 5, 1, 4)),
    (((1, 1, 1, 8), T.INT16), ((1, 5, 1, 8), T.INT16)),
])  # fmt: skip
def test_circular_buffer_refusals(same_as_wheel, one_op, source, output):
    assert same_as_wheel(one_op("CIRCULAR_BUFFER", [source], [output], custom_options=b"")).status == "error"


FRAME, FRAMES = int8(1, 1, 1, 8), int8(1, 5, 1, 8)


@pytest.mark.parametrize(("inputs", "outputs", "status"), [
    ([FRAME], [FRAMES, ((1,), T.BOOL)], "ok"),
    ([FRAME], [FRAMES, ((), T.BOOL)], "ok"),
    ([FRAME], [FRAMES, ((2,), T.BOOL)], "error"),
    ([FRAME], [FRAMES, ((0,), T.BOOL)], "error"),
    ([FRAME], [FRAMES, ((1,), T.INT8)], "error"),
    ([FRAME], [FRAMES] + [((1,), T.BOOL)] * 2, "error"),
    ([FRAME] * 2, [FRAMES], "error"),
    ([], [FRAMES], "error"),
    ([FRAME], [], "error"),
])  # fmt: skip
def test_circular_buffer_says_whether_it_is_full(same_as_wheel, one_op, inputs, outputs, status):
    assert same_as_wheel(one_op("CIRCULAR_BUFFER", inputs, outputs, custom_options=b"")).status == status


def ints(*values):
    return ((len(values),), T.INT32, {"data": values})


SCORES, TARGETS, THRESHOLDS = ((5,), T.INT32), ints(1, 2), ints(7, 8)
DETECTED, POSTERIORS = ((2,), T.BOOL), ((2,), T.INT32)


@pytest.mark.parametrize("scores", [SCORES, ((1, 5), T.INT32)])
def test_basic_classifier(same_as_wheel, one_op, scores):
    model = one_op("BasicClassifier", [scores, TARGETS, THRESHOLDS], [DETECTED, POSTERIORS])
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize(("inputs", "outputs"), [
    ([SCORES, TARGETS], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [DETECTED]),
    ([None, TARGETS, THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, None, THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, None], [DETECTED, POSTERIORS]),
    ([((1, 5, 1), T.INT32), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS]),
    ([((), T.INT32), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, ((1, 2), T.INT32), THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, ((2, 1), T.INT32)], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [((1, 2), T.BOOL), POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [DETECTED, ((), T.INT32)]),
    ([SCORES, TARGETS, ints(1, 2, 3)], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [((3,), T.BOOL), POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [DETECTED, ((1,), T.INT32)]),
    ([((5,), T.INT8), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, ((2,), T.INT64, {"data": (1, 2)}), THRESHOLDS], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, ((2,), T.FLOAT32)], [DETECTED, POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [((2,), T.INT8), POSTERIORS]),
    ([SCORES, TARGETS, THRESHOLDS], [DETECTED, ((2,), T.INT16)]),
])  # fmt: skip
def test_basic_classifier_refusals(same_as_wheel, one_op, inputs, outputs):
    assert same_as_wheel(one_op("BasicClassifier", inputs, outputs)).status == "error"


@pytest.mark.parametrize("target", [5, -1])
def test_basic_classifier_refuses_a_target_that_is_no_index(wheel, same_as_wheel, one_op, target):
    model = one_op("BasicClassifier", [SCORES, ints(1, target), THRESHOLDS], [DETECTED, POSTERIORS])
    ours = same_as_wheel(model)
    assert wheel.run(model).invoke == "error"
    assert f"target {target} of 5 values" in str(ours.invoke_problem)


@pytest.mark.parametrize("options", [DETECTION, {**DETECTION, "max_detections": 50, "num_classes": 90}, {}])
def test_detection_postprocess(same_as_wheel, one_op, options):
    inputs = [((1, 6, 4), T.FLOAT32), ((1, 6, 3), T.FLOAT32), ((6, 4), T.FLOAT32)]
    packed = bytes(flexbuffers.Dumps(options))
    assert (
        same_as_wheel(one_op("TFLite_Detection_PostProcess", inputs, DETECTIONS, custom_options=packed)).status == "ok"
    )


def test_detection_postprocess_refuses_other_ranks(same_as_wheel, one_op):
    boxes = ((1, 6, 4), T.FLOAT32)
    packed = bytes(flexbuffers.Dumps(DETECTION))
    model = one_op("TFLite_Detection_PostProcess", [boxes] * 3, DETECTIONS, custom_options=packed)
    assert same_as_wheel(model).status == "error"


@pytest.mark.parametrize(("metadata", "output"), [
    (ancillary(LUT, parameters=2), OUTPUT),
    (ancillary(LUT, parameters=2), ((4, 2, 4), T.INT8, {**PER_CHANNEL, "quantized_dimension": 2})),
    (ancillary(HUFFMAN, parameters=1), ((16,), T.INT16)),
    (ancillary(HUFFMAN), OUTPUT),
    (ancillary(PRUNE), OUTPUT),
    (ancillary(PRUNE), ((4, 4), T.INT8, PER_CHANNEL)),
    (ancillary(PRUNE), ((16,), T.FLOAT32)),
])  # fmt: skip
def test_decode(same_as_wheel, one_op, metadata, output):
    assert same_as_wheel(one_op("TFLM_DECODE", [ENCODED, metadata], [output], custom_options=b"")).status == "ok"


def test_decode_of_several_tensors(same_as_wheel, one_op):
    inputs = [ENCODED, ancillary(LUT, parameters=2), ENCODED, ancillary(PRUNE)]
    assert same_as_wheel(one_op("TFLM_DECODE", inputs, [OUTPUT, OUTPUT], custom_options=b"")).status == "ok"


@pytest.mark.parametrize(("inputs", "output"), [
    ([ENCODED], OUTPUT),
    ([ENCODED, ((32,), T.UINT8)], OUTPUT),
    ([((8,), T.UINT8), ancillary(LUT)], OUTPUT),
    ([ENCODED, ancillary(9)], OUTPUT),
    ([ENCODED, ancillary(127)], OUTPUT),
    ([ENCODED, ancillary(128)], OUTPUT),
    ([ENCODED, ancillary(LUT, version=2)], OUTPUT),
    ([ENCODED, ancillary(LUT, state_version=2)], OUTPUT),
    ([ENCODED, ancillary(LUT)], ((4, 4, 2), T.INT8, {**PER_CHANNEL, "quantized_dimension": 1})),
    ([ENCODED, ancillary(HUFFMAN)], ((16,), T.INT16)),
    ([ENCODED, ancillary(PRUNE)], ((4, 4), T.INT16, PER_CHANNEL)),
])  # fmt: skip
def test_decode_refusals(same_as_wheel, one_op, inputs, output):
    assert same_as_wheel(one_op("TFLM_DECODE", inputs, [output], custom_options=b"")).status == "error"
