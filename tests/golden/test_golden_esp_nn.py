"""Models of ../shared/golden_esp_nn: real builds of esp-tflite-micro with ESP-NN, and of Chirale_TensorFLowLite.

Three builds whole, of each other one every fifth model; ``tools/golden_report.py`` compares them all.
"""

import pytest
from truth.golden import PACKED, Golden, differences, golden_files

WHOLE = ("et-1.4.0-1.2.3-esp32s3", "et-1.3.3.1-1.2.1-esp32s3", "chirale-2.0.0")
CASES = [
    pytest.param(golden, id=f"{name}-{golden.path.stem}")
    for name in PACKED
    for golden in golden_files(name)[:: 1 if name in WHOLE else 5]
]


@pytest.mark.slow
@pytest.mark.parametrize("golden", CASES)
def test_the_simulation_is_exact(golden: Golden) -> None:
    assert differences(golden) == []
