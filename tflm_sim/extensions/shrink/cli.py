"""``tflm-sim shrink``: rewrite a model so that unmodified TFLM needs a smaller arena, with the same bytes out."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tflm_sim.checks.doubts import EXIT_CODES, Answer, settling_lines
from tflm_sim.checks.judge import Room, judge_in_program, judge_measured
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.checks.verdict import Verdict
from tflm_sim.cli import options
from tflm_sim.cli.terminal import ProgressLine, elapsing, fitting, say, say_json, say_verdict
from tflm_sim.device.configuration import Configuration
from tflm_sim.documents import as_json
from tflm_sim.errors import FirmwareError, SimulatedFailure, TflmSimError, UsageError
from tflm_sim.extension_points import ProgramFigures
from tflm_sim.extensions.shrink.shrunk import Shrunk
from tflm_sim.extensions.shrink.stream_text import feeding_lines, streamed_document, streamed_lines
from tflm_sim.extensions.shrink.streamed import Streamed
from tflm_sim.extensions.shrink.text import (
    ExecutedGain,
    executed_gain_lines,
    firmware_lines,
    shrunk_document,
    shrunk_lines,
)
from tflm_sim.extras import install_command
from tflm_sim.files import replacing, replacing_bytes
from tflm_sim.model.c_array import is_source_name, new_source, with_array
from tflm_sim.model.inputs import read_input
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.names import command_line, meant
from tflm_sim.numbers import multiple, seconds, share_of, whole
from tflm_sim.ops.resolver import resolver_methods
from tflm_sim.report.verdict_text import answer_line
from tflm_sim.sizes import parse_size

ABOUT = """
Use it if a model does not fit. The new file gives the same output bytes; the
firmware usually needs one or two more operators.
"""
EXAMPLES = """
tflm-sim shrink model.tflite -o small.tflite --target cortex-m4
tflm-sim shrink model.tflite -o small.tflite --target cortex-m4 --target esp32-s3
tflm-sim shrink model.tflite -o small.tflite --goal 64KiB --max-macs 1.10 --max-flash +10%
tflm-sim shrink model.tflite -o small.tflite --offline-plan --prove 20
tflm-sim shrink model.tflite -o small.tflite --firmware build/app.elf --prove 5
tflm-sim shrink model.tflite -o small.tflite --firmware build/app.elf --executed
tflm-sim shrink model.tflite -o small.tflite --int8-io --time-limit 30s
tflm-sim shrink sketch/model.h -o sketch/model.h --in-place --library ArduTFLite.h
tflm-sim shrink model.tflite --explain
tflm-sim shrink model.tflite --stream 2 --advise
tflm-sim shrink model.tflite --stream 2 --for macs -o stream.tflite --prove 20
"""
NO_GAIN = 1
EXITS = {
    0: "there is a smaller model, or the goal is met, or --advise has an answer",
    1: "there is no smaller model, the goal is not met, the program of --firmware does not run it, or the proof failed",
    3: "the model cannot be rewritten, or cannot be proved; --firmware: the program leaves a doubt that can turn it",
    4: "TFLM fails on the original model, or Invoke() every time",
}


def register(subparsers: options.Subparsers) -> None:
    parser = options.add_verb(subparsers, "shrink", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the file to write (without it nothing is written): .tflite, or a C array (.h, .cc, ...) in the place of "
        "the one that the file has",
    )
    parser.add_argument("--in-place", action="store_true", help="allow OUT to be MODEL")
    options.add_configuration(
        parser, several=("target", "board"), title="firmware (with several targets or boards, the arena grows on none)"
    )
    options.add_executed(parser)
    options.add_split_arenas(parser)
    _add_limits(parser.add_argument_group("limits for the result"))
    _add_passes(parser.add_argument_group("passes that are off by default"))
    _add_stream(parser.add_argument_group("a model on a window that moves on by a few frames"))
    parser.add_argument(
        "--prove",
        type=options.typed(whole),
        metavar="N",
        help="run both models in the real TFLM (with --firmware: in that program) on N random inputs and the extremes, "
        "and reject the result if a byte differs",
    )
    parser.set_defaults(minimised=None)  # An extension's options may ask for something else than one arena.
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--explain",
        action="store_true",
        help="also print each edit, the reason why the outputs stay the same, and what was rejected",
    )


def _add_limits(limits: argparse._ArgumentGroup) -> None:
    limits.add_argument(
        "--goal",
        metavar="N",
        help="stop at the first result that fits (64KiB, both arenas together where there are two), with the fewest "
        "multiply-accumulates",
    )
    limits.add_argument(
        "--max-macs",
        type=options.typed(multiple),
        metavar="X",
        help="the most multiply-accumulates, as a multiple of the model's (default: 1.35)",
    )
    limits.add_argument("--max-flash", metavar="N", help="the largest file: 300KiB, +20KiB or +10%%")
    limits.add_argument(
        "--ops",
        metavar="A,B",
        help="the only operators that the result may need in addition: SLICE,CONCATENATION or none",
    )
    limits.add_argument(
        "--time-limit",
        type=options.typed(seconds),
        metavar="T",
        help="end the search after 60s, 500ms or 2m, and use the best result so far; Ctrl-C does the same "
        "(default: search until nothing helps any more)",
    )


def _add_stream(stream: argparse._ArgumentGroup) -> None:
    stream.add_argument(
        "--stream",
        type=options.typed(whole, least=1),
        metavar="S",
        help="rewrite the model so that it takes the S new frames only, keeps what it made of the others, and gives "
        "what it gives of the whole window",
    )
    stream.add_argument(
        "--for",
        dest="aim",
        choices=("ram", "macs"),
        default="ram",
        help="with --stream: the smallest arena, which must be smaller than the window's (default), or the fewest "
        "multiply-accumulates",
    )
    stream.add_argument(
        "--advise",
        action="store_true",
        help="with --stream: print how much of a window's work was done for the window before, by operator, for S and "
        "for divisors and multiples of the model's stride; nothing is rewritten",
    )
    stream.add_argument(
        "--axis",
        type=options.typed(whole, least=0),
        metavar="A",
        help="the axis of the input along which its frames are (default: the only one along which anything recurs)",
    )
    stream.add_argument(
        "--picture", type=options.svg_file, metavar="FILE.svg", help="with --advise: draw the operators for S"
    )


def _add_passes(passes: argparse._ArgumentGroup) -> None:
    passes.add_argument(
        "--offline-plan",
        action="store_true",
        help="write the exact planner's offsets into the metadata, and let tensors share bytes",
    )
    passes.add_argument(
        "--kernel-order",
        action="store_true",
        help="with a plan: let outputs overlap their inputs if the kernels' loops allow it",
    )
    passes.add_argument(
        "--int8-io",
        action="store_true",
        help="remove QUANTIZE and DEQUANTIZE at the model's ends, so that its inputs and outputs are integers; your "
        "firmware converts them with the lines that are printed",
    )
    passes.add_argument(
        "--loops",
        action="store_true",
        help="with a plan: run parts of a layer as iterations of a WHILE, which saves memory per operator; needs TFLM "
        "of 2025-11-10 or newer",
    )
    passes.add_argument("--replan", action="store_true", help="remove the offline plan that the model has")
    passes.add_argument(
        "--force-float", action="store_true", help="also rewrite floating point if the kernels may add in another order"
    )
    passes.add_argument("--drop-names", action="store_true", help="remove the names of inner tensors, to save flash")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 1 where nothing is gained or the goal is not met."""
    if importlib.util.find_spec("numpy") is None:
        raise UsageError(f"shrink needs numpy: {install_command('numpy')}")
    from tflm_sim.extensions.shrink.shrink import shrink

    if (code := options.answer_of_an_extension("shrink", args)) is not None:
        return code
    if args.stream is None:
        _refuse_without_stream(args)
    elif args.advise:
        return _advise_on_windows(args)
    else:
        return _stream(args)
    model = load(args.model)
    _refuse_output(args)
    settings = _settings(args, len(model.source))
    is_measured = options.is_executed(args)
    configurations, need = _configurations(args, model)
    if need is None:
        _refuse_what_never_runs(model, configurations)
    goal = settings.get("goal")
    sizes = [] if goal is None else [goal]
    measured = options.measured(args, model, configurations, sizes) if is_measured else None
    if measured is not None and measured.smallest is not None and measured.answer == "no":
        raise SimulatedFailure(f"in {args.firmware} it does not work: {measured.reason}")
    if goal is not None and measured is not None and measured.smallest is not None:
        settings["goal"] = _goal_of_search(goal, measured)
    with ProgressLine("shrinking", model) as status:
        shrunk = shrink(model, configurations, **settings, aim=args.minimised, progress=status.show)
    after = measured  # Nothing new where nothing changed.
    if measured is not None and shrunk.has_gained:
        after = options.measured(args, load(shrunk.data), configurations, sizes)
    executed = None if measured is None or after is None else _gain(args, measured, after)
    verdict = None if goal is None or need is None else _judged(args, shrunk, goal, after)
    answer: Answer | None = None if verdict is None else verdict.answer
    if goal is not None and verdict is None:
        answer = "yes" if shrunk.fits(goal) else "no"
    has_gained = shrunk.has_gained if executed is None else executed.has_gained
    is_met = answer == "yes" if verdict is None else verdict.works is not False
    output = args.output if has_gained or is_met else None
    if output is not None:
        _write(output, shrunk, args)
    if not args.json:
        if verdict is not None:
            say_verdict(f"for the goal of {goal:,} B: {answer_line(verdict)}")
        elif executed is None:
            say(*options.program_header(need))
        shown = configurations[:1] if args.firmware else configurations  # The table says what its file leaves open.
        say(*(line for config in shown for line in options.header(args, config)))
    _print(args, shrunk, goal, answer, executed, output, verdict or need)
    if answer is not None:
        return EXIT_CODES[answer]
    if not has_gained:
        return NO_GAIN
    if need is None:
        return 0
    return EXIT_CODES[need.answer if measured is None else measured.answer]


def _refuse_what_never_runs(model: Model, configurations: Sequence[Configuration]) -> None:
    """Refuse a model whose Invoke() fails every time, which no smaller arena mends.

    Raises:
        SimulatedFailure: It is one on one of the targets.
    """
    for configuration in configurations:
        found = options.simulated(model, configuration).unwrap().invoke_problem
        if found is not None:
            raise SimulatedFailure(f"on {configuration.target.name} it {found}")


_OF_WINDOWS = ("advise", "axis", "picture", "aim")
"""Options that only ``--stream`` has."""
_OF_STREAMS = (
    "goal", "operators", "replan", "force_float", "time_limit", "prove_runs", "prove_program", "into",
)  # fmt: skip
"""Settings of ``shrink()`` that ``stream()`` has, too."""
_NOT_OF_STREAMS = (
    "max_macs", "max_flash", "offline_plan", "kernel_order", "int8_io", "loops", "drop_names", "executed",
)  # fmt: skip
"""Options that ``--stream`` has not."""


def _refuse_without_stream(args: argparse.Namespace) -> None:
    """Refuse an option about windows where no window moves."""
    if option := options.first_given(args, _OF_WINDOWS):
        raise UsageError(f"{option} needs --stream S, the frames by which the window moves on")


def _stream(args: argparse.Namespace) -> int:
    """Rewrite a model that takes a window into one that takes its new frames, and print what that gives."""
    from tflm_sim.extensions.shrink.stream import stream

    if args.picture is not None:
        raise UsageError("--picture needs --advise: it draws what windows have in common")
    options.refuse_besides(args, "stream", others=_NOT_OF_STREAMS)
    model = load(args.model)
    _refuse_output(args)
    given = _settings(args, len(model.source))
    settings = {name: given[name] for name in _OF_STREAMS if name in given}
    configurations, _ = _configurations(args, model)
    with ProgressLine("streaming", model) as status:
        result = stream(
            model, args.stream, configurations, axis=args.axis, aim=args.aim, **settings, progress=status.show
        )
    if args.output is not None:
        _write(args.output, result, args)
    if args.json:
        say_json(streamed_document(result, goal=settings.get("goal"), output=args.output))
        return 0
    shown = configurations[:1] if args.firmware else configurations
    say(*(line for config in shown for line in options.header(args, config)))
    say(*streamed_lines(result, explain=args.explain, width=fitting()))
    say(f"{args.output} is written" if args.output is not None else "nothing is written; -o OUT.tflite writes it")
    return 0


def _advise_on_windows(args: argparse.Namespace) -> int:
    """Print how much of a window's work stands in the window before.

    Raises:
        UsageError: Something else was asked for, too.
    """
    from tflm_sim.extensions.shrink.windows import window_work
    from tflm_sim.extensions.shrink.windows_picture import write_stream_svg
    from tflm_sim.extensions.shrink.windows_text import stream_document, stream_lines

    options.refuse_besides(args, "advise", "stream", "axis", "picture", "json", "model")
    model = load(args.model)
    with elapsing("comparing windows"):
        work = window_work(model, args.stream, args.axis)
    del args.runtime  # What is said holds for every TFLM: none was taken.
    if args.picture is not None:
        with replacing(args.picture) as file:
            write_stream_svg(file, work, model.path)
    if args.json:
        say_json(stream_document(work, model.path))
    else:
        say(*stream_lines(work, model.path, width=fitting()))
    return 0


_AS_NAMED = (
    "offline_plan", "kernel_order", "replan", "force_float", "drop_names", "int8_io", "loops", "time_limit", "max_macs",
)  # fmt: skip
"""Options that are settings of ``shrink()`` as they are."""


def _settings(args: argparse.Namespace, before: int) -> dict[str, Any]:
    if args.prove is not None and args.prove < 0:
        raise UsageError(f"--prove {args.prove}: the number of inputs must not be negative")
    named = {name: getattr(args, name) for name in _AS_NAMED}
    named |= {"prove_runs": args.prove, "prove_program": args.firmware, "into": args.into}
    texts: tuple[tuple[str, str | None, Callable[[str], object]], ...] = (
        ("goal", args.goal, parse_size),
        ("max_flash", args.max_flash, partial(_flash, before)),
        ("operators", args.ops, _operators),
    )
    named |= {name: read(text) for name, text, read in texts if text is not None}
    return {name: value for name, value in named.items() if value is not None}


def _judged(args: argparse.Namespace, shrunk: Shrunk, goal: int, measured: ProgramFigures | None) -> Verdict:
    """Return what ``check`` says of the result in a program, with the goal as its limit."""
    model = load(shrunk.data)
    if measured is not None:
        return judge_measured(args.model, model, measured, goal, key="")
    one = _of_one_target(args)
    need = options.program_need(one, args.model, model, options.possible_configurations(one), goal)
    return judge_in_program(args.model, model, need, Room(goal, None), key="")


def _goal_of_search(goal: int, measured: ProgramFigures) -> int:
    """Return the goal in terms of the simulation, which a program's own kernels are not part of."""
    simulated = options.simulated(measured.model, measured.configuration).smallest
    assert measured.smallest is not None, "it works in some arena"
    return goal if simulated is None else max(1, goal - measured.smallest + simulated.size)


def _gain(args: argparse.Namespace, before: ProgramFigures, after: ProgramFigures) -> ExecutedGain:
    """Return what was measured in the program with the model before and after."""
    facts = dict(before.parts)
    return ExecutedGain(
        program=args.firmware,
        before=facts,
        arena_before=before.smallest,
        after=facts if after is before else dict(after.parts),
        arena_after=None if after.answer == "no" else after.smallest,
    )


def _print(
    args: argparse.Namespace,
    shrunk: Shrunk,
    goal: int | None,
    answer: Answer | None,
    executed: ExecutedGain | None,
    output: str | None,
    said: ProgramNeed | Verdict | None,
) -> None:
    """Print the result; ``said`` is what the program of ``--firmware`` says, of the result where there is a goal."""
    if args.json:
        program = None if said is None or executed is not None else as_json(said.parts["program"])
        say_json(shrunk_document(shrunk, goal=goal, answer=answer, output=output, executed=executed, program=program))
    else:
        if executed is None or shrunk.has_gained or answer in ("no", None):
            of_simulation = goal if executed is None else None
            say(*shrunk_lines(shrunk, goal=of_simulation, explain=args.explain, width=fitting()))
        if executed is not None:
            say(*executed_gain_lines(executed))
        if output is not None:
            say(f"{output} is written")
            if shrunk.aims:
                say(f"next: {shrunk.aims[0].command.replace('FILE', command_line(output))}")
        elif executed is not None and shrunk.has_gained and not executed.has_gained:
            say("nothing is written: the program itself does not need less")
        elif shrunk.has_gained:
            own = _file_of(args.model)
            say(f"nothing is written; -o {f'{own} --in-place' if is_source_name(own) else 'OUT.tflite'} writes it")
        if said is not None and executed is None:
            say(*settling_lines(said.answer, said.settled_by))


def _configurations(args: argparse.Namespace, model: Model) -> tuple[list[Configuration], ProgramNeed | None]:
    """Return a configuration for each target and board; of ``--firmware`` what it may be built for, and what it needs.

    Raises:
        UsageError: Several of them with a program.
        FirmwareError: The file does not say what has to be simulated.
    """
    targets, boards = args.target or [], args.board or []
    if args.firmware:
        if len(targets) + len(boards) > 1:
            raise UsageError(
                "--firmware selects one target; add at most one --target, for what the file does not contain"
            )
        one = _of_one_target(args)
        need = options.program_need(one, args.model, model, options.possible_configurations(one))
        if need.simulation is None:
            raise FirmwareError(need.reason, path=args.firmware)
        return list(need.configurations), need
    each = [(name, None) for name in dict.fromkeys(targets)] + [(None, name) for name in dict.fromkeys(boards)]
    found: list[Configuration] = []
    for target, board in each or [(None, None)]:
        found += options.possible_configurations(_of_one_target(args, target, board))
    return list(dict.fromkeys(found)), None


def _of_one_target(args: argparse.Namespace, target: str | None = None, board: str | None = None) -> argparse.Namespace:
    """Return the options for one target or board; for none of both for the one that was named, as with a program."""
    if target is None and board is None:
        target, board = ((names or [None])[0] for names in (args.target, args.board))
    return argparse.Namespace(**{**vars(args), "target": target, "board": board})


def _flash(before: int, text: str) -> int:
    """Return the bytes that --max-flash allows.

    Raises:
        UsageError: Not a size.
    """
    share = share_of(text)
    if share is not None:
        return before + math.floor(before * share)
    return before + parse_size(text[1:]) if text.startswith("+") else parse_size(text)


def _operators(text: str) -> frozenset[str]:
    """Return the operators that --ops names, none for "none".

    Raises:
        UsageError: No such builtin operator.
    """
    from tflm_sim.model.schema import BUILTIN_OPERATORS

    names = frozenset(name.strip().upper() for name in text.split(",") if name.strip()) - {"NONE"}
    for name in sorted(names - set(BUILTIN_OPERATORS)):
        hint = meant(name, tuple(BUILTIN_OPERATORS))
        raise UsageError(f"--ops: there is no builtin operator '{name}'" + (f"; {hint}" if hint else ""))
    return names


def _refuse_output(args: argparse.Namespace) -> None:
    """Refuse, before the search, to write into a folder that is none."""
    if args.output is None:
        return
    folder = os.path.dirname(args.output) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{args.output} cannot be written: there is no folder {folder}")


def _file_of(model: str) -> str:
    return model if os.path.exists(model) else model.rpartition(":")[0]


def _write(path: str, shrunk: Shrunk | Streamed, args: argparse.Namespace) -> None:
    """Write a file so that it is there as a whole or not at all, and read it again.

    Raises:
        UsageError: It cannot be written.
        TflmSimError: What is read again is not what was written.
    """
    label = path
    written = bytes(shrunk.data)
    if is_source_name(path):
        written, label = _as_source(path, shrunk, args)
    with replacing_bytes(path) as file:
        file.write(written)
    if os.path.isfile(path) and bytes(read_input(label).data) != bytes(shrunk.data):
        raise TflmSimError(f"{path}: reading the file again does not give what was written")


def _as_source(path: str, shrunk: Shrunk | Streamed, args: argparse.Namespace) -> tuple[bytes, str]:
    """Return the result as a C array in a source, and what to call it: in the file that is there, or in a new one."""
    methods, own = resolver_methods(shrunk.model)
    notes = [
        *firmware_lines(shrunk, has_arena=isinstance(shrunk, Streamed) or not shrunk.aims),
        *(feeding_lines(shrunk) if isinstance(shrunk, Streamed) else ()),
        f"MicroMutableOpResolver<{len(methods) + len(own)}>: {', '.join((*methods, *own))}",
    ]
    if not os.path.exists(path):
        return new_source(bytes(shrunk.data), path=path, notes=notes), path
    array = args.model.removeprefix(f"{path}:") if args.model.startswith(f"{path}:") else ""
    source = with_array(Path(path).read_bytes(), bytes(shrunk.data), path=path, name=array, notes=notes)
    return source, f"{path}:{array}" if array else path
