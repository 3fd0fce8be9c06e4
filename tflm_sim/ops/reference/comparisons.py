"""EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL: one Init and one Prepare for all six.

Source: tensorflow/lite/micro/kernels/comparisons.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import OP_DATA, Kernel, Prepare, source
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.reference.quantization import check_smaller_than_one
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import op_data


def _compare(k: Kernel, input1: KernelTensor, input2: KernelTensor) -> None:
    if input1.type == TensorType.INT8:
        check_smaller_than_one(k.node, input1.scale, input2.scale)


_PREPARE = Prepare("comparisons.cc", OP_DATA, takes=(source(0, "input1"), source(1, "input2")), body=_compare)

MODELS: tuple[OpModel, ...] = tuple(
    OpModel(op, init=op_data("comparisons.OpData"), prepare=_PREPARE)
    for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
)
