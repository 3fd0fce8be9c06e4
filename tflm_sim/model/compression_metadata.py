"""``COMPRESSION_METADATA``: which tensors of a model are stored as indices into tables of values.

The metadata buffer is a flatbuffer of its own: Metadata -> [Subgraph] -> [LutTensor]. Unlike the model around it, TFLM
verifies it, and goes on *without* compression when it is not well-formed; so nothing here raises.

Source: GetCompressionMetadata in tensorflow/lite/micro/micro_allocator.cc and tensorflow/lite/micro/compression/
metadata.fbs @ 90b983c; the checks are those of ``flatbuffers::Verifier`` v25.9.23.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.types import Model

METADATA_NAME = "COMPRESSION_METADATA"
SCHEMA_VERSION = 1

_Shape = Mapping[int, "int | _Shape"]
"""What a table holds, by slot: a scalar of so many bytes, or a vector of tables."""

_LUT_TENSOR: _Shape = {0: 4, 1: 4, 2: 1}
_SUBGRAPH: _Shape = {0: _LUT_TENSOR}
_METADATA: _Shape = {0: 4, 1: _SUBGRAPH}

_U16, _I32, _U32 = SCALARS["ushort"], SCALARS["int"], SCALARS["uint"]


@dataclass(frozen=True, slots=True)
class LutTensor:
    """A tensor whose elements are indices into a table of values.

    Attributes:
        tensor: Index of the tensor in its subgraph, as stored: it may be out of range or negative.
        value_buffer: Index of the buffer that holds the values, as stored.
        index_bitwidth: Bits of an index.
    """

    tensor: int
    value_buffer: int
    index_bitwidth: int


@dataclass(frozen=True, slots=True)
class CompressionMetadata:
    """The compressed tensors of a model.

    Attributes:
        schema_version: As stored; the only existing version is 1.
        subgraphs: The tensors of each subgraph, None where the file has no vector of them; None without subgraphs.
    """

    schema_version: int
    subgraphs: tuple[tuple[LutTensor, ...] | None, ...] | None


def find_compression(model: Model) -> tuple[CompressionMetadata | None, tuple[str, ...]]:
    """Return (the compression metadata that TFLM would use, or None; the lines that the device prints on the way)."""
    log: list[str] = []
    for entry in model.metadata:
        if entry.name != METADATA_NAME:
            continue
        if not 0 < entry.buffer < len(model.buffers):
            log.append(f"Compression: Invalid buffer index {entry.buffer}")
            continue
        data = model.buffers[entry.buffer].data
        if data is None:
            log.append(f"Compression: Invalid data for buffer index {entry.buffer}")
            continue
        found, line = _parse(data)
        return found, (*log, line) if line else tuple(log)
    return None, tuple(log)


def _parse(data: memoryview) -> tuple[CompressionMetadata | None, str]:
    """Return (the metadata or None, the line that the device prints or "")."""
    try:
        buffer = FlatBuffer(data)
        _verify(buffer, _verify_offset(buffer, 0), _METADATA)
        metadata = _metadata(buffer.root())
    except (_MalformedError, ModelError):
        return None, "Compression: verification failure"
    if metadata.schema_version > SCHEMA_VERSION:
        versions = f"(using {SCHEMA_VERSION} got {metadata.schema_version})"
        return None, f"Compression: schema version mismatch {versions}"
    return metadata, ""


def _metadata(table: Table) -> CompressionMetadata:
    subgraphs = table.tables(1)
    return CompressionMetadata(
        schema_version=table.scalar(0, _U32, SCHEMA_VERSION),
        subgraphs=None if subgraphs is None else tuple(_subgraph(subgraph) for subgraph in subgraphs),
    )


def _subgraph(table: Table) -> tuple[LutTensor, ...] | None:
    tensors = table.tables(0)
    return None if tensors is None else tuple(_lut_tensor(tensor) for tensor in tensors)


def _lut_tensor(table: Table) -> LutTensor:
    return LutTensor(table.scalar(0, _I32), table.scalar(1, _U32), table.scalar(2, SCALARS["ubyte"]))


class _MalformedError(Exception):
    """The verifier refuses the buffer."""


def _verify(buffer: FlatBuffer, position: int, shape: _Shape) -> None:
    """Check a table and, no deeper than three levels, all that it refers to."""
    _verify_range(buffer, position, 4, 4)
    vtable = position - buffer.scalar(_I32, position)
    _verify_range(buffer, vtable, 2, 2)
    vtable_size = buffer.scalar(_U16, vtable)
    _verify_range(buffer, vtable, vtable_size, 2)
    if vtable_size % 2:
        raise _MalformedError
    table = Table(buffer, position)
    for slot, content in shape.items():
        if not table.has(slot):
            continue
        field = position + table.field_offset(slot)
        if isinstance(content, int):
            _verify_range(buffer, field, content, content)
        else:
            _verify_vector(buffer, _verify_offset(buffer, field), content)


def _verify_vector(buffer: FlatBuffer, position: int, shape: _Shape) -> None:
    _verify_range(buffer, position, 4, 4)
    count = buffer.scalar(_U32, position)
    _verify_range(buffer, position, 4 + 4 * count, 4)
    for element in range(position + 4, position + 4 + 4 * count, 4):
        _verify(buffer, buffer.target(element), shape)


def _verify_offset(buffer: FlatBuffer, position: int) -> int:
    """Check an offset field and return what it points to."""
    _verify_range(buffer, position, 4, 4)
    target = buffer.target(position)
    if not position < target < position + 2**31:
        raise _MalformedError
    _verify_range(buffer, target, 1, 1)
    return target


def _verify_range(buffer: FlatBuffer, position: int, size: int, alignment: int) -> None:
    """Check that ``size`` bytes at ``position`` are aligned and inside the buffer, which must be larger than them."""
    if position % alignment or position < 0 or size >= buffer.size or position > buffer.size - size:
        raise _MalformedError
