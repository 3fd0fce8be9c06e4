"""Make the sample models of ``tflm_sim/samples``, bit for bit the same on every machine.

    python tools release samples            write them
    python tools release samples --check    exit 1 when a file differs from what would be written

The shapes are those of networks that people run on microcontrollers. Weights are pseudo-random, but for the sine
network, which computes a sine. Everything is int8; convolution weights have one scale per output channel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pi, prod, sin, sqrt

import frame

from tflm_sim.model.build import ModelBuilder, SubgraphBuilder
from tflm_sim.model.types import OptionValue, TensorType
from tflm_sim.samples import SAMPLES, sample_path

# (scale, zero point) of int8 activations: [0, 6], about [-6, 6], [0, 1].
RELU6_RANGE = 6 / 255, -128
LINEAR_RANGE = 12 / 255, 0
PROBABILITY_RANGE = 1 / 256, -128

NO_RELU: dict[str, OptionValue] = {"fused_activation_function": "NONE"}
RELU: dict[str, OptionValue] = {"fused_activation_function": "RELU"}
RELU6: dict[str, OptionValue] = {"fused_activation_function": "RELU6"}


class Random:
    """A 32-bit linear congruential generator (Numerical Recipes): the same numbers everywhere."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, end: int) -> int:
        """Return a number in [0, end)."""
        self._state = (self._state * 1664525 + 1013904223) % 2**32
        return (self._state >> 8) % end

    def weights(self, count: int) -> list[int]:
        """Return int8 weights in [-127, 127]."""
        return [self.below(255) - 127 for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Activation:
    """A tensor on its way through a network; ``affine`` is its (scale, zero point)."""

    index: int
    shape: tuple[int, ...]
    affine: tuple[float, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Where a convolution looks: kernel (height, width), the same stride both ways, SAME or VALID padding."""

    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    padding: str = "SAME"

    def output(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the (height, width) of the output for an input [1, height, width, channels]."""
        lost = (0, 0) if self.padding == "SAME" else (self.kernel[0] - 1, self.kernel[1] - 1)
        return -((lost[0] - shape[1]) // self.stride), -((lost[1] - shape[2]) // self.stride)

    def options(self) -> dict[str, OptionValue]:
        """Return the options of a convolution or pool."""
        return {"padding": self.padding, "stride_w": self.stride, "stride_h": self.stride}


class Network:
    """Layers that append themselves to the main subgraph (mutable)."""

    def __init__(self, seed: int) -> None:
        self.builder = ModelBuilder(description="tflm_sim sample")
        self.random = Random(seed)

    def activation(self, name: str, shape: Sequence[int], affine: tuple[float, int] = RELU6_RANGE) -> Activation:
        """Add an int8 tensor without data."""
        index = self.builder.tensor(shape, TensorType.INT8, scale=affine[0], zero_point=affine[1], name=name)
        return Activation(index, tuple(shape), affine)

    def constant(self, name: str, values: Sequence[int]) -> int:
        """Add a constant int32 vector, such as a shape."""
        return self.builder.tensor((len(values),), TensorType.INT32, data=values, name=name)

    def conv(self, name: str, x: Activation, channels: int, window: Window, *, relu: bool = True) -> Activation:
        """Add a CONV_2D, with ReLU6 unless told otherwise."""
        y = self.activation(name, (1, *window.output(x.shape), channels), RELU6_RANGE if relu else LINEAR_RANGE)
        weights, bias = self._filter(name, x, (channels, *window.kernel, x.shape[3]), 0)
        options = window.options() | (RELU6 if relu else NO_RELU)
        self.builder.operator("CONV_2D", [x.index, weights, bias], [y.index], options=options, version=3)
        return y

    def depthwise(self, name: str, x: Activation, window: Window, *, multiplier: int = 1) -> Activation:
        """Add a DEPTHWISE_CONV_2D with ReLU6."""
        channels = x.shape[3] * multiplier
        y = self.activation(name, (1, *window.output(x.shape), channels))
        weights, bias = self._filter(name, x, (1, *window.kernel, channels), 3)
        options = window.options() | RELU6 | {"depth_multiplier": multiplier}
        self.builder.operator("DEPTHWISE_CONV_2D", [x.index, weights, bias], [y.index], options=options, version=3)
        return y

    def _filter(self, name: str, x: Activation, shape: tuple[int, int, int, int], axis: int) -> tuple[int, int]:
        """Add weights with one scale per channel, and their bias; return the tensors' indices."""
        channels, size = shape[axis], prod(shape)
        # Uniform int8 values have a standard deviation of 73: with this unit outputs vary about as much as inputs.
        unit = 1 / (73 * sqrt(size // channels))
        scales = [unit * (0.5 + self.random.below(256) / 256) for _ in range(channels)]
        data = self.random.weights(size)
        weights = self.builder.tensor(
            shape, TensorType.INT8, data=data, scale=scales, quantized_dimension=axis, name=f"{name}/weights"
        )
        biases = [self.random.below(64) for _ in scales]
        return weights, self.bias(name, biases, [x.affine[0] * scale for scale in scales])

    def bias(self, name: str, values: Sequence[int], scale: float | Sequence[float]) -> int:
        """Add an int32 bias and return its index."""
        return self.builder.tensor((len(values),), TensorType.INT32, data=values, scale=scale, name=f"{name}/bias")

    def dense(
        self, x: Activation, y: Activation, weights: Sequence[int], biases: Sequence[int], *, scale: float, relu: bool
    ) -> Activation:
        """Add a FULLY_CONNECTED with one scale for all weights [outputs, inputs]."""
        name = f"dense_{y.index}"
        shape = y.shape[1], x.shape[1]
        filter_index = self.builder.tensor(shape, TensorType.INT8, data=weights, scale=scale, name=f"{name}/weights")
        inputs = [x.index, filter_index, self.bias(name, biases, x.affine[0] * scale)]
        options = RELU if relu else NO_RELU
        self.builder.operator("FULLY_CONNECTED", inputs, [y.index], options=options, version=4)
        return y

    def random_dense(self, name: str, x: Activation, outputs: int) -> Activation:
        """Add a FULLY_CONNECTED with random weights and no activation function."""
        size = outputs * x.shape[1]
        y = self.activation(name, (1, outputs), LINEAR_RANGE)
        return self.dense(x, y, self.random.weights(size), [0] * outputs, scale=1 / 1024, relu=False)

    def add(self, name: str, a: Activation, b: Activation) -> Activation:
        """Add an ADD with ReLU6."""
        y = self.activation(name, a.shape)
        self.builder.operator("ADD", [a.index, b.index], [y.index], options=RELU6, version=2)
        return y

    def average(self, name: str, x: Activation) -> Activation:
        """Add an AVERAGE_POOL_2D over the whole image."""
        _, height, width, channels = x.shape
        y = self.activation(name, (1, 1, 1, channels), x.affine)
        options = Window(padding="VALID").options() | {"filter_width": width, "filter_height": height}
        self.builder.operator("AVERAGE_POOL_2D", [x.index], [y.index], options=options, version=2)
        return y

    def reshape(self, name: str, x: Activation, shape: tuple[int, ...]) -> Activation:
        """Add a RESHAPE."""
        y = self.activation(name, shape, x.affine)
        inputs = [x.index, self.constant(f"{name}/shape", shape)]
        self.builder.operator("RESHAPE", inputs, [y.index], options={"new_shape": shape})
        return y

    def classify(self, x: Activation, classes: int) -> Activation:
        """Add the usual end: average, flatten, dense, softmax."""
        pooled = self.average("pool", x)
        logits = self.random_dense("logits", self.reshape("flat", pooled, (1, pooled.shape[3])), classes)
        y = self.activation("probabilities", (1, classes), PROBABILITY_RANGE)
        self.builder.operator("SOFTMAX", [logits.index], [y.index], options={"beta": 1.0}, version=2)
        return y

    def build(self, x: Activation, y: Activation) -> bytes:
        """Return the file of a network with one input and one output."""
        self.builder.signature("serving_default", {"input": x.index}, {"output": y.index})
        self.builder.metadata("min_runtime_version", b"2.13.0".ljust(16, b"\0"))
        return self.builder.build(inputs=[x.index], outputs=[y.index])


def sine() -> bytes:
    """1 -> 16 -> 16 -> 1: a piecewise linear sine of [0, 2 pi], one hidden unit for each knot."""
    net = Network(1)
    x = net.activation("x", (1, 1), (1 / 40, -128))
    knots = [2 * pi * i / 16 for i in range(17)]
    slopes = [(sin(b) - sin(a)) / (b - a) for a, b in pairwise(knots)]
    bends = [b - a for a, b in pairwise([0.0, *slopes])]
    hidden = net.activation("hidden_1", (1, 16), (1 / 40, -128))
    net.dense(x, hidden, [64] * 16, [round(-knot * 40 * 64) for knot in knots[:-1]], scale=1 / 64, relu=True)
    same = net.activation("hidden_2", (1, 16), (1 / 40, -128))
    net.dense(hidden, same, [64 * (i % 17 == 0) for i in range(256)], [0] * 16, scale=1 / 64, relu=True)
    y = net.activation("sine", (1, 1), (1 / 120, 0))
    net.dense(same, y, [round(bend * 128) for bend in bends], [0], scale=1 / 128, relu=False)
    return net.build(x, y)


def keyword_spotter() -> bytes:
    """DS-CNN: 49 frames of 10 features, four depthwise-separable blocks of 64 channels, 12 words."""
    net = Network(2)
    x = features = net.activation("features", (1, 49, 10, 1), LINEAR_RANGE)
    x = net.conv("conv", x, 64, Window((10, 4), 2))
    for i in range(1, 5):
        x = net.depthwise(f"block_{i}/depthwise", x, Window())
        x = net.conv(f"block_{i}/pointwise", x, 64, Window((1, 1)))
    return net.build(features, net.classify(x, 12))


def mobilenet_v1_025() -> bytes:
    """MobileNetV1 0.25 on a 96x96 grey image, two classes: the shape of the well-known person detector."""
    net = Network(3)
    x = image = net.activation("image", (1, 96, 96, 1), (1 / 128, -1))
    x = net.depthwise("conv_0", x, Window(stride=2), multiplier=8)
    blocks = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]
    for i, (channels, stride) in enumerate(blocks, 1):
        x = net.depthwise(f"block_{i}/depthwise", x, Window(stride=stride))
        x = net.conv(f"block_{i}/pointwise", x, channels, Window((1, 1)))
    return net.build(image, net.classify(x, 2))


def residual() -> bytes:
    """A residual net on a 32x32 colour image: three blocks whose two branches meet in an ADD, ten classes."""
    net = Network(4)
    x = image = net.activation("image", (1, 32, 32, 3), (1 / 128, -1))
    x = net.conv("conv", x, 16, Window())
    for i, (channels, stride) in enumerate([(16, 1), (32, 2), (64, 2)], 1):
        inner = net.conv(f"block_{i}/conv_1", x, channels, Window(stride=stride))
        inner = net.conv(f"block_{i}/conv_2", inner, channels, Window(), relu=False)
        shortcut = (
            x if stride == 1 else net.conv(f"block_{i}/shortcut", x, channels, Window((1, 1), stride), relu=False)
        )
        x = net.add(f"block_{i}/add", inner, shortcut)
    return net.build(image, net.classify(x, 10))


class States:
    """Ring buffers of a streaming network: resource variables that a CALL_ONCE subgraph sets to zero (mutable)."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self._init = net.builder.add_subgraph("NoOp")
        net.builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": self._init.index})

    def window(self, name: str, x: Activation, frames: int) -> Activation:
        """Return the last ``frames`` frames and ``x`` behind them; remember the last ``frames`` of those."""
        shape = (1, frames, *x.shape[2:])
        handle = _handle(self._net.builder.main, name)
        zeros = [x.affine[1]] * prod(shape)
        constant = self._init.tensor(shape, TensorType.INT8, data=zeros, scale=x.affine[0], zero_point=x.affine[1])
        self._init.operator("ASSIGN_VARIABLE", [_handle(self._init, name), constant], [])
        old = self._net.activation(f"{name}/old", shape, x.affine)
        both = self._net.activation(f"{name}/both", (1, frames + x.shape[1], *x.shape[2:]), x.affine)
        new = self._net.activation(f"{name}/new", shape, x.affine)
        ranges = [("begin", [0, x.shape[1], 0, 0]), ("end", [0] * 4), ("strides", [1] * 4)]
        bounds = [self._net.constant(f"{name}/{what}", values) for what, values in ranges]
        main = self._net.builder.main
        main.operator("READ_VARIABLE", [handle], [old.index])
        main.operator("CONCATENATION", [old.index, x.index], [both.index], options={"axis": 1}, version=2)
        masks = {"begin_mask": 0b1101, "end_mask": 0b1111}
        main.operator("STRIDED_SLICE", [both.index, *bounds], [new.index], options=masks, version=2)
        main.operator("ASSIGN_VARIABLE", [handle, new.index], [])
        return both


def _handle(subgraph: SubgraphBuilder, name: str) -> int:
    """Add a VAR_HANDLE and return the resource tensor's index."""
    handle = subgraph.tensor((), TensorType.RESOURCE, name=name)
    subgraph.operator("VAR_HANDLE", [], [handle], options={"container": "", "shared_name": name})
    return handle


def streaming() -> bytes:
    """A wake word detector that sees two frames of 40 features a call and keeps the rest in resource variables."""
    net = Network(5)
    features = net.activation("features", (1, 2, 40), LINEAR_RANGE)
    states = States(net)
    x = net.reshape("frames", features, (1, 2, 1, 40))
    x = net.conv("conv", states.window("state_0", x, 3), 32, Window((5, 1), padding="VALID"))
    for i, (frames, channels) in enumerate([(6, 48), (10, 48)], 1):
        x = states.window(f"state_{i}", x, frames)
        x = net.depthwise(f"block_{i}/depthwise", x, Window((frames + 1, 1), padding="VALID"))
        x = net.conv(f"block_{i}/pointwise", x, channels, Window((1, 1)))
    logit = net.random_dense("logit", net.reshape("flat", x, (1, 48)), 1)
    y = net.activation("probability", (1, 1), PROBABILITY_RANGE)
    net.builder.operator("LOGISTIC", [logit.index], [y.index], version=2)
    return net.build(features, y)


MAKERS = {maker.__name__: maker for maker in (sine, keyword_spotter, mobilenet_v1_025, residual, streaming)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the samples; return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    is_check = parser.parse_args(arguments).check
    stale = []
    for name in SAMPLES:
        data = MAKERS[name]()
        if not is_check:
            sample_path(name).write_bytes(data)
        elif sample_path(name).read_bytes() != data:
            stale.append(name)
        print(f"{name}: {len(data)} bytes{', differs' if name in stale else ''}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
