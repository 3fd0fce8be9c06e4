"""Reads CMSIS-NN's dimensions, strides and padding from a node, and its buffer sizes from the target.

Source: tensorflow/lite/kernels/padding.h @ 90b983c.
"""

from __future__ import annotations

from typing import cast

from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES, BufferSizes
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, Isa, Tile
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference.node_checks import int_option
from tflm_sim.ops.requests import Scratch, Steps

_PADDING_SAME = 0


def buffer_sizes(node: Node) -> BufferSizes:
    """Return the buffer-size functions of the linked CMSIS-NN version."""
    return BUFFER_SIZES[node.target.kernel_library.version]


def isa(node: Node) -> Isa:
    """Return the instruction set that CMSIS-NN was built for."""
    return cast(Isa, node.target.kernel_library.variant)


def optional_scratch(size: int, label: str) -> Steps[None]:
    """Request a scratch buffer unless its size is 0 bytes."""
    if size > 0:
        yield Scratch(size, label)


def conv_params(node: Node, table: str, image: Dims, kernel: Dims) -> ConvParams:
    """Return strides, padding and dilation of a convolution over ``image`` [n, h, w, c].

    Args:
        node: The node.
        table: Its builtin options; a file without them has strides, dilation and padding 0.
        image: What the window moves over.
        kernel: The window.
    """
    stride = Tile(int_option(node, table, "stride_h"), int_option(node, table, "stride_w"))
    dilation = Tile(int_option(node, table, "dilation_h_factor"), int_option(node, table, "dilation_w_factor"))
    if node.operator.options_type != table:
        return ConvParams(stride, Tile(0, 0), dilation)
    same = int_option(node, table, "padding") == _PADDING_SAME
    height = _padding(same, image.h, kernel.h, stride.h, dilation.h)
    width = _padding(same, image.w, kernel.w, stride.w, dilation.w)
    padding = Tile(0, 0) if height is None or width is None else Tile(height, width)
    return ConvParams(stride, padding, dilation)


def _padding(same: bool, image: int, kernel: int, stride: int, dilation: int) -> int | None:
    """Return the padding before the image along one axis, None where ``ComputePaddingHeightWidth`` gives up."""
    if image < 0 or kernel <= 0 or stride <= 0 or dilation <= 0:
        return None
    effective = (kernel - 1) * dilation + 1
    output = int((image + stride - (1 if same else effective)) / stride)
    return max((output - 1) * stride + effective - image, 0) // 2 if output >= 0 else None
