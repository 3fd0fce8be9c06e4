"""What several kernels ask of the scales of what they quantize.

Source: tflite/kernels/kernel_util.cc PopulateConvolutionQuantizationParams, GetQuantizedConvolutionMultipler,
CalculateActivationRangeQuantized @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import math

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.units import float32

_FILE = "kernel_util.cc"
_QUANTIZED = (t.UINT8, t.INT8, t.INT16)
_BOUNDS = {1: (0.0,), 2: (-1.0, 1.0), 3: (0.0, 6.0)}
"""The bounds of each fused activation that has some, in the order in which they are quantized."""

_MOST = 2**31 + 128
"""The largest quotient that is rounded to a float of 32 bits not above 2**31."""


def check_activation(call: PrepareCall, output: TfLiteTensor) -> None:
    """Refuse a fused activation whose bounds, in steps of the output's scale, do not fit 32 bits."""
    here = call.elsewhere(_FILE)
    here.ensure(output.type in _QUANTIZED, "false")
    for bound in _BOUNDS.get(call.activation, ()):
        here.ensure(abs(_quotient(bound, output.scale)) <= _MOST, "no_integer_overflow_from_quantization")


def check_multiplier(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, bias: TfLiteTensor | None, output: TfLiteTensor
) -> None:
    """Refuse a layer whose bias has another scale than its products."""
    here = call.elsewhere(_FILE)
    if bias is not None:
        difference = abs(value.scale * weights.scale - bias.scale)
        here.ensure(_quotient(difference, output.scale) <= 0.02, "scale_diff / output_scale <= 0.02")
    here.ensure(float32(value.scale * weights.scale) >= 0, "input_product_scale >= 0")


def check_convolution(
    call: PrepareCall,
    value: TfLiteTensor,
    weights: TfLiteTensor,
    bias: TfLiteTensor | None,
    output: TfLiteTensor,
    channels: int,
) -> None:
    """Refuse the scales of a convolution that do not fit its operands."""
    here = call.elsewhere(_FILE)
    here.affine(value, "input")
    here.affine(weights, "filter")
    if len(weights.scales) > 1 and weights.quantization is not None:
        here.ensure(value.type in (t.INT8, t.INT16), "input->type == kTfLiteInt8 || input->type == kTfLiteInt16")
        here.ensure(weights.type in (t.INT8, t.INT4), "filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4")
        here.ensure_eq(len(weights.scales), channels, "affine_quantization->scale->size", "num_channels")
        size = weights.shape[weights.quantization.quantized_dimension]
        here.ensure_eq(channels, size, "num_channels", "filter->dims->data[affine_quantization->quantized_dimension]")
    if value.type == t.UINT8:
        check_multiplier(call, value, weights, bias, output)
    if value.type in _QUANTIZED:
        check_activation(call, output)


def _quotient(one: float, other: float) -> float:
    """Return what a machine divides: infinite or no number where ``other`` is 0."""
    if other:
        return one / other
    return math.copysign(math.inf, one) * math.copysign(1.0, other) if one else math.nan
