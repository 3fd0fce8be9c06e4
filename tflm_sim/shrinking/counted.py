"""Counted loops: WHILE operators of which the file says how often they run, as ``loops`` writes them.

A counter begins as a constant, the condition is LESS(counter, constant), and the body's last word on it is
ADD(counter, constant).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator, Subgraph, Tensor, TensorType
from tflm_sim.values import dataclass

Place = tuple[int, int]
"""A subgraph, and a tensor of it."""


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A WHILE of the main subgraph.

    Attributes:
        operator: Its index.
        condition, body: The subgraphs that it runs, nobody else.
        iterations: How often the body runs.
    """

    operator: int
    condition: int
    body: int
    iterations: int


def counted_loops(draft: Draft) -> list[CountedLoop]:
    """Return the counted loops of the main subgraph."""
    return [loop for index, each in enumerate(draft.operators) if (loop := _counted(draft, index, each)) is not None]


def _counted(draft: Draft, index: int, operator: Operator) -> CountedLoop | None:
    """Return a WHILE that is counted, None for any other operator."""
    if draft.name(operator) != "WHILE":
        return None
    options, nested = operator.options, draft.nested
    condition, body = (options.get(f"{name}_subgraph_index") for name in ("cond", "body"))
    if not isinstance(condition, int) or not isinstance(body, int) or not {condition, body} < set(range(len(nested))):
        return None
    (less, *more), named = nested[condition].operators or (None,), nested[condition].input_tensors
    if less is None or more or draft.name(less) != "LESS" or len(less.input_tensors) != 2:
        return None
    if less.input_tensors[0] not in named:
        return None
    place = named.index(less.input_tensors[0])
    limit = _number(draft, nested[condition].tensors[less.input_tensors[1]])
    first = _number(draft, draft.tensors[operator.input_tensors[place]])
    step = _step(draft, nested[body], place)
    if limit is None or first is None or step is None or step <= 0:
        return None
    return CountedLoop(index, condition, body, max(0, -(-(limit - first) // step)))


def _step(draft: Draft, body: Subgraph, place: int) -> int | None:
    """Return what the body adds to one of its inputs, None where that is no constant."""
    given, handed_on = body.input_tensors[place], body.output_tensors[place]
    for operator in body.operators:
        if handed_on in operator.output_tensors and draft.name(operator) == "ADD":
            one, *others = operator.input_tensors
            return _number(draft, body.tensors[others[0]]) if one == given and len(others) == 1 else None
    return None


def _number(draft: Draft, tensor: Tensor) -> int | None:
    """Return a constant of one int32, None for anything else."""
    data = draft.data_of(tensor)
    if tensor.type != TensorType.INT32 or data is None or len(data) != 4:
        return None
    return int(struct.unpack("<i", data)[0])


def carried(draft: Draft, loop: CountedLoop) -> Iterator[list[Place]]:
    """Yield the tensors of a loop that hold one value, one after the other: with one address nothing is copied.

    These are an output of WHILE, and an input of its condition and of its body; the body's output where it is that
    input or DYNAMIC_UPDATE_SLICE changes that input in place; and WHILE's own input where the loop leaves it as it is,
    or nobody else reads it.
    """
    operator = draft.operators[loop.operator]
    condition, body = draft.nested[loop.condition], draft.nested[loop.body]
    updates = {
        (each.input_tensors[0], each.output_tensors[0])
        for each in body.operators
        if draft.name(each) == "DYNAMIC_UPDATE_SLICE"
    }
    readers = draft.consumers()
    for place, (before, after) in enumerate(zip(operator.input_tensors, operator.output_tensors, strict=True)):
        inside, handed_on = body.input_tensors[place], body.output_tensors[place]
        group = [(0, after), (loop.condition, condition.input_tensors[place]), (loop.body, inside)]
        if (inside, handed_on) in updates:
            group.append((loop.body, handed_on))
        is_free = handed_on == inside or (readers[before] == [loop.operator] and before not in draft.outputs)
        if is_free and draft.is_activation(before) and not draft.tensors[before].is_variable:
            group.append((0, before))
        yield group
