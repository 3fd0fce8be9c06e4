"""A difference for people at a terminal: what was compared, the figures, then who changed, the largest first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from tflm_sim.escape import printable
from tflm_sim.report.difference import Document
from tflm_sim.report.text import table_lines

TOP_ROWS = 20

_FIGURES = {
    "smallest_arena_bytes": "smallest arena",
    "smallest_arena_multiple_of_16": "its multiple of 16",
    "smallest_split_arenas_bytes.persistent": "smallest persistent arena",
    "smallest_split_arenas_bytes.non_persistent": "smallest non-persistent arena",
    "arena_used_bytes": "arena_used_bytes()",
    "head_bytes": "head (the plan)",
    "tail_bytes": "tail (persistent)",
}
_HEADER = ("before", "after", "change")


def difference_lines(document: Document) -> list[str]:
    """Return a difference as lines; tables with nothing in them are left out."""
    sides = [(name, _side(document[name])) for name in ("before", "after")]
    figures = [(*_change(row), _FIGURES[row["figure"]]) for row in document["figures"]]
    settings = [_setting(row) for row in document["changed_settings"]]
    lines = [*table_lines(sides), "", *table_lines([(*_HEADER, "figure"), *figures])]
    if settings:
        lines += ["", "settings that differ", *settings]
    lines += _table("scratch in the head, by buffer", ((row, _scratch_name(row)) for row in document["scratch"]))
    lines += _table("tensors in the head", ((row, _tensor_name(row)) for row in document["tensors"]))
    lines += _table("tail, by what it is", ((row, row["category"]) for row in document["categories"]))
    by_operator = ((row["tail"], _operator(row["before"], row["after"])) for row in document["ops"])
    return lines + _table("tail, by operator", by_operator)


def _table(title: str, named: Iterable[tuple[Document, str]]) -> list[str]:
    """Return the rows that changed, the largest change first; nothing for none."""
    rows = sorted(((row, name) for row, name in named if _bytes(row)), key=lambda item: -abs(_bytes(item[0])))
    if not rows:
        return []
    body = [(*_change(row), name) for row, name in rows[:TOP_ROWS]]
    more = [f"and {len(rows) - TOP_ROWS:,} more; --json has them all"] if len(rows) > TOP_ROWS else []
    return ["", title, *table_lines([(*_HEADER, ""), *body]), *more]


def _side(side: Document) -> str:
    target, kernels = side["target"], side["target"]["kernels"]
    version = f"@{kernels['version']}" if kernels["version"] else ""
    failed = "" if side["status"] == "ok" else "; AllocateTensors() fails in an arena of any size"
    name = printable(PurePath(side["model"]["path"] or "model").name)
    return (
        f"{name} on {printable(target['name'])} ({kernels['name']}{version} kernels, {side['interpreter']} "
        f"interpreter, {side['planner']} planner){failed}"
    )


def _change(row: Document) -> tuple[str, str, str]:
    before, after = ("-" if row[side] is None else f"{row[side]:,}" for side in ("before", "after"))
    return before, after, f"{_bytes(row):+,}" if _bytes(row) else "0"


def _bytes(row: Document) -> int:
    """Return the change; what only one side has counts whole."""
    return int((row["after"] or 0) - (row["before"] or 0))


def _setting(row: Document) -> str:
    return f"{printable(row['setting'])}: {_value(row['before'])} -> {_value(row['after'])}"


def _value(value: Any) -> str:
    return "none" if value in (None, "", []) else printable(str(value))


def _operator(before: Document | None, after: Document | None) -> str:
    known = [side for side in (before, after) if side is not None]
    names = list(dict.fromkeys(_operator_name(side) for side in known))
    return " -> ".join(names)


def _operator_name(side: Document) -> str:
    subgraph = f" (subgraph {side['subgraph']})" if side["subgraph"] else ""
    return f"#{side['operator']} {printable(side['op'])}{subgraph}"


def _scratch_name(row: Document) -> str:
    label = f": {printable(row['name'])}" if row["name"] else ""
    return _operator(row["before_operator"], row["after_operator"]) + label


def _tensor_name(row: Document) -> str:
    subgraph = f" (subgraph {row['subgraph']})" if row["subgraph"] else ""
    return printable(row["name"]) + subgraph


def _of_tail(row: Document) -> Document:
    return {**row["tail"], "name": _operator(row["before"], row["after"])}
