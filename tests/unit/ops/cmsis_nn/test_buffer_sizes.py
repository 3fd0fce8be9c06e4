"""Sizes by hand, one per rule; tests/oracle compares them all with CMSIS-NN itself."""

import pytest

from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Tile, TransposeConvParams

NEW, BEFORE, OLD = BUFFER_SIZES["4ab83cc"], BUFFER_SIZES["v7.0.0"], BUFFER_SIZES["e98ee09"]
ONE, NONE = Tile(1, 1), Tile(0, 0)
UNPADDED = ConvParams(ONE, NONE, ONE)


def dims(h: int, w: int, c: int, n: int = 1) -> Dims:
    return Dims(n, h, w, c)


@pytest.mark.parametrize(
    ("isa", "size"),
    [
        ("scalar", 2 * 28 * 2),  # two int16 columns of 3 * 3 * 3 = 27 rounded up to 4
        ("dsp", 2 * 28 * 2),
        ("mve", 4 * 32),  # four int8 columns rounded up to 16
    ],
)
def test_a_3x3_convolution_copies_columns(isa, size):
    layer = UNPADDED, dims(8, 8, 3), dims(3, 3, 3), dims(6, 6, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size(isa, *layer) == size


@pytest.mark.parametrize("stride", [ONE, Tile(2, 2)])
@pytest.mark.parametrize("isa", ["scalar", "dsp", "mve"])
def test_a_pointwise_convolution_needs_nothing(isa, stride):
    layer = ConvParams(stride, NONE, ONE), dims(8, 8, 3), dims(1, 1, 3), dims(8, 8, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size(isa, *layer) == 0


def test_groups_were_overlooked_before_c01c0a1():
    grouped = UNPADDED, dims(8, 8, 8), dims(1, 1, 4), dims(8, 8, 5)
    assert BEFORE.arm_convolve_wrapper_s8_get_buffer_size("dsp", *grouped) == 0
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size("dsp", *grouped) == 2 * 8 * 2


def test_four_bit_weights_on_mve_asked_for_what_int8_does_before_c01c0a1():
    # One row of 10 with a window of 3: no padding, so today's kernel copies nothing.
    row = UNPADDED, dims(1, 10, 4), dims(1, 3, 4), dims(1, 8, 5)
    assert BEFORE.arm_convolve_wrapper_s4_get_buffer_size("mve", *row) == 3 * 4
    assert NEW.arm_convolve_wrapper_s4_get_buffer_size("mve", *row) == 0
    assert BEFORE.arm_convolve_wrapper_s4_get_buffer_size("dsp", *row) == 2 * 12 * 2


def test_one_row_on_mve_copies_its_padded_ends():
    # Window 3, padding 1 on both sides, 4 channels: 3 * 4 + 1 * 4.
    row = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 10, 4), dims(1, 3, 4), dims(1, 10, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size("mve", *row) == 16
    # Window 4: of the padding of 3, 1 is on the left and 2 on the right, which two outputs read: 3 * 4 + 2 * 4.
    uneven = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 8, 4), dims(1, 4, 4), dims(1, 8, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size("mve", *uneven) == 20
    # A row so short that one output reads both ends: im2col, 4 columns of 3 * 4 rounded up to 16.
    short = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 1, 4), dims(1, 3, 4), dims(1, 1, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size("mve", *short) == 4 * 16


def depthwise(isa, sizes, channels, window, *, padding=ONE, outputs=None):
    outputs = outputs or channels
    layer = DwConvParams(1, ONE, padding, ONE), dims(8, 8, channels), dims(*window, outputs), dims(8, 8, outputs)
    return sizes.arm_depthwise_conv_wrapper_s8_get_buffer_size(isa, *layer)


def test_a_3x3_depthwise_convolution_needs_nothing_without_mve():
    assert depthwise("dsp", NEW, 64, (3, 3)) == 0
    assert depthwise("dsp", NEW, 64, (3, 3), padding=Tile(2, 2)) == 64 * 9 * 2
    assert depthwise("dsp", NEW, 64, (5, 3)) == 64 * 15 * 2
    assert depthwise("scalar", NEW, 64, (5, 3)) == 0
    assert depthwise("mve", NEW, 64, (3, 3)) == 4 * 124 * 9


def test_a_3x3_depthwise_convolution_needed_columns_in_2022():
    assert depthwise("dsp", OLD, 64, (3, 3)) == 64 * 9 * 2


def test_one_input_channel_runs_as_a_convolution_on_mve():
    # im2col of 3 * 3: 4 columns of 16, and the filter transposed: 9 * 8.
    assert depthwise("mve", NEW, 1, (3, 3), outputs=8) == 4 * 16 + 72
    assert depthwise("dsp", NEW, 1, (3, 3), outputs=8) == 0


def test_a_transposed_convolution_with_many_channels_is_a_reversed_one():
    layer = TransposeConvParams(Tile(2, 2)), dims(4, 4, 17), dims(3, 3, 17, n=5)
    # 3 * 3 * 17 = 153, rounded up to 156; two int16 columns.
    assert NEW.arm_transpose_conv_s8_get_buffer_size("dsp", *layer, dims(8, 8, 5)) == 2 * 156 * 2
    assert NEW.arm_transpose_conv_s8_get_reverse_conv_buffer_size(*layer) == 153 * 5


def test_a_transposed_convolution_with_few_channels_sums_rows():
    layer = TransposeConvParams(Tile(2, 2)), dims(4, 4, 16), dims(3, 3, 16, n=5)
    # (3 * 2 + 3) * 5 sums in each of 3 rows.
    assert NEW.arm_transpose_conv_s8_get_buffer_size("dsp", *layer, dims(8, 8, 5)) == 45 * 3 * 4
    assert NEW.arm_transpose_conv_s8_get_reverse_conv_buffer_size(*layer) == 0


def test_kernel_sums_are_kept_on_mve_since_58f1770():
    window = Dims(32, 1, 1, 10)
    assert NEW.arm_fully_connected_s8_get_buffer_size("mve", window) == 10 * 4
    assert NEW.arm_fully_connected_s8_get_buffer_size("dsp", window) == 0
    assert OLD.arm_fully_connected_s8_get_buffer_size("mve", window) == 0
    assert NEW.arm_svdf_s8_get_buffer_size("mve", Dims(24, 16, 1, 1)) == 24 * 4


def test_average_pooling_sums_on_dsp_only():
    sizes = [NEW.arm_avgpool_s8_get_buffer_size(isa, 5, 64) for isa in ("scalar", "dsp", "mve")]
    assert sizes == [0, 64 * 4, 0]


def test_average_pooling_of_int16_sums_on_dsp_only():
    sizes = [NEW.arm_avgpool_s16_get_buffer_size(isa, 5, 64) for isa in ("scalar", "dsp", "mve")]
    assert sizes == [0, 64 * 4, 0]


def test_a_depthwise_convolution_with_four_bit_weights_copies_columns_on_scalar_cores_too():
    layer = DwConvParams(1, ONE, ONE, ONE), dims(8, 8, 64), dims(3, 3, 64), dims(8, 8, 64)
    sizes = [NEW.arm_depthwise_conv_wrapper_s4_get_buffer_size(isa, *layer) for isa in ("scalar", "dsp", "mve")]
    assert sizes == [64 * 9 * 2, 64 * 9 * 2, 4 * 124 * 9]
    doubled = DwConvParams(2, ONE, ONE, ONE), dims(8, 8, 64), dims(3, 3, 128), dims(8, 8, 128)
    assert NEW.arm_depthwise_conv_wrapper_s4_get_buffer_size("dsp", *doubled) == 0


def depthwise_int16(isa, window, *, ch_mult=1, dilation=ONE):
    layer = DwConvParams(ch_mult, ONE, NONE, dilation), dims(80, 80, 4), dims(*window, 4), dims(8, 8, 4)
    return NEW.arm_depthwise_conv_wrapper_s16_get_buffer_size(isa, *layer)


def test_a_depthwise_convolution_of_int16_is_fast_below_512_products():
    # 4 channels, 3 * 3, two bytes; MVE has four columns and 8 bytes for what it reads past them.
    assert [depthwise_int16(isa, (3, 3)) for isa in ("scalar", "dsp", "mve")] == [0, 72, 4 * 72 + 8]
    assert depthwise_int16("dsp", (7, 73)) == 4 * 511 * 2
    assert depthwise_int16("dsp", (8, 64)) == 0
    assert depthwise_int16("dsp", (3, 3), ch_mult=2) == 0
    assert depthwise_int16("dsp", (3, 3), dilation=Tile(2, 1)) == 0
    assert depthwise_int16("dsp", (3, 3), dilation=Tile(1, 2)) == 0


def test_rows_of_a_transposed_convolution_are_as_wide_and_as_many_as_the_vertical_stride():
    layer = dims(4, 4, 16), dims(3, 3, 16, n=5), dims(20, 4, 5)
    # Stride 5 down: (3 * 1 + 5) * 5 sums in each of 5 rows; 5 across: (3 * 5 + 3) * 5 in each of 3.
    down, across = TransposeConvParams(Tile(5, 1)), TransposeConvParams(Tile(1, 5))
    assert NEW.arm_transpose_conv_s8_get_buffer_size("dsp", down, *layer) == 8 * 5 * 5 * 4
    assert NEW.arm_transpose_conv_s8_get_buffer_size("dsp", across, *layer) == 18 * 5 * 3 * 4


def test_one_row_in_2022_needed_nothing_on_mve_when_its_outputs_came_in_fours():
    def row(isa, *, height=1, outputs=8, stride=ONE, window=3):
        layer = ConvParams(stride, NONE, ONE), dims(height, 10, 4), dims(1, window, 4), dims(height, outputs, 5)
        return OLD.arm_convolve_wrapper_s8_get_buffer_size(isa, *layer)

    # 3 * 4 = 12 rounded up to 8, four times; two int16 columns without rounding on the others.
    assert [row(isa) for isa in ("scalar", "dsp", "mve")] == [48, 48, 0]
    assert row("mve", outputs=9) == row("mve", outputs=10) == 4 * 16
    assert row("mve", height=2) == 4 * 16
    assert row("dsp", window=1) == 0
    assert row("dsp", window=1, stride=Tile(2, 2)) == 2 * 4 * 2


def test_a_convolution_of_int16_in_2022_copied_columns_on_dsp_only():
    def size(isa, window, *, dilation=ONE):
        layer = ConvParams(ONE, NONE, dilation), dims(80, 80, 1), dims(*window, 1), dims(8, 8, 5)
        return OLD.arm_convolve_wrapper_s16_get_buffer_size(isa, *layer)

    assert [size(isa, (7, 73)) for isa in ("scalar", "dsp", "mve")] == [0, 2 * 511 * 2, 0]
    assert size("dsp", (8, 64)) == 0
    assert size("dsp", (3, 3), dilation=Tile(1, 2)) == 0


def test_the_odd_column_of_padding_is_the_right_one():
    # Two outputs, a window of 4 over 2 columns: 1 of padding left, 2 right. Both outputs read right padding and one
    # the left, so that the ends overlap: im2col of 4 * 4 = 16, four columns.
    row = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 2, 4), dims(1, 4, 4), dims(1, 2, 5)
    assert NEW.arm_convolve_wrapper_s8_get_buffer_size("mve", *row) == 4 * 16


ROW = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 8, 4), dims(1, 3, 4), dims(1, 8, 5)
NARROW = ConvParams(ONE, Tile(0, 1), ONE), dims(1, 1, 4), dims(1, 3, 4), dims(1, 1, 5)
ODD = ConvParams(ONE, NONE, ONE), dims(8, 8, 3), dims(3, 3, 3), dims(6, 6, 5)


@pytest.mark.parametrize(
    ("version", "row", "narrow", "odd", "odd_on_dsp"),
    [
        # 4 columns of 3 * 4 = 12 and of 3 * 3 * 3 = 27, rounded up to whole vectors: 4 * 16 and 4 * 32.
        ("e98ee09", 0, 64, 128, 2 * 27 * 2),  # a row of 8 outputs is computed in fours, a row of one is not
        ("dc64e48", 0, 0, 128, 2 * 27 * 2),  # the step of 4 channels is a whole word
        ("58f1770", 0, 0, 128, 2 * 28 * 2),
        ("6cc31fb", 0, 64, 128, 2 * 28 * 2),  # the one output reads both padded ends
        ("8492d82", 3 * 4 + 4, 64, 128, 2 * 28 * 2),  # an end and its padding are copied
    ],
)
def test_convolutions_by_version(version, row, narrow, odd, odd_on_dsp):
    size_of = BUFFER_SIZES[version].arm_convolve_wrapper_s8_get_buffer_size
    assert [size_of("mve", *layer) for layer in (ROW, NARROW, ODD)] == [row, narrow, odd]
    assert size_of("dsp", *ODD) == odd_on_dsp


def test_a_pointwise_convolution_with_steps_was_none_in_2022():
    steps = ConvParams(Tile(2, 2), NONE, ONE), dims(8, 8, 3), dims(1, 1, 3), dims(4, 4, 5)
    assert OLD.arm_convolve_wrapper_s8_get_buffer_size("dsp", *steps) == 2 * 3 * 2
    assert BUFFER_SIZES["d071e9f"].arm_convolve_wrapper_s8_get_buffer_size("dsp", *steps) == 0


def test_four_bit_weights_came_to_mve_in_april_2024():
    at = BUFFER_SIZES
    assert at["8492d82"].arm_convolve_wrapper_s4_get_buffer_size("mve", *ODD) == 2 * 27 * 2
    assert at["15dbe7c"].arm_convolve_wrapper_s4_get_buffer_size("mve", *ODD) == 4 * 32
    layer = DwConvParams(1, ONE, ONE, ONE), dims(8, 8, 64), dims(3, 3, 64), dims(8, 8, 64)
    assert at["15dbe7c"].arm_depthwise_conv_wrapper_s4_get_buffer_size("mve", *layer) == 64 * 9 * 2
    assert at["01dee38"].arm_depthwise_conv_wrapper_s4_get_buffer_size("mve", *layer) == 4 * 124 * 9


def test_what_november_2024_brought():
    at = BUFFER_SIZES
    assert depthwise("mve", at["f2cb41c"], 1, (3, 3), outputs=8) == 0
    assert depthwise("mve", at["22080c6"], 1, (3, 3), outputs=8) == 4 * 16 + 72
    layer = TransposeConvParams(Tile(2, 2)), dims(4, 5, 17), dims(3, 2, 17, n=7)
    # Every product of a window of 3 * 2 with 4 * 5 inputs, for 7 channels.
    assert at["f2cb41c"].arm_transpose_conv_s8_get_buffer_size("dsp", *layer, dims(8, 10, 7)) == 6 * 20 * 7 * 4


def test_int16_convolutions_were_fast_for_few_products_only():
    window = UNPADDED, dims(8, 8, 32), dims(4, 4, 32), dims(5, 5, 5)  # 512 products
    assert BUFFER_SIZES["6cc31fb"].arm_convolve_wrapper_s16_get_buffer_size("dsp", *window) == 0
    assert BUFFER_SIZES["8492d82"].arm_convolve_wrapper_s16_get_buffer_size("dsp", *window) == 2 * 512 * 2


@pytest.mark.parametrize(
    ("version", "scalar", "dsp", "mve"),
    [
        # Columns of 3 * 3 * 3 = 27 elements: two of int16, or four of 32 bytes (whole vectors).
        ("0d7e4fa", 0, 2 * 27 * 2, 2 * 27 * 2),
        ("bff2857", 0, 2 * 27 * 2, 4 * 32),
        ("977abe9", 2 * 27 * 2, 2 * 27 * 2, 4 * 32),
    ],
)
def test_convolutions_in_cmsis_5(version, scalar, dsp, mve):
    size_of = BUFFER_SIZES[version].arm_convolve_wrapper_s8_get_buffer_size
    assert [size_of(isa, *ODD) for isa in ("scalar", "dsp", "mve")] == [scalar, dsp, mve]
    assert size_of("mve", *ROW) == 0


def test_a_pointwise_convolution_wanted_channels_in_fours_until_october_2022():
    layer = UNPADDED, dims(8, 8, 6), dims(1, 1, 6), dims(8, 8, 5)
    assert BUFFER_SIZES["6a18a74"].arm_convolve_wrapper_s8_get_buffer_size("dsp", *layer) == 2 * 6 * 2
    assert OLD.arm_convolve_wrapper_s8_get_buffer_size("dsp", *layer) == 0


def test_depthwise_convolutions_in_cmsis_5():
    def size(version, isa, *, batches=1, dilation=ONE):
        layer = DwConvParams(1, ONE, ONE, dilation), dims(8, 8, 64, n=batches), dims(3, 3, 64)
        size_of = BUFFER_SIZES[version].arm_depthwise_conv_wrapper_s8_get_buffer_size
        return size_of(isa, *layer, dims(8, 8, 64, n=batches))

    column = 64 * 3 * 3
    assert [size("6a18a74", isa) for isa in ("scalar", "dsp", "mve")] == [0, column * 2, 2 * column * 2 + 4]
    assert [size(version, "dsp", batches=2) for version in ("59d6249", "c43379b")] == [column * 2, 0]
    assert [size(version, "dsp", dilation=Tile(2, 2)) for version in ("bff2857", "977abe9")] == [column * 2, 0]
