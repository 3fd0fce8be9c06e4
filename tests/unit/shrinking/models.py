"""Small models that each give one pass something to do, built with random weights."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tflm_sim import parse
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType

INT8, INT32 = TensorType.INT8, TensorType.INT32
POINT = -3


class Layers:
    """A builder of layers one after the other (mutable); every activation is int8 with zero point -3."""

    def __init__(self, seed: int = 1) -> None:
        self.b = ModelBuilder()
        self.rng = random.Random(seed)
        self.shapes: dict[int, tuple[int, ...]] = {}

    def activation(self, shape: Sequence[int], *, name: str = "") -> int:
        tensor = self.b.tensor(shape, INT8, scale=0.5, zero_point=POINT, name=name)
        self.shapes[tensor] = tuple(shape)
        return tensor

    def integers(self, values: Sequence[int]) -> int:
        return self.b.tensor((len(values),), INT32, data=list(values))

    def _numbers(self, count: int) -> list[int]:
        return [self.rng.randrange(1, 127) for _ in range(count)]

    def conv(self, x: int, channels: int, *, kernel: int = 3, stride: int = 1, same: bool = True) -> int:
        batch, rows, columns, depth = self.shapes[x]
        weights = self.b.tensor(
            (channels, kernel, kernel, depth),
            INT8,
            data=self._numbers(channels * kernel * kernel * depth),
            scale=[0.01 + 0.001 * channel for channel in range(channels)],
        )
        bias = self.b.tensor((channels,), INT32, data=self._numbers(channels))
        sides = [-(-side // stride) if same else (side - kernel) // stride + 1 for side in (rows, columns)]
        y = self.activation((batch, *sides, channels))
        options = {"padding": "SAME" if same else "VALID", "stride_w": stride, "stride_h": stride}
        self.b.operator("CONV_2D", [x, weights, bias], [y], options=options)
        return y

    def depthwise(self, x: int, *, kernel: tuple[int, int] = (3, 3), stride: int = 1, same: bool = True) -> int:
        batch, rows, columns, depth = self.shapes[x]
        weights = self.b.tensor(
            (1, *kernel, depth),
            INT8,
            data=self._numbers(kernel[0] * kernel[1] * depth),
            scale=[0.01 + 0.002 * channel for channel in range(depth)],
            quantized_dimension=3,
        )
        bias = self.b.tensor((depth,), INT32, data=self._numbers(depth), scale=[0.01] * depth)
        sides = [
            -(-side // stride) if same else (side - k) // stride + 1
            for side, k in zip((rows, columns), kernel, strict=True)
        ]
        y = self.activation((batch, *sides, depth))
        options = {
            "padding": "SAME" if same else "VALID",
            "stride_w": stride,
            "stride_h": stride,
            "depth_multiplier": 1,
        }
        self.b.operator("DEPTHWISE_CONV_2D", [x, weights, bias], [y], options=options)
        return y

    def pool(self, x: int) -> int:
        batch, rows, columns, depth = self.shapes[x]
        y = self.activation((batch, rows // 2, columns // 2, depth))
        options = {"padding": "VALID", "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
        self.b.operator("MAX_POOL_2D", [x], [y], options=options)
        return y

    def pad(self, x: int, before: int, after: int) -> int:
        batch, rows, columns, depth = self.shapes[x]
        paddings = self.b.tensor((4, 2), INT32, data=[0, 0, before, after, before, after, 0, 0])
        y = self.activation((batch, rows + before + after, columns + before + after, depth))
        self.b.operator("PAD", [x, paddings], [y])
        return y

    def add(self, one: int, other: int) -> int:
        y = self.activation(self.shapes[one])
        self.b.operator("ADD", [one, other], [y])
        return y

    def reshape(self, x: int, shape: Sequence[int]) -> int:
        y = self.activation(shape)
        self.b.operator("RESHAPE", [x, self.integers(shape)], [y])
        return y

    def dense(self, x: int, outputs: int, *, depth: int) -> int:
        weights = self.b.tensor((outputs, depth), INT8, data=self._numbers(outputs * depth), scale=0.02)
        bias = self.b.tensor((outputs,), INT32, data=self._numbers(outputs))
        y = self.activation((1, outputs))
        self.b.operator("FULLY_CONNECTED", [x, weights, bias], [y])
        return y

    def concatenation(self, parts: Sequence[int], axis: int) -> int:
        shape = list(self.shapes[parts[0]])
        shape[axis] = sum(self.shapes[part][axis] for part in parts)
        y = self.activation(shape)
        self.b.operator("CONCATENATION", list(parts), [y], options={"axis": axis})
        return y

    def model(self, inputs: Sequence[int], outputs: Sequence[int]) -> Model:
        return parse(self.b.build(inputs=inputs, outputs=outputs))


def channels_model() -> Model:
    """Return a 1x1 convolution to many channels and a depthwise one with stride 2: groups of channels pay."""
    layers = Layers()
    x = layers.activation((1, 16, 16, 8))
    y = layers.depthwise(layers.conv(x, 64, kernel=1), stride=2)
    return layers.model([x], [y])


def rows_model() -> Model:
    """Return convolutions around a residual connection, and a pool: stripes of rows pay."""
    layers = Layers()
    x = layers.activation((1, 24, 24, 3))
    a = layers.conv(x, 16)
    b = layers.conv(layers.conv(a, 16), 16)
    y = layers.conv(layers.add(a, b), 4, stride=2)
    return layers.model([x], [layers.pool(y)])


def padded_rows_model() -> Model:
    """Return PAD + VALID convolutions whose padding is not that of SAME: stripes go through PAD."""
    layers = Layers()
    x = layers.activation((1, 24, 24, 3))
    a = layers.conv(layers.pad(x, 2, 0), 24, same=False)
    y = layers.conv(layers.pad(a, 2, 0), 4, stride=2, same=False)
    return layers.model([x], [y])


def pad_same_model() -> Model:
    """Return a PAD that is the padding SAME of its convolution, and fills the arena."""
    layers = Layers()
    x = layers.activation((1, 16, 16, 16))
    y = layers.conv(layers.pad(x, 1, 1), 16, same=False)
    return layers.model([x], [y])


def flatten_model() -> Model:
    """Return a RESHAPE before a FULLY_CONNECTED."""
    layers = Layers()
    x = layers.activation((1, 4, 4, 8))
    y = layers.dense(layers.reshape(layers.conv(x, 8), (1, 128)), 4, depth=128)
    return layers.model([x], [y])


def order_model() -> Model:
    """Return two branches of which the second should be finished before the first begins."""
    layers = Layers()
    x = layers.activation((1, 4, 4, 4))
    wide = layers.conv(x, 96, kernel=1)
    other = layers.conv(x, 90, kernel=1)
    narrow = layers.conv(wide, 4, kernel=1)
    y = layers.add(narrow, layers.conv(other, 4, kernel=1))
    return layers.model([x], [y])


def mixed_model() -> Model:
    """Return SPLIT, a depthwise convolution of 3 and one of 5 rows, CONCATENATION."""
    layers = Layers()
    x = layers.activation((1, 5, 1, 16))
    axis = layers.b.tensor((), INT32, data=[3])
    halves = [layers.activation((1, 5, 1, 8)) for _ in range(2)]
    layers.b.operator("SPLIT", [axis, x], halves, options={"num_splits": 2})
    cut = layers.activation((1, 3, 1, 8))
    bounds = [layers.integers(values) for values in ([0, 2, 0, 0], [1, 5, 1, 8], [1, 1, 1, 1])]
    layers.b.operator("STRIDED_SLICE", [halves[0], *bounds], [cut])
    short = layers.depthwise(cut, kernel=(3, 1), same=False)
    long = layers.depthwise(halves[1], kernel=(5, 1), same=False)
    return layers.model([x], [layers.concatenation([short, long], 3)])


def state_model(*, initial: int = POINT) -> Model:
    """Return a ring buffer of four frames in a resource variable: read, append, drop the oldest, assign."""
    layers = Layers()
    b = layers.b
    options = {"shared_name": "ring"}
    x = layers.activation((1, 1, 1, 8))
    init = b.add_subgraph("init")
    init_handle = init.tensor((), TensorType.RESOURCE)
    value = init.tensor((1, 4, 1, 8), INT8, data=[initial] * 32, scale=0.5, zero_point=POINT)
    init.operator("VAR_HANDLE", [], [init_handle], options=options)
    init.operator("ASSIGN_VARIABLE", [init_handle, value], [])
    b.operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1})
    handle = b.tensor((), TensorType.RESOURCE)
    b.operator("VAR_HANDLE", [], [handle], options=options)
    old = layers.activation((1, 4, 1, 8))
    b.operator("READ_VARIABLE", [handle], [old])
    whole = layers.concatenation([old, x], 1)
    new = layers.activation((1, 4, 1, 8))
    bounds = [layers.integers(values) for values in ([0, 1, 0, 0], [1, 5, 1, 8], [1, 1, 1, 1])]
    b.operator("STRIDED_SLICE", [whole, *bounds], [new])
    b.operator("ASSIGN_VARIABLE", [handle, new], [])
    y = layers.depthwise(whole, kernel=(5, 1), same=False)
    return layers.model([x], [y])


MODELS = {
    "channels": channels_model,
    "rows": rows_model,
    "padded rows": padded_rows_model,
    "PAD is SAME": pad_same_model,
    "copies": flatten_model,
    "operator order": order_model,
    "depthwise branches": mixed_model,
    "resource variables": state_model,
}
