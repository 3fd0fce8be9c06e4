"""How a window moves over an image: output size and padding along each axis, as every windowed kernel computes them.

Source: tensorflow/lite/kernels/padding.h @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import option, options_of
from tflm_sim.values import NamedTuple

_PADDING_SAME, _PADDING_VALID = 0, 1


class Extent(NamedTuple):
    """A height and a width: of a stride, a dilation or a padding."""

    h: int
    w: int


Pair = Sequence[int]
"""A height and a width."""


def output_size(padding: object, *, image: int, window: int, stride: int, dilation: int = 1) -> int | None:
    """``ComputeOutSizeChecked``: how many positions the window has along an axis; None when it refuses."""
    if padding not in (_PADDING_SAME, _PADDING_VALID) or image < 0 or window <= 0 or stride <= 0 or dilation <= 0:
        return None
    covered = image + stride - (1 if padding == _PADDING_SAME else (window - 1) * dilation + 1)
    size = covered // stride if covered >= 0 else -(-covered // stride)
    return size if 0 <= size < 2**31 else None


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
    """Return the padding before the image along one axis; the odd one out of an odd total comes after it."""
    size = output_size(padding, image=image, window=window, stride=stride, dilation=dilation)
    if size is None:
        return None
    return max((size - 1) * stride + (window - 1) * dilation + 1 - image, 0) // 2
