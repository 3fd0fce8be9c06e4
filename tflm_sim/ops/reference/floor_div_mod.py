"""FLOOR_DIV and FLOOR_MOD: an Init that allocates nothing, and three tensors of one type.

Source: tensorflow/lite/micro/kernels/{floor_div,floor_mod}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.kernel import Kernel, Prepare, counts
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.binary_arithmetic import OPERANDS
from tflm_sim.ops.requests import KernelTensor, Steps


def _init(_node: Node) -> Steps[object]:
    """Allocate nothing; the null pointer is not None here, which would mean that an allocation failed."""
    yield from ()
    return "no op data"


def _one_type(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpData``."""
    k.same_type(input1, input2, "input1", "input2")
    k.same_type(input1, output, "input1")


MODELS: tuple[OpModel, ...] = tuple(
    OpModel(op, init=_init, prepare=Prepare(file, counts(2), takes=OPERANDS, body=_one_type))
    for op, file in (("FLOOR_DIV", "floor_div.cc"), ("FLOOR_MOD", "floor_mod.cc"))
)
