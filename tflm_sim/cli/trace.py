"""``tflm-sim trace``: every event, as text or as JSON lines; or when each tensor is alive (``trace_lifetimes.py``)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from tflm_sim.arena.events import Event
from tflm_sim.cli.options import (
    TENSOR_HELP,
    Subparsers,
    add_configuration,
    add_executed,
    add_verb,
    arena_size,
    configured,
    header,
    is_executed,
    measured,
    named_models,
    possible_configurations,
    program_header,
    simulated,
    typed,
)
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.load import load
from tflm_sim.numbers import whole
from tflm_sim.registry import part_lines
from tflm_sim.report.trace_rows import trace_line, trace_row

ABOUT = """
Use it to see which step of AllocateTensors() allocates what, in order. With
--lifetimes it shows when each tensor is alive: whether one can be read after
Invoke(), and what it costs to keep it. --invoke checks that nothing is
overwritten while it is in use.
"""
EXAMPLES = """
tflm-sim trace model.tflite --target cortex-m4 | less
tflm-sim trace model.tflite --arena-size 64KiB --jsonl > trace.jsonl
tflm-sim trace --firmware build/app.elf --executed
tflm-sim trace model.tflite --lifetimes
tflm-sim trace model.tflite --lifetimes --json > lifetimes.json
tflm-sim trace model.tflite --preserve conv1/Relu --preserve 5
tflm-sim trace model.tflite --preserve-all
tflm-sim trace model.tflite --invoke 10
"""
MOST_INVOCATIONS = 10_000
"""Of --invoke: what a second does not show, more do not either."""
EXITS = {1: "--invoke: a byte is overwritten", 4: "AllocateTensors() fails, or with --invoke Invoke() every time"}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "trace", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="a .tflite file, or sample:NAME; with --executed it can be left out: the program's own",
    )
    add_configuration(parser)
    add_executed(parser)
    parser.add_argument("--arena-size", metavar="N", help="the size of the arena (default: the smallest that works)")
    parser.add_argument(
        "--jsonl", action="store_true", help="print one JSON object per event, with the names of TFLM's traces"
    )
    other = parser.add_argument_group("instead of the events")
    other.add_argument(
        "--lifetimes", action="store_true", help="show when the buffers are alive that share the head of the arena"
    )
    other.add_argument("--json", action="store_true", help="with --lifetimes: print every buffer as one JSON document")
    other.add_argument(
        "--preserve",
        action="append",
        default=[],
        metavar="X",
        help=f"say what it costs to keep a tensor until the end of Invoke(): {TENSOR_HELP}",
    )
    other.add_argument("--preserve-all", action="store_true", help="say what preserve_all_tensors costs")
    other.add_argument(
        "--invoke",
        type=typed(whole, least=1, most=MOST_INVOCATIONS),
        metavar="N",
        help="run AllocateTensors() under the sanitizer, then invoke N times (10,000 at most) and check every byte",
    )


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 4 where AllocateTensors() fails."""
    is_of_events = not (args.lifetimes or args.preserve or args.preserve_all) and args.invoke is None
    if is_of_events and args.json:
        raise UsageError("--json goes with --lifetimes; --jsonl prints the events")
    (args.model,) = named_models(args, [] if args.model is None else [args.model])
    if is_of_events and is_executed(args, "arena_size"):
        return _executed(args)
    if not is_of_events:
        from tflm_sim.cli.trace_lifetimes import run_sanitizer, say_lifetimes

        return say_lifetimes(args) if args.invoke is None else run_sanitizer(args)
    model = load(args.model)
    config, need = configured(args, args.model, model)
    simulation = simulated(model, config, arena_size(args))
    if args.arena_size is None and simulation.smallest is not None:
        simulation = simulated(model, config, simulation.smallest.multiple_of_16)
    _say(args, [*program_header(need), *header(args, config)], simulation.events)
    return 0 if simulation.failure is None else simulation.failure.exit_code


def _executed(args: argparse.Namespace) -> int:
    """Print the requests to the allocator of an executed program, in its own arena."""
    model = None if args.model is None else load(args.model)
    found = measured(args, model, possible_configurations(args))
    _say(args, part_lines("SizeDocument", found.parts), found.events())
    return 0 if found.fits else SimulatedFailure.exit_code


def _say(args: argparse.Namespace, head: Iterable[str], events: Iterable[Event]) -> None:
    say(*head, file=sys.stderr if args.jsonl else sys.stdout)
    for event in events:
        if args.jsonl:
            say_json(trace_row(event), indent=None)
        else:
            say(trace_line(event))
