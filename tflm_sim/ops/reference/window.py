"""The strides, dilations and padding of a windowed operator, out of its builtin options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tflm_sim.model import windows
from tflm_sim.model.windows import output_size
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import option, options_of


class Extent(NamedTuple):
    """A height and a width: of a stride, a dilation or a padding."""

    h: int
    w: int


Pair = Sequence[int]
"""A height and a width."""


def strides(node: Node, table: str) -> Extent:
    """Return the strides in the builtin options, 0 without a ``table``."""
    options = options_of(node, table)
    return Extent(options.get("stride_h", 0), options.get("stride_w", 0))


def dilations(node: Node, table: str) -> Extent:
    """Return the dilations in the builtin options, 0 without a ``table``."""
    options = options_of(node, table)
    return Extent(options.get("dilation_h_factor", 0), options.get("dilation_w_factor", 0))


def strides_padding_dilations(node: Node, table: str, image: Pair, window: Pair) -> tuple[Extent, Extent, Extent]:
    """Return how a convolution's window moves, and the padding before the image; all 0 without a ``table``."""
    stride, dilation = strides(node, table), dilations(node, table)
    padding = padding_before(
        option(node, table, "padding"), image=image, window=window, stride=stride, dilation=dilation
    )
    return stride, padding, dilation


def padding_before(padding: object, *, image: Pair, window: Pair, stride: Pair, dilation: Pair) -> Extent:
    """``ComputePaddingHeightWidth``: rows above and columns left of the image; 0 and 0 when it refuses."""
    height = _before(padding, image[0], window[0], stride[0], dilation[0])
    width = _before(padding, image[1], window[1], stride[1], dilation[1])
    return Extent(0, 0) if height is None or width is None else Extent(height, width)


def _before(padding: object, image: int, window: int, stride: int, dilation: int) -> int | None:
    """Return the padding before the image along one axis, None when its output has no size."""
    size = output_size(padding, image=image, window=window, stride=stride, dilation=dilation)
    if size is None:
        return None
    return windows.padding_before(size, image=image, window=window, stride=stride, dilation=dilation)
