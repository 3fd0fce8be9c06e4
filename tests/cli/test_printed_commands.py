"""Commands that are printed can be typed as they stand, and ask about what the answer was about."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.cli import main, options, parsed
from tflm_sim.samples import sample_path

pytest_plugins = ["pytester"]

KERNEL = "from tflm_sim import OpModel\nOWN = OpModel('own')\n"
SETTINGS = [
    ("--board nano33ble --library ArduTFLite.h", {"board": "nano33ble", "library": "ArduTFLite.h"}),
    ("--target esp32-s3 --kernels reference --runtime 2024-06-24 --planner linear", {
        "target": "esp32-s3", "kernels": "reference", "runtime": "2024-06-24", "planner": "linear",
    }),
    ("--target cortex-m55 --optimize-kernels-for size --interpreter recording --arena-address 4 --ethos-u", {
        "target": "cortex-m55", "optimize_kernels_for": "size", "interpreter": "recording", "arena_address": 4,
        "ethos_u": True,
    }),
    ("--target cortex-m4 --own-planner --resource-variables 0 --variable-arena 1024 --custom-ops own.py", {
        "target": "cortex-m4", "own_planner": True, "resource_variables": 0, "variable_arena": "1024",
        "custom_ops": ["own.py"],
    }),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my model.tflite").write_bytes(sample_path("sine").read_bytes())
    Path("own.py").write_text(KERNEL)
    return tmp_path


def shrinking(text: str) -> Any:
    """Return the arguments of the one command with ``shrink`` in a text."""
    [command] = re.findall(r"tflm-sim shrink [^\n]*\d", text)
    return parsed(shlex.split(command)[1:])


def assert_asks_about(found: Any, model: str, goal: str, named: dict[str, Any]) -> None:
    """Compare the settings of a command with those that were given; of a target, a list with one."""
    lists = {name: [value] if name in ("target", "board") else value for name, value in named.items()}
    given = {name: getattr(found, name) for name in options.SETTINGS}
    known = {name: value for name, value in given.items() if value is not None and value is not False and value != []}
    assert (found.model, found.goal, known) == (model, goal, lists)


@pytest.mark.parametrize(("typed", "named"), SETTINGS)
def test_a_model_that_is_too_large_is_shrunk_for_the_same_firmware(
    typed: str, named: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["my model.tflite", *typed.split()]
    assert main(["check", *asked, "--limit", "700"]) == 1
    assert_asks_about(shrinking(capsys.readouterr().out), asked[0], "700", named)
    assert main(["size", *asked, "--arena-size", "700"]) == 1
    assert_asks_about(shrinking(capsys.readouterr().out), asked[0], "700", named)
    assert main(["report", *asked, "--arena-size", "700", "-o", "p.json"]) == 4
    [picture] = json.loads(Path("p.json").read_text("utf-8"))["pictures"]
    assert_asks_about(shrinking(picture["advice"][2]), asked[0], "700", named)


@pytest.mark.parametrize(("typed", "named"), SETTINGS)
def test_so_it_is_in_the_project_file_and_in_pytest(
    typed: str,
    named: dict[str, Any],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in named.items())
    Path("tflm-sim.toml").write_text(f"[[firmware]]\nmodels = ['my model.tflite']\nlimit = 700\n{lines}", "utf-8")
    assert main(["check"]) == 1
    assert_asks_about(shrinking(capsys.readouterr().out), "my model.tflite", "700", named)
    words = ", ".join(f"{name}={value!r}" for name, value in named.items() if name != "custom_ops")
    marker = f"@pytest.mark.arena({str(folder / 'my model.tflite')!r}, limit=700, {words})"
    pytester.makepyfile(f"import pytest\n{marker}\ndef test_it(): pass\n")
    monkeypatch.chdir(pytester.path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("CI", raising=False)  # There, pytest prints the whole failure in its summary too.
    result = pytester.runpytest_inprocess("-p", "tflm_sim.extensions.ci.pytest_plugin", "-p", "no:cacheprovider")
    rest = {name: value for name, value in named.items() if name != "custom_ops"}  # There they are objects.
    assert_asks_about(shrinking(str(result.stdout)), str(folder / "my model.tflite"), "700", rest)
