"""``Operation``: an operator of which somebody counts what it loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from tflm_sim.graph.eval_tensor import TYPE_SIZES, EvalTensor
from tflm_sim.model.types import Operator
from tflm_sim.model.windows import padding_before
from tflm_sim.targets.target import Target


class Moved(NamedTuple):
    """Bytes that are loaded from somewhere and stored there."""

    loads: int = 0
    stores: int = 0

    @property
    def total(self) -> int:
        return self.loads + self.stores

    def __add__(self, other: object) -> Moved:
        assert isinstance(other, Moved), "bytes moved are added to bytes moved"
        return Moved(self.loads + other.loads, self.stores + other.stores)


TAIL = "tail"
Place = int | str
"""Where bytes lie: a tensor by its index, ``TAIL``, or "scratch0", the operator's first scratch buffer."""


class Operation:
    """An operator, and what it moves (mutable).

    Args:
        name: Its name, such as "CONV_2D".
        operator: It.
        tensors: Those of its subgraph.
        scratch: Bytes of its scratch buffers, in the order in which Prepare requested them.
        target: What it runs on.

    Attributes:
        moved: Bytes by place.
    """

    def __init__(
        self, name: str, operator: Operator, tensors: Sequence[EvalTensor], scratch: Sequence[int], target: Target
    ) -> None:
        self.name = name
        self.options = operator.options
        self.operator = operator
        self.scratch = tuple(scratch)
        self.target = target
        self.moved: dict[Place, Moved] = {}
        self._tensors = tensors

    def input(self, position: int) -> EvalTensor | None:
        """Return an input, None where it is absent."""
        inputs = self.operator.input_tensors
        return self._tensors[inputs[position]] if position < len(inputs) and inputs[position] >= 0 else None

    @property
    def inputs(self) -> list[EvalTensor]:
        return [self._tensors[index] for index in self.operator.input_tensors if index >= 0]

    @property
    def outputs(self) -> list[EvalTensor]:
        return [self._tensors[index] for index in self.operator.output_tensors if index >= 0]

    def number(self, option: str, default: int = 0) -> int:
        """Return an option that is a whole number; the default where the file has none, or 0."""
        found = self.options.get(option)
        return found if isinstance(found, int) and found else default

    def load(self, place: EvalTensor | Place, count: int, size: int = 1) -> None:
        """Count loads of so many elements of ``size`` bytes."""
        self._add(place, Moved(loads=count * size))

    def store(self, place: EvalTensor | Place, count: int, size: int = 1) -> None:
        """Count stores of so many elements of ``size`` bytes."""
        self._add(place, Moved(stores=count * size))

    def _add(self, place: EvalTensor | Place, moved: Moved) -> None:
        key = place.index if isinstance(place, EvalTensor) else place
        self.moved[key] = self.moved.get(key, Moved()) + moved


def element(tensor: EvalTensor) -> int:
    """Return the bytes of an element."""
    return TYPE_SIZES[tensor.type]


class Windows(NamedTuple):
    """How a window moves over an image.

    Attributes:
        positions: How many positions it has, of all images of the batch.
        taps: How many elements of the image are under it, over all positions: none of the padding.
        size: How many elements it has.
        padding: Before the image: rows, columns.
        stride, dilation: Of rows and of columns.
    """

    positions: int
    taps: int
    size: int
    padding: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]


def windows(op: Operation, image: EvalTensor, window: Sequence[int], output: EvalTensor) -> Windows:
    """Return how a window [h, w] moves over an image [n, h, w, c] to an output of as many dimensions."""
    stride = op.number("stride_h", 1), op.number("stride_w", 1)
    dilation = op.number("dilation_h_factor", 1), op.number("dilation_w_factor", 1)
    taps, padding = output.shape[0], [0, 0]
    for axis in (0, 1):
        size, positions = image.shape[axis + 1], output.shape[axis + 1]
        before = padding_before(
            positions, image=size, window=window[axis], stride=stride[axis], dilation=dilation[axis]
        )
        padding[axis] = before
        taps *= sum(
            0 <= position * stride[axis] - before + tap * dilation[axis] < size
            for position in range(positions)
            for tap in range(window[axis])
        )
    return Windows(prod(output.shape[:3]), taps, window[0] * window[1], (padding[0], padding[1]), stride, dilation)
