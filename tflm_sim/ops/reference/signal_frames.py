"""Signal operators that cut a stream into frames and keep its past: SignalDelay, SignalFramer, SignalOverlapAdd,
SignalStacker, SignalWindow.

Source: signal/micro/kernels/{delay,framer,overlap_add,stacker,window}.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import c_div
from tflm_sim.ops.reference.custom_options import bool_slot, int_entries, int_slots
from tflm_sim.ops.reference.node_checks import require_op_data
from tflm_sim.ops.reference.signal_checks import (
    SIGNAL_KERNELS,
    FixedPrepare,
    allocate_each,
    circular_buffer,
    ensure_rank,
    ensure_signal_counts,
    ensure_type,
    flat_size,
    innermost_dim,
    result,
    source,
    write_zeros,
)
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import abort, ensure, ensure_eq, ensure_types_eq, free, size_of
from tflm_sim.units import int32

_DELAY = SIGNAL_KERNELS + "delay.cc"
_FRAMER = SIGNAL_KERNELS + "framer.cc"
_OVERLAP_ADD = SIGNAL_KERNELS + "overlap_add.cc"
_STACKER = SIGNAL_KERNELS + "stacker.cc"
_WINDOW = SIGNAL_KERNELS + "window.cc"

MAX_STREAMS = 100_000
"""The most streams whose states are allocated one by one; their bookkeeping alone takes megabytes."""

_STREAM = (source("input", 0, 1, TensorType.INT16), result("output", 0, 1, TensorType.INT16))
_FRAME_STREAM = (*_STREAM, result("output_valid", 1, 0, TensorType.BOOL))


@dataclass(frozen=True, slots=True)
class DelayParams:
    """SignalDelay's option: how many elements the output lags behind."""

    delay_length: int


@dataclass(frozen=True, slots=True)
class FramerParams:
    """SignalFramer's options, in elements."""

    frame_size: int
    frame_step: int
    prefill: bool


def _init_delay(node: Node) -> Steps[object]:
    struct = "delay.TFLMSignalFrontendDelayParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    return None if offset is None else DelayParams(*int_slots(node, f"{_DELAY}:57", 0))


def _prepare_delay(node: Node) -> Steps[None]:
    ensure_signal_counts(node, _DELAY, 62, inputs=1, outputs=1)
    stream, output = yield from allocate_each(node, _DELAY, _STREAM, (68, 71))
    ensure_type(stream, TensorType.INT16, f"{_DELAY}:73", "input")
    ensure_type(output, TensorType.INT16, f"{_DELAY}:74", "output")
    params = node.user_data
    ensure(isinstance(params, DelayParams), f"{_DELAY}:79", "params != nullptr")
    assert isinstance(params, DelayParams), "ensured above"
    frame_size = innermost_dim(stream)
    outer_dims = c_div(flat_size(stream), frame_size, f"{_DELAY}:83")
    _check_streams(outer_dims, f"{_DELAY}:98")
    yield from _buffer_arrays(node, outer_dims)
    for _ in range(outer_dims):
        capacity = int32(frame_size + params.delay_length)
        yield from circular_buffer(node, capacity)
        write_zeros(capacity, params.delay_length)
    yield from free(stream, output)


def _check_streams(outer_dims: int, place: str) -> None:
    """Stop before more allocations than any device has memory for."""
    if outer_dims > MAX_STREAMS:
        raise abort(place, f"there is memory for the state of {outer_dims} streams")


def _buffer_arrays(node: Node, outer_dims: int) -> Steps[None]:
    """Allocate the pointers to the states and to the circular buffers in them; without outer dims nobody reads them."""
    size = size_of(node, outer_dims, node.target.abi.pointer_size)
    yield Persistent(size, "state_buffers", checked=outer_dims <= 0)
    yield Persistent(size, "circular_buffers", checked=outer_dims <= 0)


def _init_framer(node: Node) -> Steps[object]:
    struct = "framer.TFLMSignalFramerParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    if offset is None:
        return None
    frame_size, frame_step = int_slots(node, f"{_FRAMER}:73", 0, 1)
    return FramerParams(frame_size, frame_step, bool_slot(node, f"{_FRAMER}:75", 2))


def _prepare_framer(node: Node) -> Steps[None]:
    ensure_signal_counts(node, _FRAMER, 80, inputs=1, outputs=2)
    stream, output, valid = yield from allocate_each(node, _FRAMER, _FRAME_STREAM, (87, 90, 93))
    texts = "NumDimensions(input) + 1", "NumDimensions(output)"
    ensure_eq(len(stream.shape) + 1, len(output.shape), f"{_FRAMER}:95", *texts)
    ensure_rank(valid, 0, f"{_FRAMER}:96", "output_valid")
    ensure_type(stream, TensorType.INT16, f"{_FRAMER}:98", "input")
    ensure_type(output, TensorType.INT16, f"{_FRAMER}:99", "output")
    ensure_type(valid, TensorType.BOOL, f"{_FRAMER}:100", "output_valid")
    innermost = innermost_dim(stream)
    params = node.user_data
    if not isinstance(params, FramerParams):
        raise abort(f"{_FRAMER}:106", "params != nullptr")
    _check_step(innermost, params.frame_step)
    outer_dims = c_div(flat_size(stream), innermost, f"{_FRAMER}:108")
    _check_streams(outer_dims, f"{_FRAMER}:128")
    yield from _buffer_arrays(node, outer_dims)
    capacity = _framer_capacity(params)
    for _ in range(outer_dims):
        yield from circular_buffer(node, capacity)
    if params.prefill and outer_dims > 0:
        write_zeros(capacity, int32(params.frame_size - params.frame_step))
    yield from free(stream, output, valid)


def _check_step(innermost: int, step: int) -> None:
    ensure(innermost >= step, f"{_FRAMER}:106", "innermost_dim >= params->frame_step")
    rest = innermost - c_div(innermost, step, f"{_FRAMER}:107") * step
    ensure_eq(rest, 0, f"{_FRAMER}:107", "innermost_dim % params->frame_step", "0")


def _framer_capacity(params: FramerParams) -> int:
    """Return the frame size rounded up to whole steps, in elements."""
    step = params.frame_step
    return int32(c_div(int32(params.frame_size + step - 1), step, f"{_FRAMER}:123") * step)


_OVERLAP_TYPES = {TensorType.INT16: 2, TensorType.FLOAT32: 4}


def _init_overlap_add(node: Node) -> Steps[object]:
    (type_number,) = int_entries(node, f"{_OVERLAP_ADD}:156", "T")
    if type_number not in _OVERLAP_TYPES:
        return None
    struct = "overlap_add.TFLMSignalOverlapAddParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    if offset is None:
        return None
    int_slots(node, f"{_OVERLAP_ADD}:72", 1)
    return TensorType(type_number)


def _prepare_overlap_add(node: Node) -> Steps[None]:
    element_type = node.user_data
    if not isinstance(element_type, TensorType):
        raise abort(f"{_OVERLAP_ADD}:174", "params != nullptr")
    ensure_signal_counts(node, _OVERLAP_ADD, 78, inputs=1, outputs=1)
    frames, output = yield from allocate_each(node, _OVERLAP_ADD, _STREAM, (85, 88))
    texts = "NumDimensions(input)", "NumDimensions(output) + 1"
    ensure_eq(len(frames.shape), len(output.shape) + 1, f"{_OVERLAP_ADD}:90", *texts)
    ensure_types_eq(frames.type, element_type, f"{_OVERLAP_ADD}:92", "input->type", "TfLiteTypeEnum")
    ensure_types_eq(output.type, element_type, f"{_OVERLAP_ADD}:93", "output->type", "TfLiteTypeEnum")
    frame_size, outer_dims = _overlap_dims(frames)
    _check_streams(outer_dims, f"{_OVERLAP_ADD}:112")
    pointers = size_of(node, outer_dims, node.target.abi.pointer_size)
    yield Persistent(pointers, "state_buffers", checked=outer_dims <= 0)
    size = size_of(node, frame_size, _OVERLAP_TYPES[element_type])
    lost = 0
    for _ in range(outer_dims):
        lost += (yield Persistent(size, "overlap", checked=True)) is None
    if lost or (outer_dims > 0 and frame_size < 0):
        raise abort(f"{_OVERLAP_ADD}:53", "state_buffers[i] holds frame_size elements")
    yield from free(frames, output)


def _overlap_dims(frames: KernelTensor) -> tuple[int, int]:
    """Return the frame size and how many independent streams there are."""
    frame_size = innermost_dim(frames)
    ensure(len(frames.shape) >= 2, f"{_OVERLAP_ADD}:99", "input_shape.DimensionsCount() >= 2")
    per_stream = int32(frame_size * frames.shape[-2])
    return frame_size, c_div(flat_size(frames), per_stream, f"{_OVERLAP_ADD}:106")


def _init_stacker(node: Node) -> Steps[object]:
    struct = "stacker.TFLMSignalStackerParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    if offset is None:
        return None
    channels, left, right, _ = int_slots(node, f"{_STACKER}:66", 0, 1, 2, 3)
    state = yield from circular_buffer(node, int32(channels * int32(left + right + 1)), checked=True)
    return None if state is None else struct


def _init_window(node: Node) -> Steps[object]:
    struct = "window.TFLMSignalWindowParams"
    yield Persistent(node.target.sizeof(struct), struct)
    int_slots(node, f"{_WINDOW}:52", 0)
    return struct


def _prepare_window(node: Node) -> Steps[None]:
    ensure_signal_counts(node, _WINDOW, 57, inputs=2, outputs=1)
    tensors = (_STREAM[0], source("weights", 1, 1, TensorType.INT16), _STREAM[1])
    stream, weights, output = yield from allocate_each(node, _WINDOW, tensors, (64, 67, 70))
    ensure(len(stream.shape) >= 1, f"{_WINDOW}:72", "NumDimensions(input) >= 1")
    ensure_rank(weights, 1, f"{_WINDOW}:73", "weights")
    texts = "NumDimensions(input)", "NumDimensions(output)"
    ensure_eq(len(stream.shape), len(output.shape), f"{_WINDOW}:74", *texts)
    for line, tensor, name in ((76, stream, "input"), (77, weights, "weights"), (78, output, "output")):
        ensure_type(tensor, TensorType.INT16, f"{_WINDOW}:{line}", name)
    flat_size(stream)
    require_op_data(node, f"{_WINDOW}:82", "params")
    yield from free(stream, weights, output)


MODELS: tuple[OpModel, ...] = (
    OpModel("SignalDelay", None, _init_delay, _prepare_delay, _DELAY),
    OpModel("SignalFramer", None, _init_framer, _prepare_framer, _FRAMER),
    OpModel("SignalOverlapAdd", None, _init_overlap_add, _prepare_overlap_add, _OVERLAP_ADD),
    OpModel(
        "SignalStacker",
        None,
        _init_stacker,
        FixedPrepare(
            place=_STACKER,
            count_line=92,
            tensors=_FRAME_STREAM,
            lines=(99, 102, 105),
            rank_line=107,
            free_order=(0, 1, 2),
        ),
        _STACKER,
    ),
    OpModel("SignalWindow", None, _init_window, _prepare_window, _WINDOW),
)
