"""The runtime's view of tensors: ``EvalTensor``, whose shape a kernel's Prepare may still change.

Invariant: ``shape`` starts as the file's shape (a scalar when the file has none) and only a ``SetShape`` request of a
Prepare changes it; ``byte_length`` follows it, which is what the memory planner reads.

Source: tensorflow/lite/micro/micro_allocator.cc InitializeTfLiteEvalTensorFromFlatbuffer @ 90b983c.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from tflm_sim.model.element_types import ELEMENT_BITS, TYPE_NUMBERS
from tflm_sim.model.types import Quantization, Tensor, TensorType
from tflm_sim.targets.runtime import Runtime
from tflm_sim.units import int32

_TYPES_WITHOUT_SIZE = {TensorType.INT2, TensorType.UINT4}
_FLOAT8 = {TensorType.FLOAT8_E4M3FN, TensorType.FLOAT8_E5M2}
TYPE_SIZES: dict[int, int] = {
    **{one: max(bits // 8, 1) for one, bits in ELEMENT_BITS.items() if one not in _TYPES_WITHOUT_SIZE},
    TensorType.RESOURCE: 4,
}
"""``TfLiteTypeSizeOf``: bytes of an element as TFLM counts them. INT4 counts as a whole byte; other types are refused.
What a version has no size for yet is in :func:`types_without_size`.

Source: tensorflow/lite/micro/memory_helpers.cc @ 90b983c.
"""


class EvalTensor:
    """A tensor while the model is being prepared (mutable: ``shape``, ``resource_id``).

    Attributes:
        tensor: The tensor in the file.
        index: Index in its subgraph.
        type: The raw ``TensorType`` number.
        shape: Dimensions in TFLite order; () for a scalar.
        data: The constant bytes inside the flatbuffer, or None.
        affine: The quantization that TFLM turns into a ``TfLiteAffineQuantization`` (it has scales and zero points),
            else None.
        resource_id: The resource variable that VAR_HANDLE's Prepare points the tensor's data at, else None.
    """

    __slots__ = ("affine", "data", "index", "resource_id", "shape", "tensor", "type")

    def __init__(self, tensor: Tensor, index: int, data: memoryview | None, affine: Quantization | None) -> None:
        self.tensor = tensor
        self.index = index
        self.type = tensor.type
        self.shape: tuple[int, ...] = tensor.shape or ()
        self.data = data
        self.affine = affine
        self.resource_id: int | None = None

    @property
    def is_constant(self) -> bool:
        """Whether the bytes are in the flatbuffer (``kTfLiteMmapRo``)."""
        return self.data is not None

    @property
    def has_data(self) -> bool:
        """Whether ``data.data`` is set before the plan, so that the planner leaves the tensor out."""
        return self.data is not None or self.resource_id is not None

    @property
    def flat_size(self) -> int:
        """The number of elements of the current shape."""
        return prod(self.shape)

    @property
    def byte_length(self) -> int:
        """Bytes of the current shape, whose elements TFLM counts in a C ``int``; negative where that overflows.

        Raises:
            KeyError: TFLM cannot size the type.
        """
        count = prod(self.shape)
        return (count if abs(count) < 0x80000000 else int32(count)) * TYPE_SIZES[self.type]

    @property
    def file_byte_length(self) -> int:
        """Bytes of the shape that the file states; as ``byte_length``."""
        return int32(prod(self.tensor.shape or ())) * TYPE_SIZES[self.type]


_TYPES_SINCE: dict[int, str] = {
    TensorType.UINT32: "type_uint32",
    TensorType.RESOURCE: "type_uint32",
    TensorType.VARIANT: "type_uint32",
    TensorType.UINT16: "type_uint16",
    TensorType.INT4: "type_int4",
    TensorType.BFLOAT16: "type_bfloat16",
    TensorType.INT2: "type_int2",
    TensorType.UINT4: "type_uint4",
    TensorType.FLOAT8_E4M3FN: "type_float8",
    TensorType.FLOAT8_E5M2: "type_float8",
}
"""The change that brought a type to ``ConvertTensorType``."""


@lru_cache
def types_that_convert(runtime: Runtime) -> frozenset[int]:
    """Return the ``TensorType`` numbers that a version's ``ConvertTensorType`` knows."""
    since = _TYPES_SINCE.get
    return frozenset([one for one in TYPE_NUMBERS if since(one) is None or runtime.has(_TYPES_SINCE[one])])


@lru_cache
def types_without_size(runtime: Runtime) -> frozenset[int]:
    """Return the types of ``TYPE_SIZES`` that a version's ``TfLiteTypeSizeOf`` does not know."""
    return frozenset() if runtime.has("float8_has_size") else frozenset(_FLOAT8)
