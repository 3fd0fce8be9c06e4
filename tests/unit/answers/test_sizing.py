"""A ``Sizer`` and ``simulate()`` say the same, and what it remembers is its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model
from tflm_sim.planners import native
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
        Sizer().sizing(NO_INPUTS_VECTOR, "cortex-m4", split_arenas=True)


def python_calls(action: Callable[[], object]) -> int:
    """Return how many functions of Python an action calls, resumed generators and comprehensions too."""
    count, before = 0, sys.getprofile()

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.skipif(not native.available(), reason="the C core was not built, and Python plans instead")
@pytest.mark.parametrize(
    ("ask", "most"),
    [
        (smallest_arena, 5_260),  # 5,250 with Python 3.11, fewer with later ones
        (Sizer().smallest_arena, 2_180),  # 2,171, once it has seen the operators
    ],
)
def test_a_sizing_takes_no_more_calls_than_it_did(ask: Callable[[Model, str], object], most: int) -> None:
    """Speed depends on the machine; how many calls 31 operators take does not, and follows it."""
    model = load("sample:mobilenet_v1_025")
    ask(model, "x86_64-pip")
    # The least of three: what garbage collection calls in between is not the sizing's.
    assert min(python_calls(lambda: ask(model, "x86_64-pip")) for _ in range(3)) <= most
