"""CMSIS-NN's scratch for fully connected layers, pooling and SVDF, in bytes, under the C names.

Source: arm_fully_connected_get_buffer_sizes_{s8,s16}.c, arm_avgpool_get_buffer_sizes_{s8,s16}.c and
arm_svdf_get_buffer_sizes_s8.c @ ARM-software/CMSIS-NN 4ab83cc.
"""

from __future__ import annotations

from tflm_sim.ops.cmsis_nn.dims import Dims, Isa


def arm_fully_connected_s8_get_buffer_size(isa: Isa, filter_dims: Dims) -> int:
    """Return the bytes of the kernel sums, one int32 per output channel, which only MVE keeps."""
    return filter_dims.c * 4 if isa == "mve" else 0


def arm_fully_connected_s16_get_buffer_size(isa: Isa, filter_dims: Dims) -> int:
    return 0


def arm_avgpool_s8_get_buffer_size(isa: Isa, output_x: int, ch_src: int) -> int:
    """Return the bytes of the sums, one int32 per channel, which only the DSP kernel keeps."""
    return ch_src * 4 if isa == "dsp" else 0


def arm_avgpool_s16_get_buffer_size(isa: Isa, output_x: int, ch_src: int) -> int:
    """Return the bytes of the sums, one int32 per channel, which only the DSP kernel keeps."""
    return ch_src * 4 if isa == "dsp" else 0


def arm_svdf_s8_get_buffer_size(isa: Isa, weights_feature_dims: Dims) -> int:
    """Return the bytes of the kernel sums, one int32 per filter, which only MVE keeps."""
    return weights_feature_dims.n * 4 if isa == "mve" else 0


def no_sums(isa: Isa, output_x: int, ch_src: int) -> int:
    """Return 0: in CMSIS_5 the pooling of int16 kept no sums."""
    return 0


def no_kernel_sums(isa: Isa, filter_dims: Dims) -> int:
    """Return 0: before 58f1770 (September 2023) no kernel kept sums of its weights."""
    return 0
