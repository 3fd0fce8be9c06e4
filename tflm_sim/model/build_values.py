"""Conversions for the builder's arguments: numbers to bytes, scales to a quantization, names to enum values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import pack

from tflm_sim.errors import UsageError
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.schema import ENUMS, OptionField, option_fields
from tflm_sim.model.types import OptionValue, Quantization, TensorType

Data = bytes | bytearray | memoryview | Sequence[int] | Sequence[float]
"""Constant data: bytes as they are in the file, or numbers that the tensor's type encodes."""


def affine_quantization(
    scale: float | Sequence[float] | None, zero_point: int | Sequence[int] | None, quantized_dimension: int
) -> Quantization | None:
    """Return affine quantization, None without scales; zero points are zero when left out."""
    if scale is None:
        return None
    scales = (scale,) if isinstance(scale, int | float) else tuple(scale)
    if zero_point is None:
        zero_point = (0,) * len(scales)
    zero_points = (zero_point,) if isinstance(zero_point, int) else tuple(zero_point)
    return Quantization(scales, zero_points, quantized_dimension)


def encode_data(data: Data, type: int) -> bytes:
    """Return constant data as the file stores it.

    Raises:
        UsageError: Numbers of a type that has no encoding here.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if type == TensorType.INT4:
        return _pack_int4([int(value) for value in data])
    if type not in STRUCT_CODES:
        raise UsageError(f"numbers of tensor type {type} have no encoding here; give bytes")
    return pack(f"<{len(data)}{STRUCT_CODES[type]}", *data)


def _pack_int4(values: Sequence[int]) -> bytes:
    """Return two values a byte, the first in the low half."""
    padded = [value & 0xF for value in values] + [0] * (len(values) % 2)
    return bytes(low | high << 4 for low, high in zip(padded[::2], padded[1::2], strict=True))


def complete_options(table: str, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Return all fields of an options table: the given ones, defaults for the others.

    Raises:
        UsageError: The table has no such field, or its enum no such name.
    """
    fields = {field.name: field for field in option_fields(table)}
    unknown = sorted(given.keys() - fields.keys())
    if unknown:
        raise UsageError(f"{table or 'an operator without options'} has no field {', '.join(unknown)}")
    return {name: _option(field, given.get(name, field.default)) for name, field in fields.items()}


def _option(field: OptionField, value: OptionValue) -> OptionValue:
    """Return an option's value as the Model keeps it: enum names as numbers, vectors as tuples."""
    if field.enum and isinstance(value, str):
        names = ENUMS[field.enum].names
        if value not in names:
            raise UsageError(f"{field.enum} has no value '{value}'; it has {', '.join(names)}")
        return names.index(value)
    if field.type == "bool" and not field.is_vector:
        return bool(value)
    return tuple(value) if isinstance(value, list) else value
