"""The runtime's numbers and names of tensor types, which its messages show (TfLiteType)."""

from __future__ import annotations

from functools import partial

from tflm_sim.model import element_types
from tflm_sim.model.types import TensorType

BOOL, STRING, RESOURCE, VARIANT = TensorType.BOOL, TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT
FLOAT16, FLOAT32, FLOAT64, BFLOAT16 = TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64, TensorType.BFLOAT16
COMPLEX64, COMPLEX128, INT2, INT4 = TensorType.COMPLEX64, TensorType.COMPLEX128, TensorType.INT2, TensorType.INT4
INT8, INT16, INT32, INT64 = TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.INT64
UINT4, UINT8, UINT16, UINT32 = TensorType.UINT4, TensorType.UINT8, TensorType.UINT16, TensorType.UINT32
UINT64 = TensorType.UINT64

STORABLE = (BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64)
"""Types whose values are computed while nodes are prepared."""

type_name = partial(element_types.type_name, unknown="NOTYPE")
"""The runtime's name of a type, which ``%s`` prints (TfLiteTypeGetName)."""
