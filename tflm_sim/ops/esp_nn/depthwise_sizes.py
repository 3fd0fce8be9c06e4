"""ESP-NN's scratch for depthwise convolutions and softmax, in bytes.

    1.1.0   S3: aligned filter and padded input
    1.2.0   S3: 32 bytes instead of 16 for the int16 paths (dd785b0)
    1.2.1   S3: every window with a multiple of 8 channels, tiles, padded channels (f433e61)
    1.3.0   S3: padding on one side alone widens the channels of any 3x3 window (d8866fa)
    2c222c5 P4: an int32 per channel
    1017042 S3: a column of windows is copied one by one; strips fill the budget; padded channels have padded scales
    25cae54 S3: any padding of a 3x3 window as it is; S3 and P4: softmax looks its exponentials up in two tables

Source: src/convolution/esp_nn_depthwise_conv_{s8_esp32s3,riscv_pie}.c, src/softmax/esp_nn_softmax_{opt,s8_esp32s3,
s8_riscv_pie}.c @ espressif/esp-nn, version by version.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import DataDims, Layer
from tflm_sim.units import align_up

_STRIP_LIMIT = 40 * 1024
_SOFTMAX_TABLES = 2 * 256 * 4 + 16
"""Bytes of two tables of 256 int32, and of a margin."""
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


def esp32s3_1017042(layer: Layer) -> int:
    """Return the bytes on the S3 at 1017042, of whatever release that is."""
    channels = layer.image.channels
    if _is_column(layer):
        return 4 * channels + 2 * layer.window.height * channels + 64
    size = esp32s3_1_2_1(layer, any_padding=False)
    if layer.ch_mult != 1 or channels % 8 or layer.window[:2] != (3, 3) or channels < 12:
        return size
    if channels % 16 == 0 and layer.padding in ((0, 0), (1, 1)):
        image = _symmetric(layer)
        return size if image.size <= _STRIP_LIMIT or image == layer.image else _strips(layer, image)
    return size + 3 * 4 * align_up(channels, 16)


def esp32s3_25cae54(layer: Layer) -> int:
    """Return the bytes on the S3 at 25cae54, of whatever release that is."""
    if _is_column(layer) or layer.ch_mult != 1 or layer.image.channels % 16 or layer.window[:2] != (3, 3):
        return esp32s3_1017042(layer)
    image = layer.with_read_padding()
    if image != layer.image and image.size > _STRIP_LIMIT:
        return _strips(layer, image)
    return _filter_size(layer) + 16 + (0 if image == layer.image else image.size)


def esp32p4_2c222c5(layer: Layer) -> int:
    """Return the bytes on the P4 at 2c222c5, of whatever release that is."""
    return 4 * layer.image.channels if layer.ch_mult == 1 and layer.image.channels >= 8 else 0


def softmax_in_place(width: int, height: int) -> int:
    """Return 0: every exponential is computed twice."""
    return 0


def softmax_row(width: int, height: int) -> int:
    """Return the bytes of one int32 per element of a row."""
    return width * 4


def softmax_tables(width: int, height: int) -> int:
    """Return the bytes of the tables, whatever the row."""
    return _SOFTMAX_TABLES


def _filter_size(layer: Layer) -> int:
    return layer.window.area * layer.image.channels * layer.ch_mult


def _int16_copies(layer: Layer) -> int:
    """Return the bytes of the filter and the input as int16."""
    return 2 * (_filter_size(layer) + layer.image.size)


def _padded_3x3(layer: Layer, *, strip: bool) -> int:
    """Return the bytes of the aligned filter, and of the padded input or, where ``strip`` and too large, three rows."""
    image = _symmetric(layer)
    kernel = _filter_size(layer) + 16
    if image == layer.image:
        return kernel
    is_strip = strip and image.size > _STRIP_LIMIT
    return kernel + (image.width * image.channels * layer.window.height if is_strip else image.size)


def _symmetric(layer: Layer) -> DataDims:
    """Return the input with its padding on both sides, or without any with what windows read beyond it."""
    image = layer.padded()
    if layer.is_padded:
        return image
    rows, columns = layer.beyond()
    return image._replace(height=image.height + rows, width=image.width + columns)


def _strips(layer: Layer, image: DataDims) -> int:
    """Return the bytes of the filter and of as many padded rows as the budget allows, but those that a window reads."""
    row = image.width * image.channels
    budget = _STRIP_LIMIT - _filter_size(layer) - 32
    rows = min(max(budget // row, layer.window.height), image.height)
    return _filter_size(layer) + rows * row + 32


def _is_column(layer: Layer) -> bool:
    """Return whether windows of one column go down an image of one column, 16 channels at a time."""
    widths = layer.image.width, layer.window.width, layer.result.width, layer.stride.w
    return layer.ch_mult == 1 and widths == (1, 1, 1, 1) and layer.padding.w == 0 and layer.image.channels % 16 == 0


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
