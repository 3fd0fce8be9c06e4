"""What is kept of each table of a .tflite file, as data: one recipe a table, one field a value, in order.

Two readers follow the recipes: ``python_reader``, which says what is wrong with a file and where, and the optional C
extension ``_reader``, which reads well-formed files only and leaves the others to the first. A property test holds
them equal. ``encode`` writes by the same recipes, and ``unkept`` knows by them what a Model does not keep.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

from tflm_sim.model import schema
from tflm_sim.model.types import (
    ConstantData,
    Metadata,
    Operator,
    OperatorCode,
    Quantization,
    Signature,
    Subgraph,
    Tensor,
)

DATA_ALIGNMENT = 16
"""How converters align constant data in the file, in bytes: kernels read it in place."""


class Kind(IntEnum):
    """What a field is and, in parentheses, what its argument says; ``reader.c`` counts alike."""

    SCALAR = 0  # (struct code, default)
    LARGER = 1  # the larger of two scalars (slot and code of the other, own code)
    TEXT = 2  # a string (what stands for an absent one)
    NUMBERS = 3  # a vector as a tuple, None when it is absent (struct code)
    INDICES = 4  # likewise, of int32 that name tensors (the lowest allowed)
    RAW = 5  # a vector's bytes, read later; () when it is absent or empty (bytes of an element)
    VIEW = 6  # the bytes of a byte vector, None when it is absent (how a writer aligns them, None for 4)
    TABLE = 7  # a table, None when it is absent (its recipe)
    EACH = 8  # a vector of tables as a tuple (their recipe)
    TENSORS = 9  # likewise; indices of this subgraph are compared with their number
    HAS = 10  # whether the file stores the field
    POSITION = 11  # where the table starts
    ADDRESS = 12  # where a vector's elements start, 0 when it is absent
    OUTSIDE = 13  # bytes outside of the flatbuffer, which two scalars name (slot of their number)
    OPTIONS = 14  # two values: the name of the builtin options table, and its fields (type slot, slot, names; ...)


class Field(NamedTuple):
    """A value of a table: the attribute that it becomes, its slot, and how to read it."""

    name: str
    slot: int
    kind: Kind
    argument: Any = None


class Recipe(NamedTuple):
    """How a table is read.

    Attributes:
        what: What errors call it.
        make: Whose attributes the fields are, in the order of its arguments; None for a tuple of the values.
        fields: In order.
        slots: Of a class that does no more with its arguments than to keep them, where it keeps each; else ().
    """

    what: str
    make: Callable[..., Any] | None
    fields: tuple[Field, ...]
    slots: tuple[Any, ...] = ()


def _plain(what: str, make: Any, fields: tuple[Field, ...]) -> Recipe:
    """Return the recipe of a class that keeps its arguments, in slots of the same names."""
    return Recipe(what, make, fields, tuple([getattr(make, name) for name in make.__match_args__]))


def _scalar(name: str, slot: int, code: str, default: object = 0) -> Field:
    return Field(name, slot, Kind.SCALAR, (code, default))


def _text(name: str, slot: int, absent: str | None = "") -> Field:
    return Field(name, slot, Kind.TEXT, absent)


def _numbers(name: str, slot: int, code: str = "i") -> Field:
    return Field(name, slot, Kind.NUMBERS, code)


@lru_cache(maxsize=512)
def option_recipe(name: str) -> tuple[Field, ...]:
    """Return what is read of a builtin options table, () for one that has no fields or that nobody knows."""
    return tuple(map(_option, schema.option_fields(name)))


def _option(field: schema.OptionField) -> Field:
    if field.type == "string":
        return _text(field.name, field.slot, None)
    if field.is_vector:
        as_bytes = field.type == "ubyte"
        return (
            Field(field.name, field.slot, Kind.VIEW)
            if as_bytes
            else _numbers(field.name, field.slot, schema.SCALAR_CODES[field.type])
        )
    return _scalar(field.name, field.slot, schema.SCALAR_CODES[field.type], field.default)


_QUANTIZATION = Recipe(
    "quantization",
    Quantization,
    (
        Field("scale", schema.QuantizationSlot.SCALE, Kind.RAW, 4),
        Field("zero_point", schema.QuantizationSlot.ZERO_POINT, Kind.RAW, 8),
        _scalar("quantized_dimension", schema.QuantizationSlot.QUANTIZED_DIMENSION, "i"),
        _scalar("details_type", schema.QuantizationSlot.DETAILS_TYPE, "B"),
        Field("min", schema.QuantizationSlot.MIN, Kind.RAW, 4),
        Field("max", schema.QuantizationSlot.MAX, Kind.RAW, 4),
    ),
)
_TENSOR = _plain(
    "tensor",
    Tensor,
    (
        _text("name", schema.TensorSlot.NAME),
        _numbers("shape", schema.TensorSlot.SHAPE),
        _scalar("type", schema.TensorSlot.TYPE, "b"),
        _scalar("buffer", schema.TensorSlot.BUFFER, "I"),
        _numbers("shape_signature", schema.TensorSlot.SHAPE_SIGNATURE),
        _scalar("is_variable", schema.TensorSlot.IS_VARIABLE, "?", False),
        Field("quantization", schema.TensorSlot.QUANTIZATION, Kind.TABLE, _QUANTIZATION),
        Field("has_sparsity", schema.TensorSlot.SPARSITY, Kind.HAS),
        _scalar("has_rank", schema.TensorSlot.HAS_RANK, "?", False),
        Field("offset", 0, Kind.POSITION),
    ),
)
_OPERATOR = _plain(
    "operator",
    Operator,
    (
        _scalar("opcode_index", schema.OperatorSlot.OPCODE_INDEX, "I"),
        Field("inputs", schema.OperatorSlot.INPUTS, Kind.INDICES, -(2**31)),  # a negative one is an absent tensor
        Field("outputs", schema.OperatorSlot.OUTPUTS, Kind.INDICES, 0),
        Field("intermediates", schema.OperatorSlot.INTERMEDIATES, Kind.INDICES, 0),
        Field(
            "options_type",
            0,
            Kind.OPTIONS,
            (
                (schema.OperatorSlot.BUILTIN_OPTIONS_TYPE, schema.OperatorSlot.BUILTIN_OPTIONS, schema.BUILTIN_OPTIONS),
                (
                    schema.OperatorSlot.BUILTIN_OPTIONS_2_TYPE,
                    schema.OperatorSlot.BUILTIN_OPTIONS_2,
                    schema.BUILTIN_OPTIONS_2,
                ),
            ),
        ),
        Field("custom_options", schema.OperatorSlot.CUSTOM_OPTIONS, Kind.VIEW),
        _numbers("mutating_inputs", schema.OperatorSlot.MUTATING_VARIABLE_INPUTS, "?"),
        Field("offset", 0, Kind.POSITION),
    ),
)
_SUBGRAPH = _plain(
    "subgraph",
    Subgraph,
    (
        Field("tensors", schema.SubgraphSlot.TENSORS, Kind.TENSORS, _TENSOR),
        Field("operators", schema.SubgraphSlot.OPERATORS, Kind.EACH, _OPERATOR),
        Field("inputs", schema.SubgraphSlot.INPUTS, Kind.INDICES, 0),
        Field("outputs", schema.SubgraphSlot.OUTPUTS, Kind.INDICES, 0),
        _text("name", schema.SubgraphSlot.NAME),
        Field("has_operators", schema.SubgraphSlot.OPERATORS, Kind.HAS),
    ),
)
_OPERATOR_CODE = _plain(
    "operator code",
    OperatorCode,
    (
        Field(
            "builtin_code",
            schema.OperatorCodeSlot.DEPRECATED_BUILTIN_CODE,
            Kind.LARGER,
            (schema.OperatorCodeSlot.BUILTIN_CODE, "i", "b"),
        ),
        _scalar("raw_builtin_code", schema.OperatorCodeSlot.BUILTIN_CODE, "i"),
        _text("custom_code", schema.OperatorCodeSlot.CUSTOM_CODE, None),
        _scalar("version", schema.OperatorCodeSlot.VERSION, "i", 1),
    ),
)
BUFFER = _plain(
    "buffer",
    ConstantData,
    (
        Field("data", schema.BufferSlot.DATA, Kind.VIEW, DATA_ALIGNMENT),
        Field("external", schema.BufferSlot.OFFSET, Kind.OUTSIDE, schema.BufferSlot.SIZE),
        Field("address", schema.BufferSlot.DATA, Kind.ADDRESS),
    ),
)
METADATA = _plain(
    "metadata entry",
    Metadata,
    (_text("name", schema.MetadataSlot.NAME, None), _scalar("buffer", schema.MetadataSlot.BUFFER, "I")),
)
_TENSOR_MAP = Recipe(
    "tensor map",
    None,
    (_text("name", schema.TensorMapSlot.NAME), _scalar("index", schema.TensorMapSlot.TENSOR_INDEX, "I")),
)
_SIGNATURE = _plain(
    "signature",
    Signature,
    (
        _text("key", schema.SignatureSlot.SIGNATURE_KEY),
        Field("inputs", schema.SignatureSlot.INPUTS, Kind.EACH, _TENSOR_MAP),
        Field("outputs", schema.SignatureSlot.OUTPUTS, Kind.EACH, _TENSOR_MAP),
        _scalar("subgraph_index", schema.SignatureSlot.SUBGRAPH_INDEX, "I"),
        _text("deprecated_tag", schema.SignatureSlot.DEPRECATED_TAG, None),
    ),
)
MODEL = Recipe(
    "model",
    None,
    (
        _scalar("version", schema.ModelSlot.VERSION, "I"),
        Field("operator_codes", schema.ModelSlot.OPERATOR_CODES, Kind.EACH, _OPERATOR_CODE),
        Field("subgraphs", schema.ModelSlot.SUBGRAPHS, Kind.EACH, _SUBGRAPH),
        Field("buffers", schema.ModelSlot.BUFFERS, Kind.EACH, BUFFER),
        Field("metadata", schema.ModelSlot.METADATA, Kind.EACH, METADATA),
        Field("signatures", schema.ModelSlot.SIGNATURE_DEFS, Kind.EACH, _SIGNATURE),
        _text("description", schema.ModelSlot.DESCRIPTION),
        _numbers("metadata_buffers", schema.ModelSlot.METADATA_BUFFER),
    ),
)
"""The root table: the first eight attributes of :class:`~tflm_sim.model.types.Model`."""
