"""What a .tflite file holds that a :class:`Model` does not keep: fields to refuse, and bytes behind the flatbuffer.

    file    [flatbuffer: every table that the schema names][appended bytes: a zip with labels, ...]

A flatbuffer does not say how long it is: it ends where the last thing that can be reached from its root ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.errors import ModelError
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.load import parse_flatbuffer
from tflm_sim.model.schema import (
    BUILTIN_OPTIONS,
    BUILTIN_OPTIONS_2,
    ModelSlot,
    OperatorSlot,
    QuantizationSlot,
    SignatureSlot,
    SubgraphSlot,
    TensorSlot,
    option_fields,
)

_U16, _I32 = SCALARS["ushort"], SCALARS["int"]
_UNION_TYPES = OperatorSlot.BUILTIN_OPTIONS_TYPE, OperatorSlot.BUILTIN_OPTIONS_2_TYPE

# Fields that a Model keeps, by table. Source: tensorflow/compiler/mlir/lite/schema/schema.fbs @ 90b983c.
_KEPT: dict[str, frozenset[int]] = {
    "Model": frozenset(range(ModelSlot.SIGNATURE_DEFS + 1)),
    "OperatorCode": frozenset(range(4)),
    "SubGraph": frozenset(range(SubgraphSlot.NAME + 1)),
    "Tensor": frozenset(range(TensorSlot.HAS_RANK + 1)) - {TensorSlot.SPARSITY},
    "QuantizationParameters": frozenset(range(7)) - {QuantizationSlot.DETAILS},
    "Operator": frozenset(range(OperatorSlot.BUILTIN_OPTIONS_2 + 1)) - {6, 9, 10},
    "Buffer": frozenset(range(3)),
    "Metadata": frozenset(range(2)),
    "SignatureDef": frozenset(range(SignatureSlot.SUBGRAPH_INDEX + 1)),
    "TensorMap": frozenset(range(2)),
}

# The others that the schema names: (name, type, default) of a scalar, which may be written out with its default.
_OTHERS: dict[tuple[str, int], tuple[str, str, int]] = {
    ("Model", 8): ("external_buffer_groups", "", 0),
    ("Model", 9): ("external_buffers", "", 0),
    ("SubGraph", 5): ("debug_metadata_index", "int", -1),
    ("Tensor", TensorSlot.SPARSITY): ("sparsity", "", 0),
    ("Tensor", 9): ("variant_tensors", "", 0),
    ("Tensor", 10): ("external_buffer", "uint", 0),
    ("QuantizationParameters", QuantizationSlot.DETAILS): ("details", "", 0),
    ("Operator", OperatorSlot.CUSTOM_OPTIONS_FORMAT): ("custom_options_format", "byte", 0),
    ("Operator", OperatorSlot.LARGE_CUSTOM_OPTIONS_OFFSET): ("large_custom_options_offset", "ulong", 0),
    ("Operator", 10): ("large_custom_options_size", "ulong", 0),
    ("Operator", 13): ("debug_metadata_index", "int", -1),
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
    for where, kind, table in _tables(FlatBuffer(source)):
        kept = _KEPT.get(kind) or frozenset(field.slot for field in option_fields(kind))
        for slot in table.slots():
            if slot in kept:
                continue
            name, scalar, default = _OTHERS.get((kind, slot), ("", "", 0))
            if scalar and table.scalar(slot, SCALARS[scalar], default) == default:
                continue
            field = f"the field {name}" if name else f"the unknown field {slot} of {kind}"
            raise ModelError(f"{where} has {field}, which cannot be rewritten", offset=table.position)


def _tables(buffer: FlatBuffer) -> Iterator[tuple[str, str, Table]]:
    """Yield (where it is, the schema's name, the table) for each table under the root."""
    root = buffer.root()
    yield "the model", "Model", root
    for number, subgraph in enumerate(root.tables(ModelSlot.SUBGRAPHS) or ()):
        yield f"subgraph {number}", "SubGraph", subgraph
        for index, tensor in enumerate(subgraph.tables(SubgraphSlot.TENSORS) or ()):
            where = f"tensor {index} of subgraph {number}"
            yield where, "Tensor", tensor
            quantization = tensor.table(TensorSlot.QUANTIZATION)
            if quantization is not None:
                yield where, "QuantizationParameters", quantization
        for index, operator in enumerate(subgraph.tables(SubgraphSlot.OPERATORS) or ()):
            yield from _operator_tables(f"operator {index} of subgraph {number}", operator)
    for slot, kind in (
        (ModelSlot.OPERATOR_CODES, "OperatorCode"),
        (ModelSlot.BUFFERS, "Buffer"),
        (ModelSlot.METADATA, "Metadata"),
        (ModelSlot.SIGNATURE_DEFS, "SignatureDef"),
    ):
        for index, table in enumerate(root.tables(slot) or ()):
            yield f"{kind} {index}", kind, table
            for entries in (SignatureSlot.INPUTS, SignatureSlot.OUTPUTS) if kind == "SignatureDef" else ():
                yield from ((f"{kind} {index}", "TensorMap", entry) for entry in table.tables(entries) or ())


def _operator_tables(where: str, operator: Table) -> Iterator[tuple[str, str, Table]]:
    """Yield an operator and its options, also those without a field."""
    yield where, "Operator", operator
    if all(operator.scalar(slot, SCALARS["ubyte"]) for slot in _UNION_TYPES):
        raise ModelError(f"{where} has options of both unions, which cannot be rewritten", offset=operator.position)
    for type_slot, slot, names in (
        (OperatorSlot.BUILTIN_OPTIONS_TYPE, OperatorSlot.BUILTIN_OPTIONS, BUILTIN_OPTIONS),
        (OperatorSlot.BUILTIN_OPTIONS_2_TYPE, OperatorSlot.BUILTIN_OPTIONS_2, BUILTIN_OPTIONS_2),
    ):
        number, options = operator.scalar(type_slot, SCALARS["ubyte"]), operator.table(slot)
        if options is not None and number < len(names):
            yield where, names[number], options
        elif options is not None or number >= len(names):
            raise ModelError(
                f"{where} has unknown options {number}, which cannot be rewritten", offset=operator.position
            )
