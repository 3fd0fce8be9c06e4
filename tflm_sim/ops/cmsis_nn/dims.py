"""The shapes and parameters that CMSIS-NN's buffer-size functions read, under their C names.

Source: Include/arm_nn_types.h @ ARM-software/CMSIS-NN 4ab83cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.ops.reference.window import Extent

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

Isa: TypeAlias = 'Literal["scalar", "dsp", "mve"]'
"""What the build defines: neither, ARM_MATH_DSP, or ARM_MATH_MVEI (which brings ARM_MATH_DSP with it)."""


class Dims(NamedTuple):
    """``cmsis_nn_dims``: [batches, height, width, channels]; for filters [out_channels, h, w, in_channels]."""

    n: int
    h: int
    w: int
    c: int


Tile = Extent
"""``cmsis_nn_tile``: a stride, padding or dilation."""


class ConvParams(NamedTuple):
    """What ``cmsis_nn_conv_params`` says about geometry."""

    stride: Tile
    padding: Tile
    dilation: Tile


class DwConvParams(NamedTuple):
    """What ``cmsis_nn_dw_conv_params`` says about geometry."""

    ch_mult: int
    stride: Tile
    padding: Tile
    dilation: Tile


class TransposeConvParams(NamedTuple):
    """What ``cmsis_nn_transpose_conv_params`` says about geometry."""

    stride: Tile
