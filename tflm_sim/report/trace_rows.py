"""Events as rows: the vocabulary of traces, one JSON object an event.

The names are those of the logging hooks that real TFLM was traced with, so that two traces can be compared line by
line; our own facts (category, label) are left out of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
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


_KEYS: dict[type, str] = {
    ev.Run: "run kind arena_size",
    ev.Persist: "persist size align=alignment off=offset used tail_used",
    ev.Temp: "temp size align=alignment off=offset temp_end tail_off=tail_offset",
    ev.TempFree: "temp_free off=offset",
    ev.TempReset: "temp_reset ok temp_end head",
    ev.Resize: "resize size align=alignment ok head tail_off=tail_offset",
    ev.ScratchRequest: "scratch_req bytes=size sg=subgraph idx=request",
    ev.ScratchUse: "scratch_use idx=request sg=subgraph op",
    ev.Variable: "variable t=tensor bytes=size",
    ev.PlanAdd: "plan_add i=info bytes=requested size first last offline=offline_offset",
    ev.PlanOffset: "plan_off i=info planner_i=planner_index off=offset",
    ev.PlanFits: "plan_fits needed available",
    ev.PlanDone: "plan_done head_usage prev_max_head=previous_max_head planner_arena",
    ev.LogLine: "log text",
    ev.Corruption: "corruption text",
    ev.End: "end kind status arena_used_bytes",
}
"""What a row is called, then its keys, "key=attribute" where the event's attribute has another name."""


def _facts(name: str, *keys: str) -> Callable[[Any], Row]:
    attributes = [(key, own or key) for key, _, own in (each.partition("=") for each in keys)]

    def row(event: ev.Event) -> Row:
        facts = {key: getattr(event, own) for key, own in attributes}
        return {"e": name} | {key: int(fact) if isinstance(fact, bool) else fact for key, fact in facts.items()}

    return row


_ROWS: dict[type, Callable[[Any], Row]] = {
    **{kind: _facts(*keys.split()) for kind, keys in _KEYS.items()},
    ev.Phase: lambda e: {"e": "phase", "p": e.stage.value, **dict(e.facts)},
    ev.OpEvent: _op,
    ev.AllocInfo: _alloc_info,
}


def trace_row(event: ev.Event) -> Row:
    """Return one event as a JSON object; the keys are in the order of the device's trace."""
    if type(event) not in _ROWS:
        raise not_a("an event (of simulate(...).events)", event)
    return _ROWS[type(event)](event)


def trace_line(event: ev.Event) -> str:
    """Return one event as a line: its name, then its facts."""
    row = trace_row(event)
    name = row.pop("e")
    label = getattr(event, "label", "")
    facts = " ".join(
        f"{key}={printable(value, 200) if isinstance(value, str) else value}" for key, value in row.items()
    )
    return f"{name:<12} {facts}" + (f"  {printable(label)}" if label else "")
