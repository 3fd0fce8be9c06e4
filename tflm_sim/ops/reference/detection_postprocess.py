"""TFLite_Detection_PostProcess: box decoding and non-maximum suppression, with eleven scratch buffers.

Source: tensorflow/lite/micro/kernels/detection_postprocess.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.ops.kernel import Kernel, Prepare, source, unchecked
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.custom_options import int_entries
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import size_of
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
    k = Kernel(node, _FILE)
    k.check(node.operator.custom_options is not None, "custom options are there")
    yield Persistent(node.target.sizeof(_STRUCT), _STRUCT)
    return DetectionOptions(*int_entries(k, "max_detections", "num_classes"))


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


def _three_inputs(k: Kernel) -> None:
    k.ensure_eq(len(k.node.inputs), 3, "NumInputs(node)", "3")


def _detect(k: Kernel, *tensors: KernelTensor | None) -> Steps[None]:
    ranked = []
    for tensor, rank, take in zip(tensors, (3, 3, 2), _INPUTS, strict=True):
        ranked.append(k.require(tensor, take.name))
        k.rank(ranked[-1], rank, take.name)
    k.ensure_eq(len(k.node.outputs), 4, "NumOutputs(node)", "4")
    k.op_data("op_data")
    for label, size in _scratch_sizes(k.node, ranked[0], ranked[1]):
        yield Scratch(size, label)


_INPUTS = source(0, "input_box_encodings"), source(1, "input_class_predictions"), source(2, "input_anchors")

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "TFLite_Detection_PostProcess",
        init=_init,
        prepare=Prepare(_FILE, _three_inputs, takes=tuple(map(unchecked, _INPUTS)), body=_detect),
    ),
)
