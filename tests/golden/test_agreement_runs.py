"""Programs with real TFLM, executed with one model after another: request by request what is simulated.

``agreement_runs.json`` has a table a program, linked from upstream's sources (2026-08-20, 90b983c2b) by GCC 12.2.1
(Arm) and 12.2.0 (RISC-V): up to fifteen operators and an arena of 1 MiB. A row is a model of ``../shared/models`` that
``AllocateTensors()`` took, by ``firmware --run --model``: the requests to the allocator, all of which were those of the
simulation, with their operators; the smallest arena; ``arena_used_bytes()``. No model differed; those that the program
refuses are left out, and with CMSIS-NN those whose convolutions are of 16 bits, for which these programs have no code.

Here the simulation is compared with the rows. Whoever has such programs has them executed again:

    TFLM_SIM_PROGRAMS=build/app.elf:build/other.elf pytest tests/golden/test_agreement_runs.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import tflm_sim
from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.events import ScratchRequest
from tflm_sim.extensions.firmware.execution import agreement, compare
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import load_image

MODELS = Path(__file__).parents[3] / "shared" / "models"
PROGRAMS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("agreement_runs.json").read_text())
GIVEN = [path for path in os.environ.get("TFLM_SIM_PROGRAMS", "").split(os.pathsep) if path]
ARENA = 1 << 20
LARGEST = 400_000
"""Bytes of a model that is executed."""


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_simulation_asks_for_what_the_program_asked_for(name: str) -> None:
    program = PROGRAMS[name]
    settings = program["settings"] | {"kernels": program["kernels"], "arena_size": ARENA}
    simulated = []
    for file, *_ in program["rows"]:
        found = simulate(MODELS / file, program["target"], **settings)
        assert found.smallest is not None
        scratch = sum(isinstance(event, ScratchRequest) for event in found.events)
        asked = agreement(found.events, found).compared - scratch
        simulated.append([file, asked, found.smallest.size, found.arena_used_bytes])
    assert simulated == program["rows"]


def test_every_kind_of_kernels_agrees_on_more_than_twenty_models() -> None:
    assert {name: len(program["rows"]) > 20 for name, program in PROGRAMS.items()} == dict.fromkeys(PROGRAMS, True)


if GIVEN:

    @pytest.mark.shared("models")
    @pytest.mark.parametrize("program", GIVEN)
    @pytest.mark.parametrize("model", sorted(MODELS.glob("*.tflite")), ids=lambda path: path.name)
    def test_a_program_asks_for_what_is_simulated(program: str, model: Path) -> None:
        if model.stat().st_size > LARGEST:
            pytest.skip("it is larger than what is executed")
        loaded, image = tflm_sim.load(model), load_image(program)
        execution = tflm_sim.execute(image, model=loaded)
        (arena,) = execution.arenas
        if any("Didn't find op" in line for line in arena.allocations[0].log):
            pytest.skip("the program does not register an operator of it")
        (compared,) = compare(execution, examine(image), loaded)
        assert compared.agreement is not None, compared.reason
        if arena.allocations[0].status == "ok":
            assert compared.agreement.agrees, compared.agreement
