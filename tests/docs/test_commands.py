"""Every command of the pages runs, with what the pages speak of at hand; those that do not are named here, and why."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from commands import Command, Served, commands, furnish, run, serving, words_of

from tflm_sim.cli import build_parser

NOT_RUN = {
    "tflm-sim serve": "runs until Ctrl-C; tests/browser opens what it serves",
    "tflm-sim sweep /shared/zoo": "needs a cluster; tests/cluster has one",
    "tflm-sim shrink model.tflite --firmware build/app.elf --prove": "needs TFLM's kernels; tests/firmware has its own",
    "tflm-sim replay-on": "needs a board; tests/firmware runs it against QEMU's",
}
"""The start of a command, and where it is run instead."""


def is_a_name(command: str) -> bool:
    """Tell whether a verb alone is the verb's name: one that cannot be without arguments."""
    words = command.split()[1:]
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            build_parser(words[0]).parse_args(words)
        except SystemExit as end:
            return len(words) == 1 and end.code != 0
    return False


COMMANDS = [command for command in commands() if not is_a_name(command.text)]
RUN = [command for command in COMMANDS if not command.text.startswith(tuple(NOT_RUN))]
PARSED = [command for command in COMMANDS if "--version" not in command.text]


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("arm-none-eabi-g++"):
        pytest.skip("arm-none-eabi-g++ is not installed")
    folder = tmp_path_factory.mktemp("furnished")
    furnish(folder)
    return folder


@pytest.fixture(scope="module")
def served(furnished: Path) -> Iterator[Served]:
    with serving((furnished / "run.log").read_bytes()) as addresses:
        yield addresses


def test_the_pages_have_commands_and_few_of_them_cannot_run() -> None:
    assert len(RUN) > 70
    assert {start for start in NOT_RUN for command in COMMANDS if command.text.startswith(start)} == set(NOT_RUN)


@pytest.mark.parametrize("command", PARSED, ids=lambda command: f"{command.page}: {command.text}")
def test_the_program_takes_every_command_of_the_pages(command: Command) -> None:
    words = words_of(command.text, Served("http://m", "port", "port"))[1:]
    build_parser(None).parse_args(words)


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN, ids=lambda command: f"{command.page}: {command.text}")
def test_the_commands_of_the_pages_run(command: Command, furnished: Path, served: Served, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(furnished, folder)
    words = words_of(command.text, served)[1:]
    log = (folder / "run.log").read_text("utf-8")
    for option, name in pairwise(words):
        if option in ("-o", "--record"):
            (folder / name).unlink(missing_ok=True)
    done = run(words, folder, given=log)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stderr
