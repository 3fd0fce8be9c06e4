"""``tflm-sim replay``: read a recorded run again, as if the board sent it now."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tflm_sim.board.monitor import Monitor
from tflm_sim.cli.device_text import EventPrinter, expect_model
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.errors import UsageError

EXAMPLES = """
tflm-sim replay run.log
tflm-sim replay run.log --model person_detect.tflite --target esp32 --quiet
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "replay", "read a recorded run and compare its reports with the simulation", EXAMPLES)
    parser.add_argument("log", metavar="FILE", help="what 'monitor --record' wrote, or any log of a board")
    parser.add_argument("--model", metavar="MODEL", help="what the board ran: a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--quiet", action="store_true", help="only what is recognised, not the log")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 1 when a report differs from the simulation, else 0."""
    expected = expect_model(args.model, configuration(args)) if args.model is not None else None
    try:
        data = Path(args.log).read_bytes()
    except OSError as error:
        raise UsageError(f"{args.log} cannot be read: {error.strerror}") from None
    printer = EventPrinter(sys.stdout, expected, show_log=not args.quiet)
    monitor = Monitor()
    for event in [*monitor.feed(data), *monitor.close()]:
        printer(event)
    printer.close()
    return 1 if printer.differences else 0
