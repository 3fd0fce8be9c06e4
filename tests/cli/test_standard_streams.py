"""Every verb with stdin, stdout and stderr closed, full, and with nobody at the other end.

What stdin and stderr are changes no answer. A closed stdout takes nothing and changes no exit code; a full one is one
sentence; of one that nobody reads any more only a verdict is lost.
"""

from __future__ import annotations

import itertools
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tflm_sim.cli.verbs import verbs

SINE = "sample:sine"
COMMANDS: dict[str, tuple[str, ...]] = {
    "board": ("board", "ports"),
    "bug-report": ("bug-report", SINE),
    "check": ("check", SINE, "--limit", "100"),
    "completion": ("completion", "bash"),
    "diff": ("diff", SINE, SINE, "--target", "cortex-m4", "--kernels", "reference"),
    "explain": ("explain", "Failed to allocate tail memory. Requested: 64, available 0, missing: 64"),
    "firmware": ("firmware", "absent.elf"),
    "lite": ("lite", SINE),
    "mcp": ("mcp", "absent"),
    "list": ("list", "targets"),
    "plan": ("plan", SINE),
    "report": ("report", SINE, "-o", "report.svg"),
    "serve": ("serve", "absent"),
    "shrink": ("shrink", SINE),
    "size": ("size", SINE),
    "sweep": ("sweep", SINE, "-o", "rows.csv", "--overwrite", "--jobs", "1"),
    "trace": ("trace", SINE),
    "a wrong option": ("size", SINE, "--no-such-option"),
    "no file": ("size", "absent.tflite"),
}
EACH_TIME = ("check", "report", "no file")
"""A document, a file and a sentence: the others go through the same functions, and are asked each night."""
NAMES = [name if name in EACH_TIME else pytest.param(name, marks=pytest.mark.nightly) for name in COMMANDS]
STREAMS, STATES = ("stdin", "stdout", "stderr"), ("closed", "full", "broken")
NO_ROOM = "tflm-sim: output: No space left on device\n"


@contextmanager
def opened(stream: str, state: str) -> Iterator[dict[str, object]]:
    """Yield what makes a process's stream closed, full or broken."""
    number = STREAMS.index(stream)
    if state == "closed":
        yield {"preexec_fn": lambda: os.close(number)}
        return
    if state == "full":
        here = os.open("/dev/full", os.O_RDWR)
    else:
        ends = os.pipe()
        here = ends[min(number, 1)]
        os.close(ends[1 - min(number, 1)])
    try:
        yield {stream: here}
    finally:
        os.close(here)


def run(command: tuple[str, ...], folder: Path, **streams: object) -> tuple[int, str, str]:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    root = str(Path(__file__).parents[2])
    # Without PYTHONUNBUFFERED a failure is met at the last flush, with it at the first line.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    argv = [sys.executable, "-P", "-m", "tflm_sim", *command]
    result = subprocess.run(argv, cwd=folder, text=True, check=False, env={**environment, "PYTHONPATH": root}, **pipes)
    return result.returncode, result.stdout or "", result.stderr or ""


def test_every_verb_stands_in_the_matrix() -> None:
    assert {command[0] for command in COMMANDS.values()} == set(verbs(of_others=False))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("name", NAMES)
def test_no_stream_makes_an_error_of_tflm_sim(name: str, tmp_path: Path) -> None:
    command = COMMANDS[name]
    usual = run(command, tmp_path)
    assert usual[0] in (0, 1, 2, 3)
    for stream, state in itertools.product(STREAMS, STATES):
        with opened(stream, state) as streams:
            code, said, complained = run(command, tmp_path, **streams)
        if (stream, state) == ("stdout", "full") and usual[1]:
            assert (code, complained) == (usual[0] or 2, usual[2] + NO_ROOM), (stream, state)
        else:
            assert code == usual[0], (stream, state, complained)
            assert stream == "stderr" or complained == usual[2], (stream, state)
        assert stream == "stdout" or bool(said) == bool(usual[1])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_verdict_whose_reader_is_gone_before_it_is_said_is_unknown() -> None:
    with opened("stdout", "broken") as streams:
        argv = [sys.executable, "-u", "-m", "tflm_sim", "check", SINE, "--limit", "64KiB"]
        result = subprocess.run(argv, stderr=subprocess.PIPE, check=False, **streams)
    assert (result.returncode, result.stderr) == (3, b"")


def test_a_closed_stream_does_not_give_its_number_to_a_file(tmp_path: Path) -> None:
    code = "import os, sys; from tflm_sim.cli.streams import open_standard_streams as o; o(); print(os.open('x', 65))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, preexec_fn=lambda: os.close(2), stdout=subprocess.PIPE, check=False
    )
    assert int(result.stdout) > 2


def on_a_terminal(command: tuple[str, ...], folder: Path, columns: int) -> tuple[int, str]:
    """Return the exit code of a command on a terminal of its own, and what is on it at the end, colours taken out."""
    screen, end = pty.openpty()
    termios.tcsetwinsize(end, (24, columns))
    root = str(Path(__file__).parents[2])
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "CI")}
    argv = [sys.executable, "-P", "-m", "tflm_sim", *command]
    process = subprocess.Popen(
        argv, cwd=folder, env={**environment, "PYTHONPATH": root, "TERM": "xterm"}, stdin=end, stdout=end, stderr=end
    )
    os.close(end)
    said = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(screen, 65536):
            said += part
    os.close(screen)
    return process.wait(), re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", said).decode()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 20])
@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_however_narrow_changes_no_answer(name: str, columns: int, tmp_path: Path) -> None:
    usual = run(COMMANDS[name], tmp_path)
    code, said = on_a_terminal(COMMANDS[name], tmp_path, columns)
    assert code == usual[0], said
    assert "Traceback" not in said
    assert bool(said) == bool(usual[1] + usual[2])
