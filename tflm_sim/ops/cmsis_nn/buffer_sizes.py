"""One table entry per CMSIS-NN version: its buffer-size functions, under their C names.

The newest version's functions are spelled out; an older one replaces those that a later commit changed, and the row
says which commit. A later release is a new row.

    4ab83cc  the reference snapshot's pin
    v7.0.0   what TFLM linked from November 2024 (pin 22080c6, then e096196) to May 2026
    e98ee09  October 2022, in Arduino libraries; for builds of that time only, whose kernels call fewer functions
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tflm_sim.ops.cmsis_nn import convolve_sizes, dense_sizes, depthwise_sizes
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Isa, TransposeConvParams

ConvolveSize = Callable[[Isa, ConvParams, Dims, Dims, Dims], int]
DepthwiseSize = Callable[[Isa, DwConvParams, Dims, Dims, Dims], int]


@dataclass(frozen=True, slots=True)
class BufferSizes:
    """The buffer-size functions of a CMSIS-NN version; each returns bytes, 0 for no buffer."""

    arm_convolve_wrapper_s8_get_buffer_size: ConvolveSize
    arm_convolve_wrapper_s4_get_buffer_size: ConvolveSize
    arm_convolve_wrapper_s16_get_buffer_size: ConvolveSize
    arm_convolve_1x1_s8_fast_get_buffer_size: Callable[[Isa, Dims], int]
    arm_depthwise_conv_wrapper_s8_get_buffer_size: DepthwiseSize
    arm_depthwise_conv_wrapper_s4_get_buffer_size: DepthwiseSize
    arm_depthwise_conv_wrapper_s16_get_buffer_size: DepthwiseSize
    arm_transpose_conv_s8_get_buffer_size: Callable[[Isa, TransposeConvParams, Dims, Dims, Dims], int]
    arm_transpose_conv_s8_get_reverse_conv_buffer_size: Callable[[TransposeConvParams, Dims, Dims], int]
    arm_fully_connected_s8_get_buffer_size: Callable[[Isa, Dims], int]
    arm_fully_connected_s16_get_buffer_size: Callable[[Isa, Dims], int]
    arm_avgpool_s8_get_buffer_size: Callable[[Isa, int, int], int]
    arm_avgpool_s16_get_buffer_size: Callable[[Isa, int, int], int]
    arm_svdf_s8_get_buffer_size: Callable[[Isa, Dims], int]


_4AB83CC = BufferSizes(
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.arm_convolve_wrapper_s8_get_buffer_size,
    arm_convolve_wrapper_s4_get_buffer_size=convolve_sizes.arm_convolve_wrapper_s4_get_buffer_size,
    arm_convolve_wrapper_s16_get_buffer_size=convolve_sizes.arm_convolve_wrapper_s16_get_buffer_size,
    arm_convolve_1x1_s8_fast_get_buffer_size=convolve_sizes.arm_convolve_1x1_s8_fast_get_buffer_size,
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.arm_depthwise_conv_wrapper_s8_get_buffer_size,
    arm_depthwise_conv_wrapper_s4_get_buffer_size=depthwise_sizes.arm_depthwise_conv_wrapper_s4_get_buffer_size,
    arm_depthwise_conv_wrapper_s16_get_buffer_size=depthwise_sizes.arm_depthwise_conv_wrapper_s16_get_buffer_size,
    arm_transpose_conv_s8_get_buffer_size=depthwise_sizes.arm_transpose_conv_s8_get_buffer_size,
    arm_transpose_conv_s8_get_reverse_conv_buffer_size=(
        depthwise_sizes.arm_transpose_conv_s8_get_reverse_conv_buffer_size
    ),
    arm_fully_connected_s8_get_buffer_size=dense_sizes.arm_fully_connected_s8_get_buffer_size,
    arm_fully_connected_s16_get_buffer_size=dense_sizes.arm_fully_connected_s16_get_buffer_size,
    arm_avgpool_s8_get_buffer_size=dense_sizes.arm_avgpool_s8_get_buffer_size,
    arm_avgpool_s16_get_buffer_size=dense_sizes.arm_avgpool_s16_get_buffer_size,
    arm_svdf_s8_get_buffer_size=dense_sizes.arm_svdf_s8_get_buffer_size,
)

BUFFER_SIZES: dict[str, BufferSizes] = {
    "4ab83cc": _4AB83CC,
    # c01c0a1 (2026-03-06): from then on a grouped convolution is never taken for a pointwise or one-row one.
    "v7.0.0": replace(
        _4AB83CC,
        arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.wrapper_s8_before_c01c0a1,
        arm_convolve_wrapper_s4_get_buffer_size=convolve_sizes.wrapper_s4_before_c01c0a1,
    ),
    "e98ee09": replace(
        _4AB83CC,
        arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.wrapper_s8_e98ee09,
        arm_convolve_wrapper_s16_get_buffer_size=convolve_sizes.wrapper_s16_e98ee09,
        arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.wrapper_s8_e98ee09,
        arm_fully_connected_s8_get_buffer_size=dense_sizes.no_kernel_sums,
        arm_svdf_s8_get_buffer_size=dense_sizes.no_kernel_sums,
    ),
}
