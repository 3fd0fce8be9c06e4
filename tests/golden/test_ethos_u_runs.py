"""Models that Vela compiled, in real TFLM with ethosu.cc and a driver that does nothing: what they need, to the byte.

``ethos_u_runs.json`` says how the figures were made. A compiled model is built again from what decides its figures.
"""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.npu import npu_memory
from tflm_sim.answers.simulation import simulate
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target

RUNS: dict[str, Any] = json.loads(Path(__file__).with_name("ethos_u_runs.json").read_text(encoding="utf-8"))
MODELS = Path(__file__).parents[3] / "shared" / "models"
MODES = {"sramonly": "Shared_Sram or Sram_Only", "shared": "Shared_Sram or Sram_Only", "dedicated": "Dedicated_Sram"}


def compiled(row: dict[str, Any]) -> Model:
    """Return a model of one ethos-u operator."""
    b = ModelBuilder()
    for shape, type_code, size, scales in row["tensors"]:
        b.tensor(shape, type_code, data=bytes(size) if size else None, scale=None if scales is None else [0.5] * scales)
    b.custom("ethos-u", *row["operator"], options=b"\1\4\1")
    offsets = row["offsets"]
    b.metadata("OfflineMemoryAllocation", struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets), *offsets))
    inputs, outputs = row["ends"]
    return load(b.build(inputs=inputs, outputs=outputs))


def machine(name: str) -> Target:
    return replace(preset(name, kernels="reference"), ethos_u=True)


def needs(model: Model, target: Target) -> list[int]:
    simulation = simulate(model, target)
    assert simulation.smallest is not None
    return [simulation.arena_used_bytes, simulation.smallest.size]


@pytest.mark.parametrize("name", RUNS["runs"])
def test_a_compiled_model_needs_what_tflm_needed(name: str) -> None:
    wanted = {key: figures for key, figures in RUNS["runs"][name].items() if key in RUNS["compiled"]}
    assert {key: needs(compiled(RUNS["compiled"][key]), machine(name)) for key in wanted} == wanted
    assert len(wanted) == 24


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", RUNS["runs"])
def test_a_model_of_others_needs_what_tflm_needed(name: str) -> None:
    wanted = {key: figures for key, figures in RUNS["runs"][name].items() if key not in RUNS["compiled"]}
    assert {key: needs(load(MODELS / f"{key}.tflite"), machine(name)) for key in wanted} == wanted
    assert len(wanted) == 7


@pytest.mark.parametrize("name", RUNS["compiled"])
def test_the_memory_mode_is_the_one_that_vela_was_told(name: str) -> None:
    (memory,) = npu_memory(compiled(RUNS["compiled"][name]))
    assert memory.mode == MODES[name.partition("/")[0].partition("-")[2]]
