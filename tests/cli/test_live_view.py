"""``board listen --live``: what was recognised stays when the screen is given back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.board import live_view
from tflm_sim.extensions.board.device_text import OWN_LINE_PREFIX


def test_how_the_connection_was_and_what_was_recognised_stay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(live_view, "is_shown", lambda: True)
    with live_view.LiveView("/dev/ttyACM0") as view:
        view.write("boot\n")
        view.write(f"{OWN_LINE_PREFIX}an arena of 928 bytes, which is\n    as expected\n")
        view.tell("reconnecting")
    stays = [line for line in capsys.readouterr().out.splitlines() if line.startswith(OWN_LINE_PREFIX)]
    assert stays == [f"{OWN_LINE_PREFIX}an arena of 928 bytes, which is as expected", f"{OWN_LINE_PREFIX}reconnecting"]


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a view that began at 100 s; ``now`` is the time."""
    pytest.importorskip("rich")
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(live_view, "is_shown", lambda: True)
    monkeypatch.setattr(live_view, "time", SimpleNamespace(monotonic=lambda: clock.now))
    made = live_view.LiveView("/dev/ttyACM0")
    made.clock = clock  # type: ignore[attr-defined]
    return made


def test_the_head_counts_minutes_lines_and_what_was_recognised(view: Any) -> None:
    assert view._counts() == "/dev/ttyACM0: connected; 0:00, 0 lines"
    assert view.write("a line\n") == 7
    view.tell("reconnecting")
    view.clock.now = 100 + 11 * 60 + 5.9
    assert view._counts() == "/dev/ttyACM0: reconnecting; 11:05, 1 lines"
    printer = view.shows(SimpleNamespace(reports=4, differences=3, torn=2, failures=1, out=None))
    assert printer.out is view
    assert view._counts().endswith("1 lines; 4 reports, 3 different, 2 torn, 1 failures")


def panels(view: Any, height: int) -> list[str]:
    """Return the texts of the screen: the head, what was recognised, the log."""
    view._console = SimpleNamespace(height=height)
    return [panel.renderable.plain for panel in view._render().renderables]


def test_twelve_lines_that_were_recognised_stand_above_the_end_of_the_log(view: Any) -> None:
    assert panels(view, 40)[1:] == ["nothing recognised yet", ""]
    for number in range(600):
        view.write(f"log {number}\n")
        view.write(f"12:00 {OWN_LINE_PREFIX}said {number} {OWN_LINE_PREFIX}\n")
    head, said, log = panels(view, 40)
    assert head.endswith("600 lines")
    assert said.split("\n") == [f"12:00 said {number} {OWN_LINE_PREFIX}" for number in range(588, 600)]
    assert log.split("\n") == [f"log {number}" for number in range(580, 600)]  # 40 - 12 - 8 rows
    assert panels(view, 22)[2].split("\n") == ["log 597", "log 598", "log 599"]
    assert len(view._said) == len(view._log) == 500


def test_the_screen_is_drawn_eight_times_a_second(view: Any) -> None:
    assert view._screen.refresh_per_second == 8


def test_without_a_terminal_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "is_shown", lambda: False)
    with pytest.raises(UsageError, match="--live needs a terminal"):
        live_view.LiveView("p")
