"""``tflm-sim monitor``: listen to a board, show its log, compare each report with the simulation."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from tflm_sim.board.session import watch
from tflm_sim.board.transport import DEFAULT_BAUD, open_port
from tflm_sim.cli.device_text import EventPrinter, expect_model
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.cli.terminal import say
from tflm_sim.errors import UsageError

EXAMPLES = """
tflm-sim monitor /dev/ttyUSB0
tflm-sim monitor /dev/ttyACM0 --model person_detect.tflite --target esp32 --record run.log
tflm-sim monitor socket://localhost:4444 --baud 921600
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "monitor", "listen to a board and compare its reports with the simulation", EXAMPLES)
    parser.add_argument("port", metavar="PORT", help="a device path, socket://, rfc2217:// or loop://; see 'ports'")
    parser.add_argument("--baud", type=int, default=DEFAULT_BAUD, metavar="N", help="default: %(default)s")
    parser.add_argument("--model", metavar="MODEL", help="what the board runs: a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--record", metavar="FILE", help="keep every byte that arrives; 'replay' reads it")
    parser.add_argument("--quiet", action="store_true", help="only what is recognised, not the log")
    parser.add_argument("--once", action="store_true", help="end when the port is lost, instead of waiting for it")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after this time (default: on Ctrl-C)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 1 when a report differs from the simulation, else 0."""
    expected = expect_model(args.model, configuration(args)) if args.model is not None else None
    printer = EventPrinter(sys.stdout, expected, show_log=not args.quiet)
    with ExitStack() as stack:
        record = stack.enter_context(_open_record(args.record)) if args.record is not None else None
        try:
            watch(
                lambda: open_port(args.port, baud=args.baud),
                on_event=printer,
                on_status=printer.say,
                record=record,
                keep_going=_until(args.seconds),
                reconnect=not args.once,
            )
        except KeyboardInterrupt:
            say("")
    return printer.exit_code


def _open_record(path: str) -> BinaryIO:
    try:
        return Path(path).open("xb")
    except FileExistsError:
        raise UsageError(f"{path} exists; name another file to record to") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _until(seconds: float | None) -> Callable[[], bool]:
    if seconds is None:
        return lambda: True
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end
