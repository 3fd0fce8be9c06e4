"""``tflm-sim check``: a verdict for CI on one model or several."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tflm_sim.checks.doubts import settling_lines
from tflm_sim.checks.judge import Room, judge, judge_in_program, judge_measured, room_on
from tflm_sim.checks.verdict import Verdict, baseline_key, read_baseline, remember
from tflm_sim.cli import options
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import append, replacing
from tflm_sim.model.inputs import expand
from tflm_sim.model.load import load
from tflm_sim.report.circumstances import sentence_with_assumed, target_line
from tflm_sim.report.sarif import sarif
from tflm_sim.report.verdict_text import (
    Judged,
    about_markdown,
    deciding,
    headline,
    library_lines,
    of_model,
    verdict_document,
    verdict_lines,
    verdict_markdown,
)
from tflm_sim.sizes import parse_size
from tflm_sim.targets.boards import Board
from tflm_sim.targets.target import Target

ABOUT = """
Use it in CI, or to find out whether a model fits a board. Without a model it
checks every model of tflm-sim.toml on every firmware of that file.
"""
EXAMPLES = """
tflm-sim check model.tflite --target cortex-m4 --limit 64KiB
tflm-sim check models/ --target esp32 --limit 80K --json
tflm-sim check model.tflite --board nano33ble --ram-free 180KiB
tflm-sim check model.tflite --board nano33ble --library chirale --ram-free 180KiB
tflm-sim check model.tflite --board nano33ble --beside ble
tflm-sim check model.tflite --board portenta-h7 --ram-free 8MiB --external-ram
tflm-sim check model.tflite --limit 64KiB --baseline arena_baseline.json
tflm-sim check model.tflite --limit 64KiB --firmware build/app.elf --executed
tflm-sim check
"""
EXITS = {
    0: "every model fits",
    1: "a model does not fit, or it needs more than the baseline says",
    3: "the answer is unknown or hangs on a doubt, a model cannot be read, or the baseline has no size for it",
}


def register(subparsers: options.Subparsers) -> None:
    parser = options.add_verb(subparsers, "check", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.set_defaults(has_verdict=True)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=options.MODELS_HELP)
    options.add_configuration(parser, leave_out=("board",))
    options.add_executed(parser)
    parser.add_argument("--limit", metavar="N", help="the size of the arena in bytes: 64KiB, 65536, 60*1024")
    parser.add_argument(
        "--board", metavar="B", help="check on this board, with every library that people use on it, or with --library"
    )
    parser.add_argument(
        "--ram-free", metavar="N", help="with --board: the bytes that your firmware leaves free in one bank of RAM"
    )
    parser.add_argument(
        "--external-ram", action="store_true", help="with --ram-free: this RAM is outside the chip (PSRAM, SDRAM)"
    )
    options.add_beside(parser)
    parser.add_argument("--baseline", metavar="FILE", help="also fail if a model needs more than this file says")
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the sizes into the baseline instead of comparing"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="append the verdicts to this file, such as a CI's step summary"
    )
    parser.add_argument("--sarif", metavar="FILE", help="write what is not a yes into this file, for code scanning")
    parser.add_argument("--json", action="store_true", help="print each verdict as one JSON document on a line")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; if a model fails, the others are still judged."""
    if (code := options.answer_of_an_extension("check", args)) is not None:
        return code
    _refuse(args)
    room = room_on(
        args.board, limit=args.limit, ram_free=args.ram_free, has_external_ram=args.external_ram, beside=args.beside
    )
    possible = options.possible_configurations(args)
    configurations = _configurations(args, room.board, possible[0])
    judged = _judged_all(args, room, possible, configurations)
    verdicts = [verdict for rows in judged for verdict, _ in rows]
    about = _about(args, room.board, configurations)
    assumed = options.assumed(args, configurations[0]) if len(configurations) == 1 else ()
    open_ones = _with_open_kernels(args, room.board, configurations)
    remembered = remember(Path(args.baseline), verdicts) if args.update_baseline else []
    if args.markdown is not None:
        append(
            args.markdown,
            "".join(verdict_markdown(each, assumed, open_ones) for each in verdicts) + about_markdown(about),
        )
    if args.sarif is not None:
        with replacing(args.sarif) as file:
            file.write(sarif(verdicts))
    if args.json:
        not_named = assumed if len(configurations) == 1 else ("--library",)
        for rows in judged:
            say_json(verdict_document(rows, assumed=not_named), indent=None)
    else:
        _say_all(judged, args.board, assumed, open_ones, [*about, *remembered])
    return _exit_code([deciding(rows)[0] for rows in judged])


def _refuse(args: argparse.Namespace) -> None:
    if args.beside is not None and args.firmware:
        raise UsageError("--beside is for a board alone: a linked program's own RAM is what 'tflm-sim firmware' lists")
    options.is_executed(args, "board")  # It refuses what does not go with it, before a board is looked at.
    if not args.models:
        raise UsageError("no model is given, and --limit and --board are for models that are named")
    if args.limit is None and args.board is None:
        raise UsageError("give --limit or --board")
    if args.update_baseline and args.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")


def _judged_all(
    args: argparse.Namespace, room: Room, possible: Sequence[Configuration], configurations: Sequence[Configuration]
) -> list[Judged]:
    """Return the verdicts on each model: one for each configuration; for a program, one on all possible targets."""
    known = read_baseline(Path(args.baseline)) if args.baseline and not args.update_baseline else None
    names = list(expand(args.models))
    is_alone = len(names) == len(configurations) == 1
    open_ones = [(possible if args.firmware else [each], each) for each in configurations]
    return [
        [(_judged(name, args, cases, room, known, is_alone=is_alone), each) for cases, each in open_ones]
        for name in names
    ]


def _exit_code(verdicts: list[Verdict]) -> int:
    """Return 1 where a model does not fit, else the largest of the codes."""
    codes = [verdict.exit_code for verdict in verdicts]
    return 1 if 1 in codes else max(codes)


def _say_all(
    judged: Sequence[Judged], board_name: str, assumed: Sequence[str], open_ones: Sequence[Target], about: Sequence[str]
) -> None:
    """Print the verdicts, what they are for, and last the commands that settle what is open."""
    if len(judged) > 1:
        say_verdict(sentence_with_assumed(headline([deciding(rows)[0] for rows in judged]), assumed, open_ones))
    for rows in judged:
        _say(rows, board_name, assumed, open_ones, is_alone=len(judged) == 1)
    found = [deciding(rows)[0] for rows in judged]
    say(*about, *(line for each in found for line in settling_lines(each.answer, each.settled_by)))


def _say(
    judged: Judged, board_name: str, assumed: Sequence[str], open_ones: Sequence[Target], *, is_alone: bool
) -> None:
    """Print the verdict on a model; with several libraries that of the one that decides, and a line for each."""
    name = "" if is_alone else f"{deciding(judged)[0].name}: "
    verdict, *lines = verdict_lines(replace(deciding(judged)[0], settled_by=""))
    say_verdict(sentence_with_assumed(verdict, assumed, open_ones) if is_alone else f"{name}{verdict}")
    say(*(of_model(name, line) for line in lines))
    if len(judged) > 1:
        title, *rows = library_lines(judged, board_name)
        say(f"{name}{title}", *rows)


def _about(args: argparse.Namespace, chosen: Board | None, configurations: Sequence[Configuration]) -> list[str]:
    """Return lines that say for which TFLM, library and kernels the verdicts are valid."""
    if len(configurations) == 1:
        return [target_line(configurations[0].target), *options.kernels_remark(args, configurations[0])]
    assert chosen is not None, "only a board has several libraries"
    cases = zip(chosen.libraries, configurations, strict=True)
    remarks = (
        line for library, config in cases for line in options.kernels_remark(_with_library(args, library), config)
    )
    return ["not named: --library; with yours the answer is one line", *dict.fromkeys(remarks)]


def _configurations(args: argparse.Namespace, chosen: Board | None, named: Configuration) -> list[Configuration]:
    """Return the configurations of the options; for a board alone, one for each library that is usual on it."""
    if chosen is None:
        return [named]
    if args.target or args.firmware or args.library or args.runtime or args.kernels:
        return [named]
    return [
        named if not library else options.configuration(_with_library(args, library)) for library in chosen.libraries
    ]


def _with_open_kernels(
    args: argparse.Namespace, chosen: Board | None, configurations: Sequence[Configuration]
) -> list[Target]:
    """Return the targets whose version of the kernels nobody named."""
    libraries = [args.library] if len(configurations) == 1 or chosen is None else list(chosen.libraries)
    cases = zip(libraries, configurations, strict=True)
    return [config.target for library, config in cases if options.kernels_remark(_with_library(args, library), config)]


def _with_library(args: argparse.Namespace, library: str) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(args), "library": library})


def _judged(
    name: str,
    args: argparse.Namespace,
    possible: Sequence[Configuration],
    room: Room,
    known: Mapping[str, int] | None,
    *,
    is_alone: bool,
) -> Verdict:
    """Judge a model and compare it with the baseline; one of several that cannot be used gets a verdict too."""
    key = baseline_key(name, possible[0])
    before = (known or {}).get(key)
    try:
        model = load(name)
        if options.is_executed(args, "board"):
            limit = parse_size(args.limit)
            measured = options.measured(args, model, possible, [limit])
            verdict = judge_measured(name, model, measured, limit, key=key, before=before)
        elif args.firmware:
            need = options.program_need(args, name, model, possible, room.limit)
            verdict = judge_in_program(name, model, need, room, key=key, before=before)
        else:
            verdict = judge(name, model, possible[0], room, before, simulate=options.simulated)
        missing = "" if known is None or key in known else _not_in_the_baseline(verdict, args, known)
        return replace(verdict, missing_baseline=missing, shrunk_by=options.shrinking(vars(args), name, verdict.limit))
    except ModelError as error:
        if is_alone:
            raise
        return Verdict(name, key, None, None, None, before, str(error))


def _not_in_the_baseline(verdict: Verdict, args: argparse.Namespace, known: Mapping[str, int]) -> str:
    """Return a sentence: the baseline has no size for this model, what it has instead, and how to add one."""
    if verdict.needed is None:
        return ""
    if not known:
        return f"there is no size in {args.baseline}: run once with --update-baseline, which writes it"
    model = f"{verdict.name} on "
    others = [key.removeprefix(model) for key in known if key.startswith(model)]
    has = f"it has that of {' and '.join(others[:2])}; " if others else ""
    return f"{args.baseline} has no size for {verdict.key}; {has}run once with --update-baseline, which writes it"
