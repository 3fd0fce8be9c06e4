"""``tflm-sim bisect``: which change of TFLM's history made a model's arena grow, shrink or fail."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field

from tflm_sim.answers.bisect import HistoryPoint, SizeChangePoint, bisect, commits_between, versions_between
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.cli.terminal import fitting, show
from tflm_sim.document_fields import named
from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.report.circumstances import sentence_with_assumed, with_assumed
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.changes import UPSTREAM
from tflm_sim.targets.history import is_commit, is_day
from tflm_sim.targets.kernel_library import VERSIONS
from tflm_sim.targets.libraries import find_library
from tflm_sim.targets.runtime import Runtime, find_runtime
from tflm_sim.units import format_size

ABOUT = """
Use it if an arena was large enough with an older TFLM, and is too small now.
"""
EXAMPLES = """
tflm-sim bisect model.tflite --between 2023-06-15 --and 2024-12-23
tflm-sim bisect model.tflite --between esp-tflite-micro@1.3.2 --and esp-tflite-micro@1.3.7 --target esp32
tflm-sim bisect model.tflite --between esp_nn@1.1.0 --and esp_nn@1.2.3 --target esp32-s3-esphome
tflm-sim bisect sample:mobilenet_v1_025 --between 2021-04-09 --and 2026-08-20 --json
"""


@dataclass(frozen=True, slots=True)
class BisectDocument:
    """What moved a model's smallest arena between two versions of TFLM.

    Attributes:
        assumed: The options that the answer depends on and that were not given.
    """

    between: str
    until: str = field(metadata=named("and"))
    steps: tuple[SizeChangePoint, ...]
    assumed: tuple[str, ...]


def register(subparsers: Subparsers) -> None:
    parser = add_verb(
        subparsers,
        "bisect",
        EXAMPLES,
        about=ABOUT,
        exits={1: "the arena grew, or AllocateTensors() fails with the newer version"},
    )
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument(
        "--between",
        required=True,
        metavar="A",
        help="the older version: a day, a commit, LIBRARY@VERSION or KERNELS@VERSION",
    )
    parser.add_argument("--and", required=True, dest="until", metavar="B", help="the newer version")
    add_configuration(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    if args.runtime or args.library or args.firmware:
        raise UsageError("bisect tries the versions of TFLM itself; remove --runtime, --library and --firmware")
    is_of_kernels = args.between.partition("@")[0] in VERSIONS
    asked = ("target", "kernels")[: 1 if is_of_kernels else 2]
    assumed = tuple(f"--{name}" for name in asked if not getattr(args, name))
    states = _kernel_states(args) if is_of_kernels else _commit_states(args)
    document = BisectDocument(args.between, args.until, tuple(bisect(load(args.model), states)), assumed)
    show(document, _lines, as_json=args.json)
    return int(_has_grown(document.steps))


def _has_grown(steps: tuple[SizeChangePoint, ...]) -> bool:
    return bool(steps) and (steps[-1].after is None or (steps[0].before or 0) < steps[-1].after)


def _kernel_states(args: argparse.Namespace) -> Iterable[HistoryPoint]:
    if args.kernels:
        raise UsageError("--between already selects the kernels; remove --kernels")
    args.kernels = args.between
    older = configuration(args)
    args.kernels = args.until
    newer = configuration(args)
    versions = VERSIONS[older.target.kernel_library.name]
    first, last = older.target.kernel_library, newer.target.kernel_library
    if first.name != last.name or versions.index(first.version) <= versions.index(last.version):
        raise UsageError(f"{args.between} is not older than {args.until}")
    return versions_between(older, first.version, last.version)


def _commit_states(args: argparse.Namespace) -> Iterable[HistoryPoint]:
    args.kernels = args.kernels or "reference"
    first, last = _runtime(args.between).position(UPSTREAM), _runtime(args.until).position(UPSTREAM)
    if first >= last:
        raise UsageError(f"{args.between} is not older than {args.until}")
    return commits_between(configuration(args), first, last)


def _runtime(text: str) -> Runtime:
    return find_runtime(text) if is_day(text) or is_commit(text) else find_library(text).runtime()


def _lines(document: BisectDocument) -> list[str]:
    steps = document.steps
    if not steps:
        nothing = f"nothing between {document.between} and {document.until} moved the smallest arena"
        return [sentence_with_assumed(nothing, document.assumed)]
    target = steps[0].state.configuration.target
    header = ("commit", "date", "bytes", "smallest", "what changed")
    title = f"smallest arena on {with_assumed(target.name, document.assumed)}, {target.kernel_library.name} kernels"
    lines = [title, *table_lines([header, *map(_cells, steps)], width=fitting())]
    first, last = steps[0].before, steps[-1].after
    if first is not None and last is not None:
        lines.append(f"in all {last - first:+,}: from {format_size(first)} to {format_size(last)}")
    return lines


def _cells(step: SizeChangePoint) -> tuple[str, ...]:
    if step.after is None:
        moved, size = "fails", ""
    else:
        moved, size = "works" if step.before is None else f"{step.after - step.before:+,}", f"{step.after:,}"
    what = "; ".join(step.state.summaries)
    if step.message:
        what += f": {step.message.splitlines()[0]}"
    return step.state.name, step.state.date or "-", moved, size, what
