"""What each operator makes of its inputs' hashes: moves pass them on, the others mix what an output element reads.

An operator that is not here is opaque to ``verify``: each of its output elements depends on all of all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.symbolic import (
    BITS,
    FLOAT_TYPES,
    Call,
    Hashes,
    bits_hash,
    coefficients,
    kind,
    mix,
    zero_hash,
)
from tflm_sim.extensions.shrink.window_evaluators import convolution, dense, depthwise, is_said, pool, transposed

Evaluator = Callable[[Call], Sequence[Hashes] | None]
"""Returns the hashes of the outputs, or None where the call is none that it knows."""


def _moved(call: Call, value: Hashes) -> Sequence[Hashes] | None:
    """Return a value that is only moved, if input and output are of one kind and the shape is right."""
    source, target = call.inputs[0], call.outputs[0]
    if source is None or kind(source) != kind(target) or value.shape != target.dims:
        return None
    return [value]


def _view(call: Call) -> Sequence[Hashes] | None:
    """Return the same elements under the output's shape."""
    value, shape = call.value(0), call.outputs[0].dims
    return _moved(call, value.reshape(shape)) if value.size == prod(shape) else None


def _integers(call: Call, *positions: int) -> list[list[int]] | None:
    """Return the numbers of constant operands, None where one of them is no constant."""
    found = [numbers for position in positions if (numbers := call.numbers[position]) is not None]
    return [list(map(int, numbers.ravel())) for numbers in found] if len(found) == len(positions) else None


def _slice(call: Call) -> Sequence[Hashes] | None:
    bounds = _integers(call, 1, 2)
    if bounds is None:
        return None
    value, cut = call.value(0), []
    for first, count, there in zip(*bounds, value.shape, strict=True):
        last = there if count == -1 else first + count
        if not 0 <= first <= last <= there:
            return None
        cut.append(slice(first, last))
    return _moved(call, value[tuple(cut)])


def _strided_slice(call: Call) -> Sequence[Hashes] | None:
    bounds = _integers(call, 1, 2, 3)
    if bounds is None or any(map(call.option, ("ellipsis_mask", "new_axis_mask", "offset"))):
        return None
    value = call.value(0)
    cut = tuple(_axis_slice(call, axis, value.shape[axis], *own) for axis, own in enumerate(zip(*bounds, strict=True)))
    shrunk = tuple(axis for axis in range(value.ndim) if call.option("shrink_axis_mask") >> axis & 1)
    return _moved(call, value[cut].squeeze(shrunk))


def _axis_slice(call: Call, axis: int, size: int, begin: int, end: int, step: int) -> slice:
    """Return what STRIDED_SLICE takes along an axis; an axis that it drops is one element there."""
    first, last = (at + size if at < 0 else at for at in (begin, end))
    if call.option("shrink_axis_mask") >> axis & 1:
        return slice(first, first + 1)
    start = None if call.option("begin_mask") >> axis & 1 else first
    stop = None if call.option("end_mask") >> axis & 1 or (step < 0 and last < 0) else last
    return slice(start, stop, step)


def _updated(call: Call) -> Sequence[Hashes] | None:
    """DYNAMIC_UPDATE_SLICE: where it begins is brought within the tensor. Source: dynamic_update_slice.cc @ 90b983c."""
    begins, operand, update = call.numbers[2], call.inputs[0], call.inputs[1]
    if begins is None or operand is None or update is None or kind(operand) != kind(update):
        return None
    value, rows = call.value(0).copy(), call.value(1)
    if value.size == rows.size:
        return _moved(call, rows.reshape(value.shape))
    first = np.clip(begins.ravel(), 0, np.subtract(value.shape, rows.shape))
    value[tuple(slice(start, start + size) for start, size in zip(first, rows.shape, strict=True))] = rows
    return _moved(call, value)


def _filled(call: Call) -> Sequence[Hashes] | None:
    source, target = call.inputs[1], call.outputs[0]
    is_plain = source is not None and source.type == target.type and call.value(1).size == 1
    shape = target.dims
    return [np.full(shape, call.value(1).ravel()[0])] if is_plain and is_said(call, 0, shape) else None


def _concatenation(call: Call) -> Sequence[Hashes] | None:
    target = call.outputs[0]
    if call.option("fused_activation_function") or any(
        each is None or kind(each) != kind(target) for each in call.inputs
    ):
        return None
    values = [call.value(index) for index in range(len(call.inputs))]
    if sum(value.size for value in values) != prod(target.dims):
        return None
    if call.name == "PACK":
        return _moved(call, np.stack(values, axis=call.option("axis")))
    return _moved(call, np.concatenate(values, axis=call.option("axis")))


def _split(call: Call) -> Sequence[Hashes] | None:
    place, axis_place = (1, 0) if call.name == "SPLIT" else (0, 2)
    numbers = _integers(call, axis_place)
    if numbers is None or not _keeps_kind(call, place):
        return None
    axis = numbers[0][0]
    sizes = [target.dims[axis] for target in call.outputs]
    return _fitting(call, np.split(call.value(place), np.cumsum(sizes)[:-1], axis=axis))


def _unpack(call: Call) -> Sequence[Hashes] | None:
    if not _keeps_kind(call, 0):
        return None
    value, axis = call.value(0), call.option("axis")
    return _fitting(call, [np.take(value, index, axis=axis) for index in range(len(call.outputs))])


def _keeps_kind(call: Call, place: int) -> bool:
    """Return whether all outputs are of an input's kind."""
    source = call.inputs[place]
    return source is not None and all(kind(source) == kind(target) for target in call.outputs)


def _fitting(call: Call, parts: Sequence[Hashes]) -> Sequence[Hashes] | None:
    """Return parts that have the shapes of the outputs."""
    shapes = [target.dims for target in call.outputs]
    return parts if [part.shape for part in parts] == shapes else None


def _transpose(call: Call) -> Sequence[Hashes] | None:
    order = call.numbers[1]
    return None if order is None else _moved(call, np.transpose(call.value(0), [int(axis) for axis in order.ravel()]))


def _pad(call: Call) -> Sequence[Hashes] | None:
    paddings, value, target = call.numbers[1], call.value(0), call.outputs[0]
    if paddings is None or value.ndim != len(paddings):
        return None
    # PAD fills with the output's zero point, PADV2 with its third input.
    fill = call.value(2).ravel()[0] if call.name == "PADV2" else zero_hash(target)
    widths = [(int(before), int(after)) for before, after in paddings]
    if tuple(size + sum(pair) for size, pair in zip(value.shape, widths, strict=True)) != target.dims:
        return None
    return _moved(call, np.pad(value, widths, constant_values=fill))


def _same_kind_moves(call: Call) -> Sequence[Hashes] | None:
    """QUANTIZE and CAST to the kind that the input has already change nothing."""
    return _moved(call, call.value(0)) or _unary(call)


def _unary(call: Call) -> Sequence[Hashes] | None:
    value = call.value(0)
    return [mix(value ^ call.salt())] if value.shape == call.outputs[0].dims else None


def _binary(call: Call) -> Sequence[Hashes] | None:
    other = call.inputs[1]
    if other is None:
        return None
    target = call.outputs[0].dims
    if np.broadcast_shapes(call.value(0).shape, call.value(1).shape) != target:
        return None
    one, two = coefficients("binary", 2)
    # pot_scale_int16 and the like stay in the salt.
    return [mix(call.value(0) * one + call.value(1) * two + call.salt(kind(other)))]


def _last_axis(call: Call) -> Sequence[Hashes] | None:
    value = call.value(0)
    if not value.ndim or value.shape != call.outputs[0].dims:
        return None
    row: Hashes = np.sum(value * coefficients("row", value.shape[-1]), axis=-1, keepdims=True, dtype=np.uint64)
    places: Hashes = np.arange(value.shape[-1], dtype=np.uint64)
    own: Hashes = row + mix(value + places) + call.salt()
    return [mix(own)]


def _mean(call: Call) -> Sequence[Hashes] | None:
    axes, value, target = call.numbers[1], call.value(0), call.outputs[0]
    if axes is None:
        return None
    reduced = tuple(sorted({int(axis) % value.ndim for axis in axes.ravel()}))
    kept = [axis for axis in range(value.ndim) if axis not in reduced]
    moved = np.transpose(value, [*kept, *reduced]).reshape(*[value.shape[axis] for axis in kept], -1)
    digest = (moved * coefficients("mean", moved.shape[-1])).sum(axis=-1, dtype=np.uint64)
    facts = [value.shape[axis] for axis in reduced]
    return [mix(digest + call.salt(facts, without=("keep_dims",))).reshape(target.dims)]


def _resized(call: Call) -> Sequence[Hashes] | None:
    """RESIZE: each output is an input, or is made of up to four inputs with weights that count.

    Source: reference/resize_bilinear.h, resize_nearest_neighbor.h @ 90b983c.
    """
    value, target = call.value(0), call.outputs[0].dims
    if value.ndim != 4 or len(target) != 4 or value.shape[::3] != target[::3]:
        return None
    if call.option("align_corners") or not is_said(call, 1, target[1:3]):
        return None
    make = _nearest if call.name == "RESIZE_NEAREST_NEIGHBOR" else _bilinear
    return make(call, value, list(zip(value.shape[1:3], target[1:3], strict=True)))


def _nearest(call: Call, value: Hashes, sizes: list[tuple[int, int]]) -> Sequence[Hashes] | None:
    """Return the inputs that the outputs are, for (inputs, outputs) along rows and columns."""
    shift = np.float32(0.5 if call.option("half_pixel_centers") else 0)
    rows, columns = (
        np.minimum(np.floor((np.arange(n, dtype=np.float32) + shift) * (np.float32(size) / np.float32(n))), size - 1)
        for size, n in sizes
    )
    return _moved(call, value[:, rows.astype(int)][:, :, columns.astype(int)])


def _bilinear(call: Call, value: Hashes, sizes: list[tuple[int, int]]) -> Sequence[Hashes]:
    """Return outputs that are made of up to four inputs each, for (inputs, outputs) along rows and columns."""
    is_float = call.outputs[0].type in FLOAT_TYPES
    positions = _float_positions if is_float else _fixed_positions
    down, across = (positions(*pair, bool(call.option("half_pixel_centers"))) for pair in sizes)
    digest = np.zeros(call.outputs[0].dims, np.uint64)
    for (rows, heights), (columns, widths) in product(down, across):
        if is_float:
            weights = mix(mix(heights)[:, None] + widths[None, :]) | np.uint64(1)
        else:
            shares = heights[:, None] * widths[None, :]
            weights = np.where(shares == 0, np.uint64(0), mix(shares) | np.uint64(1))
        digest += value[:, rows][:, :, columns] * weights[None, :, :, None]
    return [mix(digest + call.salt())]


Positions = list[tuple[NDArray[np.int64], Hashes]]
"""Both inputs of each output along an axis, and what stands for their weights."""


def _fixed_positions(size: int, outputs: int, half: bool) -> Positions:
    """Return positions as the integer kernel finds them, in 1024ths."""
    step = (1024 * size + outputs // 2) // outputs
    at = np.arange(outputs) * step + (step // 2 - 512 if half else 0)
    low = np.maximum(np.trunc(at / 1024).astype(np.int64), 0)
    high = np.minimum(np.trunc((at + 1023) / 1024).astype(np.int64), size - 1)
    share = np.where(low == high, 0, at - 1024 * low)
    return [(low, (1024 - share).astype(np.uint64)), (high, share.astype(np.uint64))]


def _float_positions(size: int, outputs: int, half: bool) -> Positions:
    """Return positions as the floating-point kernel finds them; the bits of a weight stand for it."""
    scale, places = np.float32(size) / np.float32(outputs), np.arange(outputs, dtype=np.float32)
    at = (places + np.float32(0.5)) * scale - np.float32(0.5) if half else places * scale
    low, high = np.maximum(np.floor(at), 0), np.minimum(np.ceil(at), size - 1)
    shares = (1 - (at - low), at - low)
    first, second = (share.astype(np.float32).view(np.uint32).astype(np.uint64) for share in shares)
    return [(low.astype(np.int64), first), (high.astype(np.int64), second)]


def _shape(call: Call) -> Sequence[Hashes] | None:
    dtype = BITS.get(call.outputs[0].type, "<u4")
    return [bits_hash(np.asarray(call.value(0).shape, dtype)).reshape(call.outputs[0].dims)]


_UNARY = """
    RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 LEAKY_RELU LOGISTIC TANH HARD_SWISH ELU ABS NEG SQRT RSQRT SQUARE EXP LOG SIN
    COS FLOOR CEIL ROUND LOGICAL_NOT DEQUANTIZE GELU
"""
_BINARY = "ADD SUB MUL MAXIMUM MINIMUM SQUARED_DIFFERENCE DIV FLOOR_DIV PRELU"

EVALUATORS: Mapping[str, Evaluator] = {
    **dict.fromkeys(_UNARY.split(), _unary),
    **dict.fromkeys(_BINARY.split(), _binary),
    **dict.fromkeys(("RESHAPE", "SQUEEZE", "EXPAND_DIMS"), _view),
    **dict.fromkeys(("CONCATENATION", "PACK"), _concatenation),
    **dict.fromkeys(("SPLIT", "SPLIT_V"), _split),
    "UNPACK": _unpack,
    **dict.fromkeys(("QUANTIZE", "CAST"), _same_kind_moves),
    **dict.fromkeys(("PAD", "PADV2"), _pad),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), pool),
    **dict.fromkeys(("SOFTMAX", "LOG_SOFTMAX"), _last_axis),
    "SLICE": _slice,
    "DYNAMIC_UPDATE_SLICE": _updated,
    "FILL": _filled,
    "STRIDED_SLICE": _strided_slice,
    "TRANSPOSE": _transpose,
    "MEAN": _mean,
    "SHAPE": _shape,
    "CONV_2D": convolution,
    "DEPTHWISE_CONV_2D": depthwise,
    "FULLY_CONNECTED": dense,
    "TRANSPOSE_CONV": transposed,
    "RESIZE_BILINEAR": _resized,
    "RESIZE_NEAREST_NEIGHBOR": _resized,
}
"""What is known of each operator. Any other one is opaque: each output element depends on all of all inputs."""
