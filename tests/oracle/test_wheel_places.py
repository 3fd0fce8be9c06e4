"""Every check of a Prepare or an Init that the wheel prints stands in our table, in its file and at its line."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from upstream.places import said
from upstream.printed_checks import Wheel

from tflm_sim.ops import places
from tflm_sim.ops.places import full_place, version_at
from tflm_sim.targets.changes import UPSTREAM
from tflm_sim.targets.presets import preset

NOT_MODELLED = {
    "tensorflow/lite/micro/kernels/kernel_util.cc",  # What it checks beside what TFLite's kernel_util.cc did holds.
    "tensorflow/lite/micro/memory_helpers.cc",
}


def test_the_lines_of_the_wheels_checks_are_ours() -> None:
    package = importlib.util.find_spec("tflite_micro")
    if package is None or package.origin is None:
        pytest.skip("tflite_micro is not installed")
    printed = {
        (one.file, one.line, one.text)
        for one in Wheel(Path(package.origin).parent / "python/tflite_micro/_runtime.so").checks()
    }
    position = preset("x86_64-pip").runtime.position(UPSTREAM)
    ours = set()
    for file, versions in places._table()[UPSTREAM].items():
        version = version_at(versions, position)
        place = full_place(version.file or file)
        ours |= {(place, line, said(key)) for key, line in version.lines.items()}
    assert len(printed) > 800
    assert sorted(check for check in printed - ours if check[0] not in NOT_MODELLED) == []
