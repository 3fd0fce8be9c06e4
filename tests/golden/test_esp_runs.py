"""Real esp-tflite-micro by release: what it needed, to the byte.

``esp_runs.json`` holds, for a release and the implementation of ESP-NN 1.1.0, [used, smallest, used at the smallest]
of each model, or how it ended. Built from the component's sources with ``g++ -m32 -malign-double`` (the layout rules of
Xtensa and RISC-V), TF_LITE_STATIC_MEMORY and CONFIG_NN_OPTIMIZED, without the signal library; a byte below the
smallest arena each run failed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.model.load import load
from tflm_sim.targets.presets import preset

RECORD: dict[str, Any] = json.loads(Path(__file__).with_name("esp_runs.json").read_text())
MODELS = Path(__file__).parents[3] / "shared" / "models"
ROOMY = 64 << 20


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", RECORD["runs"])
def test_each_model_needs_what_it_needed_there(run: str) -> None:
    release, _ = run.split()
    where = preset("esp32", kernels="esp_nn@1.1.0", runtime=f"esp-tflite-micro@{release}")
    found = {}
    for name in RECORD["models"]:
        simulation = simulate(load(MODELS / f"{name}.tflite"), where, arena_size=ROOMY)
        smallest = simulation.smallest
        found[name] = (
            [simulation.arena_used_bytes, smallest.size, smallest.arena_used_bytes]
            if smallest is not None
            else simulation.status
        )
    assert found == dict(zip(RECORD["models"], RECORD["runs"][run], strict=True))
