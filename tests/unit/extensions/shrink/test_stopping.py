"""A search that is ended by the clock or by Ctrl-C: the best so far, verified; without either always the same file."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import shrinking_models as models

from tflm_sim import shrink, smallest_arena
from tflm_sim.errors import UsageError
from tflm_sim.extensions.shrink.descent import Descent
from tflm_sim.extensions.shrink.shrunk import Shrunk
from tflm_sim.extensions.shrink.text import shrunk_lines
from tflm_sim.model.types import Model


def tower(blocks: int) -> Model:
    """Return blocks of three convolutions around a residual connection; each can be split by channels."""
    layers = models.Layers()
    x = y = layers.activation((1, 8, 8, 4))
    for _ in range(blocks):
        wide = layers.depthwise(layers.conv(y, 16, kernel=1))
        y = layers.add(y, layers.conv(wide, 4, kernel=1))
    return layers.model([x], [y])


def interrupting(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Act when the second round of splits begins: one split was kept by then."""
    sound = Descent._round

    def split(self: Descent, number: int, kinds: frozenset[str]) -> bool:
        if number == 2:
            act()
        return sound(self, number, kinds)

    monkeypatch.setattr(Descent, "_round", split)


def check_best_so_far(shrunk: Shrunk, why: str) -> None:
    assert shrunk.stopped == why
    assert [step.name for step in shrunk.steps] == ["splits"]
    assert "same expressions" in shrunk.verified
    assert shrunk.gains[0].after.arena == smallest_arena(shrunk.data, "cortex-m4").size
    assert shrunk.has_gained
    assert f"the search ended early: {why}; this is the best until then" in shrunk_lines(shrunk)


def test_ctrl_c_gives_the_best_so_far_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    check_best_so_far(shrink(models.rows_model(), "cortex-m4"), "it was interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting(monkeypatch, lambda: [signal.raise_signal(signal.SIGINT) for _ in range(2)] and None)
    with pytest.raises(KeyboardInterrupt):
        shrink(models.rows_model(), "cortex-m4")


def test_the_time_limit_gives_the_best_so_far_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: clock.now, now=0.0)
    monkeypatch.setattr("tflm_sim.planners.deadline.time", clock)
    interrupting(monkeypatch, lambda: setattr(clock, "now", 20.0))
    check_best_so_far(shrink(models.rows_model(), "cortex-m4", time_limit=20.0), "the time was over")


def test_with_no_time_at_all_the_model_stays_as_it_was() -> None:
    model = models.rows_model()
    shrunk = shrink(model, "cortex-m4", time_limit=1e-9)
    assert (shrunk.stopped, shrunk.data) == ("the time was over", model.source)
    assert [(row.name, row.reason) for row in shrunk.rejected] == [("what was still to be tried", "the time was over")]
    for seconds in (0, -1, float("nan")):
        with pytest.raises(UsageError, match="is not a valid time"):
            shrink(model, "cortex-m4", time_limit=seconds)


def test_the_same_arguments_give_the_same_file_with_a_limit_that_is_not_reached_too() -> None:
    model = models.rows_model()
    files = [shrink(model, "cortex-m4", offline_plan=True, time_limit=limit).data for limit in (None, None, 600.0)]
    assert files[0] == files[1] == files[2]


@pytest.mark.nightly
def test_four_thousand_operators_end_at_the_limit() -> None:
    model = tower(1000)
    assert len(model.subgraphs[0].operators) == 4000
    assert shrink(model, "cortex-m4", time_limit=1.0).stopped == "the time was over"


def test_what_is_told_as_the_best_so_far_never_grows() -> None:
    told: list[str] = []
    shrink(models.MODELS["rows"](), "cortex-m4", progress=told.append)
    sizes = [int(line.split(": ")[1].split(" B")[0].replace(",", "")) for line in told if " so far" in line]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (29_824, 23_756)
