"""What Vela compiled for an Ethos-U: the memory of each such operator, in the terms of Vela's memory modes.

Vela lays an operator's inputs out as command stream, weights, scratch, fast scratch, then the tensors of the model. In
Sram_Only and Shared_Sram both scratches are the same tensor, or of the same size in files of older Velas. In
Dedicated_Sram the second is the buffer in SRAM, which the driver replaces by the memory that ethosu_init() was given.

Source: tensorflow/lite/micro/kernels/ethos_u/ethosu.cc @ 90b983c; config_files/Arm/vela.ini @ ethos-u-vela 5.2.0;
src/ethosu_driver.c (FAST_MEMORY_BASE_ADDR_INDEX) @ ARM-software/ethos-u-core-driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tflm_sim.model.types import Model, Operator, Subgraph

if TYPE_CHECKING:
    from typing import Annotated

    from tflm_sim.document_types import Count, OneOf

_MEMORY = 4
"""Inputs of the operator that are no tensors of the model."""


@dataclass(frozen=True, slots=True)
class NpuMemory:
    """The memory of one operator, bytes.

    Attributes:
        mode: Vela's Memory_Mode; a file does not tell Sram_Only from Shared_Sram.
        commands: The command stream, read from the model.
        constants: Weights and other constants, read from the model.
        scratch: Bytes in the arena; the operator's inputs and outputs lie in them.
        fast_scratch: With Dedicated_Sram, bytes of the SRAM that the driver was given. TFLM reserves them in the arena
            too.
    """

    subgraph: Count
    operator: Count
    mode: Annotated[str, OneOf("Shared_Sram or Sram_Only", "Dedicated_Sram")]
    commands: Count
    constants: Count
    scratch: Count
    fast_scratch: Count

    @property
    def unused(self) -> int:
        """Bytes of the arena that are reserved but not used, because the driver uses its own SRAM in their place."""
        return max(0, self.fast_scratch - self.scratch)


def npu_memory(model: Model) -> tuple[NpuMemory, ...]:
    """Return the memory of each operator that Vela made, in the order of execution."""
    found = []
    for number, subgraph in enumerate(model.subgraphs):
        for index, operator in enumerate(subgraph.operators):
            if model.operator_codes[operator.opcode_index].custom_code == "ethos-u":
                sizes = _sizes(subgraph, operator)
                if len(sizes) == _MEMORY:
                    found.append(_memory(number, index, *sizes))
    return tuple(found)


def _sizes(subgraph: Subgraph, operator: Operator) -> list[int]:
    """Return the bytes of the operator's first inputs, as many of the first four as it has."""
    tensors = [subgraph.tensors[index] for index in operator.input_tensors[:_MEMORY] if index >= 0]
    return [prod(tensor.shape) for tensor in tensors if tensor.shape is not None]


def _memory(subgraph: int, operator: int, commands: int, constants: int, scratch: int, fast: int) -> NpuMemory:
    is_one = fast == scratch
    mode = "Shared_Sram or Sram_Only" if is_one else "Dedicated_Sram"
    return NpuMemory(subgraph, operator, mode, commands, constants, scratch, 0 if is_one else fast)
