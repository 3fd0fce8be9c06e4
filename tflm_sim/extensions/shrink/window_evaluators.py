"""What sums over windows make of their inputs' hashes: convolutions, pools, dense layers.

A factor that makes a product 0 (an input or a filter element at its zero point) is not hashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.symbolic import (
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
from tflm_sim.model.types import TensorType


def is_said(call: Call, position: int, shape: Sequence[int]) -> bool:
    """Return whether a constant operand says that the output has a shape."""
    numbers = call.numbers[position]
    return numbers is not None and tuple(numbers.ravel()) == tuple(shape)


_MAX_TAPS = 1 << 16


def _geometry(call: Call, kernel: tuple[int, int]) -> list[tuple[int, int, int]] | None:
    """Return (stride, dilation, padding before) along rows and columns.

    None where the output's shape is another one, where batches differ, where a step is none, and for a window of very
    many taps.

    Source: tensorflow/lite/kernels/padding.h ComputePaddingHeightWidth @ 90b983c.
    """
    if call.value(0).shape[0] != call.outputs[0].dims[0] or prod(kernel) > _MAX_TAPS:
        return None
    facts = [_along(call, axis, kernel[axis - 1], side) for axis, side in ((1, "h"), (2, "w"))]
    return [fact for fact in facts if fact is not None] if None not in facts else None


def _along(call: Call, axis: int, window: int, side: str) -> tuple[int, int, int] | None:
    """Return stride, dilation and padding before along an axis, None where the output has another size."""
    stride, dilation = call.option(f"stride_{side}", 1), call.option(f"dilation_{side}_factor", 1)
    if stride < 1 or dilation < 1:
        return None
    outputs, size = call.outputs[0].dims[axis], call.value(0).shape[axis]
    needed = (outputs - 1) * stride + (window - 1) * dilation + 1
    if call.option("padding") == 0:
        return (stride, dilation, max(0, needed - size) // 2) if outputs == -(-size // stride) else None
    return (stride, dilation, 0) if needed <= size < needed + stride else None


def _are_images(value: Hashes, weights: Hashes, target: Sequence[int]) -> bool:
    """Return whether input, filter and output have four dimensions each."""
    return value.ndim == weights.ndim == len(target) == 4


Part = tuple[slice, ...]


def _taps(
    value: Hashes, outputs: Sequence[int], geometry: list[tuple[int, int, int]], kernel: tuple[int, int]
) -> Iterator[tuple[tuple[int, int], Part, Hashes]]:
    """Yield each tap of a window, the outputs that read inside of the image there, and what they read."""
    for tap in np.ndindex(kernel):
        written: list[slice] = []
        read: list[slice] = []
        for axis, (stride, dilation, before) in enumerate(geometry):
            start = tap[axis] * dilation - before
            first = (stride - 1 - start) // stride if start < 0 else 0
            last = min(outputs[axis], (value.shape[axis + 1] - 1 - start) // stride + 1)
            begin = first * stride + start
            written.append(slice(first, max(first, last)))
            read.append(slice(begin, max(begin, begin + (last - first - 1) * stride + 1), stride))
        yield (tap[0], tap[1]), (slice(None), *written), value[:, read[0], read[1]]


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
    if bias is None:
        return facts
    if bias.size != channels:
        raise ValueError(f"a bias of {bias.size} elements for {channels} channels")
    return mix(facts + bias.ravel())


def _bias(call: Call, channels: int) -> Hashes | None:
    """Return the bias; one that is left out is zeros, but where sums of int16 are as wide as their bias, then None."""
    source = call.inputs[0]
    assert source is not None, "a convolution has an input"
    if len(call.values) > 2 and call.values[2] is not None:
        return call.values[2]
    is_plain = source.type == TensorType.INT8 or source.type in FLOAT_TYPES
    return bits_hash(np.zeros(channels, np.uint64)) if is_plain else None


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


def _sum_salt(call: Call, channels: int, *, is_convolution: bool = False) -> np.uint64:
    """Return a number for what CONV_2D or FULLY_CONNECTED does to the sums of products.

    It is the same for both where int8 filters have a zero point of 0 and a scale for each channel: both then multiply
    with input scale * filter scale / output scale, in double precision, and clamp. With one scale for all, CONV_2D does
    so too, and FULLY_CONNECTED does not.

    Source: PopulateConvolutionQuantizationParams in tensorflow/lite/kernels/kernel_util.cc,
    CalculateOpDataFullyConnected in tensorflow/lite/micro/kernels/fully_connected_common.cc @ 90b983c.
    """
    source, filters = call.inputs[:2]
    assert source is not None, "a layer has an input"
    assert filters is not None, "a layer has a filter"
    own = filters.quantization
    is_int8 = source.type == filters.type == call.outputs[0].type == TensorType.INT8
    if own is not None and is_int8 and not any(own.zero_point) and (is_convolution or len(own.scale) == channels > 1):
        return salt("sum", call.option("fused_activation_function"), kind(source), kind(call.outputs[0]))
    return call.salt(_filter_kind(call), without=(*_GEOMETRY_OPTIONS, "keep_num_dims"))


def _without_zero_taps(
    call: Call, weights: Hashes, geometry: list[tuple[int, int, int]]
) -> tuple[Hashes, list[tuple[int, int, int]]]:
    """Return an integer filter without the outer rows and columns that are all zero, and the padding without them.

    A weight of zero times any integer is 0, so that a filter with such taps around it is the filter without them.
    """
    filters = call.inputs[1]
    assert filters is not None, "a convolution has a filter"
    counts = weights != zero_hash(filters)
    if filters.type in FLOAT_TYPES or call.numbers[1] is None or not counts.any():
        return weights, geometry
    cut = [slice(None)] * 4
    trimmed: list[tuple[int, int, int]] = []
    for axis, (stride, dilation, before) in enumerate(geometry, 1):
        (used,) = np.nonzero(counts.any(axis=tuple({0, 1, 2, 3} - {axis})))
        cut[axis] = slice(int(used[0]), int(used[-1]) + 1)
        trimmed.append((stride, dilation, before - int(used[0]) * dilation))
    return weights[tuple(cut)], trimmed


def convolution(call: Call) -> Sequence[Hashes] | None:
    """CONV_2D: each output channel sums the products of its group's window."""
    value, weights = _counted(call), call.value(1)
    target = call.outputs[0].dims
    if not _are_images(value, weights, target) or not _is_finite(call):
        return None
    channels, rows, columns, depth = weights.shape
    groups = value.shape[3] // max(1, depth)
    if groups < 1 or channels % groups or channels != target[3]:
        return None
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    weights, geometry = _without_zero_taps(call, weights, geometry)
    _, rows, columns, _ = weights.shape
    taps = coefficients("taps", rows * columns * depth).reshape(rows, columns, depth)
    digest = np.zeros((*target[:3], groups), np.uint64)
    for tap, part, read in _taps(value, target[1:3], geometry, (rows, columns)):
        digest[part] += read.reshape(*read.shape[:3], groups, depth) @ taps[tap]
    shared = coefficients("weights", rows * columns * depth).reshape(rows, columns, depth)
    own = mix((weights * shared).sum(axis=(1, 2, 3), dtype=np.uint64)) + _channel_facts(
        call, channels, _bias(call, channels)
    )
    whole = np.repeat(digest, channels // groups, axis=3) + own
    return [mix(whole + _sum_salt(call, channels, is_convolution=True))]


def depthwise(call: Call) -> Sequence[Hashes] | None:
    """DEPTHWISE_CONV_2D: each output channel sums the products of one input channel."""
    value, weights = _counted(call), call.value(1)
    target, filters = call.outputs[0].dims, call.inputs[1]
    if not _are_images(value, weights, target) or filters is None or not _is_finite(call):
        return None
    _, rows, columns, channels = weights.shape
    if channels != target[3] or channels != value.shape[3] * call.option("depth_multiplier", 1):
        return None
    is_float = filters.type in FLOAT_TYPES
    # Integer sums: which weight meets which input counts, not where; a weight at the zero point counts for nothing.
    used = np.where(weights == zero_hash(filters), np.uint64(0), weights | np.uint64(1))
    places = coefficients("places", rows * columns).reshape(rows, columns)
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    digest = np.zeros(target, np.uint64)
    for tap, part, read in _taps(value, target[1:3], geometry, (rows, columns)):
        factor = mix(weights[0][tap] + places[tap]) | np.uint64(1) if is_float else used[0][tap]
        digest[part] += np.repeat(read, channels // value.shape[3], axis=3) * factor
    own = _channel_facts(call, channels, _bias(call, channels))
    return [mix(digest + own + call.salt(_filter_kind(call), without=_GEOMETRY_OPTIONS))]


def _is_finite(call: Call) -> bool:
    """Return whether no constant weight makes more of a zero than a zero."""
    filters = call.numbers[1]
    return filters is None or not np.issubdtype(filters.dtype, np.floating) or bool(np.isfinite(filters).all())


def pool(call: Call) -> Sequence[Hashes] | None:
    """AVERAGE_POOL_2D and MAX_POOL_2D: each output depends on its window."""
    value, target = call.value(0), call.outputs[0].dims
    if value.ndim != 4 or len(target) != 4 or value.shape[3] != target[3]:
        return None
    rows, columns = call.option("filter_height"), call.option("filter_width")
    geometry = _geometry(call, (rows, columns))
    if geometry is None:
        return None
    places = coefficients("pool", rows * columns).reshape(rows, columns)
    digest = np.zeros(target, np.uint64)
    for tap, part, read in _taps(value, target[1:3], geometry, (rows, columns)):
        digest[part] += read * places[tap]
    return [mix(digest + call.salt(without=_GEOMETRY_OPTIONS))]


def transposed(call: Call) -> Sequence[Hashes] | None:
    """TRANSPOSE_CONV: every input pixel adds to a window of outputs; the order of integer sums does not count."""
    source, weights, target = call.inputs[2], call.value(1), call.outputs[0].dims
    value = call.value(2)
    if (
        source is None
        or not is_said(call, 0, target)
        or not _are_images(value, weights, target)
        or not _is_finite(call)
    ):
        return None
    if (value.shape[0], weights.shape[0], weights.shape[3]) != (target[0], target[3], value.shape[3]):
        return None
    channels, rows, columns, depth = weights.shape
    strides = [call.option(f"stride_{side}", 1) for side in "hw"]
    if min(strides) < 1:
        return None
    taps = coefficients("taps", rows * columns * depth).reshape(rows, columns, depth)
    digest = _spread(value, taps, target, strides, _transposed_padding(call, target, strides, (rows, columns)))
    own = mix((weights * coefficients("weights", taps.size).reshape(taps.shape)).sum(axis=(1, 2, 3), dtype=np.uint64))
    bias = call.values[3] if len(call.values) > 3 else None
    facts = _channel_facts(call, channels, bias)
    number = call.salt(kind(source), _filter_kind(call), without=_GEOMETRY_OPTIONS)
    return [mix(digest[..., None] + own + facts + number)]


def _transposed_padding(call: Call, target: Sequence[int], strides: list[int], kernel: tuple[int, int]) -> list[int]:
    """Return the padding before rows and columns of a transposed convolution's output.

    Source: tensorflow/lite/micro/kernels/transpose_conv.cc CalculateOpData @ 90b983c.
    """
    if call.option("padding") != 0:
        return [0, 0]
    needed = [(-(-target[i + 1] // strides[i]) - 1) * strides[i] + kernel[i] for i in (0, 1)]
    return [max(0, need - size) // 2 for need, size in zip(needed, target[1:3], strict=True)]


def _spread(
    value: Hashes, taps: Hashes, target: Sequence[int], strides: list[int], padding: list[int]
) -> NDArray[np.uint64]:
    """Return what every input pixel adds to its window of outputs, summed up."""
    digest = np.zeros(target[:3], np.uint64)
    for row, column in np.ndindex(value.shape[1:3]):
        top, left = row * strides[0] - padding[0], column * strides[1] - padding[1]
        first = max(0, -top), max(0, -left)
        last = min(taps.shape[0], target[1] - top), min(taps.shape[1], target[2] - left)
        if first[0] < last[0] and first[1] < last[1]:
            window = taps[first[0] : last[0], first[1] : last[1]]
            added = np.einsum("bd,ijd->bij", value[:, row, column], window)
            digest[:, top + first[0] : top + last[0], left + first[1] : left + last[1]] += added
    return digest


def dense(call: Call) -> Sequence[Hashes] | None:
    """FULLY_CONNECTED: each output sums the products of a row."""
    weights, target = call.value(1), call.outputs[0].dims
    value = _counted(call)
    if weights.ndim != 2 or not target or not weights.shape[1] or value.size % weights.shape[1] or not _is_finite(call):
        return None
    rows = value.reshape(-1, weights.shape[1])
    if target[-1] != weights.shape[0] or rows.shape[0] * weights.shape[0] != prod(target):
        return None
    shared = coefficients("taps", weights.shape[1])
    digest = (rows * shared).sum(axis=1, dtype=np.uint64)[:, None]
    inner = coefficients("weights", weights.shape[1])
    own = mix((weights * inner).sum(axis=1, dtype=np.uint64)) + _channel_facts(
        call, weights.shape[0], _bias(call, weights.shape[0])
    )
    return [mix(digest + own + _sum_salt(call, weights.shape[0])).reshape(target)]
