"""CMSIS-NN's scratch for convolutions, in bytes, under the C names.

Every function takes the instruction set first, where the C library takes it from the build. Sizes are those of a gcc
or LLVM build: armclang's 1x1 path on DSP cores asks for another ``4 * in_channels``.

Source: Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_{s4,s8,s16}.c and Include/arm_nnsupportfunctions.h
@ ARM-software/CMSIS-NN 4ab83cc.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, Isa, Tile
from tflm_sim.units import align_up


def arm_nn_is_convolve_1x1(conv_params: ConvParams, input_dims: Dims, filter_dims: Dims) -> bool:
    """Return whether a convolution is pointwise, without padding, dilation or groups."""
    pointwise = filter_dims[1:3] == (1, 1) and input_dims.c == filter_dims.c
    return pointwise and conv_params.padding == (0, 0) and conv_params.dilation == (1, 1)


def arm_nn_is_convolve_1_x_n(conv_params: ConvParams, input_dims: Dims, filter_dims: Dims) -> bool:
    """Return whether a convolution has one row, steps over whole words, and no groups."""
    one_row = input_dims.h == 1 and filter_dims.h == 1 and input_dims.c == filter_dims.c
    return one_row and conv_params.dilation.w == 1 and conv_params.stride.w * input_dims.c % 4 == 0


def arm_convolve_s8_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the im2col buffers: two columns of int16, or four of whole int8 vectors."""
    column = filter_dims.w * filter_dims.h * input_dims.c
    return 4 * align_up(column, 16) if isa == "mve" else 2 * align_up(column, 4) * 2


def arm_convolve_s16_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the im2col buffers: two columns of int16, or four of whole int16 vectors."""
    column = input_dims.c * filter_dims.w * filter_dims.h
    return 4 * align_up(column, 8) * 2 if isa == "mve" else 2 * column * 2


def arm_convolve_s4_get_buffer_size(isa: Isa, input_dims: Dims, filter_dims: Dims) -> int:
    """Return the bytes of the im2col buffers for 4-bit weights; unlike s8, not padded without MVE."""
    column = filter_dims.w * filter_dims.h * input_dims.c
    return 4 * align_up(column, 16) if isa == "mve" else 2 * column * 2


def arm_convolve_1_x_n_s8_get_buffer_size(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes for one row: MVE copies only the padded ends, the others im2col as ever."""
    if isa != "mve" or not _ends_are_apart(conv_params, input_dims, filter_dims, output_dims):
        return arm_convolve_s8_get_buffer_size(isa, input_dims, filter_dims)
    right_columns, asymmetric = _right_end(conv_params, input_dims, filter_dims, output_dims)
    pad_left = conv_params.padding.w * input_dims.c
    pad_right = right_columns * input_dims.c if asymmetric else pad_left
    elements_left = filter_dims.w * input_dims.c
    return max(elements_left + pad_left, elements_left - input_dims.c + pad_right)


def arm_convolve_1_x_n_s4_get_buffer_size(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes for one row with 4-bit weights: MVE needs none where the padded ends do not overlap."""
    if isa == "mve" and _ends_are_apart(conv_params, input_dims, filter_dims, output_dims):
        return 0
    return arm_convolve_s4_get_buffer_size(isa, input_dims, filter_dims)


def arm_convolve_1x1_s8_fast_get_buffer_size(isa: Isa, input_dims: Dims) -> int:
    """Return 0: only armclang builds for DSP cores copy the input."""
    return 0


def arm_convolve_wrapper_s8_get_buffer_size(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the int8 convolution asks for, whichever kernel it chooses."""
    if arm_nn_is_convolve_1x1(conv_params, input_dims, filter_dims):
        return 0
    if arm_nn_is_convolve_1_x_n(conv_params, input_dims, filter_dims):
        return arm_convolve_1_x_n_s8_get_buffer_size(isa, conv_params, input_dims, filter_dims, output_dims)
    return arm_convolve_s8_get_buffer_size(isa, input_dims, filter_dims)


def arm_convolve_wrapper_s4_get_buffer_size(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the convolution with 4-bit weights asks for, whichever kernel it chooses."""
    if arm_nn_is_convolve_1x1(conv_params, input_dims, filter_dims):
        return 0
    if isa == "mve" and arm_nn_is_convolve_1_x_n(conv_params, input_dims, filter_dims):
        return arm_convolve_1_x_n_s4_get_buffer_size(isa, conv_params, input_dims, filter_dims, output_dims)
    return arm_convolve_s4_get_buffer_size(isa, input_dims, filter_dims)


def arm_convolve_wrapper_s16_get_buffer_size(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return the bytes that the int16 convolution asks for: always im2col."""
    return arm_convolve_s16_get_buffer_size(isa, input_dims, filter_dims)


def wrapper_s8_before_c01c0a1(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int8 wrapper asked for while it overlooked groups when it chose a kernel."""
    no_groups = filter_dims._replace(c=input_dims.c)
    return arm_convolve_wrapper_s8_get_buffer_size(isa, conv_params, input_dims, no_groups, output_dims)


def wrapper_s4_before_c01c0a1(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the wrapper for 4-bit weights asked for before: on MVE what the int8 wrapper asked for."""
    if isa == "mve":
        return wrapper_s8_before_c01c0a1(isa, conv_params, input_dims, filter_dims, output_dims)
    no_groups = filter_dims._replace(c=input_dims.c)
    return arm_convolve_wrapper_s4_get_buffer_size(isa, conv_params, input_dims, no_groups, output_dims)


def wrapper_s4_before_ac4a57a(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the wrapper for 4-bit weights asked for until April 2024, when MVE got a kernel of its own."""
    return wrapper_s4_before_c01c0a1("scalar", conv_params, input_dims, filter_dims, output_dims)


@dataclass(frozen=True, slots=True)
class WrapperS8Before2ef559d:
    """The int8 wrapper until March 2024: columns of whole int16 vectors on MVE, and no copy of a row's padded ends.

    Attributes:
        columns_overlap: On MVE, a row of which one output reads both padded ends is copied into columns (20c9214).
        columns_of_words: Elsewhere columns are rounded up to four elements (f0bf5ff).
        steps_of_words: The kernel for one row takes steps over whole words (365f4b5); before: rows of outputs in fours.
        any_step: A pointwise convolution may have steps.
    """

    columns_overlap: bool = False
    columns_of_words: bool = False
    steps_of_words: bool = False
    any_step: bool = True

    def __call__(
        self, isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
    ) -> int:
        filter_dims = filter_dims._replace(c=input_dims.c)
        if self._is_pointwise(conv_params, input_dims, filter_dims):
            return 0
        column = input_dims.c * filter_dims.w * filter_dims.h
        if isa != "mve":
            return 2 * align_up(column, 4 if self.columns_of_words else 1) * 2
        if self._is_row(conv_params, input_dims, filter_dims, output_dims) and not (
            self.columns_overlap and not _ends_are_apart(conv_params, input_dims, filter_dims, output_dims)
        ):
            return 0
        return 4 * align_up(column, 8)

    def _is_pointwise(self, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims) -> bool:
        return arm_nn_is_convolve_1x1(conv_params, input_dims, filter_dims) and (
            self.any_step or conv_params.stride == (1, 1)
        )

    def _is_row(self, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims) -> bool:
        if self.steps_of_words:
            return arm_nn_is_convolve_1_x_n(conv_params, input_dims, filter_dims)
        one_row = input_dims.h == 1 and filter_dims.h == 1 and conv_params.dilation.w == 1
        return one_row and output_dims.w % 4 == 0


@dataclass(frozen=True, slots=True)
class ConvolveWrapperS8OfCmsis5:
    """The int8 wrapper of CMSIS_5: a pointwise kernel for channels in fours, and one for a row of outputs in fours.

    Attributes:
        columns_everywhere: Plain C has columns as well; dilation is looked at (2d81a20, 977abe9).
        columns_of_lanes: On MVE, four columns of whole int16 vectors instead of two (6c8ebf7).
    """

    columns_everywhere: bool = True
    columns_of_lanes: bool = True

    def __call__(
        self, isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
    ) -> int:
        plain = conv_params.dilation == (1, 1) or not self.columns_everywhere
        if plain and self._is_pointwise(conv_params, input_dims, filter_dims):
            return 0
        column = input_dims.c * filter_dims.w * filter_dims.h
        if isa == "scalar" and not self.columns_everywhere:
            return 0
        if isa != "mve":
            return 2 * column * 2
        if plain and self._is_row(input_dims, filter_dims, output_dims):
            return 0
        return 4 * align_up(column, 8) if self.columns_of_lanes else 2 * column * 2

    def _is_pointwise(self, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims) -> bool:
        unmoved = conv_params.padding == (0, 0) and conv_params.stride == (1, 1)
        return unmoved and filter_dims[1:3] == (1, 1) and input_dims.c % 4 == 0

    def _is_row(self, input_dims: Dims, filter_dims: Dims, output_dims: Dims) -> bool:
        one_row = input_dims.h == output_dims.h == filter_dims.h == 1
        return one_row and output_dims.w % 4 == 0 and input_dims.n == 1


def wrapper_s16_before_4946da8(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int16 wrapper asked for until January 2022, when it did not look at dilation."""
    undilated = conv_params._replace(dilation=Tile(1, 1))
    return wrapper_s16_before_1af62f8(isa, undilated, input_dims, filter_dims, output_dims)


def wrapper_s16_before_1af62f8(
    isa: Isa, conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims
) -> int:
    """Return what the int16 wrapper asked for until April 2024: only the DSP kernel for up to 511 products."""
    column = input_dims.c * filter_dims.w * filter_dims.h
    return 2 * column * 2 if isa == "dsp" and column < 512 and conv_params.dilation == (1, 1) else 0


def _right_end(conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims) -> tuple[int, bool]:
    """Return how many outputs of a row read right padding, and whether it is one wider than the left padding."""
    total = (output_dims.w - 1) * conv_params.stride.w + filter_dims.w - input_dims.w
    asymmetric = (abs(total) % 2) * (1 if total > 0 else -1)
    return _padded_outputs(conv_params.padding.w + asymmetric, conv_params.stride.w), asymmetric != 0


def _padded_outputs(padding: int, stride: int) -> int:
    """Return how many outputs at an end of a row read padding (C division: toward zero)."""
    return max(1, int((padding + stride - 1) / stride)) if padding else 0


def _ends_are_apart(conv_params: ConvParams, input_dims: Dims, filter_dims: Dims, output_dims: Dims) -> bool:
    """Return whether no output of a row reads padding at both ends."""
    right, _ = _right_end(conv_params, input_dims, filter_dims, output_dims)
    left = _padded_outputs(conv_params.padding.w, conv_params.stride.w)
    return right + left <= output_dims.w
