"""Programs with real TFLM (2026-08-20, 90b983c2b): what they print on QEMU, what ``--run`` says, what is simulated.

``executed_runs.json`` has a row a program, all linked from upstream's sources by GCC 12.2.1 (Arm) and 12.2.0 (RISC-V);
those with ESP-NN's portable kernels from esp-tflite-micro's.
``printed``: by the program itself, on QEMU 7.2: what AllocateTensors() returned, ``arena_used_bytes()``, the smallest
arena in which it succeeds (by bisection in the program, of its first arena or of each; left out where the search began
too high, or came to no end), and the bytes of a painted stack that AllocateTensors() and Invoke() used.
``executed``: what ``firmware --run`` said of the ELF file. Stack is that of the function called, without its callers.

Of the last 47 rows, stack was not printed; of the last 45, the smallest size, where a row has it, was tried by building
the program with it and with one byte less. Four programs were refused: link-time optimisation put the making of their
arena into its caller; the second of those 47 rows is one of that kind, executed later. None is told a figure that it
does not print.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import configure
from tflm_sim.samples import SAMPLES, sample_path

sys.path.insert(0, str(Path(__file__).parent))
import executed_models

ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("executed_runs.json").read_text())
MODELS = Path(__file__).parents[3] / "shared" / "models"
TARGETS = {
    ("cortex-m0plus", "reference"): "cortex-m0plus",
    ("cortex-m3", "reference"): "cortex-m3",
    ("cortex-m4", "cmsis_nn"): "cortex-m4",
    ("cortex-m4", "reference"): "cortex-m4",
    ("cortex-m4 with FPU", "cmsis_nn"): "cortex-m4",
    ("cortex-m33", "cmsis_nn"): "cortex-m33",
    ("cortex-m55", "cmsis_nn"): "cortex-m55",
    ("rv32imac", "reference"): "riscv32",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "static arena": {},
    "arena in CCM RAM": {},
    "arena in external memory": {},
    "profiler": {},
    "linear planner": {"planner": "linear"},
    "recording interpreter": {"interpreter": "recording"},
    "two models on one allocator": {},
    "resource variables": {"resource_variables": 12},
    "resource variables that no model uses": {"resource_variables": 7},
    "arena at an odd address": {"arena_address": 5},
    "arena at an odd address (7)": {"arena_address": 7},
}


def place_of(model: str) -> Path | bytes | None:
    """Return where a model lies, or one that is made here; None where it is not there."""
    if model in executed_models.MODELS:
        return executed_models.MODELS[model]()
    if model in SAMPLES:
        return sample_path(model)
    return next(iter(sorted(MODELS.glob(f"tflm__*__{model}.tflite"))), None)


SIMULATED = [
    row
    for row in ROWS
    if row["program"] in SETTINGS
    and (row["core"], row["kernels"]) in TARGETS
    and all(map(place_of, row["models"]))
    and row["printed"]["statuses"][0] == 0
]


def name_of(row: dict[str, Any]) -> str:
    return f"{row['core']} {row['flags']} {row['kernels']}: {row['program']}, {' and '.join(row['models'])}"


def test_each_program_was_told_what_it_prints_itself() -> None:
    for row in ROWS:
        printed, executed = row["printed"], row["executed"]
        statuses = ["ok" if status == 0 else "error" for status in printed["statuses"]]
        searched = len(printed["succeeds_from"])
        told = executed | {"succeeds_from": executed["succeeds_from"][:searched]}
        assert told == printed | {"statuses": statuses}, name_of(row)


def simulation_of(row: dict[str, Any], size: int) -> Simulation:
    """Return the simulation of a row's models in an arena of a size."""
    models = [place for place in map(place_of, row["models"]) if place is not None]
    settings = SETTINGS[row["program"]] | ({"optimize_kernels_for": "size"} if row["core"] == "cortex-m55" else {})
    target = TARGETS[row["core"], row["kernels"]]
    configuration = configure(target, kernels=row["kernels"], **settings)
    if "compression" in row["flags"]:
        runtime = replace(configuration.target.runtime, compression=True)
        configuration = replace(configuration, target=replace(configuration.target, runtime=runtime))
    if "-fshort-enums" in row["flags"]:
        abi = replace(configuration.target.abi, short_enums=True)
        configuration = replace(configuration, target=replace(configuration.target, abi=abi))
    return simulate(models, configuration, arena_size=size)


@pytest.mark.parametrize("row", SIMULATED, ids=name_of)
def test_the_simulation_says_what_the_program_prints(row: dict[str, Any]) -> None:
    printed = row["printed"]
    assert simulation_of(row, row["arena"]).arena_used_bytes == printed["used"][-1]
    for size in printed["succeeds_from"]:
        assert simulation_of(row, size).status == "ok"
        assert simulation_of(row, size - 1).status != "ok"


def test_a_recording_interpreter_at_an_odd_address_fails_as_the_simulation_says() -> None:
    rows = [row for row in ROWS if row["program"] == "arena at an odd address (13), recording interpreter"]
    assert len(rows) == 9
    assert {tuple(row["printed"]["statuses"]) for row in rows} == {(1,)}
    found = simulate(sample_path("sine"), "cortex-m4", arena_size=6001, interpreter="recording", arena_address=13)
    assert found.status == "error"
    assert found.log[-1].startswith("Internal error: either buffer is not resizable")


def test_there_are_rows_for_every_kind_of_program_that_is_simulated() -> None:
    assert {row["program"] for row in SIMULATED} == set(SETTINGS) or not MODELS.is_dir()
