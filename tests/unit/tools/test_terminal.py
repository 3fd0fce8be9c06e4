"""The recording of a terminal in the README: what is in it is what the commands say, moving or not."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from release import terminal

from tflm_sim.cli import main
from tflm_sim.samples import sample_path


def test_waits_are_cut_and_a_carriage_return_begins_a_line_anew() -> None:
    pieces = [(0.5, b"\rtrying: 1"), (9.0, b"\rtrying: 2\r"), (9.1, b"done\r\nsaved\r\n")]
    progress, saved = terminal.lines_of(pieces)
    # 0.5 s, then 8.5 s of which 0.7 s are left, then 0.1 s.
    assert [(round(at, 3), text) for at, text in progress[1:]] == [
        (0.5, "trying: 1"),
        (1.2, "trying: 2"),
        (1.3, "done"),
    ]
    assert [(round(at, 3), text) for at, text in saved] == [(1.3, "saved")]


def test_without_motion_the_picture_holds_what_stays_and_not_what_goes() -> None:
    lines = [
        terminal.Shown(0, "$ tflm-sim", 0.0, is_typed=True),
        terminal.Shown(1, "trying", 1.0, 2.0),
        terminal.Shown(1, "\x1b[1;31mno\x1b[0m: a < b", 2.0),
    ]
    drawn = terminal.svg(lines, 4.0)
    still, moving = drawn.split("@media (prefers-reduced-motion: no-preference)")
    assert ".gone, .cover { opacity: 0 }" in still
    assert '<g class="gone" id="l1">' in moving
    assert '<g id="l2">' in moving
    assert "@keyframes k1{0%{opacity:0}25.00%{opacity:1}50.00%,to{opacity:0}}" in moving  # 1 s and 2 s of 4 s
    assert "@keyframes k2{0%{opacity:0}50.00%{opacity:1}to{opacity:1}}" in moving
    # Eight letters a 30th of a second: 0.2667 s of 4 s.
    assert "steps(8)}6.67%{opacity:1;transform:translateX(67.2px)}" in moving
    (*_, last) = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    assert "".join(last.itertext()) == "no:\N{NO-BREAK SPACE}a\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}b"
    assert last[0].attrib == {"class": "no"}


@pytest.mark.slow
def test_what_the_recording_in_the_documentation_shows_is_said_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = ET.parse(terminal.OUT).iter("{http://www.w3.org/2000/svg}text")
    told = iter([" ".join("".join(text.itertext()).split()) for text in drawn])
    shutil.copy(sample_path("mobilenet_v1_025"), tmp_path / "model.tflite")
    monkeypatch.chdir(tmp_path)
    said = ""
    commands = [command.typed for command in terminal.COMMANDS]
    for line in told:
        if line.startswith("$ "):
            assert line == f"$ {commands.pop(0)}"
            main(line.split()[2:])
            said = " ".join(capsys.readouterr().out.split())
        elif not re.fullmatch(r"\.\.\. \d+ lines more \.\.\.|shrinking: .*", line):
            assert line in said
    assert commands == []
