"""What a .tflite file contains and a :class:`Model` does not keep: fields to refuse, and bytes behind the flatbuffer.

    file    [flatbuffer: every table that the schema names][appended bytes: a zip with labels, ...]

A flatbuffer does not say how long it is: it ends where the last thing that can be reached from its root ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.load import parse_flatbuffer
from tflm_sim.model.recipes import MODEL, Field, Kind, Recipe, option_recipe
from tflm_sim.model.schema import ModelSlot, OperatorSlot, QuantizationSlot, TensorSlot

_U16, _I32 = SCALARS["ushort"], SCALARS["int"]

# What the schema names and a Model does not keep, by recipe: (name, type, default) of a scalar, which may be written
# out with its default. Source: tensorflow/compiler/mlir/lite/schema/schema.fbs @ 90b983c.
_NAMED: dict[tuple[str, int], tuple[str, str, int]] = {
    ("model", ModelSlot.EXTERNAL_BUFFER_GROUPS): ("external_buffer_groups", "", 0),
    ("model", ModelSlot.EXTERNAL_BUFFERS): ("external_buffers", "", 0),
    ("subgraph", 5): ("debug_metadata_index", "int", -1),
    ("tensor", TensorSlot.SPARSITY): ("sparsity", "", 0),
    ("tensor", 9): ("variant_tensors", "", 0),
    ("tensor", 10): ("external_buffer", "uint", 0),
    ("quantization", QuantizationSlot.DETAILS): ("details", "", 0),
    ("operator", OperatorSlot.CUSTOM_OPTIONS_FORMAT): ("custom_options_format", "byte", 0),
    ("operator", OperatorSlot.LARGE_CUSTOM_OPTIONS_OFFSET): ("large_custom_options_offset", "ulong", 0),
    ("operator", 10): ("large_custom_options_size", "ulong", 0),
    ("operator", 13): ("debug_metadata_index", "int", -1),
}


class MeasuredFlatBuffer(FlatBuffer):
    """A flatbuffer that notes how far reading it went (mutable: ``end``).

    Attributes:
        end: The end of the last thing that was read.
    """

    __slots__ = ("end",)

    def __init__(self, data: memoryview) -> None:
        super().__init__(data)
        self.end = 8

    def _read_vtable(self, position: int) -> tuple[int, ...]:
        fields = super()._read_vtable(position)
        self.end = max(self.end, position + _U16.unpack_from(self.data, position)[0])
        return fields

    def fields(self, position: int) -> tuple[int, ...]:
        """Return where a table keeps its fields; the table ends where its vtable says so."""
        fields = super().fields(position)
        vtable = position - int.from_bytes(self.data[position : position + 4], "little", signed=True)
        self.end = max(self.end, position + self.scalar(_U16, vtable + 2))
        return fields

    def vector(self, position: int, width: int) -> tuple[int, int]:
        """Return (position of the first element, count) of a vector."""
        start, count = super().vector(position, width)
        self.end = max(self.end, start + count * width)
        return start, count

    def take_orphans(self) -> None:
        """Count tables at the end that nothing refers to: old converters left the first that they wrote there."""
        while self.end + 4 <= self.size and self.end - self.scalar(_I32, self.end) in self._vtables:
            vtable = self.end - self.scalar(_I32, self.end)
            self.end += max(4, self.scalar(_U16, vtable + 2))


@dataclass(frozen=True, slots=True)
class Appended:
    """What follows a flatbuffer in its file.

    Attributes:
        position: Where it starts in the file.
        data: The bytes; none when only padding follows.
    """

    position: int
    data: bytes

    def behind(self, flatbuffer: bytes) -> bytes:
        """Return another flatbuffer with the same bytes behind it, at the same position when it is not longer.

        A zip may count its offsets from the start of the file; readers make up for a file that grew, not for one that
        shrank.
        """
        if not self.data:
            return flatbuffer
        return flatbuffer + bytes(max(0, self.position - len(flatbuffer))) + self.data


def appended(source: memoryview) -> Appended:
    """Return what follows the flatbuffer of a file; nothing for a model that has no file.

    Raises:
        ModelError: The bytes are not a readable model.
    """
    if not len(source):
        return Appended(0, b"")
    read, walked = MeasuredFlatBuffer(source), MeasuredFlatBuffer(source)
    parse_flatbuffer(read)
    for _ in _tables(walked):
        pass
    read.end = max(read.end, walked.end)
    read.take_orphans()
    end = min(read.end, len(source))
    rest = bytes(source[end:])
    return Appended(end, rest if rest.strip(b"\0") else b"")


def refuse_unkept(source: memoryview) -> None:
    """Refuse a file with a field that a Model does not keep.

    Raises:
        ModelError: There is one; the sentence names it.
    """
    if not len(source):
        return
    for where, kind, fields, table in _tables(FlatBuffer(source)):
        kept = {slot for field in fields for slot in _slots(field)}
        for slot in table.slots():
            if slot in kept:
                continue
            name, scalar, default = _NAMED.get((kind, slot), ("", "", 0))
            if scalar and table.scalar(slot, SCALARS[scalar], default) == default:
                continue
            unkept = f"the field {name}" if name else f"the unknown field {slot} of its {kind} table"
            raise ModelError(f"{where} has {unkept}, which cannot be rewritten", offset=table.position)


def _slots(field: Field) -> tuple[int, ...]:
    """Return the slots of a table that a field of its recipe keeps."""
    if field.kind in (Kind.HAS, Kind.POSITION):
        return ()
    if field.kind is Kind.LARGER:
        return field.slot, field.argument[0]
    if field.kind is Kind.OUTSIDE:
        return field.slot, field.argument
    if field.kind is Kind.OPTIONS:
        return tuple(slot for type_slot, slot, _ in field.argument for slot in (type_slot, slot))
    return (field.slot,)


_Found = tuple[str, str, tuple[Field, ...], Table]


def _tables(buffer: FlatBuffer) -> Iterator[_Found]:
    """Yield (where it is, what it is, the fields that are kept of it, the table) for each table under the root."""
    return _below("the model", MODEL, buffer.root())


def _below(where: str, recipe: Recipe, table: Table) -> Iterator[_Found]:
    yield where, recipe.what, recipe.fields, table
    for field in recipe.fields:
        if field.kind is Kind.OPTIONS:
            yield from _options(where, field, table)
        elif field.kind is Kind.TABLE and (found := table.table(field.slot)) is not None:
            yield from _below(where, field.argument, found)
        elif field.kind in (Kind.EACH, Kind.TENSORS):
            inside = "" if recipe is MODEL else f" of {where}"
            for index, element in enumerate(table.tables(field.slot) or ()):
                yield from _below(f"{field.argument.what} {index}{inside}", field.argument, element)


def _options(where: str, field: Field, operator: Table) -> Iterator[_Found]:
    """Yield the builtin options of an operator, also those without a field."""
    numbers = [operator.scalar(type_slot, SCALARS["ubyte"]) for type_slot, _, _ in field.argument]
    if all(numbers):
        raise ModelError(f"{where} has options of both unions, which cannot be rewritten", offset=operator.position)
    for number, (_, slot, names) in zip(numbers, field.argument, strict=True):
        options = operator.table(slot)
        if options is not None and number < len(names):
            yield where, names[number], option_recipe(names[number]), options
        elif options is not None or number >= len(names):
            raise ModelError(
                f"{where} has unknown options {number}, which cannot be rewritten", offset=operator.position
            )
