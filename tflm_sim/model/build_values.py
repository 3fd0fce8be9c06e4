"""Conversions for the builder's arguments: numbers to bytes, scales to a quantization, names to enum values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from struct import error, pack

from tflm_sim.errors import UsageError, each_of, expect, whole_number
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.schema import ENUMS, OptionField, option_fields
from tflm_sim.model.types import OptionValue, Quantization, TensorType

Data = bytes | bytearray | memoryview | Sequence[int] | Sequence[float]
"""Constant data: bytes as they are in the file, or numbers that the tensor's type encodes."""


def whole_numbers(given: object, what: str, *, bits: int = 32) -> tuple[int, ...]:
    """Return numbers as Python's own, which a file can hold.

    Args:
        given: The numbers.
        what: Their name, for messages.
        bits: Of each, with its sign.

    Raises:
        UsageError: They are none, or out of range.
    """
    most = (1 << bits - 1) - 1
    rows = each_of(given, object, f"{what} as numbers")
    return tuple([whole_number(row, f"one of {what}", -most - 1, most) for row in rows])


def affine_quantization(
    scale: float | Sequence[float] | None, zero_point: int | Sequence[int] | None, quantized_dimension: int
) -> Quantization | None:
    """Return affine quantization, None without scales; zero points are zero when left out."""
    if scale is None:
        return None
    several = scale if isinstance(scale, Iterable) else (scale,)
    scales = tuple([expect(row, float, "scale as a number") for row in each_of(several, object, "scale as numbers")])
    if zero_point is None:
        zero_point = (0,) * len(scales)
    zero_points = zero_point if isinstance(zero_point, Iterable) else (zero_point,)
    axis = whole_number(quantized_dimension, "quantized_dimension", -(2**31), 2**31 - 1)
    return Quantization(scales, whole_numbers(zero_points, "zero_point", bits=64), axis)


def encode_data(data: Data, type: int) -> bytes:
    """Return constant data as the file stores it.

    Raises:
        UsageError: Numbers of a type that has no encoding here.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if type == TensorType.INT4:
        return _pack_int4(whole_numbers(data, "data"))
    if type not in STRUCT_CODES:
        raise UsageError(f"numbers of tensor type {type} have no encoding here; give bytes")
    numbers = each_of(data, object, "data as bytes or numbers")
    try:
        return pack(f"<{len(numbers)}{STRUCT_CODES[type]}", *numbers)
    except (error, OverflowError) as reason:
        raise UsageError(f"data of tensor type {type}: {reason}") from None


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
    unknown = sorted(map(str, expect(given, Mapping, "options by name, as a dictionary,").keys() - fields.keys()))
    if unknown:
        raise UsageError(f"{table or 'an operator without options'} has no field {', '.join(unknown)}")
    return {name: _option(field, given.get(name, field.default)) for name, field in fields.items()}


_KINDS: dict[str, type] = {"bool": bool, "float": float, "string": str}
_WORDS = {bool: "a truth value", float: "a number", int: "a whole number", str: "a text"}


def _option(field: OptionField, value: OptionValue) -> OptionValue:
    """Return an option's value as the Model keeps it: enum names as numbers, vectors as tuples."""
    if field.enum and isinstance(value, str):
        names = ENUMS[field.enum].names
        if value not in names:
            raise UsageError(f"{field.enum} has no value '{value}'; it has {', '.join(names)}")
        return names.index(value)
    kind = _KINDS.get(field.type, int)
    if value is None or isinstance(value, bytes | memoryview):
        return value
    if not field.is_vector:
        if kind is bool and isinstance(value, int):
            return bool(value)
        found: OptionValue = expect(value, kind, f"the option {field.name} as {_WORDS[kind]}")
        return found
    what = f"the option {field.name} as several of {_WORDS[kind]}"
    return tuple([expect(row, kind, what) for row in each_of(value, object, what)])
