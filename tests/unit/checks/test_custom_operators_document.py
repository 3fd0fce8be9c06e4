"""``docs/custom_operators.md``, followed literally: its files are written, its tests run, its commands work."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "custom_operators.md"
FILES = dict(re.findall(r'```python title="(\S+)"\n(.*?)```', DOCUMENT.read_text("utf-8"), re.DOTALL))
COMMANDS = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)[0].splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.custom("MyFilter", [a], [b])
    (tmp_path / "model.tflite").write_bytes(builder.build(inputs=[a], outputs=[b]))
    return tmp_path


def test_every_python_block_is_a_file() -> None:
    assert len(FILES) == DOCUMENT.read_text("utf-8").count("```python")


@pytest.mark.slow
def test_the_documents_tests_pass(folder: Path) -> None:
    without = [word for plugin in ("cacheprovider", "tflm_sim") for word in ("-p", f"no:{plugin}")]
    command = [sys.executable, "-m", "pytest", "-q", *without, "--import-mode=prepend", "."]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "2 passed" in result.stdout


def test_the_function_that_sizes_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    namespace: dict[str, object] = {}
    exec(FILES["size_with_my_filter.py"], namespace)
    size = namespace["needed"]("model.tflite")  # type: ignore[operator]
    assert size % 16 == 0
    assert size > 24 + 16 + 64


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_work(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(command)
    assert program == "tflm-sim"
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""
