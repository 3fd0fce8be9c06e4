"""The mobile runtime's answer for people, and what the GPU and Flex delegates would take of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from tflm_sim.document_types import Count, OneOf
from tflm_sim.escape import printable
from tflm_sim.extensions.lite.answer import LEFT_OUT, Answer
from tflm_sim.extensions.lite.flex import FlexOp
from tflm_sim.extensions.lite.gpu import GpuPartition, Storage, strategies
from tflm_sim.extensions.lite.op_resolver import FLEX_PREFIX
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.extensions.lite.summary import PlacedTensor, Summary, summaries
from tflm_sim.report.tables import table_lines
from tflm_sim.units import format_size

_MAX_ROWS = 8
_NAME = 60
_MESSAGE = 500


def lite_lines(title: str, answer: Answer) -> list[str]:
    """Return what the runtime allocates, or what it says instead."""
    lines = [printable(title, 120)]
    if answer.status != "ok":
        lines += ["the runtime refuses it:", *(f"  {line}" for line in report_lines(answer.reports))]
    for summary in summaries(answer) if answer.status == "ok" else ():
        lines += ["", *_summary(summary)]
    return [*lines, "", *answer.left_out]


def report_lines(reports: Sequence[str]) -> list[str]:
    """Return the runtime's messages as lines, the first ones and their beginnings where there are many."""
    lines = [line for text in reports for line in text.strip().splitlines() if line]
    shown = [printable(line[:_MESSAGE], 10 * _MESSAGE) + "…" * (len(line) > _MESSAGE) for line in lines[:_MAX_ROWS]]
    more = len(lines) - _MAX_ROWS
    return [*shown, f"and {more} more; --json has all of them"] if more > 0 else shown


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
        for index, label, size, offset in sorted(summary.persistent, key=lambda row: -row[2])[:_MAX_ROWS]:
            yield f"  {size:>12,} B at {offset:>10,}  {printable(label, _NAME) or f'temporary {index}'}"
    if summary.computed_bytes:
        yield f"  constants computed while preparing: {format_size(summary.computed_bytes)} on the heap"
    if summary.dynamic:
        names = ", ".join(printable(name, _NAME) or "a temporary" for name in summary.dynamic[:_MAX_ROWS])
        more = len(summary.dynamic) - _MAX_ROWS
        yield f"  dynamic, sized while it runs: {names}" + (f" and {more} more" if more > 0 else "")
    if not summary.is_complete:
        yield "  what comes after the first dynamic output is planned while the model runs"


def _rows(rows: list[PlacedTensor]) -> Iterator[str]:
    for row in rows[:_MAX_ROWS]:
        name = printable(row.name, _NAME) or f"temporary {row.index}"
        yield f"  {row.size:>12,} B at {row.offset:>10,}  {row.kind:<10} {name}"
    if len(rows) > _MAX_ROWS:
        yield f"  {'':>14} and {len(rows) - _MAX_ROWS} more"


_UNLISTED = "on no list of the converter: it was named in experimental_select_user_tf_ops, and its kernel is the app's"
_NOTE = "chosen by operator and types, not by every condition of the delegate's parsers; weights are not counted"


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """What a strategy makes of the tensors; ``block_bytes`` as offsets into one block."""

    strategy: str
    objects: Count | None
    bytes: Count | None
    block_bytes: Count | None


@dataclass(frozen=True, slots=True)
class GpuDocument:
    """What the GPU delegate takes; sizes are bytes.

    Attributes:
        nodes: Those that it takes.
        on_the_cpu: Why it leaves the others.
        tensors: Those that share memory.
        left_out: What no answer counts.
    """

    delegate: Literal["gpu"]
    storage: str
    element_bytes: Annotated[int, OneOf(2, 4)]
    nodes: tuple[Count, ...]
    nodes_in_all: Count
    on_the_cpu: tuple[str, ...]
    tensors: tuple[Count, ...]
    strategies: tuple[StrategyRow, ...]
    note: str
    left_out: tuple[str, ...]


def gpu_document(subgraph: TfLiteSubgraph, what: GpuPartition, storage: Storage, element_bytes: int) -> GpuDocument:
    """Return what the GPU delegate takes and what its strategies make of it."""
    rows = strategies(subgraph, what, storage, element_bytes=element_bytes)
    return GpuDocument(
        delegate="gpu",
        storage=storage.value,
        element_bytes=element_bytes,
        nodes=tuple(what.nodes),
        nodes_in_all=len(subgraph.execution_plan),
        on_the_cpu=tuple(what.refused),
        tensors=tuple(index for index, _, _ in what.records),
        strategies=tuple(StrategyRow(row.strategy, row.objects, row.bytes, row.offsets_bytes) for row in rows),
        note=_NOTE,
        left_out=LEFT_OUT,
    )


def gpu_lines(document: GpuDocument) -> list[str]:
    precision = "FP16" if document.element_bytes == 2 else "FP32"
    taken = f"{len(document.nodes)} of {document.nodes_in_all} nodes"
    lines = [f"GPU delegate: {taken}; {len(document.tensors)} tensors share {document.storage}s"]
    if document.on_the_cpu:
        lines.append(f"  on the CPU: {', '.join(printable(name, 60) for name in document.on_the_cpu)}")
    rows = [
        (row.strategy, *("-" if size is None else f"{size:,}" for size in (row.objects, row.bytes, row.block_bytes)))
        for row in document.strategies
    ]
    head = ("strategy", "objects", f"bytes, {precision}", "as one block")
    return [*lines, "", *table_lines([head, *rows]), "", document.note, *document.left_out]


@dataclass(frozen=True, slots=True)
class FlexDocument:
    """The operators of TensorFlow in a model.

    Attributes:
        left_out: What no answer counts.
    """

    delegate: Literal["flex"]
    operators: tuple[FlexOp, ...]
    left_out: tuple[str, ...]


def flex_document(ops: Sequence[FlexOp]) -> FlexDocument:
    return FlexDocument("flex", tuple(ops), LEFT_OUT)


def flex_lines(document: FlexDocument) -> list[str]:
    ops = document.operators
    if not ops:
        return ["no operator of TensorFlow: the Flex delegate is not needed", *document.left_out]
    lines = [f"{len(ops)} operators of TensorFlow: the runtime needs the Flex delegate (SELECT_TF_OPS)"]
    for op in ops:
        whence = f"in {op.library}" if op.library else _UNLISTED
        fault = f": {printable(op.fault, 200)}" if op.fault else ""
        place = f"subgraph {op.subgraph}, node {op.node}"
        lines.append(f"  {place}: {FLEX_PREFIX}{printable(op.name, 80)}, {whence}{fault}")
    return [*lines, "", *document.left_out]
