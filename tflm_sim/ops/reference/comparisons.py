"""EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL: one Init and one Prepare for all six.

Source: tensorflow/lite/micro/kernels/comparisons.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import require_op_data
from tflm_sim.ops.reference.quantization import check_smaller_than_one
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import free, input_tensor, op_data


def _prepare(node: Node) -> Steps[None]:
    require_op_data(node, "comparisons.cc:550")
    input1 = yield from input_tensor(node, 0, "comparisons.cc:557", "input1")
    input2 = yield from input_tensor(node, 1, "comparisons.cc:560", "input2")
    if input1.type == TensorType.INT8:
        check_smaller_than_one(node, input1.scale, input2.scale)
    yield from free(input1, input2)


MODELS: tuple[OpModel, ...] = tuple(
    OpModel(op, None, op_data("comparisons.OpData"), _prepare, "comparisons.cc")
    for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
)
