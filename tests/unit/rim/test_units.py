"""Sizes as people read them."""

from __future__ import annotations

from tflm_sim.units import format_size


def test_from_ten_kibibytes_on_the_kibibytes_are_named() -> None:
    assert format_size(10 * 1024 - 1) == "10,239 B"
    assert format_size(10 * 1024) == "10,240 B (10.0 KiB)"


def test_from_a_mebibyte_on_the_mebibytes_are_named() -> None:
    assert format_size(1024**2 - 1) == "1,048,575 B (1,024.0 KiB)"
    assert format_size(1024**2) == "1,048,576 B (1.0 MiB)"
