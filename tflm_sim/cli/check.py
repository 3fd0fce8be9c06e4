"""``tflm-sim check``: a verdict for CI. Exit code 0: fits, 1: does not, 3: cannot be told."""

from __future__ import annotations

import argparse
import json

from tflm_sim.allocator.measure import measure
from tflm_sim.allocator.simulate import simulate_configuration
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration, load_model
from tflm_sim.units import format_size, parse_size

EXAMPLES = """
tflm-sim check model.tflite --target cortex-m4 --limit 64KiB
tflm-sim check model.tflite --target esp32 --limit 80K --json
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "check", "tell whether a model works in an arena of a given size", EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    add_configuration(parser)
    parser.add_argument("--limit", required=True, metavar="N", help="bytes of the arena: 64KiB, 65536")
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    config, limit = configuration(args), parse_size(args.limit)
    model = load_model(args.model)
    measurement = measure(model, config)
    simulation = simulate_configuration([model], config, arena_size=limit)
    fits = simulation.status == "ok" and not simulation.corruptions
    needed = measurement.smallest.multiple_of_16 if measurement.smallest else None
    if args.json:
        print(
            json.dumps({"fits": fits, "limit": limit, "smallest_arena_multiple_of_16": needed, "log": simulation.log})
        )
    elif needed is None:
        print(f"no: AllocateTensors() fails in an arena of any size: {measurement.failure}")
    elif fits:
        print(f"yes: needs {format_size(needed)} of {format_size(limit)}, {format_size(limit - needed)} to spare")
    else:
        print(f"no: needs {format_size(needed)}, {format_size(needed - limit)} more than {format_size(limit)}")
    return 0 if fits else 1
