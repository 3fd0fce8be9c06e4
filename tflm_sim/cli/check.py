"""``tflm-sim check``: a verdict for CI. Exit code 0: fits, 1: does not or grew, 3: cannot be told."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import cast

from tflm_sim.answers.simulation import Simulation
from tflm_sim.checks.baseline import baseline_key, read_baseline, update_baseline
from tflm_sim.checks.verdict import Verdict
from tflm_sim.cli.options import (
    Subparsers,
    add_configuration,
    add_verb,
    configuration,
    load_model,
    simulated,
)
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.errors import UsageError
from tflm_sim.files import append
from tflm_sim.report.verdict import verdict_document, verdict_lines, verdict_markdown
from tflm_sim.targets.boards import Board, board
from tflm_sim.units import format_size, parse_size

EXAMPLES = """
tflm-sim check model.tflite --target cortex-m4 --limit 64KiB
tflm-sim check model.tflite --target esp32 --limit 80K --json
tflm-sim check model.tflite --board nano33ble --ram-free 180KiB
tflm-sim check model.tflite --limit 64KiB --baseline arena_baseline.json
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
    parser.add_argument("--baseline", metavar="FILE", help="also fail when the model needs more than this file says")
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the size into the baseline instead of comparing"
    )
    parser.add_argument("--markdown", metavar="FILE", help="append the verdict to a file, such as a CI's step summary")
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    verdict = _judge(args)
    if args.update_baseline and verdict.needed is not None and verdict.is_good:
        update_baseline(Path(args.baseline), {verdict.key: verdict.needed})
    if args.markdown is not None:
        append(args.markdown, verdict_markdown(verdict))
    if args.json:
        say_json(verdict_document(verdict), indent=None)
    else:
        say(*verdict_lines(verdict))
    return verdict.exit_code


def _judge(args: argparse.Namespace) -> Verdict:
    chosen = board(args.board) if args.board else None
    if chosen:
        args.target = chosen.preset
    elif args.ram_free:
        raise UsageError("--ram-free goes with --board; without a board, --limit is the size of the arena")
    if args.update_baseline and args.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")
    limit = parse_size(args.limit or args.ram_free) if args.limit or args.ram_free else None
    config = configuration(args)
    roomy = simulated(load_model(args.model), config)
    key = baseline_key(args.model, config)
    is_compared = args.baseline is not None and not args.update_baseline
    before = read_baseline(Path(args.baseline)).get(key) if is_compared else None
    if roomy.smallest is None:
        reason = f"AllocateTensors() fails in an arena of any size: {roomy.failure}"
        return Verdict(args.model, key, None, limit, False, before, reason, roomy.log)
    needed = roomy.smallest.multiple_of_16
    if limit is not None:
        fits, reason, log = _in_an_arena(roomy, limit)
        return Verdict(args.model, key, needed, limit, fits, before, reason, log)
    bank, fits_bank, reason = _on_the_chip(cast(Board, chosen), needed)
    return Verdict(args.model, key, needed, bank, fits_bank, before, reason)


def _in_an_arena(roomy: Simulation, limit: int) -> tuple[bool, str, tuple[str, ...]]:
    """Run in an arena of ``limit`` bytes; return whether that works, else why not, and what the device prints."""
    simulation = simulated(roomy.model, roomy.configuration, limit)
    if simulation.fits:
        return True, "", simulation.log
    assert roomy.smallest is not None, "it works in some arena"
    needed = roomy.smallest.multiple_of_16
    reason = f"needs {format_size(needed)}, {format_size(needed - limit)} more than {format_size(limit)}"
    return False, reason, simulation.log


def _on_the_chip(chosen: Board, needed: int) -> tuple[int | None, bool | None, str]:
    """Judge without ``--ram-free``: an arena that no bank holds does not fit, for any other only the firmware knows."""
    bank = chosen.largest_bank
    if bank is not None and needed > bank.size:
        reason = (
            f"needs {format_size(needed)}, and the largest bank ({bank.name}) has {format_size(bank.size)}; "
            "for external RAM say with --ram-free how much of it is free"
        )
        return bank.size, False, reason
    reason = f"needs {format_size(needed)}; how much is free only your firmware knows: say it with --ram-free"
    return bank.size if bank is not None else None, None, reason
