"""What ``shrink`` makes of models, in the real TFLM: the same bytes, in exactly the arena that was predicted."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
import shrinking_models as models
from fuzz import shrink as fuzz_shrink

from tflm_sim import load, shrink
from tflm_sim.cli import main
from tflm_sim.device.configuration import configure
from tflm_sim.errors import ModelError, TflmSimError
from tflm_sim.shrinking import channels
from tflm_sim.shrinking.prove import SEQUENCE, prove
from tflm_sim.shrinking.shrunk import Shrunk

SHARED = Path(__file__).parents[3] / "shared" / "models"
TOP = Path(__file__).parents[2]


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
@pytest.mark.parametrize("name", sorted(path.stem for path in SHARED.glob("*.tflite")))
def test_every_model_that_gains_gives_the_same_bytes(name: str, wheel: Any) -> None:
    shrunk = None
    with contextlib.suppress(TflmSimError):  # TFLM refuses it, or shrink does
        shrunk = shrink(load(SHARED / f"{name}.tflite"), "cortex-m4")
    assert shrunk is not None or name not in EXPECTED
    if shrunk is not None and shrunk.has_gained:
        assert shrunk.gains[0].after.arena <= EXPECTED.get(name, shrunk.gains[0].before.arena)
        with contextlib.suppress(ModelError):  # the wheel cannot run the original; what differs is another error
            proved(shrunk, 2)


@pytest.mark.slow
def test_a_byte_that_differs_refuses_the_result_and_nothing_is_written(
    wheel: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sound = channels._cut_constant
    monkeypatch.setattr(
        channels, "_cut_constant", lambda draft, tensor, axis, start, end: sound(draft, tensor, axis, 0, end - start)
    )
    monkeypatch.setattr("tflm_sim.shrinking.shrink.verify", lambda *arguments: "not at all")
    path, out = tmp_path / "model.tflite", tmp_path / "small.tflite"
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 3))
    path.write_bytes(layers.model([x], [layers.pool(layers.conv(x, 32))]).source)
    assert main(["shrink", str(path), "-o", str(out), "--prove", "1"]) == 1
    assert re.search(r"refused: .* differs from the original's; nothing is written", capsys.readouterr().err)
    assert [file.name for file in tmp_path.iterdir()] == ["model.tflite"]


# Drawn by tools/fuzz/shrink.py: 37 splits by channels and rows at once, 1537 has an output that is read again, 1631
# resizes by 3.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(8), 37, 1537, 1631])
def test_random_models_with_random_limits_give_the_same_bytes(seed: int, wheel: Any) -> None:
    shrunk = fuzz_shrink.shrunk_at_random(models.random_model(seed), seed)
    assert [row for row in shrunk.rejected if "does not understand" in row.reason or "refused" in row.reason] == []
    assert not shrunk.has_gained or fuzz_shrink.difference(shrunk) == ""
