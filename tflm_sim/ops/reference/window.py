"""How a window moves over an image: output size and padding along each axis, as every windowed kernel computes them.

Source: tensorflow/lite/kernels/padding.h @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import int_option
from tflm_sim.values import NamedTuple

_PADDING_SAME, _PADDING_VALID = 0, 1


class Extent(NamedTuple):
    """A height and a width: of an image, a window, a stride, a dilation or a padding."""

    height: int
    width: int


def output_size(padding: object, *, image: int, window: int, stride: int, dilation: int = 1) -> int | None:
    """``ComputeOutSizeChecked``: how many positions the window has along an axis; None when it refuses."""
    if padding not in (_PADDING_SAME, _PADDING_VALID) or image < 0 or min(window, stride, dilation) <= 0:
        return None
    covered = image + stride - (1 if padding == _PADDING_SAME else (window - 1) * dilation + 1)
    size = covered // stride if covered >= 0 else -(-covered // stride)
    return size if 0 <= size < 2**31 else None


def strides(node: Node, table: str) -> Extent:
    """Return the strides in the builtin options, 0 without a ``table``."""
    return Extent(int_option(node, table, "stride_h"), int_option(node, table, "stride_w"))


def dilations(node: Node, table: str) -> Extent:
    """Return the dilations in the builtin options, 0 without a ``table``."""
    return Extent(int_option(node, table, "dilation_h_factor"), int_option(node, table, "dilation_w_factor"))


def padding_before(padding: object, *, image: Extent, window: Extent, stride: Extent, dilation: Extent) -> Extent:
    """``ComputePaddingHeightWidth``: rows above and columns left of the image; 0 and 0 when it refuses."""
    height = _before(padding, image.height, window.height, stride.height, dilation.height)
    width = _before(padding, image.width, window.width, stride.width, dilation.width)
    return Extent(0, 0) if height is None or width is None else Extent(height, width)


def _before(padding: object, image: int, window: int, stride: int, dilation: int) -> int | None:
    """Return the padding before the image along one axis; the odd one out of an odd total comes after it."""
    size = output_size(padding, image=image, window=window, stride=stride, dilation=dilation)
    if size is None:
        return None
    return max((size - 1) * stride + (window - 1) * dilation + 1 - image, 0) // 2
