"""``tflm-sim diff --between``: which change of TFLM's history made a model's arena grow, shrink or fail."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tflm_sim.answers.bisect import HistoryPoint, SizeChangePoint, bisect, commits_between, versions_between
from tflm_sim.cli.options import SETTINGS, configuration, pair, refuse_besides
from tflm_sim.cli.terminal import fitting, show
from tflm_sim.document_fields import named
from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.report.circumstances import sentence_with_assumed, with_assumed
from tflm_sim.report.tables import table_lines
from tflm_sim.report.text import BAR
from tflm_sim.targets.changes import UPSTREAM
from tflm_sim.targets.history import is_commit, is_day
from tflm_sim.targets.kernel_library import VERSIONS
from tflm_sim.targets.libraries import find_library
from tflm_sim.targets.runtime import Runtime, find_runtime
from tflm_sim.units import format_size

_SETTINGS = {*SETTINGS} - {"runtime", "library", "firmware"}
"""What can be given; the versions of TFLM are what is tried."""


@dataclass(frozen=True, slots=True)
class BetweenDocument:
    """What moved a model's smallest arena between two versions of TFLM.

    Attributes:
        assumed: The options that the answer depends on and that were not given.
    """

    between: str
    until: str = field(metadata=named("and"))
    steps: tuple[SizeChangePoint, ...]
    assumed: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    """Print the changes; the exit code is 1 where the arena grew, or AllocateTensors() fails with the newer version."""
    if args.between is None or args.until is None:
        raise UsageError("--between A and --and B go together")
    refuse_besides(args, "between", "until", "sources", "json", *_SETTINGS)
    settings, other = pair(args)
    if len(args.sources) > 1 or settings != other:
        raise UsageError("--between is for one model, and each option is given once")
    is_of_kernels = args.between.partition("@")[0] in VERSIONS
    asked = ("target", "kernels")[: 1 if is_of_kernels else 2]
    assumed = tuple(f"--{name}" for name in asked if not getattr(settings, name))
    states = _kernel_states(settings) if is_of_kernels else _commit_states(settings)
    steps = tuple(bisect(load(args.sources[0]), states))
    document = BetweenDocument(args.between, args.until, steps, assumed)
    show(document, _lines, as_json=args.json)
    return 1 if _has_grown(document.steps) else 0


def _has_grown(steps: tuple[SizeChangePoint, ...]) -> bool:
    return bool(steps) and (steps[-1].after is None or (steps[0].before or 0) < steps[-1].after)


def _kernel_states(args: argparse.Namespace) -> Iterable[HistoryPoint]:
    if args.kernels:
        raise UsageError("--between already selects the kernels; remove --kernels")
    args.kernels = args.between
    older = configuration(args)
    args.kernels = args.until
    newer = configuration(args)
    versions = [row.name for row in VERSIONS[older.target.kernel_library.name]]
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


def _lines(document: BetweenDocument) -> list[str]:
    steps = document.steps
    if not steps:
        nothing = f"nothing between {document.between} and {document.until} moved the smallest arena"
        return [sentence_with_assumed(nothing, document.assumed)]
    target = steps[0].state.configuration.target
    header = ("commit", "date", "bytes", "smallest", "what changed")
    title = (
        f"smallest arena on {with_assumed(target.name, document.assumed, target)}, {target.kernel_library.name} kernels"
    )
    lines = [title, *table_lines([header, *map(_cells, steps)], width=fitting())]
    lines += _time_line(steps)
    first, last = steps[0].before, steps[-1].after
    if first is not None and last is not None:
        lines.append(f"in all {last - first:+,}: from {format_size(first)} to {format_size(last)}")
    return lines


def _time_line(steps: Sequence[SizeChangePoint]) -> list[str]:
    """Return the smallest arena over time, a bar for each change and one for what was before."""
    sizes = [("before", steps[0].before), *((step.state.date or step.state.name, step.after) for step in steps)]
    most = max((size or 0 for _, size in sizes), default=0)
    rows = [(when, "fails" if not size else f"{BAR * size // most * '█'} {size:,}") for when, size in sizes if most]
    return ["", *table_lines(rows, width=fitting()), ""]


def _cells(step: SizeChangePoint) -> tuple[str, ...]:
    if step.after is None:
        moved, size = "fails", ""
    else:
        moved, size = "works" if step.before is None else f"{step.after - step.before:+,}", f"{step.after:,}"
    what = "; ".join(step.state.summaries)
    if step.message:
        what += f": {step.message.splitlines()[0]}"
    return step.state.name, step.state.date or "-", moved, size, what
