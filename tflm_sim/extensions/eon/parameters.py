"""Builtin data as EON writes them, as the options of a .tflite file.

A struct's members come in the order of the schema's fields (``TfLiteConvParams`` and ``Conv2DOptions``), and so do its
bytes where EON writes those instead. What a vector of the schema is in a struct is an array and a count.

Source: tensorflow/lite/core/c/builtin_op_data.h, edgeimpulse/inferencing-sdk-cpp @ 919819f.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon.initializers import Declaration, Initializer
from tflm_sim.model.element_types import CONSTANT_NAMES, TYPE_NUMBERS
from tflm_sim.model.schema import OptionField, option_fields, options_of_operator
from tflm_sim.model.types import OptionValue

_ACTIVATIONS = ("None", "Relu", "ReluN1To1", "Relu6", "Tanh", "SignBit")
_CONSTANTS: dict[str, int] = {
    **{f"kTfLiteAct{name}": number for number, name in enumerate(_ACTIVATIONS)},
    "kTfLitePaddingSame": 0,
    "kTfLitePaddingValid": 1,
    "kTfLiteFullyConnectedWeightsFormatDefault": 0,
    "kTfLiteMirrorPaddingReflect": 0,
    "kTfLiteMirrorPaddingSymmetric": 1,
    **{name: number for number, name in CONSTANT_NAMES.items()},
    "false": 0,
    "true": 1,
}
"""The schema's number of a constant of the C API."""

_PADDING = {1: 0, 2: 1}
_TYPES = {number: tensor_type for tensor_type, number in TYPE_NUMBERS.items()}
_ENUMS = {"Padding": _PADDING, "TensorType": {0: 0, **_TYPES}}
"""The schema's numbers by those of the C API, of enumerations whose numbers differ."""

_COUNTED = {"ReshapeOptions": ("new_shape", 8), "SqueezeOptions": ("squeeze_dims", 8)}
"""A vector that is an array of so many numbers and their count."""
_CODES = {"bool": "?", "float": "f"}


def options_of(op: str, declared: Declaration | None) -> dict[str, OptionValue]:
    """Return the options of a builtin operator.

    Args:
        op: "CONV_2D", ...
        declared: Its builtin data: a struct, or bytes; None for an operator without any.

    Raises:
        ModelError: The data do not match the operator.
    """
    table = options_of_operator(op)
    # No SDK has parameters with a vector beside numbers: FULLY_CONNECTED's came to TFLM in October 2026.
    fields = [field for field in option_fields(table) if table in _COUNTED or not field.is_vector]
    if declared is None or not (fields or table in _COUNTED):
        return {}
    is_raw = declared.type == "uint8_t"
    if table in _COUNTED:
        return _counted(op, table, declared, is_raw=is_raw)
    values = _unpacked(op, fields, declared.items) if is_raw else declared.items
    known = [_value(op, field, value, is_raw=is_raw) for field, value in zip(fields, values, strict=False)]
    absent = [0] * (len(fields) - len(known))  # what an initializer leaves out is zero
    return {field.name: value for field, value in zip(fields, [*known, *absent], strict=True)}


def _value(op: str, field: OptionField, value: object, *, is_raw: bool) -> OptionValue:
    if isinstance(value, str) and not is_raw:
        return _constant(op, value, is_float=field.type == "float")
    number = _ENUMS.get(field.enum, {}).get(value, value) if isinstance(value, int) else value
    if not isinstance(number, int | float | bool):
        raise ModelError(f"{field.name} of {op} is not supported")
    return number


def _constant(op: str, text: str, *, is_float: bool) -> int | float:
    try:
        value = _CONSTANTS[text] if text in _CONSTANTS else float(text.rstrip("fF")) if is_float else int(text, 0)
        struct.pack("<f" if is_float else "<i", value)
        return value
    except (ValueError, OverflowError, struct.error):
        raise ModelError(f"'{text[:60]}' among the parameters of {op} is not supported") from None


def _unpacked(op: str, fields: Sequence[OptionField], items: Initializer) -> list[object]:
    """Return the members of a struct that is given by its bytes."""
    data = _bytes(op, items)
    values: list[object] = []
    at = 0
    for field in fields:
        code = _CODES.get(field.type, "i")
        size = struct.calcsize(code)
        at += -at % size
        if at + size > len(data):
            break
        values += struct.unpack_from(f"<{code}", data, at)
        at += size
    return values


def _bytes(op: str, items: Initializer) -> bytes:
    try:
        return bytes(int(item, 0) for item in items if isinstance(item, str))
    except ValueError:
        raise ModelError(f"the parameters of {op} are no bytes") from None


def _counted(op: str, table: str, declared: Declaration, *, is_raw: bool) -> dict[str, OptionValue]:
    name, most = _COUNTED[table]
    numbers: Sequence[int]
    if is_raw:
        data = _bytes(op, declared.items)
        numbers = struct.unpack(f"<{len(data) // 4}i", data[: len(data) // 4 * 4])
    else:
        flat = [inner for item in declared.items for inner in (item if isinstance(item, list) else [item])]
        numbers = [int(_constant(op, text, is_float=False)) for text in flat if isinstance(text, str)]
    count = numbers[most] if len(numbers) > most else 0
    if not 0 <= count <= most:
        raise ModelError(f"{op} has a shape of {count} dimensions")
    return {name: tuple(numbers[:count])}
