"""Any bytes give a Model or a ModelError: nothing else is raised, and nothing is larger than the file implies."""

from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tflm_sim.errors import ModelError
from tflm_sim.model.compression_metadata import METADATA_NAME, find_compression
from tflm_sim.model.flatbuf import FlatBuffer
from tflm_sim.model.flatbuf_writer import InTail, TableNode, TableVector, numbers, serialize
from tflm_sim.model.flexbuf import FlexValue, read_root, read_slots
from tflm_sim.model.load import left_to_python, native_reader, parse, parse_flatbuffer
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import ConstantData, Metadata, Model, Quantization
from tflm_sim.samples import SAMPLES, sample_path

SEEDS = [sample_path(name).read_bytes() for name in ("sine", "streaming")]
COUNT = st.integers(0, 2**32 - 1)


def parsed_elements(model: Model) -> int:
    """Return how many numbers the model holds in its graph."""
    total = 0
    for subgraph in model.subgraphs:
        vectors = [subgraph.inputs, subgraph.outputs]
        for tensor in subgraph.tensors:
            vectors += [tensor.shape, tensor.shape_signature]
        for operator in subgraph.operators:
            vectors += [operator.inputs, operator.outputs, operator.intermediates]
        total += sum(len(vector) for vector in vectors if vector is not None)
    return total


def alike(a: object, b: object) -> bool:
    """Return whether two are equal, where a scale that is no number equals one that is none."""
    if isinstance(a, Quantization):
        return repr(a) == repr(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if is_dataclass(a) and type(a) is type(b):
        return all(alike(getattr(a, field.name), getattr(b, field.name)) for field in fields(a) if field.compare)
    return a == b


def check(data: bytes) -> None:
    quick = native_reader()(memoryview(data))
    try:
        model = parse_flatbuffer(FlatBuffer(memoryview(data)))
    except ModelError:
        assert quick is None, "the C reader took what the reader in Python refuses"
        return
    # It may leave a file to the reader in Python; what it reads is the same.
    assert quick is None or alike(Model(*quick, model.source), model)
    assert parsed_elements(model) * 4 <= 2 * len(data) + 4096
    find_compression(model)


@pytest.mark.skipif(native_reader() is left_to_python, reason="the C reader was not built")
@pytest.mark.parametrize("name", SAMPLES)
def test_both_readers_give_the_same_model(name: str) -> None:
    data = memoryview(sample_path(name).read_bytes())
    quick = native_reader()(data)
    assert quick is not None
    assert Model(*quick, data) == parse_flatbuffer(FlatBuffer(data))


@given(st.binary(max_size=300))
@example(b"")
@example(b"\x00\x00\x00\x00TFL3")
def test_random_bytes(data: bytes) -> None:
    check(data)


@given(st.binary(max_size=300), st.integers(8, 40))
def test_random_bytes_behind_a_valid_header(data: bytes, root: int) -> None:
    check(root.to_bytes(4, "little") + b"TFL3" + data)


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 2**20), COUNT), max_size=8))
def test_overwritten_words(seed: bytes, edits: list[tuple[int, int]]) -> None:
    data = bytearray(seed)
    for position, word in edits:
        start = position % (len(data) - 4)
        data[start : start + 4] = word.to_bytes(4, "little")
    check(bytes(data))


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 2**20), st.integers(-8, 8)), max_size=8))
@example(SEEDS[0], [(1031, 3)])  # four scales, of which one is no number
def test_words_that_are_slightly_wrong(seed: bytes, edits: list[tuple[int, int]]) -> None:
    data = bytearray(seed)
    for position, change in edits:
        start = position % (len(data) // 4 - 1) * 4
        word = int.from_bytes(data[start : start + 4], "little") + change
        data[start : start + 4] = (word % 2**32).to_bytes(4, "little")
    check(bytes(data))


@given(st.sampled_from(SEEDS), st.integers(0, 2**20))
def test_truncated_files(seed: bytes, size: int) -> None:
    check(seed[: size % len(seed)])


@given(st.sampled_from(SEEDS), st.sampled_from(SEEDS), st.integers(0, 2**20), st.integers(0, 2**20))
def test_spliced_files(first: bytes, second: bytes, head: int, rest: int) -> None:
    check(first[: head % len(first)] + second[rest % len(second) :])


def test_a_bomb_of_shared_vectors_is_refused() -> None:
    # 2,000 tensors that are one table of 2,000 dimensions: 16 kB that would become four million numbers.
    tensor = TableNode()
    tensor.child(0, numbers("i", [1] * 2000))
    tail = serialize(tensor, b"TFL3")
    subgraph, root = TableNode(), TableNode()
    subgraph.child(0, TableVector([InTail(int.from_bytes(tail[:4], "little"))] * 2000))
    root.child(2, TableVector([subgraph]))
    data = serialize(root, b"TFL3", tail=tail)
    assert len(data) < 17_000
    with pytest.raises(ModelError, match="its vectors overlap"):
        parse(data)


@given(st.binary(max_size=200))
def test_any_compression_metadata(data: bytes) -> None:
    model = Model(3, (), (), (ConstantData(None), ConstantData(memoryview(data))), (Metadata(METADATA_NAME, 1),))
    metadata, log = find_compression(model)
    assert (metadata is None) == (len(log) == 1)


def touch(value: FlexValue, depth: int) -> None:
    """Ask a value and what it holds for everything."""
    for read in (value.as_int, value.as_float, value.as_bool, value.as_text, value.as_bytes):
        try:
            read()
        except ModelError:
            continue
    try:
        inner = [*value.as_vector(), *value.as_map().values()]
    except ModelError:
        return
    for item in inner[:8] if depth else ():
        touch(item, depth - 1)


@given(st.binary(max_size=64))
def test_any_custom_options(data: bytes) -> None:
    try:
        touch(read_root(memoryview(data)), 2)
        slots = read_slots(memoryview(data))
        for index in range(slots.count):
            slots.as_int(index)
            slots.as_float(index)
    except ModelError:
        return


@given(st.text(min_size=1, max_size=30), st.binary(max_size=100))
def test_a_metadata_edit_changes_nothing_else(name: str, payload: bytes) -> None:
    source = SEEDS[0]
    before, after = parse(source), parse(with_metadata(source, name, payload))
    assert after.buffers[next(entry.buffer for entry in after.metadata if entry.name == name)].data == payload
    assert [buffer.data for buffer in after.buffers[: len(before.buffers)]] == [
        payload if entry else buffer.data
        for buffer, entry in zip(before.buffers, replaced_in_place(before, name, payload), strict=True)
    ]
    for old, new in zip(before.subgraphs[0].operators, after.subgraphs[0].operators, strict=True):
        assert replace(old, offset=0) == replace(new, offset=0)


def replaced_in_place(model: Model, name: str, payload: bytes) -> list[bool]:
    """Return, for each buffer, whether an edit may write over it."""
    indices = {entry.buffer for entry in model.metadata if entry.name == name}
    return [i in indices and len(buffer.data or b"") == len(payload) for i, buffer in enumerate(model.buffers)]
