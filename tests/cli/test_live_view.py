"""``board listen --live``: what was recognised stays when the screen is given back."""

from __future__ import annotations

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


def test_without_a_terminal_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "is_shown", lambda: False)
    with pytest.raises(UsageError, match="--live needs a terminal"):
        live_view.LiveView("p")
