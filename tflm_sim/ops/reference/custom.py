"""Custom operators outside of the signal library: CIRCULAR_BUFFER, TFLite_Detection_PostProcess, BasicClassifier and
ethos-u.

CIRCULAR_BUFFER is the state of a strided streaming convolution; a second output says whether it is full.
TFLite_Detection_PostProcess decodes boxes and drops those that overlap, with eleven scratch buffers. BasicClassifier
compares some scores with thresholds, and asks for nothing. ethos-u is a part of the model that Vela compiled for the
Ethos-U NPU; ``MicroMutableOpResolver::AddEthosU`` registers it only in a build that links the Ethos-U driver, so it is
not among the reference rows: TFLM then says "Failed to get registration from op code CUSTOM".

Source: tensorflow/lite/micro/kernels/{circular_buffer,circular_buffer_common,detection_postprocess,ethosu,
ethos_u/ethosu}.cc @ 90b983c; {basic_classifier,circular_buffer_common}.cc @ 0cc6f98, and the pip wheels of
2026-09-10 to 2026-10-23.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import PLAIN, EvalRow, known_types
from tflm_sim.ops.eval_values import ValueRow, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, input_count, result, source, trusted, unchecked
from tflm_sim.ops.reference.custom_options import int_entries, int_slots
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import null_indices, op_data, size_of
from tflm_sim.units import int32

_CIRCULAR = "OpDataCircularBuffer"


def _init_circular(node: Node) -> Steps[object]:
    yield Persistent(node.target.sizeof(_CIRCULAR), _CIRCULAR)
    if node.operator.custom_options:
        int_slots(Kernel(node, "circular_buffer.cc"), 0)
    return _CIRCULAR


def _count_circular(k: Kernel) -> None:
    """What is checked of a buffer with a second output; there is no check that there are vectors to count."""
    if k.has("circular_buffer_valid"):
        if k.node.operator.inputs is None or k.node.operator.outputs is None:
            raise null_indices()
        k.ensure(len(k.node.inputs) == 1, "node->inputs->size == 1")
        k.ensure(len(k.node.outputs) in (1, 2), "node->outputs->size == 1 || node->outputs->size == 2")


def _circular_buffer(k: Kernel, maybe_input: KernelTensor | None, maybe_output: KernelTensor | None) -> Steps[None]:
    k.op_data()
    source, output = k.present(maybe_input, "input"), k.present(maybe_output, "output")
    k.ensure_eq(k.dim(source, 0), k.dim(output, 0), "input->dims->data[0]", "output->dims->data[0]")
    k.ensure_eq(1, k.dim(source, 1), "1", "input->dims->data[1]")
    k.ensure_eq(k.dim(source, 2), k.dim(output, 2), "input->dims->data[2]", "output->dims->data[2]")
    k.ensure_eq(k.dim(output, 3), k.dim(source, 3), "output->dims->data[3]", "input->dims->data[3]")
    k.same_type(source, output)
    k.is_type(source, TensorType.INT8, "input")
    if k.has("circular_buffer_valid") and len(k.node.outputs) == 2:
        valid = yield from k.output(1, "valid_output")
        k.is_type(valid, TensorType.BOOL, "valid_output")
        k.ensure_eq(int32(valid.flat_size), 1, "ElementCount(*valid_output->dims)")
        yield from k.free(valid)


COORDINATES_PER_BOX = 4
_DETECTION_FILE = "detection_postprocess.cc"
_DETECTION = "detection_postprocess.OpData"


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """The custom options that decide scratch sizes."""

    max_detections: int
    num_classes: int


def _init_detection(node: Node) -> Steps[object]:
    k = Kernel(node, _DETECTION_FILE)
    k.check(node.operator.custom_options is not None, "custom options are there")
    yield Persistent(node.target.sizeof(_DETECTION), _DETECTION)
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


def _detect(k: Kernel, boxes: KernelTensor, scores: KernelTensor, anchors: KernelTensor) -> Steps[None]:
    for tensor, rank, take in zip((boxes, scores, anchors), (3, 3, 2), _INPUTS, strict=True):
        k.rank(tensor, rank, take.name)
    k.ensure_eq(len(k.node.outputs), 4, "NumOutputs(node)")
    k.op_data("op_data")
    for label, size in _scratch_sizes(k.node, boxes, scores):
        yield Scratch(size, label)


_SCORES = source(1, "target_indices"), source(2, "thresholds"), result(0, "detected"), result(1, "target_posteriors")


def _classify(k: Kernel, source: KernelTensor, *targets: KernelTensor) -> None:
    """Check the input, and a value for each target in each of the other tensors."""
    ranks = "NumDimensions(input) == 1 || NumDimensions(input) == 2"
    if k.has("classifier_2d"):
        k.ensure(len(source.shape) in (1, 2), ranks)
    else:
        k.rank(source, 1, "input")
    for tensor, take in zip(targets, _SCORES, strict=True):
        k.rank(tensor, 1, take.name)
    for tensor, take in zip(targets[1:], _SCORES[1:], strict=True):
        k.ensure_eq(tensor.shape[0], targets[0].shape[0], f"{take.name}->dims->data[0]", "num_targets")
    k.is_type(source, TensorType.INT32, "input")
    for tensor, take in zip(targets, _SCORES, strict=True):
        k.is_type(tensor, TensorType.BOOL if take.name == "detected" else TensorType.INT32, take.name)


def _targets_outside(node: Node) -> Iterator[tuple[str, str]]:
    values, targets = node.input(0), constant_integers(node.input(1))
    if values is not None and targets:
        count = values.flat_size
        yield from ((f"target {target} of {count} values", "") for target in targets if not 0 <= target < count)


_INPUTS = source(0, "input_box_encodings"), source(1, "input_class_predictions"), source(2, "input_anchors")


def _prepare_ethos_u(node: Node) -> Steps[None]:
    k = Kernel(node, "ethos_u/ethosu.cc")
    k.check(node.operator.inputs is not None, "node->inputs != nullptr")
    k.ensure(len(node.inputs) > 0, "node->inputs->size > 0")
    k.op_data()
    k.ensure(bool(node.operator.custom_options), "node->custom_initial_data_size > 0")
    k.check(node.operator.outputs is not None, "node->outputs != nullptr")
    base_addresses = len(node.inputs) + len(node.outputs)
    yield Scratch(8 * base_addresses, "base addresses")
    yield Scratch(node.target.abi.pointer_size * base_addresses, "base address sizes")
    command_stream = k.require((yield from k.optional_input(0)), "tensor")
    yield from k.free(command_stream)


ETHOS_U = OpModel("ethos-u", None, op_data("ethosu.OpData"), _prepare_ethos_u)
ETHOS_U_MODELS = (ETHOS_U,)

EDGE_TPU_MODELS = (OpModel("edgetpu-custom-op"),)
"""The package for the Edge TPU is kept outside of the arena. Source: libs/tpu/edgetpu_op.cc, google-coral/coralmicro @
c9f665b0."""


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CIRCULAR_BUFFER",
        init=_init_circular,
        prepare=Prepare(
            "circular_buffer_common.cc",
            _count_circular,
            takes=(unchecked(INPUT), unchecked(OUTPUT)),
            body=_circular_buffer,
        ),
    ),
    OpModel(
        "TFLite_Detection_PostProcess",
        init=_init_detection,
        prepare=Prepare(_DETECTION_FILE, input_count(3), takes=trusted(*_INPUTS), body=_detect),
    ),
    OpModel(
        "BasicClassifier", prepare=Prepare("basic_classifier.cc", counts(3, 2), takes=(INPUT, *_SCORES), body=_classify)
    ),
)

EVALS: tuple[EvalRow, ...] = (known_types("CIRCULAR_BUFFER", "i0", "INT8", PLAIN),)

VALUES: tuple[ValueRow, ...] = (ValueRow("BasicClassifier", refused=_targets_outside),)
