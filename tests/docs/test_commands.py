"""The program takes every command of the pages; those that tests/test_set_up.py does not run are named here."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from commands import Command, Served, commands, words_of

from tflm_sim.cli import parsed
from tflm_sim.errors import UsageError

NOT_RUN = {
    "tflm-sim serve": "runs until Ctrl-C; tests/browser opens what it serves",
    "tflm-sim sweep /shared/zoo": "needs a cluster; tests/cluster has one",
    "tflm-sim mcp": "answers until its client ends; tests/firmware asks it over the official client",
    "tflm-sim check FOLDER": "needs a project; tests/cli has several",
    "tflm-sim check okay_nabu.json": "needs ESPHome's manifest and its model",
    "tflm-sim check sine": "needs the sketch that the page shows; tests/cli has it",
    "tflm-sim shrink model.h -o model.h": "needs a sketch's own source; tests/cli has one",
    "tflm-sim diff model.tflite --firmware old.elf": "needs two programs for the model; tests/firmware has them",
    "tflm-sim board replay": "needs a board; tests/firmware runs it against QEMU's",
}
"""The start of a command, and where it is run instead."""


def is_a_name(command: str) -> bool:
    """Tell whether a verb alone, or a command of ``board``, is its name: one that cannot be without arguments."""
    words = command.split()[1:]
    if len(words) != (2 if words[:1] == ["board"] else 1):
        return False
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            parsed(words)
        except UsageError:
            return True
        except SystemExit:  # The help, or the version.
            return False
    return False


COMMANDS = [command for command in commands() if not is_a_name(command.text)]
FIRST = {command.text: command for command in reversed(COMMANDS)}
RUN = sorted(command for command in FIRST.values() if not command.text.startswith(tuple(NOT_RUN)))
"""What tests/test_set_up.py runs: each command once, as one of the first page that has it."""
PARSED = [command for command in COMMANDS if "--version" not in command.text]


def test_the_pages_have_commands_and_few_of_them_cannot_run() -> None:
    assert len(RUN) > 70
    assert {start for start in NOT_RUN for command in COMMANDS if command.text.startswith(start)} == set(NOT_RUN)


@pytest.mark.parametrize("command", PARSED, ids=lambda command: f"{command.page}: {command.text}")
def test_the_program_takes_every_command_of_the_pages(command: Command) -> None:
    words = words_of(command.text, Served("http://m", "port", "port"))[1:]
    parsed(words)
