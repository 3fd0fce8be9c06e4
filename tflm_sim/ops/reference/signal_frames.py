"""Signal operators that cut a stream into frames and keep its past: SignalDelay, SignalFramer, SignalOverlapAdd,
SignalStacker, SignalWindow.

Source: signal/micro/kernels/{delay,framer,overlap_add,stacker,window}.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, result, source
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.reference.custom_options import bool_slot, int_entries, int_slots
from tflm_sim.ops.reference.signal_checks import (
    SIGNAL_KERNELS,
    Signal,
    circular_buffer,
    fixed,
    innermost_dim,
    write_zeros,
)
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import size_of
from tflm_sim.units import int32

_DELAY = SIGNAL_KERNELS + "delay.cc"
_FRAMER = SIGNAL_KERNELS + "framer.cc"
_OVERLAP_ADD = SIGNAL_KERNELS + "overlap_add.cc"
_STACKER = SIGNAL_KERNELS + "stacker.cc"
_WINDOW = SIGNAL_KERNELS + "window.cc"

MAX_STREAMS = 100_000
"""The most streams whose states are allocated one by one; their bookkeeping alone takes megabytes."""


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
    k = Kernel(node, _DELAY)
    is_there = yield from k.persistent("delay.TFLMSignalFrontendDelayParams")
    return DelayParams(*int_slots(k, 0)) if is_there else None


def _delay(k: Kernel, stream: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.is_type(stream, TensorType.INT16, "input")
    k.is_type(output, TensorType.INT16, "output")
    params = k.node.user_data
    k.ensure(isinstance(params, DelayParams), "params != nullptr")
    assert isinstance(params, DelayParams), "ensured above"
    frame_size = innermost_dim(stream)
    outer_dims = k.divide(flat_size(stream), frame_size)
    _check_streams(k, outer_dims)
    yield from _buffer_arrays(k.node, outer_dims)
    for _ in range(outer_dims):
        capacity = int32(frame_size + params.delay_length)
        yield from circular_buffer(k.node, capacity)
        write_zeros(capacity, params.delay_length)


def _check_streams(k: Kernel, outer_dims: int) -> None:
    """Stop before more allocations than any device has memory for."""
    k.check(outer_dims <= MAX_STREAMS, f"there is memory for the state of {outer_dims} streams")


def _buffer_arrays(node: Node, outer_dims: int) -> Steps[None]:
    """Allocate the pointers to the states and to the circular buffers in them; without outer dims nobody reads them."""
    size = size_of(node, outer_dims, node.target.abi.pointer_size)
    yield Persistent(size, "state_buffers", checked=outer_dims <= 0)
    yield Persistent(size, "circular_buffers", checked=outer_dims <= 0)


def _init_framer(node: Node) -> Steps[object]:
    k = Kernel(node, _FRAMER)
    if not (yield from k.persistent("framer.TFLMSignalFramerParams")):
        return None
    frame_size, frame_step = int_slots(k, 0, 1)
    return FramerParams(frame_size, frame_step, bool_slot(k, 2))


def _framer(k: Kernel, stream: KernelTensor, output: KernelTensor, valid: KernelTensor) -> Steps[None]:
    k.ensure_eq(len(stream.shape) + 1, len(output.shape), "NumDimensions(input) + 1", "NumDimensions(output)")
    k.rank(valid, 0, "output_valid")
    k.is_type(stream, TensorType.INT16, "input")
    k.is_type(output, TensorType.INT16, "output")
    k.is_type(valid, TensorType.BOOL, "output_valid")
    innermost = innermost_dim(stream)
    params = k.node.user_data
    if not isinstance(params, FramerParams):
        raise k.abort("params != nullptr")
    _check_step(k, innermost, params.frame_step)
    outer_dims = k.divide(flat_size(stream), innermost)
    _check_streams(k, outer_dims)
    yield from _buffer_arrays(k.node, outer_dims)
    step = params.frame_step
    capacity = int32(k.divide(int32(params.frame_size + step - 1), step) * step)
    for _ in range(outer_dims):
        yield from circular_buffer(k.node, capacity)
    if params.prefill and outer_dims > 0:
        write_zeros(capacity, int32(params.frame_size - step))


def _check_step(k: Kernel, innermost: int, step: int) -> None:
    k.ensure(innermost >= step, "innermost_dim >= params->frame_step")
    k.ensure_eq(innermost - k.divide(innermost, step) * step, 0, "innermost_dim % params->frame_step")


_OVERLAP_TYPES = (TensorType.INT16, TensorType.FLOAT32)


def _init_overlap_add(node: Node) -> Steps[object]:
    k = Kernel(node, _OVERLAP_ADD)
    (type_number,) = int_entries(k, "T")
    if type_number not in _OVERLAP_TYPES:
        return None
    if not (yield from k.persistent("overlap_add.TFLMSignalOverlapAddParams")):
        return None
    int_slots(k, 1)
    return TensorType(type_number)


def _prepare_overlap_add(node: Node) -> Steps[None]:
    k, element_type = Kernel(node, _OVERLAP_ADD), node.user_data
    if not isinstance(element_type, TensorType):
        raise k.abort("params != nullptr")
    k.counts(inputs=1)
    frames = yield from k.input(0)
    output = yield from k.output(0)
    k.ensure_eq(len(frames.shape), len(output.shape) + 1, "NumDimensions(input)", "NumDimensions(output) + 1")
    k.ensure_types_eq(frames.type, element_type, "input->type", "TfLiteTypeEnum")
    k.ensure_types_eq(output.type, element_type, "output->type", "TfLiteTypeEnum")
    frame_size, outer_dims = _overlap_dims(k, frames)
    _check_streams(k, outer_dims)
    pointers = size_of(node, outer_dims, node.target.abi.pointer_size)
    yield Persistent(pointers, "state_buffers", checked=outer_dims <= 0)
    size = size_of(node, frame_size, TYPE_SIZES[element_type])
    lost = 0
    for _ in range(outer_dims):
        lost += (yield Persistent(size, "overlap", checked=True)) is None
    k.check(not lost and (outer_dims <= 0 or frame_size >= 0), "state_buffers[i] holds frame_size elements")
    yield from k.free(frames, output)


def _overlap_dims(k: Kernel, frames: KernelTensor) -> tuple[int, int]:
    """Return the frame size and how many independent streams there are."""
    frame_size = innermost_dim(frames)
    k.ensure(len(frames.shape) >= 2, "input_shape.DimensionsCount() >= 2")
    return frame_size, k.divide(flat_size(frames), int32(frame_size * frames.shape[-2]))


def _init_stacker(node: Node) -> Steps[object]:
    k, struct = Kernel(node, _STACKER), "stacker.TFLMSignalStackerParams"
    if not (yield from k.persistent(struct)):
        return None
    channels, left, right, _ = int_slots(k, 0, 1, 2, 3)
    state = yield from circular_buffer(node, int32(channels * int32(left + right + 1)), checked=True)
    return None if state is None else struct


def _init_window(node: Node) -> Steps[object]:
    struct = "window.TFLMSignalWindowParams"
    yield Persistent(node.target.sizeof(struct), struct)
    int_slots(Kernel(node, _WINDOW), 0)
    return struct


def _window(k: Kernel, stream: KernelTensor, weights: KernelTensor, output: KernelTensor) -> None:
    k.ensure(len(stream.shape) >= 1, "NumDimensions(input) >= 1")
    k.rank(weights, 1, "weights")
    k.ensure_eq(len(stream.shape), len(output.shape), "NumDimensions(input)", "NumDimensions(output)")
    for tensor, name in ((stream, "input"), (weights, "weights"), (output, "output")):
        k.is_type(tensor, TensorType.INT16, name)
    flat_size(stream)
    k.op_data("params")


_VALID = result(1, "output_valid")
_FRAMES = Prepare(_FRAMER, counts(1, 2), takes=(INPUT, OUTPUT, _VALID), body=_framer)
_STACK = fixed(
    _STACKER,
    Signal(INPUT, 1, TensorType.INT16),
    Signal(OUTPUT, 1, TensorType.INT16),
    Signal(_VALID, 0, TensorType.BOOL),
)
_WINDOWED = Prepare(_WINDOW, counts(2), takes=(INPUT, source(1, "weights"), OUTPUT), body=_window)

MODELS: tuple[OpModel, ...] = (
    OpModel("SignalDelay", init=_init_delay, prepare=Prepare(_DELAY, counts(1), body=_delay)),
    OpModel("SignalFramer", init=_init_framer, prepare=_FRAMES),
    OpModel("SignalOverlapAdd", init=_init_overlap_add, prepare=_prepare_overlap_add),
    OpModel("SignalStacker", init=_init_stacker, prepare=_STACK),
    OpModel("SignalWindow", init=_init_window, prepare=_WINDOWED),
)
