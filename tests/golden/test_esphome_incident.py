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


FIRMWARE = "--target esp32-s3-esphome --resource-variables 20 --variable-arena 1024"
"""ESPHome's streaming variables, whose table lies in an arena of its own."""
BESIDE = [
    (
        f"diff okay_nabu.tflite {FIRMWARE} --kernels esp_nn@1.2.0 --kernels esp_nn@1.2.1 --fail-on-increase",
        ["25,796  33,764  +7,968  smallest arena", " 7,840  15,800  +7,960  #17 CONV_2D: esp_nn"],
    ),
    (
        f"diff okay_nabu.tflite {FIRMWARE} --kernels esp_nn@1.2.1 --kernels esp_nn@1.2.3 --fail-on-increase",
        ["33,764  33,796     +32  smallest arena", "no: the smallest arena grew by 32 B, 0 B are allowed"],
    ),
    (
        f"size vad.tflite {FIRMWARE} --kernels esp_nn@1.2.1 --arena-size 16772 --arena-address 4",
        ["    Failed to resize buffer. Requested: 17088, available 9380, missing: 7708"],  # as in m5stack#68
    ),
]


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, shared in MODELS.items():
        shutil.copyfile(SOURCE.format(shared), tmp_path / name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=lambda text: text[:60])
def test_a_command_of_the_page(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    code = main(arguments)
    printed = capsys.readouterr().out + (f"[exit code {code}]\n" if code else "")
    assert (program, printed) == ("tflm-sim", output)


@pytest.mark.parametrize(("command", "lines"), BESIDE, ids=lambda text: text[:60])
def test_a_figure_that_the_page_speaks_of(command: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in printed] == []


def test_the_page_has_the_incidents_line() -> None:
    assert len(COMMANDS) == 2
    line = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    assert any(line in output for _, output in COMMANDS)
