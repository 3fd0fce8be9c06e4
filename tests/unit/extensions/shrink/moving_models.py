"""Random models of a window: convolutions, pools and more along time, in chains and around residual connections."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shrinking_models import INT8, INT32, Layers

from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class MovingModel:
    """A model whose window of ``frames`` moves on by ``step`` along ``axis``."""

    model: Model
    frames: int
    step: int
    axis: int


class TimeLayers(Layers):
    """Layers along one axis of an image (mutable)."""

    axis = 1

    def activation(self, shape: Sequence[int], *, name: str = "") -> int:
        """Return an activation with a name, as an output of the model has one."""
        return super().activation(shape, name=name or f"tensor {len(self.shapes)}")

    def time_pad(self, x: int, before: int, after: int) -> int:
        """Return rows with padding before and behind them."""
        widths, dims = [0] * 8, list(self.shapes[x])
        widths[2 * self.axis : 2 * self.axis + 2] = before, after
        dims[self.axis] += before + after
        y = self.activation(dims)
        self.b.operator("PAD", [x, self.b.tensor((4, 2), INT32, data=widths)], [y])
        return y

    def sides(self, time: Any, across: Any) -> dict[str, Any]:
        """Return what belongs to rows and columns."""
        return {"h": time, "w": across} if self.axis == 1 else {"h": across, "w": time}

    def windowed(
        self, name: str, x: int, kernel: tuple[int, int], stride: int, dilation: int, same: bool, depth: int
    ) -> int:
        """Return a convolution or pool with a kernel (along time, across), strided and dilated along time."""
        batch, rows, columns, channels = self.shapes[x]
        taps, strides, dilations = self.sides(*kernel), self.sides(stride, 1), self.sides(dilation, 1)
        made = [
            -(-size // strides[side]) if same else (size - (taps[side] - 1) * dilations[side] - 1) // strides[side] + 1
            for side, size in (("h", rows), ("w", columns))
        ]
        options: dict[str, Any] = {"padding": "SAME" if same else "VALID"}
        options |= {"stride_h": strides["h"], "stride_w": strides["w"]}
        if name in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
            y = self.activation((batch, *made, channels))
            self.b.operator(name, [x], [y], options=options | {"filter_height": taps["h"], "filter_width": taps["w"]})
            return y
        options |= {"dilation_h_factor": dilations["h"], "dilation_w_factor": dilations["w"]}
        if name == "CONV_2D":
            shape, dimension, count = (depth, taps["h"], taps["w"], channels), 0, depth
        else:
            shape, dimension, count = (1, taps["h"], taps["w"], channels), 3, channels
            options["depth_multiplier"] = 1
        numbers = self._numbers(shape[0] * shape[1] * shape[2] * shape[3])
        scales = [self.scale * (1 + 0.1 * channel) for channel in range(count)]
        weights = self.b.tensor(shape, INT8, data=numbers, scale=scales, quantized_dimension=dimension)
        bias = self.b.tensor((count,), INT32, data=self._numbers(count))
        y = self.activation((batch, *made, count))
        self.b.operator(name, [x, weights, bias], [y], options=options)
        return y


def random_moving_model(seed: int, *, chain: bool = False) -> MovingModel:
    """Return a model of 1 to 6 layers along time, VALID and SAME, strides of 1 to 3, with a dense layer behind them."""
    rng = random.Random(seed)
    layers = TimeLayers(seed)
    layers.axis = rng.choice((1, 1, 1, 2))
    frames, across, depth = rng.randint(14, 40), rng.choice((1, 1, 4)), rng.choice((1, 3, 4))
    x = layers.activation((1, frames, across, depth) if layers.axis == 1 else (1, across, frames, depth))
    y, stride, is_same = x, 1, rng.choice((None, True, False))
    for _ in range(rng.randint(1, 5)):
        size = layers.shapes[y][layers.axis]
        step = rng.choice((1, 1, 1, 2, 3))
        if size < 8 or stride * step * 3 > frames:
            break
        stride *= step
        y = _layer(layers, rng, y, step, rng.random() < 0.4 if is_same is None else is_same, chain)
    count = stride * rng.choice((1, 1, 2, 3))
    out = _ending(layers, rng, y)
    outputs = [out] if rng.random() < 0.85 or y == x else [out, y]
    return MovingModel(layers.model([x], outputs), frames, min(count, frames - 1), layers.axis)


def _layer(layers: TimeLayers, rng: random.Random, x: int, stride: int, same: bool, chain: bool) -> int:
    """Return one layer, or several around a residual connection, with one stride along time."""
    name = rng.choice(("CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D"))
    wide = layers.shapes[x][3 - layers.axis]
    if rng.random() < 0.15:
        x = layers.time_pad(x, rng.randint(0, 3), rng.randint(0, 3))
    dilation = 2 if stride == 1 and "CONV" in name and rng.random() < 0.2 else 1
    kernel = (rng.randint(1, 3 if dilation == 2 else 5), rng.choice((1, min(3, wide))) if same else 1)
    y = layers.windowed(name, x, kernel, stride, dilation, same, rng.choice((2, 5)))
    if rng.random() < 0.3:
        y = layers.elementwise(rng.choice(("RELU", "LEAKY_RELU")), y)
    if not chain and rng.random() < 0.4:
        other = layers.windowed("DEPTHWISE_CONV_2D", y, (rng.randint(1, 4), 1), 1, 1, True, 0)
        y = layers.add(y, other) if rng.random() < 0.6 else layers.concatenation([other, y], 3)
    return y


def _ending(layers: TimeLayers, rng: random.Random, y: int) -> int:
    _, rows, columns, depth = layers.shapes[y]
    if rng.random() < 0.3:
        made = layers.activation((1, 1, 1, depth))
        options = {"padding": "VALID", "filter_height": rows, "filter_width": columns, "stride_h": rows}
        layers.b.operator("AVERAGE_POOL_2D", [y], [made], options=options | {"stride_w": columns})
        return made
    count = rows * columns * depth
    return layers.dense(layers.reshape(y, (1, count)), 3, depth=count)
