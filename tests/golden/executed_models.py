"""Models that programs of ``executed_runs.json`` hold and nobody publishes: an operator of one's own, compression."""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.compression_metadata import METADATA_NAME
from tflm_sim.model.flatbuf_writer import TableNode, TableVector, serialize
from tflm_sim.model.types import TensorType as T

_CHANNELS, _CLASSES = 8, 10


def custom_operator() -> bytes:
    """Return a model of one operator "ownop", which the program registers itself."""
    b = ModelBuilder()
    x, y = (b.tensor((1, 100), T.INT8, scale=0.5) for _ in range(2))
    b.custom("ownop", [x], [y])
    return b.build(inputs=[x], outputs=[y])


def _lut(tensor: int, value_buffer: int, bits: int) -> TableNode:
    node = TableNode()
    node.scalar(0, "int", tensor)
    node.scalar(1, "uint", value_buffer)
    node.scalar(2, "ubyte", bits)
    return node


def compressed_by_metadata() -> bytes:
    """Return CONV_2D and FULLY_CONNECTED with weights of 4 and 3 bits, as USE_TFLM_COMPRESSION has them."""
    b = ModelBuilder()
    x = b.tensor((1, 8, 8, 4), T.INT8, scale=0.5)
    # 8 filters of 3 x 3 x 4 = 36 indices of 4 bits: 8 * 36 / 2 = 144 bytes; a table of 16 values a filter.
    scales = [0.25] * _CHANNELS
    filters = b.tensor((_CHANNELS, 3, 3, 4), T.INT8, data=bytes(range(144)), scale=scales)
    bias = b.tensor((_CHANNELS,), T.INT32, data=bytes(4 * _CHANNELS), scale=[0.125] * _CHANNELS)
    y = b.tensor((1, 8, 8, _CHANNELS), T.INT8, scale=0.5)
    b.operator("CONV_2D", [x, filters, bias], [y], options={"padding": "SAME", "stride_w": 1, "stride_h": 1})
    # 10 rows of 512 indices of 3 bits: 10 * 512 * 3 / 8 = 1920 bytes; one table of 8 values.
    flat = b.tensor((1, 512), T.INT8, scale=0.5)
    b.operator("RESHAPE", [y], [flat], options={"new_shape": (1, 512)})
    weights = b.tensor((_CLASSES, 512), T.INT8, data=bytes(1920), scale=0.25)
    z = b.tensor((1, _CLASSES), T.INT8, scale=0.5)
    b.operator("FULLY_CONNECTED", [flat, weights, -1], [z])
    tables = [b.buffer(bytes(range(16)) * _CHANNELS), b.buffer(bytes(range(8)))]
    subgraph, root = TableNode(), TableNode()
    subgraph.child(0, TableVector([_lut(filters, tables[0], 4), _lut(weights, tables[1], 3)]))
    root.scalar(0, "uint", 1, 1)
    root.child(1, TableVector([subgraph]))
    b.metadata(METADATA_NAME, serialize(root, b"\0\0\0\0"))
    return b.build(inputs=[x], outputs=[z])


def compressed_by_decode() -> bytes:
    """Return FULLY_CONNECTED whose weights TFLM_DECODE looks up: indices of 4 bits, one table of 16 values."""
    b = ModelBuilder()
    x = b.tensor((1, 64), T.INT8, scale=0.5)
    encoded = b.tensor((320,), T.UINT8, data=bytes(320))  # 10 * 64 indices of 4 bits
    # Type 0 (a table) of version 1; then that of the type, the bits of an index, values a channel; 16 bytes in all.
    ancillary = b.tensor((32,), T.UINT8, data=bytes([0, 1, 0, 0, 1, 4, 16]) + bytes(9) + bytes(range(16)))
    weights = b.tensor((_CLASSES, 64), T.INT8, scale=0.25)
    b.custom("TFLM_DECODE", [encoded, ancillary], [weights])
    y = b.tensor((1, _CLASSES), T.INT8, scale=0.5)
    b.operator("FULLY_CONNECTED", [x, weights, -1], [y])
    return b.build(inputs=[x], outputs=[y])


MODELS: dict[str, Callable[[], bytes]] = {
    "custom operator": custom_operator,
    "compressed by metadata": compressed_by_metadata,
    "compressed by TFLM_DECODE": compressed_by_decode,
}
