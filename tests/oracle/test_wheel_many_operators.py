"""Models of 3,000 operators, built from scratch: the wheel runs them in what is predicted, and in no byte less."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import smallest_arena

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "extensions" / "shrink"))
from shrinking_models import Layers, random_step

LAYERS = 3000
LONGEST = 40
"""How far back a layer's input may have been made."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_three_thousand_operators(seed: int, same_as_wheel: Callable[..., Simulation]) -> None:
    rng, layers = random.Random(seed), Layers(seed)
    made = [layers.activation((1, 8, 8, 4))]
    while len(made) <= LAYERS:
        source = made[-1] if rng.random() < 0.8 else rng.choice(made[-LONGEST:])
        result = random_step(layers, rng, source, made[-LONGEST:])
        if result is not None and all(3 <= side <= 16 for side in layers.shapes[result][1:3]):
            made.append(result)
    model = layers.model(made[:1], made[-1:])
    size = smallest_arena(model, "x86_64-pip").size
    assert len(model.subgraphs[0].operators) >= LAYERS
    assert same_as_wheel(bytes(model.source), size).status == "ok"
    assert same_as_wheel(bytes(model.source), size - 16).status == "error"
