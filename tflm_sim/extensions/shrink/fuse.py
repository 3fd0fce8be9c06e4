"""Operators that equal another one: PAD and a convolution, branches of a depthwise convolution, STRIDED_SLICE, SLICE.

PAD + VALID is SAME where SAME pads as much: the kernel leaves out what PAD wrote, and what PAD wrote counts for nothing
(the zero point, whose product with any weight is 0). SAME pads by the size of the window: one tap more, of weights that
are 0, and it pads as PyTorch does, 1 before and 1 behind for a window of 3 and a stride of 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from tflm_sim.extensions.shrink.draft_facts import (
    Array,
    array,
    axis_option,
    image_padding,
    integers,
    is_image,
    is_written_within,
    quantization_key,
    same_kind,
    shape,
    window,
    zero_point,
)
from tflm_sim.extensions.shrink.passes import Chooser, label_of
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.extensions.shrink.split import add_integers
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Operator, Quantization, TensorType
from tflm_sim.model.windows import PADDING_SAME, PADDING_VALID


def pad_to_same(draft: Draft, choose: Chooser) -> list[Edit]:
    """Turn PAD and its VALID convolutions into SAME convolutions, with taps of zero where SAME would pad otherwise."""
    edits: list[Edit] = []
    for pad in list(draft.operators):
        if draft.name(pad) not in ("PAD", "PADV2"):
            continue
        readers = _same_readers(draft, pad)
        if not readers or not choose():
            continue
        index = draft.operators.index(pad)
        for reader, taps in readers.items():
            operator = draft.operators[reader]
            inputs = (pad.input_tensors[0], _with_zero_taps(draft, operator, taps), *operator.input_tensors[2:])
            draft.operators[reader] = replace(
                operator, inputs=inputs, options={**operator.options, "padding": PADDING_SAME}
            )
        more = ", with taps of zero" if any(map(any, chain(*readers.values()))) else ""
        edits.append(Edit(label_of(draft, index), f"is the padding SAME of its readers {[*readers]}{more}"))
        del draft.operators[index]
    return edits


_MoreTaps = tuple[tuple[int, int], tuple[int, int]]
"""Taps of zero before and behind the rows of a filter, and before and behind its columns."""
_MAX_TAPS = 1


def _same_readers(draft: Draft, pad: Operator) -> dict[int, _MoreTaps]:
    """Return the convolutions behind a PAD if all of its readers are such and SAME would pad just so, else nothing."""
    paddings, output = image_padding(draft, pad), pad.output_tensors[0]
    is_kept = output in draft.outputs or draft.tensors[output].is_variable
    if paddings is None or is_kept or not _pads_with_zeros(draft, pad):
        return {}
    readers, source = draft.readers(output), pad.input_tensors[0]
    if is_written_within(draft, source, draft.operators.index(pad), max(readers, default=0)):
        return {}
    taps = [_taps_of_same(draft, draft.operators[index], source, paddings) for index in readers]
    return {index: each for index, each in zip(readers, taps, strict=True) if each is not None} if all(taps) else {}


def _pads_with_zeros(draft: Draft, pad: Operator) -> bool:
    """Return whether what a PAD writes counts for nothing: it is its input's zero point."""
    source, output = pad.input_tensors[0], pad.output_tensors[0]
    if not draft.is_activation(source) or not same_kind(draft, source, output):
        return False
    values = array(draft, pad.input_tensors[2]) if draft.name(pad) == "PADV2" else None
    point = float(zero_point(draft.tensors[source]))
    return draft.name(pad) == "PAD" or (values is not None and [float(value) for value in values.ravel()] == [point])


def _taps_of_same(draft: Draft, operator: Operator, source: int, paddings: list[int]) -> _MoreTaps | None:
    """Return the taps with which a VALID convolution of a padded tensor is a SAME one of its source, None for none."""
    if draft.name(operator) not in CONVOLUTIONS or operator.options.get("padding") != PADDING_VALID:
        return None
    if not _has_finite_weights(draft, operator):
        return None
    rows, columns = (_taps_along(draft, operator, source, axis, paddings[2 * axis]) for axis in (1, 2))
    return (rows, columns) if rows is not None and columns is not None else None


def _taps_along(draft: Draft, operator: Operator, source: int, axis: int, padding: int) -> tuple[int, int] | None:
    """Return the fewest taps of zero before and behind a window with which SAME pads as much before it."""
    own, size = window(draft, operator, axis), shape(draft, source)[axis]
    for count in range(_MAX_TAPS + 1 if _are_plain_integers(draft, operator.input_tensors[1]) else 1):
        same = replace(own, is_same=True, kernel=own.kernel + count)
        outputs, before = same.output(size)
        first, rest = divmod(before - padding, own.dilation)
        if outputs == shape(draft, operator.output_tensors[0])[axis] and not rest and 0 <= first <= count:
            return first, count - first
    return None


def _are_plain_integers(draft: Draft, filters: int) -> bool:
    """Return whether a 0 in a filter makes 0 of whatever it meets."""
    facts = draft.tensors[filters]
    points = facts.quantization.zero_point if facts.quantization else ()
    return array(draft, filters) is not None and facts.type == TensorType.INT8 and not any(points)


def _with_zero_taps(draft: Draft, operator: Operator, taps: _MoreTaps) -> int:
    """Return a convolution's filter, with taps of zero around it where there are any."""
    filters = operator.input_tensors[1]
    weights = array(draft, filters)
    if weights is None or not any(map(any, taps)):
        return filters
    wider, facts = np.pad(weights, ((0, 0), *taps, (0, 0))), draft.tensors[filters]
    return draft.add_tensor(wider.shape, facts.type, quantization=facts.quantization, data=wider.tobytes())


def _has_finite_weights(draft: Draft, operator: Operator) -> bool:
    """Return whether no weight makes more of a zero than a zero."""
    facts = draft.tensors[operator.input_tensors[1]]
    weights = array(draft, operator.input_tensors[1])
    return facts.type != TensorType.FLOAT32 or (weights is not None and bool(np.isfinite(weights).all()))


_Weights = tuple[Array, Array, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class _Branch:
    """SPLIT's output -> [SLICE of rows] -> DEPTHWISE_CONV_2D: one branch of a mixed convolution.

    Attributes:
        start: First row of SPLIT's output that the convolution reads.
        end: The row behind the last one.
        operators: The branch's operators, to be dropped.
    """

    convolution: Operator
    start: int
    end: int
    split: int
    split_output: int
    operators: tuple[int, ...]


def join_depthwise(draft: Draft, choose: Chooser) -> list[Edit]:
    """Join SPLIT, a depthwise convolution a branch, and CONCATENATION to one depthwise convolution.

    A shorter filter gets weights of 0 in front, for the rows that its branch cut off.
    """
    edits: list[Edit] = []
    for concatenation in [each for each in draft.operators if draft.name(each) == "CONCATENATION"]:
        branches = _branches(draft, concatenation)
        joined = _joined(draft, concatenation, branches) if branches else None
        if joined is None or not choose():
            continue
        index = draft.operators.index(concatenation)
        edits.append(Edit(label_of(draft, index), f"joins {len(branches)} depthwise branches, which are one"))
        draft.operators[index] = joined
        gone = {branches[0].split, *chain.from_iterable(branch.operators for branch in branches)}
        draft.drop(gone)
    return edits


def _joins_channels(draft: Draft, concatenation: Operator) -> bool:
    """Whether a CONCATENATION does nothing but join the channels of images."""
    is_plain = not concatenation.options.get("fused_activation_function", 0)
    rank = len(shape(draft, concatenation.output_tensors[0]))
    return is_plain and rank == 4 and axis_option(concatenation, 4) == 3


def _branches(draft: Draft, concatenation: Operator) -> list[_Branch]:
    output = concatenation.output_tensors[0]
    if not _joins_channels(draft, concatenation):
        return []
    producers, consumers = draft.producers(), draft.consumers()
    found = [_branch(draft, tensor, producers, consumers) for tensor in concatenation.input_tensors]
    branches = list(filter(None, found))
    is_one_kind = all(same_kind(draft, tensor, output) for tensor in concatenation.input_tensors)
    if not is_one_kind or len(branches) < len(found) or len({branch.split for branch in branches}) != 1:
        return []
    outputs = draft.operators[branches[0].split].outputs
    return branches if tuple(branch.split_output for branch in branches) == outputs else []


def _branch(draft: Draft, tensor: int, producers: dict[int, int], consumers: dict[int, list[int]]) -> _Branch | None:
    """Return the branch that ends with ``tensor``, or None."""
    chain: list[int] = []

    def producer_of(tensor: int, names: tuple[str, ...]) -> Operator | None:
        """Return the operator that makes a tensor for one reader alone, if it is one of these."""
        if len(consumers.get(tensor, ())) != 1 or tensor in draft.outputs or tensor not in producers:
            return None
        if draft.tensors[tensor].is_variable:  # It may be read in front of what writes it.
            return None
        operator = draft.operators[producers[tensor]]
        if draft.name(operator) not in names:
            return None
        chain.append(producers[tensor])
        return operator

    convolution = producer_of(tensor, ("DEPTHWISE_CONV_2D",))
    if convolution is None or not _is_plain_valid(convolution):
        return None
    source = convolution.input_tensors[0]
    rows: tuple[int, int] | None = (0, shape(draft, source)[1])
    if (cut := producer_of(source, ("SLICE", "STRIDED_SLICE"))) is not None:
        rows, source = _row_slice(draft, cut), cut.input_tensors[0]
    split = producer_of(source, ("SPLIT", "SPLIT_V"))
    if split is None or rows is None or not is_image(draft, source) or _split_axis(draft, split) != 3:
        return None
    return _Branch(convolution, *rows, chain[-1], source, tuple(chain[:-1]))


def _is_plain_valid(convolution: Operator) -> bool:
    """Return whether a depthwise convolution has a bias, no padding, and every step and multiplier is 1."""
    options = convolution.options
    unit = ("stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor", "depth_multiplier")
    is_valid = options.get("padding") == PADDING_VALID and all(options.get(name, 1) == 1 for name in unit)
    return is_valid and len(convolution.input_tensors) >= 3


def _split_axis(draft: Draft, split: Operator) -> int | None:
    inputs = split.input_tensors
    axis = integers(draft, inputs[0] if draft.name(split) == "SPLIT" else inputs[2])
    return axis[0] % 4 if axis else None


def _row_slice(draft: Draft, operator: Operator) -> tuple[int, int] | None:
    """Return the rows that a SLICE or STRIDED_SLICE takes if it takes all of the other axes, else None."""
    bounds = slice_bounds(draft, operator)
    dimensions = shape(draft, operator.input_tensors[0])
    if bounds is None or len(bounds) != 4:
        return None
    whole = [(0, size) for size in dimensions]
    return bounds[1] if [*bounds[:1], *bounds[2:]] == [*whole[:1], *whole[2:]] else None


def plain_slices(draft: Draft, choose: Chooser) -> list[Edit]:
    """Turn each STRIDED_SLICE in steps of one into a SLICE, whose kernel keeps nothing in the tail."""
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        bounds = _plain_bounds(draft, operator)
        if bounds is not None and choose():
            draft.operators[index] = slice_to(draft, operator.input_tensors[0], bounds, operator.output_tensors[0])
            edits.append(Edit(f"#{index} STRIDED_SLICE", "takes every element, as SLICE does"))
    return edits


_SLICED_TYPES = (TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32)
"""Element types of SLICE's kernel."""


def _plain_bounds(draft: Draft, operator: Operator) -> list[tuple[int, int]] | None:
    """Return what a STRIDED_SLICE takes where a SLICE can take the same, else None."""
    if draft.name(operator) != "STRIDED_SLICE" or len(operator.input_tensors) != 4:
        return None
    source, output = operator.input_tensors[0], operator.output_tensors[0]
    bounds = slice_bounds(draft, operator)
    lengths = tuple(end - begin for begin, end in bounds or ())
    is_whole = lengths == shape(draft, output) and min(lengths, default=0) >= 1
    is_taken = draft.tensors[source].type in _SLICED_TYPES and same_kind(draft, source, output)
    return bounds if is_whole and is_taken else None


def slice_to(draft: Draft, source: int, bounds: Sequence[tuple[int, int]], output: int) -> Operator:
    """Return a SLICE of [start, end) along each axis: a length to the end is -1, the same constant for many tensors."""
    sizes = zip(bounds, shape(draft, source), strict=True)
    lengths = [-1 if end == size else end - start for (start, end), size in sizes]
    begins = add_integers(draft, [start for start, _ in bounds])
    return draft.operator("SLICE", (source, begins, add_integers(draft, lengths)), (output,))


def slice_bounds(draft: Draft, operator: Operator) -> list[tuple[int, int]] | None:
    """Return [start, end) along each axis of a SLICE or STRIDED_SLICE with steps of 1 and constant bounds, or None."""
    inputs = operator.input_tensors
    dimensions = shape(draft, inputs[0])
    begin, other = integers(draft, inputs[1]), integers(draft, inputs[2])
    if begin is None or other is None or not len(begin) == len(other) == len(dimensions):
        return None
    axes = list(zip(begin, other, dimensions, strict=True))
    if draft.name(operator) == "SLICE":
        return [(b, size if length == -1 else b + length) for b, length, size in axes]
    return _strided_bounds(operator, integers(draft, inputs[3]), axes)


def _strided_bounds(
    operator: Operator, strides: Sequence[int] | None, axes: list[tuple[int, int, int]]
) -> list[tuple[int, int]] | None:
    """Return [start, end) along each axis of a STRIDED_SLICE, of (begin, end, size) along it."""
    masks = operator.options
    others = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "offset")
    if strides is None or set(strides) != {1} or any(masks.get(name) for name in others):
        return None
    begin_mask, end_mask = (int(str(masks.get(name, 0) or 0)) for name in ("begin_mask", "end_mask"))
    return [
        (0 if begin_mask >> axis & 1 else _clamped(b, size), size if end_mask >> axis & 1 else _clamped(e, size))
        for axis, (b, e, size) in enumerate(axes)
    ]


def _clamped(position: int, size: int) -> int:
    return max(0, min(size, position + size * (position < 0)))


def _joined(draft: Draft, concatenation: Operator, branches: list[_Branch]) -> Operator | None:
    """Return the one convolution, its filter and bias added to the draft; None where the branches do not fit."""
    split = draft.operators[branches[0].split]
    source = split.input_tensors[1 if draft.name(split) == "SPLIT" else 0]
    if is_written_within(draft, source, branches[0].split, draft.operators.index(concatenation)):
        return None
    parts = list(filter(None, (_weights(draft, branch) for branch in branches)))
    if len(parts) < len(branches) or not _fit(draft, source, concatenation.output_tensors[0], branches, parts):
        return None
    height = max(weights.shape[1] for weights, _, _ in parts)
    filters = np.concatenate(
        [np.pad(weights, ((0, 0), (height - weights.shape[1], 0), (0, 0), (0, 0))) for weights, _, _ in parts], axis=3
    )
    bias = np.concatenate([values for _, values, _ in parts])
    scales = tuple(scale for _, _, part in parts for scale in part)
    least, most = _joined_range(draft, branches)
    first = branches[0].convolution
    joined_filter = draft.add_tensor(
        filters.shape,
        TensorType.INT8,
        quantization=Quantization(scales, (0,) * len(scales), 3, min=least, max=most),
        data=filters.astype("i1").tobytes(),
    )
    joined_bias = draft.add_tensor(
        bias.shape,
        draft.tensors[first.input_tensors[2]].type,
        quantization=_joined_bias_scales(draft, branches, len(scales)),
        data=bias.tobytes(),
    )
    return replace(first, inputs=(source, joined_filter, joined_bias), outputs=concatenation.outputs)


def _fit(draft: Draft, source: int, output: int, branches: list[_Branch], parts: list[_Weights]) -> bool:
    """Return whether the branches compute alike, and read the last rows of the source that each filter needs."""
    size, rows = shape(draft, source)[1], shape(draft, output)[1]
    heights = [weights.shape[1] for weights, _, _ in parts]
    return (
        size == rows + max(heights) - 1
        and [(branch.start, branch.end) for branch in branches] == [(size - rows - h + 1, size) for h in heights]
        and _compute_alike(draft, source, branches, {weights.shape[2] for weights, _, _ in parts})
    )


def _compute_alike(draft: Draft, source: int, branches: list[_Branch], widths: set[int]) -> bool:
    """Return whether the branches have one activation, filters of one width, and int8 inputs of the source's kind."""
    operators = [branch.convolution for branch in branches]
    return (
        len({operator.options.get("fused_activation_function", 0) for operator in operators}) == 1
        and len(widths) == 1
        and draft.tensors[source].type == TensorType.INT8
        and all(same_kind(draft, operator.input_tensors[0], source) for operator in operators)
    )


def _joined_range(draft: Draft, branches: list[_Branch]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the filters' minima and maxima, one a channel, where all of them have any."""
    least: list[float] = []
    most: list[float] = []
    for branch in branches:
        weights = branch.convolution.input_tensors[1]
        quantization, count = draft.tensors[weights].quantization, shape(draft, weights)[3]
        if quantization is None or any(len(seen) not in (1, count) for seen in quantization.range):
            return (), ()
        low, high = quantization.range
        least += low * (count // len(low))
        most += high * (count // len(high))
    return tuple(least), tuple(most)


def _joined_bias_scales(draft: Draft, branches: list[_Branch], channels: int) -> Quantization | None:
    """Return the biases' scales, one a channel, where all of them have any."""
    scales: list[float] = []
    for branch in branches:
        inputs = branch.convolution.input_tensors
        quantization, count = draft.tensors[inputs[2]].quantization, shape(draft, inputs[2])[0]
        if quantization is None or len(quantization.scale) not in (1, count):
            return draft.tensors[inputs[2]].quantization
        scales += list(quantization.scale) * (count // len(quantization.scale))
    return Quantization(tuple(scales), (0,) * channels, 0)


def _weights(draft: Draft, branch: _Branch) -> _Weights | None:
    """Return (filter, bias, a scale a channel) of a branch that is quantized symmetrically, else None."""
    inputs = branch.convolution.input_tensors
    weights, bias = array(draft, inputs[1]), array(draft, inputs[2])
    facts = draft.tensors[inputs[1]]
    quantization = facts.quantization
    if weights is None or bias is None or facts.type != TensorType.INT8 or quantization is None:
        return None
    channels = weights.shape[3]
    if (
        any(quantization.zero_point)
        or len(quantization.scale) not in (1, channels)
        or not quantization_key(quantization)
    ):
        return None
    return weights, bias, tuple(quantization.scale) * (channels // len(quantization.scale))
