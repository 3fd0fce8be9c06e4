"""ADD with CMSIS-NN, which has a copy of the reference kernel's OpData and Prepare with checks of its own.

MUL, MAXIMUM, MINIMUM, PAD, PADV2 and TRANSPOSE have CMSIS-NN kernels too, with the reference Prepare: they have no row.

Source: tensorflow/lite/micro/kernels/cmsis_nn/add.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.tensor_checks import check_zero_zero_points
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import require_op_data
from tflm_sim.ops.reference.quantization import (
    check_activation_range,
    check_smaller_than_one,
    divide,
    ensure_not_quantized,
    fused_activation,
)
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import ensure_c_types_eq, ensure_msg, free, input_tensor, op_data, output_tensor

_FILE = "cmsis_nn/add.cc"
_SUPPORTED = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8)
_LEFT_SHIFT: dict[int, int] = {TensorType.INT16: 15, TensorType.INT8: 20}


def _prepare(node: Node) -> Steps[None]:
    require_op_data(node, f"{_FILE}:289")
    input1 = yield from input_tensor(node, 0, f"{_FILE}:296", "input1")
    input2 = yield from input_tensor(node, 1, f"{_FILE}:299", "input2")
    output = yield from output_tensor(node, 0, f"{_FILE}:302")
    ensure_c_types_eq(input1.type, output.type, f"{_FILE}:304", "input1->type", "output->type")
    ensure_msg(input1.type in _SUPPORTED, _FILE, "Input data type not supported")
    ensure_msg(input1.type == input2.type, _FILE, "Hybrid models are not supported on TFLite Micro.")
    if input1.type == TensorType.INT16:
        check_zero_zero_points(f"{_FILE}:314", input1=input1, input2=input2, output=output)
    _check_quantization(node, input1, input2, output)
    if output.type == TensorType.INT32:
        ensure_not_quantized(input1, f"{_FILE}:327", "input1")
        ensure_not_quantized(input2, f"{_FILE}:329", "input2")
    yield from free(input1, input2, output)


def _check_quantization(node: Node, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpData``."""
    if output.type not in _LEFT_SHIFT:
        return
    twice_max = 2 * max(input1.scale, input2.scale)
    multipliers = divide(input1.scale, twice_max), divide(input2.scale, twice_max)
    output_multiplier = divide(twice_max, (1 << _LEFT_SHIFT[output.type]) * output.scale)
    check_smaller_than_one(node, *multipliers, output_multiplier)
    check_activation_range(fused_activation(node, "AddOptions"), output)


MODELS: tuple[OpModel, ...] = (OpModel("ADD", "TfLiteAddParams", op_data("cmsis_nn/add.OpData"), _prepare, _FILE),)
