"""ESP-NN's scratch for convolutions, in bytes: vector units only, plain C needs none.

    before  S3: filter and input as int16, but for a pointwise filter over channels in eights (Edge Impulse's copy)
    1.1.0   S3 and P4: the whole filter realigned, the whole padded input
    1.2.1   S3: im2col for narrow filters; else also the aligned rows and the right and bottom padding (27d1f4a)
    1.2.3   S3: a margin of 64 instead of 32 (d17c031); P4: im2col and tiles (2bfa080, 2159e8f)
    1.2.6   S3: the input is padded once, as far as the output's windows read (c087617)
    4982f25 S3: no copy of a pointwise filter or input, the larger of two copies of any other filter
    1017042 S3: a window of 3x3 is copied with its filter; a large pointwise filter is worked through in panels
    fa9f698 P4: sixteen windows at a time; each group by itself
    25cae54 S3: sixteen windows of 3x3 at a time, in panels; each group by itself (since fa9f698)

Source: src/convolution/esp_nn_conv_{esp32s3,esp32p4,riscv_pie}.c, esp_nn_conv_s8_3x3_opt_esp32s3.c,
esp_nn_conv_1x1_panel_esp32s3.h @ espressif/esp-nn, version by version;
porting/espressif/ESP-NN, edgeimpulse/inferencing-sdk-cpp @ f351785.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import DataDims, Layer, Size
from tflm_sim.units import align_up

_P4_L1D_BUDGET = 32768
_S3_MARGIN = 64
_S3_PANEL_FILTER = 24 * 1024
"""Bytes of a pointwise filter from which on the S3 works through it in panels."""
_STAGED_WINDOWS = 16
_P4_LARGEST_STAGED, _P4_LARGEST_UNTILED = 2304, 96 * 1024
"""Bytes of a window that the P4 still stages, and of a filter for which it does not tile the padded input."""


def before_1_1_0(layer: Layer) -> int:
    """Return the bytes on the S3 in Edge Impulse's copy of September 2022 to August 2023."""
    channels = layer.image.channels
    plain_filter = layer.window.area * channels * layer.result.channels
    transposed = 2 * 8 * channels if layer.image.area >= 8 else 0
    if _is_pointwise(layer) and channels % 8 == 0:
        return plain_filter + transposed + 32
    return 2 * (plain_filter + layer.image.area * channels) + transposed + 32


def before_1_2_1(layer: Layer, *, padded_inputs: int = 1) -> int:
    """Return the bytes up to 1.2.0 on the S3, and up to 1.2.2 on the P4, with so many copies of the padded input."""
    if _is_pointwise(layer):
        return _pointwise(layer, margin=32)
    return padded_inputs * _padded_input(layer) + _aligned_filter(layer) + 32


def esp32s3_1_2_1(layer: Layer, *, margin: int) -> int:
    """Return the bytes on the S3 since 1.2.1: pointwise, im2col, or everything that the general kernel may copy."""
    if _is_pointwise(layer):
        return _pointwise(layer, margin=margin)
    if _is_by_columns(layer):
        return _columns(layer) + margin
    far = layer.with_far_padding()
    copies = _padded_input(layer) + _aligned_filter(layer) + _aligned_rows(layer)
    return copies + (0 if far == layer.image else far.size) + margin


def esp32s3_1_2_6(layer: Layer) -> int:
    """Return the bytes on the S3 since 1.2.6."""
    if _is_pointwise(layer):
        return _pointwise(layer, margin=_S3_MARGIN)
    if _is_by_columns(layer):
        return _columns(layer) + _S3_MARGIN
    return _read_input(layer) + _aligned_filter(layer) + _aligned_rows(layer) + _S3_MARGIN


def esp32s3_4982f25(layer: Layer) -> int:
    """Return the bytes on the S3 at 4982f25, of whatever release that is."""
    if _is_pointwise(layer):
        return _transposed(layer.image.widened(8)) + _S3_MARGIN
    if _is_by_columns(layer):
        return _columns(layer) + _S3_MARGIN
    plain_filter = layer.window.area * layer.image.channels * layer.result.channels
    return _read_input(layer) + max(_aligned_rows(layer), plain_filter) + layer.sums + _S3_MARGIN


def esp32s3_1017042(layer: Layer) -> int:
    """Return the bytes on the S3 at 1017042, of whatever release that is."""
    channels = layer.image.channels
    if _is_3x3(layer):
        return (1 + layer.result.channels) * 9 * channels + layer.sums + 32
    if _is_pointwise(layer):
        batch = 24 * channels + 8 * layer.result.channels + _S3_MARGIN
        is_large = channels * layer.result.channels > _S3_PANEL_FILTER
        return max(esp32s3_4982f25(layer), batch, _panel(channels) if is_large else 0)
    return esp32s3_4982f25(layer)


def esp32s3_25cae54(layer: Layer) -> int:
    """Return the bytes on the S3 at 25cae54, of whatever release that is."""
    if groups := _groups(layer):
        return _grouped(layer, groups, esp32s3_25cae54)
    if _is_3x3(layer) and layer.result.area >= _STAGED_WINDOWS:
        window = 9 * layer.image.channels
        return _STAGED_WINDOWS * window + _panel(window) + 32
    return esp32s3_1017042(layer)


def esp32p4_fa9f698(layer: Layer) -> int:
    """Return the bytes on the P4 at fa9f698, of whatever release that is."""
    if groups := _groups(layer):
        return _grouped(layer, groups, esp32p4_fa9f698)
    if _is_pointwise(layer):
        return esp32p4_1_2_3(layer)
    row = layer.window.width * layer.image.channels
    window = row * layer.window.height
    is_staged = window <= _P4_LARGEST_STAGED
    if not layer.is_padded and row >= 16 and not (window >= 128 and is_staged and layer.result.channels >= 16):
        return _aligned_filter(layer) + 32
    is_tiled = layer.is_padded and row >= 16 and window * layer.result.channels > _P4_LARGEST_UNTILED
    if window >= 16 and not is_tiled:
        return layer.sums + window + (_STAGED_WINDOWS * window + 16 if is_staged else 0) + 32
    if not layer.is_padded:
        return esp32p4_1_2_3(layer)
    channels, widened = layer.image.channels, 0
    if row < 16:
        channels = _widened_channels(layer)
        widened = layer.window.area * channels * layer.result.channels
    staged = layer.padded().width * channels
    rows = _tile_rows(layer, staged, _P4_L1D_BUDGET - layer.sums - widened)
    return layer.sums + widened + ((rows - 1) * layer.stride.h + layer.window.height) * staged + 32


def esp32p4_1_2_3(layer: Layer) -> int:
    """Return the bytes on the P4 from 1.2.3 to 1.3.1."""
    if _is_pointwise(layer):
        few = layer.image.channels < 16
        return layer.sums + 16 * layer.result.channels + 32 + 32 if few else _pointwise(layer, margin=32)
    row = layer.window.width * layer.image.channels
    if not layer.is_padded and row >= 16:
        return _aligned_filter(layer) + 32
    if row * layer.window.height >= 16:
        return layer.sums + row * layer.window.height + 32
    channels = _widened_channels(layer)
    widened = layer.window.area * channels * layer.result.channels
    if not layer.is_padded:
        return layer.sums + widened + layer.image.area * channels + 32
    if _padded_input(layer) + layer.sums <= _P4_L1D_BUDGET:
        return _padded_input(layer) + _aligned_filter(layer) + 32
    return _tile(layer, widened) + widened + 32 + layer.sums


def _is_pointwise(layer: Layer) -> bool:
    """Return whether a window of one element moves by one, without padding."""
    return layer.window[:2] == (1, 1) and layer.stride == (1, 1) and not layer.is_padded


def _is_3x3(layer: Layer) -> bool:
    """Return whether a window of 3x3 has its own kernel: for 16 results and more, and channels in sixteens."""
    few = min(layer.image.channels, layer.result.channels) < 16
    return layer.window[:2] == (3, 3) and layer.image.channels % 16 == 0 and not few


def _panel(channels: int) -> int:
    """Return the bytes for a pointwise filter in panels: columns and tails, results on their way, and a margin."""
    return 24 * channels + 16 * 1024 + _S3_MARGIN


def _groups(layer: Layer) -> int:
    """Return into how many groups a filter with fewer channels than the input divides it; 0 for one, or no such."""
    image, window, result = layer.image.channels, layer.window.channels, layer.result.channels
    if not 0 < window < image or image % window:
        return 0
    return 0 if result % (image // window) else image // window


def _grouped(layer: Layer, groups: int, size: Size) -> int:
    """Return the bytes of one group's input, output and scratch."""
    image = layer.image._replace(channels=layer.window.channels)
    result = layer.result._replace(channels=layer.result.channels // groups)
    return size(layer._replace(image=image, result=result)) + image.size + result.size + 64


def _pointwise(layer: Layer, *, margin: int) -> int:
    """Return the bytes of a pointwise convolution: realigned input if need be, filter, eight transposed columns."""
    image = layer.image.widened(8)
    copied_input = 0 if image == layer.image else image.size
    return copied_input + image.channels * layer.result.channels + _transposed(image) + margin


def _transposed(image: DataDims) -> int:
    """Return the bytes of eight transposed columns, 0 where there are fewer."""
    return 0 if image.area < 8 else 2 * 8 * image.channels


def _is_by_columns(layer: Layer) -> bool:
    """Return whether a row of the window is too short for a vector of 16, and the whole window is not."""
    row = layer.window.width * layer.image.channels
    return row < 16 <= row * layer.window.height


def _columns(layer: Layer) -> int:
    """Return the bytes of the sums, the filter and one window, each window rounded up to 16, and of two gaps."""
    column = align_up(layer.window.area * layer.image.channels, 16)
    return layer.sums + 16 + layer.result.channels * column + 16 + column


def _aligned_rows(layer: Layer) -> int:
    """Return the bytes of the filter with its rows rounded up to 16."""
    row = layer.window.width * layer.image.channels
    return align_up(row, 16) * layer.window.height * layer.result.channels


def _read_input(layer: Layer) -> int:
    """Return the bytes of the input with the padding that windows read, 0 without any."""
    read = layer.with_read_padding()
    return 0 if read == layer.image else read.size


def _padded_input(layer: Layer) -> int:
    """Return the bytes of the input with padding on all sides, 0 without padding."""
    return layer.padded().size if layer.is_padded else 0


def _aligned_filter(layer: Layer) -> int:
    """Return the bytes of the filter with its channels rounded up to 16, and of one int32 per output channel."""
    return layer.window.area * align_up(layer.image.channels, 16) * layer.result.channels + layer.sums


def _widened_channels(layer: Layer) -> int:
    """Return the channels that let a row of the window fill a vector of 16."""
    return align_up(-(-16 // layer.window.width), 16)


def _tile(layer: Layer, widened: int) -> int:
    """Return the bytes of the input rows that the P4 holds at once: as many output rows as its cache budget allows."""
    row = layer.padded().width * _widened_channels(layer)
    rows = _tile_rows(layer, row, _P4_L1D_BUDGET - layer.sums - widened)
    return ((rows - 1) * layer.stride.h + layer.window.height + 2 * layer.padding.h) * row


def _tile_rows(layer: Layer, row: int, budget: int) -> int:
    """Return how many output rows the P4 makes at once, with so many bytes for the input's padded rows."""
    window = layer.window.height * row
    if budget <= 0 or window > budget:
        return 1
    return min((budget - window) // (layer.stride.h * row) + 1, layer.result.height)
