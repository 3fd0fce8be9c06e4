"""Edits of a .tflite file that leave every other byte as it was.

    before    [header][root table ... everything else]
    after     [header][new root table, new vectors, new buffer][header][root table ... everything else]

Offsets in a flatbuffer only point forward, so new tables can refer to old ones when they stand in front of them. The
old file follows as it is, moved by a multiple of 16 bytes so that its alignment holds.
"""

from __future__ import annotations

from tflm_sim.errors import ModelError
from tflm_sim.model.encode import table_node
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.flatbuf_writer import InTail, TableNode, TableVector, serialize
from tflm_sim.model.load import parse
from tflm_sim.model.recipes import BUFFER, METADATA
from tflm_sim.model.schema import FILE_IDENTIFIER, ModelSlot, OperatorSlot
from tflm_sim.model.types import ConstantData, Metadata, Model

_U32, _U64 = SCALARS["uint"], SCALARS["ulong"]

_LAST_KNOWN_SLOT = ModelSlot.EXTERNAL_BUFFERS


def with_metadata(source: bytes, name: str, payload: bytes) -> bytes:
    """Return the file with ``payload`` as its metadata buffer ``name``: replaced when there is one, else appended.

    A payload of the old one's size is written over it, when nothing else uses that buffer. Otherwise the file grows at
    its front, and the old payload stays in it unused.

    Raises:
        ModelError: ``source`` is not a readable model; it keeps data outside of the flatbuffer, whose positions would
            have to change; a tensor's buffer does not exist; or the root table has fields that nobody here knows.
    """
    model = parse(source)
    found = next((i for i, entry in enumerate(model.metadata) if entry.name == name), None)
    if found is not None:
        data = _sole_buffer(model, found)
        if data is not None and len(data) == len(payload):
            address = model.buffers[model.metadata[found].buffer].address
            return source[:address] + payload + source[address + len(payload) :]
    root = FlatBuffer(model.source).root()
    _refuse_unmovable(model, root)
    node = _root_with_payload(root, len(model.buffers), name, payload, found)
    return serialize(node, FILE_IDENTIFIER, tail=source)


def _sole_buffer(model: Model, entry: int) -> memoryview | None:
    """Return the data of a metadata entry when no tensor and no other entry uses its buffer."""
    buffer = model.metadata[entry].buffer
    users = [tensor.buffer for subgraph in model.subgraphs for tensor in subgraph.tensors]
    users += [other.buffer for i, other in enumerate(model.metadata) if i != entry]
    return model.buffers[buffer].data if buffer < len(model.buffers) and buffer not in users else None


def _refuse_unmovable(model: Model, root: Table) -> None:
    """Refuse a file whose tables hold positions in the file, or buffer indices that a new buffer would make valid."""
    for index, buffer in enumerate(model.buffers):
        if buffer.external is not None:
            raise ModelError(f"buffer {index} lies outside of the flatbuffer, which cannot be rewritten")
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            if tensor.buffer >= len(model.buffers):
                raise ModelError(
                    f"a tensor names buffer {tensor.buffer}, which a new one would become", offset=tensor.offset
                )
        for operator in subgraph.operators:
            table = Table(root.buffer, operator.offset)
            if table.scalar(OperatorSlot.LARGE_CUSTOM_OPTIONS_OFFSET, _U64) > 1:
                raise ModelError("an operator's custom options lie outside of the flatbuffer", offset=operator.offset)


def _root_with_payload(root: Table, buffer: int, name: str, payload: bytes, found: int | None) -> TableNode:
    """Return the new root: the old one's fields, with one more buffer (index ``buffer``) and the metadata entry."""
    node = TableNode()
    node.scalar(ModelSlot.VERSION, "uint", root.scalar(ModelSlot.VERSION, _U32))
    unknown = next((slot for slot in root.slots() if slot > _LAST_KNOWN_SLOT), None)
    if unknown is not None:
        raise ModelError(f"the model table has the unknown field {unknown}", offset=root.position)
    for slot in range(ModelSlot.VERSION + 1, _LAST_KNOWN_SLOT + 1):
        position = root.target(slot)
        node.child(slot, None if position is None else InTail(position))
    entries = _old_tables(root, ModelSlot.METADATA)
    entry = table_node(METADATA, Metadata(name, buffer), bytearray())
    entries = [*entries, entry] if found is None else [*entries[:found], entry, *entries[found + 1 :]]
    node.child(ModelSlot.METADATA, TableVector(entries))
    data = table_node(BUFFER, ConstantData(memoryview(payload)), bytearray())
    node.child(ModelSlot.BUFFERS, TableVector([*_old_tables(root, ModelSlot.BUFFERS), data]))
    return node


def _old_tables(root: Table, slot: int) -> list[TableNode | InTail]:
    """Return references to the tables of one of the old root's vectors."""
    return [InTail(table.position) for table in root.tables(slot) or ()]
