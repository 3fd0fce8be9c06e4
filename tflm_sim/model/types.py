"""What a .tflite file says, as plain frozen values. Nothing here knows a target, an arena or a kernel.

A value that the file leaves out is None where TFLM can tell the difference (``shape``, ``inputs``, ``data``), because
upstream branches on it. Weights are never copied: ``ConstantData.data`` is a memoryview into the file.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tflm_sim.errors import ModelError

_read_float, _read_int64 = struct.Struct("<f").unpack_from, struct.Struct("<q").unpack_from

OptionValue = int | float | bool | str | tuple[int, ...] | tuple[float, ...] | memoryview | None


class TensorType(IntEnum):
    """``tflite.TensorType``. Source: tensorflow/compiler/mlir/lite/schema/schema.fbs @ 90b983c."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT64 = 10
    COMPLEX128 = 11
    UINT64 = 12
    RESOURCE = 13
    VARIANT = 14
    UINT32 = 15
    UINT16 = 16
    INT4 = 17
    BFLOAT16 = 18
    INT2 = 19
    UINT4 = 20
    FLOAT8_E4M3FN = 21
    FLOAT8_E5M2 = 22


class Quantization:
    """Quantization parameters of a tensor, as stored; a value that is not to be changed.

    Args:
        scale: One value, one per channel, or empty; or the bytes of the floats, which are read when they are asked for.
        zero_point: As many as scales, or one for all, or empty; likewise.
        quantized_dimension: The axis that channels run along.
        details_type: 0 none, 1 custom, 2 blockwise.
        min: What the converter saw at least, one value or one per channel, or empty; or bytes. No kernel reads it.
        max: What it saw at most, likewise.

    Attributes:
        scale_count: How many scales there are.
        zero_point_count: How many zero points there are.
    """

    __slots__ = (
        "_max",
        "_min",
        "_scale",
        "_zero_point",
        "details_type",
        "quantized_dimension",
        "scale_count",
        "zero_point_count",
    )

    def __init__(
        self,
        scale: Sequence[float] | bytes,
        zero_point: Sequence[int] | bytes,
        quantized_dimension: int = 0,
        details_type: int = 0,
        min: Sequence[float] | bytes = (),
        max: Sequence[float] | bytes = (),
    ) -> None:
        self._min, self._max = min, max
        self._scale = scale
        self._zero_point = zero_point
        self.quantized_dimension = quantized_dimension
        self.details_type = details_type
        self.scale_count = len(scale) // 4 if type(scale) is bytes else len(scale)
        self.zero_point_count = len(zero_point) // 8 if type(zero_point) is bytes else len(zero_point)

    @property
    def scale(self) -> Sequence[float]:
        """The scales."""
        if type(self._scale) is bytes:
            self._scale = struct.unpack(f"<{self.scale_count}f", self._scale)
        return self._scale

    @property
    def zero_point(self) -> Sequence[int]:
        """The zero points."""
        if type(self._zero_point) is bytes:
            self._zero_point = struct.unpack(f"<{self.zero_point_count}q", self._zero_point)
        return self._zero_point

    @property
    def min(self) -> tuple[float, ...]:
        """What the converter saw at least."""
        return _floats(self._min)

    @property
    def max(self) -> tuple[float, ...]:
        """What it saw at most."""
        return _floats(self._max)

    @property
    def range(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Both of them."""
        return self.min, self.max

    @property
    def first_scale(self) -> float:
        """The first scale; there must be one."""
        value: float = _read_float(self._scale)[0] if type(self._scale) is bytes else self._scale[0]
        return value

    @property
    def first_zero_point(self) -> int:
        """The first zero point; there must be one."""
        points = self._zero_point
        value: int = _read_int64(points)[0] if type(points) is bytes else points[0]
        return value

    def _key(self) -> tuple[Sequence[float], Sequence[int], int, int, *tuple[tuple[float, ...], ...]]:
        return self.scale, self.zero_point, self.quantized_dimension, self.details_type, *self.range

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Quantization) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Quantization{self._key()}"

    def __reduce__(self) -> tuple[object, ...]:
        return Quantization, self._key()


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a subgraph.

    Attributes:
        name: Decoded with errors replaced; it comes from strangers, so escape it wherever it is shown.
        shape: None when the file has no shape vector (a scalar to TFLM).
        shape_signature: The shape with -1 for unknown dimensions, or None.
        type: The raw ``TensorType`` number; it may be one that no enum names.
        buffer: Index into ``Model.buffers``; 0 means "no data" by convention.
        is_variable: State that TFLM keeps in the tail.
        quantization: None when the file has no quantization table.
        has_sparsity: Whether a sparsity table is present.
        has_rank: Whether an empty shape is that of a scalar, which TFLM takes for granted.
        offset: Byte offset of the tensor's table in the file.
    """

    name: str
    shape: tuple[int, ...] | None
    type: int
    buffer: int
    shape_signature: tuple[int, ...] | None = None
    is_variable: bool = False
    quantization: Quantization | None = None
    has_sparsity: bool = False
    has_rank: bool = False
    offset: int = 0

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, () where the file has none."""
        return self.shape or ()


@dataclass(frozen=True, slots=True)
class OperatorCode:
    """An entry of the model's operator table.

    Attributes:
        builtin_code: The effective code: the larger of the two stored ones (``GetBuiltinCode``).
        raw_builtin_code: The ``builtin_code`` field alone, which lifetime marking reads upstream.
        custom_code: The custom operator's name, or None.
        version: The operator's version.
    """

    builtin_code: int
    raw_builtin_code: int
    custom_code: str | None = None
    version: int = 1


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator (TFLM: node) of a subgraph.

    Attributes:
        opcode_index: Index into ``Model.operator_codes``; it may be out of range, TFLM reports that itself.
        inputs: Tensor indices, -1 for an optional tensor that is absent; None when the file has no vector.
        outputs: Tensor indices; None when the file has no vector.
        intermediates: Tensor indices, or None.
        options_type: The name of the builtin options table ("Conv2DOptions"), or "" when there is none.
        options: The fields that the builtin options table holds, schema defaults filled in; empty without a table.
        custom_options: The custom options' bytes, or None.
        mutating_inputs: Which inputs are variables that it changes, or None; TFLM never reads it.
        offset: Byte offset of the operator's table in the file.
    """

    opcode_index: int
    inputs: tuple[int, ...] | None
    outputs: tuple[int, ...] | None
    intermediates: tuple[int, ...] | None = None
    options_type: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    custom_options: memoryview | None = None
    mutating_inputs: tuple[bool, ...] | None = None
    offset: int = 0

    def options_as(self, table: str) -> Mapping[str, OptionValue]:
        """Return the builtin options if they are a ``table``, else nothing: both runtimes read no other operator's."""
        return self.options if self.options_type == table else {}

    @property
    def input_tensors(self) -> tuple[int, ...]:
        """``inputs``, empty where the file has no vector."""
        return self.inputs or ()

    @property
    def output_tensors(self) -> tuple[int, ...]:
        """``outputs``, empty where the file has no vector."""
        return self.outputs or ()

    @property
    def intermediate_tensors(self) -> tuple[int, ...]:
        """``intermediates``, empty where the file has no vector."""
        return self.intermediates or ()

    @property
    def named_tensors(self) -> tuple[int, ...]:
        """The input and output tensors, without those that are absent."""
        return tuple(tensor for tensor in (*self.input_tensors, *self.output_tensors) if tensor >= 0)


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A subgraph: tensors, operators in execution order, and the tensors that go in and out."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...] | None
    outputs: tuple[int, ...] | None
    name: str = ""
    has_operators: bool = True

    @property
    def input_tensors(self) -> tuple[int, ...]:
        """``inputs``, empty where the file has no vector."""
        return self.inputs or ()

    @property
    def output_tensors(self) -> tuple[int, ...]:
        """``outputs``, empty where the file has no vector."""
        return self.outputs or ()


@dataclass(frozen=True, slots=True)
class ConstantData:
    """Constant data.

    Attributes:
        data: The bytes inside the flatbuffer, or None when the file has no data vector (TFLM reads only these).
        external: The bytes outside the flatbuffer that ``offset``/``size`` name, or None.
        address: Byte offset of the data in the file; its alignment is the device's alignment.
    """

    data: memoryview | None
    external: memoryview | None = None
    address: int = 0


@dataclass(frozen=True, slots=True)
class Metadata:
    """A named buffer, such as ``OfflineMemoryAllocation`` or ``COMPRESSION_METADATA``."""

    name: str | None
    buffer: int


@dataclass(frozen=True, slots=True)
class Signature:
    """A named entry point: (name, tensor index) pairs of one subgraph."""

    key: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    subgraph_index: int = 0
    deprecated_tag: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """A whole .tflite file; it pickles as the bytes of that file.

    Attributes:
        metadata_buffers: The buffers that the field in front of ``metadata`` names, None without it.
        source: The file's bytes.
        path: Where they came from, or None.
        index_fault: The first tensor index that is out of range, where the file was read with such ones; TFLM is not
            asked about such a model.
        memo: What others worked out of it once, to keep as long as it lives; no part of the value.
    """

    version: int
    operator_codes: tuple[OperatorCode, ...]
    subgraphs: tuple[Subgraph, ...]
    buffers: tuple[ConstantData, ...]
    metadata: tuple[Metadata, ...] = ()
    signatures: tuple[Signature, ...] = ()
    description: str = ""
    metadata_buffers: tuple[int, ...] | None = None
    source: memoryview = field(default_factory=lambda: memoryview(b""))
    path: str | None = None
    index_fault: ModelError | None = field(default=None, compare=False)
    memo: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        tensors, operators = (
            sum(len(getattr(subgraph, what)) for subgraph in self.subgraphs) for what in ("tensors", "operators")
        )
        return (
            f"<Model {self.path or 'from bytes'!r}: {len(self.source):,} bytes, {len(self.subgraphs)} subgraphs, "
            f"{operators} operators, {tensors} tensors>"
        )

    def tensor_data(self, tensor: Tensor) -> memoryview | None:
        """Return the tensor's constant bytes as TFLM sees them: None when there are none inside the flatbuffer."""
        if not 0 <= tensor.buffer < len(self.buffers):
            return None
        data = self.buffers[tensor.buffer].data
        return data if data is not None and len(data) else None


def _floats(values: Sequence[float] | bytes) -> tuple[float, ...]:
    """Return floats, read from their bytes if need be."""
    return struct.unpack(f"<{len(values) // 4}f", values) if isinstance(values, bytes) else tuple(values)
