"""What a file holds that a Model does not keep: refused by name, or carried behind the flatbuffer."""

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft, refuse_unwritable
from tflm_sim.model.encode import encode
from tflm_sim.model.flatbuf_writer import TableNode, TableVector, serialize
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, Quantization, TensorType
from tflm_sim.model.unkept import Appended, appended


def small_model() -> Model:
    b = ModelBuilder()
    x = b.tensor((1, 4), TensorType.INT8, scale=0.5)
    w = b.tensor((4,), TensorType.INT8, data=[1, 2, 3, 4], scale=0.5)
    y = b.tensor((1, 4), TensorType.INT8, scale=0.5)
    b.operator("ADD", [x, w], [y])
    b.signature("serve", {"x": x}, {"y": y})
    b.metadata("min_runtime_version", b"1.5.0")
    return parse(b.build(inputs=[x], outputs=[y]))


def full_model() -> Model:
    """Return a model with every field that TFLM never reads and a Model keeps."""
    model = small_model()
    main = model.subgraphs[0]
    seen = Quantization((0.5,), (0,), min=(-64.0,), max=(63.5,))
    return replace(
        model,
        metadata_buffers=(model.metadata[0].buffer,),
        signatures=(replace(model.signatures[0], deprecated_tag="serve"),),
        subgraphs=(
            replace(
                main,
                tensors=(replace(main.tensors[0], quantization=seen, has_rank=True), *main.tensors[1:]),
                operators=(replace(main.operators[0], mutating_inputs=(False, True)),),
            ),
        ),
    )


@pytest.mark.parametrize("way", [lambda model: model, lambda model: Draft(model).model()], ids=["encoded", "drafted"])
def test_what_tflm_never_reads_is_written_again(way: Callable[[Model], Model]) -> None:
    written = parse(encode(way(full_model())))
    tensor, operator = written.subgraphs[0].tensors[0], written.subgraphs[0].operators[0]
    assert tensor.quantization is not None
    assert tensor.quantization.range == ((-64.0,), (63.5,))
    assert tensor.has_rank
    assert not written.subgraphs[0].tensors[1].has_rank
    assert operator.mutating_inputs == (False, True)
    assert written.signatures[0].deprecated_tag == "serve"
    assert written.metadata_buffers == (written.metadata[0].buffer,)
    assert bytes(written.buffers[written.metadata[0].buffer].data or b"") == b"1.5.0"
    refuse_unwritable(written)


def test_what_follows_the_flatbuffer_is_found() -> None:
    source = bytes(encode(full_model()))
    found = appended(memoryview(source + b"PK\5\6 labels"))
    assert source[found.position :].strip(b"\0") == b""
    assert source[found.position :] + b"PK\5\6 labels" == found.data


def test_padding_behind_the_flatbuffer_is_nothing() -> None:
    assert appended(memoryview(bytes(encode(full_model())) + bytes(15))).data == b""


def test_a_table_without_fields_may_be_the_last_of_the_file() -> None:
    b = ModelBuilder()
    x = b.tensor((1, 4), TensorType.FLOAT32)
    b.operator("EXP", [x], [x])
    assert appended(memoryview(b.build(inputs=[x], outputs=[x]))).data == b""


def test_a_table_at_the_end_that_nothing_refers_to_belongs_to_the_flatbuffer() -> None:
    # An empty vtable (4 bytes long, for tables of 4) and the table that uses it, and another one, unused.
    source = serialize(TableNode(), b"TFL3")
    # 4 + 4 bytes in front, the vtable at 8, the table at 12: the unused one at 16 is 8 bytes behind its vtable.
    assert appended(memoryview(source + struct.pack("<i", 8))).data == b""
    assert appended(memoryview(source + struct.pack("<i", 8) + b"PK")) == Appended(20, b"PK")


def test_a_model_that_is_no_file_has_nothing_behind_it() -> None:
    assert appended(memoryview(b"")) == Appended(0, b"")


def test_appended_bytes_stay_where_they_were_unless_the_file_grew() -> None:
    zip_file = Appended(8, b"PK")
    assert zip_file.behind(b"12345") == b"12345\0\0\0PK"
    assert zip_file.behind(b"1234567890") == b"1234567890PK"
    assert Appended(8, b"").behind(b"12345") == b"12345"


def file_with(kind: str, slot: int, scalar: int | None, scalar_type: str = "int") -> Model:
    """Return a file whose only table of a kind has one more field: a vector, or an int that may be the default."""
    tables = {
        name: TableNode() for name in ("Model", "SubGraph", "Tensor", "Operator", "OperatorCode", "Conv2DOptions")
    }
    tables["Model"].child(1, TableVector([tables["OperatorCode"]]))
    tables["Model"].child(2, TableVector([tables["SubGraph"]]))
    tables["Model"].child(4, TableVector([TableNode()]))
    tables["SubGraph"].child(0, TableVector([tables["Tensor"]]))
    tables["SubGraph"].child(3, TableVector([tables["Operator"]]))
    tables["Operator"].scalar(3, "ubyte", 1)
    tables["Operator"].child(4, tables["Conv2DOptions"])
    if scalar is None:
        tables[kind].child(slot, TableVector([]))
    else:
        tables[kind].scalars[slot] = (scalar_type, scalar)
    return parse(serialize(tables["Model"], b"TFL3"))


@pytest.mark.parametrize(
    ("kind", "slot", "sentence"),
    [
        ("Model", 8, "the model has the field external_buffer_groups,"),
        ("Model", 10, "the model has the unknown field 10 of its model table,"),
        ("SubGraph", 5, "subgraph 0 has the field debug_metadata_index,"),
        ("Tensor", 6, "tensor 0 of subgraph 0 is sparse,"),
        ("Tensor", 9, "tensor 0 of subgraph 0 has the field variant_tensors,"),
        ("Tensor", 11, "tensor 0 of subgraph 0 has the unknown field 11 of its tensor table,"),
        ("Operator", 13, "operator 0 of subgraph 0 has the field debug_metadata_index,"),
        ("Operator", 14, "operator 0 of subgraph 0 has the unknown field 14 of its operator table,"),
        ("OperatorCode", 4, "operator code 0 has the unknown field 4 of its operator code table,"),
        ("Conv2DOptions", 9, "operator 0 of subgraph 0 has the unknown field 9 of its Conv2DOptions table,"),
        # Behind what a view of a table keeps.
        ("Conv2DOptions", 19, "operator 0 of subgraph 0 has the unknown field 19 of its Conv2DOptions table,"),
        ("Conv2DOptions", 20, "operator 0 of subgraph 0 has the unknown field 20 of its Conv2DOptions table,"),
        ("Tensor", 21, "tensor 0 of subgraph 0 has the unknown field 21 of its tensor table,"),
        ("Model", 5000, "the model has the unknown field 5000 of its model table,"),
    ],
)
def test_a_field_that_would_be_lost_is_refused_by_name(kind: str, slot: int, sentence: str) -> None:
    with pytest.raises(ModelError, match=f"^{sentence} which cannot be rewritten"):
        refuse_unwritable(file_with(kind, slot, None))


# Source: schema.fbs @ 90b983c, tables Tensor, Operator and SubGraph.
@pytest.mark.parametrize(
    ("kind", "slot", "scalar", "default", "name"),
    [
        ("SubGraph", 5, "int", -1, "debug_metadata_index"),
        ("Tensor", 10, "uint", 0, "external_buffer"),
        ("Operator", 6, "byte", 0, "custom_options_format"),
        ("Operator", 9, "ulong", 0, "large_custom_options_offset"),
        ("Operator", 10, "ulong", 0, "large_custom_options_size"),
        ("Operator", 13, "int", -1, "debug_metadata_index"),
    ],
)
def test_a_default_that_is_written_out_is_no_loss_and_any_other_number_is(
    kind: str, slot: int, scalar: str, default: int, name: str
) -> None:
    refuse_unwritable(file_with(kind, slot, default, scalar))
    with pytest.raises(ModelError, match=f" has the field {name},"):
        refuse_unwritable(file_with(kind, slot, default + 1, scalar))


def test_options_that_the_schema_does_not_have_are_refused() -> None:
    model = file_with("Operator", 13, -1)
    data = bytearray(model.source)
    at = model.subgraphs[0].operators[0].offset
    vtable = at - struct.unpack_from("<i", data, at)[0]
    data[at + struct.unpack_from("<H", data, vtable + 4 + 2 * 3)[0]] = 250
    with pytest.raises(ModelError, match=r"unknown options 250, which cannot be rewritten"):
        refuse_unwritable(parse(bytes(data)))
