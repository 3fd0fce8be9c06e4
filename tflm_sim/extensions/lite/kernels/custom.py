"""The custom operators that the runtime brings along, and NON_MAX_SUPPRESSION.

Source: tflite/kernels/{detection_postprocess,mfcc,audio_spectrogram,numeric_verify,hadamard_rotation,
non_max_suppression}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import AllocationType
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, values_of
from tflm_sim.model.flexbuf import read_root

_COORDINATES = 4


def _custom_option(call: PrepareCall, name: str) -> int:
    """Return a whole number of the FlexBuffer that custom options are, 0 when it is not there."""
    value = read_root(call.node.custom_options or memoryview(b"")).as_map().get(name)
    return value.as_int() if value is not None else 0


def detection_postprocess(call: PrepareCall) -> None:
    """TFLite_Detection_PostProcess: four outputs and two temporaries, sized by the options."""
    first = call.reserve(2)
    call.ensure_eq(call.input_count, 3, "NumInputs(node)")
    boxes, classes, anchors = (call.input(place) for place in range(3))
    call.rank(boxes, 3, "input_box_encodings")
    call.rank(classes, 3, "input_class_predictions")
    call.rank(anchors, 2, "input_anchors")
    count = _custom_option(call, "max_detections") * _custom_option(call, "max_classes_per_detection")
    call.ensure_eq(call.output_count, 4, "NumOutputs(node)")
    for place, shape in enumerate(((1, count, _COORDINATES), (1, count), (1, count), (1,))):
        output = call.output(place)
        output.type = t.FLOAT32
        try:
            call.resize(output, shape)
        except PrepareError as failure:  # the kernel does not look whether it was done
            call.subgraph.reports.append(failure.device_message)
    call.take(first, first + 1)
    call.temporary(first, t.FLOAT32, (boxes.shape[1], _COORDINATES))
    call.temporary(first + 1, t.FLOAT32, (classes.shape[1], classes.shape[2]))  # There may be none: it is an output.


def mfcc(call: PrepareCall) -> None:
    wave, rate, output = call.operands(2)
    call.rank(wave, 3, "input_wav")
    call.ensure_eq(rate.elements, 1, "NumElements(input_rate)")
    call.is_type(output, t.FLOAT32, "output")
    call.same_type(wave, output, "input_wav")
    call.is_type(rate, t.INT32, "input_rate")
    call.resize(output, (*wave.shape[:2], _custom_option(call, "dct_coefficient_count")))


def audio_spectrogram(call: PrepareCall) -> None:
    """AudioSpectrogram: frames by frequencies, half of the next power of two and one."""
    value, output = call.operands(1)
    call.rank(value, 2, "input")
    call.is_type(output, t.FLOAT32, "output")
    call.same_type(value, output)
    window, stride = _custom_option(call, "window_size"), _custom_option(call, "stride")
    is_usable = window >= 2 and stride >= 1
    call.ensure(is_usable, "params->spectrogram->Initialize(params->window_size, params->stride)")
    rest = value.shape[0] - window
    frames = 0 if rest < 0 else 1 + rest // stride
    call.resize(output, (value.shape[1], frames, 1 + (1 << (window - 1).bit_length()) // 2))


def numeric_verify(call: PrepareCall) -> None:
    """NumericVerify: a dynamic copy and a persistent output."""
    call.counts(2)
    value, reference = call.input(0), call.input(1)
    call.one_of(value.type, (t.UINT8, t.INT8, t.INT16, t.FLOAT16), "op_context.input->type")
    call.ensure(reference.type == t.FLOAT32, "op_context.ref->type == kTfLiteFloat32")
    first = call.reserve(1)
    call.take(first)
    call.temporary(first, reference.type, value.shape, AllocationType.DYNAMIC)
    output = call.output()
    output.type = t.FLOAT32
    output.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    call.resize(output, value.shape)


def hadamard_rotation(call: PrepareCall) -> None:
    """aeq.hadamard_rotation keeps the output's shape of the file."""
    call.counts(1)


def _check_thresholds(call: PrepareCall) -> None:
    names = ("input_iou_threshold", "input_score_threshold", "input_sigma")
    for place, name in enumerate(names[: call.input_count - 3], 3):
        threshold = call.input(place)
        call.is_c_type(threshold, t.FLOAT32, name)
        call.rank(threshold, 0, name)


def non_max_suppression(call: PrepareCall) -> None:
    """NON_MAX_SUPPRESSION_V4 and V5: outputs of the size of the largest answer, where that is constant."""
    if call.input_count not in (5, 6):
        raise call.failure(f"Found NMS op with invalid num inputs: {call.input_count}")
    is_soft = call.input_count == 6
    boxes = call.input(0)
    call.is_c_type(boxes, t.FLOAT32, "input_boxes")
    call.rank(boxes, 2, "input_boxes")
    call.ensure_eq(boxes.shape[1], _COORDINATES, "SizeOfDimension(input_boxes, 1)")
    scores = call.input(1)
    call.is_c_type(scores, t.FLOAT32, "input_scores")
    call.rank(scores, 1, "input_scores")
    call.ensure_eq(boxes.shape[0], scores.shape[0], "num_boxes", "SizeOfDimension(input_scores, 0)")
    largest = call.input(2)
    call.is_c_type(largest, t.INT32, "input_max_output_size")
    call.rank(largest, 0, "input_max_output_size")
    if largest.is_known:
        call.ensure(values_of(largest)[0] >= 0, "(max_output_size_value >= 0)")
    _check_thresholds(call)
    expected, number = (3, 1) if is_soft else (2, 2)
    call.ensure_eq(call.output_count, expected, "NumOutputs(node)", number=number)
    outputs = [call.output(place) for place in range(call.output_count)]
    for place, output in enumerate(outputs):
        output.type = t.FLOAT32 if is_soft and place == 1 else t.INT32
    call.resize(outputs[-1], ())
    if not largest.is_known:
        call.dynamic(*outputs[:-1])
        return
    count = values_of(largest)[0]
    for output in outputs[:-1]:
        call.resize(output, (count,))
