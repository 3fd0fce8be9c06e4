"""What the runtime checks of a tensor's quantization while it reads a model; it refuses more than TFLM does.

Source: tflite/core/interpreter_builder.cc ParseQuantization @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.model.types import Quantization

_BLOCKWISE = 2


def refusal(quantization: Quantization | None, shape: tuple[int, ...]) -> str | None:
    """Return what the runtime says of a tensor's quantization parameters, None when it takes them.

    Args:
        quantization: As the file has it; None for a tensor without any.
        shape: The tensor's shape in the file.
    """
    if quantization is None or quantization.details_type == _BLOCKWISE or not len(quantization.scale):
        return None
    scales, zero_points = len(quantization.scale), len(quantization.zero_point)
    if not zero_points:
        return "Quantization parameters has non-null scale but null zero_point."
    if scales != zero_points:
        return (
            f"QuantizationParam has {zero_points} zero_point values and {scales} scale values. Must have same number."
        )
    axis = quantization.quantized_dimension
    if axis < 0 or (shape and axis >= len(shape)):
        return f"quantized_dimension must be in range [0, {len(shape)}). Was {axis}."
    if scales != 1 and shape and scales != shape[axis]:
        return (
            f"num_scales must be 1 for per-layer quantization, or {shape[axis]} for per-axis quantization, "
            f"but got {scales}."
        )
    return None


def kept(quantization: Quantization | None) -> Quantization | None:
    """Return what the runtime keeps of parameters that it takes: nothing without scales."""
    if quantization is None or not len(quantization.scale):
        return None
    return quantization
