"""What all splits share: ``Split``, a segment of operators that is run in parts, one part after the other.

    X -> [first ... last] -> Y        becomes        X -> part 0 -> piece 0 \\
                                                     X -> part 1 -> piece 1  > CONCATENATION -> Y

While a part runs, only its share of the tensors inside the segment is alive. X is alive until the last part
has read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator, TensorType
from tflm_sim.shrinking.graph import shape
from tflm_sim.values import dataclass

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
        first, last: The segment's operators, both included.
        source: The tensor X that goes in.
        result: The tensor Y that comes out.
        parts: The share of each part along the axis of Y, half-open.
        peak: Most bytes alive in the segment, estimated.
        tail: Persistent bytes in addition, estimated.
        macs: Multiply-accumulates in addition.
        is_loop: Whether its stripes, all of one size, are the iterations of a WHILE.
    """

    kind: str
    first: int
    last: int
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


@dataclass(frozen=True, slots=True)
class SplitWitness:
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


def slice_operator(draft: Draft, source: int, axis: int, start: int, end: int) -> tuple[Operator, int]:
    """Return a SLICE of ``source`` along one axis, and its output."""
    dimensions = list(shape(draft, source))
    dimensions[axis] = end - start
    output = draft.add_like(source, dimensions)
    bounds = [(start, end) if place == axis else (0, size) for place, size in enumerate(shape(draft, source))]
    return slice_to(draft, source, bounds, output), output


def slice_to(draft: Draft, source: int, bounds: Sequence[tuple[int, int]], output: int) -> Operator:
    """Return a SLICE that takes [start, end) along each axis.

    A length to the end may be written as -1: so slices of other tensors have the same constants, which merge.
    """
    begins = [start for start, _ in bounds]
    axes = [(start, end, size) for (start, end), size in zip(bounds, shape(draft, source), strict=True)]
    cut = [-1 if (start, end) == (0, size) else end - start for start, end, size in axes]
    to_the_end = [-1 if end == size else end - start for start, end, size in axes]
    lengths = cut if _find_integers(draft, cut) is not None else to_the_end
    operands = (source, add_integers(draft, begins), add_integers(draft, lengths))
    return draft.operator("SLICE", operands, (output,))


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
    found = _find_integers(draft, values)
    return draft.add_tensor((len(values),), TensorType.INT32, data=_packed(values)) if found is None else found


def _find_integers(draft: Draft, values: Sequence[int]) -> int | None:
    """Return a constant of int32 with these values, None where there is none."""
    data, wanted = _packed(values), (len(values),)
    for index in range(len(draft.tensors) - 1, -1, -1):
        tensor = draft.tensors[index]
        if tensor.type == TensorType.INT32 and tensor.shape == wanted and tensor.quantization is None:
            present = draft.data(index)
            if present is not None and not tensor.is_variable and bytes(present) == data:
                return index
    return None


def _packed(values: Sequence[int]) -> bytes:
    return np.asarray(values, "<i4").tobytes()
