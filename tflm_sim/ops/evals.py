"""``eval_problem()``: what Eval of a prepared operator refuses, as far as types and constants tell.

Eval's switches over types are the ``EVALS`` of each module of ``ops/reference``; what it makes of constants and options
is in ``eval_values``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.element_types import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops import edge_impulse
from tflm_sim.ops.eval_types import EvalRow, Switch
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.targets.changes import UPSTREAM


@cache
def _rows(op: str) -> Sequence[EvalRow]:
    """Return the rows of a reference operator, newest first."""
    return [row for row in REFERENCE.of_family(op, "EVALS") if op in row.ops.split()]


def refused_types(node: Node) -> str | None:
    """Return what the device prints where Eval does not know a type of the node's tensors; None where it knows all."""
    if node.target.runtime.has("edge_impulse_kernels") and node.op in edge_impulse.OPERATORS:
        return None  # Kernels of Edge Impulse's own.
    row = _row(node) if node.op in REFERENCE else None
    for switch in () if row is None else row.switches:
        if (says := _refused(node, switch)) is not None:
            return says
    return None


def _row(node: Node) -> EvalRow | None:
    """Return the row of the first library with a kernel, as it was in the TFLM of the node's target."""
    position, rows = node.target.runtime.position(UPSTREAM), _rows(node.op)
    libraries = (*node.target.kernel_library.layers, "reference")
    return next((row for name in libraries for row in rows if row.library == name and row.since <= position), None)


def _refused(node: Node, switch: Switch) -> str | None:
    tensor = _tensor(node, switch.tensor)
    if tensor is None or not _applies(node, switch) or type_name(tensor.type) in switch.types.split():
        return None
    if tensor.type == TensorType.UINT8 and node.target.runtime.has("uint8_kernels"):
        return None
    named = _tensor(node, switch.named or switch.tensor) or tensor
    ends = {key: _name(_tensor(node, place)) for key, place in (("input", "i0"), ("output", "o0"))}
    return switch.says.format(name=type_name(named.type), number=type_number(named.type), **ends)


def _applies(node: Node, switch: Switch) -> bool:
    if not switch.when:
        return True
    place, name = switch.when.split()
    return _name(_tensor(node, place)) == name


def _tensor(node: Node, place: str) -> EvalTensor | None:
    at = node.input if place[0] == "i" else node.output
    return at(int(place[1:]))


def _name(tensor: EvalTensor | None) -> str:
    return "" if tensor is None else type_name(tensor.type)
