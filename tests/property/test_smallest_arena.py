"""The smallest arena succeeds, one byte less fails, and every larger multiple of 16 succeeds; events say it too.

``python tools fuzz smallest`` asks the same of any number of models.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz import smallest as cases
from fuzz.models import corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Settings, configure
from tflm_sim.errors import SimulatedFailure
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import PRESETS, preset

SEEDS = corpus(Path(__file__).parent, 50_000)
"""The samples: there are no models in this folder."""
WAYS: tuple[Settings, ...] = (
    {"interpreter": "plain"},
    {"interpreter": "plain", "planner": "linear"},
    {"interpreter": "recording"},
    {"interpreter": "plain", "own_planner": True, "arena_address": 4},
    {"interpreter": "plain", "split_arenas": True},
)
TARGETS = ("x86_64", "x86_64-pip", "i386", "cortex-m4", "riscv32")


def works(run: Simulation) -> bool:
    return run.status == "ok" and not run.corruptions


def hold_the_invariant(models: list[Model], name: str, planner: str) -> None:
    machine = preset(name)
    interpreter = "plain" if planner == "linear" else machine.interpreter

    def run(arena_size: int) -> Simulation:
        return simulate(models, machine, arena_size=arena_size, planner=planner, interpreter=interpreter)

    smallest = smallest_arena(models, machine, planner=planner, interpreter=interpreter)
    assert simulate(models, machine, planner=planner, interpreter=interpreter).smallest == smallest
    assert works(run(smallest.size))
    assert run(smallest.size).arena_used_bytes == smallest.arena_used_bytes
    assert not any(works(run(smallest.size - below)) for below in range(1, 17))
    assert smallest.multiple_of_16 % 16 == 0
    assert smallest.size <= smallest.multiple_of_16
    assert all(works(run(smallest.multiple_of_16 + 16 * more)) for more in range(3))


@pytest.mark.parametrize("preset", TARGETS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_on_the_samples(sample: str, preset: str) -> None:
    hold_the_invariant([load(sample_path(sample))], preset, "greedy")


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw a graph of RELU and ADD over int8 tensors."""
    builder = ModelBuilder()
    size = draw(st.integers(1, 300))
    tensors = [builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0)]
    for op in draw(st.lists(st.sampled_from(["RELU", "ADD"]), min_size=1, max_size=12)):
        result = builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0)
        sources = [draw(st.sampled_from(tensors)) for _ in range(2 if op == "ADD" else 1)]
        builder.operator(op, sources, [result])
        tensors.append(result)
    outputs = draw(st.lists(st.sampled_from(tensors[1:]), min_size=1, max_size=3, unique=True))
    return parse(builder.build(inputs=[tensors[0]], outputs=outputs))


@settings(max_examples=60)
@given(st.lists(models(), min_size=1, max_size=3), st.sampled_from(TARGETS), st.sampled_from(["greedy", "linear"]))
def test_on_any_models_that_share_an_arena(drawn: list[Model], preset: str, planner: str) -> None:
    hold_the_invariant(drawn, preset, planner)


@pytest.mark.parametrize("sample", [pytest.param("sine", marks=pytest.mark.nightly), "streaming"])
@pytest.mark.parametrize("change", cases.CHANGES_OF_GRAPHS)
def test_on_odd_graphs_on_every_preset(change: Callable[[Model, random.Random], Model], sample: str) -> None:
    """Without operators, all variable, all constant, without elements, with more subgraphs ..."""
    held = 0
    for number, (name, way) in enumerate((name, way) for name in PRESETS for way in WAYS):
        model = change(load(sample_path(sample)), random.Random(number))
        try:
            cases.hold([model], configure(name, **way))
            held += 1
        except SimulatedFailure:
            continue
    assert held


@settings(max_examples=300)
@given(st.randoms(use_true_random=False))
def test_on_any_models_and_any_configuration(rng: random.Random) -> None:
    files = [cases.any_model(rng, SEEDS), *cases.any_others(rng, SEEDS)]
    configuration = cases.any_configuration(rng)
    try:
        cases.hold([parse(file) for file in files], configuration, less=(1, rng.randint(2, cases.MOST_BELOW)))
    except cases.REFUSED:
        return
