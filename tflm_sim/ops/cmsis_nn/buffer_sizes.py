"""One table entry per CMSIS-NN version: its buffer-size functions, under their C names.

The newest version's functions are spelled out; an older one replaces those that a later commit changed, and the row
says which commit. A later release is a new row. ``tools/compare/cmsis_nn.py --checkout CLONE`` compares each with the
functions themselves, compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tflm_sim.ops.cmsis_nn import convolve_sizes, dense_sizes, depthwise_sizes
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Isa, TransposeConvParams
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_CMSIS_NN

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

_S8_2024_03 = convolve_sizes.WrapperS8Before2ef559d(columns_overlap=True, columns_of_words=True, steps_of_words=True)

# c01c0a1 (2026-03-06): from then on a grouped convolution is never taken for a pointwise or one-row one.
_22080C6 = replace(
    _4AB83CC,
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.wrapper_s8_before_c01c0a1,
    arm_convolve_wrapper_s4_get_buffer_size=convolve_sizes.wrapper_s4_before_c01c0a1,
)
_01DEE38 = replace(
    _22080C6,
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.wrapper_s8_before_e8db23a,
    arm_transpose_conv_s8_get_buffer_size=depthwise_sizes.transpose_conv_s8_before_628c103,
)
_15DBE7C = replace(_01DEE38, arm_depthwise_conv_wrapper_s4_get_buffer_size=depthwise_sizes.wrapper_s4_before_429fb5c)
_8492D82 = replace(_15DBE7C, arm_convolve_wrapper_s4_get_buffer_size=convolve_sizes.wrapper_s4_before_ac4a57a)
_6CC31FB = replace(
    _8492D82,
    arm_convolve_wrapper_s8_get_buffer_size=_S8_2024_03,
    arm_convolve_wrapper_s16_get_buffer_size=convolve_sizes.wrapper_s16_before_1af62f8,
)
_58F1770 = replace(_6CC31FB, arm_convolve_wrapper_s8_get_buffer_size=replace(_S8_2024_03, columns_overlap=False))
_23_08 = replace(
    _58F1770,
    arm_fully_connected_s8_get_buffer_size=dense_sizes.no_kernel_sums,
    arm_svdf_s8_get_buffer_size=dense_sizes.no_kernel_sums,
)
_DC64E48 = replace(
    _58F1770,
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.WrapperS8Before2ef559d(steps_of_words=True),
    arm_fully_connected_s8_get_buffer_size=dense_sizes.no_kernel_sums,
    arm_svdf_s8_get_buffer_size=dense_sizes.no_kernel_sums,
)
_D071E9F = replace(_DC64E48, arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.WrapperS8Before2ef559d())
_E98EE09 = replace(
    _D071E9F,
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.WrapperS8Before2ef559d(any_step=False),
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.wrapper_s8_before_2e4abf5,
    arm_depthwise_conv_wrapper_s16_get_buffer_size=depthwise_sizes.wrapper_s16_e98ee09,
)
_9DC018E = replace(
    _E98EE09,
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.ConvolveWrapperS8OfCmsis5(),
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.DepthwiseWrapperS8OfCmsis5(),
    arm_avgpool_s16_get_buffer_size=dense_sizes.no_sums,
)
_977ABE9 = replace(_9DC018E, arm_convolve_wrapper_s16_get_buffer_size=convolve_sizes.wrapper_s16_before_4946da8)
_BFF2857 = replace(
    _977ABE9,
    arm_convolve_wrapper_s8_get_buffer_size=convolve_sizes.ConvolveWrapperS8OfCmsis5(columns_everywhere=False),
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.DepthwiseWrapperS8OfCmsis5(looks_at_dilation=False),
)
_S8_2021 = convolve_sizes.ConvolveWrapperS8OfCmsis5(columns_everywhere=False, columns_of_lanes=False)
_C43379B = replace(_BFF2857, arm_convolve_wrapper_s8_get_buffer_size=_S8_2021)
_0D7E4FA = replace(
    _C43379B,
    arm_depthwise_conv_wrapper_s8_get_buffer_size=depthwise_sizes.DepthwiseWrapperS8OfCmsis5(
        looks_at_dilation=False, looks_at_batches=False
    ),
)

BUFFER_SIZES: dict[str, BufferSizes] = {
    "4ab83cc": _4AB83CC,
    "6d9d61d": _4AB83CC,
    "v7.0.0": _22080C6,
    "e096196": _22080C6,
    "22080c6": _22080C6,
    "f2cb41c": _01DEE38,
    "95f293d": _01DEE38,
    "01dee38": _01DEE38,
    "15dbe7c": _15DBE7C,
    "8492d82": _8492D82,
    "6cc31fb": _6CC31FB,
    "72e1ebf": _58F1770,
    "2a999a2": _58F1770,
    "bfc54ed": _58F1770,
    "ca47625": _58F1770,
    "58f1770": _58F1770,
    "23.08": _23_08,
    "dc64e48": _DC64E48,
    "d071e9f": _D071E9F,
    "e98ee09": _E98EE09,
    "6a18a74": _9DC018E,
    "184ccfd": _9DC018E,
    "9dc018e": _9DC018E,
    "977abe9": _977ABE9,
    "bff2857": _BFF2857,
    "c43379b": _C43379B,
    "59d6249": _0D7E4FA,
    "0d7e4fa": _0D7E4FA,
    EDGE_IMPULSE_CMSIS_NN: _0D7E4FA,
}
"""By commit (``targets.changes.CMSIS_NN_PINS`` says who links it) or release; v7.0.0 is 22080c6."""
