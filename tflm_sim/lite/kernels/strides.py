"""What a STRIDED_SLICE asks for, once ellipsis, new axes and masks are written out.

Source: tflite/kernels/strided_slice.cc, internal/strided_slice_logic.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any


class StridedSlice:
    """A slice of an array (immutable after it is made).

    Attributes:
        shape: The input's shape, with a 1 for each new axis.
        starts, stops, strides: By dimension of ``shape``; clamped to it.
        shrinks: The dimensions that disappear.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        shape: tuple[int, ...],
        begin: tuple[int, ...],
        end: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> None:
        count = len(strides)
        ellipsis, new_axis = options.get("ellipsis_mask", 0), options.get("new_axis_mask", 0)
        added = sum(1 for place in range(count) if new_axis >> place & 1 and not ellipsis >> place & 1)
        rank, rest = len(shape) + added, list(shape)
        ellipsis_at = next((place for place in range(min(count, rank)) if ellipsis >> place & 1), None)
        width = 1 if ellipsis_at is None else max(1, min(1 + rank - count, rank - ellipsis_at))
        rows = []
        for place in range(rank):
            original = place
            if ellipsis_at is not None and place >= ellipsis_at + width:
                original = place - (width - 1)
            is_inside = ellipsis_at is not None and ellipsis_at <= place < ellipsis_at + width
            if is_inside or original >= count:
                size = rest.pop(0)
                rows.append((size, 0, size, 1, False))
            elif new_axis >> original & 1:
                rows.append((1, 0, 1, 1, False))
            else:
                rows.append(_row(options, original, rest.pop(0), begin, end, strides))
        self.shape = tuple(row[0] for row in rows)
        self.starts = tuple(row[1] for row in rows)
        self.stops = tuple(row[2] for row in rows)
        self.strides = tuple(row[3] for row in rows)
        self.shrinks = frozenset(place for place, row in enumerate(rows) if row[4])

    def _counts(self) -> list[int]:
        rows = zip(self.starts, self.stops, self.strides, strict=True)
        return [len(range(start, stop, stride)) if stride else 0 for start, stop, stride in rows]

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the slice."""
        return tuple(count for place, count in enumerate(self._counts()) if place not in self.shrinks)

    def places(self) -> Iterator[int]:
        """Iterate over the slice's elements: the place of each in the input."""
        steps = [prod(self.shape[place + 1 :]) for place in range(len(self.shape))]
        for index in product(*(range(count) for count in self._counts())):
            rows = zip(index, self.starts, self.strides, steps, strict=True)
            yield sum((start + at * stride) * step for at, start, stride, step in rows)


def _row(
    options: Mapping[str, Any],
    place: int,
    size: int,
    begin: tuple[int, ...],
    end: tuple[int, ...],
    strides: tuple[int, ...],
) -> tuple[int, int, int, int, bool]:
    """Return size, start, stop, stride of one dimension, and whether it disappears."""
    stride = strides[place]
    shrinks = bool(options.get("shrink_axis_mask", 0) >> place & 1)
    is_offset = bool(options.get("offset", False))
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    if options.get("begin_mask", 0) >> place & 1:
        start = 0 if stride > 0 else size - 1
    elif place >= len(begin):
        start = 0  # the offset alone decides the shape
    else:
        start = min(max(begin[place] + (size if begin[place] < 0 else 0), low), high)
    if shrinks:
        return size, start, start + 1, 1, True
    if options.get("end_mask", 0) >> place & 1:
        stop = size if stride > 0 else -1
    else:
        stop = end[place] + (start if is_offset else 0)
        if is_offset:
            return size, start, stop, stride, False
        stop = min(max(stop + (size if stop < 0 else 0), low), high)
    return size, start, stop, stride, False
