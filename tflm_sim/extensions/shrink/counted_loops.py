"""Counted loops: WHILE operators with a fixed number of iterations in the file, as ``loops`` writes them.

A counter begins as a constant, the condition is LESS(counter, constant), and the body looks up what follows it in a
table: SLICE(constant, counter). An ADD of int32 is not in every library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, permutations

from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor, TensorType

Place = tuple[int, int]
"""A subgraph, and a tensor of it, or an operator."""


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A WHILE of the main subgraph.

    Attributes:
        operator: Its index.
        condition, body: The subgraphs that it runs, nobody else.
        counter: The place of the counter among what is carried.
        counts: What it is in each iteration.
    """

    operator: int
    condition: int
    body: int
    counter: int
    counts: tuple[int, ...]

    @property
    def iterations(self) -> int:
        """How often the body runs."""
        return len(self.counts)


def counted_loops(draft: Draft) -> list[CountedLoop]:
    return [loop for index, each in enumerate(draft.operators) if (loop := _counted(draft, index, each)) is not None]


def loop_parts(model: Model) -> Iterator[tuple[int, Draft]]:
    """Yield the main subgraph and the body of each counted loop: its index, and a draft with it as the main one."""
    for index in (0, *(loop.body for loop in counted_loops(Draft(model)))):
        yield index, Draft(replace(model, subgraphs=(model.subgraphs[index],), signatures=()))


def operators_run(draft: Draft) -> int:
    """Return how many operators an invocation runs: those of counted loops in each iteration, no other subgraph's."""
    total = len(draft.operators)
    for loop in counted_loops(draft):
        condition, body = (len(draft.nested[index].operators) for index in (loop.condition, loop.body))
        total += condition + loop.iterations * (condition + body)
    return total


def _counted(draft: Draft, index: int, operator: Operator) -> CountedLoop | None:
    """Return a WHILE that is counted, None for any other operator."""
    if draft.name(operator) != "WHILE":
        return None
    options, nested = operator.options, draft.nested
    condition, body = (options.get(f"{name}_subgraph_index") for name in ("cond", "body"))
    if not isinstance(condition, int) or not isinstance(body, int) or not {condition, body} <= {*range(1, len(nested))}:
        return None
    limited = _limited(draft, nested[condition])
    if limited is None:
        return None
    place, limit = limited
    first = _number(draft, draft.tensors[operator.input_tensors[place]])
    # What follows each count is looked up, one number at a time.
    inside = nested[body]
    table = _table(draft, inside, inside.output_tensors[place], inside.input_tensors[place])
    counts = None if first is None or table is None or table[1] != 1 else _counts(first, limit, table[0])
    return None if counts is None else CountedLoop(index, condition, body, place, counts)


def _limited(draft: Draft, condition: Subgraph) -> tuple[int, int] | None:
    """Return (place of the counter, the number it stays below) of a condition that is a LESS and no more, else None."""
    if [draft.name(each) for each in condition.operators] != ["LESS"]:
        return None
    operands = condition.operators[0].input_tensors
    if len(operands) != 2 or operands[0] not in condition.input_tensors:
        return None
    limit = _number(draft, condition.tensors[operands[1]])
    return None if limit is None else (condition.input_tensors.index(operands[0]), limit)


def _counts(counter: int, limit: int, following: Sequence[int]) -> tuple[int, ...] | None:
    """Return what a counter is in each iteration, None where the table of what follows does not bring it to the end."""
    counts: list[int] = []
    while counter < limit:
        if not 0 <= counter < len(following) or len(counts) == len(following):
            return None
        counts.append(counter)
        counter = following[counter]
    return tuple(counts)


def _table(draft: Draft, body: Subgraph, tensor: int, counter: int) -> tuple[tuple[int, ...], int] | None:
    """Return a table that SLICE makes a tensor of, and how many numbers it takes; None where it is made otherwise."""
    for operator in body.operators:
        inputs = operator.input_tensors
        if tensor in operator.output_tensors and draft.name(operator) == "SLICE" and inputs[1] == counter:
            table, size = (_vector(draft, body.tensors[inputs[position]]) for position in (0, 2))
            return (table, size[0]) if table is not None and size is not None and len(size) == 1 else None
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
    for place, (before, after) in enumerate(zip(operator.input_tensors, operator.output_tensors, strict=True)):
        inside, handed_on = body.input_tensors[place], body.output_tensors[place]
        group = [(0, after), (loop.condition, condition.input_tensors[place]), (loop.body, inside)]
        if (inside, handed_on) in updates:
            group.append((loop.body, handed_on))
        is_free = handed_on == inside or draft.sole_reader(before) == loop.operator
        if is_free and draft.is_activation(before) and not draft.tensors[before].is_variable:
            group.append((0, before))
        yield group


def carried_distances(draft: Draft, loop: CountedLoop) -> Iterator[tuple[int, int, int]]:
    """Yield (a, b, bytes) for two of what is carried: so far a must lie above b so that b may be written over it.

    The loop reads a row by row, which nobody else reads, and it writes b row by row: no row of b may reach to what is
    still to be read of a.
    """
    body = draft.nested[loop.body]
    given = draft.operators[loop.operator].input_tensors
    spans = {place: _spans(draft, loop, place) for place in range(len(body.input_tensors))}
    for (a, (read, written)), (b, (_, updated)) in permutations(spans.items(), 2):
        if read and updated and not written and draft.sole_reader(given[a]) == loop.operator:
            yield a, b, _distance(read, updated)


_Spans = list[list[range]]
"""For each operator of the body, the bytes that it reads or writes in each iteration."""


def _distance(read: _Spans, written: _Spans) -> int:
    """Return the bytes between the farthest that is written so far and the nearest that is read later, at the most."""
    starts = [min(span.start for span in spans) for spans in zip(*read, strict=True)]
    ends = [max(span.stop for span in spans) for spans in zip(*written, strict=True)]
    reach = accumulate(ends, max)
    rest = [*accumulate(reversed(starts), min)][::-1]
    above: list[int] = [end - start for end, start in zip(reach, rest[1:], strict=False)]
    return max([0, *above])


def _spans(draft: Draft, loop: CountedLoop, place: int) -> tuple[_Spans | None, _Spans]:
    """Return the bytes of what is carried that the body reads, None where not by rows, and those that it writes."""
    body = draft.nested[loop.body]
    tensor = body.input_tensors[place]
    reads: _Spans = []
    writes: _Spans = []
    for operator in body.operators:
        if tensor in operator.input_tensors:
            spans = _rows_of(draft, loop, operator, tensor)
            if spans is None:
                return None, writes
            (reads if draft.name(operator) == "SLICE" else writes).append(spans)
    return reads, writes


def _rows_of(draft: Draft, loop: CountedLoop, operator: Operator, tensor: int) -> list[range] | None:
    """Return the bytes that SLICE takes of a tensor or DYNAMIC_UPDATE_SLICE puts there, by iteration; else None."""
    body, (_, *others) = draft.nested[loop.body], operator.input_tensors
    if tensor in others:
        return None
    match draft.name(operator):
        case "SLICE":
            cut, begin = operator.output_tensors[0], others[0]
        case "DYNAMIC_UPDATE_SLICE":
            cut, begin = others
        case _:
            return None
    begins = _looked_up(draft, loop, begin)
    return None if begins is None else [_span(body.tensors[tensor], body.tensors[cut], each) for each in begins]


def _span(whole: Tensor, cut: Tensor, begin: Sequence[int]) -> range:
    """Return the bytes of a tensor from the first to the last element of a cut, which is brought within it."""
    first = last = 0
    for size, part, start in zip(whole.dims, cut.dims, begin, strict=True):
        at = min(max(0, start), size - part)
        first, last = first * size + at, last * size + at + part - 1
    element = TYPE_SIZES[whole.type]
    return range(first * element, (last + 1) * element)


def _looked_up(draft: Draft, loop: CountedLoop, tensor: int) -> list[tuple[int, ...]] | None:
    """Return a vector of int32 in each iteration: a constant, or a row of a table that the counter names."""
    body = draft.nested[loop.body]
    if (always := _vector(draft, body.tensors[tensor])) is not None:
        return [always] * loop.iterations
    found = _table(draft, body, tensor, body.input_tensors[loop.counter])
    if found is None:
        return None
    table, size = found
    rows = [table[start : start + size] for start in loop.counts]
    return rows if all(len(row) == size for row in rows) else None


def _vector(draft: Draft, tensor: Tensor) -> tuple[int, ...] | None:
    """Return a constant of int32 of one dimension, None for anything else."""
    data = draft.data_of(tensor)
    if tensor.type != TensorType.INT32 or data is None or len(tensor.dims) != 1:
        return None
    return struct.unpack(f"<{len(data) // 4}i", data)
