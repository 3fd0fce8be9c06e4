"""What the GPU and Flex delegates would take of a model, as values and as lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from tflm_sim.documents import Count, OneOf
from tflm_sim.escape import printable
from tflm_sim.lite.flex import FlexOp
from tflm_sim.lite.gpu import Storage, Taken, strategies
from tflm_sim.lite.op_resolver import FLEX_PREFIX
from tflm_sim.lite.subgraph import Subgraph
from tflm_sim.report.tables import table_lines

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


def gpu_document(subgraph: Subgraph, what: Taken, storage: Storage, element_bytes: int) -> GpuDocument:
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
    )


def gpu_lines(document: GpuDocument) -> list[str]:
    """Return what the GPU delegate takes as lines."""
    precision = "FP16" if document.element_bytes == 2 else "FP32"
    taken = f"{len(document.nodes)} of {document.nodes_in_all} nodes"
    lines = [f"GPU delegate: {taken}; {len(document.tensors)} tensors share {document.storage}s"]
    if document.on_the_cpu:
        lines.append(f"  on the CPU: {', '.join(printable(name, 60) for name in document.on_the_cpu)}")
    rows = [(row.strategy, *map(_shown, (row.objects, row.bytes, row.block_bytes))) for row in document.strategies]
    head = ("strategy", "objects", f"bytes, {precision}", "as one block")
    return [*lines, "", *table_lines([head, *rows]), "", document.note]


def _shown(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def flex_lines(ops: list[FlexOp]) -> list[str]:
    """Return the operators of TensorFlow as lines."""
    if not ops:
        return ["no operator of TensorFlow: the Flex delegate is not needed"]
    lines = [f"{len(ops)} operators of TensorFlow: the runtime needs the Flex delegate (SELECT_TF_OPS)"]
    for op in ops:
        whence = f"in {op.library}" if op.library else _UNLISTED
        fault = f": {printable(op.fault, 200)}" if op.fault else ""
        place = f"subgraph {op.subgraph}, node {op.node}"
        lines.append(f"  {place}: {FLEX_PREFIX}{printable(op.name, 80)}, {whence}{fault}")
    return lines
