"""Which tensors of a model share bytes on purpose: those of an operator that Vela compiled for the Ethos-U.

Vela plans the arena itself: it lays an operator's inputs and outputs over one another, and inside the tensors that the
NPU uses as memory, because the command stream knows when each byte is free.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.invocation.findings import TensorKey
from tflm_sim.invocation.invoke_kernels import ETHOS_U_MEMORY
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class NpuTensors:
    """The tensors of a model's ethos-u operators.

    Attributes:
        memory: Those that the NPU uses as memory; nothing writes them before.
        operators: All tensors of each operator.
    """

    memory: frozenset[TensorKey] = frozenset()
    operators: tuple[frozenset[TensorKey], ...] = ()

    def may_share(self, first: TensorKey, second: TensorKey) -> bool:
        """Return whether two tensors may have bytes in common while both are alive."""
        if not self.memory.isdisjoint((first, second)):
            return True
        return any(first in tensors and second in tensors for tensors in self.operators)


def npu_tensors(model: Model) -> NpuTensors:
    """Return the tensors of the model's ethos-u operators."""
    custom = {index for index, code in enumerate(model.operator_codes) if code.custom_code == "ethos-u"}
    memory: set[TensorKey] = set()
    operators: list[frozenset[TensorKey]] = []
    for number, subgraph in enumerate(model.subgraphs):
        for operator in subgraph.operators:
            if operator.opcode_index in custom:
                inputs, outputs = operator.inputs or (), operator.outputs or ()
                memory |= {(number, inputs[position]) for position in ETHOS_U_MEMORY if position < len(inputs)}
                operators.append(frozenset((number, tensor) for tensor in (*inputs, *outputs)))
    return NpuTensors(frozenset(memory), tuple(operators))
