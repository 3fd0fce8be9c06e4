"""Real TFLM with the CMSIS-NN of its day: what it needed, to the byte.

``cmsis_nn_runs.json`` holds, for a commit of TFLM and an instruction set, [used, smallest, used at the smallest] of
each model, or how it ended. Built with ``gcc -m32`` (i386's layout rules), TF_LITE_STATIC_MEMORY and
KERNELS_OPTIMIZED_FOR_SPEED from upstream's sources and the commit of CMSIS-NN that its makefile fetches: of that the
size functions alone, for the instruction set, with an empty ``arm_vector_sum_s8``; every arena size by bisection.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import configure
from tflm_sim.model.load import load
from tflm_sim.targets.abi import I386
from tflm_sim.targets.presets import preset

RECORD: dict[str, Any] = json.loads(Path(__file__).with_name("cmsis_nn_runs.json").read_text())
MODELS = Path(__file__).parents[3] / "shared" / "models"
MACHINES = {"scalar": "cortex-m3", "dsp": "cortex-m4", "mve": "cortex-m55"}


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", RECORD["runs"])
def test_each_model_needs_what_it_needed_there(run: str) -> None:
    commit, isa = run.split()
    where = configure(replace(preset(MACHINES[isa], runtime=commit), abi=I386))
    found = {}
    for name in RECORD["models"]:
        simulation = simulate(load(MODELS / f"{name}.tflite"), where)
        smallest = simulation.smallest
        found[name] = (
            [simulation.arena_used_bytes, smallest.size, smallest.arena_used_bytes]
            if smallest is not None
            else simulation.status
        )
    assert found == dict(zip(RECORD["models"], RECORD["runs"][run], strict=True))
