"""What a STRIDED_SLICE asks for, once ellipsis, new axes and masks are written out.

Source: tflite/kernels/strided_slice.cc BuildStridedSliceParams, ResizeOutputTensor, internal/reference/strided_slice.h
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _SlicedAxis:
    """One dimension of the input, new axes included.

    Attributes:
        size: Of the input; 1 for a new axis.
        start, stop: Clamped to it.
        stride: Not 0 in a slice that the kernel takes.
        shrinks: Whether the slice lacks this dimension.
    """

    size: int
    start: int
    stop: int
    stride: int
    shrinks: bool = False

    @property
    def count(self) -> int:
        """How many elements are taken."""
        return len(range(self.start, self.stop, self.stride)) if self.stride else 0


def _clamped(place: int, size: int, stride: int) -> int:
    """Return where a beginning or an end lies, counted from the end where it is negative."""
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    return min(max(place + (size if place < 0 else 0), low), high)


class StridedSlice:
    """A slice of an array (immutable after it is made).

    Attributes:
        strides: By dimension of the input, new axes included.
        output_shape: The shape of the slice; of an offset slice, what the kernel computes without looking at the
            input's size. Not to be asked for where a stride is 0.

    Raises:
        IndexError: The kernel reads a dimension or a value that is not there.
    """

    def __init__(
        self, options: Mapping[str, Any], shape: Shape, count: int, begin: Shape, end: Shape, strides: Shape
    ) -> None:
        self._options = options
        self._shape, self._begin, self._end, self._given = shape, begin, end, strides
        self._axes = self._spread(count)
        self.strides = tuple(axis.stride for axis in self._axes)

    def _mask(self, name: str, place: int) -> bool:
        return bool(self._options.get(f"{name}_mask", 0) >> place & 1)

    def _spread(self, count: int) -> list[_SlicedAxis]:
        """Return the axes of the input, ``count`` of which the masks and values speak of."""
        added = sum(self._mask("new_axis", place) and not self._mask("ellipsis", place) for place in range(count))
        rank, place = len(self._shape) + added, 0
        in_ellipsis, new_axes, ellipsis_start, widened = set[int](), set[int](), rank, 0
        while place < rank:
            if self._mask("ellipsis", place):
                ellipsis_start, stop = place, max(place + 1, min(place + 1 + rank - count, rank))
                widened, place = stop - place - 1, stop
                in_ellipsis.update(range(ellipsis_start, stop))
                continue
            if self._mask("new_axis", place - widened):
                new_axes.add(place)
            place += 1
        new_axes -= in_ellipsis
        axes, skipped, behind = list[_SlicedAxis](), 0, 0
        for place in range(rank):
            if place in new_axes:
                axes.append(_SlicedAxis(1, 0, 1, 1))
                behind += 1
                continue
            size = self._shape[place - behind]
            if place in in_ellipsis:
                skipped = max(0, place - ellipsis_start)
            if place in in_ellipsis or place >= count + widened:
                axes.append(_SlicedAxis(size, 0, size, 1))
            else:
                axes.append(self._axis(place - skipped, size))
        return axes

    def _axis(self, place: int, size: int) -> _SlicedAxis:
        """Return a dimension of ``size`` elements from the masks and values at ``place``."""
        stride = self._given[place]
        is_offset = self._options.get("offset", False)
        start = self._begin[place] if self._begin or not is_offset else 0  # an offset's shape needs no beginning
        start = _clamped(start, size, stride)
        if self._mask("begin", place):
            start = 0 if stride > 0 else size - 1
        if self._mask("shrink_axis", place):
            return _SlicedAxis(size, start, start + (start < size), stride, shrinks=True)
        stop = _clamped(self._end[place] + (start if is_offset else 0), size, stride)
        if self._mask("end", place):
            stop = size if stride > 0 else -1
        return _SlicedAxis(size, start, stop, stride)

    @property
    def output_shape(self) -> Shape:
        """See the class."""
        sizes = [(place, axis) for place, axis in enumerate(self._axes) if not axis.shrinks]
        if not self._options.get("offset", False):
            return tuple(axis.count for _, axis in sizes)
        return tuple(len(range(0, self._end[place], axis.stride)) for place, axis in sizes)

    def places(self) -> Iterator[int]:
        """Iterate over the slice's elements: the place of each in the input."""
        axes = self._axes
        steps = [prod(axis.size for axis in axes[place + 1 :]) for place in range(len(axes))]
        for index in product(*(range(axis.start, axis.stop, axis.stride) for axis in axes)):
            yield sum(at * step for at, step in zip(index, steps, strict=True))
