"""Small models that each give one pass something to do, built with random weights."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from tflm_sim import parse
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, TensorType

INT8, INT16, INT32 = TensorType.INT8, TensorType.INT16, TensorType.INT32
POINT = -3


class Layers:
    """A builder of layers one after the other (mutable); activations are int8 with zero point -3, or int16 with 0.

    Weights have both signs and a scale that keeps outputs within int8: where all saturate, wrong weights go unnoticed.
    """

    def __init__(
        self, seed: int = 1, *, numbers: tuple[int, int] = (-127, 128), scale: float = 0.003, type: int = INT8
    ) -> None:
        self.b = ModelBuilder()
        self.type = type
        self.bias_type = INT32 if type == INT8 else TensorType.INT64
        self.limits = numbers
        self.scale = scale
        self.rng = random.Random(seed)
        self.shapes: dict[int, tuple[int, ...]] = {}

    def activation(self, shape: Sequence[int], *, name: str = "") -> int:
        point = POINT if self.type == INT8 else 0
        tensor = self.b.tensor(shape, self.type, scale=0.5, zero_point=point, name=name)
        self.shapes[tensor] = tuple(shape)
        return tensor

    def integers(self, values: Sequence[int]) -> int:
        return self.b.tensor((len(values),), INT32, data=list(values))

    def _numbers(self, count: int) -> list[int]:
        return [self.rng.randrange(*self.limits) for _ in range(count)]

    def _filters(self, channels: int, kernel: int, depth: int) -> int:
        return self.b.tensor(
            (channels, kernel, kernel, depth),
            INT8,
            data=self._numbers(channels * kernel * kernel * depth),
            scale=[self.scale * (1 + 0.1 * channel) for channel in range(channels)],
        )

    def conv(
        self,
        x: int,
        channels: int,
        *,
        kernel: int = 3,
        stride: int = 1,
        same: bool = True,
        biases: Sequence[int] | None = None,
    ) -> int:
        batch, rows, columns, depth = self.shapes[x]
        weights = self._filters(channels, kernel, depth)
        bias = self.b.tensor((channels,), self.bias_type, data=list(biases or self._numbers(channels)))
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
            scale=[self.scale * (1 + 0.2 * channel) for channel in range(depth)],
            quantized_dimension=3,
        )
        bias = self.b.tensor((depth,), self.bias_type, data=self._numbers(depth), scale=[0.01] * depth)
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

    def converted(self, x: int, type: int, scale: float = 0.5, point: int = 0) -> int:
        """Add what stands in front of another type: DEQUANTIZE to floats, QUANTIZE to integers."""
        facts: dict[str, Any] = {} if type == TensorType.FLOAT32 else {"scale": scale, "zero_point": point}
        y = self.b.tensor(self.shapes[x], type, **facts)
        self.shapes[y] = self.shapes[x]
        self.b.operator("QUANTIZE" if facts else "DEQUANTIZE", [x], [y])
        return y

    def image(self, shape: Sequence[int], type: int = TensorType.FLOAT32, *, name: str = "image", **facts: Any) -> int:
        """Add an activation of any type."""
        x = self.b.tensor(shape, type, name=name, **facts)
        self.shapes[x] = tuple(shape)
        return x

    def resize(self, x: int, factor: int, *, kind: str = "RESIZE_BILINEAR", half_pixel: bool = True) -> int:
        batch, rows, columns, depth = self.shapes[x]
        y = self.activation((batch, rows * factor, columns * factor, depth))
        size = self.integers([rows * factor, columns * factor])
        self.b.operator(kind, [x, size], [y], options={"half_pixel_centers": half_pixel})
        return y

    def transposed(self, x: int, channels: int, *, kernel: int = 3, stride: int = 2, same: bool = True) -> int:
        batch, rows, columns, depth = self.shapes[x]
        weights = self._filters(channels, kernel, depth)
        sides = [side * stride if same else (side - 1) * stride + kernel for side in (rows, columns)]
        y = self.activation((batch, *sides, channels))
        options = {"padding": "SAME" if same else "VALID", "stride_w": stride, "stride_h": stride}
        bias = self.b.tensor((channels,), self.bias_type, data=self._numbers(channels))
        self.b.operator("TRANSPOSE_CONV", [self.integers(self.shapes[y]), weights, x, bias], [y], options=options)
        return y

    def pad(self, x: int, before: int, after: int) -> int:
        batch, rows, columns, depth = self.shapes[x]
        paddings = self.b.tensor((4, 2), INT32, data=[0, 0, before, after, before, after, 0, 0])
        y = self.activation((batch, rows + before + after, columns + before + after, depth))
        self.b.operator("PAD", [x, paddings], [y])
        return y

    def elementwise(self, name: str, *inputs: int) -> int:
        y = self.activation(self.shapes[inputs[0]])
        self.b.operator(name, list(inputs), [y])
        return y

    def add(self, one: int, other: int) -> int:
        return self.elementwise("ADD", one, other)

    def reshape(self, x: int, shape: Sequence[int]) -> int:
        y = self.activation(shape)
        self.b.operator("RESHAPE", [x, self.integers(shape)], [y])
        return y

    def dense(self, x: int, outputs: int, *, depth: int) -> int:
        weights = self.b.tensor((outputs, depth), INT8, data=self._numbers(outputs * depth), scale=self.scale)
        bias = self.b.tensor((outputs,), self.bias_type, data=self._numbers(outputs))
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


def float_io_model() -> Model:
    """Return QUANTIZE, two convolutions, DEQUANTIZE: floats at the input and the output."""
    layers = Layers()
    x = layers.image((1, 12, 12, 3))
    inside = layers.converted(x, INT8, 0.5, POINT)
    y = layers.conv(layers.conv(inside, 8, stride=2), 4, stride=2)
    return layers.model([x], [layers.converted(y, TensorType.FLOAT32)])


def channels_model() -> Model:
    """Return a 1x1 convolution to many channels and a depthwise one with stride 2: groups of channels pay."""
    layers = Layers()
    x = layers.activation((1, 16, 16, 8))
    y = layers.depthwise(layers.conv(x, 64, kernel=1), stride=2)
    return layers.model([x], [y])


def rows_model() -> Model:
    """Return convolutions around a residual connection, and a pool: tiles of rows pay."""
    layers = Layers()
    x = layers.activation((1, 24, 24, 3))
    a = layers.conv(x, 16)
    b = layers.conv(layers.conv(a, 16), 16)
    y = layers.conv(layers.add(a, b), 4, stride=2)
    return layers.model([x], [layers.pool(y)])


def padded_rows_model() -> Model:
    """Return PAD + VALID convolutions whose padding is not that of SAME: tiles go through PAD."""
    layers = Layers()
    x = layers.activation((1, 24, 24, 3))
    a = layers.conv(layers.pad(x, 2, 0), 24, same=False)
    y = layers.conv(layers.pad(a, 2, 0), 4, stride=2, same=False)
    return layers.model([x], [y])


def resized_rows_model(kind: str = "RESIZE_BILINEAR", *, half_pixel: bool = True) -> Model:
    """Return an image that is resized before it is folded: tiles go through RESIZE."""
    layers = Layers()
    x = layers.activation((1, 12, 12, 4))
    wide = layers.resize(layers.conv(x, 16), 2, kind=kind, half_pixel=half_pixel)
    return layers.model([x], [layers.conv(layers.conv(wide, 16), 4, stride=2)])


def transposed_rows_model(*, kernel: int = 3, same: bool = True) -> Model:
    """Return a transposed convolution before a pool: tiles go through it, with the rows that overlap."""
    layers = Layers()
    x = layers.activation((1, 12, 12, 8))
    return layers.model([x], [layers.conv(layers.transposed(x, 16, kernel=kernel, same=same), 4, stride=2)])


def pad_same_model() -> Model:
    """Return a PAD that is the padding SAME of its convolution, and fills the arena."""
    layers = Layers()
    x = layers.activation((1, 16, 16, 16))
    y = layers.conv(layers.pad(x, 1, 1), 16, same=False)
    return layers.model([x], [y])


def wide_window_model() -> Model:
    """Return PADs of 1 on each side before a stride of 2, as PyTorch pads: SAME with a window of 4 is the same."""
    layers = Layers()
    x = layers.activation((1, 16, 12, 3))
    a = layers.conv(layers.pad(x, 1, 1), 8, stride=2, same=False)
    return layers.model([x], [layers.depthwise(layers.pad(a, 1, 1), stride=2, same=False)])


def sliced_model() -> Model:
    """Return a STRIDED_SLICE in steps of one that could be a SLICE, and one in steps of two that could not."""
    layers = Layers()
    x = layers.activation((1, 12, 8, 4))
    y, z = layers.activation((1, 7, 8, 4)), layers.activation((1, 4, 8, 4))
    for output, steps in ((y, (1, 1, 1, 1)), (z, (1, 2, 1, 1))):
        places = [layers.integers(numbers) for numbers in ((0, 5, 0, 0), (1, 12, 8, 4), steps)]
        layers.b.operator("STRIDED_SLICE", [layers.conv(x, 4, kernel=1), *places], [output])
    return layers.model([x], [y, z])


def pieces_model() -> Model:
    """Return a SLICE of two images one behind the other that takes rows 1 and 2 of the second one only."""
    layers = Layers()
    x = layers.activation((1, 4, 4, 4))
    whole = layers.concatenation([layers.conv(x, 4, kernel=1), layers.conv(x, 4, kernel=1)], 1)
    cut = layers.activation((1, 2, 4, 4))
    layers.b.operator("SLICE", [whole, layers.integers([0, 5, 0, 0]), layers.integers([1, 2, 4, 4])], [cut])
    return layers.model([x], [layers.conv(cut, 8)])


def operands_model() -> Model:
    """Return a RESHAPE whose shape the output has too, between a bias of zeros and one that counts."""
    layers = Layers()
    x = layers.activation((1, 4, 4, 8))
    y = layers.reshape(layers.conv(x, 8, biases=[0] * 8), (1, 16, 1, 8))
    return layers.model([x], [layers.conv(y, 8)])


def dense_model() -> Model:
    """Return a 1x1 convolution with a scale for each channel, and a FULLY_CONNECTED."""
    layers = Layers()
    x = layers.activation((1, 4, 4, 8))
    return layers.model([x], [layers.dense(layers.conv(layers.conv(x, 8), 8, kernel=1), 4, depth=128)])


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


def queues_model() -> Model:
    """Return two queues of 8 and 12 frames of 16 B in variable tensors; both drop their oldest frame at the end."""
    layers = Layers()
    x = frame = layers.activation((1, 1, 1, 16))
    wholes = []
    for count in (8, 12):
        state = layers.b.tensor((1, count, 1, 16), INT8, scale=0.5, zero_point=POINT, is_variable=True)
        layers.shapes[state] = (1, count, 1, 16)
        wholes.append((state, layers.concatenation([state, frame], 1)))
        frame = layers.depthwise(wholes[-1][1], kernel=(count + 1, 1), same=False)
    for state, whole in wholes:
        begin, size = layers.integers([0, 1, 0, 0]), layers.integers(list(layers.shapes[state]))
        layers.b.operator("SLICE", [whole, begin, size], [state])
    return layers.model([x], [frame])


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


def random_model(seed: int) -> Model:
    """Return a graph of 4 to 14 layers: chains, branches, residuals, joins; int8 or int16, with and without state."""
    rng = random.Random(seed)
    layers = Layers(seed, numbers=(-127, 128), scale=0.003, type=rng.choice((INT8, INT8, INT8, INT16)))
    x = layers.activation((1, rng.randint(3, 20), rng.randint(3, 20), rng.choice((1, 2, 3, 4, 8, 12))))
    made = [x]
    if rng.random() < 0.2:
        made.append(_ring(layers, x))
    for _ in range(rng.randint(4, 14)):
        source = made[-1] if rng.random() < 0.75 else rng.choice(made)
        found = random_step(layers, rng, source, made)
        if found is not None:
            made.append(found)
    outputs = [made[-1]]
    if len(made) > 3 and rng.random() < 0.2:
        outputs.append(rng.choice(made[1:-1]))
    if rng.random() < 0.3:
        count = prod(layers.shapes[made[-1]])
        flat = layers.reshape(made[-1], (1, count)) if rng.random() < 0.7 else made[-1]
        outputs[0] = layers.dense(flat, 5, depth=count)
    return layers.model([x], outputs)


def random_cheaper_model(seed: int) -> Model:
    """Return a random model with biases of zeros, and with SLICEs of what is joined."""
    rng, draft = random.Random(seed), Draft(random_model(seed))
    for index, operator in enumerate(draft.operators):
        inputs = operator.input_tensors
        if draft.name(operator) in BIASED and len(inputs) == 3 and rng.random() < 0.5:
            bias = draft.tensors[inputs[2]]
            zeros = draft.add_tensor(bias.dims, bias.type, data=bytes(len(draft.data(inputs[2]) or b"")))
            draft.operators[index] = replace(operator, inputs=(*inputs[:2], zeros))
    for join in [operator for operator in draft.operators if draft.name(operator) == "CONCATENATION"]:
        (whole,) = join.output_tensors
        sizes = [rng.randint(1, size) for size in draft.tensors[whole].dims]
        begins = [rng.randint(0, there - size) for there, size in zip(draft.tensors[whole].dims, sizes, strict=True)]
        cut = draft.add_like(whole, sizes)
        bounds = [
            draft.add_tensor((4,), INT32, data=b"".join(n.to_bytes(4, "little") for n in v)) for v in (begins, sizes)
        ]
        draft.operators.append(draft.operator("SLICE", (whole, *bounds), (cut,)))
        draft.outputs = (*draft.outputs, cut)
    return parse(encode(draft.model()))


BIASED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def random_converted_io(seed: int) -> Model:
    """Return a random model between an input and an output of floats, int16 or uint8; some behind RESHAPE."""
    rng = random.Random(seed)
    layers = Layers(seed)
    shape = (1, rng.randint(6, 16), rng.randint(6, 16), rng.choice((1, 2, 3)))
    outer = rng.choice((TensorType.FLOAT32, TensorType.FLOAT32, INT16, TensorType.UINT8))
    facts: dict[str, Any] = {} if outer == TensorType.FLOAT32 else {"scale": 0.01, "zero_point": 0}
    is_flat = rng.random() < 0.5
    x = source = layers.image((1, prod(shape)) if is_flat else shape, outer, **facts)
    if is_flat:
        source = layers.image(shape, outer, name="", **facts)
        layers.b.operator("RESHAPE", [x, layers.integers(shape)], [source])
    made = [layers.converted(source, INT8, 0.5, POINT)]
    for _ in range(rng.randint(2, 6)):
        found = random_step(layers, rng, made[-1], made)
        made += [] if found is None else [found]
    y = made[-1] if len(made) > 1 else layers.conv(made[0], 4)
    end = rng.choice((TensorType.FLOAT32, INT16, TensorType.UINT8))
    return layers.model([x], [layers.converted(y, end, 0.4, 0 if end == INT16 else 100)])


def with_float_ends(model: Model, seed: int) -> Model:
    """Return a model with floats, that QUANTIZE and DEQUANTIZE convert, for its integer ends, or some of them."""
    rng, draft = random.Random(seed), Draft(model)
    inputs, outputs = [*draft.inputs], [*draft.outputs]
    for ends, name in ((inputs, "QUANTIZE"), (outputs, "DEQUANTIZE")):
        for place, inner in enumerate(ends):
            tensor, is_input = draft.tensors[inner], ends is inputs
            if tensor.type not in (INT8, INT16) or ((place or not is_input) and rng.random() < 0.3):
                continue
            ends[place] = outer = draft.add_tensor(tensor.dims, TensorType.FLOAT32, name=f"{name} {place}")
            between = ((outer,), (inner,)) if is_input else ((inner,), (outer,))
            draft.operators.insert(0 if is_input else len(draft.operators), draft.operator(name, *between))
    draft.inputs, draft.outputs = tuple(inputs), tuple(outputs)
    return parse(encode(draft.model()))


def _ring(layers: Layers, x: int) -> int:
    """Return the last two inputs, one above the other: the one before is a resource variable."""
    b, shape = layers.b, layers.shapes[x]
    options = {"shared_name": "before"}
    init = b.add_subgraph("init")
    handle = init.tensor((), TensorType.RESOURCE)
    point = POINT if layers.type == INT8 else 0
    zero = init.tensor(shape, layers.type, data=[point] * prod(shape), scale=0.5, zero_point=point)
    init.operator("VAR_HANDLE", [], [handle], options=options)
    init.operator("ASSIGN_VARIABLE", [handle, zero], [])
    b.operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1})
    handle = b.tensor((), TensorType.RESOURCE)
    b.operator("VAR_HANDLE", [], [handle], options=options)
    before = layers.activation(shape)
    b.operator("READ_VARIABLE", [handle], [before])
    both = layers.concatenation([before, x], 1)
    now = layers.elementwise("RELU", x)
    b.operator("ASSIGN_VARIABLE", [handle, now], [])
    return both


def random_step(layers: Layers, rng: random.Random, x: int, made: Sequence[int]) -> int | None:
    """Return the output of a random layer on ``x``, None where the one that was drawn does not fit."""
    _, rows, columns, depth = layers.shapes[x]
    small = min(rows, columns)
    kernel, stride, same = rng.choice((1, 1, 2, 3, 3)), rng.choice((1, 1, 1, 2)), rng.random() < 0.7
    twins = [t for t in made if layers.shapes[t] == layers.shapes[x] and t != x]
    room = 40_000 // (rows * columns * depth)
    kind = rng.choice(("conv", "conv", "depthwise", "pool", "pad", "add", "join", "unary", "resize", "transposed"))
    if kind == "conv" and kernel <= small:
        return layers.conv(x, rng.choice((1, 3, 4, 8, 16, 24)), kernel=kernel, stride=stride, same=same)
    if kind == "depthwise" and kernel <= small:
        sides = rng.choice(((kernel, kernel), (kernel, 1), (1, kernel)))
        return layers.depthwise(x, kernel=sides, stride=stride, same=same)
    if kind == "pool" and small >= 2:
        return layers.pool(x)
    if kind == "pad" and room > 2:
        return layers.pad(x, rng.randint(0, 2), rng.randint(0, 2))
    if kind == "add" and twins:
        return layers.elementwise(rng.choice(("ADD", "SUB", "MUL")), x, rng.choice(twins))
    if kind == "join" and room > 1:
        neighbours = [t for t in made if layers.shapes[t][:3] == (1, rows, columns) and t != x]
        return layers.concatenation([x, rng.choice(neighbours)], 3) if neighbours else None
    if kind == "unary":
        return layers.elementwise(rng.choice(("RELU", "LEAKY_RELU")), x)
    if kind == "resize" and room > 4:
        is_linear = layers.type == INT8 and rng.random() < 0.6
        name = "RESIZE_BILINEAR" if is_linear else "RESIZE_NEAREST_NEIGHBOR"
        return layers.resize(x, rng.choice((2, 2, 3, 4)) if room > 16 else 2, kind=name, half_pixel=rng.random() < 0.5)
    if kind == "transposed" and room > 8:
        return layers.transposed(x, rng.choice((2, 4, 8)), kernel=rng.choice((2, 3, 4)), stride=2, same=same)
    return None


FLOAT32 = TensorType.FLOAT32
_UNARY = {
    INT8: "RELU LEAKY_RELU HARD_SWISH ELU ABS LOGISTIC TANH SOFTMAX",
    INT16: "LEAKY_RELU ABS LOGISTIC TANH",
    FLOAT32: "RELU RELU6 LEAKY_RELU HARD_SWISH ELU ABS NEG SQRT RSQRT SQUARE EXP LOG SIN COS FLOOR CEIL ROUND LOGISTIC "
    "TANH SOFTMAX",
}
_BINARY = {
    INT8: "ADD SUB MUL MAXIMUM MINIMUM SQUARED_DIFFERENCE",
    INT16: "ADD SUB MUL MAXIMUM MINIMUM",
    FLOAT32: "ADD SUB MUL MAXIMUM MINIMUM SQUARED_DIFFERENCE DIV",
}
_FIXED = {
    ("LOGISTIC", INT8): (1 / 256, -128),
    ("LOGISTIC", INT16): (1 / 32768, 0),
    ("TANH", INT8): (1 / 128, 0),
    ("TANH", INT16): (1 / 32768, 0),
    ("SOFTMAX", INT8): (1 / 256, -128),
}
"""Scale and zero point of the outputs of which a kernel demands them."""


def random_elementwise(seed: int) -> Model:
    """Return 3 to 12 elementwise operators on int8, int16 and float32, with QUANTIZE and DEQUANTIZE between."""
    rng = random.Random(seed)
    b, shape = ModelBuilder(), (1, rng.randint(1, 12), rng.randint(1, 12), rng.choice((1, 3, 4, 16)))
    types: dict[int, int] = {}

    def tensor(type: int, name: str = "") -> int:
        scale, point = _FIXED.get((name, type), (0.05, 0 if type == INT16 else POINT))
        facts = {} if type == FLOAT32 else {"scale": scale, "zero_point": point}
        index = b.tensor(shape, type, **facts)
        types[index] = type
        return index

    x = tensor(rng.choice((INT8, INT16, FLOAT32)))
    for _ in range(rng.randint(3, 12)):
        source = list(types)[-1] if rng.random() < 0.7 else rng.choice(list(types))
        type, drawn = types[source], rng.random()
        if drawn < 0.2:
            other = rng.choice([each for each in (INT8, INT16, FLOAT32) if each != type])
            name = "DEQUANTIZE" if other == FLOAT32 else "QUANTIZE"
            b.operator(name, [source], [tensor(other)])
        elif drawn < 0.55:
            name = rng.choice(_BINARY[type].split())
            other = rng.choice([each for each in types if types[each] == type])
            b.operator(name, [source, other], [tensor(type)])
        else:
            name = rng.choice(_UNARY[type].split())
            options = {"beta": 1.0} if name == "SOFTMAX" else {"alpha": 0.25} if name == "LEAKY_RELU" else {}
            b.operator(name, [source], [tensor(type, name)], options=options)
    made = list(types)
    outputs = [made[-1]] if rng.random() < 0.7 or len(made) < 4 else [made[-1], rng.choice(made[1:-1])]
    return parse(b.build(inputs=[x], outputs=outputs))


def random_layer(seed: int) -> Model:
    """Return one convolution, depthwise or not, of any small shape, stride, kernel and padding."""
    layers = Layers(seed, numbers=(-127, 128), scale=0.003)
    rng = layers.rng
    x = layers.activation((1, rng.randint(2, 12), rng.randint(2, 12), rng.choice((1, 2, 3, 4, 5, 8, 12, 16, 17))))
    stride, same = rng.choice((1, 1, 2)), rng.random() < 0.7
    kernel = rng.choice((2, 3, 3)) if min(layers.shapes[x][1:3]) > 2 else 2
    if rng.random() < 0.5:
        return layers.model([x], [layers.depthwise(x, kernel=(kernel, kernel), stride=stride, same=same)])
    return layers.model([x], [layers.conv(x, rng.choice((1, 3, 4, 8, 16)), kernel=kernel, stride=stride, same=same)])


def pointwise_layer(seed: int) -> Model:
    """Return one 1x1 convolution with as many outputs as inputs, or more."""
    layers = Layers(seed, numbers=(-127, 128), scale=0.003)
    x = layers.activation((1, 8, 8 + seed, 16))
    return layers.model([x], [layers.conv(x, 16 + 8 * seed, kernel=1)])


MODELS = {
    "channels": channels_model,
    "rows": rows_model,
    "padded rows": padded_rows_model,
    "resized rows": resized_rows_model,
    "transposed rows": transposed_rows_model,
    "PAD is SAME": pad_same_model,
    "PAD is SAME, a tap more": wide_window_model,
    "plain slices": sliced_model,
    "slices of pieces": pieces_model,
    "operands": operands_model,
    "dense layers": dense_model,
    "copies": flatten_model,
    "operator order": order_model,
    "depthwise branches": mixed_model,
    "resource variables": state_model,
}
