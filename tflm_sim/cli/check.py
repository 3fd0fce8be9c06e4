"""``tflm-sim check``: a verdict for CI. Exit code 0: fits, 1: does not, 3: cannot be told."""

from __future__ import annotations

import argparse
import json
from typing import cast

from tflm_sim.allocator.measure import measure
from tflm_sim.allocator.simulate import simulate_configuration
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration, load_model
from tflm_sim.errors import UsageError
from tflm_sim.target.boards import Board, board
from tflm_sim.units import format_size, parse_size

EXAMPLES = """
tflm-sim check model.tflite --target cortex-m4 --limit 64KiB
tflm-sim check model.tflite --target esp32 --limit 80K --json
tflm-sim check model.tflite --board nano33ble --ram-free 180KiB
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "check", "tell whether a model works in an arena of a given size", EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    add_configuration(parser)
    room = parser.add_mutually_exclusive_group(required=True)
    room.add_argument("--limit", metavar="N", help="bytes of the arena: 64KiB, 65536")
    room.add_argument("--board", metavar="B", help="a board, with its core and kernels instead of --target")
    parser.add_argument("--ram-free", metavar="N", help="with --board: bytes that your firmware leaves in one bank")
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    chosen = board(args.board) if args.board else None
    if chosen:
        args.target = chosen.preset
    elif args.ram_free:
        raise UsageError("--ram-free goes with --board; without a board, --limit is the size of the arena")
    limit = parse_size(args.limit or args.ram_free) if args.limit or args.ram_free else None
    if limit is None:
        return _against_the_chip(args, cast(Board, chosen))
    config = configuration(args)
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


def _against_the_chip(args: argparse.Namespace, chosen: Board) -> int:
    """Judge without ``--ram-free``: an arena that no bank holds does not fit, for any other only the firmware knows."""
    smallest = measure(load_model(args.model), configuration(args)).smallest
    needed = smallest.multiple_of_16 if smallest else None
    bank = chosen.largest_bank
    fits = False if needed is None or (bank and needed > bank.size) else None
    if args.json:
        limit = bank.size if bank else None
        print(json.dumps({"fits": fits, "limit": limit, "smallest_arena_multiple_of_16": needed, "log": []}))
    elif needed is None:
        print("no: AllocateTensors() fails in an arena of any size")
    elif fits is None:
        print(f"needs {format_size(needed)}; how much is free only your firmware knows: say it with --ram-free")
    else:
        assert bank, "only a bank's size refuses"
        print(f"no: needs {format_size(needed)}, and the largest bank ({bank.name}) has {format_size(bank.size)}")
    return 3 if fits is None else 1
