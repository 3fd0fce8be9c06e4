"""Lifetimes for people at a terminal: a small picture of time against buffers, and the answers as sentences.

input:0          [0, 1024)     ##......
conv             [1024, 3072)  .###....
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from tflm_sim.checks.lifetime_answers import FLASH, HEAD, NOWHERE, TAIL, BufferLife, Lifetimes, Preservation
from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.document_types import Count, IndexOrNone, OneOf
from tflm_sim.escape import printable
from tflm_sim.report.document import ConfigurationFacts, ModelFacts, configuration_facts, model_facts
from tflm_sim.report.tables import table_lines
from tflm_sim.units import format_size

WIDTH = 64
ROWS = 40

_HOMES = {
    TAIL: "in the tail: it keeps its content from one Invoke() to the next",
    FLASH: "in flash, with the model: the arena has no copy",
    NOWHERE: "nowhere: it has no bytes",
}


def scope_label(lifetimes: Lifetimes, scope: int) -> str:
    """Return what happens in a scope, on one harmless line."""
    return printable(lifetimes.scope_name(scope))


def buffer_name(life: BufferLife) -> str:
    """Return "tensor 3 (conv1)" on one harmless line."""
    return f"{life.buffer} ({printable(life.name, 40)})" if life.name else str(life.buffer)


def timeline_lines(lifetimes: Lifetimes, buffers: Sequence[BufferLife], *, mark: int | None = None) -> list[str]:
    """Draw when buffers live: a column is a scope, or several where there are more than fit.

    Args:
        lifetimes: Of the model.
        buffers: Which; those of the head have their bytes beside them.
        mark: A scope that gets a caret below.
    """
    count = lifetimes.scope_count
    per_column = -(-count // WIDTH)
    columns = [range(low, min(low + per_column, count)) for low in range(0, count, per_column)]
    rows = [(buffer_name(life), _bytes(life), _bar(lifetimes, life, columns)) for life in buffers]
    lines = table_lines(rows) if rows else []
    if mark is not None and lines:
        margin = len(lines[0]) - len(columns)
        lines.append(f"{' ' * (margin + mark // per_column)}^ {scope_label(lifetimes, mark)}")
    if per_column > 1:
        lines.append(f"({count} scopes, {per_column} to a column)")
    return lines


def _bytes(life: BufferLife) -> str:
    if life.offset is None or life.home != HEAD:
        return life.home
    return f"[{life.offset:,} .. {life.offset + life.size:,})"


def _bar(lifetimes: Lifetimes, life: BufferLife, columns: Sequence[range]) -> str:
    return "".join("#" if any(lifetimes.is_alive(life, scope) for scope in column) else "." for column in columns)


def overview_lines(lifetimes: Lifetimes) -> list[str]:
    """Return the largest buffers of the head over time, and what becomes of the inputs."""
    head = [life for life in lifetimes.buffers if life.home == HEAD]
    shown = sorted(sorted(head, key=lambda life: -life.size)[:ROWS], key=lambda life: (life.first, life.offset or 0))
    title = f"{len(head)} buffers in the head" + (f", the {ROWS} largest" if len(head) > ROWS else "")
    lines = [f"{title}; a column is an operator:", *timeline_lines(lifetimes, shown), ""]
    for position in range(len(lifetimes.model.subgraphs[0].input_tensors)):
        life = lifetimes.find(f"input:{position}")
        lines.append(f"input {position} is {buffer_name(life)}: {after_invoke(lifetimes, life)}")
    variables = [life for life in lifetimes.buffers if life.home == TAIL]
    if variables:
        lines.append(f"{len(variables)} variables in the tail: {', '.join(map(buffer_name, variables))}")
    return lines


def after_invoke(lifetimes: Lifetimes, life: BufferLife) -> str:
    if life.home != HEAD:
        return _HOMES[life.home]
    row = lifetimes.overwritten_by(life)
    if row is None:
        is_promised = life.last == lifetimes.scope_count - 1
        return "still there after Invoke()" + ("" if is_promised else ", though TFLM does not promise it")
    where, other = scope_label(lifetimes, row.other.first), buffer_name(row.other)
    return f"gone after Invoke(): {where} overwrites bytes {row.start:,} to {row.end - 1:,} with {other}"


def tensor_lines(lifetimes: Lifetimes, life: BufferLife) -> list[str]:
    """Return where one buffer lives and when, who shares its bytes (the first ``ROWS`` of them), and a picture."""
    lines = [f"{buffer_name(life)}, {format_size(life.size)}"]
    if life.home != HEAD:
        return [*lines, f"    {_HOMES[life.home]}"]
    if life.first < 0:
        return [*lines, "    planned, and no operator that runs names it"]
    first, last = scope_label(lifetimes, life.first), scope_label(lifetimes, life.last)
    lines.append(f"    bytes {_bytes(life)} of the head, from {first} (scope {life.first}) to {last} ({life.last})")
    lines.append(f"    {after_invoke(lifetimes, life)}")
    shared = lifetimes.sharing(life)
    rows = [
        (f"[{row.start:,} .. {row.end:,})", f"{row.other.first}..{row.other.last}", buffer_name(row.other))
        for row in shared[:ROWS]
    ]
    others = f"{len(shared)} other{'s' * (len(shared) > 1)}:" if shared else "nobody"
    lines.append(f"    shares memory with {others}")
    if shared:
        lines += [f"        {line}" for line in table_lines([("bytes", "scopes", "buffer"), *rows])]
    if len(shared) > ROWS:
        lines.append(f"        and {len(shared) - ROWS:,} more")
    return [*lines, "", *timeline_lines(lifetimes, [life, *(row.other for row in shared[:ROWS])])]


def preservation_line(what: str, preservation: Preservation) -> str:
    """Say what keeping tensors costs."""
    sizes = f"the smallest arena goes from {preservation.before:,} to {preservation.after:,} B"
    heads = f"its head from {preservation.head_before:,} to {preservation.head_after:,} B"
    return f"keeping {what} to the end of Invoke() costs {format_size(preservation.cost)}: {sizes}, {heads}"


@dataclass(frozen=True, slots=True)
class BufferKey:
    """Which buffer: ``index`` is the tensor's in its subgraph, or the scratch buffer's."""

    kind: Annotated[str, OneOf("tensor", "scratch")]
    subgraph: Count
    index: Count


@dataclass(frozen=True, slots=True)
class BufferRow:
    """A buffer, and where it lives.

    Attributes:
        buffer: Which one.
        home: Planned, a variable, in the model's file, or without bytes.
        offset: In the head; null elsewhere.
        first, last: Scopes, both inclusive; -1 where no operator that runs names it.
    """

    buffer: BufferKey = field(metadata=INLINE)
    name: str
    home: Annotated[str, OneOf(HEAD, TAIL, FLASH, NOWHERE)]
    size: int
    offset: int | None
    first: IndexOrNone
    last: IndexOrNone


@dataclass(frozen=True, slots=True)
class SharedBytes:
    """Another buffer at some of the same bytes of the head: [start, end)."""

    other: BufferKey = field(metadata=INLINE)
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SharingRow:
    """Who shares a buffer's memory."""

    buffer: BufferKey = field(metadata=INLINE)
    shares_memory_with: tuple[SharedBytes, ...]


@dataclass(frozen=True, slots=True)
class PreservationRow:
    """What keeping tensors to the end of Invoke() costs, in bytes of the smallest arena (a multiple of 16)."""

    what: str
    cost: int
    sizes: Preservation = field(metadata=INLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifetimesDocument:
    """Every buffer; sizes and offsets are bytes.

    Attributes:
        scopes: What happens in each moment of Invoke().
        sharing: Of the buffers that were asked for.
        preservation: What keeping those costs that were asked for.
        assumed: The options that the answer depends on and that were not given.
    """

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    scopes: tuple[str, ...]
    buffers: tuple[BufferRow, ...]
    sharing: tuple[SharingRow, ...]
    preservation: tuple[PreservationRow, ...]
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


def lifetimes_document(
    lifetimes: Lifetimes,
    asked: Sequence[BufferLife] = (),
    costs: Mapping[str, Preservation] | None = None,
    *,
    assumed: tuple[str, ...] | None = None,
) -> LifetimesDocument:
    """Return every buffer.

    Args:
        lifetimes: Of the model.
        asked: For which to list who shares their memory: for all it would grow with the square of the buffers.
        costs: What keeping tensors costs, by what is kept.
        assumed: The options not given, None where no options were asked for.
    """
    return LifetimesDocument(
        model=model_facts(lifetimes.model),
        configuration=configuration_facts(lifetimes.configuration),
        scopes=tuple(map(lifetimes.scope_name, range(lifetimes.scope_count))),
        buffers=tuple(map(_row, lifetimes.buffers)),
        sharing=tuple(
            SharingRow(
                _key(life), tuple(SharedBytes(_key(row.other), row.start, row.end) for row in lifetimes.sharing(life))
            )
            for life in asked
        ),
        preservation=tuple(PreservationRow(what, row.cost, row) for what, row in (costs or {}).items()),
        assumed=assumed,
    )


def _key(life: BufferLife) -> BufferKey:
    return BufferKey(life.buffer.kind, life.buffer.subgraph, life.buffer.index)


def _row(life: BufferLife) -> BufferRow:
    offset = life.offset if life.home == HEAD else None
    return BufferRow(_key(life), life.name, life.home, life.size, offset, life.first, life.last)
