"""Sizes as people read them."""

from __future__ import annotations

import math

import pytest

from tflm_sim.units import align_down, align_up, float32, format_size, format_time, int32


@pytest.mark.parametrize(
    ("value", "alignment", "down", "up"),
    [
        (0, 16, 0, 0),
        (1, 16, 0, 16),
        (15, 16, 0, 16),
        (16, 16, 16, 16),
        (17, 16, 16, 32),
        (50, 12, 48, 60),
        (7, 1, 7, 7),
    ],
)
def test_an_address_is_moved_to_a_multiple(value: int, alignment: int, down: int, up: int) -> None:
    assert (align_down(value, alignment), align_up(value, alignment)) == (down, up)


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (0, 0),
        (-1, -1),
        (2_147_483_647, 2_147_483_647),
        (2_147_483_648, -2_147_483_648),
        (-2_147_483_648, -2_147_483_648),
        (-2_147_483_649, 2_147_483_647),
        (4_294_967_295, -1),
        (4_294_967_296, 0),
        (4_294_967_297, 1),
    ],
)
def test_an_int_of_32_bits_wraps_around(value: int, held: int) -> None:
    assert int32(value) == held


def test_a_float_of_32_bits_has_24_of_them_and_beyond_its_range_it_is_infinite() -> None:
    assert float32(2**24 + 1) == 2**24
    assert float32(0.5) == 0.5
    assert (float32(1e39), float32(-1e39)) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 us"),
        (0.000_042, "42 us"),
        (0.000_999, "999 us"),
        (0.001, "1.0 ms"),
        (0.0015, "1.5 ms"),
        (0.999, "999.0 ms"),
        (1, "1.0 s"),
        (3, "3.0 s"),
        (1234.5, "1,234.5 s"),
    ],
)
def test_a_time_is_told_in_the_unit_that_suits_it(seconds: float, shown: str) -> None:
    assert format_time(seconds) == shown


def test_from_ten_kibibytes_on_the_kibibytes_are_named() -> None:
    assert format_size(10 * 1024 - 1) == "10,239 B"
    assert format_size(10 * 1024) == "10,240 B (10.0 KiB)"
    assert format_size(1 - 10 * 1024) == "-10,239 B"
    assert format_size(-10 * 1024) == "-10,240 B (-10.0 KiB)"


def test_from_a_mebibyte_on_the_mebibytes_are_named() -> None:
    assert format_size(1024**2 - 1) == "1,048,575 B (1,024.0 KiB)"
    assert format_size(1024**2) == "1,048,576 B (1.0 MiB)"
    assert format_size(5 * 1024 * 1024 // 2) == "2,621,440 B (2.5 MiB)"
    assert format_size(-(1024**2)) == "-1,048,576 B (-1.0 MiB)"
