"""What is known of each element type of a tensor: the one table that every room asks.

Columns: the name in the schema (``TensorType``), the number in ``TfLiteType`` (what ``%d`` prints), the constant's name
after ``kTfLite``, the bits of an element (0: no fixed size), and its letter in Python's ``struct`` ("-": none).

Source: tensorflow/compiler/mlir/lite/core/c/tflite_types.h, tensorflow/lite/micro/memory_helpers.cc @ 90b983c;
tflite/util.cc GetSizeOfType @ google-ai-edge/LiteRT f67457790.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType

_TABLE = """
    FLOAT32        1  Float32        32  f
    INT32          2  Int32          32  i
    UINT8          3  UInt8           8  B
    INT64          4  Int64          64  q
    STRING         5  String          0  -
    BOOL           6  Bool            8  ?
    INT16          7  Int16          16  h
    COMPLEX64      8  Complex64      64  -
    INT8           9  Int8            8  b
    FLOAT16       10  Float16        16  e
    FLOAT64       11  Float64        64  d
    COMPLEX128    12  Complex128    128  -
    UINT64        13  UInt64         64  Q
    RESOURCE      14  Resource        0  -
    VARIANT       15  Variant         0  -
    UINT32        16  UInt32         32  I
    UINT16        17  UInt16         16  H
    INT4          18  Int4            4  -
    BFLOAT16      19  BFloat16       16  -
    INT2          20  Int2            2  -
    UINT4         21  UInt4           4  -
    FLOAT8_E4M3FN 22  Float8_E4M3FN   8  -
    FLOAT8_E5M2   23  Float8_E5M2     8  -
"""
_ROWS = [line.split() for line in _TABLE.split("\n") if line]

TYPE_NUMBERS: dict[int, int] = {TensorType[row[0]]: int(row[1]) for row in _ROWS}
"""``TfLiteType``, which counts differently from the file's ``TensorType``."""

CONSTANT_NAMES: dict[int, str] = {TensorType[row[0]]: f"kTfLite{row[2]}" for row in _ROWS}
"""The constants' names in upstream's sources."""

ELEMENT_BITS: dict[int, int] = {TensorType[row[0]]: int(row[3]) for row in _ROWS if row[3] != "0"}
"""Bits of an element, for types that have a fixed size."""

STRUCT_CODES: dict[int, str] = {TensorType[row[0]]: row[4] for row in _ROWS if row[4] != "-"}
"""Letters of Python's ``struct`` for types whose values are whole numbers of bytes; numpy knows the same letters."""

INTEGER_LIMITS: dict[int, tuple[int, int]] = {
    one: (0, 2**bits - 1) if code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for one, code in STRUCT_CODES.items()
    if code in "bBhHiIqQ" and (bits := ELEMENT_BITS[one])
}
"""The least and the greatest value of an integer type."""

C_TYPES: dict[int, str] = {
    TensorType.FLOAT32: "float",
    **{one: f"{'int' if low else 'uint'}{ELEMENT_BITS[one]}_t" for one, (low, _) in INTEGER_LIMITS.items()},
}
"""The names of C's types."""


def type_number(tensor_type: int) -> int:
    """Return the ``TfLiteType`` of a ``TensorType`` number, as ``%d`` prints it; 0 (no type) for an unknown one."""
    return TYPE_NUMBERS.get(tensor_type, 0)


def type_name(tensor_type: int, unknown: str = "Unknown type") -> str:
    """Return ``TfLiteTypeGetName`` of a ``TensorType`` number, as ``%s`` prints it."""
    return TensorType(tensor_type).name if tensor_type in TYPE_NUMBERS else unknown
