"""A ``Sizer`` and ``simulate()`` say the same, and what it remembers is its own."""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model
from tflm_sim.samples import SAMPLES

NO_INPUTS_VECTOR = parse(ModelBuilder().build(inputs=None, outputs=[]))


@pytest.mark.parametrize("model", [*(load(f"sample:{name}") for name in SAMPLES), NO_INPUTS_VECTOR], ids=repr)
def test_every_figure_is_that_of_a_simulation(model: Model) -> None:
    quick, whole = Sizer().sizing(model, "cortex-m4"), simulate(model, "cortex-m4")
    for name in ("status", "smallest", "head_bytes", "tail_bytes", "arena_used_bytes"):
        assert getattr(quick, name) == getattr(whole, name)
    assert (quick.peak and quick.peak.live_bytes) == (whole.peak and whole.peak.live_bytes)
    assert (quick.failure is None) == (whole.failure is None)


def test_two_arenas_are_refused() -> None:
    with pytest.raises(UsageError, match="for two arenas use"):
        Sizer().sizing(NO_INPUTS_VECTOR, "cortex-m4", is_split=True)
