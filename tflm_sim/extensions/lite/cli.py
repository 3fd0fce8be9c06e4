"""``tflm-sim lite``: what the mobile runtime, LiteRT, makes of a model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tflm_sim.cli.options import Subparsers, add_configuration, add_forms, add_verb, assumed, configuration, typed
from tflm_sim.cli.terminal import say, say_json, show, terminal_width, wants_color
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure, TflmSimError, UsageError
from tflm_sim.extensions.lite.answer import (
    MAX_THREADS,
    Answer,
    FileName,
    LiteDocument,
    LiteSettings,
    allocated,
    double_batch,
    machine_document,
    unmodelled,
)
from tflm_sim.extensions.lite.flex import flex_ops
from tflm_sim.extensions.lite.gpu import Storage, taken
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE, RELEASES, find_release
from tflm_sim.files import replacing
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.numbers import as_whole, whole
from tflm_sim.report.circumstances import with_assumed
from tflm_sim.units import format_size

ABOUT = """
Use it if the same model also runs on a phone.
"""
EXAMPLES = """
tflm-sim lite model.tflite
tflm-sim lite model.tflite --kernels reference --preserve-all
tflm-sim lite model.tflite --resize input=4,224,224,3
tflm-sim lite model.tflite --map
tflm-sim lite model.tflite --delegate gpu --storage texture-2d --half
tflm-sim lite model.tflite -o phone.html
tflm-sim lite *.tflite --jsonl > phones.jsonl
tflm-sim lite *.tflite --jsonl --double-batch
"""
EXITS = {
    1: "--delegate flex: an operator is in no list, or its name and options do not agree",
    4: "the mobile runtime refuses the model",
}
_MAX_SIZE = 2**31 - 1


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "lite", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "--kernels",
        choices=("optimized", "reference"),
        default="optimized",
        help="the kernels of the app's operator resolver",
    )
    parser.add_argument(
        "--preserve-all", action="store_true", help="experimental_preserve_all_tensors: no two tensors share bytes"
    )
    parser.add_argument(
        "--threads",
        type=typed(whole),
        default=1,
        metavar="N",
        help="the number of threads of the interpreter (default: 1)",
    )
    parser.add_argument(
        "--release",
        default=DEFAULT_RELEASE,
        metavar="R",
        help=f"the release of the runtime (default: {DEFAULT_RELEASE}): {', '.join(RELEASES)}",
    )
    shapes = parser.add_mutually_exclusive_group()
    shapes.add_argument(
        "--resize",
        action="append",
        default=[],
        metavar="NAME=SHAPE",
        help="resize an input, named by its name or number: NAME=1,96,96,3",
    )
    shapes.add_argument("--double-batch", action="store_true", help="double dimension 0 of every input that has one")
    parser.add_argument("--delegate", choices=("xnnpack", "gpu", "flex"), help="say what this delegate would compute")
    parser.add_argument(
        "--storage",
        choices=[row.value for row in Storage],
        default="buffer",
        help="with --delegate gpu: how tensors are stored",
    )
    parser.add_argument("--half", action="store_true", help="with --delegate gpu: use 16-bit floats")
    parser.add_argument(
        "--earlier-planners",
        action="store_true",
        help="say how large the arena was with the planners of earlier releases",
    )
    add_configuration(parser, leave_out=("kernels",), title="the TFLM that it is compared with")
    form = add_forms(parser)
    form.add_argument("-o", "--output", metavar="OUT", help="write the picture: .html, .svg, .png or .json")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 4 where the runtime refuses a model."""
    _refuse_contradictions(args)
    micro = configuration(argparse.Namespace(**{**vars(args), "kernels": None}))
    settings = LiteSettings(args.kernels, args.preserve_all, args.threads, find_release(args.release))
    if args.jsonl:
        return _jsonl(args, settings)
    code = 0
    for position, name in enumerate(args.models):
        model = load(name, strict=False)
        answer = _answer(model, settings, args)
        if position:
            say("")
        if args.delegate is not None:
            code = max(code, _delegated(model, answer, args))
            continue
        _show(name, model, answer, settings, args, micro)
        code = code if answer.status == "ok" else SimulatedFailure.exit_code
    return code


def _refuse_contradictions(args: argparse.Namespace) -> None:
    is_drawn = any((args.jsonl, args.map, args.output))
    is_gpu = args.delegate == "gpu"
    for is_wrong, sentence in (
        (not 1 <= args.threads <= MAX_THREADS, f"--threads {args.threads}: at least 1, at most {MAX_THREADS:,}"),
        (
            args.delegate == "xnnpack",
            "--delegate xnnpack: it is not modelled; every figure is that of an interpreter without it",
        ),
        (args.delegate and is_drawn, "--delegate says what a delegate takes, as text or with --json; it draws nothing"),
        (args.half and not is_gpu, "--half goes with --delegate gpu"),
        (args.storage != "buffer" and not is_gpu, "--storage goes with --delegate gpu"),
        (
            args.earlier_planners and any((is_drawn, args.json, args.delegate)),
            "--earlier-planners adds a line to the answer as text",
        ),
        ((args.json or args.output) and len(args.models) > 1, "one model at a time; use --jsonl for several"),
    ):
        if is_wrong:
            raise UsageError(sentence)


def _delegated(model: Model, answer: Answer, args: argparse.Namespace) -> int:
    """Print what a delegate would take. The exit code is 1 for Flex operators that are unknown or contradictory."""
    from tflm_sim.extensions.lite.text import flex_document, flex_lines, gpu_document, gpu_lines, report_lines

    if args.delegate == "flex":
        ops = flex_document(flex_ops(model))
        show(ops, flex_lines, as_json=args.json)
        return 1 if any(op.fault or not op.library for op in ops.operators) else 0
    if not answer.subgraphs:
        raise SimulatedFailure("; ".join(report_lines(answer.reports)))
    subgraph = answer.subgraphs[0]
    document = gpu_document(subgraph, taken(subgraph), Storage(args.storage), 2 if args.half else 4)
    show(document, gpu_lines, as_json=args.json)
    return 0


def _show(
    name: str, model: Model, answer: Answer, settings: LiteSettings, args: argparse.Namespace, micro: Configuration
) -> None:
    if args.json:
        say_json(machine_document(name, answer))
        return
    if args.map or args.output:
        _draw(name, answer, settings, args)
        return
    from tflm_sim.extensions.lite.text import lite_lines

    kept = ", every tensor preserved" if settings.preserves_all_tensors else ""
    say(
        *lite_lines(
            f"{name}: {settings.kernels} kernels{kept}, {settings.threads} thread{'s' * (settings.threads != 1)}",
            answer,
        )
    )
    if names := unmodelled(answer):
        say(f"not modelled, their Prepare may need more: {', '.join(names)}")
    if answer.status == "ok":
        if args.earlier_planners:
            say(_with_earlier_planners(answer))
        missing = [option for option in assumed(args, micro) if option == "--target"]
        say(f"TFLM on {with_assumed(micro.target.name, missing)} {_on_micro(model, micro)}")


def _with_earlier_planners(answer: Answer) -> str:
    """Return the first subgraph's arena by the planners of earlier releases, in a line."""
    from tflm_sim.extensions.lite.earlier_planners import earlier_arenas

    if answer.subgraphs[0].has_dynamic_tensors:
        return "planners of earlier releases: not told, a dynamic output ends the plan"
    arenas = [f"{years} {format_size(size)}" for years, size in earlier_arenas(answer.subgraphs[0]).items()]
    return f"main's arena with the planners of earlier releases, tensors as they are now: {', '.join(arenas)}"


def _draw(name: str, answer: Answer, settings: LiteSettings, args: argparse.Namespace) -> None:
    from tflm_sim.extensions.lite.planned_picture import lite_pictures
    from tflm_sim.extensions.lite.text import report_lines
    from tflm_sim.report.map import map_lines
    from tflm_sim.report.page import write_page
    from tflm_sim.report.svg import write_svg

    pictures = lite_pictures(name, answer, settings)
    if not pictures:
        raise SimulatedFailure("; ".join(report_lines(answer.reports)) or f"{name}: nothing was planned")
    if args.map:
        for number, picture in enumerate(pictures):
            say(
                *([""] if number else []),
                *map_lines(picture, width=terminal_width(), color=wants_color(args.color, sys.stdout)),
            )
        return
    form = Path(args.output).suffix.lower()
    if form == ".png":
        from tflm_sim.report.drawings import write_png

        write_png(args.output, pictures[:2])
    elif form == ".json":
        from tflm_sim.escape import json_text
        from tflm_sim.report.picture_document import picture_document

        with replacing(args.output) as file:
            file.write(json_text(picture_document(pictures)))
    elif form in (".html", ".htm", ".svg"):
        with replacing(args.output) as file:
            (write_svg if form == ".svg" else write_page)(file, pictures[:2])
    else:
        raise UsageError(f"-o {args.output}: the name must end in .html, .svg, .png or .json")
    say(f"{args.output}: {picture_answer(answer)}", file=sys.stderr)


def picture_answer(answer: Answer) -> str:
    """Return the spans of the first subgraph in a line."""
    from tflm_sim.extensions.lite.answer import subgraph_document

    document = subgraph_document(answer.subgraphs[0])
    spans = format_size(document.arena_rw_span), format_size(document.persistent_span)
    return f"arena {spans[0]}, persistent {spans[1]}; without the XNNPACK delegate"


def _on_micro(model: Model, micro: Configuration) -> str:
    """Return what TFLM needs for the same model, as the rest of a line."""
    from tflm_sim.answers.simulation import simulate

    try:
        simulation = simulate(model, micro)
    except UsageError:
        raise
    except TflmSimError as error:
        return f"cannot be simulated: {error}"
    if simulation.smallest is None:
        return "refuses it"
    return f"needs {format_size(simulation.smallest.size)}, interpreter and all"


def _answer(model: Model, settings: LiteSettings, args: argparse.Namespace) -> Answer:
    shapes = [_resized(model, text) for text in args.resize]
    return allocated(model, settings, shapes=double_batch if args.double_batch else shapes or None)


def _resized(model: Model, text: str) -> tuple[int, tuple[int, ...]]:
    """Return the input and the shape that ``NAME=SHAPE`` names."""
    name, equals, shape = text.rpartition("=")
    if not equals:
        raise UsageError(f"--resize {text}: write NAME=SHAPE with an input's name or number, such as input=1,96,96,3")
    tensors = model.subgraphs[0].tensors
    inputs = [index for index in model.subgraphs[0].input_tensors if 0 <= index < len(tensors)]
    names = [tensors[index].name for index in inputs]
    if name in names:
        place = names.index(name)
    elif (number := as_whole(name)) is not None and 0 <= number < len(inputs):
        place = number
    else:
        raise UsageError(f"--resize {text}: no input is called {name!r}; there is {', '.join(map(repr, names))}")
    return inputs[place], _parsed_shape(shape, text)


def _parsed_shape(shape: str, text: str) -> tuple[int, ...]:
    sizes = [as_whole(size) for size in shape.replace("x", ",").split(",")] if shape else []
    known = tuple(size for size in sizes if size is not None and 0 <= size <= _MAX_SIZE)
    if len(known) != len(sizes):
        raise UsageError(f"--resize {text}: write the shape as numbers with commas, such as 1,96,96,3")
    return known


def _jsonl(args: argparse.Namespace, settings: LiteSettings) -> int:
    code = 0
    for name in args.models:
        try:
            answer = _answer(load(name, strict=False), settings, args)
            document = machine_document(name, answer)
            code = code if answer.status == "ok" else SimulatedFailure.exit_code
        except TflmSimError as error:
            document = LiteDocument(FileName(name), None, "error", (str(error),), ())
            code = error.exit_code
        say_json(document, indent=None)
        sys.stdout.flush()
    return code
