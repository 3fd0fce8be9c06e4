"""The exit codes in a verb's help are those that occur: each is run here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

SINE = "sample:sine"
CASES = [
    ("size", [SINE], 0),
    ("size", [SINE, "--arena-size", "100"], 1),
    ("size", [SINE, "--target", "toaster"], 2),
    ("size", ["none.tflite"], 3),
    ("size", ["fails.tflite"], 4),
    ("check", [SINE, "--limit", "64KiB"], 0),
    ("check", [SINE, "--limit", "64"], 1),
    ("check", ["fails.tflite", "--limit", "64KiB"], 1),
    ("check", [SINE, "--limit", "64KiB", "--ram-free", "1KiB"], 2),
    ("check", [SINE, "--board", "nano33ble"], 3),
    ("diff", [SINE], 0),
    ("diff", [SINE, "sample:keyword_spotter", "--fail-on-increase"], 1),
    ("diff", [SINE, "fails.tflite", "--fail-on-increase"], 1),
    ("diff", [SINE, SINE, SINE], 2),
    ("diff", ["fails.tflite", SINE, "--fail-on-increase"], 3),
    ("trace", [SINE], 0),
    ("trace", ["none.tflite"], 3),
    ("trace", ["fails.tflite"], 4),
    ("lifetimes", [SINE], 0),
    ("lifetimes", [SINE, "--invoke", "0"], 2),
    ("lifetimes", ["none.tflite"], 3),
    ("lifetimes", ["fails.tflite"], 4),
    ("plan", [SINE], 0),
    ("plan", [SINE, "--write", "planned.tflite"], 1),
    ("plan", ["none.tflite"], 3),
    ("plan", ["fails.tflite"], 4),
    ("report", [SINE, "-o", "report.html"], 0),
    ("report", [SINE, "-o", "report.html", "--arena-size", "100"], 4),
    ("report", ["none.tflite", "-o", "report.html"], 3),
    ("explain", ["AllocateTensors() failed"], 0),
    ("explain", ["the weather is nice"], 1),
    ("explain", ["boot.log"], 2),
    ("explain", ["AllocateTensors() failed", "--model", "none.tflite"], 3),
    ("ports", [], 1),
    ("bisect", [SINE, "--between", "2021-08-10", "--and", "2021-08-12", "--target", "x86_64"], 1),
    ("libraries", ["qarduino"], 2),
    ("compare", [SINE, "--boards", "pico"], 0),
    ("compare", ["fails.tflite", "--boards", "pico"], 1),
    ("compare", ["none.tflite", "--boards", "pico"], 3),
    ("sweep", [SINE, "-o", "rows.csv", "--jobs", "1"], 0),
    ("sweep", [SINE, "-o", "rows.csv", "--jobs", "1", "--worker-memory", "1GiB"], 0),
    ("sweep", [SINE], 2),
    ("shrink", [SINE], 1),
    ("shrink", ["none.tflite"], 3),
    ("firmware", ["none.elf"], 3),
    ("lite", ["none.tflite"], 3),
    ("run", ["none.elf"], 3),
    ("boards", [], 0),
    ("targets", ["toaster"], 2),
    ("ops", ["--library", "qarduino"], 2),
]


def listed(verb: str, capsys: pytest.CaptureFixture[str]) -> set[int]:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    return {
        int(code) for code in re.findall(r"^  (\d+) ", capsys.readouterr().out.split("exit codes:")[1], re.MULTILINE)
    }


@pytest.mark.parametrize(("verb", "arguments", "code"), CASES, ids=[f"{verb}-{code}" for verb, _, code in CASES])
def test_an_exit_code_occurs_and_stands_in_the_help(
    verb: str,
    arguments: list[str],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    builder = ModelBuilder()
    tensor = builder.tensor((1, 8), TensorType.INT8)
    builder.custom("nobody_has_this", [tensor], [tensor])
    (tmp_path / "fails.tflite").write_bytes(builder.build(inputs=[tensor], outputs=[tensor]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tflm_sim.cli.ports.list_ports", list)
    assert main([verb, *arguments]) == code
    assert code in listed(verb, capsys)


@pytest.mark.parametrize("verb", VERBS)
def test_every_no_and_every_failure_of_tflm_in_a_help_is_run(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The tests of some verbs run theirs; only a flaw of ours makes ``lifetimes --invoke`` say 1."""
    ours = {(name, code) for name, _, code in CASES if code in (1, 4)}
    elsewhere = {"firmware", "lite", "compare", "sweep", "shrink", "monitor", "replay", "replay-on", "run"}
    said = {(verb, code) for code in listed(verb, capsys) if code in (1, 4)}
    assert verb in elsewhere or said - {("lifetimes", 1)} <= ours
