"""How operators treat channels: which constants are divided when an operator runs on a share of the channels.

A chain begins with a convolution whose output channels each read all of the input; every further operator makes a
channel of its output from the same channel of its input, and a row of ``_RULES`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tflm_sim.extensions.shrink.draft_facts import array, image_padding, integers, is_image, shape, single_output
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CHANNEL_AXES, CONVOLUTIONS, POOLS, UNARY
from tflm_sim.model.types import Operator

Axes = Mapping[int, int]
"""Along which axis each constant input is divided among the groups, by input position."""


@dataclass(frozen=True, slots=True)
class ChainOperator:
    """An operator of a chain.

    Attributes:
        operator: As it is in the draft.
        name: Its name.
        axes: Along which axis each constant input is divided among the groups, by input position.
        scale: Output channels for each channel of the chain's first output.
    """

    operator: Operator
    name: str
    axes: Axes
    scale: int


Chain = tuple[ChainOperator, ...]
"""Operators that run one after the other, group by group of channels."""


def first_of_chain(draft: Draft, operator: Operator) -> ChainOperator | None:
    """Return the first operator of a chain: a convolution whose output channels each read all of the input."""
    name, inputs, output = draft.name(operator), operator.input_tensors, single_output(operator)
    if name not in CONVOLUTIONS or output is None or not is_image(draft, output):
        return None
    # Otherwise it is a grouped convolution, or a depthwise one of several channels.
    whole = (1,) if name == "DEPTHWISE_CONV_2D" else shape(draft, inputs[1])[-1:]
    return _member(draft, operator, _filter_axes(draft, operator), 1) if shape(draft, inputs[0])[-1:] == whole else None


def next_of_chain(draft: Draft, operator: Operator, carried: int, scale: int) -> ChainOperator | None:
    """Return the next operator of a chain if it keeps the channels of the tensor ``carried`` apart, or None."""
    rule, output = _RULES.get(draft.name(operator)), single_output(operator)
    if rule is None or output is None or draft.tensors[output].is_variable or not is_image(draft, carried):
        return None
    is_read_there = operator.input_tensors[:1] == (carried,) or rule is _with_constant
    is_written_there = is_image(draft, output) or rule is _mean
    axes = rule(draft, operator, carried) if is_read_there and is_written_there else None
    return None if axes is None else _member(draft, operator, axes, scale * _multiplier(draft, operator, carried))


def is_channelwise(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator keeps channels apart, so that it runs group by group behind a convolution."""
    inputs = operator.input_tensors
    return bool(inputs) and inputs[0] >= 0 and next_of_chain(draft, operator, inputs[0], 1) is not None


def _member(draft: Draft, operator: Operator, axes: Axes, scale: int) -> ChainOperator | None:
    """Return the operator of a chain, None where what is divided is no constant with a share for each channel."""
    for place, axis in axes.items():
        values = array(draft, operator.input_tensors[place])
        channels = shape(draft, operator.output_tensors[0])[3]
        if values is None or values.ndim <= axis or values.shape[axis] != channels:
            return None
    return ChainOperator(operator, draft.name(operator), axes, scale)


def _filter_axes(draft: Draft, operator: Operator) -> Axes:
    inputs, axes = operator.input_tensors, ((1, CHANNEL_AXES[draft.name(operator)]), (2, 0))
    return {place: axis for place, axis in axes if place < len(inputs) and inputs[place] >= 0}


def _multiplier(draft: Draft, operator: Operator, carried: int) -> int:
    """Return the output channels for each channel of the tensor ``carried``."""
    return shape(draft, operator.output_tensors[0])[-1] // max(1, shape(draft, carried)[-1])


def _depthwise(draft: Draft, operator: Operator, carried: int) -> Axes | None:
    says = operator.options.get("depth_multiplier", 1)
    return _filter_axes(draft, operator) if says == _multiplier(draft, operator, carried) else None


def _mean(draft: Draft, operator: Operator, carried: int) -> Axes | None:
    reduced = integers(draft, operator.input_tensors[1])
    return {} if reduced is not None and sorted(axis % 4 for axis in reduced) == [1, 2] else None


def _pad(draft: Draft, operator: Operator, carried: int) -> Axes | None:
    return None if image_padding(draft, operator) is None else {}


def _with_constant(draft: Draft, operator: Operator, carried: int) -> Axes | None:
    """An elementwise operator with a constant that is the same for all channels, or has an element a channel."""
    inputs = operator.input_tensors
    others = [place for place, tensor in enumerate(inputs) if tensor != carried]
    whole = shape(draft, carried)
    if len(others) != 1 or draft.is_activation(inputs[others[0]]) or shape(draft, operator.output_tensors[0]) != whole:
        return None
    dimensions = shape(draft, inputs[others[0]])
    if dimensions[-1:] == whole[-1:]:
        return {others[0]: len(dimensions) - 1}
    return {} if dimensions[-1:] in ((), (1,)) else None


def _as_it_is(draft: Draft, operator: Operator, carried: int) -> Axes | None:
    return {}


_RULES: Mapping[str, Callable[[Draft, Operator, int], Axes | None]] = {
    **dict.fromkeys(POOLS | UNARY | {"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"}, _as_it_is),
    **dict.fromkeys(("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU"), _with_constant),
    **dict.fromkeys(("PAD", "PADV2"), _pad),
    "MEAN": _mean,
    "DEPTHWISE_CONV_2D": _depthwise,
}
"""How each operator that keeps channels apart divides its constants; None where this one does not."""
