"""Sizes by hand, one per rule and version, as ESP-NN's sources have them."""

import pytest

from tflm_sim.ops.esp_nn.dims import DataDims, Layer, in_c
from tflm_sim.ops.esp_nn.scratch_sizes import SCRATCH_SIZES
from tflm_sim.ops.reference.window import Extent
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_2022, EDGE_IMPULSE_2023, VERSIONS, versions_of

ONE, NONE = Extent(1, 1), Extent(0, 0)
SOFTMAX_OF_10 = {"ansi": 0, "opt": 40, "esp32s3": 40, "esp32p4": 40}
EDGE_IMPULSE = (EDGE_IMPULSE_2023, EDGE_IMPULSE_2022)
UNRELEASED = {row.name for row in VERSIONS["esp_nn"] if not row.is_release}
VERSION_LIST = [version for version in SCRATCH_SIZES if version not in UNRELEASED]


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
    assert conv("4982f25", "esp32s3", *layer) == 256 + 64
    # Of rows of 48 bytes and a plain filter of 9 * 15 the larger is copied, for four channels.
    general = (8, 8, 15), (3, 3, 15), (6, 6, 4)
    assert conv("4982f25", "esp32s3", *general) == 48 * 3 * 4 + 16 + 64


def test_the_s3_copies_a_window_of_3x3_with_its_filter_at_1017042():
    layer = (10, 10, 16), (3, 3, 16), (8, 8, 16)
    # A window of 9 * 16, as long a row for each of 16 results, 16 sums.
    assert conv("1017042", "esp32s3", *layer) == 17 * 144 + 64 + 32
    # Fewer than 16 results: the larger of two copies of the filter, as before.
    few = (10, 10, 16), (3, 3, 16), (8, 8, 8)
    assert conv("1017042", "esp32s3", *few) == conv("4982f25", "esp32s3", *few) == 48 * 3 * 8 + 32 + 64


def test_the_s3_works_through_a_large_pointwise_filter_in_panels_at_1017042():
    small = (4, 4, 64), (1, 1, 64), (4, 4, 384)
    # 64 * 384 bytes are just 24 KiB: columns and tails of 24 * 64, two int32 for each result.
    assert conv("1017042", "esp32s3", *small) == 24 * 64 + 8 * 384 + 64
    assert conv("1017042", "esp32s3", (4, 4, 64), (1, 1, 64), (4, 4, 385)) == 24 * 64 + 16 * 1024 + 64


def test_the_s3_stages_sixteen_windows_of_3x3_at_25cae54():
    layer = (6, 6, 16), (3, 3, 16), (4, 4, 16)
    assert conv("25cae54", "esp32s3", *layer) == 16 * 144 + (24 * 144 + 16 * 1024 + 64) + 32
    # Fifteen results of a channel: a window at a time.
    less = (5, 7, 16), (3, 3, 16), (3, 5, 16)
    assert conv("25cae54", "esp32s3", *less) == conv("1017042", "esp32s3", *less)


def test_groups_are_convolved_one_by_one_at_25cae54_and_fa9f698():
    grouped = (8, 8, 32), (3, 3, 8), (6, 6, 32)
    one = (8, 8, 8), (3, 3, 8), (6, 6, 8)
    for version, chip in (("25cae54", "esp32s3"), ("fa9f698", "esp32p4")):
        # Four groups: what one asks for, its input, its output.
        assert conv(version, chip, *grouped) == conv(version, chip, *one) + 8 * 8 * 8 + 6 * 6 * 8 + 64
        # Filters of which no whole number divides the input, or the output, are no groups.
        for image, result in ((30, 32), (32, 30)):
            odd = (8, 8, image), (3, 3, 8), (6, 6, result)
            assert conv(version, chip, *odd) == conv(version, chip, odd[0], (3, 3, image), odd[2])


def test_the_p4_stages_sixteen_windows_at_fa9f698():
    layer = (8, 8, 4), (3, 3, 4), (6, 6, 5)
    assert conv("1.3.1", "esp32p4", *layer) == 20 + 36 + 32
    assert conv("fa9f698", "esp32p4", *layer) == 20 + 36 + 16 * 36 + 16 + 32
    # A window that is too large to be staged is copied alone: 3 * 3 * 264 is more than 2,304.
    wide = (8, 8, 264), (3, 3, 264), (8, 8, 4)
    assert conv("fa9f698", "esp32p4", *wide, padding=ONE) == 16 + 2376 + 32
    # A filter of more than 96 KiB: rows of the padded input, of which 32 KiB hold no three of 10 * 264.
    heavy = (8, 8, 264), (3, 3, 264), (8, 8, 48)
    rows = (32768 - 192 - 3 * 2640) // 2640 + 1
    assert min(rows, 8) == 8
    assert conv("fa9f698", "esp32p4", *heavy, padding=ONE) == 192 + (7 + 3) * 2640 + 32


def test_the_p4_keeps_an_int32_for_each_depthwise_channel_at_2c222c5():
    for version in ("2c222c5", "fa9f698"):
        assert depthwise(version, "esp32p4", (8, 8, 8), (3, 3, 8), (6, 6, 8)) == 4 * 8
        assert depthwise(version, "esp32p4", (8, 8, 7), (3, 3, 7), (6, 6, 7)) == 0
        assert depthwise(version, "esp32p4", (8, 8, 8), (3, 3, 16), (6, 6, 16), ch_mult=2) == 0
    assert depthwise("1.3.1", "esp32p4", (8, 8, 8), (3, 3, 8), (6, 6, 8)) == 0


def test_a_column_is_convolved_in_place_on_the_s3_at_1017042():
    layer = (384, 1, 128), (7, 1, 128), (378, 1, 128)
    # An int32 for each channel, a window, a copy of the filter.
    assert depthwise("1017042", "esp32s3", *layer) == 4 * 128 + 2 * 7 * 128 + 64
    assert depthwise("1.3.1", "esp32s3", *layer) == 2 * 7 * 128 + 2 * 7 * 128 + 32


def test_strips_of_a_depthwise_input_fill_the_budget_on_the_s3_at_1017042():
    layer, padding = ((64, 64, 16), (3, 3, 16), (64, 64, 16)), {"padding": ONE}
    # 66 * 66 * 16 bytes are more than 40 KiB: before three rows, now as many as fit beside the filter of 144.
    assert depthwise("1.3.1", "esp32s3", *layer, **padding) == 144 + 3 * 66 * 16 + 16
    assert depthwise("1017042", "esp32s3", *layer, **padding) == 144 + (40960 - 144 - 32) // 1056 * 1056 + 32
    # Widened channels have widened scales, too: three int32 for each of 32.
    wide = (8, 8, 24), (3, 3, 24), (6, 6, 24)
    assert depthwise("1017042", "esp32s3", *wide) == depthwise("1.3.1", "esp32s3", *wide) + 3 * 4 * 32


def test_the_s3_pads_a_depthwise_input_as_far_as_windows_read_at_25cae54():
    layer, padding = ((49, 20, 32), (3, 3, 32), (25, 10, 32)), {"stride": Extent(2, 2), "padding": Extent(1, 0)}
    # Filter 288; (25 - 1) * 2 + 3 rows of (10 - 1) * 2 + 3.
    assert depthwise("25cae54", "esp32s3", *layer, **padding) == 288 + 51 * 21 * 32 + 16
    assert depthwise("25cae54", "esp32s3", (8, 8, 16), (3, 3, 16), (6, 6, 16)) == 144 + 16


def test_softmax_looks_up_its_exponentials_at_25cae54_and_fa9f698():
    for version, chip in (("25cae54", "esp32s3"), ("fa9f698", "esp32p4")):
        size = SCRATCH_SIZES[version][chip].esp_nn_get_softmax_scratch_size
        assert size(10, 1) == size(1001, 1) == 2 * 256 * 4 + 16
    for version, chip in (("1017042", "esp32s3"), ("2c222c5", "esp32p4")):
        assert SCRATCH_SIZES[version][chip].esp_nn_get_softmax_scratch_size(10, 1) == 40


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
