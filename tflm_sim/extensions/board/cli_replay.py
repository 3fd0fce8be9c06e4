"""``tflm-sim board replay``: let a board carry out the simulated allocations in its own memory."""

from __future__ import annotations

import argparse
import sys

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, arena_size, configuration, header, typed
from tflm_sim.cli.terminal import say
from tflm_sim.errors import EXIT_CODES, UsageError
from tflm_sim.extensions.board.device_replay import replay_script
from tflm_sim.extensions.board.link_events import Hello
from tflm_sim.extensions.board.replay import ReplayOutcome, ReplayScript, run_script
from tflm_sim.extensions.board.session import Session
from tflm_sim.extensions.board.transport import DEFAULT_BAUD, open_port
from tflm_sim.model.load import load
from tflm_sim.numbers import whole
from tflm_sim.units import format_size

ABOUT = """
The board needs the replay firmware of this repository (firmware_stub/), but
neither TFLM nor the model.
"""
EXAMPLES = """
tflm-sim board replay /dev/ttyACM0 model.tflite --target cortex-m4
tflm-sim board replay socket://localhost:4444 sample:keyword_spotter --arena-size 64KiB
"""

EXITS = {0: "board and simulation agree on everything", 1: "they differ", 4: EXIT_CODES[4], 5: EXIT_CODES[5]}


def register(subparsers: Subparsers) -> None:
    summary = "carry out the allocations on a board and compare every offset"
    parser = add_verb(subparsers, "replay", EXAMPLES, about=ABOUT, exits=EXITS, summary=summary)
    parser.add_argument(
        "port",
        metavar="PORT",
        help="the port of a board with the replay firmware: a path, usb:VID:PID, serial:NUMBER or a URL",
    )
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "--baud",
        type=typed(whole, least=1),
        default=DEFAULT_BAUD,
        metavar="N",
        help="the baud rate (default: %(default)s)",
    )
    parser.add_argument(
        "--arena-size", metavar="N", help="the size of the arena (default: the smallest multiple of 16 that works)"
    )
    add_configuration(parser, leave_out=("planner", "own_planner"))


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 0 when device and simulation agree on everything, else 1."""
    config, model = configuration(args), load(args.model)
    size = arena_size(args)
    if size is None:
        size = smallest_arena(model, config).multiple_of_16
    script = replay_script(simulate(model, config, arena_size=size))
    with open_port(args.port, baud=args.baud) as port:
        session = Session(port)
        hello = session.hello()
        _check_room(hello, script)
        outcome = run_script(script, session.ask)
    say(*header(args, config))
    _say(hello, script, outcome)
    return 0 if not outcome.mismatches else 1


def _check_room(hello: Hello, script: ReplayScript) -> None:
    if script.arena_size > hello.room:
        raise UsageError(f"{hello.app} has {format_size(hello.room)} for an arena of {format_size(script.arena_size)}")
    if script.buffer_count > hello.buffers:
        raise UsageError(f"{hello.app} plans up to {hello.buffers} buffers, the model has {script.buffer_count}")


def _say(hello: Hello, script: ReplayScript, outcome: ReplayOutcome) -> None:
    say(f"{hello.app}: {outcome.steps} of {len(script.steps)} steps in an arena of {format_size(script.arena_size)}")
    say(f"head {outcome.head:,}, tail {outcome.tail:,}, high-water mark {outcome.mark:,} bytes")
    if outcome.bad_bytes:
        say(
            f"memory check: {outcome.bad_bytes:,} bytes were overwritten while in use, "
            f"the first at {outcome.bad_offset:,}"
        )
    else:
        say("memory check: every byte kept its pattern while its allocation was alive")
    for mismatch in outcome.mismatches:
        where = "at the end" if mismatch.index < 0 else f"step {mismatch.index}"
        say(f"{where}: {mismatch.about}: simulation {mismatch.expected}, device {mismatch.got}", file=sys.stderr)
    if not outcome.mismatches:
        say("device and simulation agree on every offset and figure")
