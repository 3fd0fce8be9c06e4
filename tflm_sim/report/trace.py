"""Events as rows: the vocabulary of traces, one JSON object an event.

The names are those of the logging hooks that real TFLM was traced with, so that two traces can be compared line by
line; our own facts (category, label) are left out of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tflm_sim.arena import events as ev
from tflm_sim.arena.stages import Stage
from tflm_sim.errors import not_a
from tflm_sim.escape import printable

Row = dict[str, Any]


def _op(event: ev.OpEvent) -> Row:
    row: Row = {"e": event.stage.value, "sg": event.subgraph, "op": event.op}
    if event.stage is not Stage.OP_PREPARED:
        row["name"] = event.name
    if event.stage in (Stage.OP_INIT, Stage.OP_PREPARE):
        row["has"] = int(event.has)
    return row


def _alloc_info(event: ev.AllocInfo) -> Row:
    row: Row = {"e": "alloc_info", "i": event.info}
    if event.tensor >= 0:
        row |= {"kind": "tensor", "sg": event.subgraph, "t": event.tensor}
    else:
        row |= {"kind": "scratch", "idx": event.scratch, "node": event.node, "sg": event.subgraph}
    return row | {
        "bytes": event.size,
        "needs": int(event.needs_allocating),
        "first": event.first,
        "last": event.last,
        "offline": event.offline_offset,
    }


_ROWS: dict[type, Callable[[Any], Row]] = {
    ev.Run: lambda e: {"e": "run", "kind": e.kind, "arena_size": e.arena_size},
    ev.Phase: lambda e: {"e": "phase", "p": e.stage.value, **dict(e.facts)},
    ev.Persist: lambda e: {
        "e": "persist",
        "size": e.size,
        "align": e.alignment,
        "off": e.offset,
        "used": e.used,
        "tail_used": e.tail_used,
    },
    ev.Temp: lambda e: {
        "e": "temp",
        "size": e.size,
        "align": e.alignment,
        "off": e.offset,
        "temp_end": e.temp_end,
        "tail_off": e.tail_offset,
    },
    ev.TempFree: lambda e: {"e": "temp_free", "off": e.offset},
    ev.TempReset: lambda e: {"e": "temp_reset", "ok": int(e.ok), "temp_end": e.temp_end, "head": e.head},
    ev.Resize: lambda e: {
        "e": "resize",
        "size": e.size,
        "align": e.alignment,
        "ok": int(e.ok),
        "head": e.head,
        "tail_off": e.tail_offset,
    },
    ev.ScratchRequest: lambda e: {"e": "scratch_req", "bytes": e.size, "sg": e.subgraph, "idx": e.request},
    ev.ScratchUse: lambda e: {"e": "scratch_use", "idx": e.request, "sg": e.subgraph, "op": e.op},
    ev.OpEvent: _op,
    ev.Variable: lambda e: {"e": "variable", "t": e.tensor, "bytes": e.size},
    ev.AllocInfo: _alloc_info,
    ev.PlanAdd: lambda e: {
        "e": "plan_add",
        "i": e.info,
        "bytes": e.requested,
        "size": e.size,
        "first": e.first,
        "last": e.last,
        "offline": e.offline_offset,
    },
    ev.PlanOffset: lambda e: {"e": "plan_off", "i": e.info, "planner_i": e.planner_index, "off": e.offset},
    ev.PlanFits: lambda e: {"e": "plan_fits", "needed": e.needed, "available": e.available},
    ev.PlanDone: lambda e: {
        "e": "plan_done",
        "head_usage": e.head_usage,
        "prev_max_head": e.previous_max_head,
        "planner_arena": e.planner_arena,
    },
    ev.LogLine: lambda e: {"e": "log", "text": e.text},
    ev.Corruption: lambda e: {"e": "corruption", "text": e.text},
    ev.End: lambda e: {"e": "end", "kind": e.kind, "status": e.status, "arena_used_bytes": e.arena_used_bytes},
}


def trace_row(event: ev.Event) -> Row:
    """Return one event as a JSON object; the keys are in the order of the device's trace."""
    if type(event) not in _ROWS:
        raise not_a("an event (of simulate(...).events)", event)
    return _ROWS[type(event)](event)


def trace_rows(events: Iterable[ev.Event]) -> Iterator[Row]:
    """Yield :func:`trace_row` of each event."""
    return map(trace_row, events)


def trace_line(event: ev.Event) -> str:
    """Return one event as a line: its name, then its facts."""
    row = trace_row(event)
    name = row.pop("e")
    label = getattr(event, "label", "")
    facts = " ".join(
        f"{key}={printable(value, 200) if isinstance(value, str) else value}" for key, value in row.items()
    )
    return f"{name:<12} {facts}" + (f"  {printable(label)}" if label else "")
