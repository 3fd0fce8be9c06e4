"""RELU, RELU6, LEAKY_RELU, PRELU, HARD_SWISH, ELU, LOGISTIC and TANH.

Each keeps an OpData from Init and takes input and output as temps (TANH the input twice, RELU6 no output).

Source: tensorflow/lite/micro/kernels/{activations_common,leaky_relu_common,prelu_common,hard_swish_common,elu,
logistic_common,tanh}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_shape
from tflm_sim.ops.reference.node_checks import ensure_counts, require_op_data
from tflm_sim.ops.reference.quantization import (
    checked_log2,
    divide,
    float32,
    quantize_multiplier,
    truncate_to_int32,
)
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import abort, ensure, ensure_eq, ensure_types_eq, free, input_tensor, op_data, output_tensor

_RELU, _LEAKY, _PRELU, _SWISH = (
    "activations_common.cc",
    "leaky_relu_common.cc",
    "prelu_common.cc",
    "hard_swish_common.cc",
)
_ELU, _LOGISTIC, _TANH = "elu.cc", "logistic_common.cc", "tanh.cc"
_INT8, _INT16 = TensorType.INT8, TensorType.INT16


def _prepare_relu(node: Node) -> Steps[None]:
    require_op_data(node, f"{_RELU}:89")
    source = yield from input_tensor(node, 0, f"{_RELU}:95")
    output = yield from output_tensor(node, 0, f"{_RELU}:98")
    if source.type == _INT16:
        _ensure_zero_points(source, output, f"{_RELU}:103", f"{_RELU}:104")
    if source.type in (_INT8, _INT16):
        runtime_shape(source)
        runtime_shape(output)
    yield from free(source, output)


def _prepare_relu6(node: Node) -> Steps[None]:
    require_op_data(node, f"{_RELU}:115")
    source = yield from input_tensor(node, 0, f"{_RELU}:122")
    yield from free(source)


def _prepare_leaky_relu(node: Node) -> Steps[None]:
    ensure_counts(node, _LEAKY, 35, inputs=1)
    source = yield from input_tensor(node, 0, f"{_LEAKY}:39")
    output = yield from output_tensor(node, 0, f"{_LEAKY}:42")
    ensure_types_eq(source.type, output.type, f"{_LEAKY}:43", "input->type", "output->type")
    if output.type in (_INT8, _INT16):
        require_op_data(node, f"{_LEAKY}:50", "data")
    yield from free(source, output)


def _prepare_prelu(node: Node) -> Steps[None]:
    require_op_data(node, f"{_PRELU}:84")
    source = yield from input_tensor(node, 0, f"{_PRELU}:90")
    alpha = yield from input_tensor(node, 1, f"{_PRELU}:92", "alpha")
    output = yield from output_tensor(node, 0, f"{_PRELU}:94")
    if output.type == _INT16:
        ensure(alpha.type == _INT8, f"{_PRELU}:101", "alpha->type == kTfLiteInt8")
    yield from free(source, alpha, output)


def _prepare_hard_swish(node: Node) -> Steps[None]:
    require_op_data(node, f"{_SWISH}:37")
    ensure_counts(node, _SWISH, 38, inputs=1)
    source = yield from input_tensor(node, 0, f"{_SWISH}:43")
    output = yield from output_tensor(node, 0, f"{_SWISH}:46")
    if source.type == _INT8:
        input_scale = float32(source.scale / 128)
        exponent = _down_scaled(node, float32(divide(input_scale, output.scale)), f"{_SWISH}:64")
        ensure(exponent <= 0, f"{_SWISH}:68", "params->output_multiplier_exponent <= 0")
        _down_scaled(node, float32(input_scale / (3 / 32768)), f"{_SWISH}:75")
    yield from free(source, output)


def _down_scaled(node: Node, multiplier: float, place: str) -> int:
    """``QuantizeMultiplier``, then ``DownScaleInt32ToInt16Multiplier``, which halts below 0; return the exponent."""
    fixed, exponent = quantize_multiplier(node, multiplier)
    if fixed < 0:
        raise abort(place, "multiplier_int32_t >= 0")
    return exponent


def _prepare_elu(node: Node) -> Steps[None]:
    ensure_counts(node, _ELU, 85, inputs=1)
    source = yield from input_tensor(node, 0, f"{_ELU}:89")
    output = yield from output_tensor(node, 0, f"{_ELU}:92")
    ensure_types_eq(source.type, output.type, f"{_ELU}:93", "input->type", "output->type")
    if source.type == _INT8:
        require_op_data(node, f"{_ELU}:101", "data")
    yield from free(source, output)


def _prepare_logistic(node: Node) -> Steps[None]:
    require_op_data(node, f"{_LOGISTIC}:113")
    source = yield from input_tensor(node, 0, f"{_LOGISTIC}:39")
    output = yield from output_tensor(node, 0, f"{_LOGISTIC}:42")
    ensure_types_eq(source.type, output.type, f"{_LOGISTIC}:44", "input->type", "output->type")
    if source.type == _INT8:
        minimum = "std::numeric_limits<int8_t>::min()"
        ensure_eq(output.zero_point, -128, f"{_LOGISTIC}:46", "output->params.zero_point", minimum)
    if source.type == _INT16:
        _ensure_zero_points(source, output, f"{_LOGISTIC}:70", f"{_LOGISTIC}:71")
        _check_table_scale(node, source, (0,), f"{_LOGISTIC}:99")
        _ensure_output_scale(output, f"{_LOGISTIC}:101", f"{_LOGISTIC}:103")
    yield from free(source, output)


def _prepare_tanh(node: Node) -> Steps[None]:
    require_op_data(node, f"{_TANH}:135")
    first = yield from input_tensor(node, 0, f"{_TANH}:142")
    ensure_counts(node, _TANH, 52, inputs=1)
    source = yield from input_tensor(node, 0, f"{_TANH}:56")
    output = yield from output_tensor(node, 0, f"{_TANH}:59")
    ensure_types_eq(source.type, output.type, f"{_TANH}:61", "input->type", "output->type")
    if source.type == _INT16:
        _ensure_zero_points(source, output, f"{_TANH}:89", f"{_TANH}:90")
        _check_table_scale(node, source, (0, 1), f"{_TANH}:121")
        _ensure_output_scale(output, f"{_TANH}:123", f"{_TANH}:125")
    yield from free(source, output)
    yield from free(first)


def _ensure_zero_points(source: KernelTensor, output: KernelTensor, input_place: str, output_place: str) -> None:
    ensure_eq(source.zero_point, 0, input_place, "input->params.zero_point", "0")
    ensure_eq(output.zero_point, 0, output_place, "output->params.zero_point", "0")


def _check_table_scale(node: Node, source: KernelTensor, direct_shifts: tuple[int, ...], place: str) -> None:
    """Halt where the multiplier to the table's input scale, 1 / (3 * 4096), does not fit 16 bits.

    A scale of 2^(shift - 12) for one of ``direct_shifts`` needs no multiplier. Smaller scales are shifted up to fit.
    """
    exponent = checked_log2(source.scale)
    if exponent is not None and 12 + exponent in direct_shifts:
        return
    multiplier = source.scale * 4096.0 * 3.0
    if multiplier > 32767.0 / 2.0 and truncate_to_int32(node, multiplier) > 32767:
        raise abort(place, "data->input_multiplier <= 32767")


def _ensure_output_scale(output: KernelTensor, log_place: str, value_place: str) -> None:
    """Refuse an output scale that is not 2^-15."""
    exponent = checked_log2(output.scale)
    ensure(exponent is not None, log_place, "CheckedLog2(output->params.scale, &output_scale_log2_rounded)")
    assert exponent is not None, "the check above raises"
    ensure_eq(exponent, -15, value_place, "output_scale_log2_rounded", "-kOutputFractionalBits")


MODELS: tuple[OpModel, ...] = (
    OpModel("RELU", None, op_data("ReluOpData"), _prepare_relu, _RELU),
    OpModel("RELU6", None, op_data("Relu6OpData"), _prepare_relu6, _RELU),
    OpModel("LEAKY_RELU", "TfLiteLeakyReluParams", op_data("LeakyReluOpData"), _prepare_leaky_relu, _LEAKY),
    OpModel("PRELU", None, op_data("PreluParams"), _prepare_prelu, _PRELU),
    OpModel("HARD_SWISH", None, op_data("HardSwishParams"), _prepare_hard_swish, _SWISH),
    OpModel("ELU", None, op_data("elu.OpData"), _prepare_elu, _ELU),
    OpModel("LOGISTIC", None, op_data("OpDataLogistic"), _prepare_logistic, _LOGISTIC),
    OpModel("TANH", None, op_data("tanh.OpData"), _prepare_tanh, _TANH),
)
