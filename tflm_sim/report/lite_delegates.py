"""What the GPU and Flex delegates would take of a model, as values and as lines."""

from __future__ import annotations

from typing import Any

from tflm_sim.escape import printable
from tflm_sim.lite.flex import FlexOp
from tflm_sim.lite.gpu import Storage, Taken, strategies
from tflm_sim.lite.op_resolver import FLEX_PREFIX
from tflm_sim.lite.subgraph import Subgraph
from tflm_sim.report.tables import table_lines

_NOTE = "chosen by operator and types, not by every condition of the delegate's parsers; weights are not counted"


def gpu_document(subgraph: Subgraph, what: Taken, storage: Storage, element_bytes: int) -> dict[str, Any]:
    """Return what the GPU delegate takes and what its strategies make of it; sizes are bytes."""
    rows = strategies(subgraph, what, storage, element_bytes=element_bytes)
    return {
        "delegate": "gpu",
        "storage": storage.value,
        "element_bytes": element_bytes,
        "nodes": list(what.nodes),
        "nodes_in_all": len(subgraph.execution_plan),
        "on_the_cpu": list(what.refused),
        "tensors": [index for index, _, _ in what.records],
        "strategies": [
            {"strategy": row.strategy, "objects": row.objects, "bytes": row.bytes, "block_bytes": row.offsets_bytes}
            for row in rows
        ],
        "note": _NOTE,
    }


def gpu_lines(document: dict[str, Any]) -> list[str]:
    """Return a GPU document as lines."""
    count, total = len(document["nodes"]), document["nodes_in_all"]
    precision = "FP16" if document["element_bytes"] == 2 else "FP32"
    lines = [f"GPU delegate: {count} of {total} nodes; {len(document['tensors'])} tensors share {document['storage']}s"]
    if document["on_the_cpu"]:
        lines.append(f"  on the CPU: {', '.join(printable(name, 60) for name in document['on_the_cpu'])}")
    rows = [
        (row["strategy"], *(_shown(row[key]) for key in ("objects", "bytes", "block_bytes")))
        for row in document["strategies"]
    ]
    head = ("strategy", "objects", f"bytes, {precision}", "as one block")
    return [*lines, "", *table_lines([head, *rows]), "", _NOTE]


def _shown(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def flex_lines(ops: list[FlexOp]) -> list[str]:
    """Return the operators of TensorFlow as lines."""
    if not ops:
        return ["no operator of TensorFlow: the Flex delegate is not needed"]
    lines = [f"{len(ops)} operators of TensorFlow: the runtime needs the Flex delegate (SELECT_TF_OPS)"]
    for op in ops:
        fault = f": {printable(op.fault, 200)}" if op.fault else ""
        lines.append(f"  subgraph {op.subgraph}, node {op.node}: {FLEX_PREFIX}{printable(op.name, 80)}{fault}")
    return lines
