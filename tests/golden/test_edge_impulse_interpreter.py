"""What TFLM's interpreter needed in Edge Impulse's SDKs of August 2021 to August 2023, to the byte.

Its sources of three days were compiled for 32-bit Arm ("ref": Cortex-M3 with the reference kernels, "dsp": Cortex-M4
with the SDK's CMSIS-NN, whole), linked with a MicroMutableOpResolver and a model, and run in QEMU: the smallest arena
by bisection, and arena_used_bytes() in it. Left out are models of which the program did not reach its end.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import configure
from tflm_sim.model.load import load
from tflm_sim.targets.presets import library_target

MODELS = Path(__file__).parents[3] / "shared" / "models"
REF = {
    "SiliconLabs-machine_learning_applications__keyword_spotting_on_off_v2": (41904, 41892),
    "SiliconLabs-mltk__fingerprint_signature_generator": (95488, 95476),
    "SiliconLabs-mltk__keyword_spotting_on_off": (6520, 6508),
    "SiliconLabs-mltk__keyword_spotting_pacman": (45056, 45044),
    "ahmadadil950-EdgeImpulse_Linux_Sample__tflite_learn_5": (7972, 7960),
    "avionicharshit-byte-mcufit-bench__kws": (22816, 22804),
}
DSP = {
    "HimaxWiseEyePlus-himax_tflm__handwriting_model_data": (7204, 7192),
    "SiliconLabs-machine_learning_applications__keyword_spotting_on_off_v2": (42020, 42008),
    "SiliconLabs-mltk__fingerprint_signature_generator": (95524, 95512),
    "SiliconLabs-mltk__image_example1": (71128, 71116),
    "SiliconLabs-mltk__keyword_spotting_on_off": (6844, 6832),
    "SiliconLabs-mltk__keyword_spotting_pacman": (45172, 45160),
    "ahmadadil950-EdgeImpulse_Linux_Sample__tflite_learn_5": (8024, 8012),
    "avionicharshit-byte-mcufit-bench__kws": (24020, 24008),
}
RUNS = {
    ("2021-08-31", "reference"): REF,
    ("2023-08-25", "reference"): REF,
    ("2021-08-31", "cmsis_nn"): DSP,
    ("2023-03-21", "cmsis_nn"): DSP,
}


@pytest.mark.shared("models")
@pytest.mark.parametrize(("sdk", "kernels"), RUNS)
def test_each_model_needs_what_it_needed_in_the_sdk(sdk: str, kernels: str) -> None:
    where = configure(library_target(f"edge-impulse@{sdk}", name="cortex-m4", kernels=kernels))
    found = {}
    for name in RUNS[sdk, kernels]:
        smallest = simulate(load(MODELS / f"{name}.tflite"), where).smallest
        assert smallest is not None
        found[name] = (smallest.size, smallest.arena_used_bytes)
    assert found == RUNS[sdk, kernels]
