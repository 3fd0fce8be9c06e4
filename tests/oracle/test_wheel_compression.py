"""COMPRESSION_METADATA in real TFLM (pip tflite-micro): it is read as we read it, and refused where we say so."""

from typing import Any

import pytest

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.compression_metadata import METADATA_NAME, find_compression
from tflm_sim.model.flatbuf_writer import TableNode, TableVector, serialize
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

INT8 = TensorType.INT8


def metadata_payload(tensor: int, value_buffer: int, bitwidth: int, version: int = 1) -> bytes:
    lut, subgraph, root = TableNode(), TableNode(), TableNode()
    lut.scalar(0, "int", tensor)
    lut.scalar(1, "uint", value_buffer)
    lut.scalar(2, "ubyte", bitwidth)
    subgraph.child(0, TableVector([lut]))
    root.scalar(0, "uint", version, 1)
    root.child(1, TableVector([subgraph]))
    return serialize(root, b"\0\0\0\0")


def dense(weights: bytes, values: bytes = b"", payload: bytes | None = None) -> bytes:
    """Return a 4 -> 2 FULLY_CONNECTED; with a payload its weights are tensor 1, the values buffer 2."""
    b = ModelBuilder()
    x = b.tensor((1, 4), INT8, scale=1.0)
    w = b.tensor((2, 4), INT8, data=weights, scale=1.0)
    y = b.tensor((1, 2), INT8, scale=1.0)
    b.operator("FULLY_CONNECTED", [x, w, -1], [y])
    if payload is not None:
        assert b.buffer(values) == 2
        b.metadata(METADATA_NAME, payload)
    return b.build(inputs=[x], outputs=[y])


def test_compressed_weights_are_looked_up() -> None:
    np = pytest.importorskip("numpy")
    runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")

    def run(data: bytes) -> list[int]:
        interpreter = runtime.Interpreter.from_bytes(data, arena_size=20_000)
        interpreter.set_input(np.array([[1, 2, 3, 4]], np.int8), 0)
        interpreter.invoke()
        return [int(value) for value in interpreter.get_output(0).ravel()]

    plain = dense(bytes([1, 5, 5, 1, 5, 5, 1, 1]))
    # One bit an index, the first in the highest bit: 0110 1100.
    compressed = dense(b"\x6c", bytes([1, 5]), metadata_payload(tensor=1, value_buffer=2, bitwidth=1))
    assert run(compressed) == run(plain) == [1 + 10 + 15 + 4, 5 + 10 + 3 + 4]


def lines_agree(wheel: Any, payload: bytes) -> bool:
    """Whether the wheel prints what we say before it uses the metadata, and says nothing of the kind otherwise."""
    data = dense(b"\x6c", bytes([1, 5]), payload)
    ours = find_compression(parse(data))[1]
    printed = wheel.run(data).log
    if ours:
        return bool(printed[: len(ours)] == ours)
    return not any("verification" in line or "mismatch" in line for line in printed)


def test_a_newer_schema_is_refused_with_our_words(wheel: Any) -> None:
    assert lines_agree(wheel, metadata_payload(1, 2, 1, version=2))


@pytest.mark.parametrize("change", [1, 2, 4, 0x80])
def test_the_verifier_refuses_the_same_broken_metadata(wheel: Any, change: int) -> None:
    good = metadata_payload(1, 2, 1)
    for position in range(len(good)):
        broken = bytearray(good)
        broken[position] ^= change
        assert lines_agree(wheel, bytes(broken)), f"byte {position} of {good.hex()} changed by {change:#x}"


def test_the_verifier_refuses_the_same_truncated_metadata(wheel: Any) -> None:
    good = metadata_payload(1, 2, 1)
    for size in range(len(good)):
        assert lines_agree(wheel, good[:size]), f"{size} bytes of {good.hex()}"
