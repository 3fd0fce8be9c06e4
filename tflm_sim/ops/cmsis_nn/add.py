"""ADD with CMSIS-NN, which has a copy of the reference kernel's OpData and Prepare with checks of its own.

MUL, MAXIMUM, MINIMUM, PAD, PADV2 and TRANSPOSE have CMSIS-NN kernels too, with the reference Prepare: they have no row.

Source: tensorflow/lite/micro/kernels/cmsis_nn/add.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import HYBRID, OP_DATA, Kernel, Prepare
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.reference.binary_arithmetic import OPERANDS
from tflm_sim.ops.reference.quantization import check_activation_range, check_smaller_than_one, divide
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import op_data

_SUPPORTED = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8)
_LEFT_SHIFT: dict[int, int] = {TensorType.INT16: 15, TensorType.INT8: 20}


def _add(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    k.same_c_type(input1, output, "input1")
    k.ensure_msg(input1.type in _SUPPORTED, "Input data type not supported")
    k.ensure_msg(input1.type == input2.type, HYBRID)
    if input1.type == TensorType.INT16:
        k.zero_points(input1=input1, input2=input2, output=output)
    _check_quantization(k, input1, input2, output)
    if output.type == TensorType.INT32:
        k.not_quantized(input1, "input1")
        k.not_quantized(input2, "input2")


def _check_quantization(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpData``."""
    if output.type not in _LEFT_SHIFT:
        return
    twice_max = 2 * max(input1.scale, input2.scale)
    multipliers = divide(input1.scale, twice_max), divide(input2.scale, twice_max)
    output_multiplier = divide(twice_max, (1 << _LEFT_SHIFT[output.type]) * output.scale)
    check_smaller_than_one(k.node, *multipliers, output_multiplier)
    check_activation_range(k.node, fused_activation(k.node, "AddOptions"), output.type, output.scale)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "ADD",
        "TfLiteAddParams",
        op_data("cmsis_nn/add.OpData"),
        Prepare("cmsis_nn/add.cc", OP_DATA, takes=OPERANDS, body=_add),
    ),
)
