"""A .tflite file as a :class:`Model`: ``parse(bytes)``, and ``load(path)`` over it.

Invariant: any bytes give a Model or a :class:`ModelError` with an offset, in time and memory proportional to the file.
What TFLM itself reports (an operator code that is out of range) or halts on (a buffer index that is out of range) stays
in the Model; what would be a wild read on the device (a tensor index that is out of range) is a ModelError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.inputs import read_input
from tflm_sim.model.schema import (
    BUILTIN_OPTIONS,
    BUILTIN_OPTIONS_2,
    ELEMENT_CODES,
    FILE_IDENTIFIER,
    BufferSlot,
    MetadataSlot,
    ModelSlot,
    OperatorCodeSlot,
    OperatorSlot,
    OptionField,
    QuantizationSlot,
    SignatureSlot,
    SubgraphSlot,
    TensorMapSlot,
    TensorSlot,
    option_fields,
)
from tflm_sim.model.types import (
    Buffer,
    Metadata,
    Model,
    Operator,
    OperatorCode,
    OptionValue,
    Quantization,
    Signature,
    Subgraph,
    Tensor,
)

_BOOL, _BYTE, _UBYTE = SCALARS["bool"], SCALARS["byte"], SCALARS["ubyte"]
_INT, _UINT, _ULONG = SCALARS["int"], SCALARS["uint"], SCALARS["ulong"]

T = TypeVar("T")


def load(path: str | os.PathLike[str]) -> Model:
    """Read the model of a file.

    Args:
        path: A .tflite file, a C source with one model as an array, an archive of one; "-", ``sample:NAME``,
            ``FILE:LABEL``: see :func:`~tflm_sim.model.inputs.read_inputs`.

    Raises:
        ModelError: The file cannot be read, is not what it claims to be, or holds several models.
        UsageError: There is no such sample.
    """
    label, data = read_input(os.fspath(path))
    return parse(data, path=label)


def parse(data: bytes | bytearray | memoryview, *, path: str | None = None) -> Model:
    """Return the model that ``data`` holds; its weights are views of ``data``.

    Args:
        data: A whole .tflite file, with whatever follows its flatbuffer.
        path: Where the bytes came from, for messages.

    Raises:
        ModelError: The bytes are not a readable model.
    """
    source = memoryview(data).cast("B").toreadonly()
    try:
        return parse_flatbuffer(FlatBuffer(source), path)
    except ModelError as problem:
        problem.path = path
        raise


def parse_flatbuffer(buffer: FlatBuffer, path: str | None = None) -> Model:
    """Return the model that a flatbuffer holds.

    Raises:
        ModelError: The bytes are not a readable model.
    """
    root = buffer.root(FILE_IDENTIFIER)
    return Model(
        version=root.scalar(ModelSlot.VERSION, _UINT),
        operator_codes=_each(root.tables(ModelSlot.OPERATOR_CODES), "operator code", _operator_code),
        subgraphs=_each(root.tables(ModelSlot.SUBGRAPHS), "subgraph", _subgraph),
        buffers=_each(root.tables(ModelSlot.BUFFERS), "buffer", _buffer),
        metadata=_each(root.tables(ModelSlot.METADATA), "metadata entry", _metadata),
        signatures=_each(root.tables(ModelSlot.SIGNATURE_DEFS), "signature", _signature),
        description=root.text(ModelSlot.DESCRIPTION) or "",
        metadata_buffers=root.numbers(ModelSlot.METADATA_BUFFER, "i"),
        source=buffer.data,
        path=path,
    )


def _each(tables: list[Table] | None, what: str, build: Callable[[Table], T]) -> tuple[T, ...]:
    """Return what ``build`` makes of each table, () for an absent vector; errors name the table."""
    built: list[T] = []
    try:
        for table in tables or ():
            built.append(build(table))
    except ModelError as problem:
        problem.message = f"{what} {len(built)}: {problem.message}"
        raise
    return tuple(built)


def _operator_code(table: Table) -> OperatorCode:
    """Return an entry of the operator table."""
    code = table.scalar(OperatorCodeSlot.BUILTIN_CODE, _INT)
    return OperatorCode(
        builtin_code=max(code, table.scalar(OperatorCodeSlot.DEPRECATED_BUILTIN_CODE, _BYTE)),
        raw_builtin_code=code,
        custom_code=table.text(OperatorCodeSlot.CUSTOM_CODE),
        version=table.scalar(OperatorCodeSlot.VERSION, _INT, 1),
    )


def _subgraph(table: Table) -> Subgraph:
    """Return a subgraph whose tensor indices are all in range."""
    tensors = _each(table.tables(SubgraphSlot.TENSORS), "tensor", _tensor)
    operators = table.tables(SubgraphSlot.OPERATORS)
    subgraph = Subgraph(
        tensors=tensors,
        operators=_each(operators, "operator", lambda operator: _operator(operator, len(tensors))),
        inputs=table.numbers(SubgraphSlot.INPUTS, "i"),
        outputs=table.numbers(SubgraphSlot.OUTPUTS, "i"),
        name=table.text(SubgraphSlot.NAME) or "",
        has_operators=operators is not None,
    )
    _check_indices(table, "inputs", subgraph.inputs, 0, len(tensors))
    _check_indices(table, "outputs", subgraph.outputs, 0, len(tensors))
    return subgraph


def _check_indices(table: Table, what: str, indices: tuple[int, ...] | None, first: int, end: int) -> None:
    """Refuse tensor indices outside of [first, end)."""
    if indices and not (first <= min(indices) and max(indices) < end):
        wrong = next(index for index in indices if not first <= index < end)
        raise ModelError(f"{what} name tensor {wrong} of {end}", offset=table.position)


def _tensor(table: Table) -> Tensor:
    """Return a tensor."""
    return Tensor(
        name=table.text(TensorSlot.NAME) or "",
        shape=table.numbers(TensorSlot.SHAPE, "i"),
        type=table.scalar(TensorSlot.TYPE, _BYTE),
        buffer=table.scalar(TensorSlot.BUFFER, _UINT),
        shape_signature=table.numbers(TensorSlot.SHAPE_SIGNATURE, "i"),
        is_variable=table.scalar(TensorSlot.IS_VARIABLE, _BOOL, False),
        quantization=_quantization(table.table(TensorSlot.QUANTIZATION)),
        has_sparsity=table.has(TensorSlot.SPARSITY),
        has_rank=table.scalar(TensorSlot.HAS_RANK, _BOOL, False),
        offset=table.position,
    )


def _quantization(table: Table | None) -> Quantization | None:
    """Return quantization parameters."""
    if table is None:
        return None
    return Quantization(
        scale=table.raw_numbers(QuantizationSlot.SCALE, 4) or (),
        zero_point=table.raw_numbers(QuantizationSlot.ZERO_POINT, 8) or (),
        quantized_dimension=table.scalar(QuantizationSlot.QUANTIZED_DIMENSION, _INT),
        details_type=table.scalar(QuantizationSlot.DETAILS_TYPE, _UBYTE),
        min=table.raw_numbers(QuantizationSlot.MIN, 4) or (),
        max=table.raw_numbers(QuantizationSlot.MAX, 4) or (),
    )


def _operator(table: Table, tensor_count: int) -> Operator:
    """Return an operator whose tensor indices are all in range; a negative input is an absent one."""
    options_type, options = _options(table)
    operator = Operator(
        opcode_index=table.scalar(OperatorSlot.OPCODE_INDEX, _UINT),
        inputs=table.numbers(OperatorSlot.INPUTS, "i"),
        outputs=table.numbers(OperatorSlot.OUTPUTS, "i"),
        intermediates=table.numbers(OperatorSlot.INTERMEDIATES, "i"),
        options_type=options_type,
        options=options,
        custom_options=table.view(OperatorSlot.CUSTOM_OPTIONS),
        mutating_inputs=table.numbers(OperatorSlot.MUTATING_VARIABLE_INPUTS, "?"),
        offset=table.position,
    )
    _check_indices(table, "inputs", operator.inputs, -(2**31), tensor_count)
    _check_indices(table, "outputs", operator.outputs, 0, tensor_count)
    _check_indices(table, "intermediates", operator.intermediates, 0, tensor_count)
    return operator


def _options(table: Table) -> tuple[str, Mapping[str, OptionValue]]:
    """Return the name of the builtin options table ("" for none) and its fields."""
    for type_slot, slot, names in (
        (OperatorSlot.BUILTIN_OPTIONS_TYPE, OperatorSlot.BUILTIN_OPTIONS, BUILTIN_OPTIONS),
        (OperatorSlot.BUILTIN_OPTIONS_2_TYPE, OperatorSlot.BUILTIN_OPTIONS_2, BUILTIN_OPTIONS_2),
    ):
        number = table.scalar(type_slot, _UBYTE)
        if number:
            name = names[number] if number < len(names) else f"unknown options {number}"
            fields = option_fields(name)
            options = table.table(slot) if fields else None
            return name, {field.name: _option(options, field) for field in fields} if options else {}
    return "", {}


def _option(table: Table, field: OptionField) -> Any:
    """Return the value of one field of an options table."""
    if field.type == "string":
        return table.text(field.slot)
    if field.is_vector:
        return table.view(field.slot) if field.type == "ubyte" else table.numbers(field.slot, ELEMENT_CODES[field.type])
    return table.scalar(field.slot, SCALARS[field.type], field.default)


def _buffer(table: Table) -> Buffer:
    """Return constant data: inside the flatbuffer, or outside of it when offset and size say so."""
    position = table.target(BufferSlot.DATA)
    # Source: schema.fbs @ 90b983c: an offset of 0 or 1 means that there is nothing outside.
    start = table.scalar(BufferSlot.OFFSET, _ULONG)
    external = None
    if start > 1:
        end = start + table.scalar(BufferSlot.SIZE, _ULONG)
        if end > table.buffer.size:
            raise ModelError(f"its data ends at byte {end} of a file of {table.buffer.size}", offset=table.position)
        external = table.buffer.data[start:end]
    data = None if position is None else table.buffer.view(position)
    return Buffer(data=data, external=external, address=0 if position is None else position + 4)


def _metadata(table: Table) -> Metadata:
    """Return a named buffer."""
    return Metadata(name=table.text(MetadataSlot.NAME), buffer=table.scalar(MetadataSlot.BUFFER, _UINT))


def _signature(table: Table) -> Signature:
    """Return a named entry point."""
    return Signature(
        key=table.text(SignatureSlot.SIGNATURE_KEY) or "",
        inputs=_each(table.tables(SignatureSlot.INPUTS), "input", _tensor_map),
        outputs=_each(table.tables(SignatureSlot.OUTPUTS), "output", _tensor_map),
        subgraph_index=table.scalar(SignatureSlot.SUBGRAPH_INDEX, _UINT),
        deprecated_tag=table.text(SignatureSlot.DEPRECATED_TAG),
    )


def _tensor_map(table: Table) -> tuple[str, int]:
    """Return (name, tensor index)."""
    return table.text(TensorMapSlot.NAME) or "", table.scalar(TensorMapSlot.TENSOR_INDEX, _UINT)
