"""What the MVP takes: each limit where one step more is refused.

Arrays have 1,024 elements a dimension and strides of 2,047; programs 8 loops of 1,024 rounds and 8 instructions. The
functions were compared with those of gecko_sdk 4.4.1 itself, compiled, on 100,000 random layers, and the depthwise one
against the wheel of silabs-mltk 0.20.0 on 2,500, without a difference.
"""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.ops.mvp.depthwise import takes_depthwise_conv
from tflm_sim.ops.mvp.program import Axis, MvpLayer
from tflm_sim.ops.mvp.supported import (
    takes_average_pool,
    takes_conv,
    takes_fully_connected,
    takes_max_pool,
    takes_transpose_conv,
)
from tflm_sim.ops.reference.window import Extent


def square(image: int, window: int, channels: int, outputs: int = 0, **changes: Any) -> MvpLayer:
    """Return a layer over a square image, without padding, in steps of one."""
    axis = Axis(image, window, image - window + 1, 1, 0)
    facts = {"batches": 1, "rows": axis, "columns": axis, "in_channels": channels, "is_padded": False}
    return MvpLayer(**{**facts, "out_channels": outputs or channels, **changes})


def test_a_convolution_whose_output_rows_are_too_far_apart_goes_to_cmsis_nn() -> None:
    # 32 * 63 = 2,016 elements from a row of the output to the next; 32 * 64 = 2,048.
    assert takes_conv(square(32, 1, 2, 63))
    assert not takes_conv(square(32, 1, 2, 64))


def test_two_channels_of_a_convolution_are_computed_at_a_time() -> None:
    # From one filter to the next: 3 * 3 * 227 = 2,043 elements, 3 * 3 * 229 = 2,061, and 3 * 3 * 228 / 2 = 1,026 pairs.
    assert [takes_conv(square(3, 3, channels, 8)) for channels in (227, 228, 229)] == [True, True, False]


def test_a_wide_row_is_cut_to_pieces_whatever_they_need() -> None:
    line = Axis(1, 1, 1, 1, 0)
    wide = Axis(3000, 3, 2998, 1, 0)
    assert takes_conv(square(1, 1, 1, 2000, rows=line, columns=wide))


@pytest.mark.parametrize("takes", [takes_conv, takes_depthwise_conv, takes_max_pool, takes_transpose_conv])
def test_padding_goes_with_padded_layers_only(takes: Any) -> None:
    padded = Axis(40, 3, 40, 1, 1)
    assert takes(square(40, 3, 8, rows=padded, columns=padded, is_padded=True))
    assert not takes(square(40, 3, 8, rows=padded, columns=padded))


def test_a_convolution_has_no_dilation() -> None:
    assert not takes_conv(square(8, 3, 8, dilation=Extent(2, 1)))


def test_a_depthwise_convolution_of_a_small_image_needs_rows_of_2047_pairs() -> None:
    # 16 columns of 255 channels are 4,080; of 256 channels 16 * 128 = 2,048 pairs.
    assert not takes_depthwise_conv(square(16, 3, 255))
    assert takes_depthwise_conv(square(16, 3, 254))
    assert not takes_depthwise_conv(square(16, 3, 256))


def test_a_depthwise_convolution_of_a_large_image_needs_rows_of_2047_elements() -> None:
    # 72 * 72 elements are more than 4 * 3 * 3 * 28 and than 4 * 3 * 3 * 29: the generic way. 72 * 28 = 2,016.
    assert takes_depthwise_conv(square(72, 3, 28))
    assert not takes_depthwise_conv(square(72, 3, 29))


def test_mltk_does_not_look_at_the_strides_of_a_depthwise_convolutions_input() -> None:
    # Steps of two rows: 2 * 72 * 15 = 2,160 elements of the input, 36 * 15 of the output.
    axis = Axis(72, 3, 35, 2, 0)
    layer = square(72, 3, 15, rows=axis, columns=axis)
    assert not takes_depthwise_conv(layer)
    assert takes_depthwise_conv(layer, checks_input=False)


def test_a_depthwise_convolution_of_several_images_is_not_taken_the_generic_way() -> None:
    assert takes_depthwise_conv(square(40, 3, 8))
    assert not takes_depthwise_conv(square(40, 3, 8, batches=2))


def test_a_depthwise_convolution_that_is_hardly_worth_its_programs_goes_to_cmsis_nn() -> None:
    # One product for each of 11 * 10 or 12 * 10 elements.
    column = Axis(10, 1, 10, 1, 0)
    small = [square(1, 1, 1, 2, rows=Axis(rows, 1, rows, 1, 0), columns=column) for rows in (5, 6)]
    assert [takes_depthwise_conv(layer) for layer in small] == [False, True]


def test_a_pooling_needs_rows_of_2047_pairs() -> None:
    # 4 rows of 63 * 65 elements, halved only for even channels.
    assert takes_max_pool(square(63, 2, 64))
    assert not takes_max_pool(square(64, 2, 64))
    assert not takes_max_pool(square(63, 2, 33))


def test_an_average_of_the_whole_image_is_one_program() -> None:
    whole = Axis(7, 7, 1, 1, 0)
    assert takes_average_pool(square(7, 7, 512, rows=whole, columns=whole), clips=False)
    # 7 * 600 / 2 = 2,100.
    assert not takes_average_pool(square(7, 7, 600, rows=whole, columns=whole), clips=False)


def test_a_transposed_convolution_needs_rows_of_2047_elements() -> None:
    # Images of 16 columns, outputs of 32: 32 * 63 = 2,016.
    axis = Axis(16, 2, 32, 2, 0)
    assert takes_transpose_conv(square(16, 2, 8, 63, rows=axis, columns=axis))
    assert not takes_transpose_conv(square(16, 2, 8, 64, rows=axis, columns=axis))


@pytest.mark.parametrize(
    ("depth", "units", "is_taken"),
    [
        (1023, 1024, True),
        (2048, 1024, True),
        (1023, 1025, False),
        (1025, 10, True),  # 5 * 205 rounds
        (2049, 10, True),  # 3 * 683 rounds
        (2050, 5000, True),  # 5 * 205 rounds, and units are not counted there
        (2062, 10, False),  # 1,031 is a prime
        (1369 * 37, 10, False),  # only primes up to 31 are tried
    ],
)
def test_a_fully_connected_layer_is_cut_to_two_loops(depth: int, units: int, is_taken: bool) -> None:
    assert takes_fully_connected(1, depth, units, units) is is_taken
