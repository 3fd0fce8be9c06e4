"""What changed between two answers of the mobile runtime: documents that ``lite --json`` wrote, or made on the spot."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from tflm_sim.cli.terminal import show
from tflm_sim.document_types import Count
from tflm_sim.documents import from_json
from tflm_sim.errors import UsageError
from tflm_sim.escape import printable
from tflm_sim.extensions.lite.answer import (
    LEFT_OUT,
    FileName,
    LiteDocument,
    LiteSettings,
    SubgraphDocument,
    allocated,
    machine_document,
)
from tflm_sim.files import read_json
from tflm_sim.model.load import load
from tflm_sim.report.tables import table_lines
from tflm_sim.sizes import parse_size

_FIGURES = {
    "arena_rw_span": "arena",
    "persistent_span": "persistent arena",
    "tensor_bytes": "tensors in the arena",
    "temporary_bytes": "temporaries of kernels",
    "dynamic_tensors": "dynamic tensors (number)",
}


@dataclass(frozen=True, slots=True)
class LiteSide:
    """What was compared."""

    model: FileName
    status: str
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LiteFigureChange:
    """A figure of a subgraph on both sides; ``change`` is after - before."""

    subgraph: Count
    figure: str
    before: Count
    after: Count
    change: int


@dataclass(frozen=True, slots=True)
class LiteDifference:
    """What changed, subgraph by subgraph; sizes are bytes, a subgraph that is not there counts as zeros.

    Attributes:
        growth_bytes: Of all arenas of all subgraphs.
        left_out: What no answer counts.
    """

    before: LiteSide
    after: LiteSide
    figures: tuple[LiteFigureChange, ...]
    growth_bytes: int
    left_out: tuple[str, ...]


def read_lite_document(path: str) -> LiteDocument:
    """Return the document that ``tflm-sim lite --json`` wrote to a file.

    Raises:
        UsageError: The file cannot be read, or is something else.
    """
    try:
        return from_json(LiteDocument, read_json(path))
    except ValueError as reason:
        raise UsageError(f"{path} is not the output of 'lite --json': {reason}") from None


def lite_difference(before: LiteDocument, after: LiteDocument) -> LiteDifference:
    """Return what changed between two answers."""
    return LiteDifference(
        before=LiteSide(before.model, before.status, before.errors),
        after=LiteSide(after.model, after.status, after.errors),
        figures=tuple(_changes(before, after)),
        growth_bytes=_span(after) - _span(before),
        left_out=LEFT_OUT,
    )


def _changes(before: LiteDocument, after: LiteDocument) -> Iterator[LiteFigureChange]:
    for number, graphs in enumerate(zip_longest(before.subgraphs, after.subgraphs)):
        old, new = map(_figures, graphs)
        for key in _FIGURES:
            yield LiteFigureChange(number, key, old[key], new[key], new[key] - old[key])


def _span(document: LiteDocument) -> int:
    return sum(graph.arena_rw_span + graph.persistent_span for graph in document.subgraphs)


def _figures(graph: SubgraphDocument | None) -> dict[str, int]:
    if graph is None:
        return dict.fromkeys(_FIGURES, 0)
    temporaries = {index for row in graph.temporaries for index in row}
    placed = [(index, size) for index, (kind, _, size, _) in enumerate(graph.tensors) if kind == "arena_rw"]
    temporary_bytes = sum(size for index, size in placed if index in temporaries)
    return {
        "arena_rw_span": graph.arena_rw_span,
        "persistent_span": graph.persistent_span,
        "tensor_bytes": sum(size for _, size in placed) - temporary_bytes,
        "temporary_bytes": temporary_bytes,
        "dynamic_tensors": sum(kind == "dynamic" for kind, *_ in graph.tensors),
    }


def lite_difference_lines(document: LiteDifference) -> list[str]:
    """Return a difference as lines; figures that did not change are left out, but for the arenas."""
    lines = []
    for name, side in (("before", document.before), ("after", document.after)):
        failed = "" if side.status == "ok" else f": {printable(''.join(side.errors).strip(), 200)}"
        lines.append(f"{name:7} {printable(side.model.path or 'model', 120)}{failed}")
    body = []
    for row in document.figures:
        if row.change or row.figure == "arena_rw_span":
            title = _FIGURES[row.figure] + (f" of subgraph {row.subgraph}" if row.subgraph else "")
            body.append((f"{row.before:,}", f"{row.after:,}", f"{row.change:+,}", title))
    return [*lines, "", *table_lines([("before", "after", "change", "figure"), *body]), "", *document.left_out]


def compare(args: argparse.Namespace) -> int:
    """Print what changed between two models or saved documents; return the exit code of ``diff --lite``."""
    if len(args.sources) > 2:
        raise UsageError(f"{len(args.sources)} files are too many; give one before and one after")
    sides = [_document(source) for source in (args.sources[0], args.sources[-1])]
    document = lite_difference(*sides)
    show(document, lite_difference_lines, as_json=args.json)
    if args.fail_on_increase is None:
        return 0
    if any(side.status != "ok" for side in sides):
        return 3
    return 1 if document.growth_bytes > parse_size(args.fail_on_increase) else 0


def _document(source: str) -> LiteDocument:
    if source.endswith(".json"):
        return read_lite_document(source)
    return machine_document(source, allocated(load(source, strict=False), LiteSettings()))
