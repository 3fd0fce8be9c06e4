"""Sizes by hand, one per rule and version, as ESP-NN's sources have them."""

import pytest

from tflm_sim.ops.esp_nn.dims import DataDims, Layer, in_c
from tflm_sim.ops.esp_nn.scratch_sizes import SCRATCH_SIZES
from tflm_sim.ops.reference.window import Extent
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_2022, EDGE_IMPULSE_2023, UNRELEASED, VERSIONS, versions_of

ONE, NONE = Extent(1, 1), Extent(0, 0)
SOFTMAX_OF_10 = {"ansi": 0, "opt": 40, "esp32s3": 40, "esp32p4": 40}
EDGE_IMPULSE = (EDGE_IMPULSE_2023, EDGE_IMPULSE_2022)
VERSION_LIST = [version for version in SCRATCH_SIZES if version != UNRELEASED]


def conv(version, chip, image, window, result, *, stride=ONE, padding=NONE):
    size = SCRATCH_SIZES[version][chip].esp_nn_get_conv_scratch_size
    return size(Layer(DataDims(*image), DataDims(*window), DataDims(*result), stride, padding))


def depthwise(version, chip, image, window, result, *, stride=ONE, padding=NONE, ch_mult=1):
    size = SCRATCH_SIZES[version][chip].esp_nn_get_depthwise_conv_scratch_size
    return size(Layer(DataDims(*image), DataDims(*window), DataDims(*result), stride, padding, ch_mult))


def test_every_version_that_can_be_asked_for_has_a_row():
    assert {*(row.name for row in VERSIONS["esp_nn"] if row.variants), *EDGE_IMPULSE} == set(SCRATCH_SIZES)


@pytest.mark.parametrize("chip", ["ansi", "opt", "esp32s3", "esp32p4"])
def test_a_chip_has_the_versions_whose_size_functions_are_at_hand(chip):
    rows = [version for version, row in SCRATCH_SIZES.items() if chip in row and version not in EDGE_IMPULSE]
    assert rows == list(versions_of("esp_nn", chip))


@pytest.mark.parametrize("version", VERSION_LIST)
@pytest.mark.parametrize("chip", ["ansi", "opt"])
def test_plain_c_convolutions_work_in_place(version, chip):
    assert conv(version, chip, (8, 8, 4), (3, 3, 4), (6, 6, 5)) == 0
    assert depthwise(version, chip, (8, 8, 16), (3, 3, 16), (6, 6, 16)) == 0


@pytest.mark.parametrize("version", VERSION_LIST)
def test_softmax_keeps_the_exponentials_of_a_row_unless_it_is_ansi(version):
    sizes = {chip: row.esp_nn_get_softmax_scratch_size(10, 1) for chip, row in SCRATCH_SIZES[version].items()}
    assert sizes == {chip: size for chip, size in SOFTMAX_OF_10.items() if chip in sizes}
    assert {"ansi", "opt"} <= set(sizes)


def test_a_pointwise_convolution_realigns_filter_and_input():
    layer = (4, 4, 12), (1, 1, 12), (4, 4, 6)
    # 12 channels become 16: input 16 * 16, filter 16 * 6, eight transposed columns 2 * 8 * 16.
    copies = 256 + 96 + 256
    for version, margin in (("1.1.0", 32), ("1.2.0", 32), ("1.2.1", 32), ("1.2.3", 64)):
        assert conv(version, "esp32s3", *layer) == copies + margin
    assert conv("1.2.3", "esp32p4", (4, 4, 8), (1, 1, 8), (4, 4, 6)) == 4 * 6 + 16 * 6 + 32 + 32


def test_the_bump_of_april_2026_on_the_s3():
    # Streaming layers of wake-word models: one column, a row of 40 features, 3 steps.
    layer = (3, 1, 40), (3, 1, 40), (1, 1, 32)
    # 40 channels become 48: 3 * 48 * 32, one int32 for each of 32 channels.
    before = 4608 + 128 + 32
    assert conv("1.1.2", "esp32s3", *layer) == before
    # Rows of the filter rounded up to 48 once more: 48 * 3 * 32; no padding beyond the edges.
    assert conv("1.2.1", "esp32s3", *layer) == before + 4608
    assert conv("1.2.3", "esp32s3", *layer) == before + 4608 + 32


def test_the_s3_pads_an_input_once_since_1_2_6():
    layer = (8, 8, 16), (3, 3, 16), (8, 8, 4)
    # Filter 9 * 16 * 4, its rows 48 * 3 * 4, sums 16.
    filters = 576 + 576 + 16
    # The input padded on all sides, 10 * 10 * 16, and on the right and below as far as 8 + 3 - 1, again 10 * 10 * 16.
    assert conv("1.2.3", "esp32s3", *layer, padding=ONE) == filters + 1600 + 1600 + 64
    assert conv("1.2.6", "esp32s3", *layer, padding=ONE) == filters + 1600 + 64
    # Two columns and rows at a time: the last window ends at (4 - 1) * 2 + 3, one beyond 8 and the padding's nothing.
    far = (8, 8, 16), (3, 3, 16), (4, 4, 4)
    assert conv("1.3.1", "esp32s3", *far, stride=Extent(2, 2)) == filters + 9 * 9 * 16 + 64


def test_the_s3_copies_no_pointwise_filter_at_4982f25():
    layer = (4, 4, 12), (1, 1, 12), (4, 4, 6)
    # 12 channels become 16: eight transposed columns 2 * 8 * 16 remain of 256 + 96 + 256.
    assert conv("1.3.1", "esp32s3", *layer) == 256 + 96 + 256 + 64
    assert conv(UNRELEASED, "esp32s3", *layer) == 256 + 64
    # Of rows of 48 bytes and a plain filter of 9 * 15 the larger is copied, for four channels.
    general = (8, 8, 15), (3, 3, 15), (6, 6, 4)
    assert conv(UNRELEASED, "esp32s3", *general) == 48 * 3 * 4 + 16 + 64


def test_padding_on_one_side_alone_widens_a_depthwise_output_on_the_s3_since_1_3_0():
    layer, padding = ((49, 20, 32), (3, 3, 32), (25, 10, 32)), {"stride": Extent(2, 2), "padding": Extent(1, 0)}
    # Filter 288; input (49 + 2) * (20 + 0) * 32, which fits 40 KiB.
    assert depthwise("1.2.9", "esp32s3", *layer, **padding) == 288 + 51 * 20 * 32 + 16
    # Filter 288; input (49 + 2 + 3) * (20 + 2) * 32, output 25 * 10 * 32.
    assert depthwise("1.3.0", "esp32s3", *layer, **padding) == 288 + 54 * 22 * 32 + 8000 + 64


def test_a_narrow_filter_is_copied_by_columns_since_1_2_1():
    layer = (8, 8, 3), (3, 3, 3), (6, 6, 5)
    # A window of 27 becomes 32: sums 20, two gaps of 16, 5 filters, 1 column.
    assert conv("1.2.1", "esp32s3", *layer) == 20 + 16 + 5 * 32 + 16 + 32 + 32
    assert conv("1.2.0", "esp32s3", *layer) == 9 * 16 * 5 + 32 + 20


def test_the_p4_tiles_what_does_not_fit_its_cache_since_1_2_3():
    layer = (256, 256, 1), (3, 3, 1), (256, 256, 4)
    padded = {"padding": ONE}
    # 258 * 258 input bytes before; 9 * 16 * 4 filter bytes, 4 sums.
    assert conv("1.2.2", "esp32p4", *layer, **padded) == 258 * 258 + 576 + 16 + 32
    # Rows of 258 * 16: budget 32768 - 16 - 576, three rows for the first output, one for each further: 5 outputs.
    rows = (32768 - 16 - 576 - 3 * 4128) // 4128 + 1
    assert rows == 5
    assert conv("1.2.3", "esp32p4", *layer, **padded) == (rows - 1 + 3 + 2) * 4128 + 576 + 16 + 32


def test_edge_impulses_copy_of_2022_holds_filter_and_image_as_int16_on_the_s3():
    version, chip = EDGE_IMPULSE_2022, "esp32s3"
    assert conv(version, chip, (8, 8, 4), (3, 3, 4), (6, 6, 5)) == 2 * (3 * 3 * 4 * 5 + 8 * 8 * 4) + 2 * 8 * 4 + 32
    assert conv(version, chip, (7, 1, 4), (3, 1, 4), (5, 1, 5)) == 2 * (3 * 4 * 5 + 7 * 4) + 0 + 32
    assert conv(version, chip, (8, 8, 16), (1, 1, 16), (8, 8, 5)) == 16 * 5 + 2 * 8 * 16 + 32
    assert conv(version, chip, (8, 8, 4), (1, 1, 4), (8, 8, 5)) == 2 * (4 * 5 + 8 * 8 * 4) + 2 * 8 * 4 + 32


def test_depthwise_on_the_s3_pads_its_input():
    layer = (8, 8, 16), (3, 3, 16), (8, 8, 16)
    for version in (*EDGE_IMPULSE, *versions_of("esp_nn", "esp32s3")):
        assert depthwise(version, "esp32s3", *layer, padding=ONE) == 144 + 10 * 10 * 16 + 16


def test_depthwise_on_the_s3_aligns_its_int16_copies_by_16_more_since_1_2_0():
    layer = (8, 8, 8), (3, 3, 8), (6, 6, 8)
    copies = 2 * (72 + 512)
    sizes = [depthwise(version, "esp32s3", *layer) for version in ("1.1.2", "1.2.0", "1.2.3")]
    assert sizes == [copies + 16, copies + 32, copies + 32]


def test_depthwise_on_the_s3_covers_other_windows_since_1_2_1():
    layer = (8, 8, 8), (5, 5, 8), (4, 4, 8)
    assert depthwise("1.2.0", "esp32s3", *layer) == 32
    assert depthwise("1.2.1", "esp32s3", *layer) == 2 * (200 + 512) + 32
    # 64 * 64 * 8 elements as int16 are more than 48 KiB: five rows at a time.
    large = (64, 64, 8), (5, 5, 8), (60, 60, 8)
    assert depthwise("1.2.1", "esp32s3", *large) == 2 * 200 + 2 * 64 * 5 * 8 + 32


def test_depthwise_on_the_s3_widens_channels_since_1_2_1():
    # 6 channels become 8: filter 144 B, input 1024 B, output 288 B, three int32 per channel.
    assert depthwise("1.2.1", "esp32s3", (8, 8, 6), (3, 3, 6), (6, 6, 6)) == 144 + 1024 + 288 + 96 + 16
    # 24 channels become 32: 9 filter rows, 8 * 8 inputs, 6 * 6 outputs.
    assert depthwise("1.2.1", "esp32s3", (8, 8, 24), (3, 3, 24), (6, 6, 24)) == (9 + 64 + 36) * 32 + 64


def test_depthwise_on_the_s3_takes_a_multiplier_of_4_as_int16():
    assert depthwise("1.1.0", "esp32s3", (4, 4, 3), (3, 3, 12), (2, 2, 12), ch_mult=4) == 2 * (108 + 48) + 16


def test_dimensions_are_cut_to_16_bits():
    # 65536 + 4 columns are 4, so that 4 * 4 * 12 are copied; plain C reads the same numbers and asks for nothing.
    assert conv("1.2.3", "esp32s3", (4, 65540, 12), (1, 1, 12), (4, 65540, 6)) == conv(
        "1.2.3", "esp32s3", (4, 4, 12), (1, 1, 12), (4, 4, 6)
    )
    # The far padding of a general convolution is computed from the output's 32-bit width: 65537 + 2 - 3.
    wide = conv("1.2.1", "esp32s3", (3, 65539, 16), (3, 3, 16), (1, 65537, 6))
    assert wide - conv("1.2.1", "esp32s3", (3, 3, 16), (3, 3, 16), (1, 1, 6)) == (3 + 65536) * 3 * 16
    assert depthwise("1.2.1", "esp32s3", (8, 65544, 16), (3, 3, 16), (8, 65544, 16)) == depthwise(
        "1.2.1", "esp32s3", (8, 8, 16), (3, 3, 16), (8, 8, 16)
    )


def test_sizes_wrap_at_32_bits():
    # 2^16 * 2^16 is 0, which asks for the margin alone... and a size below 0 for nothing.
    assert conv("1.1.2", "esp32s3", (1, 1, 65528), (1, 1, 65528), (1, 1, 65528)) == 65528 * 65528 + 32 - 2**32


@pytest.mark.parametrize(("width", "read"), [(65_535, 65_535), (65_536, 0), (65_537, 1)])
def test_dimensions_are_read_into_16_bits(width, read):
    size = in_c(lambda layer: layer.image.width + layer.result.width, keeps_extent=False)
    assert size(Layer(DataDims(1, width, 1), DataDims(1, 1, 1), DataDims(1, width, 1), ONE, NONE)) == 2 * read


def test_a_convolutions_output_is_read_in_full():
    size = in_c(lambda layer: layer.image.width + layer.result.width, keeps_extent=True)
    layer = Layer(DataDims(1, 65_536, 1), DataDims(1, 1, 1), DataDims(1, 65_536, 1), ONE, NONE)
    assert size(layer) == 0 + 65_536
