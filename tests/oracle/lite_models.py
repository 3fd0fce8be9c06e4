"""Random small models of one operator each, for the mobile runtime: right ones, and some that it refuses."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping, Sequence
from math import prod

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType as T

FLOATS, INT8S = T.FLOAT32, T.INT8
CODES = {T.FLOAT32: "f", T.INT32: "i", T.INT64: "q", T.INT8: "b", T.BOOL: "?", T.UINT8: "B", T.INT16: "h"}


class Case:
    """A model that is being built around a random generator (mutable)."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.builder = ModelBuilder()
        self.inputs: list[int] = []

    def pick(self, *choices):
        return self.rng.choice(choices)

    def shape(self, rank: int | None = None, largest: int = 5) -> tuple[int, ...]:
        rank = self.rng.randint(1, 4) if rank is None else rank
        return tuple(self.rng.randint(1, largest) for _ in range(rank))

    def value(self, shape: Sequence[int], kind: int = FLOATS, **quantization) -> int:
        """Add a graph input; 8-bit and 16-bit ones are quantized."""
        index = self.builder.tensor(shape, kind, **self._quantized(kind, quantization))
        self.inputs.append(index)
        return index

    def constant(self, shape: Sequence[int], kind: int = FLOATS, values: Sequence | None = None, **quantization) -> int:
        """Add a constant of given or random values."""
        count = prod(shape)
        if values is None:
            values = [self.rng.randint(0, 1) for _ in range(count)]
        data = struct.pack(f"<{len(values)}{CODES[kind]}", *values) if kind in CODES else bytes(-(-count // 2))
        return self.builder.tensor(shape, kind, data=data, **self._quantized(kind, quantization))

    def maybe(self, shape: Sequence[int], kind: int, values: Sequence) -> int:
        """Add a constant, or now and then an input of the same shape."""
        return self.value(shape, kind) if self.rng.random() < 0.2 else self.constant(shape, kind, values)

    def output(self, kind: int = FLOATS, shape: Sequence[int] | None = None, **quantization) -> int:
        """Add a result; its shape in the file is a guess that Prepare replaces."""
        shape = self.shape() if shape is None else shape
        return self.builder.tensor(shape, kind, **self._quantized(kind, quantization))

    @staticmethod
    def _quantized(kind: int, quantization: Mapping) -> Mapping:
        if quantization or kind not in (T.INT8, T.UINT8, T.INT16, T.INT4):
            return quantization
        return {"scale": 0.5, "zero_point": 0}

    def operator(self, op: str, inputs: Sequence[int], outputs: Sequence[int], version: int = 1, **options) -> bytes:
        """Add the operator and return the model."""
        intermediates = options.pop("intermediates", None)
        self.builder.operator(op, inputs, outputs, options=options, version=version, intermediates=intermediates)
        return self.builder.build(inputs=self.inputs, outputs=list(outputs))


RECIPES: dict[str, Callable[[Case], bytes]] = {}


def recipe(function: Callable[[Case], bytes]) -> Callable[[Case], bytes]:
    RECIPES[function.__name__] = function
    return function


def random_model(seed: int, name: str | None = None) -> tuple[str, bytes]:
    """Return a recipe's name and the model that it makes of a seed."""
    rng = random.Random(seed)
    chosen = name or sorted(RECIPES)[seed % len(RECIPES)]
    return chosen, RECIPES[chosen](Case(rng))


@recipe
def activation(case):
    op = case.pick(
        "RELU", "RELU6", "TANH", "LEAKY_RELU", "ELU", "HARD_SWISH", "RELU_N1_TO_1", "NEG", "EXP", "ZEROS_LIKE"
    )
    shape = case.shape()
    return case.operator(op, [case.value(shape)], [case.output()])


@recipe
def softmax(case):
    kind = case.pick(FLOATS, FLOATS, INT8S)
    q = {"scale": 1 / 256, "zero_point": case.pick(-128, -128, 0)} if kind == INT8S else {}
    op = case.pick("SOFTMAX", "LOGISTIC")
    return case.operator(op, [case.value(case.shape(), kind)], [case.output(kind, **q)], version=1)


@recipe
def unary(case):
    op, kinds = case.pick(
        ("ABS", (FLOATS, INT8S)),
        ("SIN", (FLOATS,)),
        ("SQRT", (FLOATS, T.INT32)),
        ("RSQRT", (FLOATS,)),
        ("LOG", (FLOATS, T.INT32)),
        ("SQUARE", (FLOATS, T.INT32)),
        ("LOGICAL_NOT", (T.BOOL, FLOATS)),
        ("FLOOR", (FLOATS, T.INT32)),
        ("CEIL", (FLOATS, T.INT32)),
        ("ROUND", (FLOATS, T.INT32)),
    )
    kind = case.pick(*kinds)
    return case.operator(op, [case.value(case.shape(), kind)], [case.output(kind)])


def broadcastable(case):
    shape = case.shape()
    other = [case.pick(size, size, 1) for size in shape][case.rng.randint(0, len(shape) - 1) :]
    if case.rng.random() < 0.1:
        other[-1] += 1
    pair = [shape, tuple(other)]
    case.rng.shuffle(pair)
    return pair


@recipe
def binary(case):
    op = case.pick(
        "ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD", "POW"
    )
    kind = case.pick(FLOATS, FLOATS, T.INT32)
    one, other = broadcastable(case)
    left = case.value(one, kind)
    right = case.constant(other, kind) if case.rng.random() < 0.4 else case.value(other, kind)
    return case.operator(op, [left, right], [case.output(kind)])


@recipe
def binary_integer(case):
    op, kind = case.pick("ADD", "SUB", "MUL", "MAXIMUM"), case.pick(INT8S, T.UINT8, T.INT16)
    one, other = broadcastable(case)
    return case.operator(op, [case.value(one, kind), case.value(other, kind)], [case.output(kind)], version=2)


@recipe
def constant_product(case):
    one, other = broadcastable(case)
    kind = case.pick(T.INT32, FLOATS)
    return case.operator("MUL", [case.constant(one, kind), case.constant(other, kind)], [case.output(kind)])


@recipe
def comparison(case):
    op = case.pick("LESS", "GREATER", "EQUAL", "NOT_EQUAL", "GREATER_EQUAL", "LESS_EQUAL")
    one, other = broadcastable(case)
    return case.operator(
        op, [case.value(one), case.value(other, case.pick(FLOATS, FLOATS, T.INT32))], [case.output(T.BOOL)]
    )


@recipe
def logical(case):
    one, other = broadcastable(case)
    op = case.pick("LOGICAL_AND", "LOGICAL_OR")
    return case.operator(op, [case.value(one, T.BOOL), case.value(other, T.BOOL)], [case.output(T.BOOL)])


@recipe
def select(case):
    op = case.pick("SELECT", "SELECT_V2")
    one, other = broadcastable(case)
    condition = case.pick(one, other, one[:1], ())
    return case.operator(
        op, [case.value(condition, T.BOOL), case.value(one), case.value(case.pick(one, other))], [case.output()]
    )


@recipe
def add_n(case):
    shape, count = case.shape(), case.rng.randint(2, 6)
    values = [case.value(shape) for _ in range(count)]
    if case.rng.random() < 0.2:
        values[-1] = case.value(case.shape())
    return case.operator("ADD_N", values, [case.output()])


@recipe
def prelu(case):
    shape = case.shape(4)
    return case.operator(
        "PRELU",
        [case.value(shape), case.constant(case.pick((1, 1, shape[3]), shape[1:], (2, *shape)))],
        [case.output()],
    )


@recipe
def reshape(case):
    shape = case.shape()
    wanted = case.pick([-1], [prod(shape)], [1, -1], [shape[0], -1], [prod(shape) + 1], [-1, -1], [*shape, 1], [0])
    form = case.rng.randint(0, 3)
    if form == 0:
        return case.operator("RESHAPE", [case.value(shape)], [case.output()], new_shape=wanted)
    target = case.constant((len(wanted),), T.INT32, wanted) if form < 3 else case.value((len(wanted),), T.INT32)
    source = case.constant(shape, T.INT32) if form == 2 else case.value(shape, T.INT32)
    return case.operator("RESHAPE", [source, target], [case.output(T.INT32)])


@recipe
def squeeze(case):
    shape = tuple(case.pick(1, 1, 2, 3) for _ in range(case.rng.randint(1, 5)))
    dims = case.pick([], [0], [-1], [shape.index(1)] if 1 in shape else [])
    return case.operator("SQUEEZE", [case.value(shape)], [case.output()], squeeze_dims=dims)


@recipe
def expand_dims(case):
    shape = case.shape(largest=3)
    axis = case.rng.randint(-len(shape) - 2, len(shape) + 1)
    return case.operator("EXPAND_DIMS", [case.value(shape), case.maybe((1,), T.INT32, [axis])], [case.output()])


@recipe
def shape_and_rank(case):
    op = case.pick("SHAPE", "RANK")
    options = {"out_type": case.pick("INT32", "INT64")} if op == "SHAPE" else {}
    kind = T.INT64 if options.get("out_type") == "INT64" else T.INT32
    return case.operator(op, [case.value(case.shape())], [case.output(kind)], **options)


@recipe
def shape_then_reshape(case):
    shape = case.shape(3)
    value, sizes, begin, end, stride = (
        case.value(shape),
        case.output(T.INT32),
        *(case.constant((1,), T.INT32, [n]) for n in (0, 1, 1)),
    )
    first, packed, result = case.output(T.INT32), case.output(T.INT32), case.output()
    rest = case.constant((), T.INT32, [-1])
    case.builder.operator("SHAPE", [value], [sizes], options={"out_type": "INT32"})
    case.builder.operator("STRIDED_SLICE", [sizes, begin, end, stride], [first], options={"shrink_axis_mask": 1})
    case.builder.operator("CONCATENATION", [first, rest], [packed], options={"axis": 0})
    return case.operator("RESHAPE", [value, packed], [result])


@recipe
def fill(case):
    sizes = list(case.shape())
    dims = case.maybe((len(sizes),), case.pick(T.INT32, T.INT64), sizes)
    return case.operator("FILL", [dims, case.constant((), FLOATS, [1])], [case.output()])


@recipe
def range_op(case):
    kind = case.pick(T.INT32, FLOATS)
    ends = [
        case.maybe((), kind, [n]) for n in (case.rng.randint(0, 3), case.rng.randint(-3, 9), case.pick(1, 2, -1, 3))
    ]
    return case.operator("RANGE", ends, [case.output(kind)])


@recipe
def tile(case):
    shape = case.shape(largest=3)
    times = [case.rng.randint(1, 3) for _ in shape][: case.pick(len(shape), len(shape), 1)]
    source = case.constant(shape, T.INT32) if case.rng.random() < 0.3 else case.value(shape, T.INT32)
    return case.operator("TILE", [source, case.maybe((len(times),), T.INT32, times)], [case.output(T.INT32)])


@recipe
def transpose(case):
    shape = case.shape()
    order = list(range(len(shape)))
    case.rng.shuffle(order)
    return case.operator("TRANSPOSE", [case.value(shape), case.maybe((len(order),), T.INT32, order)], [case.output()])


@recipe
def pad(case):
    shape = case.shape()
    pads = [
        case.pick(0, 1, 2, 0, 1, -1) if case.rng.random() < 0.3 else case.rng.randint(0, 2)
        for _ in range(2 * len(shape))
    ]
    matrix = case.maybe((len(shape), 2), case.pick(T.INT32, T.INT32, T.INT64), pads)
    op = case.pick("PAD", "MIRROR_PAD", "PADV2")
    extra = [case.constant((), FLOATS, [0])] if op == "PADV2" else []
    options = {"mode": case.pick("REFLECT", "SYMMETRIC")} if op == "MIRROR_PAD" else {}
    return case.operator(op, [case.value(shape), matrix, *extra], [case.output()], **options)


@recipe
def space(case):
    op, size = case.pick("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"), case.pick(1, 2, 2, 3)
    return case.operator(
        op,
        [case.value((1, case.pick(2, 4, 6), case.pick(2, 4, 6), case.pick(1, 4, 8)))],
        [case.output()],
        block_size=size,
    )


@recipe
def batch_space(case):
    op = case.pick("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
    block = [case.pick(1, 2), case.pick(1, 2)]
    value = case.value((case.pick(1, 2, 4), case.pick(2, 4, 3), case.pick(2, 4), 2))
    margins = [case.pick(0, 0, 1) for _ in range(4)]
    return case.operator(
        op, [value, case.maybe((2,), T.INT32, block), case.constant((2, 2), T.INT32, margins)], [case.output()]
    )


@recipe
def resize(case):
    op = case.pick("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
    size = [case.rng.randint(0, 6), case.rng.randint(1, 6)]
    rank = case.pick(4, 4, 4, 3)
    return case.operator(op, [case.value(case.shape(rank)), case.maybe((2,), T.INT32, size)], [case.output()])


@recipe
def slice_op(case):
    shape = case.shape()
    begin = [case.rng.randint(0, size - 1) for size in shape]
    size = [case.pick(-1, whole - first, 1, whole) for whole, first in zip(shape, begin, strict=True)]
    rank = len(shape)
    output = case.output(shape=case.pick((), None, shape))
    return case.operator(
        "SLICE", [case.value(shape), case.maybe((rank,), T.INT32, begin), case.maybe((rank,), T.INT32, size)], [output]
    )


@recipe
def strided_slice(case):
    shape = case.shape()
    rank = case.rng.randint(1, len(shape))
    begin, end = [case.rng.randint(-2, 3) for _ in range(rank)], [case.rng.randint(-2, 5) for _ in range(rank)]
    strides = [case.pick(1, 1, 2, -1) for _ in range(rank)]
    masks = {
        name: case.rng.randint(0, 2**rank - 1) * (case.rng.random() < 0.4)
        for name in ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask")
    }
    masks["ellipsis_mask"] = case.pick(0, 0, 1, 2)
    source = case.constant(shape, T.INT32) if case.rng.random() < 0.3 else case.value(shape, T.INT32)
    parts = [case.maybe((rank,), T.INT32, values) for values in (begin, end, strides)]
    return case.operator("STRIDED_SLICE", [source, *parts], [case.output(T.INT32)], **masks)


@recipe
def gather(case):
    shape = case.shape()
    axis = case.rng.randint(-1, len(shape) - 1)
    indices = case.shape(case.pick(1, 2), 3)
    batch = case.pick(0, 0, 0, 1)
    source = case.constant(shape, T.INT32) if case.rng.random() < 0.3 else case.value(shape, T.INT32)
    positions = case.maybe(indices, T.INT32, [0] * prod(indices))
    return case.operator("GATHER", [source, positions], [case.output(T.INT32)], axis=axis, batch_dims=batch)


@recipe
def gather_nd(case):
    return case.operator(
        "GATHER_ND", [case.value(case.shape()), case.value(case.shape(case.pick(1, 2), 3), T.INT32)], [case.output()]
    )


@recipe
def scatter_nd(case):
    shape = case.maybe((2,), T.INT32, [4, 3])
    return case.operator(
        "SCATTER_ND", [case.value((2, 1), T.INT32), case.value((2, case.pick(3, 3, 2))), shape], [case.output()]
    )


@recipe
def concatenation(case):
    shape, kind = case.shape(), case.pick(FLOATS, T.INT32, INT8S)
    axis = case.rng.randint(-1, len(shape) - 1)
    values = []
    for _ in range(case.rng.randint(1, 4)):
        sizes = list(shape)
        sizes[axis] = case.rng.randint(1, 4)
        if case.rng.random() < 0.05:
            sizes[0] += 1
        values.append(case.constant(sizes, kind) if case.rng.random() < 0.4 else case.value(sizes, kind))
    return case.operator("CONCATENATION", values, [case.output(kind)], axis=axis)


@recipe
def pack(case):
    shape, count = case.shape(), case.rng.randint(1, 3)
    values = [case.value(shape) for _ in range(count)]
    return case.operator(
        "PACK",
        values,
        [case.output()],
        values_count=case.pick(count, count, count, count + 1),
        axis=case.pick(0, -1, len(shape)),
    )


@recipe
def unpack(case):
    shape = case.shape(largest=3)
    axis = case.rng.randint(-1, len(shape) - 1)
    count = case.pick(shape[axis], shape[axis], 2)
    return case.operator("UNPACK", [case.value(shape)], [case.output() for _ in range(count)], num=count, axis=axis)


@recipe
def split(case):
    shape = case.shape(largest=6)
    axis, count = case.rng.randint(-1, len(shape) - 1), case.rng.randint(1, 3)
    return case.operator(
        "SPLIT",
        [case.maybe((), T.INT32, [axis]), case.value(shape)],
        [case.output() for _ in range(count)],
        num_splits=count,
    )


@recipe
def split_v(case):
    shape = case.shape(largest=6)
    axis, count = case.rng.randint(0, len(shape) - 1), case.rng.randint(1, 3)
    sizes = [1] * (count - 1) + [case.pick(-1, shape[axis] - count + 1)]
    parts = [case.maybe((count,), T.INT32, sizes), case.maybe((), T.INT32, [axis])]
    return case.operator(
        "SPLIT_V", [case.value(shape), *parts], [case.output() for _ in range(count)], num_splits=count
    )


@recipe
def arg_max(case):
    shape = case.shape()
    axis = case.maybe((), T.INT32, [case.rng.randint(-1, len(shape))])
    kind = case.pick("INT32", "INT64")
    return case.operator(
        case.pick("ARG_MAX", "ARG_MIN"), [case.value(shape), axis], [case.output(T[kind])], output_type=kind
    )


@recipe
def top_k(case):
    shape = case.shape()
    return case.operator(
        "TOPK_V2",
        [case.value(shape), case.maybe((), T.INT32, [case.rng.randint(0, 4)])],
        [case.output(), case.output(T.INT32)],
    )


@recipe
def one_hot(case):
    shape = case.shape(case.pick(1, 2))
    depth = case.maybe((), T.INT32, [case.rng.randint(0, 5)])
    return case.operator(
        "ONE_HOT",
        [case.value(shape, T.INT32), depth, case.constant((), FLOATS, [1]), case.constant((), FLOATS, [0])],
        [case.output()],
        axis=case.pick(-1, 0, 1),
    )


@recipe
def where(case):
    shape = case.shape()
    return case.operator(
        "WHERE",
        [case.maybe(shape, T.BOOL, [case.pick(True, False) for _ in range(prod(shape))])],
        [case.output(T.INT64)],
    )


@recipe
def unique(case):
    return case.operator(
        "UNIQUE",
        [case.value(case.shape(case.pick(1, 1, 2)))],
        [case.output(), case.output(T.INT32)],
        idx_out_type="INT32",
    )


@recipe
def segments(case):
    op = case.pick("SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_MAX")
    ids = case.maybe((3,), T.INT32, [0, 1, 1])
    extra = [case.maybe((), T.INT32, [case.pick(2, 3, 1)])] if op != "SEGMENT_SUM" else []
    data = case.constant((3, 2)) if case.rng.random() < 0.5 else case.value((3, 2))
    return case.operator(op, [data, ids, *extra], [case.output()])


@recipe
def broadcast_to(case):
    shape = case.shape(2)
    wanted = case.pick([2, *shape], list(shape), [shape[0], shape[1] + 1], [shape[1]])
    return case.operator(
        "BROADCAST_TO", [case.value(shape), case.maybe((len(wanted),), T.INT32, wanted)], [case.output()], version=2
    )


@recipe
def broadcast_args(case):
    one, other = [2, 1, 3], [case.pick(2, 1), 3]
    return case.operator(
        "BROADCAST_ARGS", [case.maybe((3,), T.INT32, one), case.maybe((2,), T.INT32, other)], [case.output(T.INT32)]
    )


@recipe
def reverse(case):
    shape = case.shape()
    return case.operator("REVERSE_V2", [case.value(shape), case.constant((1,), T.INT32, [0])], [case.output()])


@recipe
def cumsum(case):
    return case.operator(
        "CUMSUM", [case.value(case.shape()), case.constant((case.pick(1, 1, 2),), T.INT32)], [case.output()]
    )


@recipe
def cast(case):
    one, other = case.pick((T.INT32, FLOATS), (FLOATS, T.INT32), (T.BOOL, FLOATS))
    source = case.constant(case.shape(), one) if case.rng.random() < 0.3 else case.value(case.shape(), one)
    return case.operator("CAST", [source], [case.output(other)])


@recipe
def dequantize(case):
    source = case.constant(case.shape(), INT8S) if case.rng.random() < 0.5 else case.value(case.shape(), INT8S)
    return case.operator("DEQUANTIZE", [source], [case.output()], version=2)


@recipe
def quantize(case):
    kind = case.pick(FLOATS, FLOATS, INT8S)
    return case.operator(
        "QUANTIZE", [case.value(case.shape(), kind)], [case.output(INT8S)], version=2 if kind == INT8S else 1
    )


@recipe
def reduce(case):
    op = case.pick("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY")
    kind = T.BOOL if op == "REDUCE_ANY" else case.pick(FLOATS, T.INT32, INT8S)
    shape = case.shape()
    axes = sorted({case.rng.randint(-1, len(shape) - 1) for _ in range(case.rng.randint(1, 3))})
    known = op == "REDUCE_PROD" and kind == T.INT32 and case.rng.random() < 0.5
    source = case.constant(shape, kind) if known else case.value(shape, kind)
    axis = case.maybe((len(axes),), T.INT32, axes)
    return case.operator(
        op,
        [source, axis],
        [case.output(kind)],
        version=2 if kind == INT8S and op != "REDUCE_ANY" else 1,
        keep_dims=case.pick(True, False),
    )


@recipe
def convolution(case):
    depth, channels = case.pick(1, 2, 4), case.pick(1, 3, 4)
    window, stride, dilation = case.pick((1, 1), (3, 3), (2, 3)), case.pick(1, 1, 2), case.pick(1, 1, 2)
    kind = case.pick("float", "float", "int8", "hybrid", "hybrid per channel", "int16")
    value_kind = {"int8": INT8S, "int16": T.INT16}.get(kind, FLOATS)
    weights_kind = FLOATS if kind == "float" else INT8S
    scale = {"scale": [0.5 + n for n in range(channels)]} if kind == "hybrid per channel" else {}
    if kind in ("hybrid", "int8", "int16"):
        scale = {"scale": 0.5, "zero_point": 0}
    value = case.value(
        (case.pick(1, 2), case.rng.randint(3, 8), case.rng.randint(3, 8), case.pick(depth, depth, depth * 2)),
        value_kind,
    )
    weights = case.constant((channels, *window, depth), weights_kind, **scale)
    bias_kind = {"int8": T.INT32, "int16": T.INT64}.get(kind, FLOATS)
    bias = case.constant((case.pick(channels, channels, channels, channels + 1),), bias_kind)
    options = {
        "padding": case.pick("SAME", "VALID"),
        "stride_w": stride,
        "stride_h": stride,
        "dilation_w_factor": dilation,
        "dilation_h_factor": dilation,
    }
    return case.operator(
        "CONV_2D", [value, weights, bias], [case.output(value_kind)], version=case.pick(3, 5), **options
    )


@recipe
def depthwise_convolution(case):
    depth, multiplier = case.pick(1, 2, 4), case.pick(1, 2)
    channels, kind = depth * multiplier, case.pick("float", "int8", "hybrid")
    value_kind, weights_kind = (INT8S if kind == "int8" else FLOATS), (FLOATS if kind == "float" else INT8S)
    scale = {"scale": [0.5] * channels, "quantized_dimension": 3} if kind == "hybrid" else {}
    value = case.value((case.pick(1, 2), 6, 5, depth), value_kind)
    weights = case.constant((1, 3, case.pick(1, 3), channels), weights_kind, **scale)
    bias = case.constant((channels,), T.INT32 if kind == "int8" else FLOATS)
    options = {
        "padding": case.pick("SAME", "VALID"),
        "stride_w": case.pick(1, 2),
        "stride_h": 1,
        "depth_multiplier": multiplier,
    }
    return case.operator(
        "DEPTHWISE_CONV_2D", [value, weights, bias], [case.output(value_kind)], version=case.pick(3, 4, 6), **options
    )


@recipe
def pool(case):
    op, rank = case.pick("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), case.pick(4, 4, 4, 3)
    options = {
        "padding": case.pick("SAME", "VALID"),
        "stride_w": case.pick(1, 2),
        "stride_h": 1,
        "filter_width": case.pick(1, 2, 3),
        "filter_height": 2,
    }
    return case.operator(op, [case.value((1, 5, 6, 2)[:rank])], [case.output()], **options)


@recipe
def transpose_convolution(case):
    kind, stride = case.pick("float", "int8", "hybrid"), case.pick(1, 2)
    value_kind, weights_kind = (INT8S if kind == "int8" else FLOATS), (FLOATS if kind == "float" else INT8S)
    height = case.pick(4, 4, 5)
    value = case.value((1, height, 4, 2), value_kind)
    weights = case.constant((3, 3, 3, 2), weights_kind)
    shape = case.maybe((4,), T.INT32, [1, 4 * stride, 4 * stride, 3])
    return case.operator(
        "TRANSPOSE_CONV",
        [shape, weights, value],
        [case.output(value_kind)],
        version=case.pick(1, 2),
        padding="SAME",
        stride_w=stride,
        stride_h=stride,
    )


@recipe
def convolution_3d(case):
    window = case.pick((1, 1, 1), (2, 2, 2), (1, 2, 3))
    options = {"padding": case.pick("SAME", "VALID"), "stride_d": 1, "stride_w": case.pick(1, 2), "stride_h": 1}
    return case.operator(
        "CONV_3D", [case.value((1, 4, 4, 4, 2)), case.constant((*window, 2, 3))], [case.output()], **options
    )


@recipe
def transpose_convolution_3d(case):
    shape = case.maybe((5,), T.INT32, [1, 4, 4, 4, 2])
    options = {"padding": "SAME", "stride_d": 2, "stride_w": 2, "stride_h": 2}
    return case.operator(
        "CONV_3D_TRANSPOSE",
        [shape, case.constant((2, 2, 2, 2, 3)), case.value((1, 2, 2, 2, 3))],
        [case.output()],
        **options,
    )


@recipe
def fully_connected(case):
    depth, units, kind = case.pick(4, 8, 64), case.pick(2, 5, 8), case.pick("float", "int8", "hybrid", "hybrid", "int4")
    batch = case.shape(case.pick(1, 2), 3)
    keep = case.pick(True, False)
    value_kind = INT8S if kind == "int8" else FLOATS
    weights_kind = {"float": FLOATS, "int4": T.INT4}.get(kind, INT8S)
    value = case.value((*batch, depth), value_kind)
    weights = (
        case.constant((units, depth), weights_kind)
        if case.rng.random() < 0.8 or kind == "int4"
        else case.value((units, depth), weights_kind)
    )
    bias = case.pick(-1, case.constant((case.pick(units, units, units + 1),), T.INT32 if kind == "int8" else FLOATS))
    return case.operator(
        "FULLY_CONNECTED",
        [value, weights, bias],
        [case.output(value_kind)],
        version=9,
        keep_num_dims=keep,
        asymmetric_quantize_inputs=case.pick(True, False),
    )


@recipe
def batch_matmul(case):
    rows, inner, columns = (case.rng.randint(1, 4) for _ in range(3))
    batch = case.shape(case.pick(0, 1, 2), 3)
    adj_x, adj_y = case.pick(True, False), case.pick(True, False)
    left = (*batch, *((inner, rows) if adj_x else (rows, inner)))
    right = (*case.pick(batch, ()), *((columns, inner) if adj_y else (inner, columns)))
    kind = case.pick(FLOATS, FLOATS, INT8S)
    right_kind = case.pick(kind, INT8S)
    other = case.constant(right, right_kind) if case.rng.random() < 0.5 else case.value(right, right_kind)
    return case.operator(
        "BATCH_MATMUL",
        [case.value(left, kind), other],
        [case.output(kind)],
        version=case.pick(1, 2),
        adj_x=adj_x,
        adj_y=adj_y,
    )


@recipe
def svdf(case):
    units, rank, memory, depth, batch = 4, 2, 5, 3, case.pick(1, 2)
    kind = case.pick("float", "hybrid", "int8")
    value_kind, weights_kind = (INT8S if kind == "int8" else FLOATS), (FLOATS if kind == "float" else INT8S)
    time_kind = {"int8": T.INT16}.get(kind, weights_kind)
    state_kind = T.INT16 if kind == "int8" else FLOATS
    q = {"scale": 0.5, "zero_point": 0} if kind == "int8" else {}
    value = case.value((batch, depth), value_kind)
    feature, time = case.constant((units * rank, depth), weights_kind), case.constant((units * rank, memory), time_kind)
    state = case.builder.tensor((case.pick(batch, batch, 1), memory * units * rank), state_kind, is_variable=True, **q)
    bias = case.constant((units,), T.INT32 if kind == "int8" else FLOATS, **q)
    return case.operator(
        "SVDF", [value, feature, time, bias, state], [case.output(value_kind)], version=case.pick(2, 3), rank=rank
    )


def lstm_inputs(case, batch, depth, cells, outputs, kind, *, cifg, projection):
    weights = [case.constant((cells, depth), kind) for _ in range(4)] + [
        case.constant((cells, outputs), kind) for _ in range(4)
    ]
    if cifg:
        weights[0] = weights[4] = -1
    biases = [case.constant((cells,)) for _ in range(4)]
    if cifg:
        biases[0] = -1
    project = case.constant((outputs, cells), kind) if projection else -1
    states = [case.builder.tensor((batch, size), FLOATS, is_variable=True) for size in (outputs, cells)]
    return [*weights, -1, -1, -1, *biases, project, -1, *states]


@recipe
def lstm(case):
    batch, depth, cells, projection = case.pick(1, 2), 3, 4, case.pick(True, False)
    outputs, kind = (2 if projection else cells), case.pick(FLOATS, INT8S)
    rest = lstm_inputs(
        case,
        case.pick(batch, batch, 1),
        depth,
        cells,
        outputs,
        kind,
        cifg=case.pick(True, False),
        projection=projection,
    )
    return case.operator("LSTM", [case.value((batch, depth)), *rest], [case.output()], version=case.pick(2, 3))


@recipe
def sequence_lstm(case):
    batch, depth, cells, projection, major = case.pick(1, 2), 3, 4, case.pick(True, False), case.pick(True, False)
    outputs, kind = (2 if projection else cells), case.pick(FLOATS, INT8S)
    rest = lstm_inputs(case, batch, depth, cells, outputs, kind, cifg=case.pick(True, False), projection=projection)
    shape = (5, batch, depth) if major else (batch, 5, depth)
    return case.operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [case.value(shape), *rest],
        [case.output()],
        version=case.pick(1, 3),
        time_major=major,
    )


@recipe
def bidirectional_lstm(case):
    batch, depth, cells, major, merges = case.pick(1, 2), 3, 4, case.pick(True, False), case.pick(True, False)
    kind, cifg = case.pick(FLOATS, INT8S), case.pick(True, False)
    ways = [lstm_inputs(case, batch, depth, cells, cells, kind, cifg=cifg, projection=False) for _ in range(2)]
    weights = [way[:17] for way in ways]
    states = [*ways[0][17:], *ways[1][17:]]
    shape = (5, batch, depth) if major else (batch, 5, depth)
    outputs = [case.output() for _ in range(1 if merges else 2)]
    inputs = [case.value(shape), *weights[0], *weights[1], *states, *[-1] * 9]
    return case.operator(
        "BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, version=case.pick(1, 3), time_major=major, merge_outputs=merges
    )


@recipe
def basic_lstm(case):
    batch, depth, cells = case.pick(1, 2), 3, 4
    inputs = [
        case.value((batch, depth)),
        case.value((batch, cells)),
        case.constant((4 * cells, depth + cells)),
        case.constant((4 * cells,)),
        case.value((batch, cells)),
    ]
    return case.operator("LSTM", inputs, [case.output() for _ in range(4)], kernel_type="BASIC")


@recipe
def rnn(case):
    batch, depth, units, kind = case.pick(1, 2), 3, 4, case.pick(FLOATS, INT8S)
    op = case.pick("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
    major = case.pick(True, False)
    shape = (batch, depth) if op == "RNN" else (5, batch, depth) if major else (batch, 5, depth)
    state = case.builder.tensor((batch, units), FLOATS, is_variable=True)
    inputs = [
        case.value(shape),
        case.constant((units, depth), kind),
        case.constant((units, units), kind),
        case.constant((units,)),
        state,
    ]
    options = {} if op == "RNN" else {"time_major": major}
    return case.operator(op, inputs, [case.output()], version=case.pick(1, 2), **options)


@recipe
def bidirectional_rnn(case):
    batch, depth, kind, merges, major = 2, 3, case.pick(FLOATS, INT8S), case.pick(True, False), case.pick(True, False)
    ways = []
    for units in (4, case.pick(4, 2)):
        state = case.builder.tensor((batch, units), FLOATS, is_variable=True)
        ways += [
            case.constant((units, depth), kind),
            case.constant((units, units), kind),
            case.constant((units,)),
            state,
        ]
    shape = (5, batch, depth) if major else (batch, 5, depth)
    outputs = [case.output() for _ in range(1 if merges else 2)]
    return case.operator(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        [case.value(shape), *ways, -1, -1, -1],
        outputs,
        merge_outputs=merges,
        time_major=major,
    )


@recipe
def embedding(case):
    return case.operator(
        "EMBEDDING_LOOKUP",
        [case.value((case.pick(3, 1),), T.INT32), case.constant((5, *case.shape(case.pick(1, 2))))],
        [case.output()],
    )


@recipe
def hashtable_lookup(case):
    value = case.value(case.shape(case.pick(1, 2)))
    return case.operator(
        "HASHTABLE_LOOKUP",
        [case.value((2,), T.INT32), case.value((3,), T.INT32), value],
        [case.output(), case.output(T.UINT8, scale=0.5)],
    )


@recipe
def rfft2d(case):
    length = case.maybe((2,), T.INT32, [case.pick(4, 8, 6), case.pick(2, 8)])
    return case.operator("RFFT2D", [case.value((2, 4, 8)), length], [case.output(T.COMPLEX64)])


@recipe
def random_values(case):
    op = case.pick("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
    sizes = list(case.shape())
    return case.operator(op, [case.maybe((len(sizes),), T.INT32, sizes)], [case.output()])


@recipe
def non_max_suppression(case):
    soft = case.pick(True, False)
    scalars = [
        case.maybe((), T.INT32, [case.rng.randint(0, 5)]),
        case.constant((), FLOATS, [0.5]),
        case.constant((), FLOATS, [0.5]),
    ]
    inputs = [
        case.value((6, 4)),
        case.value((case.pick(6, 6, 5),)),
        *scalars,
        *([case.constant((), FLOATS, [0.5])] if soft else []),
    ]
    outputs = [case.output(T.INT32), *([case.output()] if soft else []), case.output(T.INT32)]
    return case.operator(f"NON_MAX_SUPPRESSION_V{5 if soft else 4}", inputs, outputs)


@recipe
def dynamic_update_slice(case):
    shape = case.shape(2)
    update = tuple(case.rng.randint(1, size + (case.rng.random() < 0.1)) for size in shape)
    return case.operator(
        "DYNAMIC_UPDATE_SLICE",
        [case.value(shape), case.value(update), case.constant((2,), T.INT32, [0, 0])],
        [case.output()],
    )


@recipe
def matrices(case):
    op = case.pick("MATRIX_DIAG", "MATRIX_SET_DIAG")
    shape = case.shape(case.pick(1, 2, 3))
    return case.operator(
        op, [case.value(shape), *([case.value(shape[:1])] if op == "MATRIX_SET_DIAG" else [])], [case.output()]
    )


@recipe
def norms(case):
    op, rank = case.pick("L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"), case.pick(4, 4, 3)
    return case.operator(op, [case.value(case.shape(rank))], [case.output()])


@recipe
def sparse_to_dense(case):
    shape = case.maybe((2,), T.INT32, [4, 5])
    return case.operator(
        "SPARSE_TO_DENSE",
        [case.value((3, 2), T.INT32), shape, case.value((3,)), case.constant((), FLOATS, [0])],
        [case.output()],
    )


@recipe
def chain(case):
    """A longer graph, whose plan has to decide about many tensors of one size."""
    shape = case.shape(3, 6)
    known = [case.value(shape) for _ in range(case.rng.randint(1, 3))]
    for _ in range(case.rng.randint(5, 40)):
        op = case.pick("ADD", "MUL", "RELU", "TANH", "RESHAPE", "SUB", "SQUEEZE")
        output = case.builder.tensor(shape, FLOATS)
        inputs = [case.rng.choice(known[-6:]) for _ in range(2 if op in ("ADD", "MUL", "SUB") else 1)]
        options = {"new_shape": list(shape)} if op == "RESHAPE" else {"squeeze_dims": []} if op == "SQUEEZE" else {}
        if op == "SQUEEZE" and 1 in shape:
            op, options = "RELU", {}
        case.builder.operator(op, inputs, [output], options=options)
        known.append(output)
    return case.builder.build(inputs=case.inputs, outputs=known[-case.rng.randint(1, 2) :])


def child(case, shape, ops):
    """Add a subgraph with one input of a shape and a chain of operators."""
    builder = case.builder.add_subgraph()
    at = first = builder.tensor(shape, FLOATS)
    for op in ops:
        output = builder.tensor(shape, FLOATS)
        builder.operator(op, [at] if op != "ADD" else [at, at], [output])
        at = output
    builder.inputs, builder.outputs = [first], [at]
    return builder


@recipe
def if_op(case):
    shape = case.shape(2)
    condition, value = case.value((), T.BOOL), case.value(shape)
    ways = [
        child(
            case,
            case.pick(shape, case.shape(2)),
            [case.pick("RELU", "ADD", "TANH") for _ in range(case.rng.randint(0, 3))],
        )
        for _ in range(2)
    ]
    return case.operator(
        "IF", [condition, value], [case.output()], then_subgraph_index=ways[0].index, else_subgraph_index=ways[1].index
    )


@recipe
def while_op(case):
    shape = case.shape(2)
    value = case.value(shape)
    condition = case.builder.add_subgraph()
    first = condition.tensor(shape, FLOATS)
    answer, zero = condition.tensor((), T.BOOL), condition.tensor((), FLOATS, data=struct.pack("<f", 0))
    total, axis = condition.tensor((), FLOATS), condition.tensor((2,), T.INT32, data=struct.pack("<2i", 0, 1))
    condition.operator("SUM", [first, axis], [total])
    condition.operator("LESS", [total, zero], [answer])
    condition.inputs, condition.outputs = [first], [answer]
    body = child(case, shape, [case.pick("RELU", "ADD", "TANH") for _ in range(case.rng.randint(0, 3))])
    return case.operator(
        "WHILE", [value], [case.output()], cond_subgraph_index=condition.index, body_subgraph_index=body.index
    )


@recipe
def composite(case):
    shape = case.shape(2)
    body = child(case, shape, ["RELU", "ADD"])
    return case.operator(
        "STABLEHLO_COMPOSITE",
        [case.value(shape)],
        [case.output()],
        name="mine",
        decomposition_subgraph_index=body.index,
        composite_attributes=memoryview(b"\1"),
    )


@recipe
def variables(case):
    handle = case.builder.tensor((case.pick(1, 1, 2),), T.RESOURCE)
    value, output = case.value(case.shape()), case.output(shape=case.pick((), None))
    case.builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "state"})
    case.builder.operator("ASSIGN_VARIABLE", [handle, value], [])
    return case.operator("READ_VARIABLE", [handle], [output])
