"""``tflm-sim size``: the smallest arena, and what each byte is used for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.doubts import EXIT_CODES
from tflm_sim.cli import options
from tflm_sim.cli.terminal import ProgressLine, say, say_json, say_verdict, terminal_width, wants_color
from tflm_sim.device.configuration import Configuration, planner_words
from tflm_sim.errors import FirmwareError, NoModelError, SimulatedFailure, TflmSimError, UsageError
from tflm_sim.model.inputs import expand, read_source
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.registry import part_lines, sources
from tflm_sim.report.size_answer import arena_answer
from tflm_sim.report.text import failure_lines, size_lines
from tflm_sim.sizes import parse_size
from tflm_sim.units import format_size

if TYPE_CHECKING:
    from tflm_sim.checks.program_need import ProgramNeed
    from tflm_sim.checks.verdict import Verdict
    from tflm_sim.extension_points import ProgramFigures
    from tflm_sim.report.document import ArenaDocument, ErrorDocument, SizeDocument
    from tflm_sim.report.picture import Picture

ABOUT = """
TensorFlow Lite Micro (TFLM) runs a model in one block of memory, the tensor
arena. This command computes how small it can be for your processor and
library; with --all it lists what every byte is used for. Put the multiple of
16 into your firmware.
"""
EXAMPLES = """
tflm-sim size model.tflite --target cortex-m4
tflm-sim size sample:mobilenet_v1_025 --target esp32-s3 --json
tflm-sim size model.tflite --board nano33ble --library chirale
tflm-sim size model.tflite --board nano33ble --library chirale --beside ble
tflm-sim size model.tflite --arena-size 64KiB
tflm-sim size model.tflite --firmware build/app.elf --executed
tflm-sim size model.tflite --all
tflm-sim size model.tflite --map
tflm-sim size model.tflite --advise
tflm-sim size model.tflite --boards all
tflm-sim size model.tflite --boards nano33ble,esp32-s3,pico --json
tflm-sim size model.tflite --targets all
tflm-sim size model_data.cc export.zip models/
tflm-sim size tflite_learn_5_compiled.cpp --target cortex-m4
tflm-sim size *.tflite --jsonl > sizes.jsonl
"""
EVERY_BYTE = "every byte: --all; over time, as a picture: tflm-sim report"
INCONCLUSIVE = 3
EXITS = {
    1: "--arena-size, --beside: that is not enough; --boards: the model fits none of them",
    3: "a file cannot be used; --boards, --beside: only the firmware knows whether that much RAM is free; --firmware: "
    "the program leaves a doubt that can turn the answer",
    4: "AllocateTensors() fails in an arena of any size, Invoke() fails every time, or the initialisation of an EON "
    "source fails",
}


def register(subparsers: options.Subparsers) -> None:
    parser = options.add_verb(subparsers, "size", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=options.MODELS_HELP)
    options.add_configuration(parser)
    parser.add_argument(
        "--arena-size", metavar="N", help="say what happens in an arena of N bytes instead (64KiB, 65536)"
    )
    options.add_beside(parser)
    options.add_executed(parser)
    options.add_split_arenas(parser)
    everywhere = parser.add_mutually_exclusive_group()
    everywhere.add_argument(
        "--boards", metavar="B,...", help="print a table of these boards, or of all, and say which the model fits"
    )
    everywhere.add_argument("--targets", metavar="T,...", help="print a table of these targets, or of all")
    parser.add_argument(
        "--all", action="store_true", help="list what every byte is used for, not only the largest parts"
    )
    options.add_forms(parser)


def run(args: argparse.Namespace) -> int:
    named = options.named_models(args, args.models)
    if args.boards or args.targets:
        from tflm_sim.cli import size_boards  # Many boards are slow to import.

        return size_boards.run(args)
    if (code := options.answer_of_an_extension("size", args)) is not None:
        return code
    _refuse_contradictions(args)

    @cache
    def possible() -> tuple[Configuration, ...]:  # Asked for with a model: a source needs no TFLM with an interpreter.
        return options.possible_configurations(args)

    if None in named:
        options.is_executed(args, "split_arenas", "jsonl")
        return _executed(args, named, possible())
    names = list(expand(name for name in named if name is not None))
    if args.jsonl and not args.executed:
        return _jsonl(args, names, possible)
    if args.json and len(names) > 1:
        raise UsageError("--json takes one model; use --jsonl for several")
    if options.is_executed(args, "split_arenas", "jsonl"):
        return _executed(args, names, possible())
    code = 0
    for position, name in enumerate(names):
        if position:
            say("")
        try:
            model = load(name)
        except NoModelError as problem:
            code = max(code, _other_source(args, name, problem))
        else:
            code = max(code, _one(args, name, model, possible()))
    return code


def _refuse_contradictions(args: argparse.Namespace) -> None:
    is_sized = args.arena_size is not None
    for is_wrong, sentence in (
        (is_sized and args.map, "--map draws the smallest arena; 'report --arena-size' draws another"),
        (
            is_sized and args.split_arenas,
            "--arena-size is for one arena and --split-arenas for two; remove one of them",
        ),
        (is_sized and args.jsonl, "--jsonl reports smallest arenas; --arena-size goes with --json, a model at a time"),
    ):
        if is_wrong:
            raise UsageError(sentence)
    if args.beside is not None:
        options.refuse_besides(args, "beside", others=("arena_size", "map", "jsonl", "split_arenas", "firmware"))


def _one(args: argparse.Namespace, name: str, model: Model, possible: Sequence[Configuration]) -> int:
    """Print what one model needs; return the exit code."""
    if args.firmware:
        return _in_program(args, name, model, possible)
    (config,) = possible
    if args.arena_size is not None:
        return _fixed_size(args, name, model, config)
    if args.map:
        return _map(args, model, config)
    simulation = options.simulated(model, config)
    return _say(args, simulation, options.parts_of_extensions("size", args, model, config))


def _in_program(args: argparse.Namespace, name: str, model: Model, possible: Sequence[Configuration]) -> int:
    """Print what a model needs in the program of --firmware; the first line says what that hangs on."""
    from tflm_sim.report.bank_pictures import program_pictures, program_size
    from tflm_sim.report.program_text import last_lines, need_line
    from tflm_sim.report.text import answer_lines

    limit = options.arena_size(args)
    need = options.program_need(args, name, model, possible, limit)
    parts = {**options.parts_of_extensions("size", args, model, need.configuration), **need.parts}
    code = EXIT_CODES[need.answer] if limit is not None else options.code_of_answer(need.answer)
    if args.json:
        say_json(_program_document(name, model, need, limit, parts))
        return code
    if (first := need_line(need, limit)) is not None:
        say_verdict(first)
    if args.map and need.banks:
        _draw(args, need.configuration, program_pictures(need, parts))
    elif args.map:
        _map(args, model, need.configuration)
    elif need.banks:
        say("", *answer_lines(program_size(need, parts).answer, 0, has_ledger=args.all))
    elif need.simulation is not None and limit is None and need.works is not False:
        say(*size_lines(need.simulation, has_ledger=args.all))
    say("", *part_lines("SizeDocument", parts), *last_lines(need))
    return code


def _program_document(
    name: str, model: Model, need: ProgramNeed, limit: int | None, parts: Mapping[str, object]
) -> SizeDocument | ArenaDocument | ErrorDocument:
    """Return what a model needs in a program as a document; an error where nothing could be simulated."""
    from tflm_sim.report.bank_pictures import program_size
    from tflm_sim.report.document import arena_document, error_document, model_facts, size_document

    if need.simulation is None:
        error = FirmwareError(need.reason, path=name)
        return replace(error_document(name, model, need.configuration, error), answer=need.answer)
    if need.banks:
        return replace(program_size(need, parts), model=model_facts(model), fitting=need.answer)
    if limit is None or need.split is not None:
        document = size_document(need.simulation, parts=parts, candidates=need.candidates, fitting=need.answer)
        return replace(document, model=model_facts(model))
    sized = simulate(need.simulation.models, need.configuration, arena_size=limit)
    return replace(arena_document(sized, parts=parts, answer=need.answer), model=model_facts(model))


def _executed(args: argparse.Namespace, names: Sequence[str | None], possible: Sequence[Configuration]) -> int:
    """Print what was measured in the program with each model; None is its own."""
    code, limit = 0, options.arena_size(args)
    for position, name in enumerate(names):
        model = None if name is None else load(name)
        if args.map:
            found, exact = options.exactly_measured(args, model, may_be_in_banks=True)
            is_one = not found.banks
            code = max(code, _map(args, found.model, exact) if is_one else _draw(args, exact, found.pictures()))
            continue
        measured = options.measured(args, model, possible, [] if limit is None else [limit])
        if limit is not None:
            code = max(code, _say_in_arena(args, name, measured, limit))
        elif args.json:
            say_json(measured.document())
        else:
            say(*([""] if position else []), *measured.lines(has_ledger=args.all))
            say(*([] if args.all or measured.smallest is None else [EVERY_BYTE]))
        if limit is None:
            code = max(code, options.code_of_answer(measured.answer))
    return code


def _say_in_arena(args: argparse.Namespace, name: str | None, measured: ProgramFigures, limit: int) -> int:
    """Print what the executed program did in an arena of ``limit`` bytes, as ``check`` does; return the exit code."""
    from tflm_sim.checks.judge import judge_measured
    from tflm_sim.checks.verdict import baseline_key
    from tflm_sim.report.verdict_text import verdict_document, verdict_lines

    label, config = name or args.firmware, measured.configuration
    verdict = judge_measured(label, measured.model, measured, limit, key=baseline_key(label, config))
    verdict = replace(verdict, shrunk_by=options.shrinking(vars(args), name, limit))
    if args.json:
        say_json(verdict_document([(verdict, config)]))
    else:
        first, *rest = verdict_lines(verdict)
        say_verdict(first)
        say(*rest)
    return verdict.exit_code


def _other_source(args: argparse.Namespace, name: str, problem: NoModelError) -> int:
    """Print what a file that is no model needs, where an extension knows its kind."""
    for kind in sources() if problem.data is not None else ():
        try:
            label, data = read_source(name, kind.recognises, kind.MADE_BY, problem.data)
        except NoModelError:
            continue
        code: int | None = kind.answer("size", args, label, data)
        if code is not None:
            return code
    raise problem


def _say(args: argparse.Namespace, simulation: Simulation, parts: Mapping[str, object]) -> int:
    """Print what a model needs, and with --beside whether that is left; return the exit code."""
    config = simulation.configuration
    fitting = None if args.beside is None else _beside(args, simulation)
    code = options.code_of(simulation) or (0 if fitting is None else fitting.exit_code)
    assumed = options.assumed(args, config)
    if args.json:
        from tflm_sim.report.document import size_document

        ram, answer = (None, None) if fitting is None else (fitting.ram, fitting.answer)
        say_json(size_document(simulation, parts=parts, assumed=assumed, ram=ram, fitting=answer))
        return code
    remarks = options.kernels_remark(args, config)
    say(*size_lines(simulation, assumed=assumed, remarks=remarks, has_ledger=args.all))
    if fitting is not None and simulation.failure is None:
        from tflm_sim.report.verdict_text import answer_line, ram_lines

        say("", f"fits: {answer_line(fitting)}")
        say(*([] if fitting.ram is None else ram_lines(fitting.ram, has_sources=args.all)))
    if not args.all and simulation.failure is None:
        say(EVERY_BYTE)
    if told := part_lines("SizeDocument", parts):
        say("", *told)
    return code


def _beside(args: argparse.Namespace, simulation: Simulation) -> Verdict:
    """Return the verdict on the smallest arena beside what else is in the board's RAM."""
    from tflm_sim.checks.judge import judge, room_on  # Most who size name no board.

    room = room_on(args.board, limit=None, ram_free=None, has_external_ram=False, beside=args.beside)
    return judge("", simulation.model, simulation.configuration, room, simulate=lambda *_: simulation)


def _map(args: argparse.Namespace, model: Model, config: Configuration) -> int:
    from tflm_sim.report.take_picture import take_picture

    with ProgressLine("simulating", model, runs=2) as progress:
        title = f"{planner_words(config.planner, config.own_planner)}, {config.interpreter} interpreter"
        picture = take_picture(model, config, title=title, observers=progress.observers)
    return _draw(args, config, [picture])


def _draw(args: argparse.Namespace, config: Configuration, pictures: Iterable[Picture]) -> int:
    from tflm_sim.report.map import map_lines

    color = wants_color(args.color, sys.stdout)
    say(*options.header(args, config))
    code = 0
    for picture in pictures:
        say(*map_lines(picture, width=terminal_width(), color=color), may_color=color)
        code = code if picture.status == "ok" else SimulatedFailure.exit_code
    return code


def _jsonl(args: argparse.Namespace, names: list[str], possible: Callable[[], Sequence[Configuration]]) -> int:
    from tflm_sim.report.document import error_document

    code = 0
    for name in names:
        model: Model | None = None
        try:
            try:
                model = load(name)
            except NoModelError as problem:
                code = _other_source(args, name, problem) or code
            else:
                code = _jsonl_row(args, name, model, possible()) or code
        except TflmSimError as error:
            say_json(error_document(name, model, possible()[0], error), indent=None)
            code = error.exit_code
        sys.stdout.flush()
    return code


def _jsonl_row(args: argparse.Namespace, name: str, model: Model, possible: Sequence[Configuration]) -> int:
    from tflm_sim.report.document import size_document

    if args.firmware:
        need = options.program_need(args, name, model, possible)
        say_json(_program_document(name, model, need, None, need.parts), indent=None)
        return options.code_of_answer(need.answer)
    (config,) = possible
    simulation = options.simulated(model, config)
    say_json(size_document(simulation, assumed=options.assumed(args, config)), indent=None)
    return options.code_of(simulation)


def _fixed_size(args: argparse.Namespace, name: str, model: Model, config: Configuration) -> int:
    arena_size = parse_size(args.arena_size)
    simulation = options.simulated(model, config, arena_size)
    answer = arena_answer(simulation)
    if args.json:
        from tflm_sim.report.document import arena_document

        say_json(arena_document(simulation, assumed=options.assumed(args, config)))
        return EXIT_CODES[answer.answer]
    used = format_size(simulation.arena_used_bytes)
    yes = [f"yes: {format_size(arena_size)} is enough; arena_used_bytes() is {used}"]
    shrunk_by = options.shrinking(vars(args), name, arena_size)
    first, *rest = yes if answer.answer == "yes" else failure_lines(answer, shrunk_by)
    say_verdict(first)
    say(*rest, *options.header(args, config))
    return EXIT_CODES[answer.answer]
