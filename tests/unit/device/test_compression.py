"""The structs of compressed tensors: what each takes, and what the device refuses with which words."""

from __future__ import annotations

import pytest

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, LogLine, Persist
from tflm_sim.device import compression
from tflm_sim.device.compression import CompressedTensorsAllocator
from tflm_sim.errors import PrepareError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.compression_metadata import CompressionMetadata, LutTensor
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.targets.presets import preset

INT8 = TensorType.INT8
M4 = preset("cortex-m4")
Subgraphs = tuple[tuple[LutTensor, ...] | None, ...] | None
VALUES = 1
"""The only buffer with data."""


def model() -> Model:
    """Tensors 0 to 4: plain, plain, a scalar, text, and one with two scales along its middle axis; a subgraph more."""
    builder = ModelBuilder()
    assert builder.buffer(b"\1\2", INT8) == VALUES
    for _ in range(2):
        builder.tensor((1, 8), INT8)
    builder.tensor(None, INT8)
    builder.tensor((1,), TensorType.STRING)
    builder.tensor((1, 2, 1), INT8, scale=(0.5, 0.25), quantized_dimension=1)
    builder.add_subgraph().tensor((1, 8), INT8)
    return parse(builder.build(inputs=[], outputs=[]))


class Tried:
    """What came of metadata with these subgraphs, in an arena of a size."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, subgraphs: Subgraphs, size: int = 1 << 12) -> None:
        metadata = CompressionMetadata(1, subgraphs)
        monkeypatch.setattr(compression, "find_compression", lambda _: (metadata, ("a line",)))
        self.events: list[Event] = []
        arena = SingleArenaBufferAllocator(size, observers=[self.events.append])
        self.found: tuple[frozenset[int], ...] = ()
        self.failure: PrepareError | None = None
        try:
            self.found = CompressedTensorsAllocator(model(), M4, arena).allocate()
        except PrepareError as failure:
            self.failure = failure
        lines = [event.text for event in self.events if isinstance(event, LogLine)]
        assert lines[0] == "a line"
        self.log = lines[1:]
        self.taken = [(event.size, event.alignment, event.label) for event in self.events if isinstance(event, Persist)]


DATA, TABLE = (8, 4, "CompressionTensorData"), (8, 4, "LookupTableData")
"""A scheme and a pointer; a pointer and two bytes. Source: tensorflow/lite/micro/compression.h @ 90b983c."""


def lut(tensor: int, value_buffer: int = VALUES, bits: int = 1) -> LutTensor:
    return LutTensor(tensor, value_buffer, bits)


def test_each_tensor_takes_two_structs_and_the_first_of_a_subgraph_a_pointer_for_each_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = Tried(monkeypatch, ((lut(0), lut(1)), (lut(0),)))
    assert tried.found == (frozenset({0, 1}), frozenset({0}))
    five, one = (5 * 4, 4, "CompressionTensorData*[5]"), (4, 4, "CompressionTensorData*[1]")
    assert tried.taken == [DATA, TABLE, five, DATA, TABLE, DATA, TABLE, one]
    categories = {event.category for event in tried.events if isinstance(event, Persist)}
    assert categories == {"kCompressionData"}


def test_subgraphs_that_are_not_named_have_no_compressed_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Tried(monkeypatch, ((lut(1),),)).found == (frozenset({1}), frozenset())


def test_a_model_without_metadata_takes_nothing() -> None:
    arena = SingleArenaBufferAllocator(1 << 12)
    assert CompressedTensorsAllocator(model(), M4, arena).allocate() == (frozenset(), frozenset())
    assert arena.persistent_used_bytes == 0


@pytest.mark.parametrize(("subgraphs", "line"), [
    (None, "Compression: invalid Subgraph vector"),
    ((), "Compression: zero length Subgraph vector"),
    ((None,), "Compression: invalid LutTensor vector"),
    (((),), "Compression: zero length LutTensor vector"),
])  # fmt: skip
def test_vectors_must_be_there(monkeypatch: pytest.MonkeyPatch, subgraphs: Subgraphs, line: str) -> None:
    tried = Tried(monkeypatch, subgraphs)
    assert tried.log == [line]
    assert tried.failure is not None
    assert (tried.failure.device_message, tried.failure.status) == (line, "error")


def test_a_subgraph_behind_the_last_is_other_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Tried(monkeypatch, ((lut(0),), (lut(0),))).failure is None
    failure = Tried(monkeypatch, ((lut(0),), (lut(0),), (lut(0),))).failure
    assert failure is not None
    assert (failure.status, str(failure)[:49]) == ("abort", "compression metadata names subgraph 2, not one of")


def test_a_tensor_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Tried(monkeypatch, ((lut(0), lut(1), lut(0)),)).log == [
        "Compression: duplicate LutTensor subgraph 0 tensor 0"
    ]


@pytest.mark.parametrize(("tensor", "words"), [
    (lut(-1), "invalid tensor index 4294967295 in LutTensor"),
    (lut(5), "invalid tensor index 5 in LutTensor"),
    (lut(0, bits=8), "invalid bit width 8 in LutTensor"),
    (lut(0, value_buffer=2), "invalid value_buffer 2 in LutTensor"),
    (lut(0, value_buffer=0), "invalid value table for value_buffer 0"),
    (lut(2), "scalar tensors not supported"),
    (lut(3), "failed to get tensor type size"),
    (lut(4), "unsupported quantization axis 1"),
])  # fmt: skip
def test_what_a_tensor_cannot_be_is_said(monkeypatch: pytest.MonkeyPatch, tensor: LutTensor, words: str) -> None:
    tried = Tried(monkeypatch, ((tensor,),))
    assert tried.log == [f"Compression: {words}", "Compression: failed to initialize data for LutTensor 0"]
    assert tried.taken == [DATA, TABLE]


def test_indices_have_seven_bits_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Tried(monkeypatch, ((lut(0, bits=7),),)).failure is None


@pytest.mark.parametrize(("size", "line"), [
    (7, "Compressions: failed to allocate memory for CompressionTensorData, 8 bytes required"),
    (15, "Compressions: failed to allocate memory for LookupTableData, 8 bytes required"),
    (35, "Compression: failed to allocate memory for compression tensor list, 20 bytes required"),
])  # fmt: skip
def test_what_does_not_fit_is_said_with_its_bytes(monkeypatch: pytest.MonkeyPatch, size: int, line: str) -> None:
    tried = Tried(monkeypatch, ((lut(0),),), size)
    assert tried.log[-1] == line
    assert tried.failure is not None
    assert tried.failure.device_message == line
    assert Tried(monkeypatch, ((lut(0),),), 36).failure is None
