"""What ``shrink`` makes of models, in the real TFLM: the same bytes, in exactly the arena that was predicted."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tflm_sim import load, shrink
from tflm_sim.device.configuration import configure
from tflm_sim.shrinking.prove import SEQUENCE, prove
from tflm_sim.shrinking.shrink import Shrunk

SHARED = Path(__file__).parents[3] / "shared" / "models"
_SPEC = importlib.util.spec_from_file_location(
    "shrinking_models", Path(__file__).parents[1] / "unit" / "shrinking" / "models.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
models = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(models)

# At least what the arena shrinks to on a Cortex-M4 with CMSIS-NN, in bytes.
EXPECTED = {
    "tflm__models__person_detect": 64_928,
    "AmbiqAI-neuralSPOT__ic_bench_model_data": 44_296,
    "tum-ei-eda-mlonmcu-models__cifar10": 59_680,
    "esphome-micro-wake-word-models__alexa": 28_712,
    "JohnnyPrimus-Custom_V2_MicroWakeWords__hey_friday": 16_356,
    "mlcommons-tiny_results_v0.5__kws_model_data": 22_732,
}


def proved(shrunk: Shrunk, runs: int) -> None:
    """Run both models in the wheel and check what it says."""
    proof = prove(shrunk.origin, shrunk.data, shrunk.model, runs)
    assert proof.fails_below
    assert proof.runs >= runs


@pytest.mark.slow
@pytest.mark.parametrize("name", models.MODELS)
def test_each_pass_gives_the_same_bytes(name: str, wheel: Any) -> None:
    proved(shrink(models.MODELS[name](), "cortex-m4"), 10)


@pytest.mark.slow
def test_state_is_compared_over_a_long_sequence(wheel: Any) -> None:
    shrunk = shrink(models.state_model(), "cortex-m4", prove_runs=1)
    assert shrunk.proof is not None
    assert shrunk.proof.runs >= SEQUENCE


@pytest.mark.slow
def test_outputs_below_inputs_give_the_same_bytes_on_the_reference_kernels(wheel: Any) -> None:
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 8))
    y = layers.conv(layers.depthwise(layers.conv(x, 16), stride=2), 8, kernel=1)
    reference = configure("x86_64-pip")
    shrunk = shrink(layers.model([x], [layers.pool(y)]), reference, kernel_order=True)
    assert shrunk.steps[-1].name == "offline plan"
    proved(shrunk, 20)


@pytest.mark.slow
@pytest.mark.shared("models")
@pytest.mark.parametrize("name", EXPECTED)
def test_known_models_shrink_as_far_and_give_the_same_bytes(name: str, wheel: Any) -> None:
    shrunk = shrink(load(SHARED / f"{name}.tflite"), "cortex-m4")
    assert shrunk.gains[0].after.arena <= EXPECTED[name]
    proved(shrunk, 3)
