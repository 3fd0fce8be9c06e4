"""The mobile runtime's answer as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.escape import printable
from tflm_sim.lite.answer import LEFT_OUT, Answer
from tflm_sim.lite.summary import Held, Summary, summaries
from tflm_sim.units import format_size

_MOST_ROWS = 8
_NAME = 60


def lite_lines(title: str, answer: Answer) -> list[str]:
    """Return what the runtime allocates, or what it says instead."""
    lines = [printable(title, 120)]
    if answer.status != "ok":
        lines += ["the runtime refuses it:", *(f"  {printable(text.strip(), 500)}" for text in answer.reports)]
    for summary in summaries(answer) if answer.status == "ok" else ():
        lines += ["", *_summary(summary)]
    return [*lines, "", *LEFT_OUT]


def _summary(summary: Summary) -> Iterator[str]:
    name = "main" if summary.subgraph == 0 else f"subgraph {summary.subgraph}"
    yield f"{name}: arena {format_size(summary.arena_bytes)}, persistent {format_size(summary.persistent_bytes)}"
    tensors, temporaries = summary.bytes_of("input", "output", "activation"), summary.bytes_of("temporary")
    yield f"  tensors {format_size(tensors)}, temporaries of kernels {format_size(temporaries)} (not all at one time)"
    if summary.peak >= 0 and summary.live_bytes[summary.peak]:
        live = format_size(summary.live_bytes[summary.peak])
        yield f"  fullest in #{summary.peak} {printable(summary.ops[summary.peak], _NAME)}: {live} alive"
        yield from _rows(summary.alive(summary.peak))
    if summary.persistent:
        yield "  persistent:"
        rows = sorted(summary.persistent, key=lambda row: -row[2])
        for index, label, size, offset in rows[:_MOST_ROWS]:
            yield f"  {size:>12,} B at {offset:>10,}  {printable(label, _NAME) or f'temporary {index}'}"
    if summary.computed_bytes:
        yield f"  constants computed while preparing: {format_size(summary.computed_bytes)} on the heap"
    if summary.dynamic:
        names = ", ".join(printable(name, _NAME) or "a temporary" for name in summary.dynamic[:_MOST_ROWS])
        more = f" and {len(summary.dynamic) - _MOST_ROWS} more" if len(summary.dynamic) > _MOST_ROWS else ""
        yield f"  dynamic, sized while it runs: {names}{more}"
    if not summary.is_complete:
        yield "  what comes after the first dynamic output is planned while the model runs"


def _rows(rows: list[Held]) -> Iterator[str]:
    for row in rows[:_MOST_ROWS]:
        name = printable(row.name, _NAME) or f"temporary {row.index}"
        yield f"  {row.size:>12,} B at {row.offset:>10,}  {row.kind:<10} {name}"
    if len(rows) > _MOST_ROWS:
        yield f"  {'':>14} and {len(rows) - _MOST_ROWS} more"
