"""What the runtime refuses of an operator's options while it reads a model.

Source: tflite/core/api/flatbuffer_conversions.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tflm_sim.model.types import Operator, OptionValue, TensorType

Options = Mapping[str, OptionValue]

_LARGEST_RANK = 8
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
"""Which options of an operator are types of tensors."""

_NEEDED = {
    "LSTM": "No valid LSTM builtin options exist",
    "STABLEHLO_CASE": "Could not get 'stablehlo.case' operation parameters.",
    "STABLEHLO_COMPOSITE": "Could not get 'stablehlo.composite' operation parameters.",
    "STABLEHLO_PAD": "Could not get 'stablehlo.pad' operation parameters.",
    "STABLEHLO_REDUCE_WINDOW": "Could not get 'stablehlo.reduce_window' operation parameters.",
}
"""What is said of an operator that has no options and needs some."""

_PADS = ("edge_padding_low", "edge_padding_high", "interior_padding")
_WINDOWS = ("window_strides", "base_dilations", "window_dilations", "padding")


def refusal(op: str, operator: Operator) -> str | None:
    """Return what the runtime says of a builtin operator's options ("" for nothing), None when it takes them."""
    options = operator.options
    if not options:
        return _NEEDED.get(op)
    check = _CHECKS.get(op)
    said = None if check is None else check(options)
    if said is not None:
        return said
    wrong = (options.get(name, 0) for name in _TYPES.get(op, ()))
    return next((f"Unsupported data type {kind} in tensor\n" for kind in wrong if kind not in _KNOWN_TYPES), None)


def _length(options: Options, name: str) -> int:
    row = options.get(name)
    return len(row) if isinstance(row, tuple) else 0


def _too_long(op: str, name: str) -> Callable[[Options], str | None]:
    def check(options: Options) -> str | None:
        is_long = _length(options, name) > _LARGEST_RANK
        return f"Found too many dimensions in the input array of operation '{op}'.\n" if is_long else None

    return check


def _lstm(options: Options) -> str | None:
    kind = options["kernel_type"]
    return None if kind in (0, 1) else f"Unhandled LSTM kernel type: {kind}"


def _fully_connected(options: Options) -> str | None:
    return None if options["weights_format"] in (0, 1) else "Unhandled fully-connected weights format."


def _bucketize(options: Options) -> str | None:
    is_there = options.get("boundaries") is not None
    return None if is_there else "boundaries array not provided for operation 'bucketize'.\n"


def _reduce_window(options: Options) -> str | None:
    return None if options["reduce_function"] in range(1, 7) else ""


def _stablehlo_pad(options: Options) -> str | None:
    is_even = len({_length(options, name) for name in _PADS}) == 1
    return None if is_even else "'stablehlo.pad' operation parameter array sizes are not consistent."


def _stablehlo_composite(options: Options) -> str | None:
    names = (name for name in ("name", "composite_attributes") if options.get(name) is None)
    return next((f"'stablehlo.composite' missing required option '{name}'." for name in names), None)


def _stablehlo_reduce_window(options: Options) -> str | None:
    rank = _length(options, "window_dimensions")
    if not rank:
        return "'window_dimensions' attribute is not optional for 'stablehlo.reduce_window' and cannot be empty."
    for name in _WINDOWS:
        count, expected = _length(options, name), 2 * rank if name == "padding" else rank
        if count not in (0, expected):
            what = f"'{name}' attribute of 'stablehlo.reduce_window' does not have the expected size"
            return f"{what} ({count} != {expected})."
    return None


_CHECKS: dict[str, Callable[[Options], str | None]] = {
    "BUCKETIZE": _bucketize,
    "FULLY_CONNECTED": _fully_connected,
    "LSTM": _lstm,
    "REDUCE_WINDOW": _reduce_window,
    "RESHAPE": _too_long("reshape", "new_shape"),
    "SQUEEZE": _too_long("squeeze", "squeeze_dims"),
    "STABLEHLO_COMPOSITE": _stablehlo_composite,
    "STABLEHLO_PAD": _stablehlo_pad,
    "STABLEHLO_REDUCE_WINDOW": _stablehlo_reduce_window,
}
