"""A picture as a Chrome trace, for https://ui.perfetto.dev or chrome://tracing: one step or scope is one microsecond.

Process 1 is AllocateTensors(): its moments, and head, temp and tail as counters. Process 2 is Invoke(): its operators,
the live bytes, and every buffer of the head as an asynchronous slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from tflm_sim.escape import json_text, printable
from tflm_sim.provenance import made_by
from tflm_sim.report.picture import Picture, is_tail

Row = dict[str, Any]
ALLOCATE, INVOKE = 1, 2


def write_perfetto(file: TextIO, picture: Picture) -> None:
    file.write('{"displayTimeUnit":"ms","otherData":' + json_text(_facts(picture)) + ',"traceEvents":[\n')
    for number, row in enumerate(_rows(picture)):
        file.write((",\n" if number else "") + json_text(row))
    file.write("\n]}\n")


def _facts(picture: Picture) -> Row:
    return {
        "tflm_sim": made_by(),
        "picture": printable(picture.title, 200),
        "arena_bytes": picture.arena_bytes,
        "head_bytes": picture.size.answer.head_bytes,
        "tail_bytes": picture.size.answer.tail_bytes,
        "unit of time": "one allocation event or operator is shown as one microsecond",
    }


def _rows(picture: Picture) -> Iterator[Row]:
    for process, name in ((ALLOCATE, "AllocateTensors()"), (INVOKE, "Invoke()")):
        yield {"ph": "M", "pid": process, "tid": 1, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": ALLOCATE, "tid": 1, "name": "thread_name", "args": {"name": "phases and operators"}}
    yield {"ph": "M", "pid": INVOKE, "tid": 1, "name": "thread_name", "args": {"name": "operators"}}
    yield from _moments(picture)
    yield from _sections(picture)
    yield from _scopes(picture)
    yield from _buffers(picture)


def _moments(picture: Picture) -> Iterator[Row]:
    ends = [moment.step for moment in picture.moments[1:]] + [len(picture.steps)]
    for moment, end in zip(picture.moments, ends, strict=True):
        name = printable(picture.moment_name(moment))
        yield {"ph": "X", "pid": ALLOCATE, "tid": 1, "ts": moment.step, "dur": end - moment.step, "name": name}


def _sections(picture: Picture) -> Iterator[Row]:
    for block in filter(is_tail, picture.blocks):
        arguments = {"bytes": block.size, "offset": block.offset, "what": printable(block.label) or block.category}
        where = {"pid": ALLOCATE, "tid": 1, "ts": block.begin}
        yield {"ph": "i", **where, "s": "t", "name": "persist", "args": arguments}
    for level in picture.levels:
        values = {"head": level.head, "temp": level.temp - level.head, "tail": level.tail}
        yield {"ph": "C", "pid": ALLOCATE, "ts": level.step, "name": "arena bytes", "args": values}


def _scopes(picture: Picture) -> Iterator[Row]:
    base = len(picture.steps)
    for scope, live in enumerate(picture.live_bytes):
        time = base + scope
        name = printable(picture.op_at(scope))
        arguments = {"live_bytes": live}
        yield {"ph": "X", "pid": INVOKE, "tid": 1, "ts": time, "dur": 1, "name": name, "args": arguments}
        yield {"ph": "C", "pid": INVOKE, "ts": time, "name": "live bytes of the head", "args": {"bytes": live}}


def _buffers(picture: Picture) -> Iterator[Row]:
    base = len(picture.steps)
    for number, row in enumerate(picture.residents):
        what = {
            "pid": INVOKE,
            "tid": 2,
            "cat": row.category,
            "id": number,
            "name": printable(row.name) or f"buffer {number}",
        }
        arguments = {"bytes": row.size, "offset": row.offset, "shares_bytes_with": row.sharing}
        yield {"ph": "b", "ts": base + row.first, "args": arguments, **what}
        yield {"ph": "e", "ts": base + row.last + 1, **what}
