"""A picture as node data for Model Explorer: a number for each operator, laid over the graph as colours.

Graphs are named as Model Explorer's TFLite adapter names them, and nodes by the operator's index.

Source: src/server/package/src/model_explorer/node_data_builder.py and
src/builtin-adapter/direct_flatbuffer_to_json_graph_convert.cc of google-ai-edge/model-explorer @ c0f8dba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

from tflm_sim.escape import json_text, printable
from tflm_sim.report.picture import Picture

_GRADIENT = ({"stop": 0, "bgColor": "#eef1f5"}, {"stop": 0.5, "bgColor": "#f4c542"}, {"stop": 1, "bgColor": "#d1495b"})
Values = dict[tuple[int, int], int]


def _live_bytes(picture: Picture) -> Values:
    values: Values = {}
    for scope, live in zip(picture.scopes, picture.live_bytes, strict=True):
        values[scope] = max(values.get(scope, 0), live)
    return values


def _scratch_bytes(picture: Picture) -> Values:
    values: Values = {}
    for row in picture.residents:
        if row.operator >= 0:
            place = (row.subgraph, row.operator)
            values[place] = values.get(place, 0) + row.size
    return values


def _tail_bytes(picture: Picture) -> Values:
    return {(row.subgraph, row.operator): row.used for row in picture.size.answer.tail.ops}


VALUES: dict[str, tuple[str, Callable[[Picture], Values]]] = {
    "live": ("head bytes alive while it runs", _live_bytes),
    "scratch": ("bytes of its scratch buffers", _scratch_bytes),
    "tail": ("persistent bytes of its own", _tail_bytes),
}
"""What can be laid over the graph: title and numbers by (subgraph, operator)."""


def write_model_explorer(file: TextIO, picture: Picture, *, value: str = "live") -> None:
    """Write the node data file; ``value`` is a key of :data:`VALUES`."""
    title, numbers = VALUES[value]
    values = numbers(picture)
    document: dict[str, Any] = {}
    for subgraph, (name, ops) in enumerate(zip(picture.subgraph_names, picture.op_names, strict=False)):
        results = {str(i): {"value": values.get((subgraph, i), 0)} for i in range(len(ops))}
        document[name] = {
            "results": results,
            "name": printable(f"{title} ({picture.title})", 120),
            "gradient": _GRADIENT,
        }
    file.write(json_text(document, indent=1) + "\n")
