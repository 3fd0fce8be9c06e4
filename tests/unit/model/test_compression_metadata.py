"""COMPRESSION_METADATA: what TFLM would use, and the lines that it prints where it would not."""

from dataclasses import replace
from struct import pack

import pytest

from tflm_sim.model.compression_metadata import METADATA_NAME, CompressionMetadata, LutTensor, find_compression
from tflm_sim.model.flatbuf_writer import TableNode, TableVector, serialize
from tflm_sim.model.types import ConstantData, Metadata, Model


def lut_tensor(tensor: int, value_buffer: int, bitwidth: int) -> TableNode:
    table = TableNode()
    table.scalar(0, "int", tensor)
    table.scalar(1, "uint", value_buffer)
    table.scalar(2, "ubyte", bitwidth)
    return table


def payload(*subgraphs: list[TableNode] | None, version: int = 1) -> bytes:
    root = TableNode()
    root.scalar(0, "uint", version, 1)
    tables = []
    for tensors in subgraphs:
        table = TableNode()
        table.child(0, None if tensors is None else TableVector(tensors))
        tables.append(table)
    root.child(1, TableVector(tables))
    return serialize(root, b"\0\0\0\0")


def model(*buffers: bytes | None, entries: tuple[Metadata, ...] = (Metadata(METADATA_NAME, 1),)) -> Model:
    data = tuple(ConstantData(None if data is None else memoryview(data)) for data in (None, *buffers))
    return Model(version=3, operator_codes=(), subgraphs=(), buffers=data, metadata=entries)


def test_a_model_without_the_metadata_has_no_compression() -> None:
    assert find_compression(model(entries=())) == (None, ())
    assert find_compression(model(entries=(Metadata(None, 1), Metadata("COMPRESSION", 1)))) == (None, ())


def test_the_tensors_of_each_subgraph() -> None:
    data = payload([lut_tensor(3, 7, 4), lut_tensor(1, 8, 2)], [], None)
    assert find_compression(model(data)) == (
        CompressionMetadata(1, ((LutTensor(3, 7, 4), LutTensor(1, 8, 2)), (), None)),
        (),
    )


def test_a_metadata_table_without_subgraphs() -> None:
    assert find_compression(model(serialize(TableNode(), b"\0\0\0\0"))) == (CompressionMetadata(1, None), ())


def test_an_index_is_kept_as_stored() -> None:
    found, _ = find_compression(model(payload([lut_tensor(-1, 2**32 - 1, 255)])))
    assert found == CompressionMetadata(1, ((LutTensor(-1, 2**32 - 1, 255),),))


@pytest.mark.parametrize("index", [0, 2, 99])
def test_a_wrong_buffer_index_is_skipped_with_a_message(index: int) -> None:
    good = Metadata(METADATA_NAME, 1)
    found, log = find_compression(model(payload([]), entries=(Metadata(METADATA_NAME, index), good)))
    assert found == CompressionMetadata(1, ((),))
    assert log == (f"Compression: Invalid buffer index {index}",)


def test_a_buffer_without_data_is_skipped_with_a_message() -> None:
    assert find_compression(model(None)) == (None, ("Compression: Invalid data for buffer index 1",))


def test_a_newer_schema_is_not_used() -> None:
    line = "Compression: schema version mismatch (using 1 got 2)"
    assert find_compression(model(payload([], version=2))) == (None, (line,))


FAILURE = (None, ("Compression: verification failure",))


@pytest.mark.parametrize("size", [0, 3, 4, 8, 12, 16])
def test_a_truncated_buffer_fails_the_verifier(size: int) -> None:
    assert find_compression(model(payload([lut_tensor(3, 7, 4)])[:size])) == FAILURE


def test_the_verifier_wants_alignment_that_a_reader_could_do_without() -> None:
    # A table at 10: readable, but not at a multiple of 4.
    data = pack("<I4xHi8x", 10, 4, 10 - 8)
    assert find_compression(model(data)) == FAILURE


def test_the_verifier_wants_every_table_of_a_vector() -> None:
    data = bytearray(payload([lut_tensor(3, 7, 4)], [lut_tensor(11, 12, 1)]))
    assert find_compression(model(bytes(data)))[0] is not None
    last = data.rindex(pack("<II", 11, 12))  # the first fields of the last table, behind its i32
    data[last - 4 : last] = pack("<i", 1000)
    assert find_compression(model(bytes(data))) == FAILURE


def test_the_first_readable_entry_decides() -> None:
    first, second = payload([lut_tensor(11, 12, 1)]), payload([lut_tensor(2, 2, 2)])
    entries = (Metadata(METADATA_NAME, 2), Metadata(METADATA_NAME, 1))
    found, _ = find_compression(model(first, second, entries=entries))
    assert found == CompressionMetadata(1, ((LutTensor(2, 2, 2),),))


def test_metadata_survives_in_a_file() -> None:
    from tflm_sim.model.encode import encode
    from tflm_sim.model.load import parse

    original = model(payload([lut_tensor(3, 7, 4)]))
    assert find_compression(parse(encode(replace(original)))) == find_compression(original)
