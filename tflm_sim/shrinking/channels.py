"""Channel groups: a convolution and the channelwise operators behind it run group by group of output channels.

    X -> CONV_2D -> DEPTHWISE -> POOL -> Y       each group: CONV_2D with its share of the filters -> DEPTHWISE -> POOL

Every output channel is computed once, from the same inputs in the same order: no halo, no multiplication more, and the
arrays that a kernel keeps a channel are divided, not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import POOLS, UNARY
from tflm_sim.model.types import Operator, Quantization
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.shrinking.graph import array, integers, shape, single_output, tensor_bytes
from tflm_sim.shrinking.profile import Footprint, Profile
from tflm_sim.shrinking.rows import peak_with_concatenation
from tflm_sim.shrinking.split import CHANNELS, Split, SplitWitness, concatenation, even_cuts
from tflm_sim.units import align_up
from tflm_sim.values import dataclass, replace

LONGEST_CHAIN = 6
PARTS = (2, 3, 4, 5, 6, 8, 10, 12, 16)
CHANNEL_STEP = 4
"""Kernels take channels by four: groups are multiples of it where they can be."""
_PER_CHANNEL_BYTES = 8
_RESIZES = frozenset({"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"})
_WITH_CONSTANT = frozenset({"ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU"})


@dataclass(frozen=True, slots=True)
class ChainLink:
    """An operator of a chain.

    Attributes:
        operator: As it is in the draft.
        name: Its name.
        axes: Along which axis each constant input is divided among the groups, by input position.
        scale: Output channels for each channel of the chain's first output.
    """

    operator: Operator
    name: str
    axes: Mapping[int, int]
    scale: int


def chains(draft: Draft, first: int, consumers: Mapping[int, list[int]]) -> Iterator[tuple[int, tuple[ChainLink, ...]]]:
    """Yield (last operator, links) of each chain that begins with operator ``first``, shortest first."""
    head = _head(draft, draft.operators[first])
    if head is None:
        return
    links = [head]
    for last in range(first + 1, min(first + LONGEST_CHAIN, len(draft.operators))):
        carried = (links[-1].operator.output_tensors)[0]
        if consumers.get(carried) != [last] or carried in draft.outputs:
            return
        link = _channelwise(draft, draft.operators[last], carried, links[-1].scale)
        if link is None:
            return
        links.append(link)
        yield last, tuple(links)


def _head(draft: Draft, operator: Operator) -> ChainLink | None:
    """Return the first link: a convolution whose output channels each read all of the input."""
    name, inputs, output = draft.name(operator), operator.input_tensors, single_output(operator)
    if name not in ("CONV_2D", "DEPTHWISE_CONV_2D") or output is None or not _is_image(draft, output):
        return None
    if name == "DEPTHWISE_CONV_2D" and shape(draft, inputs[0])[-1:] != (1,):
        return None
    if name == "CONV_2D" and shape(draft, inputs[0])[-1:] != shape(draft, inputs[1])[-1:]:
        return None  # a grouped convolution
    axes = {1: 0 if name == "CONV_2D" else 3, 2: 0}
    axes = {place: axis for place, axis in axes.items() if place < len(inputs) and inputs[place] >= 0}
    return ChainLink(operator, name, axes, 1) if _is_whole(draft, operator, axes, shape(draft, output)[3]) else None


def _channelwise(draft: Draft, operator: Operator, carried: int, scale: int) -> ChainLink | None:
    """Return the link of an operator that keeps channels apart, or None."""
    name, inputs, output = draft.name(operator), operator.input_tensors, single_output(operator)
    if output is None or not inputs or draft.tensors[output].is_variable or not _is_image(draft, carried):
        return None
    channels = shape(draft, carried)[3]
    axes: dict[int, int] = {}
    if name == "MEAN":
        reduced = integers(draft, inputs[1])
        if reduced is None or sorted(axis % 4 for axis in reduced) != [1, 2]:
            return None
        return ChainLink(operator, name, axes, scale) if inputs[0] == carried else None
    if not _is_image(draft, output):
        return None
    if name == "DEPTHWISE_CONV_2D":
        multiplier = shape(draft, output)[3] // max(1, channels)
        if inputs[0] != carried or operator.options.get("depth_multiplier", 1) != multiplier:
            return None
        scale *= multiplier
        axes = {place: axis for place, axis in ((1, 3), (2, 0)) if place < len(inputs) and inputs[place] >= 0}
    elif name in ("PAD", "PADV2"):
        paddings = integers(draft, inputs[1])
        if inputs[0] != carried or paddings is None or len(paddings) != 8 or any(paddings[:2] + paddings[6:]):
            return None
    elif name in _WITH_CONSTANT:
        others = [place for place, tensor in enumerate(inputs) if tensor != carried]
        if len(others) != 1 or draft.is_activation(inputs[others[0]]) or shape(draft, output) != shape(draft, carried):
            return None
        dimensions = shape(draft, inputs[others[0]])
        if dimensions and dimensions[-1] == channels:
            axes = {others[0]: len(dimensions) - 1}
        elif dimensions and dimensions[-1] != 1:
            return None
    elif name not in POOLS | UNARY | _RESIZES or inputs[0] != carried:
        return None
    return ChainLink(operator, name, axes, scale) if _is_whole(draft, operator, axes, shape(draft, output)[3]) else None


def is_channelwise(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator keeps channels apart, so that it runs group by group behind a convolution."""
    inputs = operator.input_tensors
    return bool(inputs) and inputs[0] >= 0 and _channelwise(draft, operator, inputs[0], 1) is not None


def _is_image(draft: Draft, tensor: int) -> bool:
    """Return whether a tensor is [batch, rows, columns, channels]."""
    return len(shape(draft, tensor)) == 4


def _is_whole(draft: Draft, operator: Operator, axes: Mapping[int, int], channels: int) -> bool:
    """Return whether every constant that is to be divided is one, with a share for each channel."""
    for place, axis in axes.items():
        values = array(draft, operator.input_tensors[place])
        if values is None or values.ndim <= axis or values.shape[axis] != channels:
            return False
    return True


def channel_splits(
    draft: Draft, facts: Profile, first: int, last: int, links: tuple[ChainLink, ...]
) -> Iterator[Split]:
    """Yield the ways to run a chain in groups, with their estimates."""
    source = links[0].operator.input_tensors[0]
    result = (links[-1].operator.output_tensors)[0]
    if source not in facts.bytes or result not in facts.bytes:
        return
    channels = shape(draft, links[0].operator.output_tensors[0])[3]
    seen: set[tuple[tuple[int, int], ...]] = set()
    for count in PARTS:
        parts = even_cuts(channels, count, CHANNEL_STEP if channels > CHANNEL_STEP else 1)
        if len(parts) < 2 or parts in seen:
            return
        seen.add(parts)
        split = Split(CHANNELS, first, last, source, result, parts)
        peak, tail = _estimates(draft, facts, split, links, channels)
        yield replace(split, peak=peak, tail=tail)


def _estimates(
    draft: Draft, facts: Profile, split: Split, links: tuple[ChainLink, ...], channels: int
) -> tuple[int, int]:
    """Return the most bytes alive in the groups, and the persistent bytes that they add."""
    steps: list[Footprint] = []
    pieces: list[int] = []
    key = -1
    for start, end in split.parts:
        carried = split.source
        for index, link in enumerate(links):
            size = tensor_bytes(draft, link.operator.output_tensors[0]) * (end - start) // channels
            key -= 1
            steps.append(
                Footprint((carried,), key, align_up(size, BUFFER_ALIGNMENT), facts.scratch[split.first + index])
            )
            carried = key
        pieces.append(carried)
    copies = len(split.parts) - 1
    tail = facts.node + facts.tensor
    for index, link in enumerate(links):
        per_channel = _PER_CHANNEL_BYTES * channels * link.scale if link.axes else 0
        fixed = max(0, facts.tail[split.first + index] - per_channel)
        tail += copies * (fixed + facts.node + facts.tensor * (1 + len(link.axes)))
    return peak_with_concatenation(facts, split, steps, pieces), tail


def apply_channels(draft: Draft, split: Split, links: tuple[ChainLink, ...]) -> list[SplitWitness]:
    """Replace a chain by its groups and return what each group computes."""
    operators: list[Operator] = []
    pieces: list[int] = []
    witnesses: list[SplitWitness] = []
    for start, end in split.parts:
        carried = split.source
        computed = []
        for link in links:
            output = link.operator.output_tensors[0]
            dimensions = (*shape(draft, output)[:-1], (end - start) * link.scale)
            group = draft.add_like(output, dimensions)
            operators.append(_share(draft, link, carried, group, (start * link.scale, end * link.scale)))
            computed.append((output, start * link.scale, end * link.scale))
            carried = group
        pieces.append(carried)
        witnesses.append(SplitWitness((start, end), tuple(computed)))
    axis = len(shape(draft, split.result)) - 1
    operators += concatenation(draft, pieces, split.result, axis)
    draft.operators[split.first : split.last + 1] = operators
    return witnesses


def _share(draft: Draft, link: ChainLink, carried: int, output: int, channels: tuple[int, int]) -> Operator:
    """Return the operator of one group: its share of the constants, the rest as it was."""
    start, end = channels
    inputs = list(link.operator.input_tensors)
    for place, tensor in enumerate(inputs):
        if place in link.axes:
            inputs[place] = _cut_constant(draft, tensor, link.axes[place], start, end)
        elif draft.is_activation(tensor):
            inputs[place] = carried
    options = dict(link.operator.options)
    if link.name == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = (end - start) // max(1, shape(draft, carried)[3])
    return replace(link.operator, inputs=tuple(inputs), outputs=(output,), options=options)


def _cut_constant(draft: Draft, tensor: int, axis: int, start: int, end: int) -> int:
    """Add the share [start, end) of a constant along an axis, with its share of the scales, and return its index."""
    values, facts = array(draft, tensor), draft.tensors[tensor]
    assert values is not None, "a chain has constants only that are arrays"
    share = np.ascontiguousarray(np.take(values, range(start, end), axis=axis))
    quantization = facts.quantization
    if quantization is not None and len(quantization.scale) == values.shape[axis] > 1:
        least, most = (seen[start:end] if len(seen) > 1 else seen for seen in quantization.range)
        quantization = Quantization(
            tuple(quantization.scale[start:end]),
            tuple(quantization.zero_point[start:end] if len(quantization.zero_point) > 1 else quantization.zero_point),
            quantization.quantized_dimension,
            min=least,
            max=most,
        )
    return draft.add_tensor(share.shape, facts.type, quantization=quantization, data=share.tobytes())
