"""Models of ../shared/golden_esp_nn: real builds of esp-tflite-micro with ESP-NN, and of Chirale_TensorFLowLite.

Three builds whole, of each other one every fifth model; ``tools/golden_report.py`` compares them all.
"""

import pytest
from truth.golden import PACKED, differences, golden_files

WHOLE = ("et-1.4.0-1.2.3-esp32s3", "et-1.3.3.1-1.2.1-esp32s3", "chirale-2.0.0")


@pytest.mark.shared("golden_esp_nn")
@pytest.mark.parametrize("build", PACKED)
def test_the_simulation_of_every_model_is_exact(build: str) -> None:
    models = golden_files(build)[:: 1 if build in WHOLE else 5]
    assert models
    assert {golden.path.stem: found for golden in models if (found := differences(golden))} == {}
