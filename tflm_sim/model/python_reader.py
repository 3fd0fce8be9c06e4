"""The reader of .tflite files in Python: follows recipes over tables, and says what is wrong with a file and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, Table
from tflm_sim.model.recipes import Field, Kind, Recipe, option_recipe
from tflm_sim.model.schema import SCALAR_CODES

_STRUCTS = {code: SCALARS[name] for name, code in SCALAR_CODES.items()}


def read_table(table: Table, recipe: Recipe, tensor_count: int = 0) -> Any:
    """Return what a recipe makes of a table.

    Args:
        table: The table.
        recipe: What to read of it.
        tensor_count: Of the subgraph around it.

    Raises:
        ModelError: Something is read that lies outside of the file, or names a tensor that there is not.
    """
    values: list[Any] = []
    for field in recipe.fields:
        value = _READERS[field.kind](table, field, tensor_count)
        if field.kind is Kind.TENSORS:
            tensor_count = len(value)
        if field.kind is Kind.OPTIONS:
            values += value
        else:
            values.append(value)
    return tuple(values) if recipe.make is None else recipe.make(*values)


def _read_each(table: Table, field: Field, tensor_count: int) -> tuple[Any, ...]:
    """Return what the recipe makes of each table, () for an absent vector; errors name the table."""
    elements = table.tables(field.slot) or ()
    built: list[Any] = []
    try:
        for element in elements:
            built.append(read_table(element, field.argument, tensor_count))
    except ModelError as problem:
        problem.message = f"{field.argument.what} {len(built)}: {problem.message}"
        raise
    return tuple(built)


def _read_table(table: Table, field: Field, tensor_count: int) -> Any:
    found = table.table(field.slot)
    return None if found is None else read_table(found, field.argument, tensor_count)


def _read_indices(table: Table, field: Field, tensor_count: int) -> tuple[int, ...] | None:
    """Return tensor indices, all in range where the reader is strict."""
    indices = table.numbers(field.slot, "i")
    first = field.argument
    if indices and not (first <= min(indices) and max(indices) < tensor_count):
        wrong = next(index for index in indices if not first <= index < tensor_count)
        fault = ModelError(f"{field.name} name tensor {wrong} of {tensor_count}", offset=table.position)
        if table.buffer.is_strict:
            raise fault
        table.buffer.index_fault = table.buffer.index_fault or fault
    return indices


def _read_larger(table: Table, field: Field, _: int) -> int:
    other, code, own = field.argument
    larger: int = max(table.scalar(other, _STRUCTS[code]), table.scalar(field.slot, _STRUCTS[own]))
    return larger


def _read_scalar(table: Table, field: Field, _: int) -> Any:
    code, default = field.argument
    return table.scalar(field.slot, _STRUCTS[code], default)


def _read_text(table: Table, field: Field, _: int) -> str | None:
    text = table.text(field.slot)
    absent: str | None = field.argument
    return absent if text is None else text


def _read_options(table: Table, field: Field, tensor_count: int) -> tuple[str, dict[str, Any]]:
    """Return the name of the builtin options table ("" for none) and its fields."""
    for type_slot, slot, names in field.argument:
        number = table.scalar(type_slot, _STRUCTS["B"])
        if number:
            name = names[number] if number < len(names) else f"unknown options {number}"
            fields = option_recipe(name)
            options = table.table(slot) if fields else None
            if options is None:
                return name, {}
            return name, {one.name: _READERS[one.kind](options, one, tensor_count) for one in fields}
    return "", {}


def _read_outside(table: Table, field: Field, _: int) -> memoryview | None:
    """Return constant data outside of the flatbuffer; an offset of 0 or 1 means that there are none.

    Source: schema.fbs @ 90b983c.
    """
    start = table.scalar(field.slot, _STRUCTS["Q"])
    if start <= 1:
        return None
    end = start + table.scalar(field.argument, _STRUCTS["Q"])
    if end > table.buffer.size:
        raise ModelError(f"its data ends at byte {end} of a file of {table.buffer.size}", offset=table.position)
    return table.buffer.data[start:end]


def _read_address(table: Table, field: Field, _: int) -> int:
    position = table.target(field.slot)
    return 0 if position is None else position + 4


_READERS: dict[Kind, Callable[[Table, Field, int], Any]] = {
    Kind.SCALAR: _read_scalar,
    Kind.LARGER: _read_larger,
    Kind.TEXT: _read_text,
    Kind.NUMBERS: lambda table, field, _: table.numbers(field.slot, field.argument),
    Kind.INDICES: _read_indices,
    Kind.RAW: lambda table, field, _: table.raw_numbers(field.slot, field.argument) or (),
    Kind.VIEW: lambda table, field, _: table.view(field.slot),
    Kind.TABLE: _read_table,
    Kind.EACH: _read_each,
    Kind.TENSORS: _read_each,
    Kind.HAS: lambda table, field, _: table.has(field.slot),
    Kind.POSITION: lambda table, field, _: table.position,
    Kind.ADDRESS: _read_address,
    Kind.OUTSIDE: _read_outside,
    Kind.OPTIONS: _read_options,
}
