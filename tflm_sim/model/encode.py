"""A :class:`Model` as the bytes of a .tflite file, written by the recipes that read one.

Invariant: ``parse(encode(model))`` is ``model``, but for positions in the file. What a Model does not keep (sparsity
tables, quantization details) comes out as an empty table of that kind, and the rest of it not at all:
:mod:`~tflm_sim.model.unkept` refuses such files, and carries the bytes behind the flatbuffer. Constant data is aligned
as its recipe says, because kernels read it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS
from tflm_sim.model.flatbuf_writer import TAIL_ALIGNMENT, Blob, TableNode, TableVector, numbers, serialize, text
from tflm_sim.model.recipes import MODEL, Field, Kind, Recipe, option_recipe
from tflm_sim.model.schema import FILE_IDENTIFIER, QuantizationSlot
from tflm_sim.model.types import Model, OptionValue, Quantization
from tflm_sim.units import align_up

# The one-byte field of old files: greater codes leave this placeholder there. Source: schema.fbs @ 90b983c.
PLACEHOLDER_FOR_GREATER_OP_CODES = 127

_TYPES = {kind.format[1:]: name for name, kind in SCALARS.items()}
_RAW_CODES = {4: "f", 8: "q"}
_LEFT_OUT_WHEN_EMPTY = ("metadata", "signatures")

Writer = Callable[[TableNode, Field, Any, bytearray], None]


def encode(model: Model) -> bytes:
    """Return ``model`` as a .tflite file; data outside of the flatbuffer follows it.

    Raises:
        ModelError: An operator names an options table that the schema does not have.
    """
    tail = bytearray()
    return serialize(table_node(MODEL, model, tail), FILE_IDENTIFIER, tail=tail)


def table_node(recipe: Recipe, value: Any, tail: bytearray) -> TableNode:
    """Return the table that the recipe reads as ``value``; data outside of the flatbuffer goes to ``tail``."""
    node = TableNode()
    for field, attribute in zip(recipe.fields, _attributes(recipe, value), strict=True):
        _WRITERS[field.kind](node, field, attribute, tail)
    if recipe.make is Quantization and value.details_type:
        node.child(QuantizationSlot.DETAILS, TableNode())
    return node


def _attributes(recipe: Recipe, value: Any) -> Iterator[Any]:
    """Yield the value of each field of a recipe; for options, the table's name and the values."""
    if isinstance(value, tuple):
        yield from value
        return
    for field in recipe.fields:
        attribute = getattr(value, field.name)
        yield (attribute, value.options) if field.kind is Kind.OPTIONS else attribute


def _scalar(node: TableNode, field: Field, value: Any, _: bytearray) -> None:
    code, default = field.argument
    assert isinstance(value, int | float), f"{field.name} is not a number"
    node.scalar(field.slot, _TYPES[code], value, default)


def _larger(node: TableNode, field: Field, value: int, _: bytearray) -> None:
    """Write the one-byte field of old files; the newer field has an attribute of its own."""
    *_, own = field.argument
    node.scalar(field.slot, _TYPES[own], min(value, PLACEHOLDER_FOR_GREATER_OP_CODES))


def _view(node: TableNode, field: Field, value: memoryview | None, _: bytearray) -> None:
    if value is not None:
        node.child(field.slot, Blob(len(value), value, field.argument or 4))


def _table(node: TableNode, field: Field, value: Any, tail: bytearray) -> None:
    if value is not None:
        node.child(field.slot, table_node(field.argument, value, tail))


def _each(node: TableNode, field: Field, values: tuple[Any, ...], tail: bytearray) -> None:
    if values or field.name not in _LEFT_OUT_WHEN_EMPTY:
        node.child(field.slot, TableVector([table_node(field.argument, value, tail) for value in values]))


def _has(node: TableNode, field: Field, value: bool, _: bytearray) -> None:
    """Omit a field that the file did not store; write an empty table for one whose content is not kept."""
    if not value:
        node.children.pop(field.slot, None)
    elif field.slot not in node.children:
        node.child(field.slot, TableNode())


def _outside(node: TableNode, field: Field, value: memoryview | None, tail: bytearray) -> None:
    if value is not None:
        tail += bytes(align_up(len(tail), TAIL_ALIGNMENT) - len(tail))
        node.tail_position(field.slot, len(tail))
        node.scalar(field.argument, "ulong", len(value))
        tail += value


def _options(node: TableNode, field: Field, value: tuple[str, Mapping[str, OptionValue]], tail: bytearray) -> None:
    """Write the builtin options into the union that has their table; every field of it."""
    name, options = value
    if not name:
        return
    union = next((union for union in field.argument if name in union[2]), None)
    if union is None:
        raise ModelError(f"the schema has no options table '{name}'")
    type_slot, slot, names = union
    node.scalar(type_slot, "ubyte", names.index(name))
    fields = option_recipe(name)
    if options or not fields:
        table = TableNode()
        for one in fields:
            default = one.argument[1] if one.kind is Kind.SCALAR else None
            _WRITERS[one.kind](table, one, options.get(one.name, default), tail)
        node.child(slot, table)


def _position(node: TableNode, field: Field, value: int, tail: bytearray) -> None:
    """Write nothing: positions in the file follow from the writing."""


_WRITERS: dict[Kind, Writer] = {
    Kind.SCALAR: _scalar,
    Kind.LARGER: _larger,
    Kind.TEXT: lambda node, field, value, _: node.child(field.slot, text(None if value == field.argument else value)),
    Kind.NUMBERS: lambda node, field, value, _: node.child(field.slot, numbers(field.argument, value)),
    Kind.INDICES: lambda node, field, value, _: node.child(field.slot, numbers("i", value)),
    Kind.RAW: lambda node, field, value, _: node.child(field.slot, numbers(_RAW_CODES[field.argument], value or None)),
    Kind.VIEW: _view,
    Kind.TABLE: _table,
    Kind.EACH: _each,
    Kind.TENSORS: _each,
    Kind.HAS: _has,
    Kind.POSITION: _position,
    Kind.ADDRESS: _position,
    Kind.OUTSIDE: _outside,
    Kind.OPTIONS: _options,
}
