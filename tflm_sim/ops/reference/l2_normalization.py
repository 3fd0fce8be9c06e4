"""L2_NORMALIZATION, which supports no fused activation.

Source: tensorflow/lite/micro/kernels/l2norm.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import OP_DATA, Kernel, Prepare, counts
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import op_data


def _normalize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.ensure(len(source.shape) <= 4, "NumDimensions(input) <= 4")
    k.one_of(output.type, (TensorType.FLOAT32, TensorType.INT8), "output->type")
    k.same_type(source, output)
    k.ensure_eq(fused_activation(k.node, "L2NormOptions"), 0, "params->activation", "kTfLiteActNone")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "L2_NORMALIZATION",
        "TfLiteL2NormParams",
        op_data("L2NormalizationParams"),
        Prepare("l2norm.cc", OP_DATA, counts(1), body=_normalize),
    ),
)
