"""What an MVP program can hold, and the walk of a window over an image that its kernels share.

The kernels of Silicon Labs' Matrix Vector Processor ask whether it can take a layer by writing its programs without
starting them: a layer is supported when every program fits.

Source: platform/compute/driver/mvp/src/sl_mvp.c, platform/compute/nn/mvp/src/sl_mvp_ml_{conv2d,pooling}.c
@ SiliconLabs/gecko_sdk 911f6cdef (4.4.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tflm_sim.ops.reference.window import Extent

MAX_COUNT = 1024
"""The most elements of a dimension of an array, and the most rounds of a loop."""
MAX_STRIDE = 2047
"""The longest stride of an array, in elements."""
_MIN_STRIDE = -2048
_MAX_LOOPS = _MAX_INSTRUCTIONS = 8


class MvpProgram:
    """A program that is being written (mutable).

    Attributes:
        fits: Whether all of it fits so far.
        loops: How many loops it has.
    """

    __slots__ = ("_instructions", "fits", "loops")

    def __init__(self) -> None:
        self.fits = True
        self.loops = 0
        self._instructions = 0

    def array(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
        """Describe an array, dimension by dimension; a size is cut to 16 bits before it is looked at."""
        short = all(size & 0xFFFF <= MAX_COUNT for size in sizes)
        self.fits &= short and all(_MIN_STRIDE <= stride <= MAX_STRIDE for stride in strides)

    def vector(self, size: int) -> None:
        """Describe an array of one dimension."""
        self.array((size,), (1,))

    def loop(self, *rounds: int) -> None:
        """Begin a loop for each number of rounds."""
        self.loops += len(rounds)
        self.fits &= self.loops <= _MAX_LOOPS and all(1 <= count <= MAX_COUNT for count in rounds)

    def compute(self, count: int = 1) -> None:
        self._instructions += count
        self.fits &= self._instructions <= _MAX_INSTRUCTIONS


class Positions(NamedTuple):
    """Positions of a window along an axis that cover the same part of it.

    Attributes:
        first: The first position.
        end: The one behind the last.
        start: The first element of the window that lies in the image.
        taken: How many elements of the window lie there.
    """

    first: int
    end: int
    start: int
    taken: int

    @property
    def positions(self) -> int:
        return self.end - self.first


class Axis(NamedTuple):
    """A window that moves along an axis: elements of the image, the window and the result; the step; the padding."""

    image: int
    window: int
    result: int
    stride: int
    pad: int

    def taken(self, position: int) -> int:
        """Return how many elements of the window lie in the image at a position."""
        origin = position * self.stride - self.pad
        return min(self.window, self.image - origin) - max(0, -origin)

    def span(self, first: int) -> Positions:
        """Return the positions from ``first`` on that cover the same part of the window."""
        origin = first * self.stride - self.pad
        is_whole = origin >= 0 and self.image - origin >= self.window
        last = (self.image - self.window + self.pad) // self.stride if is_whole else first
        return Positions(first, last + 1, max(0, -origin), self.taken(first))

    def spans(self) -> Iterator[Positions]:
        first = 0
        while first < self.result:
            span = self.span(first)
            yield span
            first = span.end


@dataclass(frozen=True, slots=True)
class MvpLayer:
    """A convolution or pooling: [batches, rows, columns, channels].

    Attributes:
        batches: Images.
        rows: How the window moves down.
        columns: How it moves right.
        in_channels: Of the image.
        out_channels: Of the result.
        is_padded: Whether the padding is SAME.
        dilation: Of the window.
    """

    batches: int
    rows: Axis
    columns: Axis
    in_channels: int
    out_channels: int
    is_padded: bool
    dilation: Extent = Extent(1, 1)  # noqa: RUF009 - a named tuple

    @property
    def has_its_padding(self) -> bool:
        """Whether only a padded layer has padding."""
        return self.is_padded or self.rows.pad == self.columns.pad == 0


class Walk(NamedTuple):
    """How one program walks over rows of the result.

    Attributes:
        offset: The first row of the result, from the span's first.
        rounds: How many rows of the result.
        in_rows: Rows of the input.
        extra: Rows of the input that are passed over after each.
        vectors: Elements and stride of the input's third dimension.
        vector_stride: Its stride.
        out_stride: The distance from a row of the result to the next, in elements.
        repeats: How many more steps of that stride a row takes.
    """

    offset: int
    rounds: int
    in_rows: int
    extra: int
    vectors: int
    vector_stride: int
    out_stride: int
    repeats: int

    def pass_over_rows(self, program: MvpProgram, slots: int) -> None:
        """Add what passes over the extra rows, of which ``slots`` cost nothing."""
        left = self.extra - slots
        if left > 1:
            program.loop(left - 1)
        if left > 0:
            program.loop(1)
            program.compute()


def walks(layer: MvpLayer, across: Positions, down: Positions, *, is_single: bool) -> Iterator[Walk]:
    """Yield the programs of a part of the result; ``is_single``: they go down one column only."""
    rows, width = layer.rows, layer.columns.result * layer.out_channels
    step, extra = _groups(down, rows.stride, is_single=is_single)
    row = layer.columns.image * layer.in_channels
    for offset in range(min(step, down.positions)):
        rounds = -(-(down.positions - offset) // step)
        passed = 0 if rounds == 1 else extra
        is_far = step * width > MAX_STRIDE
        yield Walk(
            offset=offset,
            rounds=rounds,
            in_rows=down.taken if is_single else (down.taken + passed) * rounds,
            extra=passed,
            vectors=down.positions if is_single else across.positions,
            vector_stride=rows.stride * row if is_single else layer.columns.stride * layer.in_channels,
            out_stride=width if is_far else step * width,
            repeats=step - 1 if is_far else 0,
        )


def _groups(down: Positions, stride: int, *, is_single: bool) -> tuple[int, int]:
    """Return how many rows of the result one program leaves to the others, and rows of the input to pass over."""
    if down.positions == 1 or is_single:
        return 1, 0
    if stride >= down.taken:
        return 1, stride - down.taken
    groups, rest = divmod(down.taken, stride)
    return (groups, 0) if rest == 0 else (groups + 1, stride - rest)
