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
