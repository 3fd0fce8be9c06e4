"""``tflm-sim board read``: read a recorded run again, as if the board sent it now."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, arena_size, header
from tflm_sim.cli.things import refuse_other_kind
from tflm_sim.errors import UsageError
from tflm_sim.extensions.board.device_text import INCONCLUSIVE, EventPrinter, expect_model
from tflm_sim.extensions.board.monitor import Monitor
from tflm_sim.files import opened
from tflm_sim.logs.encodings import Utf8Stream

ABOUT = """
Use it like 'board listen', for a log that is already in a file.
"""
EXAMPLES = """
tflm-sim board read run.log
tflm-sim board read run.log --model person_detect.tflite --target esp32 --quiet
tflm-sim board read run.log --json | jq 'select(.event == "ArenaReport")'
"""
EXITS = {
    0: "all reports agree with the simulation (without --model: all are complete)",
    1: "a report differs from the simulation",
    3: "a report is incomplete or damaged, the log has no report and no failure, or the model cannot be read",
}
_PIECE = 1 << 16


def register(subparsers: Subparsers) -> None:
    summary = "read a recorded run and compare its reports with the simulation"
    parser = add_verb(subparsers, "read", EXAMPLES, about=ABOUT, exits=EXITS, summary=summary)
    parser.add_argument(
        "log", metavar="LOG", help="what 'board listen --record' wrote, or any log; - is standard input"
    )
    parser.add_argument("--model", metavar="MODEL", help="the model on the board: a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--arena-size", metavar="N", help="the size of the firmware's arena, to explain failures")
    parser.add_argument("--quiet", action="store_true", help="print only what is recognised, not the log")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line: what is recognised, and the log"
    )


def run(args: argparse.Namespace) -> int:
    expected = expect_model(args)
    printer = EventPrinter(sys.stdout, expected, show_log=not args.quiet, as_json=args.json)
    if expected is not None and not args.json:
        printer.say_all(header(args, expected.configuration))
    monitor = Monitor(arena_size(args))
    for piece in pieces(args.log):
        for event in monitor.feed(piece):
            printer(event)
    for event in monitor.close():
        printer(event)
    if not printer.has_result:
        printer.say("no report and no failure of TensorFlow Lite Micro is in this log")
    return printer.exit_code if printer.has_result or printer.torn else INCONCLUSIVE


def pieces(name: str) -> Iterator[bytes]:
    """Yield a log as UTF-8, piece by piece; "-" is standard input.

    Raises:
        UsageError: It cannot be read.
    """
    refuse_other_kind(name, "board read")
    stream = Utf8Stream()
    try:
        with contextlib.ExitStack() as stack:
            file: Any = sys.stdin.buffer if name == "-" else stack.enter_context(opened(name))
            while piece := file.read1(_PIECE):  # What is there: a pipe may be a board that goes on.
                yield stream.feed(piece)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise UsageError(f"{name} cannot be read: a name has no null character") from None
    yield stream.close()
