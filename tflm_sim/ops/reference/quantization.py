"""The quantization arithmetic that kernels share, as far as it decides whether Prepare succeeds.

Multipliers and shifts end in OpData and move no byte, so most of the arithmetic needs no model: ``QuantizeMultiplier``
accepts every value. What remains are the ENSUREs of ``kernel_util.cc`` and the CHECKs that halt the device when a scale
is missing (0.0), negative or not finite. Scales are 32-bit floats: a ``float`` expression upstream is rounded to 32
bits here, a ``double`` one is not.

Source: tensorflow/lite/kernels/kernel_util.cc, tensorflow/lite/kernels/internal/quantization_util.cc @ 90b983c.
"""

from __future__ import annotations

import math

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import halt
from tflm_sim.units import float32

_KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"
QUANTIZATION_UTIL = "tensorflow/lite/kernels/internal/quantization_util.cc"

ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU_N1_TO_1, ACTIVATION_RELU6 = 0, 1, 2, 3
_BOUNDS: dict[int, float] = {ACTIVATION_RELU: 0.0, ACTIVATION_RELU6: 6.0, ACTIVATION_RELU_N1_TO_1: 1.0}
"""The largest value of an activation: where that fits, its other bound does."""
_MAX_STEPS = 2.0**31 + 128
"""The largest number whose ``float`` is 2^31."""
_QUANTIZED = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)
_X86_ABIS = ("lp64", "i386")


def divide(dividend: float, divisor: float) -> float:
    """Return the IEEE 754 quotient: infinite or not a number where Python would raise."""
    if divisor:
        return dividend / divisor
    if not dividend or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def truncate_to_int32(node: Node, value: float) -> int:
    """Return ``static_cast<int32_t>(value)``, undefined in C out of range: x86 gives the minimum, others saturate."""
    if math.isfinite(value) and -(2**31) <= int(value) < 2**31:
        return int(value)
    if node.target.abi.name in _X86_ABIS:
        return -(2**31)
    return 0 if math.isnan(value) else 2**31 - 1 if value > 0 else -(2**31)


def quantize_multiplier(node: Node, multiplier: float) -> tuple[int, int]:
    """Return ``QuantizeMultiplier``: a 31-bit fixed point multiplier and its left shift. It never fails.

    What an infinite or invalid multiplier becomes is the compiler's choice: 0 on x86; on ARM, libgcc turns plus
    infinity into -1 and minus infinity into 1.
    """
    if not math.isfinite(multiplier):
        if node.target.abi.name in _X86_ABIS or math.isnan(multiplier):
            return 0, 0
        return (-1 if multiplier > 0 else 1), 0
    fraction, shift = math.frexp(multiplier)
    fixed = int(math.copysign(math.floor(abs(fraction) * 2**31 + 0.5), fraction))
    if fixed == 2**31:
        return 2**30, shift + 1
    return (fixed, shift) if shift >= -31 else (0, 0)


def check_smaller_than_one(*multipliers: float) -> None:
    """``QuantizeMultiplierSmallerThanOneExp`` of each: halts unless 0 < multiplier < 1, rounded to 31 bits too."""
    for multiplier in multipliers:
        if not (multiplier > 0.0 and multiplier * 2**31 + 0.5 < 2**31):
            raise halt(QUANTIZATION_UTIL, f"0 < {multiplier} < 1")


def softmax_scaling(node: Node, beta: float, input_scale: float) -> tuple[int, int]:
    """Return ``PreprocessSoftmaxScaling`` with 5 integer bits: halts unless beta * scale is above 2^-26."""
    multiplier = beta * input_scale * 2.0**26
    limit = 2.0**31 - 1
    multiplier = limit if limit < multiplier else multiplier
    if not multiplier > 1.0:
        raise halt(QUANTIZATION_UTIL, f"{multiplier} > 1")
    return quantize_multiplier(node, multiplier)


def checked_log2(value: float) -> int | None:
    """Return ``CheckedLog2``: the exponent of a 32-bit float that is nearly a power of two, else None."""
    if not 0.0 < value < math.inf:
        return None
    log2 = float32(float32(math.log(value)) * float32(1.0 / float32(math.log(2.0))))
    rounded = math.floor(abs(log2) + 0.5) * (1 if log2 >= 0 else -1)
    return rounded if abs(float32(log2 - rounded)) < float32(1e-3) else None


def check_activation_range(node: Node, activation: int, output: KernelTensor) -> None:
    """``CalculateActivationRangeQuantized``, whose failure most kernels pass on."""
    if activation in _BOUNDS or output.type not in _QUANTIZED:
        node.check_tensors(_activation_range, output, activation=activation)


def _activation_range(node: Node, output: KernelTensor, activation: int) -> None:
    ensure_activation_range(node, activation, output.type, output.scale)


def ensure_activation_range(node: Node, activation: int, output_type: int, output_scale: float) -> None:
    """The same for an output that need not be a tensor of the model."""
    if output_type not in _QUANTIZED:
        Kernel(node, _KERNEL_UTIL).ensure(False, "false")
    bound = _BOUNDS.get(activation)
    if bound is not None and not abs(divide(bound, output_scale)) <= _MAX_STEPS:
        Kernel(node, _KERNEL_UTIL).ensure(False, "no_integer_overflow_from_quantization")


def check_product_scale(node: Node, input_scale: float, filter_scale: float) -> None:
    """``GetQuantizedConvolutionMultipler`` without a bias, whose failure most kernels pass on."""
    Kernel(node, _KERNEL_UTIL).ensure(float32(input_scale * filter_scale) >= 0, "input_product_scale >= 0")


def check_convolution_multiplier(
    node: Node, tensor: KernelTensor, filter_tensor: KernelTensor, bias: KernelTensor | None, output_scale: float
) -> None:
    """``GetQuantizedConvolutionMultipler``: the bias scale must be near the product of input and filter scales."""
    if bias is not None:
        difference = abs(tensor.scale * filter_tensor.scale - bias.scale)
        near = divide(difference, output_scale) <= 0.02
        Kernel(node, _KERNEL_UTIL).ensure(near, "scale_diff / output_scale <= 0.02")
    check_product_scale(node, tensor.scale, filter_tensor.scale)


def check_convolution_quantization(
    node: Node,
    tensor: KernelTensor,
    filter_tensor: KernelTensor,
    bias: KernelTensor | None,
    output: KernelTensor,
    *,
    activation: int,
    channel_count: int,
) -> None:
    """``PopulateConvolutionQuantizationParams``: per channel or per tensor, ``channel_count`` output channels."""
    util = Kernel(node, _KERNEL_UTIL)
    util.affine(tensor, "input")
    util.affine(filter_tensor, "filter")
    affine = filter_tensor.affine
    if affine is not None and affine.scale_count > 1:
        util.one_of(tensor.type, (TensorType.INT8, TensorType.INT16), "input->type")
        if util.has("filter_int4"):
            util.one_of(filter_tensor.type, (TensorType.INT8, TensorType.INT4), "filter->type")
        else:
            util.is_c_type(filter_tensor, TensorType.INT8, "filter")
        util.ensure_eq(affine.scale_count, channel_count, "affine_quantization->scale->size", "num_channels")
        size = util.dim(filter_tensor, affine.quantized_dimension)
        text = "filter->dims->data[affine_quantization->quantized_dimension]"
        util.ensure_eq(channel_count, size, "num_channels", text)
    if tensor.type == TensorType.UINT8:
        check_convolution_multiplier(node, tensor, filter_tensor, bias, output.scale)
    if tensor.type in _QUANTIZED:
        check_activation_range(node, activation, output)
