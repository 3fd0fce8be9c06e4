"""The shapes and parameters that ESP-NN's scratch-size functions read.

Source: include/esp_nn_defs.h @ espressif/esp-nn 1.2.3.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from tflm_sim.ops.reference.window import Extent

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
