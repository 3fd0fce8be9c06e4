"""Which tensors may be compressed."""

from __future__ import annotations

import pytest

from tflm_sim.device.compression import _bad_axis
from tflm_sim.model.types import Quantization


@pytest.mark.parametrize(("scale", "axis"), [((0.5,), 1), ((0.5, 0.5), 0), ((0.5, 0.5), 2), ((0.5,), -1)])
def test_channels_run_along_the_first_or_last_axis_and_one_scale_has_none(scale: tuple[float, ...], axis: int) -> None:
    assert _bad_axis(Quantization(scale, (), axis), 3) is None


@pytest.mark.parametrize(("axis", "printed"), [(1, "1"), (-1, "4294967295")])
def test_channels_along_another_axis_are_refused_with_its_number_as_the_device_prints_it(
    axis: int, printed: str
) -> None:
    quantization = Quantization((0.5, 0.5), (), axis)
    assert _bad_axis(quantization, 3) == f"Compression: unsupported quantization axis {printed}"
