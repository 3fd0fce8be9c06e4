"""ESP-NN's scratch for convolutions, in bytes: vector units only, plain C needs none.

    before  S3: filter and input as int16, but for a pointwise filter over channels in eights (Edge Impulse's copy)
    1.1.0   S3 and P4: the whole filter realigned, the whole padded input
    1.2.1   S3: im2col for narrow filters; else also the aligned rows and the right and bottom padding (27d1f4a)
    1.2.3   S3: a margin of 64 instead of 32 (d17c031); P4: im2col and tiles (2bfa080, 2159e8f)
    1.2.6   S3: the input is padded once, as far as the output's windows read (c087617)
    4982f25 S3: no copy of a pointwise filter or input, the larger of two copies of any other filter

Source: src/convolution/esp_nn_conv_{esp32s3,esp32p4}.c @ espressif/esp-nn, version by version;
porting/espressif/ESP-NN, edgeimpulse/inferencing-sdk-cpp @ f351785.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.dims import DataDims, Layer
from tflm_sim.units import align_up

_P4_L1D_BUDGET = 32768
_S3_MARGIN = 64


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


def esp32p4_1_2_3(layer: Layer) -> int:
    """Return the bytes on the P4 from 1.2.3 on."""
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
    stride, height = layer.stride.h, layer.window.height
    row = layer.padded().width * _widened_channels(layer)
    budget = _P4_L1D_BUDGET - layer.sums - widened
    rows = 1
    if budget > 0 and height * row <= budget:
        rows = min((budget - height * row) // (stride * row) + 1, layer.result.height)
    return ((rows - 1) * stride + height + 2 * layer.padding.h) * row
