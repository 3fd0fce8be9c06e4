"""What the runtime refuses of tensors' parameters and operators' options while it reads a model, and what it keeps.

Source: tflite/core/interpreter_builder.cc ParseQuantization, ParseSparsity, tflite/core/api/flatbuffer_conversions.cc,
tflite/kernels/fully_connected.cc CreateLedgerTensor, tflite/schema/schema.fbs SparsityParameters
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.schema import QuantizationSlot, TensorSlot, options_of_operator
from tflm_sim.model.types import Model, Operator, OptionValue, Quantization, Tensor, TensorType
from tflm_sim.units import int32

_BLOCKWISE = 2


def quantization_refusal(model: Model, tensor: Tensor) -> str | None:
    """Return what the runtime says of a tensor's quantization parameters, None when it takes them."""
    quantization = tensor.quantization
    if quantization is None or quantization.details_type == _BLOCKWISE or not len(quantization.scale):
        return None
    scales, zero_points = len(quantization.scale), len(quantization.zero_point)
    if not zero_points and not _has_zero_points(model, tensor):
        return "Quantization parameters has non-null scale but null zero_point."
    if scales != zero_points:
        return (
            f"QuantizationParam has {zero_points} zero_point values and {scales} scale values. Must have same number."
        )
    return _axis_refusal(quantization.quantized_dimension, scales, tensor.dims)


def _has_zero_points(model: Model, tensor: Tensor) -> bool:
    """Return whether the file has a vector of zero points for the tensor, be it an empty one."""
    table = Table(FlatBuffer(model.source), tensor.offset).table(TensorSlot.QUANTIZATION)
    return table is not None and table.has(QuantizationSlot.ZERO_POINT)


def _axis_refusal(axis: int, scales: int, shape: tuple[int, ...]) -> str | None:
    if axis < 0 or (shape and axis >= len(shape)):
        return f"quantized_dimension must be in range [0, {len(shape)}). Was {axis}."
    if scales != 1 and shape and scales != shape[axis]:
        return (
            f"num_scales must be 1 for per-layer quantization, or {shape[axis]} for per-axis quantization, "
            f"but got {scales}."
        )
    return None


def kept_quantization(quantization: Quantization | None) -> Quantization | None:
    """Return what the runtime keeps of parameters that it takes: nothing without scales, and 32 bits of zero points."""
    if quantization is None or not len(quantization.scale):
        return None
    if all(-(2**31) <= point < 2**31 for point in quantization.zero_point):
        return quantization
    points = [int32(point) for point in quantization.zero_point]
    return Quantization(quantization.scale, points, quantization.quantized_dimension, quantization.details_type)


_TRAVERSAL_ORDER, _DIM_METADATA = 0, 2
_FORMAT, _SEGMENTS, _INDICES = 0, (2, 3), (4, 5)  # of a dimension; the slots of a union are its type and its value
_DENSE, _COMPRESSED = 0, 1
_ELEMENT_CODES = {1: "i", 2: "H", 3: "B"}  # Int32Vector, Uint16Vector, Uint8Vector


def _sparsity(model: Model, tensor: Tensor) -> Table | None:
    return Table(FlatBuffer(model.source), tensor.offset).table(TensorSlot.SPARSITY)


def sparsity_refusal(model: Model, tensor: Tensor) -> str | None:
    """Return what the runtime says of the sparsity parameters of a tensor that has some, None when it takes them."""
    table = _sparsity(model, tensor)
    dimensions = table.tables(_DIM_METADATA) if table is not None else None
    if table is None or dimensions is None or not table.has(_TRAVERSAL_ORDER):
        return "Invalid sparsity parameter."
    for index, dimension in enumerate(dimensions):
        kind = dimension.scalar(_FORMAT, SCALARS["byte"])
        if kind not in (_DENSE, _COMPRESSED):
            return f"The {index}th dimension has unknown type: {kind}."
        if kind == _COMPRESSED and None in (_numbers(dimension, _SEGMENTS), _numbers(dimension, _INDICES)):
            return f"The {index}th sparse dimension has invalid parameters."
    return None


def ledger_size(model: Model, tensor: Tensor) -> int:
    """Return the bytes of a sparse tensor's ledger, 0 when its second dimension is not compressed."""
    table = _sparsity(model, tensor)
    dimensions = table.tables(_DIM_METADATA) if table is not None else None
    if not dimensions or len(dimensions) < 2:
        return 0
    segments, indices = (len(_numbers(dimensions[1], slots) or ()) for slots in (_SEGMENTS, _INDICES))
    return max(indices + segments - 1, 0)


def _numbers(dimension: Table, slots: tuple[int, int]) -> tuple[int, ...] | None:
    """Return the segments or the indices of a dimension, None when they are not whole."""
    code = _ELEMENT_CODES.get(dimension.scalar(slots[0], SCALARS["ubyte"]))
    values = dimension.table(slots[1])
    return values.numbers(0, code) if values is not None and code else None


Options = Mapping[str, OptionValue]

_MAX_RANK = 8
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


def options_refusal(op: str, operator: Operator) -> str | None:
    """Return what the runtime says of a builtin operator's options ("" for nothing), None when it takes them."""
    options = operator.options_as(options_of_operator(op))
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
        is_long = _length(options, name) > _MAX_RANK
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
