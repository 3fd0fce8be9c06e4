"""The wake words of ``docs/evidence.md``: every command prints what the page says, and exits as it says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tflm_sim.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "evidence.md").read_text("utf-8").partition("## A library update")[2]
MODELS = {"okay_nabu.tflite": "okay_nabu_2.tflite", "vad.tflite": "v2_vad.tflite"}
SOURCE = str(ROOT.parent / "shared" / "models" / "esphome-micro-wake-word-models__{}")
COMMANDS = [
    (command, output)
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for command, output in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]
pytestmark = pytest.mark.shared("models")


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=lambda text: text[:60])
def test_a_command_of_the_page(
    command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, shared in MODELS.items():
        shutil.copyfile(SOURCE.format(shared), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    code = main(arguments)
    printed = capsys.readouterr().out + (f"[exit code {code}]\n" if code else "")
    assert (program, printed) == ("tflm-sim", output)


def test_the_page_has_the_incidents_line() -> None:
    assert len(COMMANDS) == 5
    line = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    assert any(line in output for _, output in COMMANDS)
