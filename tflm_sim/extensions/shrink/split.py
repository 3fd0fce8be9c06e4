"""What all splits share: ``Split``, a segment of operators that is run in parts, one part after the other.

    X -> [first ... end) -> Y         becomes        X -> part 0 -> piece 0 \\
                                                     X -> part 1 -> piece 1  > CONCATENATION -> Y

While a part runs, only its share of the tensors inside the segment is alive. X is alive until the last part
has read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from tflm_sim.extensions.shrink.draft_facts import shape
from tflm_sim.extensions.shrink.profile import Footprint, Profile, peak_of
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator, TensorType

MAX_CONCATENATION_INPUTS = 10
"""Source: tensorflow/lite/micro/kernels/concatenation.cc kMaxInputNum @ 90b983c."""

ROWS, COLUMNS, CHANNELS = "rows", "columns", "channels"
AXES = {ROWS: 1, COLUMNS: 2, CHANNELS: 3}
OPERATORS = {
    ROWS: frozenset({"SLICE", "CONCATENATION"}),
    COLUMNS: frozenset({"SLICE", "CONCATENATION"}),
    CHANNELS: frozenset({"CONCATENATION"}),
}
"""What a split of a kind adds to a model."""
LOOP_OPERATORS = frozenset({"DYNAMIC_UPDATE_SLICE", "FILL", "LESS", "SLICE", "WHILE"})
"""What a split that is a loop adds to a model."""


@dataclass(frozen=True, slots=True)
class Split:
    """A segment that can be run in parts, and what that is expected to give.

    Attributes:
        kind: "rows", "columns" or "channels".
        first, end: The segment's operators, half-open, as all ranges of this room are.
        source: The tensor X that goes in.
        result: The tensor Y that comes out.
        parts: The share of each part along the axis of Y, half-open.
        peak: Most bytes alive in the segment, estimated.
        tail: Persistent bytes in addition, estimated.
        macs: Multiply-accumulates in addition.
        is_loop: Whether its tiles, all of one size, are the iterations of a WHILE.
    """

    kind: str
    first: int
    end: int
    source: int
    result: int
    parts: tuple[tuple[int, int], ...]
    peak: int = 0
    tail: int = 0
    macs: int = 0
    is_loop: bool = False

    @property
    def operators(self) -> frozenset[str]:
        """What it adds to a model."""
        return LOOP_OPERATORS if self.is_loop else OPERATORS[self.kind]


class RunInParts(Protocol):
    """A segment, as far as its peak depends on it: operators [first, end), X and Y."""

    @property
    def first(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def source(self) -> int: ...
    @property
    def result(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ComputedPart:
    """How one part of a split computes its share: the rows (columns, channels) of each tensor, half-open.

    Attributes:
        share: The part's share of Y.
        computed: (tensor name or number, first, end) of each tensor that the part computes.
    """

    share: tuple[int, int]
    computed: tuple[tuple[int, int, int], ...]


def even_cuts(size: int, count: int, step: int = 1) -> tuple[tuple[int, int], ...]:
    """Return ``count`` shares of ``size`` elements, as even as multiples of ``step`` allow, or fewer."""
    units = -(-size // step)
    count = min(count, units)
    marks = [min(size, round(index * units / count) * step) for index in range(count)] + [size]
    return tuple((a, b) for a, b in pairwise(marks) if b > a)


def growing_cuts(size: int, count: int, *, first_is_smallest: bool) -> tuple[tuple[int, int], ...]:
    """Return shares of about 1, 2, ..., ``count`` units, or the largest one first; fewer where some would be empty."""
    units = count * (count + 1)
    marks = [round(size * index * (index + 1) / units) for index in range(count + 1)]
    marks = marks if first_is_smallest else [size - mark for mark in reversed(marks)]
    return tuple((a, b) for a, b in pairwise(marks) if b > a)


def slice_operator(draft: Draft, source: int, axis: int, start: int, end: int) -> tuple[Operator, int]:
    """Return a SLICE of ``source`` along one axis, and its output."""
    dimensions = list(shape(draft, source))
    begin = [0] * len(dimensions)
    begin[axis], dimensions[axis] = start, end - start
    output = draft.add_like(source, dimensions)
    operands = (source, add_integers(draft, begin), add_integers(draft, dimensions))
    return draft.operator("SLICE", operands, (output,)), output


def concatenation(draft: Draft, pieces: Sequence[int], result: int, axis: int) -> list[Operator]:
    """Return the operators that join ``pieces`` to ``result``: a tree where one CONCATENATION cannot take them all."""
    operators: list[Operator] = []
    level = list(pieces)
    while len(level) > MAX_CONCATENATION_INPUTS:
        groups = even_cuts(len(level), -(-len(level) // MAX_CONCATENATION_INPUTS))
        joined = []
        for start, end in groups:
            if end - start == 1:
                joined.append(level[start])
                continue
            dimensions = list(shape(draft, result))
            dimensions[axis] = sum(shape(draft, piece)[axis] for piece in level[start:end])
            output = draft.add_like(result, dimensions)
            operators.append(draft.operator("CONCATENATION", level[start:end], (output,), options={"axis": axis}))
            joined.append(output)
        level = joined
    return [*operators, draft.operator("CONCATENATION", level, (result,), options={"axis": axis})]


def add_integers(draft: Draft, values: Sequence[int]) -> int:
    """Return a constant of int32 with these values: one that is there already, or a new one."""
    data = np.asarray(values, "<i4").tobytes()
    wanted = (len(values),)
    for index in range(len(draft.tensors) - 1, -1, -1):
        tensor = draft.tensors[index]
        if tensor.type == TensorType.INT32 and tensor.shape == wanted and tensor.quantization is None:
            present = draft.data(index)
            if present is not None and not tensor.is_variable and bytes(present) == data:
                return index
    return draft.add_tensor(wanted, TensorType.INT32, data=data)


def peak_with_concatenation(
    facts: Profile, segment: RunInParts, steps: list[Footprint], pieces: list[int], side: Sequence[int] = ()
) -> int:
    """Return the most bytes alive while the steps run and their pieces are joined to the segment's result."""
    size = facts.bytes[segment.result]
    if len(pieces) > MAX_CONCATENATION_INPUTS:
        steps.append(Footprint(tuple(pieces), -(10**9), size))
        pieces = [-(10**9)]
    steps.append(Footprint(tuple(pieces), segment.result, size))
    given = {tensor: facts.bytes[tensor] for tensor in (segment.source, *side)}
    return peak_with_neighbours(facts, segment, frozenset(given), steps, given, frozenset({segment.result}))


def peak_with_neighbours(
    facts: Profile,
    segment: RunInParts,
    outside: frozenset[int],
    steps: list[Footprint],
    given: dict[int, int],
    made: frozenset[int],
) -> int:
    """Return the most bytes alive in the steps of a segment, with what is alive all through it.

    Args:
        facts, segment, steps: The segment, and how it is run.
        outside: The tensors that it reads.
        given: Bytes of these, or of their parts, by key.
        made: Keys that stay alive to the end.
    """
    across = facts.alive_across(segment.first, segment.end, outside)
    return across + peak_of(steps, given, made.union(t for t in outside if facts.dies[t] >= segment.end))
