"""What the runtime refuses of an operator's options while it reads a model.

Source: tflite/core/api/flatbuffer_conversions.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.model.types import Operator

_LARGEST_RANK = 8
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
    if op == "BUCKETIZE" and options and options.get("boundaries") is None:
        return "boundaries array not provided for operation 'bucketize'.\n"
    if op == "STABLEHLO_COMPOSITE" and options:
        for name in ("name", "composite_attributes"):
            if options.get(name) is None:
                return f"'stablehlo.composite' missing required option '{name}'."
    return None
