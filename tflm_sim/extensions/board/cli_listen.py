"""``tflm-sim board listen``: listen to a board, show its log, compare each report with the simulation."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, arena_size, header, typed
from tflm_sim.cli.terminal import say
from tflm_sim.errors import UsageError
from tflm_sim.extensions.board.device_text import INCONCLUSIVE, EventPrinter, expect_model
from tflm_sim.extensions.board.itm import ItmStream
from tflm_sim.extensions.board.live_view import LiveView
from tflm_sim.extensions.board.session import watch
from tflm_sim.extensions.board.transport import DEFAULT_BAUD, Port, open_port
from tflm_sim.numbers import seconds, whole
from tflm_sim.planners.deadline import deadline_in

ABOUT = """
Use it to find out whether your board measures what the simulation says. It
reads what TFLM prints on a serial port.
"""
EXAMPLES = """
tflm-sim board listen /dev/ttyUSB0
tflm-sim board listen /dev/ttyACM0 --model person_detect.tflite --target esp32 --record run.log
tflm-sim board listen usb:303a:1001 --timestamps
tflm-sim board listen serial:E6614103E7 --json --exit-on-report
tflm-sim board listen socket://localhost:4444 --baud 921600
tflm-sim board listen socket://localhost:3344 --swo --live
"""

EXITS = {
    0: "all reports agree with the simulation (without --model: all are complete)",
    1: "a report differs from the simulation",
    3: "a report is incomplete or damaged, or there was none (--exit-on-report)",
    5: "the port cannot be opened, or it disappeared and --once was given",
}
SWO_HELP = "decode the bytes as ITM packets of a trace pin (SWO), and read stimulus port 0"
PORT_HELP = (
    "a device path, usb:VID:PID, serial:NUMBER, socket://, rfc2217:// or loop://; 'tflm-sim board ports' lists them"
)


def register(subparsers: Subparsers) -> None:
    summary = "listen to a board and compare its reports with the simulation"
    parser = add_verb(subparsers, "listen", EXAMPLES, about=ABOUT, exits=EXITS, summary=summary)
    parser.add_argument("port", metavar="PORT", help=PORT_HELP)
    parser.add_argument(
        "--baud",
        type=typed(whole, least=1),
        default=DEFAULT_BAUD,
        metavar="N",
        help="the baud rate (default: %(default)s)",
    )
    parser.add_argument("--model", metavar="MODEL", help="the model on the board: a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--record", metavar="FILE", help="store every received byte in FILE, for 'board read'")
    parser.add_argument("--quiet", action="store_true", help="print only what is recognised, not the log")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="print one JSON object per line: what is recognised, and the log"
    )
    form.add_argument("--live", action="store_true", help="keep what is recognised on the screen, above the log")
    parser.add_argument("--swo", action="store_true", help=SWO_HELP)
    parser.add_argument("--timestamps", action="store_true", help="print the time (UTC) before each line")
    parser.add_argument(
        "--exit-on-report",
        action="store_true",
        help="end after the first report or failure (exit code 3 if there is none in --seconds)",
    )
    parser.add_argument("--arena-size", metavar="N", help="the size of the firmware's arena, to explain failures")
    parser.add_argument("--once", action="store_true", help="end when the port disappears, instead of waiting for it")
    parser.add_argument(
        "--seconds", type=typed(seconds), metavar="S", help="end after S seconds (default: end on Ctrl-C)"
    )


def run(args: argparse.Namespace) -> int:
    expected = expect_model(args)
    clock = _utc if args.timestamps else str
    printer = EventPrinter(sys.stdout, expected, show_log=not args.quiet, as_json=args.json, clock=clock)
    if expected is not None and not args.json:
        printer.say_all(header(args, expected.configuration))
    view = LiveView(args.port) if args.live else None
    size = arena_size(args)
    deadline = deadline_in(args.seconds)

    def has_ended() -> bool:
        return args.exit_on_report and printer.has_result

    with ExitStack() as stack:
        record = None if args.record is None else stack.enter_context(_open_record(args.record))
        if view is not None:
            stack.enter_context(view).shows(printer)
        try:
            watch(
                lambda: _open(args),
                on_event=lambda event: None if has_ended() else printer(event),
                on_status=printer.say if view is None else view.tell,
                record=record,
                keep_going=lambda: not deadline.is_over and not has_ended(),
                arena_size=size,
                reconnect=not args.once,
            )
        except KeyboardInterrupt:
            say("")
    return printer.exit_code if printer.has_result or not args.exit_on_report else INCONCLUSIVE


class _TracePin:
    """A port that carries ITM packets, which are decoded to the firmware's text (mutable)."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._packets = ItmStream()
        self.write, self.close = port.write, port.close

    def read(self) -> bytes:
        return self._packets.feed(self._port.read())


def _open(args: argparse.Namespace) -> Port:
    port = open_port(args.port, baud=args.baud)
    return _TracePin(port) if args.swo else port


def _open_record(path: str) -> BinaryIO:
    try:
        return Path(path).open("xb")
    except FileExistsError:
        raise UsageError(f"{path} exists; name another file to record to") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _utc() -> str:
    return f"{datetime.now(UTC):%H:%M:%S.%f}"[:-3] + " "
