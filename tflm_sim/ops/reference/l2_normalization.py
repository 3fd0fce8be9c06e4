"""L2_NORMALIZATION, which supports no fused activation.

Source: tensorflow/lite/micro/kernels/l2norm.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, require_op_data
from tflm_sim.ops.reference.quantization import fused_activation
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import ensure, ensure_eq, ensure_types_eq, free, input_tensor, op_data, output_tensor

_FILE = "l2norm.cc"


def _prepare(node: Node) -> Steps[None]:
    require_op_data(node, f"{_FILE}:37")
    ensure_counts(node, _FILE, 44, inputs=1)
    source = yield from input_tensor(node, 0, f"{_FILE}:51")
    output = yield from output_tensor(node, 0, f"{_FILE}:54")
    ensure(len(source.shape) <= 4, f"{_FILE}:55", "NumDimensions(input) <= 4")
    text = "output->type == kTfLiteFloat32 || output->type == kTfLiteInt8"
    ensure(output.type in (TensorType.FLOAT32, TensorType.INT8), f"{_FILE}:57", text)
    ensure_types_eq(source.type, output.type, f"{_FILE}:59", "input->type", "output->type")
    activation = fused_activation(node, "L2NormOptions")
    ensure_eq(activation, 0, f"{_FILE}:68", "params->activation", "kTfLiteActNone")
    yield from free(source, output)


MODELS: tuple[OpModel, ...] = (
    OpModel("L2_NORMALIZATION", "TfLiteL2NormParams", op_data("L2NormalizationParams"), _prepare, _FILE),
)
