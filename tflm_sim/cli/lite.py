"""``tflm-sim lite``: what the mobile runtime, LiteRT, makes of a model."""

from __future__ import annotations

import argparse
import json

from tflm_sim.cli.options import Subparsers, add_verb, load_model
from tflm_sim.errors import SimulatedFailure, TflmSimError, UsageError
from tflm_sim.lite.answer import Answer, Settings, allocated, double_batch, machine_document
from tflm_sim.model.types import Model

EXAMPLES = """
tflm-sim lite model.tflite
tflm-sim lite model.tflite --kernels reference --preserve-all
tflm-sim lite model.tflite --resize input=4,224,224,3
tflm-sim lite *.tflite --jsonl > phones.jsonl
tflm-sim lite *.tflite --jsonl --double-batch
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "lite", "print what the mobile runtime (LiteRT) allocates for a model", EXAMPLES)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument("--kernels", choices=("optimized", "reference"), default="optimized", help="registered kernels")
    parser.add_argument("--preserve-all", action="store_true", help="no tensor gives its bytes to another")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads that kernels may use (1)")
    shapes = parser.add_mutually_exclusive_group()
    shapes.add_argument(
        "--resize",
        action="append",
        default=[],
        metavar="NAME=SHAPE",
        help="resize an input: its name or number=1,96,96,3",
    )
    shapes.add_argument("--double-batch", action="store_true", help="double dimension 0 of every input that has one")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document")
    form.add_argument(
        "--jsonl", action="store_true", help="one JSON document a model and line; goes on after a bad model"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    if args.threads < 1:
        raise UsageError(f"--threads {args.threads}: at least 1")
    settings = Settings(args.kernels, args.preserve_all, args.threads)
    if args.jsonl:
        return _jsonl(args, settings)
    code = 0
    for name in args.models:
        answer = _answer(load_model(name), settings, args)
        print(json.dumps(machine_document(name, answer), indent=1))
        code = code if answer.status == "ok" else SimulatedFailure.exit_code
    return code


def _answer(model: Model, settings: Settings, args: argparse.Namespace) -> Answer:
    shapes = double_batch(model) if args.double_batch else [_resized(model, text) for text in args.resize]
    return allocated(model, settings, shapes=shapes if args.double_batch or shapes else None)


def _resized(model: Model, text: str) -> tuple[int, tuple[int, ...]]:
    """Return the input and the shape that ``NAME=SHAPE`` names."""
    name, _, shape = text.rpartition("=")
    inputs, tensors = model.subgraphs[0].inputs or (), model.subgraphs[0].tensors
    found = [index for index in inputs if tensors[index].name == name]
    if not found and name.isdigit() and int(name) < len(inputs):
        found = [inputs[int(name)]]
    if not found:
        names = ", ".join(repr(tensors[index].name) for index in inputs)
        raise UsageError(f"--resize {text}: no input is called {name!r}; there is {names}")
    try:
        sizes = tuple(int(size) for size in shape.replace("x", ",").split(",") if size)
    except ValueError as error:
        raise UsageError(f"--resize {text}: a shape is numbers with commas, 1,96,96,3") from error
    return found[0], sizes


def _jsonl(args: argparse.Namespace, settings: Settings) -> int:
    code = 0
    for name in args.models:
        try:
            answer = _answer(load_model(name), settings, args)
            document = machine_document(name, answer)
            code = code if answer.status == "ok" else SimulatedFailure.exit_code
        except TflmSimError as error:
            document = {"model": {"path": name}, "status": "error", "errors": [str(error)], "subgraphs": []}
            code = error.exit_code
        print(json.dumps(document, separators=(",", ":")), flush=True)
    return code
