"""``tflm-sim check``: a verdict for CI on one model or several."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from tflm_sim.answers.simulation import Simulation
from tflm_sim.checks.verdict import Verdict, baseline_key, read_baseline, update_baseline
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration, simulated
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import append
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.verdict import verdict_document, verdict_lines, verdict_markdown
from tflm_sim.targets.boards import Board, board
from tflm_sim.targets.presets import preset
from tflm_sim.units import format_size, parse_size

EXAMPLES = """
tflm-sim check model.tflite --target cortex-m4 --limit 64KiB
tflm-sim check models/*.tflite --target esp32 --limit 80K --json
tflm-sim check model.tflite --board nano33ble --ram-free 180KiB
tflm-sim check model.tflite --board portenta-h7 --ram-free 8MiB --external-ram
tflm-sim check model.tflite --limit 64KiB --baseline arena_baseline.json
"""
EXITS = {
    0: "every model fits",
    1: "a model does not fit, or needs more than the baseline says",
    3: "it cannot be told, or a model's file cannot be used",
}


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    summary = "tell whether models work in an arena of a given size"
    parser = add_verb(subparsers, "check", summary, EXAMPLES, exits=EXITS)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a .tflite file, or sample:NAME")
    add_configuration(parser)
    room = parser.add_mutually_exclusive_group(required=True)
    room.add_argument("--limit", metavar="N", help="bytes of the arena: 64KiB, 65536")
    room.add_argument("--board", metavar="B", help="a board; its core and kernels where no --target is named")
    parser.add_argument("--ram-free", metavar="N", help="with --board: bytes that your firmware leaves in one bank")
    parser.add_argument(
        "--external-ram", action="store_true", help="with --ram-free: they are in RAM beside the chip, not in its banks"
    )
    parser.add_argument("--baseline", metavar="FILE", help="also fail when a model needs more than this file says")
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the sizes into the baseline instead of comparing"
    )
    parser.add_argument("--markdown", metavar="FILE", help="append the verdicts to a file, such as a CI's step summary")
    parser.add_argument("--json", action="store_true", help="a verdict is one JSON document and line")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; every model is judged, also after one that fails."""
    chosen = _chosen_board(args)
    config = configuration(args)
    if chosen is not None:
        _check_core(chosen, config)
    is_compared = args.baseline is not None and not args.update_baseline
    known = read_baseline(Path(args.baseline)) if is_compared else {}
    verdicts = [_judged(name, args, config, chosen, known) for name in args.models]
    sizes = {each.key: each.needed for each in verdicts if each.needed is not None and each.is_good}
    if args.update_baseline and sizes:
        update_baseline(Path(args.baseline), sizes)
    if args.markdown is not None:
        append(args.markdown, "".join(map(verdict_markdown, verdicts)))
    for verdict in verdicts:
        if args.json:
            say_json(verdict_document(verdict, config), indent=None)
        else:
            name = f"{verdict.name}: " if len(verdicts) > 1 else ""
            say(*(f"{name}{line}" for line in verdict_lines(verdict)))
    codes = [verdict.exit_code for verdict in verdicts]
    return 1 if 1 in codes else max(codes)


def _chosen_board(args: argparse.Namespace) -> Board | None:
    """Check what goes together; return the board, whose preset is the target unless another is named."""
    if args.update_baseline and args.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")
    if args.external_ram and not args.ram_free:
        raise UsageError("--external-ram goes with --ram-free, which says how much of it is free")
    if not args.board:
        if args.ram_free:
            raise UsageError("--ram-free goes with --board; without a board, --limit is the size of the arena")
        return None
    chosen = board(args.board)
    args.target = args.target or chosen.preset
    bank = chosen.largest_bank
    if args.ram_free and bank is not None and parse_size(args.ram_free) > bank.size and not args.external_ram:
        raise UsageError(
            f"--ram-free {args.ram_free} is more than {chosen.name} has: {chosen.ram_text}, and an arena lies in one "
            "bank; for RAM beside the chip add --external-ram"
        )
    return chosen


def _check_core(chosen: Board, config: Configuration) -> None:
    """Refuse a target that no core of the board runs."""
    own = preset(chosen.preset)
    if config.target.abi != own.abi:
        raise UsageError(
            f"{chosen.name} runs {own.name} ({own.abi.name}), not {config.target.name} ({config.target.abi.name}); "
            "leave --target out, or say --limit instead of --board"
        )


def _judged(
    name: str, args: argparse.Namespace, config: Configuration, chosen: Board | None, known: Mapping[str, int]
) -> Verdict:
    """Judge a model; of several, one that cannot be used is a verdict too."""
    key = baseline_key(name, config)
    try:
        return _judge(name, load(name), args, config, chosen, known.get(key))
    except ModelError as error:
        if len(args.models) == 1:
            raise
        return Verdict(name, key, None, None, None, known.get(key), str(error))


def _judge(
    name: str, model: Model, args: argparse.Namespace, config: Configuration, chosen: Board | None, before: int | None
) -> Verdict:
    said = args.limit or args.ram_free
    limit = parse_size(said) if said else None
    key, flash = baseline_key(name, config), chosen.flash if chosen is not None else None
    roomy = simulated(model, config)
    if roomy.smallest is None:
        reason = f"AllocateTensors() fails in an arena of any size: {roomy.failure}"
        return Verdict(name, key, None, limit, False, before, reason, roomy.log, model=model, board=chosen)
    needed = roomy.smallest.multiple_of_16
    if roomy.invoke_problem is not None:
        problem = roomy.invoke_problem
        return Verdict(name, key, needed, limit, False, before, str(problem), problem.log, model=model, board=chosen)
    log: tuple[str, ...] = ()
    fits: bool | None
    if limit is not None:
        fits, reason, log = _in_an_arena(roomy, limit)
    else:
        assert chosen is not None, "argparse wants --limit or --board"
        limit, fits, reason = _on_the_chip(chosen, needed)
    if flash is not None and len(model.source) > flash:
        assert chosen is not None, "only boards have flash"
        too_large = (
            f"the file alone has {format_size(len(model.source))}, the flash of {chosen.name} {format_size(flash)}"
        )
        fits, reason = False, f"{too_large}; {reason}" if reason else too_large
    return Verdict(name, key, needed, limit, fits, before, reason, log, model=model, board=chosen)


def _in_an_arena(roomy: Simulation, limit: int) -> tuple[bool, str, tuple[str, ...]]:
    """Run in an arena of ``limit`` bytes; return whether that works, else why not, and what the device prints."""
    simulation = simulated(roomy.model, roomy.configuration, limit)
    if simulation.fits:
        return True, "", simulation.log
    assert roomy.smallest is not None, "it works in some arena"
    needed = roomy.smallest.multiple_of_16
    if needed <= limit:
        why = "are not a multiple of 16 and do not work" if limit % BUFFER_ALIGNMENT else "end where the device halts"
        return False, f"needs {format_size(needed)}; {limit:,} B {why}", simulation.log
    reason = f"needs {format_size(needed)}, {format_size(needed - limit)} more than {format_size(limit)}"
    return False, reason, simulation.log


def _on_the_chip(chosen: Board, needed: int) -> tuple[int | None, bool | None, str]:
    """Judge without ``--ram-free``: an arena that no bank holds does not fit, for any other only the firmware knows."""
    bank = chosen.largest_bank
    if bank is not None and needed > bank.size:
        reason = (
            f"needs {format_size(needed)}, and the largest bank ({bank.name}) has {format_size(bank.size)}; "
            "for external RAM say with --external-ram and --ram-free how much of it is free"
        )
        return bank.size, False, reason
    reason = (
        f"needs {format_size(needed)}; {chosen.name} has {chosen.ram_text}; how much of it is free only your firmware "
        "knows: say it with --ram-free"
    )
    return bank.size if bank is not None else None, None, reason
