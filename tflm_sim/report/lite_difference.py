"""What changed between two answers of the mobile runtime: documents that ``lite --json`` wrote, or made on the spot."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from tflm_sim.escape import printable
from tflm_sim.report.tables import table_lines

Document = dict[str, Any]

_FIGURES = {
    "arena_rw_span": "arena",
    "persistent_span": "persistent arena",
    "tensor_bytes": "tensors in the arena",
    "temporary_bytes": "temporaries of kernels",
    "dynamic_tensors": "dynamic tensors (number)",
}


def is_lite_document(document: object) -> bool:
    """Return whether a JSON value is an answer of the mobile runtime."""
    return isinstance(document, dict) and "runtime" in document and isinstance(document.get("subgraphs"), list)


def lite_difference(before: Document, after: Document) -> Document:
    """Return what changed, subgraph by subgraph; sizes are bytes, a subgraph that is not there counts as zeros."""
    rows = []
    for number, graphs in enumerate(zip_longest(before["subgraphs"], after["subgraphs"])):
        old, new = (_figures(graph) for graph in graphs)
        rows += [
            {"subgraph": number, "figure": key, "before": old[key], "after": new[key], "change": new[key] - old[key]}
            for key in _FIGURES
        ]
    sides = {
        name: {key: side[key] for key in ("model", "status", "errors")}
        for name, side in (("before", before), ("after", after))
    }
    return {**sides, "figures": rows, "growth_bytes": _span(after) - _span(before)}


def _span(document: Document) -> int:
    return sum(graph["arena_rw_span"] + graph["persistent_span"] for graph in document["subgraphs"])


def _figures(graph: Document | None) -> dict[str, int]:
    if graph is None:
        return dict.fromkeys(_FIGURES, 0)
    temporaries = {index for row in graph["temporaries"] for index in row}
    placed = [(index, row[2]) for index, row in enumerate(graph["tensors"]) if row[0] == "arena_rw"]
    return {
        "arena_rw_span": graph["arena_rw_span"],
        "persistent_span": graph["persistent_span"],
        "tensor_bytes": sum(size for index, size in placed if index not in temporaries),
        "temporary_bytes": sum(size for index, size in placed if index in temporaries),
        "dynamic_tensors": sum(row[0] == "dynamic" for row in graph["tensors"]),
    }


def lite_difference_lines(document: Document) -> list[str]:
    """Return a difference as lines; figures that did not change are left out, but for the arenas."""
    lines = []
    for name in ("before", "after"):
        side = document[name]
        failed = "" if side["status"] == "ok" else f": {printable(''.join(side['errors']).strip(), 200)}"
        lines.append(f"{name:7} {printable(side['model']['path'] or 'model', 120)}{failed}")
    body = [
        (f"{row['before']:,}", f"{row['after']:,}", f"{row['change']:+,}", _title(row))
        for row in document["figures"]
        if row["change"] or row["figure"] == "arena_rw_span"
    ]
    return [*lines, "", *table_lines([("before", "after", "change", "figure"), *body])]


def _title(row: Document) -> str:
    where = f" of subgraph {row['subgraph']}" if row["subgraph"] else ""
    return f"{_FIGURES[row['figure']]}{where}"
