"""What proves a target: a recording where one is at hand, else what comes nearest, said in words."""

from __future__ import annotations

import pytest

from tflm_sim.targets.presets import library_target
from tflm_sim.targets.proofs import proof_in_words


@pytest.mark.parametrize(("library", "machine", "begins"), [
    ("edge-impulse", None, "Edge Impulse's SDK 1.93.20: 64-bit with reference kernels, 32-bit with CMSIS-NN"),
    ("edge-impulse", "esp32", "Edge Impulse's SDK 2023-11-15, its ESP-NN's size functions"),
    ("edge-impulse@2021-08-31", None, "Edge Impulse's SDKs of 2020 to 2023, built for 32-bit Arm"),
    ("edge-impulse@2020-12-24", None, "Edge Impulse's SDKs of 2020 and 2021, built for 32-bit Arm"),
    ("esp-tflite-micro@1.3.3", None, "real esp-tflite-micro 1.3.3, 32-bit build, ESP-NN 1.1.0"),
    ("spresense", None, "the library's own size functions"),
    ("chirale", None, "chirale-2.0.0; "),
])  # fmt: skip
def test_a_library_is_proved_by_builds_of_it_or_by_its_size_functions(
    library: str, machine: str | None, begins: str
) -> None:
    assert library_target(library, name=machine).verified_against.startswith(begins)


@pytest.mark.parametrize(("short", "words"), [
    ("x86_64_ref", "real TFLM, 64-bit PC, reference kernels"),
    ("x86_64_ref_comp; x86_64_ref", "real TFLM, 64-bit PC, reference kernels, with compression; real TFLM, 64-bit PC, "
     "reference kernels"),
    ("et-1.4.0-1.2.3-ansi (tests)", "real esp-tflite-micro 1.4.0, 32-bit build, ESP-NN 1.2.3 (tests)"),
    ("et-1.4.0-1.2.0-esp32s3", "real esp-tflite-micro 1.4.0, 32-bit build, ESP-NN 1.2.0"),
    ("max86_64_ref", "max86_64_ref"),  # No word of its own.
    ("", "nothing"),
])  # fmt: skip
def test_recordings_have_words(short: str, words: str) -> None:
    assert proof_in_words(short) == words
