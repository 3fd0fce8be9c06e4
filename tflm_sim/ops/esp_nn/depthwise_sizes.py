"""ESP-NN's scratch for depthwise convolutions and softmax, in bytes.

    1.1.0   S3: aligned filter and padded input
    1.2.0   S3: 32 bytes instead of 16 for the int16 paths (dd785b0)
    1.2.1   S3: every window with a multiple of 8 channels, tiles, padded channels (f433e61)
    1.3.0   S3: padding on one side alone widens the channels of any 3x3 window (d8866fa)

Source: src/convolution/esp_nn_depthwise_conv_s8_esp32s3.c, src/softmax/esp_nn_softmax_opt.c @ espressif/esp-nn,
version by version.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import Layer
from tflm_sim.units import align_up

_STRIP_LIMIT = 40 * 1024
_TILE_LIMIT = 48 * 1024


def before_1_2_1(layer: Layer, *, gap: int) -> int:
    """Return the bytes on the S3 up to 1.2.0; ``gap`` aligns the int16 copies."""
    is_3x3 = layer.ch_mult == 1 and layer.image.channels % 8 == 0 and layer.window[:2] == (3, 3)
    if is_3x3 and layer.image.channels % 16 == 0:
        return _padded_3x3(layer, strip=False)
    return _int16_copies(layer) + gap if is_3x3 or layer.ch_mult % 4 == 0 else 32


def esp32s3_1_2_1(layer: Layer, *, any_padding: bool) -> int:
    """Return the bytes on the S3 from 1.2.1 on; ``any_padding`` is what 1.3.0 ended."""
    channels = layer.image.channels
    if layer.ch_mult == 1 and channels % 8 == 0:
        if layer.window[:2] != (3, 3):
            return _tiled_int16(layer)
        if channels % 16 == 0 and (any_padding or layer.padding in ((0, 0), (1, 1))):
            return _padded_3x3(layer, strip=True)
        return _widened_3x3(layer) if channels >= 12 else _int16_copies(layer) + 32
    if layer.ch_mult == 1 and channels > 3:
        return _widened(layer)
    return _int16_copies(layer) + 32 if layer.ch_mult % 4 == 0 else 32


def softmax_in_place(width: int, height: int) -> int:
    """Return 0: every exponential is computed twice."""
    return 0


def softmax_row(width: int, height: int) -> int:
    """Return the bytes of one int32 per element of a row."""
    return width * 4


def _filter_size(layer: Layer) -> int:
    return layer.window.area * layer.image.channels * layer.ch_mult


def _int16_copies(layer: Layer) -> int:
    """Return the bytes of the filter and the input as int16."""
    return 2 * (_filter_size(layer) + layer.image.size)


def _padded_3x3(layer: Layer, *, strip: bool) -> int:
    """Return the bytes of the aligned filter, and of the padded input or, where ``strip`` and too large, three rows."""
    image = layer.padded()
    if not layer.is_padded:
        rows, columns = layer.beyond()
        image = image._replace(height=image.height + rows, width=image.width + columns)
    kernel = _filter_size(layer) + 16
    if image == layer.image:
        return kernel
    is_strip = strip and image.size > _STRIP_LIMIT
    return kernel + (image.width * image.channels * layer.window.height if is_strip else image.size)


def _widened_3x3(layer: Layer) -> int:
    """Return the bytes of filter, padded input and output with the channels rounded up to 16."""
    padded, far = layer.padded(), layer.with_far_padding()
    width, height = padded.width + far.width - layer.image.width, padded.height + far.height - layer.image.height
    return (9 + width * height + layer.result.area) * align_up(layer.image.channels, 16) + 64


def _tiled_int16(layer: Layer) -> int:
    """Return the bytes of filter and input as int16, or where that is too much, of as many rows as the window has."""
    row = layer.image.width * layer.image.channels
    kernel = layer.window.area * layer.image.channels
    whole = 2 * (kernel + layer.image.size)
    return 32 + (whole if whole <= _TILE_LIMIT else 2 * kernel + 2 * row * layer.window.height)


def _widened(layer: Layer) -> int:
    """Return the bytes of int16 filter and input, output, bias, shift and multiplier, channels rounded up to 8."""
    channels = align_up(layer.image.channels, 8)
    end = layer.window.area * channels * 2
    end = align_up(end, 16) + layer.image.area * channels * 2
    end = align_up(end, 16) + layer.result.area * channels
    return align_up(end, 16) + 3 * 4 * channels + 16
