"""The exit codes in a verb's help are those that occur: each is run here."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from eon_text import SMALL, eon_text

from tflm_sim.answers.rows import cases
from tflm_sim.answers.simulation import simulate
from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS
from tflm_sim.extensions.board.framing import encode_frame
from tflm_sim.extensions.board.replay import Mismatch, ReplayOutcome
from tflm_sim.extensions.board.transport import SerialPort, open_port
from tflm_sim.extensions.sweep.sweep import iterate_rows
from tflm_sim.extensions.sweep.tables import open_writer
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load
from tflm_sim.model.types import TensorType

SINE = "sample:sine"
CASES = [
    ("size", [SINE], 0),
    ("size", [SINE, "--arena-size", "100"], 1),
    ("size", [SINE, "--target", "toaster"], 2),
    ("size", ["none.tflite"], 3),
    ("size", ["fails.tflite"], 4),
    ("size", ["tflite_learn_compiled.cpp"], 4),
    ("check", [SINE, "--limit", "64KiB"], 0),
    ("check", [SINE, "--limit", "640"], 1),
    ("check", [SINE, "--limit", "64"], 2),
    ("check", ["fails.tflite", "--limit", "64KiB"], 1),
    ("check", [SINE, "--limit", "64KiB", "--ram-free", "1KiB"], 2),
    ("check", [SINE, "--board", "nano33ble"], 3),
    ("check", [], 1),
    ("diff", ["--markdown", "summary.md"], 1),
    ("diff", [], 2),
    ("diff", [SINE, SINE], 0),
    ("diff", [SINE, "sample:keyword_spotter", "--fail-on-increase"], 1),
    ("diff", [SINE, "fails.tflite", "--fail-on-increase"], 1),
    ("diff", [SINE, SINE, SINE], 2),
    ("diff", ["fails.tflite", SINE, "--fail-on-increase"], 3),
    ("trace", [SINE], 0),
    ("trace", ["none.tflite"], 3),
    ("trace", ["fails.tflite"], 4),
    ("trace", [SINE, "--lifetimes"], 0),
    ("trace", ["overlap.tflite", "--invoke", "1"], 1),
    ("trace", [SINE, "--invoke", "0"], 2),
    ("trace", ["none.tflite", "--lifetimes"], 3),
    ("trace", ["fails.tflite", "--lifetimes"], 4),
    ("report", [SINE, "--tensor", "input"], 0),
    ("report", [SINE, "--tensor", "nobody"], 2),
    ("plan", [SINE], 0),
    ("plan", [SINE, "--write", "planned.tflite"], 1),
    ("plan", [SINE, "--bank", "a=64", "--bank", "b=64"], 1),
    ("plan", ["none.tflite"], 3),
    ("plan", ["fails.tflite"], 4),
    ("report", [SINE, "-o", "report.html"], 0),
    ("report", [SINE, "-o", "report.html", "--arena-size", "100"], 4),
    ("report", ["none.tflite", "-o", "report.html"], 3),
    ("explain", ["tensor arena = 2048"], 0),
    ("explain", ["AllocateTensors() failed"], 1),
    ("explain", ["the weather is nice"], 3),
    ("explain", ["boot.log"], 2),
    ("explain", ["AllocateTensors() failed", "--model", "none.tflite"], 3),
    ("board ports", [], 1),
    ("diff", [SINE, "--between", "2021-08-10", "--and", "2021-08-12", "--target", "x86_64"], 1),
    ("list", ["libraries", "qarduino"], 2),
    ("size", [SINE, "--boards", "pico"], 3),
    ("size", ["fails.tflite", "--boards", "pico"], 1),
    ("size", ["none.tflite", "--boards", "pico"], 3),
    ("sweep", [SINE, "-o", "rows.csv", "--jobs", "1"], 0),
    ("sweep", [SINE, "-o", "rows.csv", "--jobs", "1", "--worker-memory", "1GiB"], 0),
    ("sweep", ["--diff", "small.csv", "large.csv"], 1),
    ("sweep", [SINE], 2),
    ("sweep", ["--diff", "nothing.csv", "small.csv"], 2),
    ("sweep", ["none.tflite", "-o", "rows.csv", "--jobs", "1"], 3),
    ("shrink", ["sample:mobilenet_v1_025", "-o", "small.tflite"], 0),
    ("shrink", [SINE], 1),
    ("shrink", [SINE, "--goal", "much"], 2),
    ("shrink", ["none.tflite"], 3),
    ("shrink", ["fails.tflite"], 4),
    ("firmware", ["none.elf"], 3),
    ("lite", [SINE], 0),
    ("lite", ["flex.tflite", "--delegate", "flex"], 1),
    ("lite", [SINE, "--half"], 2),
    ("lite", ["none.tflite"], 3),
    ("lite", ["fails.tflite"], 4),
    ("board read", ["agrees.log", "--model", SINE], 0),
    ("board read", ["differs.log", "--model", SINE], 1),
    ("board read", ["none.log"], 2),
    ("board read", ["torn.log"], 3),
    ("board listen", ["agrees.log", "--model", SINE, "--exit-on-report"], 0),
    ("board listen", ["differs.log", "--model", SINE, "--exit-on-report"], 1),
    ("board listen", ["agrees.log", "--record", "agrees.log"], 2),
    ("board listen", ["torn.log", "--exit-on-report", "--seconds", "0.1"], 3),
    ("board listen", ["none", "--exit-on-report"], 5),
    ("board replay", ["differs", SINE], 1),
    ("board replay", ["none", SINE, "--target", "toaster"], 2),
    ("board replay", ["none", "none.tflite"], 3),
    ("board replay", ["none", "fails.tflite"], 4),
    ("board replay", ["none", SINE], 5),
    ("firmware", ["none.elf", "--run"], 3),
    ("firmware", ["none.elf", "--invoke", "1"], 2),
    ("list", ["boards"], 0),
    ("list", ["targets", "toaster"], 2),
    ("list", ["ops", "--library", "qarduino"], 2),
]


COMMANDS = [*VERBS, "board listen", "board read", "board replay", "board ports"]


def listed(verb: str, capsys: pytest.CaptureFixture[str]) -> set[int]:
    with pytest.raises(SystemExit):
        main([*verb.split(), "--help"])
    return {
        int(code) for code in re.findall(r"^  (\d+) ", capsys.readouterr().out.split("exit codes:")[1], re.MULTILINE)
    }


class RecordedPort:
    """A port that says what stands in a file, and nothing more."""

    def __init__(self, name: str) -> None:
        self._data = Path(name).read_bytes()

    def __enter__(self) -> RecordedPort:
        return self

    def __exit__(self, *_: object) -> None: ...

    def read(self) -> bytes:
        time.sleep(0.01)
        data, self._data = self._data, b""
        return data

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


def port_of(name: str, *, baud: int) -> RecordedPort | SerialPort:
    """Return the port of a recording, the real answer where there is none."""
    return RecordedPort(name) if Path(name).exists() else open_port(name, baud=baud)


def of_custom(name: str) -> bytes:
    """Return a model with one operator of nobody."""
    builder = ModelBuilder()
    tensor, result = (builder.tensor((1, 8), TensorType.INT8) for _ in range(2))
    builder.custom(name, [tensor], [result])
    return builder.build(inputs=[tensor], outputs=[result])


def overlapping() -> bytes:
    """Return a model whose offline plan puts its output where its input is."""
    builder = ModelBuilder()
    tensor, result = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.operator("RELU", [tensor], [result])
    header = b"".join(number.to_bytes(4, "little") for number in (1, 0, 2, 0, 0))
    builder.metadata("OfflineMemoryAllocation", header)
    return builder.build(inputs=[tensor], outputs=[result])


@pytest.fixture
def furnished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in a folder with what CASES name; a recording is a port, and ``board replay`` meets a board that differs."""
    monkeypatch.chdir(tmp_path)
    Path("tflite_learn_compiled.cpp").write_text(eon_text(replace(SMALL, arena_size=64)), "utf-8")
    Path("fails.tflite").write_bytes(of_custom("nobody_has_this"))
    Path("overlap.tflite").write_bytes(overlapping())
    Path("tflm-sim.toml").write_text("models = ['fails.tflite']\n[[firmware]]\nlimit = '64KiB'\n", "utf-8")
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    Path("flex.tflite").write_bytes(of_custom("FlexNobodyHasThis"))
    for name, model in (("small.csv", SINE), ("large.csv", "sample:residual")):
        writer = open_writer(Path(name))
        writer.write([replace(row, model="m") for row in iterate_rows([model], cases(["cortex-m4"]), jobs=1)])
        writer.close()
    used = simulate(load(SINE), "cortex-m4").arena_used_bytes
    assert used is not None
    Path("agrees.log").write_text(f"arena_used_bytes() = {used}\n")
    Path("differs.log").write_text(f"arena_used_bytes() = {used + 1}\n")
    Path("torn.log").write_bytes(encode_frame(0, "begin", {"v": 1, "r": 1, "arena": 1072, "skew": 0}))
    Path("differs").write_bytes(b"")
    Path("nothing.csv").write_bytes(b"")
    differs = ReplayOutcome((Mismatch(-1, "tail", "1,124", "1,128"),), 1, 32, 1128, 1160, 0, -1)
    monkeypatch.setattr("tflm_sim.extensions.board.cli_ports.list_ports", list)
    monkeypatch.setattr("tflm_sim.extensions.board.cli_listen.open_port", port_of)
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.open_port", port_of)
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.Session", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay._check_room", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay._say", Mock())
    monkeypatch.setattr("tflm_sim.extensions.board.cli_replay.run_script", lambda *_: differs)


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize(
    ("verb", "arguments", "code"),
    CASES,
    ids=[f"{verb}-{code}-{'-'.join(arguments)}" for verb, arguments, code in CASES],
)
def test_an_exit_code_occurs_and_stands_in_the_help(
    verb: str, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb.split(), *arguments]) == code
    assert code in listed(verb, capsys)


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_exit_code_of_its_own_in_a_help_is_run(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """2, 3, 70 and 130 mean the same everywhere; what is run elsewhere needs a program, or a flaw of ours."""
    here = {(name, code) for words, _, code in CASES for name in (words, words.split()[0])}
    elsewhere = {
        ("firmware", 1)  # tests/firmware/test_firmware_verb.py
    }
    own = {(verb, code) for code in listed(verb, capsys) if code not in (0, 2, 3, 70, 130)}
    assert own - elsewhere <= here
