"""``monitor --live``: what was recognised stays when the screen is given back."""

from __future__ import annotations

import pytest

from tflm_sim.cli import live_view
from tflm_sim.cli.device_text import MARK


def test_how_the_connection_was_and_what_was_recognised_stay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(live_view, "is_shown", lambda: True)
    with live_view.LiveView("/dev/ttyACM0") as view:
        view.write("boot\n")
        view.write(f"{MARK}an arena of 928 bytes, which is\n    as expected\n")
        view.tell("reconnecting")
    stays = [line for line in capsys.readouterr().out.splitlines() if line.startswith(MARK)]
    assert stays == [f"{MARK}an arena of 928 bytes, which is as expected", f"{MARK}reconnecting"]
