"""The shipped samples in the pip wheel: the recording figures, and the smallest arena by trying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from upstream.wheel_smallest import smallest as smallest_in

from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_figures_and_the_smallest_arena(sample: str, wheel: Any, same_as_wheel: Callable[..., Simulation]) -> None:
    data = sample_path(sample).read_bytes()
    assert same_as_wheel(data).status == "ok"
    smallest = smallest_arena(parse(data), preset("x86_64-pip"))
    assert same_as_wheel(data, smallest.multiple_of_16).status == "ok"
    assert same_as_wheel(data, smallest.multiple_of_16 - 16).status == "error"


@pytest.mark.parametrize("guess", [None, 500, 1592, 100_000])
def test_the_wheel_s_smallest_arena_is_found_wherever_the_search_begins(guess: int | None, wheel: Any) -> None:
    model = ModelBuilder()
    source, output = model.tensor((1, 100), TensorType.FLOAT32), model.tensor((1, 100), TensorType.FLOAT32)
    model.operator("RELU", [source], [output])
    data = model.build(inputs=[source], outputs=[output])
    assert smallest_in(wheel, data, guess) == 1592
    assert smallest_in(wheel, b"no model", guess) is None
