"""RELU, RELU6, LEAKY_RELU, PRELU, HARD_SWISH, ELU, LOGISTIC and TANH.

Each keeps an OpData from Init and takes input and output as temps (TANH the input twice, RELU6 no output).

Source: tensorflow/lite/micro/kernels/{activations_common,leaky_relu_common,prelu_common,hard_swish_common,elu,
logistic_common,tanh}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import BOTH_TYPES, EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, counts, source
from tflm_sim.ops.reference.arithmetic import runtime_shape
from tflm_sim.ops.reference.quantization import checked_log2, divide, quantize_multiplier, truncate_to_int32
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import op_data
from tflm_sim.units import float32

_TANH = "tanh.cc"
_INT8, _INT16 = TensorType.INT8, TensorType.INT16


def _relu(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    if source.type == _INT16:
        k.zero_points(input=source, output=output)
    if source.type in (_INT8, _INT16):
        runtime_shape(source)
        runtime_shape(output)


def _leaky_relu(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.same_type(source, output)
    if output.type in (_INT8, _INT16):
        k.op_data("data")


def _prelu(k: Kernel, source: KernelTensor, alpha: KernelTensor, output: KernelTensor) -> None:
    if output.type == _INT16:
        k.one_of(alpha.type, (_INT8,), "alpha->type")


def _hard_swish(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    if source.type == _INT8:
        input_scale = float32(source.scale / 128)
        exponent = _down_scaled(k, float32(divide(input_scale, output.scale)))
        k.ensure(exponent <= 0, "params->output_multiplier_exponent <= 0")
        _down_scaled(k, float32(input_scale / (3 / 32768)))


def _down_scaled(k: Kernel, multiplier: float) -> int:
    """``QuantizeMultiplier``, then ``DownScaleInt32ToInt16Multiplier``, which halts below 0; return the exponent."""
    fixed, exponent = quantize_multiplier(k.node, multiplier)
    k.check(fixed >= 0, "multiplier_int32_t >= 0")
    return exponent


def _elu(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.same_type(source, output)
    if source.type == _INT8:
        k.op_data("data")


def _logistic(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.same_type(source, output)
    if source.type == _INT8:
        minimum = "std::numeric_limits<int8_t>::min()"
        k.ensure_eq(output.zero_point, -128, "output->params.zero_point", minimum)
    if source.type == _INT16:
        _check_int16_table(k, source, output, direct_shifts=(0,))


def _prepare_tanh(node: Node) -> Steps[None]:
    k, inner = Kernel(node, _TANH, "TanhPrepare"), Kernel(node, _TANH, "CalculateArithmeticOpData")
    k.op_data()
    first = yield from k.input(0)
    inner.counts(inputs=1)
    source = yield from inner.input(0)
    output = yield from inner.output(0)
    inner.same_type(source, output)
    if source.type == _INT16:
        _check_int16_table(inner, source, output, direct_shifts=(0, 1))
    yield from k.free(source, output)
    yield from k.free(first)


def _check_int16_table(
    k: Kernel, source: KernelTensor, output: KernelTensor, *, direct_shifts: tuple[int, ...]
) -> None:
    """Check that a table of 16-bit values can be used: no zero points, an input scale that fits, 2^-15 as the output's.

    The multiplier to the table's input scale, 1 / (3 * 4096), has to fit 16 bits. A scale of 2^(shift - 12) for one of
    ``direct_shifts`` needs no multiplier. Smaller scales are shifted up to fit.
    """
    k.zero_points(input=source, output=output)
    exponent = checked_log2(source.scale)
    if exponent is None or 12 + exponent not in direct_shifts:
        multiplier = source.scale * 4096.0 * 3.0
        fits = not multiplier > 32767.0 / 2.0 or truncate_to_int32(k.node, multiplier) <= 32767
        k.check(fits, "data->input_multiplier <= 32767")
    exponent = checked_log2(output.scale)
    k.ensure(exponent is not None, "CheckedLog2(output->params.scale, &output_scale_log2_rounded)")
    k.ensure_eq(exponent or 0, -15, "output_scale_log2_rounded", "-kOutputFractionalBits")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "RELU",
        init=op_data("ReluOpData"),
        prepare=Prepare("activations_common.cc", OP_DATA, body=_relu, function="ReluPrepare"),
    ),
    OpModel(
        "RELU6",
        init=op_data("Relu6OpData"),
        prepare=Prepare("activations_common.cc", OP_DATA, takes=(INPUT,), function="Relu6Prepare"),
    ),
    OpModel(
        "LEAKY_RELU",
        "TfLiteLeakyReluParams",
        op_data("LeakyReluOpData"),
        Prepare("leaky_relu_common.cc", counts(1), body=_leaky_relu),
    ),
    OpModel(
        "PRELU",
        init=op_data("PreluParams"),
        prepare=Prepare("prelu_common.cc", OP_DATA, takes=(INPUT, source(1, "alpha"), OUTPUT), body=_prelu),
    ),
    OpModel(
        "HARD_SWISH",
        init=op_data("HardSwishParams"),
        prepare=Prepare("hard_swish_common.cc", OP_DATA, counts(1), body=_hard_swish),
    ),
    OpModel("ELU", init=op_data("elu.OpData"), prepare=Prepare("elu.cc", counts(1), body=_elu)),
    OpModel("LOGISTIC", init=op_data("OpDataLogistic"), prepare=Prepare("logistic_common.cc", OP_DATA, body=_logistic)),
    OpModel("TANH", init=op_data("tanh.OpData"), prepare=_prepare_tanh),
)

_SUPPORTED = "Only float32 is supported currently, got {name}"
_LEAKY_RELU = "Only float32, int8 are supported by LEAKY_RELU, got {name}."

EVALS: tuple[EvalRow, ...] = (
    known_types(
        "RELU RELU6", "i0", "FLOAT32 INT8 INT16", "Only float32/int8/int16 is supported currently, got {name}", 1623
    ),
    known_types("RELU6", "i0", "FLOAT32 INT8 INT16", _SUPPORTED, 1535),
    known_types("RELU RELU6", "i0", "FLOAT32 INT8", _SUPPORTED),
    known_types("ELU", "i0", "FLOAT32 INT8", "ELU only supports float32 and int8 currently, got {name}."),
    known_types("HARD_SWISH", "i0", "FLOAT32 INT8", "Unsupported type {name}", 202),
    known_types("HARD_SWISH", "i0", "FLOAT32 INT8", "Only float32/int8_t/uint8_t are supported currently, got {name}"),
    known_types("LEAKY_RELU", "i0", "FLOAT32 INT8 INT16", _LEAKY_RELU, 139),
    known_types("LEAKY_RELU", "i0", "FLOAT32 INT8", _LEAKY_RELU),
    known_types("LOGISTIC", "i0", "FLOAT32 INT8 INT16", BOTH_TYPES, 442),
    known_types("LOGISTIC", "i0", "FLOAT32 INT8", BOTH_TYPES),
    known_types("PRELU", "i0", "FLOAT32 INT8 INT16", "Input type '{name}' is not supported.", 1666),
    known_types("PRELU", "i0", "FLOAT32 INT8", "Only float32 and uint8_t are supported currently, got ?."),
    known_types("TANH", "i0", "FLOAT32 INT16 INT8", BOTH_TYPES),
)
