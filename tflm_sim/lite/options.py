"""What the runtime refuses of an operator's options while it reads a model.

Source: tflite/core/api/flatbuffer_conversions.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.model.types import Operator, TensorType

_LARGEST_RANK = 8
_LSTM_KERNELS = _WEIGHTS_FORMATS = (0, 1)
_KNOWN_TYPES = frozenset(TensorType)
_TYPES = {
    "ARG_MAX": ("output_type",),
    "ARG_MIN": ("output_type",),
    "CAST": ("in_data_type", "out_data_type"),
    "CONV_2D": ("quantized_bias_type",),
    "FULLY_CONNECTED": ("quantized_bias_type",),
    "HASHTABLE": ("key_dtype", "value_dtype"),
    "SHAPE": ("out_type",),
    "TRANSPOSE_CONV": ("quantized_bias_type",),
}
_VECTORS = {"RESHAPE": "new_shape", "SQUEEZE": "squeeze_dims"}


def refusal(op: str, operator: Operator) -> str | None:
    """Return what the runtime says of a builtin operator's options, None when it takes them."""
    options = operator.options
    if op in _VECTORS:
        sizes = options.get(_VECTORS[op]) or ()
        if isinstance(sizes, tuple) and len(sizes) > _LARGEST_RANK:
            return f"Found too many dimensions in the input array of operation '{op.lower()}'.\n"
    if op == "LSTM" and not options:
        return "No valid LSTM builtin options exist"
    if op == "LSTM" and options["kernel_type"] not in _LSTM_KERNELS:
        return f"Unhandled LSTM kernel type: {options['kernel_type']}"
    if op == "FULLY_CONNECTED" and options and options["weights_format"] not in _WEIGHTS_FORMATS:
        return "Unhandled fully-connected weights format."
    for name in _TYPES.get(op, ()):
        kind = options.get(name, 0)
        if kind not in _KNOWN_TYPES:
            return f"Unsupported data type {kind} in tensor\n"
    if op == "BUCKETIZE" and options and options.get("boundaries") is None:
        return "boundaries array not provided for operation 'bucketize'.\n"
    if op == "STABLEHLO_COMPOSITE" and not options:
        return "Could not get 'stablehlo.composite' operation parameters."
    if op == "STABLEHLO_COMPOSITE":
        for name in ("name", "composite_attributes"):
            if options.get(name) is None:
                return f"'stablehlo.composite' missing required option '{name}'."
    return None
