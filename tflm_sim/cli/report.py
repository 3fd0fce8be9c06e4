"""``tflm-sim report``: where every byte lives, as a page, a picture, or data for other viewers."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO, TypeAlias

from tflm_sim.answers.invoke_problem import InvokeProblem
from tflm_sim.answers.offline_plan import with_offline_plan
from tflm_sim.checks.candidates import CandidateNeed, candidate_text, most_demanding
from tflm_sim.checks.doubts import Answer, settling_lines
from tflm_sim.checks.judge import judge_measured
from tflm_sim.checks.lifetime_answers import Lifetimes
from tflm_sim.checks.program_need import ProgramNeed, Ram, bank_words
from tflm_sim.cli.options import (
    SETTINGS,
    TENSOR_HELP,
    Subparsers,
    add_configuration,
    add_executed,
    add_split_arenas,
    add_verb,
    answer_of_an_extension,
    arena_size,
    asked_about,
    assumed,
    code_of_answer,
    configuration,
    configured,
    exactly_measured,
    first_given,
    is_executed,
    measured,
    named_models,
    parts_of_extensions,
    possible_configurations,
    program_header,
    program_parts,
    refuse_besides,
    shrinking,
    simulated,
)
from tflm_sim.cli.terminal import ProgressLine, say, say_document
from tflm_sim.device.configuration import PLANNER_NAMES, Configuration
from tflm_sim.documents import as_json
from tflm_sim.errors import ModelError, SimulatedFailure, UsageError
from tflm_sim.escape import json_text
from tflm_sim.files import read, replacing
from tflm_sim.limits import MAX_DOCUMENT_BYTES
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.planners.by_name import PLANNERS
from tflm_sim.registry import part_lines
from tflm_sim.report.bank_pictures import program_pictures
from tflm_sim.report.board_rows import BoardFit, board_row
from tflm_sim.report.document import SizeDocument
from tflm_sim.report.model_explorer import VALUES, write_model_explorer
from tflm_sim.report.page import write_page
from tflm_sim.report.perfetto import write_perfetto
from tflm_sim.report.picture import Picture
from tflm_sim.report.picture_document import picture_document, read_document
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture, title_of
from tflm_sim.report.verdict_text import answer_line
from tflm_sim.targets.boards import board
from tflm_sim.units import format_size

ABOUT = """
Use it to see which tensor is where and when, or to show it to somebody. It
writes an interactive page, a picture or a trace file. With --tensor it says on
the terminal where one tensor is, and which others share its memory.
"""
EXAMPLES = """
tflm-sim report model.tflite -o report.html
tflm-sim report model.tflite -o report.html --target cortex-m4 --compare-target esp32-s3
tflm-sim report model.tflite -o report.html --compare-board esp32-s3 --compare-board pico
tflm-sim report model.tflite -o report.html --compare-planner linear
tflm-sim report model.tflite -o report.html --compare-model small.tflite
tflm-sim report model.tflite -o report.html --boards all
tflm-sim report model.tflite -o picture.svg
tflm-sim report model.tflite -o trace.json --format perfetto
tflm-sim report model.tflite -o picture.json && tflm-sim report picture.json -o report.html
tflm-sim report model.tflite --tensor input --tensor 5
"""
_SUFFIXES = {".html": "html", ".htm": "html", ".svg": "svg", ".png": "png", ".json": "json"}
_FORMATS = ("html", "svg", "png", "json", "perfetto", "model-explorer")
_SEARCH_SECONDS = 5.0

_SIDE_BY_SIDE = ("compare_target", "compare_board", "compare_planner", "compare_model")


def _form(output: str) -> str:
    """Return the format for a file's name; without an ending it is the HTML page."""
    suffix = Path(output).suffix.lower()
    if suffix and suffix not in _SUFFIXES:
        raise UsageError(f"{output}: the name must end in {', '.join(_SUFFIXES)}; for another name add --format")
    return _SUFFIXES.get(suffix, "html")


EXITS = {
    3: "a file cannot be used; --firmware: the program leaves a doubt that can turn the figures",
    4: "AllocateTensors() fails, or Invoke() every time; the report is still written",
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "report", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="a .tflite file, sample:NAME, or a picture saved as JSON"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write; - for the terminal")
    parser.add_argument(
        "--tensor",
        action="append",
        default=[],
        metavar="X",
        help=f"say which tensors share memory with X, and when; with -o OUT.json as JSON: {TENSOR_HELP}",
    )
    parser.add_argument(
        "--format", choices=_FORMATS, help="the format (default: from the end of OUT's name, else html)"
    )
    add_configuration(parser)
    add_executed(parser)
    add_split_arenas(parser)
    parser.add_argument("--arena-size", metavar="N", help="the size of the arena (default: the smallest that works)")
    other = parser.add_argument_group("side by side")
    other.add_argument("--compare-target", action="append", default=[], metavar="T", help="another target")
    other.add_argument(
        "--compare-planner",
        action="append",
        default=[],
        metavar="P",
        choices=PLANNERS,
        help=f"another planner: {', '.join(PLANNERS)}; all plans but those of greedy and linear "
        "are written into the model's metadata",
    )
    other.add_argument(
        "--compare-model",
        action="append",
        default=[],
        metavar="FILE",
        help="another model, such as one that 'shrink' wrote",
    )
    other.add_argument(
        "--compare-board",
        action="append",
        default=[],
        metavar="B",
        help="another board, with the same library and TFLM",
    )
    other.add_argument(
        "--candidates", action="store_true", help="with --firmware: every target that is possible for its file"
    )
    other.add_argument(
        "--boards",
        metavar="B,...",
        help="add a table to the page that says whether the model fits these boards, or all",
    )
    parser.add_argument(
        "--value",
        choices=VALUES,
        default="live",
        help="with --format model-explorer: show live bytes, scratch bytes or tail bytes",
    )


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 4 where a model does not run, and the report is written all the same.

    It is 3 where a program leaves a doubt that can turn the figures.
    """
    (args.model,) = named_models(args, [] if args.model is None else [args.model])
    if args.tensor:
        return _of_tensors(args)
    if args.output is None:
        raise UsageError("-o OUT is missing, the file to write; --tensor X answers without one")
    if (code := answer_of_an_extension("report", args)) is not None:
        return code
    form = args.format or _form(args.output)
    if args.boards and form not in ("html", "json"):
        raise UsageError("--boards adds a table to the page and to JSON only: -o report.html")
    program, answer = None, None
    if args.model is not None and args.model.lower().endswith(".json"):
        pictures, boards = _saved(args)
    else:
        (pictures, answer, program), boards = _pictures(args), _boards(args)
    _write(args, form, pictures, boards, _room(args) if program is None else program.ram)
    if args.output != "-":
        say(*part_lines("SizeDocument", getattr(pictures[0].size, "parts", {})), file=sys.stderr)
        say(f"for {pictures[0].title}", f"{args.output}: {_answer(pictures[0])}", file=sys.stderr)
    if program is not None:
        say(*settling_lines(program.answer, program.settled_by), file=sys.stderr)
    is_judged = program is not None or (answer is not None and args.arena_size is not None)
    judged = pictures[1:] if is_judged else pictures  # What the program does in an arena is judged with its doubts.
    if not all(map(_works, judged)):
        return SimulatedFailure.exit_code
    return 0 if answer is None else code_of_answer(answer)


def _of_tensors(args: argparse.Namespace) -> int:
    """Say where tensors are and when, and who shares their bytes: as text, or with ``-o`` as JSON."""
    from tflm_sim.report.lifetime_text import lifetimes_document, tensor_lines

    refuse_besides(args, "tensor", "model", "output", "format", "executed", "into", *SETTINGS)
    is_json = args.output is not None and (args.format or _form(args.output)) == "json"
    if not is_json and (args.output or args.format):
        raise UsageError("--tensor answers as text, or as JSON: -o OUT.json")
    model, config, about = asked_about(args)
    found = Lifetimes(simulated(model, config))
    asked = [found.find(what) for what in args.tensor]
    if is_json:
        document = lifetimes_document(found, asked, assumed=assumed(args, config))
        _write_text(args.output, lambda file: file.write(f"{json_text(as_json(document), indent=1)}\n"))
        return 0
    say(*about)
    for life in asked:
        say(*tensor_lines(found, life), "")
    return 0


def _works(picture: Picture) -> bool:
    return picture.status == "ok" and _invoke_problem(picture) is None


def _invoke_problem(picture: Picture) -> InvokeProblem | None:
    return picture.size.answer.invoke_problem if isinstance(picture.size, SizeDocument) else None


def _answer(picture: Picture) -> str:
    if picture.failure:
        return f"AllocateTensors() fails: {picture.failure}"
    if (problem := _invoke_problem(picture)) is not None:
        return str(problem)
    if (banks := picture.size.answer.bank_needs) is not None:
        return f"needs {bank_words(banks)}"
    smallest, rounded = picture.size.answer.smallest_arena_bytes, picture.size.answer.smallest_arena_multiple_of_16
    if smallest is None or rounded is None:
        return "two arenas"
    return f"smallest arena {format_size(smallest)}; as a multiple of 16, for the firmware: {rounded:,} B"


def _saved(args: argparse.Namespace) -> tuple[Sequence[Picture], Sequence[BoardFit]]:
    if args.boards:
        raise UsageError("a saved picture keeps the boards that it was saved with; --boards needs a model")
    document = read_document(read(args.model, most=MAX_DOCUMENT_BYTES, error=ModelError), path=args.model)
    return document.pictures, document.boards


def _refuse(args: argparse.Namespace) -> None:
    if args.candidates and not args.firmware:
        raise UsageError("--candidates needs --firmware APP.elf, whose file can fit several targets")
    if args.arena_size is not None and args.split_arenas:
        raise UsageError("--arena-size is for one arena and --split-arenas for two; remove one of them")


def _pictures(args: argparse.Namespace) -> tuple[list[Picture], Answer | None, ProgramNeed | None]:
    """Return the pictures, whether the model works in a program, and what that needs where it is only read."""
    if is_executed(args, "split_arenas", "candidates"):
        return *_executed(args), None
    model = load(args.model)
    _refuse(args)
    config, needs, candidates, program = _chosen(args, model)
    if program is not None and program.banks:
        if other := first_given(args, ("arena_size", *_SIDE_BY_SIDE)):
            raise UsageError(f"{other} is about one arena; this program's tensors lie in several banks, by its banks.h")
        return [*program_pictures(program, program_parts(program))], program.answer, program
    cases = [*(candidates if args.candidates else [(model, config, "")]), *_comparisons(args, model, config)]
    with ProgressLine("simulating", model, runs=2 * len(cases)) as progress:
        first, *others = [
            take_picture(
                each,
                case,
                arena_size=arena_size(args),
                title=title,
                observers=progress.observers,
                shrunk_by=shrinking(vars(args), args.model, arena_size(args)) if each is model else "",
                assumed=assumed(
                    args if case.target.name == config.target.name else _of_target(args, case.target.name), case
                ),
            )
            for each, case, title in cases
        ]
    report = first.size
    assert isinstance(report, SizeDocument), "these are pictures of TFLM"
    parts = {**program_parts(program), **parts_of_extensions("report", args, model, config)}
    return (
        [replace(first, size=replace(report, candidates=tuple(needs) or None, parts=parts)), *others],
        None if program is None else program.answer,
        program,
    )


def _executed(args: argparse.Namespace) -> tuple[list[Picture], Answer]:
    """Return the picture of what was measured, and of what it is compared with; and whether it works."""
    own, size = None if args.model is None else load(args.model), arena_size(args)
    sizes = [] if size is None else [size]
    if first_given(args, _SIDE_BY_SIDE) is None:
        found = measured(args, own, possible_configurations(args), sizes)
        pictures = [*found.pictures()]
    else:
        found, exact = exactly_measured(args, own, sizes)
        cases = _comparisons(args, found.model, exact)
        pictures = [*found.pictures(), *(take_picture(model, config, title=title) for model, config, title in cases)]
    if size is None:
        return pictures, found.answer
    verdict = judge_measured(args.model or args.firmware, found.model, found, size, key="")
    say(answer_line(verdict), file=sys.stderr)
    if found.exact is not None and not found.exact.split_arenas:
        shrunk_by = shrinking(vars(args), args.model, size)
        first = take_picture(found.model, found.exact, arena_size=size, title=pictures[0].title, shrunk_by=shrunk_by)
        pictures[0] = replace(first, size=pictures[0].size)
    elif size != found.arena_size:
        say(f"the picture is of what the program has, not of {format_size(size)}", file=sys.stderr)
    return pictures, verdict.answer


_Case: TypeAlias = tuple[Model, Configuration, str]
"""A model, what it runs on, and what to call that; "" for its target with its TFLM, kernels and planner."""


def _chosen(
    args: argparse.Namespace, model: Model
) -> tuple[Configuration, Sequence[CandidateNeed], list[_Case], ProgramNeed | None]:
    """Return the configuration of the options, what each one needs that a program leaves possible, and what it says.

    Of several the configuration is that of the one that needs most. The cases, one for each need, are in descending
    order.
    """
    config, program = configured(args, args.model, model)
    say(*program_header(program), file=sys.stderr)
    if program is None or len(program.configurations) == 1:
        return config, (), [(model, config, "")], program
    if not program.candidates:
        return config, (), [(model, config, "")], program
    say(candidate_text(program.candidates), file=sys.stderr)
    possible = program.configurations
    worst, needs = most_demanding(model, possible)
    groups: dict[int | None, list[tuple[str, Configuration]]] = {}
    for need, config in zip(needs, possible, strict=True):
        groups.setdefault(need.smallest_arena, []).append((need.case, config))
    rows = sorted(groups.values(), key=lambda rows: rows[0][1] is not worst.configuration)
    cases = [(model, rows[0][1], " or ".join(case for case, _ in rows)) for rows in rows]
    return worst.configuration, program.candidates, cases, program


def _of_target(args: argparse.Namespace, name: str) -> argparse.Namespace:
    """Return the options for another target: it has its own kernels and interpreter, and is of no program."""
    own = {"target": name, "kernels": None, "interpreter": None, "firmware": None}
    return argparse.Namespace(**{**vars(args), **own})


def _comparisons(args: argparse.Namespace, model: Model, config: Configuration) -> Iterator[_Case]:
    for name in args.compare_target:
        yield model, configuration(_of_target(args, name)), ""
    for name in args.compare_board:
        chosen = board(name)
        case = configuration(_of_target(args, chosen.preset))
        yield model, case, f"{name}, {chosen.ram_text}: {title_of(case, None)}"
    for name in args.compare_model:
        yield load(name), config, f"{Path(name).name} on {config.target.name}"
    for name in args.compare_planner:
        if name in PLANNER_NAMES:
            yield model, replace(config, planner=name), ""
        else:
            planned = with_offline_plan(model, config, name, time_limit=_SEARCH_SECONDS, replace_plan=True)
            yield planned, config, f"{config.target.name}, tensors placed by {name} (in the model's metadata)"


def _boards(args: argparse.Namespace) -> Sequence[BoardFit]:
    if not args.boards:
        return ()
    from tflm_sim.answers.rows import cases, rows_of  # Many boards are slow to import.

    over = cases((), args.boards.split(","))
    return [*map(board_row, rows_of(args.model, load(args.model), over))]


def _write(
    args: argparse.Namespace, form: str, pictures: Sequence[Picture], boards: Sequence[BoardFit], room: Ram | None
) -> None:
    if form == "png":
        from tflm_sim.report.drawings import write_png

        if args.output == "-":
            raise UsageError("a PNG file needs a name: -o picture.png")
        write_png(args.output, pictures)
        return
    writers: dict[str, Callable[[TextIO], object]] = {
        "html": lambda file: write_page(file, pictures, boards, room=room),
        "svg": lambda file: write_svg(file, pictures),
        "json": lambda file: file.write(json_text(picture_document(pictures, boards))),
        "perfetto": lambda file: write_perfetto(file, pictures[0]),
        "model-explorer": lambda file: write_model_explorer(file, pictures[0], value=args.value),
    }
    _write_text(args.output, writers[form])


def _room(args: argparse.Namespace) -> Ram | None:
    """Return the largest bank of the board that was named; None where none is known."""
    bank = board(args.board).largest_bank if args.board else None
    return None if bank is None else Ram(f"{bank.name} of {args.board}", bank.size)


def _write_text(output: str, write: Callable[[TextIO], object]) -> None:
    if output == "-":
        text = io.StringIO()
        write(text)
        say_document(text.getvalue())
    else:
        with replacing(output) as file:
            write(file)
