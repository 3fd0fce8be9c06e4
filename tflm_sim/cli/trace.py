"""``tflm-sim trace``: every event, as text or as JSON lines."""

from __future__ import annotations

import argparse
import sys

from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration, header, simulated
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.model.load import load
from tflm_sim.report.trace import trace_line, trace_row
from tflm_sim.units import parse_size

EXAMPLES = """
tflm-sim trace model.tflite --target cortex-m4 | less
tflm-sim trace model.tflite --arena-size 64KiB --jsonl > trace.jsonl
"""
EXITS = {4: "AllocateTensors() fails"}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "trace", "print every allocation event of AllocateTensors()", EXAMPLES, exits=EXITS)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--arena-size", metavar="N", help="bytes of the arena (default: the smallest that works)")
    parser.add_argument(
        "--jsonl", action="store_true", help="one JSON object an event, in the vocabulary of TFLM traces"
    )


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 4 where AllocateTensors() fails."""
    config = configuration(args)
    model = load(args.model)
    simulation = simulated(model, config, None if args.arena_size is None else parse_size(args.arena_size))
    if args.arena_size is None and simulation.smallest is not None:
        simulation = simulated(model, config, simulation.smallest.multiple_of_16)
    say(*header(args, config), file=sys.stderr if args.jsonl else sys.stdout)
    for event in simulation.events:
        if args.jsonl:
            say_json(trace_row(event), indent=None)
        else:
            say(trace_line(event))
    return 0 if simulation.failure is None else simulation.failure.exit_code
