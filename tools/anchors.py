"""Networks that papers compare on, built with random weights: ``anchors.py FOLDER`` writes them as .tflite files.

An arena depends on shapes and types only, so that weights do not matter to it. ``bench_shrink.py --anchors`` shrinks
them.

Source: Sandler et al., MobileNetV2 (table 2); its channels times the width as tensorflow/models rounds them, to
multiples of 8, not below nine tenths. Lin et al., MCUNet: mcunet-10fps_imagenet.json, which TinyEngine calls in0.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import frame

from tflm_sim import parse
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, OptionValue, TensorType

INT8, INT32 = TensorType.INT8, TensorType.INT32
MOBILENET_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks, stride of the first of them."""
MCUNET_10FPS = (
    *((1, 16, 1, 3), (4, 16, 2, 5), (3, 16, 1, 3), (4, 16, 1, 3)),
    *((5, 24, 2, 7), (4, 24, 1, 5), (5, 24, 1, 5), (5, 48, 2, 7), (4, 48, 1, 5)),
    *((5, 56, 1, 3), (4, 56, 1, 5), (5, 56, 1, 3), (6, 112, 2, 3), (4, 112, 1, 5), (6, 192, 1, 3)),
)
"""Expansion, channels, stride, side of the filter, block by block."""


class Network:
    """Layers one after the other (mutable); all paddings are SAME, all activations int8."""

    def __init__(self, side: int, *, channels: int = 3) -> None:
        self.b = ModelBuilder()
        self._random = random.Random(side)
        self.sides: dict[int, tuple[int, int]] = {}
        self.input = self._activation(side, channels)

    def _activation(self, side: int, channels: int) -> int:
        tensor = self.b.tensor((1, side, side, channels), INT8, scale=0.05)
        self.sides[tensor] = (side, channels)
        return tensor

    def _weights(self, shape: tuple[int, ...], axis: int, count: int) -> tuple[int, int]:
        size, outputs = count, shape[axis]
        scales = [0.002 + 0.0001 * (channel % 7) for channel in range(outputs)]
        weights = self.b.tensor(shape, INT8, data=self._random.randbytes(size), scale=scales, quantized_dimension=axis)
        bias = self.b.tensor((outputs,), INT32, data=self._random.choices(range(-500, 500), k=outputs), scale=scales)
        return weights, bias

    def convolution(self, x: int, outputs: int, *, kernel: int = 1, stride: int = 1) -> int:
        """Add a convolution over all channels."""
        side, channels = self.sides[x]
        weights = self._weights((outputs, kernel, kernel, channels), 0, outputs * kernel * kernel * channels)
        y = self._activation(-(-side // stride), outputs)
        options: dict[str, OptionValue] = {"padding": "SAME", "stride_w": stride, "stride_h": stride}
        self.b.operator("CONV_2D", [x, *weights], [y], options=options)
        return y

    def depthwise(self, x: int, *, kernel: int = 3, stride: int = 1) -> int:
        """Add a convolution of each channel on its own."""
        side, channels = self.sides[x]
        weights = self._weights((1, kernel, kernel, channels), 3, kernel * kernel * channels)
        y = self._activation(-(-side // stride), channels)
        options: dict[str, OptionValue] = {"padding": "SAME", "stride_w": stride, "stride_h": stride}
        options["depth_multiplier"] = 1
        self.b.operator("DEPTHWISE_CONV_2D", [x, *weights], [y], options=options)
        return y

    def block(self, x: int, outputs: int, *, expansion: int, stride: int, kernel: int = 3) -> int:
        """Add an inverted residual: expand, filter, project, and add the input where it has the same shape."""
        side, channels = self.sides[x]
        wide = self.convolution(x, channels * expansion) if expansion > 1 else x
        y = self.convolution(self.depthwise(wide, kernel=kernel, stride=stride), outputs)
        if self.sides[y] != (side, channels):
            return y
        total = self._activation(side, channels)
        self.b.operator("ADD", [x, y], [total])
        return total

    def classified(self, x: int, classes: int) -> Model:
        """Return the model that ends in a mean over the image and a dense layer."""
        _, channels = self.sides[x]
        axes = self.b.tensor((2,), INT32, data=[1, 2])
        mean = self.b.tensor((1, channels), INT8, scale=0.05)
        self.b.operator("MEAN", [x, axes], [mean], options={"keep_dims": False})
        weights = self.b.tensor((classes, channels), INT8, data=self._random.randbytes(classes * channels), scale=0.002)
        bias = self.b.tensor((classes,), INT32, data=self._random.choices(range(-500, 500), k=classes), scale=0.0001)
        y = self.b.tensor((1, classes), INT8, scale=0.05)
        self.b.operator("FULLY_CONNECTED", [mean, weights, bias], [y])
        return parse(self.b.build(inputs=[self.input], outputs=[y]))


def rounded(channels: float) -> int:
    """Return a multiple of 8 near a number of channels, not below nine tenths of it."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


def mobilenet_v2(side: int, width: float, *, classes: int = 1000) -> Model:
    """Return a MobileNetV2 for square images of ``side`` pixels; at widths below 1 its last layer has 1280 channels."""
    net = Network(side)
    x = net.convolution(net.input, rounded(32 * width), kernel=3, stride=2)
    for expansion, channels, count, stride in MOBILENET_V2:
        for number in range(count):
            x = net.block(x, rounded(channels * width), expansion=expansion, stride=stride if number == 0 else 1)
    return net.classified(net.convolution(x, 1280), classes)


def mcunet_10fps(side: int = 48, *, classes: int = 1000) -> Model:
    """Return the MCUNet for ImageNet at 10 frames a second, for square images of ``side`` pixels."""
    net = Network(side)
    x = net.convolution(net.input, 24, kernel=3, stride=2)
    for expansion, channels, stride, kernel in MCUNET_10FPS:
        x = net.block(x, channels, expansion=expansion, stride=stride, kernel=kernel)
    return net.classified(x, classes)


def anchors() -> Iterator[tuple[str, Model]]:
    """Yield each network by its name."""
    yield "mcunet_10fps_imagenet", mcunet_10fps()
    for side in (144, 160):
        yield f"mobilenet_v2_0.35_{side}", mobilenet_v2(side, 0.35)


def main() -> int:
    """Write them."""
    parser = frame.parser(__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, model in anchors():
        (folder / f"{name}.tflite").write_bytes(model.source)
        print(f"{folder / name}.tflite")
    return 0


if __name__ == "__main__":
    sys.exit(main())
