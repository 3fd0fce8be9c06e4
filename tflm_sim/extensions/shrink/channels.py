"""Channel groups: a convolution and the channelwise operators behind it run group by group of output channels.

    X -> CONV_2D -> DEPTHWISE -> POOL -> Y       each group: CONV_2D with its share of the filters -> DEPTHWISE -> POOL

Every output channel is computed once, from the same inputs in the same order: no overlap, no multiplication more; the
arrays that a kernel keeps a channel are divided, not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tflm_sim.extensions.shrink.channel_rules import Chain, ChainOperator, first_of_chain, next_of_chain
from tflm_sim.extensions.shrink.draft_facts import array, shape, tensor_bytes
from tflm_sim.extensions.shrink.profile import Footprint, Profile
from tflm_sim.extensions.shrink.split import (
    CHANNELS,
    ComputedPart,
    Split,
    concatenation,
    even_cuts,
    peak_with_concatenation,
)
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator, Quantization
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

MAX_CHAIN = 6
PARTS = (2, 3, 4, 5, 6, 8, 10, 12, 16)
CHANNEL_STEP = 4
"""Kernels take channels by four: groups are multiples of it where they can be."""
_PER_CHANNEL_BYTES = 8


def chains(draft: Draft, first: int, consumers: Mapping[int, list[int]]) -> Iterator[tuple[int, Chain]]:
    """Yield (the operator behind it, the chain) for each chain that begins with operator ``first``, shortest first."""
    head = first_of_chain(draft, draft.operators[first])
    if head is None:
        return
    chain = [head]
    yield first + 1, (head,)
    for index in range(first + 1, min(first + MAX_CHAIN, len(draft.operators))):
        carried = (chain[-1].operator.output_tensors)[0]
        if consumers.get(carried) != [index] or carried in draft.outputs:
            return
        member = next_of_chain(draft, draft.operators[index], carried, chain[-1].scale)
        if member is None:
            return
        chain.append(member)
        yield index + 1, tuple(chain)


def channel_splits(draft: Draft, facts: Profile, first: int, end: int, chain: Chain) -> Iterator[Split]:
    """Yield the ways to run a chain in groups, with their estimates; an operator alone if that takes less scratch."""
    if len(chain) == 1 and first not in facts.vectors:
        return
    source = chain[0].operator.input_tensors[0]
    result = (chain[-1].operator.output_tensors)[0]
    if source not in facts.bytes or result not in facts.bytes:
        return
    channels = shape(draft, chain[0].operator.output_tensors[0])[3]
    seen: set[tuple[tuple[int, int], ...]] = set()
    for count in PARTS:
        parts = even_cuts(channels, count, CHANNEL_STEP if channels > CHANNEL_STEP else 1)
        if len(parts) < 2 or parts in seen:
            return
        seen.add(parts)
        split = Split(CHANNELS, first, end, source, result, parts)
        peak, tail = _estimates(draft, facts, split, chain, channels)
        yield replace(split, peak=peak, tail=tail)


def _estimates(draft: Draft, facts: Profile, split: Split, chain: Chain, channels: int) -> tuple[int, int]:
    """Return the most bytes alive in the groups, and the persistent bytes that they add."""
    steps: list[Footprint] = []
    pieces: list[int] = []
    key = -1
    for start, end in split.parts:
        carried = split.source
        for index, member in enumerate(chain):
            size = tensor_bytes(draft, member.operator.output_tensors[0]) * (end - start) // channels
            key -= 1
            scratch = facts.scratch[split.first + index]
            own = facts.vectors.get(split.first + index)
            if own is not None:
                share = own.layer.image.channels * (end - start) // channels if index else own.layer.image.channels
                scratch = own.of(3, share, own.layer.result.channels * (end - start) // channels)
            elif index or member.name == "DEPTHWISE_CONV_2D":
                scratch = align_up(scratch * (end - start) // channels, BUFFER_ALIGNMENT)  # windows of its own channels
            gap = facts.gaps[split.first + index] if facts.gaps else None
            steps.append(Footprint((carried,), key, align_up(size, BUFFER_ALIGNMENT), scratch, gap))
            carried = key
        pieces.append(carried)
    copies = len(split.parts) - 1
    tail = facts.node + facts.tensor
    for index, member in enumerate(chain):
        per_channel = _PER_CHANNEL_BYTES * channels * member.scale if member.axes else 0
        fixed = max(0, facts.tail[split.first + index] - per_channel)
        tail += copies * (fixed + facts.node + facts.tensor * (1 + len(member.axes)))
    return peak_with_concatenation(facts, split, steps, pieces), tail


def apply_channels(draft: Draft, split: Split, consumers: Mapping[int, list[int]]) -> list[ComputedPart]:
    """Replace a chain by its groups and return what each group computes."""
    chain = next(found for end, found in chains(draft, split.first, consumers) if end == split.end)
    operators: list[Operator] = []
    pieces: list[int] = []
    made: list[ComputedPart] = []
    for start, end in split.parts:
        carried = split.source
        computed = []
        for member in chain:
            output = member.operator.output_tensors[0]
            dimensions = (*shape(draft, output)[:-1], (end - start) * member.scale)
            group = draft.add_like(output, dimensions)
            operators.append(_share(draft, member, carried, group, (start * member.scale, end * member.scale)))
            computed.append((output, start * member.scale, end * member.scale))
            carried = group
        pieces.append(carried)
        made.append(ComputedPart((start, end), tuple(computed)))
    axis = len(shape(draft, split.result)) - 1
    operators += concatenation(draft, pieces, split.result, axis)
    draft.operators[split.first : split.end] = operators
    return made


def _share(draft: Draft, member: ChainOperator, carried: int, output: int, channels: tuple[int, int]) -> Operator:
    """Return the operator of one group: its share of the constants, the rest as it was."""
    start, end = channels
    inputs = list(member.operator.input_tensors)
    for place, tensor in enumerate(inputs):
        if place in member.axes:
            inputs[place] = _cut_constant(draft, tensor, member.axes[place], start, end)
        elif draft.is_activation(tensor):
            inputs[place] = carried
    options = dict(member.operator.options)
    if member.name == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = (end - start) // max(1, shape(draft, carried)[3])
    return replace(member.operator, inputs=tuple(inputs), outputs=(output,), options=options)


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
