"""``tflm-sim board``: a real board is listened to, its log read, the simulation replayed on it; one module for each."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.extensions.board import cli_listen, cli_ports, cli_read, cli_replay

ABOUT = """
Use it to find out whether your board measures what the simulation says. Each
of these commands has a --help of its own.
"""
EXAMPLES = """
tflm-sim board ports
tflm-sim board listen /dev/ttyUSB0 --model person_detect.tflite --target esp32
tflm-sim board read run.log --model person_detect.tflite --target esp32
tflm-sim board replay /dev/ttyACM0 model.tflite --target cortex-m4
"""
EXITS = {
    1: "a board and the simulation differ, or there is no port",
    3: "a report, a log or a model cannot be read, or there was none",
    4: cli_replay.EXITS[4],
    5: cli_replay.EXITS[5],
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "board", EXAMPLES, about=ABOUT, exits=EXITS)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, module in (("listen", cli_listen), ("read", cli_read), ("replay", cli_replay), ("ports", cli_ports)):
        module.register(commands)
        commands.choices[name].set_defaults(run_on_board=module.run)


def run(args: argparse.Namespace) -> int:
    """Carry out the command that was named."""
    code: int = args.run_on_board(args)
    return code
