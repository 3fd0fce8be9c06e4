"""``size`` on a source of the EON compiler: its arena, heap and limits are printed, or its model is written."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import first_given, refuse_besides
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.escape import one_line
from tflm_sim.extensions.eon import MADE_BY, is_eon_source
from tflm_sim.extensions.eon.answer import eon_answer
from tflm_sim.extensions.eon.document import eon_document, eon_lines, eon_verdict
from tflm_sim.extensions.eon.rebuild import rebuilt
from tflm_sim.extensions.eon.source import EonSource, read_eon_source
from tflm_sim.files import replacing_bytes
from tflm_sim.model.inputs import read_source
from tflm_sim.targets.boards import board
from tflm_sim.targets.changes import EDGE_IMPULSE
from tflm_sim.targets.libraries import library_of_day
from tflm_sim.targets.presets import library_target
from tflm_sim.targets.target import Target
from tflm_sim.units import format_size

LIBRARY = "edge-impulse"
_LAST_WITHOUT_EVAL_TENSORS, _FIRST_WITH_EVAL_TENSORS = "2021-07-07", "2021-08-31"
_LAST_WITHOUT_MICRO_CONTEXT, _FIRST_WITH_MICRO_CONTEXT = "2023-08-25", "2023-11-15"
"""Days of the SDK's releases."""
_OF_THE_INTERPRETER = (
    *("map", "arena_size", "split_arenas", "advise", "firmware", "executed", "runtime", "interpreter", "planner"),
    *("own_planner", "resource_variables", "variable_arena", "arena_address", "optimize_kernels_for", "ethos_u"),
    *("custom_ops", "beside"),
)
"""Options that say something of TFLM's interpreter, which such a program does not have, or what the source says."""


def say_needs(args: argparse.Namespace, label: str, data: bytes) -> int:
    """Print what a source needs; return the exit code.

    Args:
        args: ``target``, ``board``, ``kernels``, ``library``, ``macros``, ``json`` and ``jsonl``.
        label: The source's name.
        data: The source.

    Raises:
        UsageError: An option has no meaning for it.
    """
    if option := first_given(args, _OF_THE_INTERPRETER):
        raise UsageError(f"{option} applies to TFLM's interpreter, but {one_line(label)} is a source of {MADE_BY}")
    macros = dict(args.macros)
    source = read_eon_source(data, macros)
    document = eon_document(eon_answer(label, data, _target(args, source), macros), assumed=_assumed(args))
    if args.json or args.jsonl:
        say_json(document, indent=1 if args.json else None)
    else:
        say_verdict(eon_verdict(document))
        say(*eon_lines(document))
    return 0 if document.works else SimulatedFailure.exit_code


def _target(args: argparse.Namespace, source: EonSource) -> Target:
    library = args.library or library_of_day(LIBRARY, _day(source)).label
    machine = args.target or (board(args.board).preset if args.board else None)
    target = library_target(library, name=machine, kernels=args.kernels)
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
    named = {"target": args.target or args.board, "library": args.library, "kernels": args.kernels}
    return [f"--{name}" for name, value in named.items() if value is None]


def write_model(args: argparse.Namespace) -> int:
    """Write the model of a source as the file of ``--to-tflite``; return the exit code."""
    refuse_besides(args, "to_tflite", others=("json", "jsonl", *_OF_THE_INTERPRETER))
    if len(args.models) > 1:
        raise UsageError(f"--to-tflite writes the model of one source; {len(args.models)} are given")
    _, source = read_source(args.models[0], is_eon_source, MADE_BY)
    model = rebuilt(read_eon_source(source, dict(args.macros)))
    with replacing_bytes(args.to_tflite) as file:
        file.write(model)
    missing = "names, variables and metadata are not in the source, and not in it"
    say(f"{args.to_tflite}: {format_size(len(model))}; {missing}")
    return 0
