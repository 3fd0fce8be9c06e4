"""A difference as text: what was compared, the figures, then the causes, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from tflm_sim.device.configuration import planner_words
from tflm_sim.escape import printable
from tflm_sim.registry import part_lines
from tflm_sim.report.circumstances import with_assumed
from tflm_sim.report.size_difference import (
    OF_BANK,
    Difference,
    OperatorFacts,
    ScratchChange,
    SideFacts,
    SizeChange,
    TensorChange,
)
from tflm_sim.report.tables import table_lines
from tflm_sim.report.text import USUAL

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


def difference_lines(document: Difference) -> list[str]:
    """Return a difference as lines; tables with nothing in them are left out."""
    sides = {"before": document.before, "after": document.after}
    measured = [f"{name}: {line}" for name, side in sides.items() for line in part_lines("SideFacts", side.parts)]
    names = (
        _FIGURES.get(row.figure) or f"bank {printable(row.figure.removeprefix(OF_BANK))}" for row in document.figures
    )
    figures = [(*_cells(row.change), name) for row, name in zip(document.figures, names, strict=True)]
    settings = changed_settings(document)
    heads = table_lines([(name, _side(side)) for name, side in sides.items()])
    lines = [*heads, *measured, "", *table_lines([(*_HEADER, "figure"), *figures])]
    if settings:
        lines += ["", "settings that differ", *settings]
    for title, rows in _changes(document):
        lines += _table(title, rows)
    return lines


def change_of_arena(document: Difference) -> str:
    """Return what the arena's change consists of: head, tail, and what set-up and alignment need beside both.

    The parts add up to the change; "" where it did not change, or a side has no arena.
    """
    changes = {row.figure: row.change.weight for row in document.figures}
    whole = changes.get("smallest_arena_multiple_of_16")
    head, tail = changes.get("head_bytes"), changes.get("tail_bytes")
    if not whole or head is None or tail is None:
        return ""
    parts = {"head": head, "tail": tail, "set-up and alignment": whole - head - tail}
    return f"{whole:+,} B = " + ", ".join(f"{name} {size:+,} B" for name, size in parts.items() if size)


def changed_settings(document: Difference) -> list[str]:
    """Return a line for each setting that differs."""
    rows = document.changed_settings
    return [f"{printable(row.setting)}: {_value(row.before)} -> {_value(row.after)}" for row in rows]


def largest_changes(document: Difference, count: int) -> list[tuple[str, str, SizeChange]]:
    """Return the changes that moved most bytes, each with the title of its table and its name."""
    rows = [(title, name, row) for title, table in _changes(document) for row, name in table if row.weight]
    return sorted(rows, key=lambda item: -abs(item[2].weight))[:count]


def _changes(document: Difference) -> Iterator[tuple[str, Iterator[tuple[SizeChange, str]]]]:
    """Yield the tables of a difference: a title, and the rows with their names."""
    yield "scratch in the head, by buffer", ((row.change, _scratch_name(row)) for row in document.scratch)
    yield "tensors in the head", ((row.change, _tensor_name(row)) for row in document.tensors)
    yield "tail, by what it is", ((row.change, row.category) for row in document.categories)
    yield "tail, by operator", ((row.tail, _names(row.before, row.after)) for row in document.ops)


def _table(title: str, named: Iterable[tuple[SizeChange, str]]) -> list[str]:
    rows = sorted(((row, name) for row, name in named if row.weight), key=lambda item: -abs(item[0].weight))
    if not rows:
        return []
    body = [(*_cells(row), name) for row, name in rows[:TOP_ROWS]]
    more = [f"and {len(rows) - TOP_ROWS:,} more; --json has them all"] if len(rows) > TOP_ROWS else []
    return ["", title, *table_lines([(*_HEADER, ""), *body]), *more]


def _side(side: SideFacts) -> str:
    config = side.configuration
    kernels = config.target.kernel_library
    version = f"@{kernels.version}" if kernels.version else ""
    others = (f"{config.interpreter} interpreter", planner_words(config.planner, config.has_own_planner))
    unusual = "".join(f", {fact}" for fact in others if fact not in USUAL)
    failed = "" if side.status == "ok" else "; AllocateTensors() fails in an arena of any size"
    name = printable(PurePath(side.model.path or "model").name)
    return (
        f"{name} on {with_assumed(printable(config.target.name), side.assumed, config.target)}, "
        f"{config.target.runtime}, "
        f"{kernels.name}{version} kernels{unusual}{failed}"
    )


def _cells(row: SizeChange) -> tuple[str, str, str]:
    before, after = ("-" if size is None else f"{size:,}" for size in (row.before, row.after))
    return before, after, f"{row.weight:+,}" if row.weight else "0"


def _value(value: Any) -> str:
    return "none" if value in (None, "", []) else printable(str(value))


def _names(*sides: OperatorFacts | None) -> str:
    return " -> ".join(dict.fromkeys(_name(side) for side in sides if side is not None))


def _name(side: OperatorFacts) -> str:
    subgraph = f" (subgraph {side.subgraph})" if side.subgraph else ""
    return f"#{side.operator} {printable(side.op)}{subgraph}"


def _scratch_name(row: ScratchChange) -> str:
    return _names(row.before_operator, row.after_operator) + (f": {printable(row.name)}" if row.name else "")


def _tensor_name(row: TensorChange) -> str:
    return printable(row.name) + (f" (subgraph {row.subgraph})" if row.subgraph else "")
