"""A :class:`Model` as the bytes of a .tflite file: the mirror of ``load.py``, field by field.

Invariant: ``parse(encode(model))`` is ``model``, but for positions in the file. What a Model does not keep (sparsity
tables, quantization details) comes out as an empty table of that kind, and the rest of it not at all:
:mod:`~tflm_sim.model.unkept` refuses such files, and carries the bytes behind the flatbuffer. Constant
data is aligned to 16 bytes, as converters do, because kernels read it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf_writer import Blob, Node, TableNode, TableVector, numbers, serialize, text
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
from tflm_sim.units import align_up

BUFFER_ALIGNMENT = 16

# The one-byte field of old files: greater codes leave this placeholder there. Source: schema.fbs @ 90b983c.
PLACEHOLDER_FOR_GREATER_OP_CODES = 127

T = TypeVar("T")


def encode(model: Model) -> bytes:
    """Return ``model`` as a .tflite file; data outside of the flatbuffer follows it.

    Raises:
        ModelError: An operator names an options table that the schema does not have.
    """
    table = TableNode()
    tail = bytearray()
    table.scalar(ModelSlot.VERSION, "uint", model.version)
    table.child(ModelSlot.OPERATOR_CODES, _tables(model.operator_codes, _operator_code))
    table.child(ModelSlot.SUBGRAPHS, _tables(model.subgraphs, _subgraph))
    table.child(ModelSlot.DESCRIPTION, text(model.description or None))
    table.child(ModelSlot.BUFFERS, _tables(model.buffers, lambda buffer: _buffer(buffer, tail)))
    table.child(ModelSlot.METADATA_BUFFER, numbers("i", model.metadata_buffers))
    table.child(ModelSlot.METADATA, _tables(model.metadata, _metadata) if model.metadata else None)
    table.child(ModelSlot.SIGNATURE_DEFS, _tables(model.signatures, _signature) if model.signatures else None)
    return serialize(table, FILE_IDENTIFIER, tail=tail)


def byte_vector(data: bytes | memoryview | None, alignment: int = 4) -> Blob | None:
    """Return a vector of bytes, None for None."""
    return None if data is None else Blob(len(data), data, alignment)


def buffer_table(data: bytes | memoryview | None) -> TableNode:
    """Return the ``Buffer`` table of constant data inside the flatbuffer."""
    table = TableNode()
    table.child(BufferSlot.DATA, byte_vector(data, BUFFER_ALIGNMENT))
    return table


def metadata_table(name: str | None, buffer: int) -> TableNode:
    """Return the ``Metadata`` table of a named buffer."""
    table = TableNode()
    table.child(MetadataSlot.NAME, text(name))
    table.scalar(MetadataSlot.BUFFER, "uint", buffer)
    return table


def _tables(values: Iterable[T], table: Callable[[T], TableNode]) -> TableVector:
    """Return the vector of what ``table`` makes of each value."""
    return TableVector([table(value) for value in values])


def _operator_code(code: OperatorCode) -> TableNode:
    """Return the ``OperatorCode`` table."""
    table = TableNode()
    deprecated = min(code.builtin_code, PLACEHOLDER_FOR_GREATER_OP_CODES)
    table.scalar(OperatorCodeSlot.DEPRECATED_BUILTIN_CODE, "byte", deprecated)
    table.child(OperatorCodeSlot.CUSTOM_CODE, text(code.custom_code))
    table.scalar(OperatorCodeSlot.VERSION, "int", code.version, 1)
    table.scalar(OperatorCodeSlot.BUILTIN_CODE, "int", code.raw_builtin_code)
    return table


def _subgraph(subgraph: Subgraph) -> TableNode:
    """Return the ``SubGraph`` table."""
    table = TableNode()
    table.child(SubgraphSlot.TENSORS, _tables(subgraph.tensors, _tensor))
    table.child(SubgraphSlot.INPUTS, numbers("i", subgraph.inputs))
    table.child(SubgraphSlot.OUTPUTS, numbers("i", subgraph.outputs))
    table.child(SubgraphSlot.OPERATORS, _tables(subgraph.operators, _operator) if subgraph.has_operators else None)
    table.child(SubgraphSlot.NAME, text(subgraph.name or None))
    return table


def _tensor(tensor: Tensor) -> TableNode:
    """Return the ``Tensor`` table."""
    table = TableNode()
    table.child(TensorSlot.SHAPE, numbers("i", tensor.shape))
    table.scalar(TensorSlot.TYPE, "byte", tensor.type)
    table.scalar(TensorSlot.BUFFER, "uint", tensor.buffer)
    table.child(TensorSlot.NAME, text(tensor.name or None))
    table.child(TensorSlot.QUANTIZATION, _quantization(tensor.quantization))
    table.scalar(TensorSlot.IS_VARIABLE, "bool", tensor.is_variable)
    table.child(TensorSlot.SPARSITY, TableNode() if tensor.has_sparsity else None)
    table.child(TensorSlot.SHAPE_SIGNATURE, numbers("i", tensor.shape_signature))
    table.scalar(TensorSlot.HAS_RANK, "bool", tensor.has_rank)
    return table


def _quantization(quantization: Quantization | None) -> TableNode | None:
    """Return the ``QuantizationParameters`` table."""
    if quantization is None:
        return None
    table = TableNode()
    least, most = quantization.range
    table.child(QuantizationSlot.MIN, numbers("f", least or None))
    table.child(QuantizationSlot.MAX, numbers("f", most or None))
    table.child(QuantizationSlot.SCALE, numbers("f", quantization.scale or None))
    table.child(QuantizationSlot.ZERO_POINT, numbers("q", quantization.zero_point or None))
    table.scalar(QuantizationSlot.DETAILS_TYPE, "ubyte", quantization.details_type)
    table.child(QuantizationSlot.DETAILS, TableNode() if quantization.details_type else None)
    table.scalar(QuantizationSlot.QUANTIZED_DIMENSION, "int", quantization.quantized_dimension)
    return table


def _operator(operator: Operator) -> TableNode:
    """Return the ``Operator`` table."""
    table = TableNode()
    table.scalar(OperatorSlot.OPCODE_INDEX, "uint", operator.opcode_index)
    table.child(OperatorSlot.INPUTS, numbers("i", operator.inputs))
    table.child(OperatorSlot.OUTPUTS, numbers("i", operator.outputs))
    table.child(OperatorSlot.CUSTOM_OPTIONS, byte_vector(operator.custom_options))
    table.child(OperatorSlot.MUTATING_VARIABLE_INPUTS, numbers("?", operator.mutating_inputs))
    table.child(OperatorSlot.INTERMEDIATES, numbers("i", operator.intermediates))
    if operator.options_type:
        _add_options(table, operator)
    return table


def _add_options(table: TableNode, operator: Operator) -> None:
    """Add the builtin options to the union that has their table."""
    name = operator.options_type
    if name in BUILTIN_OPTIONS:
        slots, number = (OperatorSlot.BUILTIN_OPTIONS_TYPE, OperatorSlot.BUILTIN_OPTIONS), BUILTIN_OPTIONS.index(name)
    elif name in BUILTIN_OPTIONS_2:
        slots = OperatorSlot.BUILTIN_OPTIONS_2_TYPE, OperatorSlot.BUILTIN_OPTIONS_2
        number = BUILTIN_OPTIONS_2.index(name)
    else:
        raise ModelError(f"the schema has no options table '{name}'")
    table.scalar(slots[0], "ubyte", number)
    if operator.options or not option_fields(name):
        table.child(slots[1], _options_table(name, operator.options))


def _options_table(name: str, options: Mapping[str, OptionValue]) -> TableNode:
    """Return a builtin options table with every field of ``options``."""
    table = TableNode()
    for field in option_fields(name):
        value = options.get(field.name, field.default)
        if field.is_vector or field.type == "string":
            table.child(field.slot, _option_node(field, value))
        else:
            assert isinstance(value, int | float), f"{name}.{field.name} is not a number"
            default = field.default
            assert isinstance(default, int | float), f"{name}.{field.name} has no default"
            table.scalar(field.slot, field.type, value, default)
    return table


def _option_node(field: OptionField, value: OptionValue) -> Node | None:
    """Return the vector or string of an option, None when it is left out."""
    if value is None or isinstance(value, str):
        return text(value)
    if isinstance(value, memoryview):
        return byte_vector(value)
    assert isinstance(value, tuple), f"{field.name} is not a vector"
    return numbers(ELEMENT_CODES[field.type], value)


def _buffer(buffer: Buffer, tail: bytearray) -> TableNode:
    """Return the ``Buffer`` table; data outside of the flatbuffer goes to ``tail``."""
    table = buffer_table(buffer.data)
    if buffer.external is not None:
        tail += bytes(align_up(len(tail), BUFFER_ALIGNMENT) - len(tail))
        table.tail_position(BufferSlot.OFFSET, len(tail))
        table.scalar(BufferSlot.SIZE, "ulong", len(buffer.external))
        tail += buffer.external
    return table


def _metadata(metadata: Metadata) -> TableNode:
    """Return the ``Metadata`` table."""
    return metadata_table(metadata.name, metadata.buffer)


def _signature(signature: Signature) -> TableNode:
    """Return the ``SignatureDef`` table."""
    table = TableNode()
    table.child(SignatureSlot.INPUTS, _tables(signature.inputs, _tensor_map))
    table.child(SignatureSlot.OUTPUTS, _tables(signature.outputs, _tensor_map))
    table.child(SignatureSlot.SIGNATURE_KEY, text(signature.key or None))
    table.child(SignatureSlot.DEPRECATED_TAG, text(signature.deprecated_tag))
    table.scalar(SignatureSlot.SUBGRAPH_INDEX, "uint", signature.subgraph_index)
    return table


def _tensor_map(entry: tuple[str, int]) -> TableNode:
    """Return the ``TensorMap`` table."""
    table = TableNode()
    table.child(TensorMapSlot.NAME, text(entry[0] or None))
    table.scalar(TensorMapSlot.TENSOR_INDEX, "uint", entry[1])
    return table
