"""The runtime's numbers and names of tensor types, which its messages show (TfLiteType)."""

from __future__ import annotations

from tflm_sim.lite.graph_info import NO_TYPE
from tflm_sim.model.types import TensorType

BFLOAT16, BOOL, COMPLEX64, COMPLEX128 = (
    TensorType.BFLOAT16,
    TensorType.BOOL,
    TensorType.COMPLEX64,
    TensorType.COMPLEX128,
)
FLOAT16, FLOAT32, FLOAT64 = TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64
INT2, INT4, INT8, INT16, INT32, INT64 = (
    TensorType.INT2,
    TensorType.INT4,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
)
UINT4, UINT8, UINT16, UINT32, UINT64 = (
    TensorType.UINT4,
    TensorType.UINT8,
    TensorType.UINT16,
    TensorType.UINT32,
    TensorType.UINT64,
)
STRING, RESOURCE, VARIANT = TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT

STORABLE = (BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64)
"""Types whose values are computed while nodes are prepared."""

# In the order of the runtime's enum, which is not the schema's.
_ORDER = """
    NOTYPE FLOAT32 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT16 FLOAT64 COMPLEX128 UINT64 RESOURCE
    VARIANT UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2
"""
_NAMES = _ORDER.split()
_NUMBERS = {int(TensorType[name]) if name != "NOTYPE" else NO_TYPE: number for number, name in enumerate(_NAMES)}

CONSTANT_NAMES = {
    NO_TYPE: "kTfLiteNoType",
    FLOAT32: "kTfLiteFloat32",
    FLOAT16: "kTfLiteFloat16",
    FLOAT64: "kTfLiteFloat64",
    BFLOAT16: "kTfLiteBFloat16",
    INT4: "kTfLiteInt4",
    INT8: "kTfLiteInt8",
    INT16: "kTfLiteInt16",
    INT32: "kTfLiteInt32",
    INT64: "kTfLiteInt64",
    UINT4: "kTfLiteUInt4",
    UINT8: "kTfLiteUInt8",
    UINT32: "kTfLiteUInt32",
    UINT64: "kTfLiteUInt64",
    BOOL: "kTfLiteBool",
    STRING: "kTfLiteString",
    RESOURCE: "kTfLiteResource",
    COMPLEX64: "kTfLiteComplex64",
    COMPLEX128: "kTfLiteComplex128",
}
"""The names of types in the runtime's source, by the schema's number."""


def type_number(tensor_type: int) -> int:
    """Return the runtime's number of a type, which ``%d`` prints."""
    return _NUMBERS.get(tensor_type, 0)


def type_name(tensor_type: int) -> str:
    """Return the runtime's name of a type, which ``%s`` prints (TfLiteTypeGetName)."""
    return _NAMES[type_number(tensor_type)]
