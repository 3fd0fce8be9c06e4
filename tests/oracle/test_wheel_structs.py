"""Every struct that the wheel allocates with a constant size has that size in our tables."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from upstream.printed_checks import Wheel
from upstream.wheel_structs import against_ours, allocations, ours


def test_the_wheels_structs_have_the_sizes_of_our_tables() -> None:
    package = importlib.util.find_spec("tflite_micro")
    if package is None or package.origin is None:
        pytest.skip("tflite_micro is not installed")
    found = allocations(Wheel(Path(package.origin).parent / "python/tflite_micro/_runtime.so"))
    lines, compared = against_ours(found, ours())
    assert lines == []
    assert compared == 64
