"""``action.yml``: its check step, run as the script that it is, with a step summary and a baseline."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.samples import sample_path

yaml = pytest.importorskip("yaml")
ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).resolve().parents[2] / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


class Runner:
    """Runs the check step in a folder of its own, as the CI's runner does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.streams = ""
        self.summary, self.output = folder / "summary.md", folder / "output"
        program = folder / "bin" / "tflm-sim"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tflm_sim "$@"\n', "utf-8")
        program.chmod(0o755)
        for name in ("sine", "keyword_spotter"):
            (folder / f"{name}.tflite").write_bytes(sample_path(name).read_bytes())

    def check(self, **inputs: str) -> int:
        """Run the step with inputs (the others have their defaults) and return its exit code."""
        defaults = {name: str(row.get("default", "")) for name, row in ACTION["inputs"].items()}
        values = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
            for name, text in STEPS["Check"]["env"].items()
        }
        script = self.folder / "step.sh"
        script.write_text(STEPS["Check"]["run"], "utf-8")
        result = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.folder,
            env={
                **os.environ,
                **environment,
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_OUTPUT": str(self.output),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.streams = result.stdout + result.stderr
        return result.returncode

    def verdicts(self) -> list[dict[str, Any]]:
        """Return the output of the last run."""
        text = self.output.read_text("utf-8").rpartition("verdicts<<END_OF_VERDICTS\n")[2]
        return [json.loads(line) for line in text.partition("END_OF_VERDICTS")[0].splitlines()]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_models_that_fit(runner: Runner) -> None:
    assert runner.check(models="*.tflite", limit="64KiB", kernels="reference") == 0
    assert [verdict["smallest_arena_multiple_of_16"] for verdict in runner.verdicts()] == [22784, 1072]
    summary = runner.summary.read_text("utf-8")
    assert "### ✅ `sine.tflite`" in summary
    assert "| 1,072 B | 65,536 B (64.0 KiB) | - | `cortex-m4 (reference, plain, greedy)` |" in summary


def test_a_model_that_does_not_fit_fails_the_step_and_the_others_are_still_judged(runner: Runner) -> None:
    assert runner.check(models="keyword_spotter.tflite sine.tflite", limit="2KiB") == 1
    assert [verdict["fits"] for verdict in runner.verdicts()] == [False, True]
    assert "### ❌ `keyword_spotter.tflite`" in runner.summary.read_text("utf-8")


def test_a_baseline_is_written_then_held(runner: Runner) -> None:
    inputs = {"models": "sine.tflite", "limit": "64KiB", "kernels": "reference", "baseline": "sizes.json"}
    assert runner.check(**inputs, update_baseline="true") == 0
    path = runner.folder / "sizes.json"
    document = json.loads(path.read_text("utf-8"))
    assert document["sizes"] == {"sine.tflite on cortex-m4 (reference, plain, greedy)": 1072}
    assert runner.check(**inputs) == 0
    document["sizes"] = {key: size - 16 for key, size in document["sizes"].items()}
    path.write_text(json.dumps(document), "utf-8")
    assert runner.check(**inputs) == 1
    assert "| +16 B |" in runner.summary.read_text("utf-8")


def test_a_broken_file_has_an_exit_code_of_its_own(runner: Runner) -> None:
    (runner.folder / "bad.tflite").write_bytes(b"not a model")
    assert runner.check(models="bad.tflite sine.tflite", limit="64KiB") == 3


@pytest.mark.parametrize("name", ["##[error]x", "-x", "a\n::error::y\x1b[31m", "::error::z", "b ##[warning]", "$(id)"])
def test_a_hostile_file_name_is_no_command_for_the_runner(name: str, runner: Runner) -> None:
    for path in runner.folder.glob("*.tflite"):
        path.unlink()
    (runner.folder / f"{name}.tflite").write_bytes(sample_path("sine").read_bytes())
    assert runner.check(models="*.tflite", limit="64KiB") == 0
    assert [verdict["fits"] for verdict in runner.verdicts()] == [True]
    for line in runner.streams.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "\x1b" not in line


def test_no_models_at_all_fail_the_step(runner: Runner) -> None:
    assert runner.check(models=" \n", limit="64KiB") == 2


def test_every_input_is_used_and_every_used_one_is_declared() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION["runs"])))
    assert used == ACTION["inputs"].keys()


def test_no_input_is_pasted_into_a_script() -> None:
    assert not any("${{" in step["run"] for step in STEPS.values())


def test_the_installation_is_the_actions_own_unless_asked_otherwise() -> None:
    assert STEPS["Install"]["run"].strip() == 'python3 -P -m pip install --quiet "${INSTALL:-$ACTION_PATH}"'
    assert STEPS["Install"]["env"]["ACTION_PATH"] == "${{ github.action_path }}"
