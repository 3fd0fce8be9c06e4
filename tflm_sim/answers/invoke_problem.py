"""``invoke_problem()``: why Invoke() of an allocated model fails every time, as far as types and constants tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tflm_sim.device.configuration import Configuration
from tflm_sim.device.interpreter import MicroInterpreter
from tflm_sim.device.run import Device
from tflm_sim.model.element_types import type_name
from tflm_sim.ops.eval_values import refused_values, undefined_values
from tflm_sim.ops.evals import refused_types
from tflm_sim.ops.op_model import Node

if TYPE_CHECKING:
    from typing import Annotated

    from tflm_sim.document_types import Count, OneOf

_RUNS = {"CALL_ONCE": "init_subgraph_index", "WHILE": "cond_subgraph_index"}
"""Which subgraph an operator runs whatever the values are, by the option that names it."""


@dataclass(frozen=True, slots=True)
class InvokeProblem:
    """The first operator that no Invoke() gets past, though AllocateTensors() accepts it.

    Attributes:
        status: "error": Invoke() returns kTfLiteError. "undefined": the kernel computes something else, or uses bytes
            that are not the tensor's, and no message says so.
        subgraph, operator: The operator's indices.
        op: The operator's name.
        reason: What the kernel's Eval does not support.
        log: The lines that the device prints.
    """

    status: Annotated[str, OneOf("error", "undefined")]
    subgraph: Count
    operator: Count
    op: str
    reason: str
    log: tuple[str, ...]

    def __str__(self) -> str:
        place = f"#{self.operator} {self.op}" + (f" of subgraph {self.subgraph}" if self.subgraph else "")
        ends = "Invoke() fails" if self.status == "error" else "what Invoke() computes is undefined"
        return f"allocates, but {ends}: {place}: {self.reason}"


def invoke_problem(device: Device, configuration: Configuration, bodies: Collection[int] = ()) -> InvokeProblem | None:
    """Return why every Invoke() fails, for the first model of which that is known; None where no reason is known.

    Only operators are checked that every Invoke() runs: those of the main subgraph, of WHILE's conditions and of
    CALL_ONCE, and of the subgraphs ``bodies``, which are known to run. Users' own kernels are not judged.
    """
    if device.failure is not None:
        return None
    own = {row.op for row in configuration.custom_ops}
    nodes = (node for interpreter in device.interpreters for node in _always_run(interpreter, bodies))
    return next((found for node in nodes if node.op not in own and (found := _problem(node)) is not None), None)


def _always_run(interpreter: MicroInterpreter, bodies: Collection[int]) -> Iterator[Node]:
    """Yield the operators that every first Invoke() runs, in order; those of a subgraph once."""
    subgraphs: dict[int, list[Node]] = {}
    for node, _ in interpreter.nodes:
        subgraphs.setdefault(node.subgraph_index, []).append(node)
    stack = [iter(subgraphs.pop(index, [])) for index in (*bodies, 0)]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
        elif found.op in _RUNS:
            stack.append(iter(subgraphs.pop(found.option(_RUNS[found.op]), [])))
        else:
            yield found


def _problem(node: Node) -> InvokeProblem | None:
    place = node.subgraph_index, node.index, node.op
    says = refused_types(node)
    refused = None if says is None else (says or f"{_types(node)} is not supported", says)
    refused = refused or next(refused_values(node), None)
    if refused is not None:
        reason, says = refused
        suffix = "" if node.target.runtime.has("dynamic_tensors") else "f"
        failed = f"Node {node.op} (number {node.index}{suffix}) failed to invoke with status 1"
        return InvokeProblem("error", *place, reason, tuple(line for line in (says, failed) if line))
    undefined = next(undefined_values(node), None)
    return None if undefined is None else InvokeProblem("undefined", *place, undefined, ())


def _types(node: Node) -> str:
    """Return the type of the first input in words, and that of the first output where it differs."""
    ends = (node.input(0), node.output(0))
    return " to ".join(dict.fromkeys(type_name(end.type) for end in ends if end is not None))
