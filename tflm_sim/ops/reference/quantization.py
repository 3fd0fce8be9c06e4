"""The quantization arithmetic that kernels share, as far as it decides whether Prepare succeeds.

Multipliers and shifts end in OpData and move no byte, so most of the arithmetic needs no model: ``QuantizeMultiplier``
accepts every value. What remains are the ENSUREs of ``kernel_util.cc`` and the CHECKs that halt the device when a scale
is missing (0.0), negative or not finite. Scales are 32-bit floats: a ``float`` expression upstream is rounded to 32
bits here, a ``double`` one is not.

Source: tensorflow/lite/kernels/kernel_util.cc, tensorflow/lite/kernels/internal/quantization_util.cc @ 90b983c.
"""

from __future__ import annotations

import math
import struct

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference.node_checks import int_option
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import abort, dim, ensure, ensure_eq, fail

_KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"
_QUANTIZATION_UTIL = "tensorflow/lite/kernels/internal/quantization_util.cc"

ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU_N1_TO_1, ACTIVATION_RELU6 = 0, 1, 2, 3
_BOUNDS: dict[int, tuple[float, ...]] = {
    ACTIVATION_RELU: (0.0,),
    ACTIVATION_RELU6: (0.0, 6.0),
    ACTIVATION_RELU_N1_TO_1: (-1.0, 1.0),
}
_X86_ABIS = ("lp64", "i386")


def fused_activation(node: Node, table: str) -> int:
    """Return ``ConvertActivation`` of the builtin options: 0 for an unknown value and for a file without ``table``."""
    activation = int_option(node, table, "fused_activation_function")
    return activation if 0 <= activation <= 5 else ACTIVATION_NONE


def float32(value: float) -> float:
    """Return ``value`` rounded to a 32-bit float."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def divide(dividend: float, divisor: float) -> float:
    """Return the IEEE 754 quotient: infinite or not a number where Python would raise."""
    if divisor:
        return dividend / divisor
    if not dividend or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


def is_affine(tensor: KernelTensor) -> int:
    """Return ``quantization.type``: 1 is kTfLiteAffineQuantization, 0 kTfLiteNoQuantization."""
    return int(tensor.affine is not None)


def ensure_affine(tensor: KernelTensor, place: str, name: str) -> None:
    """TF_LITE_ENSURE_EQ(context, <name>->quantization.type, kTfLiteAffineQuantization)."""
    ensure_eq(is_affine(tensor), 1, place, f"{name}->quantization.type", "kTfLiteAffineQuantization")


def ensure_not_quantized(tensor: KernelTensor, place: str, name: str) -> None:
    """TF_LITE_ENSURE_EQ(context, <name>->quantization.type, kTfLiteNoQuantization)."""
    ensure_eq(is_affine(tensor), 0, place, f"{name}->quantization.type", "kTfLiteNoQuantization")


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


def check_smaller_than_one(node: Node, *multipliers: float) -> None:
    """``QuantizeMultiplierSmallerThanOneExp`` of each: halts unless 0 < multiplier < 1 (and its rounded value too)."""
    for multiplier in multipliers:
        if not 0.0 < multiplier < 1.0 or quantize_multiplier(node, multiplier)[1] > 0:
            raise abort(_QUANTIZATION_UTIL, f"0 < {multiplier} < 1")


def softmax_scaling(node: Node, beta: float, input_scale: float) -> tuple[int, int]:
    """Return ``PreprocessSoftmaxScaling`` with 5 integer bits: halts unless beta * scale is above 2^-26."""
    multiplier = beta * input_scale * 2.0**26
    limit = 2.0**31 - 1
    multiplier = limit if limit < multiplier else multiplier
    if not multiplier > 1.0:
        raise abort(_QUANTIZATION_UTIL, f"{multiplier} > 1")
    return quantize_multiplier(node, multiplier)


def checked_log2(value: float) -> int | None:
    """Return ``CheckedLog2``: the exponent of a 32-bit float that is nearly a power of two, else None."""
    if not 0.0 < value < math.inf:
        return None
    log2 = float32(float32(math.log(value)) * float32(1.0 / float32(math.log(2.0))))
    rounded = math.floor(abs(log2) + 0.5) * (1 if log2 >= 0 else -1)
    return rounded if abs(float32(log2 - rounded)) < float32(1e-3) else None


def activation_range_error(activation: int, output_type: int, output_scale: float) -> str | None:
    """Return what ``CalculateActivationRangeQuantized`` prints when it fails, None when it succeeds."""
    if output_type not in (TensorType.UINT8, TensorType.INT8, TensorType.INT16):
        return f"{_KERNEL_UTIL}:405 false was not true."
    for bound in _BOUNDS.get(activation, ()):
        if not -(2.0**31) <= float32(divide(bound, output_scale)) <= 2.0**31:
            return f"{_KERNEL_UTIL}:349 no_integer_overflow_from_quantization was not true."
    return None


def check_activation_range(activation: int, output: KernelTensor) -> None:
    """``CalculateActivationRangeQuantized``, whose failure the kernel passes on."""
    error = activation_range_error(activation, output.type, output.scale)
    if error is not None:
        raise fail(error)


def product_scale_error(input_scale: float, filter_scale: float) -> str | None:
    """Return what ``GetQuantizedConvolutionMultipler`` without a bias prints for a negative product of scales."""
    product_is_valid = float32(input_scale * filter_scale) >= 0
    return None if product_is_valid else f"{_KERNEL_UTIL}:335 input_product_scale >= 0 was not true."


def check_product_scale(input_scale: float, filter_scale: float) -> None:
    """``GetQuantizedConvolutionMultipler`` without a bias, whose failure the kernel passes on."""
    error = product_scale_error(input_scale, filter_scale)
    if error is not None:
        raise fail(error)


def check_convolution_multiplier(
    tensor: KernelTensor, filter_tensor: KernelTensor, bias: KernelTensor | None, output_scale: float
) -> None:
    """``GetQuantizedConvolutionMultipler``: the bias scale must be near the product of input and filter scales."""
    if bias is not None:
        difference = abs(tensor.scale * filter_tensor.scale - bias.scale)
        near = divide(difference, output_scale) <= 0.02
        ensure(near, f"{_KERNEL_UTIL}:322", "scale_diff / output_scale <= 0.02")
    check_product_scale(tensor.scale, filter_tensor.scale)


def check_convolution_quantization(
    tensor: KernelTensor,
    filter_tensor: KernelTensor,
    bias: KernelTensor | None,
    output: KernelTensor,
    *,
    activation: int,
    channel_count: int,
) -> None:
    """``PopulateConvolutionQuantizationParams``: per channel or per tensor, ``channel_count`` output channels."""
    ensure_affine(tensor, f"{_KERNEL_UTIL}:221", "input")
    ensure_affine(filter_tensor, f"{_KERNEL_UTIL}:223", "filter")
    assert filter_tensor.affine is not None, "ensure_affine raises without quantization"
    if len(filter_tensor.affine.scale) > 1:
        _check_per_channel(tensor, filter_tensor, channel_count)
    if tensor.type == TensorType.UINT8:
        check_convolution_multiplier(tensor, filter_tensor, bias, output.scale)
    if tensor.type in (TensorType.INT8, TensorType.UINT8, TensorType.INT16):
        check_activation_range(activation, output)


def _check_per_channel(tensor: KernelTensor, filter_tensor: KernelTensor, channel_count: int) -> None:
    """The checks of a filter with more than one scale."""
    assert filter_tensor.affine is not None, "the caller saw its scales"
    ensure(
        tensor.type in (TensorType.INT8, TensorType.INT16),
        f"{_KERNEL_UTIL}:239",
        "input->type == kTfLiteInt8 || input->type == kTfLiteInt16",
    )
    ensure(
        filter_tensor.type in (TensorType.INT8, TensorType.INT4),
        f"{_KERNEL_UTIL}:241",
        "filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4",
    )
    scale_count = len(filter_tensor.affine.scale)
    ensure_eq(scale_count, channel_count, f"{_KERNEL_UTIL}:243", "affine_quantization->scale->size", "num_channels")
    ensure_eq(
        channel_count,
        dim(filter_tensor, filter_tensor.affine.quantized_dimension, f"{_KERNEL_UTIL}:244"),
        f"{_KERNEL_UTIL}:244",
        "num_channels",
        "filter->dims->data[affine_quantization->quantized_dimension]",
    )
