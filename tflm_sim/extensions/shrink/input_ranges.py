"""``input_ranges()``: which integers each input of a model may hold, where operators use it as an index.

GATHER and EMBEDDING_LOOKUP refuse an index outside of their table, or read other memory, so that a test run with other
integers would prove nothing about the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.extensions.shrink.draft_facts import axis_option, shape
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import VIEWS
from tflm_sim.model.types import Model, Operator

Range = tuple[int, int]
"""The least and the greatest value, both included."""

_INDEX_MOVES = VIEWS | {"CAST", "CONCATENATION", "PACK", "UNPACK", "TRANSPOSE"}
"""Operators whose output has the input's values."""


def input_ranges(model: Model) -> list[Range | None]:
    """Return the range of each input of the main subgraph, None for one whose values are free."""
    draft = Draft(model)
    return [_range(draft, tensor) for tensor in draft.inputs]


def _range(draft: Draft, tensor: int) -> Range | None:
    """Return what an input may hold: what all operators allow that it reaches unchanged."""
    reached, limits = {tensor}, list[int]()
    for operator in draft.operators:
        read = [position for position, index in enumerate(operator.input_tensors) if index in reached]
        if not read:
            continue
        if draft.name(operator) in _INDEX_MOVES:
            reached.update(operator.output_tensors)
        limits += _limits(draft, operator, read)
    return (0, max(0, min(limits) - 1)) if limits else None


def _limits(draft: Draft, operator: Operator, read: list[int]) -> Iterator[int]:
    """Yield how many values an operator allows for inputs that it uses as indices."""
    name, inputs = draft.name(operator), operator.input_tensors
    if name == "GATHER" and 1 in read:
        table = shape(draft, inputs[0])
        yield table[axis_option(operator, len(table))]
    elif name == "GATHER_ND" and 1 in read:
        yield min(shape(draft, inputs[0])[: shape(draft, inputs[1])[-1]])
    elif name == "EMBEDDING_LOOKUP" and 0 in read:
        yield shape(draft, inputs[1])[0]
    elif name == "DYNAMIC_UPDATE_SLICE" and 2 in read:
        yield 1
