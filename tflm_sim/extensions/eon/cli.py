"""``tflm-sim eon``: what Edge Impulse's EON compiler made of a model, and what it needs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.extensions.eon import MADE_BY, is_eon_source
from tflm_sim.extensions.eon.answer import eon_answer
from tflm_sim.extensions.eon.document import eon_document, eon_lines, eon_verdict
from tflm_sim.extensions.eon.rebuild import rebuilt
from tflm_sim.extensions.eon.source import EonSource, read_eon_source
from tflm_sim.files import replacing_bytes
from tflm_sim.model.inputs import read_source
from tflm_sim.targets.changes import EDGE_IMPULSE
from tflm_sim.targets.libraries import library_of_day
from tflm_sim.targets.presets import library_target
from tflm_sim.targets.target import Target
from tflm_sim.units import format_size

ABOUT = """
Use it for an Edge Impulse export that the EON compiler made. Such an export
has no interpreter, so that 'size' does not apply to it.
"""
EXAMPLES = """
tflm-sim eon tflite-model/tflite_learn_5_compiled.cpp --target esp32-s3 --kernels reference
tflm-sim eon export.zip --target cortex-m4 --json
tflm-sim eon export.zip --target cortex-m55 -D EI_MAX_OVERFLOW_BUFFER_COUNT=64
tflm-sim eon export.zip --to-tflite model.tflite
"""
EXITS = {4: "the initialisation of the model fails on the device"}
LIBRARY = "edge-impulse"
_LAST_WITHOUT_EVAL_TENSORS, _FIRST_WITH_EVAL_TENSORS = "2021-07-07", "2021-08-31"
_LAST_WITHOUT_MICRO_CONTEXT, _FIRST_WITH_MICRO_CONTEXT = "2023-08-25", "2023-11-15"
"""Days of the SDK's releases."""


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "eon", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "source", metavar="FILE", help="a ..._compiled.cpp, a .zip export with such a file, or - (standard input)"
    )
    parser.add_argument("--target", metavar="T", help="the processor (default: cortex-m4); see 'tflm-sim list targets'")
    parser.add_argument(
        "--kernels",
        metavar="LIB",
        help="the kernel library: reference, cmsis_nn or esp_nn (default: the SDK's for the target)",
    )
    parser.add_argument(
        "--library", metavar="L@V", help="the SDK, as edge-impulse@VERSION (default: the one of the day in the source)"
    )
    parser.add_argument(
        "-D",
        dest="macros",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a macro of the firmware's build, such as EI_MAX_OVERFLOW_BUFFER_COUNT=64",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("--to-tflite", metavar="OUT.tflite", help="write the model as a .tflite file instead")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    label, data = read_source(args.source, is_eon_source, MADE_BY)
    macros = dict(map(_macro, args.macros))
    if args.to_tflite:
        return _write(args.to_tflite, rebuilt(read_eon_source(data, macros)))
    return say_needs(args, label, data, macros)


def say_needs(args: argparse.Namespace, label: str, data: bytes, macros: Mapping[str, str] | None = None) -> int:
    """Print what a source needs; return the exit code.

    Args:
        args: ``target``, ``kernels``, ``library`` and ``json``.
        label: The source's name.
        data: The source.
        macros: The macros that the firmware's build defines.
    """
    source = read_eon_source(data, macros)
    document = eon_document(eon_answer(label, data, _target(args, source), macros), assumed=_assumed(args))
    if args.json:
        say_json(document)
    else:
        say_verdict(eon_verdict(document))
        say(*eon_lines(document))
    return 0 if document.works else SimulatedFailure.exit_code


def _macro(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise UsageError(f"-D takes NAME or NAME=VALUE, not '{text}'")
    return name, value or "1"


def _target(args: argparse.Namespace, source: EonSource) -> Target:
    library = args.library or library_of_day(LIBRARY, _day(source)).label
    target = library_target(library, name=args.target, kernels=args.kernels)
    if EDGE_IMPULSE not in dict(target.runtime.forks):
        raise UsageError(f"{library} is not Edge Impulse's SDK; use --library edge-impulse@VERSION")
    return target


def _day(source: EonSource) -> str | None:
    """Return a day whose SDK can compile the source: the day on which it was made, moved to such an SDK if needed."""
    day = None if source.generated is None else source.generated.isoformat()
    if source.has_micro_context:
        return day and max(day, _FIRST_WITH_MICRO_CONTEXT)
    if not source.has_eval_tensors:
        return min(day or _LAST_WITHOUT_EVAL_TENSORS, _LAST_WITHOUT_EVAL_TENSORS)
    return max(_FIRST_WITH_EVAL_TENSORS, min(day or _LAST_WITHOUT_MICRO_CONTEXT, _LAST_WITHOUT_MICRO_CONTEXT))


def _assumed(args: argparse.Namespace) -> list[str]:
    return [f"--{name}" for name in ("target", "library", "kernels") if getattr(args, name) is None]


def _write(path: str, data: bytes) -> int:
    with replacing_bytes(path) as file:
        file.write(data)
    say(f"{path}: {format_size(len(data))}; names, variables and metadata are not in the source, and not in it")
    return 0
