"""ESP-NN's scratch for convolutions, in bytes, under the C names: vector units only, plain C needs none.

    1.1.0   S3 and P4: the whole filter realigned, the whole padded input
    1.2.1   S3: im2col for narrow filters; else also the aligned rows and the right and bottom padding (27d1f4a)
    1.2.3   S3: a margin of 64 instead of 32 (d17c031); P4: im2col and tiles (2bfa080, 2159e8f)

Source: src/convolution/esp_nn_conv_{esp32s3,esp32p4}.c @ espressif/esp-nn, version by version.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import ConvParams, DataDims, convolution_locals
from tflm_sim.units import align_up

_P4_L1D_BUDGET = 32768


def esp_nn_get_conv_scratch_size_opt(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return 0: plain C works in place (``_ansi`` too)."""
    return 0


@convolution_locals
def conv_scratch_size_1_1_0(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes up to 1.2.0 on the S3, and up to 1.2.2 on the P4."""
    if _is_pointwise(filter_dims, conv_params):
        return _pointwise(input_dims, output_dims, margin=32)
    return _padded_input(input_dims, conv_params) + _aligned_filter(input_dims, filter_dims, output_dims) + 32


@convolution_locals
def conv_scratch_size_esp32s3_1_2_1(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the S3 in 1.2.1 and 1.2.2."""
    return _esp32s3(input_dims, filter_dims, output_dims, conv_params, margin=32)


@convolution_locals
def conv_scratch_size_esp32s3_1_2_3(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the S3 from 1.2.3 on."""
    return _esp32s3(input_dims, filter_dims, output_dims, conv_params, margin=64)


@convolution_locals
def conv_scratch_size_esp32p4_1_2_3(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the P4 from 1.2.3 on."""
    if _is_pointwise(filter_dims, conv_params):
        if input_dims.channels < 16:
            return 4 * output_dims.channels + 16 * output_dims.channels + 32 + 32
        return _pointwise(input_dims, output_dims, margin=32)
    padded = conv_params.padding != (0, 0)
    row = filter_dims.width * input_dims.channels
    sums = 4 * output_dims.channels
    if not padded and row >= 16:
        return _aligned_filter(input_dims, filter_dims, output_dims) + 32
    if row * filter_dims.height >= 16:
        return sums + row * filter_dims.height + 32
    channels = _widened_channels(filter_dims)
    widened = filter_dims.width * filter_dims.height * channels * output_dims.channels
    if not padded:
        return sums + widened + input_dims.width * input_dims.height * channels + 32
    if _padded_input(input_dims, conv_params) + sums <= _P4_L1D_BUDGET:
        return _padded_input(input_dims, conv_params) + _aligned_filter(input_dims, filter_dims, output_dims) + 32
    return _tile(input_dims, filter_dims, output_dims, conv_params) + widened + 32 + sums


def _esp32s3(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams, *, margin: int
) -> int:
    """Return the bytes on the S3 since 1.2.1: pointwise, im2col, or everything that the general kernel may copy."""
    if _is_pointwise(filter_dims, conv_params):
        return _pointwise(input_dims, output_dims, margin=margin)
    row = filter_dims.width * input_dims.channels
    window = row * filter_dims.height
    if row < 16 <= window:
        column = align_up(window, 16)
        return 4 * output_dims.channels + 16 + output_dims.channels * column + 16 + column + margin
    rows = align_up(row, 16) * filter_dims.height * output_dims.channels
    copies = _padded_input(input_dims, conv_params) + _aligned_filter(input_dims, filter_dims, output_dims)
    return copies + rows + _input_with_far_padding(input_dims, filter_dims, output_dims, conv_params) + margin


def _is_pointwise(filter_dims: DataDims, conv_params: ConvParams) -> bool:
    """Return whether a window of one element moves by one, without padding."""
    return filter_dims[:2] == (1, 1) and conv_params.padding == (0, 0) and conv_params.stride == (1, 1)


def _pointwise(input_dims: DataDims, output_dims: DataDims, *, margin: int) -> int:
    """Return the bytes of a pointwise convolution: realigned input if need be, filter, eight transposed columns."""
    channels = align_up(input_dims.channels, 8)
    area = input_dims.width * input_dims.height
    copied_input = area * channels if input_dims.channels % 8 else 0
    transposed = 0 if area < 8 else 2 * 8 * channels
    return copied_input + channels * output_dims.channels + transposed + margin


def _padded_input(input_dims: DataDims, conv_params: ConvParams) -> int:
    """Return the bytes of the input with padding on all sides, 0 without padding."""
    padding = conv_params.padding
    if padding == (0, 0):
        return 0
    width, height = input_dims.width + 2 * padding.width, input_dims.height + 2 * padding.height
    return width * height * input_dims.channels


def _aligned_filter(input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims) -> int:
    """Return the bytes of the filter with its channels rounded up to 16, and of one int32 per output channel."""
    element = filter_dims.width * filter_dims.height * align_up(input_dims.channels, 16)
    return element * output_dims.channels + 4 * output_dims.channels


def _input_with_far_padding(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes of the input with what the window reads beyond its right and bottom edge, 0 when it does not."""
    stride = conv_params.stride
    right = max(0, output_dims.width * stride.width + filter_dims.width - 1 - input_dims.width)
    bottom = max(0, output_dims.height * stride.height + filter_dims.height - 1 - input_dims.height)
    if not right and not bottom:
        return 0
    return (input_dims.width + right) * (input_dims.height + bottom) * input_dims.channels


def _widened_channels(filter_dims: DataDims) -> int:
    """Return the channels that let a row of the window fill a vector of 16."""
    return align_up(-(-16 // filter_dims.width), 16)


def _tile(input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams) -> int:
    """Return the bytes of the input rows that the P4 holds at once: as many output rows as its cache budget allows."""
    channels = _widened_channels(filter_dims)
    widened = filter_dims.width * filter_dims.height * channels * output_dims.channels
    row = (input_dims.width + 2 * conv_params.padding.width) * channels
    budget = _P4_L1D_BUDGET - 4 * output_dims.channels - widened
    rows = 1
    if budget > 0 and filter_dims.height * row <= budget:
        rows = (budget - filter_dims.height * row) // (conv_params.stride.height * row) + 1
        rows = min(rows, output_dims.height)
    input_rows = (rows - 1) * conv_params.stride.height + filter_dims.height + 2 * conv_params.padding.height
    return input_rows * row
