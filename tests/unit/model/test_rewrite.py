"""Metadata edits: the new payload is there, every other byte is as it was."""

from dataclasses import replace

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import refuse_unwritable
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import ConstantData, Metadata, Model, TensorType

NAME = "OfflineMemoryAllocation"


def model_bytes(*metadata: tuple[str, bytes]) -> bytes:
    b = ModelBuilder(description="sample")
    x = b.tensor((1, 4), TensorType.INT8, scale=0.5)
    w = b.tensor((4,), TensorType.INT8, data=[1, 2, 3, 4], scale=0.5)
    b.operator("ADD", [x, w], [x])
    b.signature("serving_default", {"x": x}, {"y": x})
    for name, payload in metadata:
        b.metadata(name, payload)
    return b.build(inputs=[x], outputs=[x])


def payloads(model: Model) -> list[tuple[str | None, bytes | None]]:
    return [(entry.name, bytes(model.buffers[entry.buffer].data or b"")) for entry in model.metadata]


def without_positions(model: Model) -> Model:
    return replace(
        model,
        source=memoryview(b""),
        metadata=(),
        buffers=tuple(replace(buffer, address=0) for buffer in model.buffers[:2]),
        subgraphs=tuple(
            replace(
                subgraph,
                tensors=tuple(replace(tensor, offset=0) for tensor in subgraph.tensors),
                operators=tuple(replace(operator, offset=0) for operator in subgraph.operators),
            )
            for subgraph in model.subgraphs
        ),
    )


def test_a_new_entry_is_appended_and_the_old_file_follows_as_it_is() -> None:
    source = model_bytes(("min_runtime_version", b"1.5.0"))
    data = with_metadata(source, NAME, b"payload!")
    assert data.endswith(source)
    assert (len(data) - len(source)) % 16 == 0
    model = parse(data)
    assert payloads(model) == [("min_runtime_version", b"1.5.0"), (NAME, b"payload!")]
    assert model.buffers[-1].address % 16 == 0
    assert without_positions(model) == without_positions(parse(source))


def test_a_model_without_metadata_gets_some() -> None:
    assert payloads(parse(with_metadata(model_bytes(), NAME, b"abc"))) == [(NAME, b"abc")]


def test_an_entry_of_the_same_size_is_written_over() -> None:
    source = model_bytes((NAME, b"old."), ("other", b"...."))
    data = with_metadata(source, NAME, b"new!")
    assert data == source.replace(b"old.", b"new!")
    assert payloads(parse(data)) == [(NAME, b"new!"), ("other", b"....")]


def test_an_entry_of_another_size_is_replaced_in_its_place() -> None:
    source = model_bytes((NAME, b"old"), ("other", b"...."))
    data = with_metadata(source, NAME, b"longer payload")
    assert data.endswith(source)
    assert payloads(parse(data)) == [(NAME, b"longer payload"), ("other", b"....")]


def test_a_buffer_that_a_tensor_uses_too_is_left_alone() -> None:
    model = replace(parse(model_bytes()), metadata=(Metadata(NAME, 1),))
    data = with_metadata(encode(model), NAME, b"4321")
    edited = parse(data)
    assert payloads(edited) == [(NAME, b"4321")]
    assert edited.tensor_data(edited.subgraphs[0].tensors[1]) == b"\x01\x02\x03\x04"


def test_twice_is_the_same_as_once() -> None:
    once = with_metadata(model_bytes(), NAME, b"abcd")
    assert with_metadata(once, NAME, b"abcd") == once


def test_data_outside_of_the_flatbuffer_is_refused() -> None:
    model = parse(model_bytes())
    source = encode(replace(model, buffers=(*model.buffers, ConstantData(None, memoryview(b"far")))))
    with pytest.raises(ModelError, match="buffer 2 lies outside of the flatbuffer"):
        with_metadata(source, NAME, b"x")


def test_a_buffer_index_that_would_become_valid_is_refused() -> None:
    source = encode(replace(parse(model_bytes()), buffers=(ConstantData(None),)))
    with pytest.raises(ModelError, match="a tensor names buffer 1, which a new one would become"):
        with_metadata(source, NAME, b"x")


def test_bytes_that_are_no_model_are_refused() -> None:
    with pytest.raises(ModelError, match="too few"):
        with_metadata(b"", NAME, b"x")


def test_metadata_may_name_the_first_buffer_and_none_behind_the_last() -> None:
    model = parse(model_bytes())
    refuse_unwritable(replace(model, metadata=(Metadata("m", 0),)))
    with pytest.raises(ModelError, match=f"the metadata names buffer {len(model.buffers)}, which is not there"):
        refuse_unwritable(replace(model, metadata=(Metadata("m", len(model.buffers)),)))
