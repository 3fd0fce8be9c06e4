"""ESP-NN's scratch for depthwise convolutions and softmax, in bytes, under the C names.

    1.1.0   S3: aligned filter and padded input
    1.2.0   S3: 32 bytes instead of 16 for the int16 paths (dd785b0)
    1.2.1   S3: every window with a multiple of 8 channels, tiles, padded channels (f433e61)

Source: src/convolution/esp_nn_depthwise_conv_s8_esp32s3.c, src/softmax/esp_nn_softmax_opt.c @ espressif/esp-nn,
version by version.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import ConvParams, DataDims, depthwise_locals
from tflm_sim.units import align_up

_STRIP_LIMIT = 40 * 1024
_TILE_LIMIT = 48 * 1024


def esp_nn_get_depthwise_conv_scratch_size_opt(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return 0: plain C works in place (``_ansi`` and ``_esp32p4`` too)."""
    return 0


@depthwise_locals
def depthwise_scratch_size_esp32s3_1_1_0(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the S3 up to 1.1.2."""
    return _before_1_2_1(input_dims, filter_dims, output_dims, conv_params, gap=16)


@depthwise_locals
def depthwise_scratch_size_esp32s3_1_2_0(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the S3 in 1.2.0."""
    return _before_1_2_1(input_dims, filter_dims, output_dims, conv_params, gap=32)


@depthwise_locals
def depthwise_scratch_size_esp32s3_1_2_1(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams
) -> int:
    """Return the bytes on the S3 from 1.2.1 on."""
    channels = input_dims.channels
    if conv_params.ch_mult == 1 and channels % 8 == 0:
        if filter_dims[:2] != (3, 3):
            return _tiled_int16(input_dims, filter_dims)
        if channels % 16 == 0:
            return _padded_3x3(input_dims, filter_dims, output_dims, conv_params, strip=True)
        if channels >= 12:
            return _widened_3x3(input_dims, output_dims, conv_params)
        return _int16_copies(input_dims, filter_dims, conv_params) + 32
    if conv_params.ch_mult == 1 and channels > 3:
        return _widened(input_dims, filter_dims, output_dims)
    if conv_params.ch_mult % 4 == 0:
        return _int16_copies(input_dims, filter_dims, conv_params) + 32
    return 32


def esp_nn_get_softmax_scratch_size_ansi(width: int, height: int) -> int:
    """Return 0: every exponential is computed twice."""
    return 0


def esp_nn_get_softmax_scratch_size_opt(width: int, height: int) -> int:
    """Return the bytes of one int32 per element of a row (``_esp32s3`` and ``_esp32p4`` too)."""
    return width * 4


def _before_1_2_1(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams, *, gap: int
) -> int:
    """Return the bytes on the S3 up to 1.2.0; ``gap`` aligns the int16 copies."""
    is_3x3 = conv_params.ch_mult == 1 and input_dims.channels % 8 == 0 and filter_dims[:2] == (3, 3)
    if is_3x3 and input_dims.channels % 16 == 0:
        return _padded_3x3(input_dims, filter_dims, output_dims, conv_params, strip=False)
    if is_3x3 or conv_params.ch_mult % 4 == 0:
        return _int16_copies(input_dims, filter_dims, conv_params) + gap
    return 32


def _filter_size(input_dims: DataDims, filter_dims: DataDims, conv_params: ConvParams) -> int:
    """Return the bytes of the int8 filter."""
    return filter_dims.width * filter_dims.height * input_dims.channels * conv_params.ch_mult


def _int16_copies(input_dims: DataDims, filter_dims: DataDims, conv_params: ConvParams) -> int:
    """Return the bytes of the filter and the input as int16."""
    image = input_dims.width * input_dims.height * input_dims.channels
    return 2 * (_filter_size(input_dims, filter_dims, conv_params) + image)


def _padded_3x3(
    input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims, conv_params: ConvParams, *, strip: bool
) -> int:
    """Return the bytes of the aligned filter, and of the padded input or, where ``strip`` and too large, three rows."""
    padding, stride = conv_params.padding, conv_params.stride
    if padding != (0, 0):
        width, height = 2 * padding.width, 2 * padding.height
    else:
        width = output_dims.width * stride.width + filter_dims.width - 1 - input_dims.width
        height = output_dims.height * stride.height + filter_dims.height - 1 - input_dims.height
    kernel = _filter_size(input_dims, filter_dims, conv_params) + 16
    if not width and not height:
        return kernel
    row = (input_dims.width + width) * input_dims.channels
    padded = row * (input_dims.height + height)
    return kernel + (row * filter_dims.height if strip and padded > _STRIP_LIMIT else padded)


def _widened_3x3(input_dims: DataDims, output_dims: DataDims, conv_params: ConvParams) -> int:
    """Return the bytes of filter, padded input and output with the channels rounded up to 16."""
    channels = align_up(input_dims.channels, 16)
    padding, stride = conv_params.padding, conv_params.stride
    right = max(0, output_dims.width * stride.width + 2 - input_dims.width)
    bottom = max(0, output_dims.height * stride.height + 2 - input_dims.height)
    width = input_dims.width + 2 * padding.width + right
    height = input_dims.height + 2 * padding.height + bottom
    return (9 + width * height + output_dims.width * output_dims.height) * channels + 64


def _tiled_int16(input_dims: DataDims, filter_dims: DataDims) -> int:
    """Return the bytes of filter and input as int16, or where that is too much, of as many rows as the window has."""
    row = input_dims.width * input_dims.channels
    kernel = filter_dims.width * filter_dims.height * input_dims.channels
    whole = 2 * (kernel + row * input_dims.height)
    return 32 + (whole if whole <= _TILE_LIMIT else 2 * kernel + 2 * row * filter_dims.height)


def _widened(input_dims: DataDims, filter_dims: DataDims, output_dims: DataDims) -> int:
    """Return the bytes of int16 filter and input, output, bias, shift and multiplier, channels rounded up to 8."""
    channels = align_up(input_dims.channels, 8)
    end = filter_dims.width * filter_dims.height * channels * 2
    end = align_up(end, 16) + input_dims.width * input_dims.height * channels * 2
    end = align_up(end, 16) + output_dims.width * output_dims.height * channels
    return align_up(end, 16) + 3 * 4 * channels + 16
