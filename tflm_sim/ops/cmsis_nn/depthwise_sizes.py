"""CMSIS-NN's scratch for depthwise and transposed convolutions, in bytes, under the C names.

Source: Source/ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_{s4,s8,s16}.c and
arm_transpose_conv_get_buffer_sizes_s8.c @ ARM-software/CMSIS-NN 4ab83cc.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.ops.cmsis_nn.convolve_sizes import (
    arm_convolve_s8_get_buffer_size,
    arm_convolve_wrapper_s8_get_buffer_size,
)
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Isa, TransposeConvParams

CH_IN_BLOCK_MVE = 124
REVERSE_TCOL_EFFICIENT_THRESHOLD = 16


def arm_depthwise_conv_s8_opt_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the optimised int8 kernel's columns."""
    if isa == "scalar":
        return 0
    area = filter_dims.w * filter_dims.h
    return 4 * CH_IN_BLOCK_MVE * area if isa == "mve" else input_dims.c * area * 2


def arm_depthwise_conv_s4_opt_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the optimised kernel for 4-bit weights, which scalar builds have too."""
    return arm_depthwise_conv_s8_opt_get_buffer_size("mve" if isa == "mve" else "dsp", input_dims, filter_dims)


def arm_depthwise_conv_fast_s16_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the fast int16 kernel's columns; MVE adds 8 for what it reads past the end."""
    if isa == "scalar":
        return 0
    column = input_dims.c * filter_dims.w * filter_dims.h * 2
    return 4 * column + 8 if isa == "mve" else column


def arm_depthwise_conv_wrapper_s8_get_buffer_size(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the int8 depthwise convolution asks for, whichever kernel it chooses."""
    if isa == "mve" and input_dims.c == 1 and output_dims.c > 1:
        return _as_convolution(isa, dw_conv_params, input_dims, filter_dims, output_dims)
    if not _has_one_output_per_input(dw_conv_params, input_dims, output_dims):
        return 0
    if isa != "mve" and filter_dims[1:3] == (3, 3) and max(dw_conv_params.padding) <= 1:
        return 0
    return arm_depthwise_conv_s8_opt_get_buffer_size(isa, input_dims, filter_dims)


def arm_depthwise_conv_wrapper_s4_get_buffer_size(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the depthwise convolution with 4-bit weights asks for."""
    if not _has_one_output_per_input(dw_conv_params, input_dims, output_dims):
        return 0
    return arm_depthwise_conv_s4_opt_get_buffer_size(isa, input_dims, filter_dims)


def arm_depthwise_conv_wrapper_s16_get_buffer_size(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the int16 depthwise convolution asks for."""
    fast = dw_conv_params.ch_mult == 1 and dw_conv_params.dilation == (1, 1) and filter_dims.w * filter_dims.h < 512
    return arm_depthwise_conv_fast_s16_get_buffer_size(isa, input_dims, filter_dims) if fast else 0


def arm_transpose_conv_s8_get_buffer_size(
    isa: Isa, transpose_conv_params: TransposeConvParams, input_dims: Dims, filter_dims: Dims, out_dims: Dims
) -> int:
    """Return the bytes of the im2col buffers of the reversed convolution, or of the int32 rows being summed."""
    stride = transpose_conv_params.stride
    if _is_reversed(transpose_conv_params, input_dims):
        return arm_convolve_s8_get_buffer_size(isa, input_dims, filter_dims)
    # The row's width takes the vertical stride, as upstream has it.
    row = ((input_dims.w - 1) * stride.w + max(filter_dims.w, stride.h)) * out_dims.c
    return row * max(filter_dims.h, stride.h) * 4


def arm_transpose_conv_s8_get_reverse_conv_buffer_size(
    transpose_conv_params: TransposeConvParams, input_dims: Dims, filter_dims: Dims
) -> int:
    """Return the bytes of the reversed filter."""
    if not _is_reversed(transpose_conv_params, input_dims):
        return 0
    return input_dims.c * filter_dims.w * filter_dims.h * filter_dims.n


def wrapper_s8_before_e8db23a(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int8 wrapper asked for until November 2024: one input channel was no convolution on MVE."""
    if isa != "mve":
        return arm_depthwise_conv_wrapper_s8_get_buffer_size(isa, dw_conv_params, input_dims, filter_dims, output_dims)
    return wrapper_s8_before_2e4abf5(isa, dw_conv_params, input_dims, filter_dims, output_dims)


def wrapper_s8_before_2e4abf5(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int8 wrapper asked for until December 2022: also for a 3x3 window."""
    if not _has_one_output_per_input(dw_conv_params, input_dims, output_dims):
        return 0
    return arm_depthwise_conv_s8_opt_get_buffer_size(isa, input_dims, filter_dims)


@dataclass(frozen=True, slots=True)
class DepthwiseWrapperS8OfCmsis5:
    """The int8 wrapper of CMSIS_5, whose optimised MVE kernel had two columns of int16, and four bytes to read over.

    Attributes:
        looks_at_batches: Several batches have no optimised kernel (1b9265e).
        looks_at_dilation: Dilation has none either (977abe9).
    """

    looks_at_batches: bool = True
    looks_at_dilation: bool = True

    def __call__(
        self, isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
    ) -> int:
        if self.looks_at_dilation and dw_conv_params.dilation != (1, 1):
            return 0
        if input_dims.c != output_dims.c or (self.looks_at_batches and input_dims.n != 1):
            return 0
        column = input_dims.c * filter_dims.w * filter_dims.h
        return {"scalar": 0, "dsp": column * 2, "mve": 2 * column * 2 + 4}[isa]


def wrapper_s4_before_429fb5c(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the wrapper for 4-bit weights asked for until April 2024: what DSP cores do."""
    return arm_depthwise_conv_wrapper_s4_get_buffer_size("dsp", dw_conv_params, input_dims, filter_dims, output_dims)


def wrapper_s16_e98ee09(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int16 wrapper asked for in October 2022: the fast kernel took up to 511 products."""
    fast = dw_conv_params.ch_mult == 1 and dw_conv_params.dilation == (1, 1)
    if not fast or filter_dims.w * filter_dims.h * input_dims.c >= 512:
        return 0
    return arm_depthwise_conv_fast_s16_get_buffer_size(isa, input_dims, filter_dims)


def transpose_conv_s8_before_628c103(
    isa: Isa, transpose_conv_params: TransposeConvParams, input_dims: Dims, filter_dims: Dims, out_dims: Dims
) -> int:
    """Return the bytes of all int32 products, until November 2024; the sums of the outputs were a buffer of TFLM's."""
    return filter_dims.w * filter_dims.h * input_dims.w * input_dims.h * out_dims.c * 4


def _has_one_output_per_input(dw_conv_params: DwConvParams, input_dims: Dims, output_dims: Dims) -> bool:
    """Return whether the optimised kernels take it: channel multiplier 1, one batch, no dilation."""
    return input_dims.c == output_dims.c and input_dims.n == 1 and dw_conv_params.dilation == (1, 1)


def _as_convolution(
    isa: Isa, dw_conv_params: DwConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes for one input channel, computed as a convolution with a transposed copy of the filter."""
    as_conv = ConvParams(dw_conv_params.stride, dw_conv_params.padding, dw_conv_params.dilation)
    transposed = Dims(filter_dims.c, filter_dims.h, filter_dims.w, filter_dims.n)
    copy = filter_dims.n * filter_dims.h * filter_dims.w * filter_dims.c
    return arm_convolve_wrapper_s8_get_buffer_size(isa, as_conv, input_dims, transposed, output_dims) + copy


def _is_reversed(transpose_conv_params: TransposeConvParams, input_dims: Dims) -> bool:
    """Return whether it runs as a convolution with a reversed filter: stride up to 2, enough channels."""
    return max(transpose_conv_params.stride) <= 2 and input_dims.c > REVERSE_TCOL_EFFICIENT_THRESHOLD
