"""What each operator makes of its inputs' hashes: moves pass them on, the others mix what an output element reads.

An operator that is not here is opaque to ``verify``: each of its output elements depends on all of all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from tflm_sim.shrinking.symbolic import (
    BITS,
    FLOAT_TYPES,
    Call,
    Hashes,
    bits_hash,
    coefficients,
    kind,
    mix,
    quantization_facts,
    salt,
    zero_hash,
)

Evaluator = Callable[[Call], Sequence[Hashes] | None]
"""Returns the hashes of the outputs, or None where the call is none that it knows."""


def _moved(call: Call, value: Hashes) -> Sequence[Hashes] | None:
    """Return a value that is only moved, if input and output are of one kind and the shape is right."""
    source, target = call.inputs[0], call.outputs[0]
    if source is None or kind(source) != kind(target) or value.size != prod(target.shape or ()):
        return None
    return [value.reshape(target.shape or ())]


def _view(call: Call) -> Sequence[Hashes] | None:
    return _moved(call, call.value(0))


def _slice(call: Call) -> Sequence[Hashes] | None:
    begin, size = call.numbers[1], call.numbers[2]
    if begin is None or size is None:
        return None
    value = call.value(0)
    cut = tuple(
        slice(int(b), value.shape[axis] if n == -1 else int(b) + int(n))
        for axis, (b, n) in enumerate(zip(begin.ravel(), size.ravel(), strict=True))
    )
    return _moved(call, value[cut])


def _strided_slice(call: Call) -> Sequence[Hashes] | None:
    bounds = [None if numbers is None else [int(n) for n in numbers.ravel()] for numbers in call.numbers[1:4]]
    begin, end, strides = bounds
    masks = ("ellipsis_mask", "new_axis_mask", "offset")
    if begin is None or end is None or strides is None or any(call.option(mask) for mask in masks):
        return None
    value, cut = call.value(0), []
    for axis, (b, e, step) in enumerate(zip(begin, end, strides, strict=True)):
        size = value.shape[axis]
        first = b + size if b < 0 else b
        last = e + size if e < 0 else e
        if call.option("shrink_axis_mask") >> axis & 1:
            cut.append(slice(first, first + 1))
            continue
        start = None if call.option("begin_mask") >> axis & 1 else first
        stop = None if call.option("end_mask") >> axis & 1 or (step < 0 and last < 0) else last
        cut.append(slice(start, stop, step))
    return _moved(call, value[tuple(cut)])


def _concatenation(call: Call) -> Sequence[Hashes] | None:
    target = call.outputs[0]
    if call.option("fused_activation_function") or any(
        each is None or kind(each) != kind(target) for each in call.inputs
    ):
        return None
    values = [call.value(index) for index in range(len(call.inputs))]
    if call.name == "PACK":
        return _moved(call, np.stack(values, axis=call.option("axis")))
    return _moved(call, np.concatenate(values, axis=call.option("axis")))


def _split(call: Call) -> Sequence[Hashes] | None:
    place = 1 if call.name == "SPLIT" else 0
    source, value = call.inputs[place], call.value(place)
    if source is None or any(kind(source) != kind(target) for target in call.outputs):
        return None
    if call.name == "UNPACK":
        axis = call.option("axis")
        parts = [np.take(value, index, axis=axis) for index in range(len(call.outputs))]
        return [part.reshape(target.shape or ()) for part, target in zip(parts, call.outputs, strict=True)]
    numbers = call.numbers[0] if call.name == "SPLIT" else call.numbers[2]
    if numbers is None:
        return None
    axis = int(numbers.ravel()[0])
    sizes = [(target.shape or ())[axis] for target in call.outputs]
    return np.split(value, np.cumsum(sizes)[:-1], axis=axis)


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
    return _moved(call, np.pad(value, widths, constant_values=fill))


def _same_kind_moves(call: Call) -> Sequence[Hashes] | None:
    """QUANTIZE and CAST to the kind that the input has already change nothing."""
    return _moved(call, call.value(0)) or _unary(call)


def _unary(call: Call) -> Sequence[Hashes] | None:
    value = call.value(0)
    return [mix(value ^ call.salt())] if value.shape == (call.outputs[0].shape or ()) else None


def _binary(call: Call) -> Sequence[Hashes] | None:
    other = call.inputs[1]
    if other is None:
        return None
    one, two = coefficients("binary", 2)
    value = call.value(0) * one + call.value(1) * two
    target = call.outputs[0].shape or ()
    # pot_scale_int16 and the like stay in the salt.
    return [mix(np.broadcast_to(value, target) + call.salt(kind(other)))] if value.size == prod(target) else None


def _last_axis(call: Call) -> Sequence[Hashes] | None:
    value = call.value(0)
    if not value.ndim:
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
    return [mix(digest + call.salt(facts, without=("keep_dims",))).reshape(target.shape or ())]


def _geometry(call: Call, kernel: tuple[int, int]) -> list[tuple[int, int, int]] | None:
    """Return (stride, dilation, padding before) along rows and columns, None where the output's shape is another one.

    Source: tensorflow/lite/kernels/padding.h ComputePaddingHeightWidth @ 90b983c.
    """
    facts = []
    for axis, side in ((1, "h"), (2, "w")):
        stride = max(1, call.option(f"stride_{side}", 1))
        dilation = max(1, call.option(f"dilation_{side}_factor", 1))
        outputs, size = (call.outputs[0].shape or ())[axis], call.value(0).shape[axis]
        needed = (outputs - 1) * stride + (kernel[axis - 1] - 1) * dilation + 1
        is_same = call.option("padding") == 0
        if (outputs != -(-size // stride)) if is_same else (needed > size or needed + stride <= size):
            return None
        facts.append((stride, dilation, max(0, needed - size) // 2 if is_same else 0))
    return facts


def _tap(value: Hashes, outputs: tuple[int, int], geometry: list[tuple[int, int, int]], tap: tuple[int, int]) -> Hashes:
    """Return what each output reads at one tap of its window, 0 outside of the image."""
    result = np.zeros((value.shape[0], *outputs, value.shape[3]), np.uint64)
    cuts: list[tuple[slice, slice]] = []
    for axis in (0, 1):
        stride, dilation, before = geometry[axis]
        start = tap[axis] * dilation - before
        first = (stride - 1 - start) // stride if start < 0 else 0
        last = min(outputs[axis], (value.shape[axis + 1] - 1 - start) // stride + 1)
        if first >= last:
            return result
        begin = first * stride + start
        cuts.append((slice(first, last), slice(begin, begin + (last - first - 1) * stride + 1, stride)))
    (rows_out, rows_in), (columns_out, columns_in) = cuts
    result[:, rows_out, columns_out] = value[:, rows_in, columns_in]
    return result


def _counted(call: Call) -> Hashes:
    """Return the input with 0 for the elements that a product makes nothing of."""
    value, tensor = call.value(0), call.inputs[0]
    assert tensor is not None, "a convolution has an input"
    return np.where(value == zero_hash(tensor), np.uint64(0), value)


def _channel_facts(call: Call, channels: int, bias: Hashes | None) -> Hashes:
    """Return a hash of bias and filter scale for each output channel."""
    filters = call.inputs[1]
    assert filters is not None, "a convolution has a filter"
    scales = quantization_facts(filters.quantization)
    facts: Hashes = np.zeros(channels, np.uint64)
    if scales:
        bits: Hashes = np.frombuffer(np.asarray(scales[0], "<f8").tobytes(), np.uint64)
        spread: Hashes = np.broadcast_to(bits, (channels,)) if bits.size in (1, channels) else facts + salt(scales)
        facts = mix(spread)
    return facts if bias is None else mix(facts + bias.ravel())


def _bias(call: Call) -> Hashes | None:
    return call.values[2] if len(call.values) > 2 else None


def _filter_kind(call: Call) -> tuple[object, ...]:
    """Return type and zero points of the filter, whose scales count channel by channel."""
    filters = call.inputs[1]
    assert filters is not None, "a convolution has a filter"
    points = set(filters.quantization.zero_point) if filters.quantization else set()
    return int(filters.type), sorted(points)


_GEOMETRY_OPTIONS = (
    "padding", "stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor", "filter_height", "filter_width",
    "depth_multiplier",
)  # fmt: skip


def _convolution(call: Call) -> Sequence[Hashes] | None:
    value, weights = _counted(call), call.value(1)
    target = call.outputs[0].shape or ()
    if value.ndim != 4 or weights.ndim != 4 or len(target) != 4:
        return None
    channels, rows, columns, depth = weights.shape
    groups = value.shape[3] // max(1, depth)
    if groups < 1 or channels % groups or not _is_finite(call):
        return None
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    taps = coefficients("taps", rows * columns * depth).reshape(rows, columns, depth)
    digest = np.zeros((*target[:3], groups), np.uint64)
    for i in range(rows):
        for j in range(columns):
            read = _tap(value, (target[1], target[2]), geometry, (i, j)).reshape(*target[:3], groups, depth)
            digest += (read * taps[i, j]).sum(axis=-1, dtype=np.uint64)
    shared = coefficients("weights", rows * columns * depth).reshape(rows, columns, depth)
    own = mix((weights * shared).sum(axis=(1, 2, 3), dtype=np.uint64)) + _channel_facts(call, channels, _bias(call))
    whole = np.repeat(digest, channels // groups, axis=3) + own
    return [mix(whole + call.salt(_filter_kind(call), without=_GEOMETRY_OPTIONS))]


def _depthwise(call: Call) -> Sequence[Hashes] | None:
    value, weights = _counted(call), call.value(1)
    target, filters = call.outputs[0].shape or (), call.inputs[1]
    if value.ndim != 4 or weights.ndim != 4 or len(target) != 4 or filters is None or not _is_finite(call):
        return None
    _, rows, columns, channels = weights.shape
    if not value.shape[3] or channels % value.shape[3]:
        return None
    is_float = filters.type in FLOAT_TYPES
    # Integer sums: which weight meets which input counts, not where; a weight at the zero point counts for nothing.
    used = np.where(weights == zero_hash(filters), np.uint64(0), weights | np.uint64(1))
    places = coefficients("places", rows * columns).reshape(rows, columns)
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    digest = np.zeros(target, np.uint64)
    for i in range(rows):
        for j in range(columns):
            read = _tap(value, (target[1], target[2]), geometry, (i, j))
            read = np.repeat(read, channels // value.shape[3], axis=3)
            digest += read * (mix(weights[0, i, j] + places[i, j]) | np.uint64(1) if is_float else used[0, i, j])
    own = _channel_facts(call, channels, _bias(call))
    return [mix(digest + own + call.salt(_filter_kind(call), without=_GEOMETRY_OPTIONS))]


def _is_finite(call: Call) -> bool:
    """Return whether no constant weight makes more of a zero than a zero."""
    filters = call.numbers[1]
    return filters is None or not np.issubdtype(filters.dtype, np.floating) or bool(np.isfinite(filters).all())


def _pool(call: Call) -> Sequence[Hashes] | None:
    value, target = call.value(0), call.outputs[0].shape or ()
    if value.ndim != 4 or len(target) != 4:
        return None
    rows, columns = call.option("filter_height"), call.option("filter_width")
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    places = coefficients("pool", rows * columns).reshape(rows, columns)
    digest = np.zeros(target, np.uint64)
    for i in range(rows):
        for j in range(columns):
            digest += _tap(value, (target[1], target[2]), geometry, (i, j)) * places[i, j]
    return [mix(digest + call.salt(without=_GEOMETRY_OPTIONS))]


def _transposed(call: Call) -> Sequence[Hashes] | None:
    """TRANSPOSE_CONV: every input pixel adds to a window of outputs; the order of integer sums does not count."""
    source, weights, target = call.inputs[2], call.value(1), call.outputs[0].shape or ()
    value = call.value(2)
    if (
        source is None
        or not _is_said(call, 0, target)
        or value.ndim != 4
        or weights.ndim != 4
        or len(target) != 4
        or not _is_finite(call)
    ):
        return None
    channels, rows, columns, depth = weights.shape
    strides = [max(1, call.option(f"stride_{side}", 1)) for side in "hw"]
    padding = [0, 0]
    if call.option("padding") == 0:
        # Source: tensorflow/lite/micro/kernels/transpose_conv.cc CalculateOpData @ 90b983c.
        needed = [(-(-target[i + 1] // strides[i]) - 1) * strides[i] + (rows, columns)[i] for i in (0, 1)]
        padding = [max(0, need - size) // 2 for need, size in zip(needed, target[1:3], strict=True)]
    taps = coefficients("taps", rows * columns * depth).reshape(rows, columns, depth)
    digest = np.zeros(target[:3], np.uint64)
    for row, column in np.ndindex(value.shape[1:3]):
        top, left = row * strides[0] - padding[0], column * strides[1] - padding[1]
        first = max(0, -top), max(0, -left)
        last = min(rows, target[1] - top), min(columns, target[2] - left)
        if first[0] < last[0] and first[1] < last[1]:
            window = taps[first[0] : last[0], first[1] : last[1]]
            added = np.einsum("bd,ijd->bij", value[:, row, column], window)
            digest[:, top + first[0] : top + last[0], left + first[1] : left + last[1]] += added
    own = mix((weights * coefficients("weights", taps.size).reshape(taps.shape)).sum(axis=(1, 2, 3), dtype=np.uint64))
    bias = call.values[3] if len(call.values) > 3 else None
    facts = _channel_facts(call, channels, bias)
    number = call.salt(kind(source), _filter_kind(call), without=_GEOMETRY_OPTIONS)
    return [mix(digest[..., None] + own + facts + number)]


def _resized(call: Call) -> Sequence[Hashes] | None:
    """RESIZE: each output is an input, or is made of up to four inputs with weights that count.

    Source: reference/resize_bilinear.h, resize_nearest_neighbor.h @ 90b983c.
    """
    value, target = call.value(0), call.outputs[0].shape or ()
    if value.ndim != 4 or len(target) != 4 or call.option("align_corners") or not _is_said(call, 1, target[1:3]):
        return None
    half = call.option("half_pixel_centers")
    axes = []
    for size, outputs in zip(value.shape[1:3], target[1:3], strict=True):
        if call.name == "RESIZE_NEAREST_NEIGHBOR":
            scale = np.float32(size) / np.float32(outputs)
            places = np.floor((np.arange(outputs, dtype=np.float32) + np.float32(0.5 * half)) * scale).astype(int)
            axes.append((np.minimum(places, size - 1), np.zeros(outputs, int), np.minimum(places, size - 1)))
            continue
        if 1024 * size % outputs or (call.outputs[0].type in FLOAT_TYPES and outputs % size):
            return None  # positions are rounded
        step = 1024 * size // outputs
        at = np.arange(outputs) * step + (step // 2 - 512) * half
        low, high = np.maximum(at // 1024, 0), np.minimum(-(-at // 1024), size - 1)
        high = np.maximum(high, 0)
        axes.append((low, np.where(high == low, 0, at - 1024 * low), high))
    (top, down, bottom), (left, across, right) = axes
    if call.name == "RESIZE_NEAREST_NEIGHBOR":
        return _moved(call, value[:, top][:, :, left])
    digest = np.zeros(target, np.uint64)
    for rows, heights in ((top, 1024 - down), (bottom, down)):
        for columns, widths in ((left, 1024 - across), (right, across)):
            shares = np.outer(heights, widths).astype(np.uint64)
            weights = np.where(shares == 0, np.uint64(0), mix(shares) | np.uint64(1))
            digest += value[:, rows][:, :, columns] * weights[None, :, :, None]
    return [mix(digest + call.salt())]


def _is_said(call: Call, position: int, shape: Sequence[int]) -> bool:
    """Return whether a constant operand says that the output has a shape."""
    numbers = call.numbers[position]
    return numbers is not None and tuple(numbers.ravel()) == tuple(shape)


def _dense(call: Call) -> Sequence[Hashes] | None:
    weights, target = call.value(1), call.outputs[0].shape or ()
    value = _counted(call)
    if weights.ndim != 2 or not target or value.size % weights.shape[1] or not _is_finite(call):
        return None
    rows = value.reshape(-1, weights.shape[1])
    if rows.shape[0] * weights.shape[0] != prod(target):
        return None
    shared = coefficients("dense", weights.shape[1])
    digest = (rows * shared).sum(axis=1, dtype=np.uint64)[:, None]
    inner = coefficients("dense weights", weights.shape[1])
    own = mix((weights * inner).sum(axis=1, dtype=np.uint64)) + _channel_facts(call, weights.shape[0], _bias(call))
    number = call.salt(_filter_kind(call), without=("keep_num_dims",))
    return [mix(digest + own + number).reshape(target)]


def _shape(call: Call) -> Sequence[Hashes] | None:
    dtype = BITS.get(call.outputs[0].type, "<u4")
    return [bits_hash(np.asarray(call.value(0).shape, dtype)).reshape(call.outputs[0].shape or ())]


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
    **dict.fromkeys(("SPLIT", "SPLIT_V", "UNPACK"), _split),
    **dict.fromkeys(("QUANTIZE", "CAST"), _same_kind_moves),
    **dict.fromkeys(("PAD", "PADV2"), _pad),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _pool),
    **dict.fromkeys(("SOFTMAX", "LOG_SOFTMAX"), _last_axis),
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    "TRANSPOSE": _transpose,
    "MEAN": _mean,
    "SHAPE": _shape,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _dense,
    "TRANSPOSE_CONV": _transposed,
    "RESIZE_BILINEAR": _resized,
    "RESIZE_NEAREST_NEIGHBOR": _resized,
}
"""What is known of each operator. Any other one is opaque: each output element depends on all of all inputs."""
