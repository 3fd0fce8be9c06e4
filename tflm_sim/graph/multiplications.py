"""How much a model computes: its multiply-accumulates, from shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from tflm_sim.model.operator_facts import CHANNEL_AXES, CONVOLUTIONS
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model

Shape = Sequence[int]


def multiplications(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
    """Return the multiply-accumulates of an operator: convolutions and dense layers; everything else counts as none.

    Args:
        op: The builtin operator's name.
        inputs, outputs: Shapes in TFLite order; () for an absent tensor.
    """
    if len(inputs) < 2 or not outputs or not inputs[1]:
        return 0
    if op in CONVOLUTIONS:  # an output element is made with the weights of its channel
        return prod(outputs[0]) * prod(size for axis, size in enumerate(inputs[1]) if axis != CHANNEL_AXES[op])
    count = _COUNTS.get(op)
    return 0 if count is None else count(inputs, outputs[0])


_COUNTS: dict[str, Callable[[Sequence[Shape], Shape], int]] = {
    "TRANSPOSE_CONV": lambda inputs, _: prod(inputs[2]) * prod(inputs[1][:3]) if len(inputs) > 2 else 0,
    "FULLY_CONNECTED": lambda inputs, _: prod(inputs[0]) // max(1, inputs[1][-1]) * prod(inputs[1]),
    "BATCH_MATMUL": lambda inputs, output: prod(output) * (inputs[0] or (1,))[-1],
}


def total_multiplications(model: Model) -> int:
    """Return the multiply-accumulates of a model's main subgraph, run once."""
    if not model.subgraphs:
        return 0
    subgraph = model.subgraphs[0]
    tensors = subgraph.tensors

    def shapes(indices: Sequence[int] | None) -> list[Shape]:
        return [tensors[index].dims if index >= 0 else () for index in indices or ()]

    total = 0
    for operator in subgraph.operators:
        if 0 <= operator.opcode_index < len(model.operator_codes):
            name = builtin_operator_name(model.operator_codes[operator.opcode_index].builtin_code)
            total += multiplications(name, shapes(operator.inputs), shapes(operator.outputs))
    return total
