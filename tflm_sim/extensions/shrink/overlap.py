"""Overlap: a kernel that goes pixel by pixel may write its output some bytes below its input.

    input     . . . . [ read next          ]
    output    [ written ] . . .                  the write never gets to what is still to be read

With elements of one size and outputs written in ascending order, output v is written after elements 0 .. v - 1. So
every read for output v must be at least at the address of output v: the input must lie ``max(v - lowest read for v)``
elements above the output. Papers call it diagonal memory optimisation (Blacker, Bridges, Hadfield, arXiv 2010.01668).

:func:`needed_distance` says how far, in closed form, for the planner. :func:`reads_are_safe` counts tap by tap, for the
check of the plan; they share no code.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.draft_facts import shape, window
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS, WINDOWED
from tflm_sim.model.types import Operator, Tensor


def needed_distance(draft: Draft, operator: Operator) -> int | None:
    """Return how many elements the input must lie above the output, None for an operator that has no such order."""
    name, inputs, outputs = draft.name(operator), operator.input_tensors, operator.output_tensors
    source, target = shape(draft, inputs[0]), shape(draft, outputs[0])
    if name not in WINDOWED or len(source) != 4 or len(target) != 4 or source[0] != 1:
        return None
    down, across = (window(draft, operator, axis) for axis in (1, 2))
    (_, above), (_, left) = down.output(source[1]), across.output(source[2])
    rows = np.maximum(0, np.arange(target[1]) * down.stride - above)[:, None]
    columns = np.maximum(0, np.arange(target[2]) * across.stride - left)[None, :]
    lowest = (rows * source[2] + columns) * source[3]
    first = (np.arange(target[1])[:, None] * target[2] + np.arange(target[2])[None, :]) * target[3]
    last_channel = target[3] - 1
    reads = 0 if name == "CONV_2D" else last_channel // max(1, target[3] // max(1, source[3]))
    return max(0, int((first - lowest).max()) + last_channel - reads)


def reads_are_safe(tensors: Sequence[Tensor], operator: Operator, name: str, distance: int) -> bool:
    """Return whether no element is overwritten before it is read, for an input ``distance`` elements above the output.

    Elements of both have one size; ``tensors`` are the operator's subgraph's.
    """
    inputs, outputs = operator.input_tensors, operator.output_tensors
    source, target = tensors[inputs[0]].dims, tensors[outputs[0]].dims
    if distance < 0 or len(source) != 4 or len(target) != 4 or source[0] != 1:
        return False
    options = _numbers(operator)
    is_pool = name not in CONVOLUTIONS
    kernel = (options["filter_height"], options["filter_width"]) if is_pool else tensors[inputs[1]].dims[1:3]
    taps = [_first_taps(operator, kernel[axis], source[axis + 1], target[axis + 1], "hw"[axis]) for axis in (0, 1)]
    highest = np.iinfo(np.int64).max
    rows, columns = taps[0][:, None], taps[1][None, :]
    # A window that lies in the padding altogether reads nothing.
    reads_something = (rows < highest) & (columns < highest)
    pixel = np.where(reads_something, np.minimum(rows, source[1]) * source[2] + np.minimum(columns, source[2]), highest)
    position = np.arange(target[1] * target[2]).reshape(target[1], target[2])

    def is_safe(channel: int) -> bool:
        """Return whether a channel's outputs are written where nothing is read any more."""
        read = 0 if name == "CONV_2D" else channel * source[3] // target[3]
        address = np.where(reads_something, pixel * source[3] + read + distance, highest)
        return not bool((address < position * target[3] + channel).any())

    return all(map(is_safe, range(target[3])))


def _numbers(operator: Operator) -> dict[str, int]:
    return {key: int(value) for key, value in operator.options.items() if isinstance(value, int | float)}


def _first_taps(operator: Operator, window: int, size: int, outputs: int, side: str) -> NDArray[np.int64]:
    """Return the first element of an axis that each output reads, the greatest number for one that reads none."""
    options = _numbers(operator)
    stride, dilation = options.get(f"stride_{side}", 1), options.get(f"dilation_{side}_factor", 1)
    span = (outputs - 1) * stride + (window - 1) * dilation + 1
    before = max(0, span - size) // 2 if options.get("padding", 0) == 0 else 0
    places = np.arange(outputs)[:, None] * stride - before + np.arange(window)[None, :] * dilation
    first: NDArray[np.int64] = np.where((places >= 0) & (places < size), places, np.iinfo(np.int64).max).min(axis=1)
    return first
