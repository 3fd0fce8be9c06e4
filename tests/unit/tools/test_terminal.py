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
    # 0.5 s and 8.5 s, of each of which 0.25 s are left, then 0.1 s.
    assert [(round(at, 3), text) for at, text in progress[1:]] == [
        (0.25, "trying: 1"),
        (0.5, "trying: 2"),
        (0.6, "done"),
    ]
    assert [(round(at, 3), text) for at, text in saved] == [(0.6, "saved")]


def test_without_motion_the_picture_holds_what_stays_and_not_what_goes() -> None:
    lines = [
        terminal.Shown(0, "$ tflm-sim", 2.0, is_typed=True),
        terminal.Shown(1, "trying", 4.0, 6.0),
        terminal.Shown(1, "\x1b[1;31mno\x1b[0m: a < b", 6.0),
    ]
    drawn = terminal.svg(lines, 8.0)
    still, moving = drawn.split("@media (prefers-reduced-motion: no-preference)")
    assert ".gone, .cover { opacity: 0 }" in still
    assert '<g class="gone" id="l1">' in moving
    assert '<g id="l2">' in moving
    # What stays is seen for 1.2 s of 8 s, then it goes, and comes again; what goes comes at 4 s and goes at 6 s.
    assert "@keyframes k1{0%{opacity:0}15.00%{opacity:0}50.00%{opacity:1}75.00%,to{opacity:0}}" in moving
    assert "@keyframes k2{0%{opacity:1}15.00%{opacity:0}75.00%{opacity:1}to{opacity:1}}" in moving
    # Eight letters a 90th of a second each, from 2 s on, of 8 s.
    assert "steps(8)}26.11%{opacity:1;transform:translateX(67.2px)}" in moving
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


def test_the_recording_begins_with_a_full_frame_and_ends_within_12_seconds() -> None:
    drawn = (Path(__file__).parents[3] / "docs/pictures/terminal.svg").read_text("utf-8")
    (seconds,) = re.findall(r"animation-duration: ([\d.]+)s", drawn)
    assert float(seconds) <= 12
    stays = re.findall(r'<g id="l(\d+)">', drawn)
    assert stays
    for number in stays:
        assert f"@keyframes k{number}{{0%{{opacity:1}}" in drawn
