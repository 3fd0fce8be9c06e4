"""A library as a setting is the one that the command line takes."""

from __future__ import annotations

import pytest

from tflm_sim import smallest_arena
from tflm_sim.device.configuration import configure
from tflm_sim.errors import UsageError


def test_a_library_brings_its_tflm_and_its_kernels() -> None:
    found = smallest_arena("sample:residual", "esp32-s3", library="esp-tflite-micro@1.3.5", kernels="esp_nn@1.1.2")
    assert found.multiple_of_16 == 90528


@pytest.mark.parametrize("where", ["cortex-m4", configure("cortex-m4")])
def test_a_library_goes_with_the_name_of_a_target_alone(where: object) -> None:
    settings = {"runtime": "2023-06-15"} if where == "cortex-m4" else {}
    both = r"^`library=` already selects the version of TFLM; remove `runtime=`$"
    alone = "^library='zephyr' says which TFLM is linked; it goes with the name of a target alone$"
    with pytest.raises(UsageError, match=both if settings else alone):
        configure(where, library="zephyr", **settings)
