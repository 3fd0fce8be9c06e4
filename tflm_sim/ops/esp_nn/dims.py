"""The shapes and parameters that ESP-NN's scratch-size functions read.

Source: include/esp_nn_defs.h @ espressif/esp-nn 1.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Literal

from tflm_sim.ops.reference.window import Extent
from tflm_sim.units import int32
from tflm_sim.values import NamedTuple

Implementation = Literal["ansi", "opt", "esp32s3", "esp32p4"]
"""What the chip and CONFIG_NN_ANSI_C choose: plain C, generic optimised C, or one chip's vector unit."""


class DataDims(NamedTuple):
    """``data_dims_t``: an image or a window, with its channels."""

    height: int
    width: int
    channels: int


class ConvParams(NamedTuple):
    """What ``conv_params_t`` and ``dw_conv_params_t`` say about geometry."""

    stride: Extent
    padding: Extent
    ch_mult: int = 0


Size = Callable[[DataDims, DataDims, DataDims, ConvParams], int]
"""The bytes of scratch, given input, filter, output and parameters."""


def _narrow(*values: int) -> tuple[int, ...]:
    return tuple(value & 0xFFFF for value in values)


def convolution_locals(size: Size) -> Size:
    """Read the dimensions as a convolution's size function does: into ``uint16_t``, but for the output's extent."""

    @wraps(size)
    def narrowed(image: DataDims, window: DataDims, result: DataDims, params: ConvParams) -> int:
        channels = result._replace(channels=result.channels & 0xFFFF)
        return int32(size(DataDims(*_narrow(*image)), DataDims(*_narrow(*window)), channels, _narrow_params(params)))

    return narrowed


def depthwise_locals(size: Size) -> Size:
    """Read the dimensions as a depthwise convolution's size function does: all into ``uint16_t``."""

    @wraps(size)
    def narrowed(image: DataDims, window: DataDims, result: DataDims, params: ConvParams) -> int:
        first, second, third = (DataDims(*_narrow(*tensor)) for tensor in (image, window, result))
        return int32(size(first, second, third, _narrow_params(params)))

    return narrowed


def _narrow_params(params: ConvParams) -> ConvParams:
    (ch_mult,) = _narrow(params.ch_mult)
    return ConvParams(Extent(*_narrow(*params.stride)), Extent(*_narrow(*params.padding)), ch_mult)
