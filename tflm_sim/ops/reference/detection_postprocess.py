"""TFLite_Detection_PostProcess: box decoding and non-maximum suppression, with eleven scratch buffers.

Source: tensorflow/lite/micro/kernels/detection_postprocess.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.custom_options import int_entries
from tflm_sim.ops.reference.node_checks import require, require_op_data
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import abort, ensure_eq, free, optional_input, size_of
from tflm_sim.units import int32

COORDINATES_PER_BOX = 4
_FILE = "detection_postprocess.cc"
_STRUCT = "detection_postprocess.OpData"


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """The custom options that decide scratch sizes."""

    max_detections: int
    num_classes: int


def _init(node: Node) -> Steps[object]:
    if node.operator.custom_options is None:
        raise abort(f"{_FILE}:126", "custom options are there")
    yield Persistent(node.target.sizeof(_STRUCT), _STRUCT)
    return DetectionOptions(*int_entries(node, f"{_FILE}:126", "max_detections", "num_classes"))


def _scratch_sizes(node: Node, boxes: KernelTensor, scores: KernelTensor) -> tuple[tuple[str, int], ...]:
    """Return (label, bytes) of each scratch buffer, in the order of the requests."""
    options = node.user_data
    assert isinstance(options, DetectionOptions), "Init returns DetectionOptions"
    num_boxes = boxes.shape[1]
    per_detection = size_of(node, int32(options.max_detections * num_boxes), 4)
    largest = max(options.num_classes, options.max_detections)
    selected = min(num_boxes, options.max_detections)
    return (
        ("active candidates", size_of(node, num_boxes, 1)),
        ("decoded boxes", size_of(node, num_boxes * COORDINATES_PER_BOX, 4)),
        ("scores", size_of(node, scores.shape[1] * scores.shape[2], 4)),
        ("score buffer", size_of(node, num_boxes, 4)),
        ("kept scores", size_of(node, num_boxes, 4)),
        ("scores after suppression", per_detection),
        ("sorted values", per_detection),
        ("kept indices", size_of(node, num_boxes, 4)),
        ("sorted indices", per_detection),
        ("sort buffer", size_of(node, largest * num_boxes, 4)),
        ("selected", size_of(node, selected * num_boxes, 4)),
    )


def _prepare(node: Node) -> Steps[None]:
    ensure_eq(len(node.inputs), 3, f"{_FILE}:160", "NumInputs(node)", "3")
    maybe_boxes = yield from optional_input(node, 0)
    maybe_scores = yield from optional_input(node, 1)
    maybe_anchors = yield from optional_input(node, 2)
    boxes = require(maybe_boxes, f"{_FILE}:168", "input_box_encodings")
    ensure_eq(len(boxes.shape), 3, f"{_FILE}:168", "NumDimensions(input_box_encodings)", "3")
    scores = require(maybe_scores, f"{_FILE}:169", "input_class_predictions")
    ensure_eq(len(scores.shape), 3, f"{_FILE}:169", "NumDimensions(input_class_predictions)", "3")
    anchors = require(maybe_anchors, f"{_FILE}:170", "input_anchors")
    ensure_eq(len(anchors.shape), 2, f"{_FILE}:170", "NumDimensions(input_anchors)", "2")
    ensure_eq(len(node.outputs), 4, f"{_FILE}:172", "NumOutputs(node)", "4")
    require_op_data(node, f"{_FILE}:174", "op_data")
    for label, size in _scratch_sizes(node, boxes, scores):
        yield Scratch(size, label)
    yield from free(boxes, scores, anchors)


MODELS: tuple[OpModel, ...] = (
    OpModel("TFLite_Detection_PostProcess", None, _init, _prepare, f"tensorflow/lite/micro/kernels/{_FILE}"),
)
