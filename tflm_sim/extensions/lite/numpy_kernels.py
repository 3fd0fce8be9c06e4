"""Kernels that compute, for a small set of float operators: they read and write the arena's own bytes.

A plan that lets two living tensors share bytes shows as a wrong result; a kernel's temporaries are scribbled over
first, as the real one would.

Source: tflite/kernels/internal/reference/*.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.errors import UnsupportedOpError
from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteNode
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.types import TensorType
from tflm_sim.model.windows import output_size

Array = NDArray[Any]
Kernel = Callable[["Evaluation"], Array]

_TYPES = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64, TensorType.INT8, TensorType.BOOL)
_DTYPES: dict[int, str] = {one: f"<{STRUCT_CODES[one]}" for one in _TYPES}
_STALE_BYTE = 0x5A
_ACTIVATIONS = {1: (0.0, np.inf), 2: (-1.0, 1.0), 3: (0.0, 6.0)}


class Evaluation:
    """One node that runs (immutable; its arrays are views of the arena's bytes)."""

    def __init__(self, subgraph: TfLiteSubgraph, node: TfLiteNode) -> None:
        self.subgraph = subgraph
        self.node = node

    def input(self, place: int) -> Array:
        """Return an input's values."""
        return self._array(self.node.inputs[place])

    def has_input(self, place: int) -> bool:
        """Return whether an optional input is there."""
        return place < len(self.node.inputs) and self.node.inputs[place] >= 0

    def option(self, name: str, default: Any = 0) -> Any:
        return self.node.options.get(name, default)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the first output."""
        return self.subgraph.tensors[self.node.outputs[0]].shape

    def _array(self, index: int) -> Array:
        tensor, data = self.subgraph.tensors[index], self.subgraph.data(index)
        if tensor.type not in _DTYPES:
            raise self.missing(f"type {tensor.type}")
        if data is None:
            return np.zeros(tensor.shape, _DTYPES[tensor.type])
        return np.frombuffer(data, _DTYPES[tensor.type], prod(tensor.shape)).reshape(tensor.shape)

    def missing(self, what: str) -> UnsupportedOpError:
        """Return the error of a kernel that does not do that."""
        name = self.node.registration.name
        index = self.subgraph.nodes.index(self.node)
        return UnsupportedOpError(f"{name} has no kernel for {what}", op=name, subgraph=self.subgraph.index, node=index)

    def activated(self, values: Array) -> Array:
        """Return values after the activation that is fused into the operator."""
        activation = self.option("fused_activation_function")
        if activation not in (0, *_ACTIVATIONS):
            raise self.missing(f"the fused activation {activation}")
        return np.clip(values, *_ACTIVATIONS[activation]) if activation else values


def invoke(subgraph: TfLiteSubgraph, node: TfLiteNode) -> None:
    """Run a node on the arena's bytes.

    Raises:
        UnsupportedOpError: Its operator, or the type of its output, has no kernel here.
    """
    evaluation = Evaluation(subgraph, node)
    kernel, output = KERNELS[node.registration.op], subgraph.tensors[node.outputs[0]]
    if output.type != TensorType.FLOAT32:
        raise evaluation.missing(f"outputs of type {output.type}; it computes float32")
    for index in node.temporaries:
        data = subgraph.data(index)
        if data is not None and subgraph.tensors[index].allocation_type is AllocationType.ARENA_RW:
            data[:] = bytes([_STALE_BYTE]) * len(data)
    values = np.ascontiguousarray(kernel(evaluation), "<f4").reshape(output.shape)
    if output.is_dynamic:
        subgraph.resize(output, values.shape)
    target = subgraph.data(node.outputs[0])
    if target is not None:
        target[:] = values.tobytes()


def _unary(function: Callable[[Array], Array]) -> Kernel:
    return lambda evaluation: function(evaluation.input(0))


def _binary(function: Callable[[Array, Array], Array]) -> Kernel:
    return lambda evaluation: evaluation.activated(function(evaluation.input(0), evaluation.input(1)))


def _softmax(evaluation: Evaluation) -> Array:
    values = evaluation.input(0) * np.float32(evaluation.option("beta", 1.0))
    powers: Array = np.exp(values - values.max(-1, keepdims=True))
    shares: Array = powers / powers.sum(-1, keepdims=True)
    return shares


def _fully_connected(evaluation: Evaluation) -> Array:
    weights = evaluation.input(1)
    if weights.dtype != np.float32:
        raise evaluation.missing("hybrid weights")
    values: Array = evaluation.input(0).reshape(-1, weights.shape[1]) @ weights.T
    return evaluation.activated(values + evaluation.input(2) if evaluation.has_input(2) else values)


def _windows(evaluation: Evaluation, window: tuple[int, int], fill: float) -> Array:
    """Return the windows of an image: [batch, out_height, out_width, height, width, channels]."""
    image, steps = evaluation.input(0), (evaluation.option("stride_h"), evaluation.option("stride_w"))
    gaps = (evaluation.option("dilation_h_factor", 1), evaluation.option("dilation_w_factor", 1))
    padding, pads, sizes = evaluation.option("padding"), [], []
    for size, width, step, gap in zip(image.shape[1:3], window, steps, gaps, strict=True):
        sizes.append(output_size(padding, image=size, window=width, stride=step, dilation=gap) or 0)
        total = max((sizes[-1] - 1) * step + (width - 1) * gap + 1 - size, 0)
        before = total // 2 if padding == 0 else 0
        pads.append((before, max(total - before, 0)))
    padded = np.pad(image, ((0, 0), *pads, (0, 0)), constant_values=fill)
    rows = [np.arange(size)[:, None] * step + np.arange(width) * gap
            for size, width, step, gap in zip(sizes, window, steps, gaps, strict=True)]  # fmt: skip
    return padded[:, rows[0][:, None, :, None], rows[1][None, :, None, :]]


def _convolution(evaluation: Evaluation) -> Array:
    weights = evaluation.input(1)
    if weights.dtype != np.float32 or evaluation.input(0).shape[3] != weights.shape[3]:
        raise evaluation.missing("hybrid weights or groups")
    patches = _windows(evaluation, weights.shape[1:3], 0)
    return evaluation.activated(np.einsum("bxyhwc,ohwc->bxyo", patches, weights) + _bias(evaluation))


def _depthwise(evaluation: Evaluation) -> Array:
    weights = evaluation.input(1)
    if weights.dtype != np.float32:
        raise evaluation.missing("hybrid weights")
    patches = _windows(evaluation, weights.shape[1:3], 0)
    patches = np.repeat(patches, weights.shape[3] // patches.shape[-1], axis=-1)
    return evaluation.activated(np.einsum("bxyhwc,hwc->bxyc", patches, weights[0]) + _bias(evaluation))


def _bias(evaluation: Evaluation) -> Array:
    return evaluation.input(2) if evaluation.has_input(2) else np.zeros(1, np.float32)


def _pool(function: Callable[..., Array]) -> Kernel:
    def kernel(evaluation: Evaluation) -> Array:
        window = (evaluation.option("filter_height"), evaluation.option("filter_width"))
        return evaluation.activated(function(_windows(evaluation, window, np.nan), axis=(3, 4)))

    return kernel


def _concatenation(evaluation: Evaluation) -> Array:
    values = [evaluation.input(place) for place in range(len(evaluation.node.inputs))]
    return np.concatenate(values, evaluation.option("axis"))


KERNELS: dict[str, Kernel] = {
    "ABS": _unary(np.abs),
    "NEG": _unary(np.negative),
    "SIN": _unary(np.sin),
    "COS": _unary(np.cos),
    "EXP": _unary(np.exp),
    "SQRT": _unary(np.sqrt),
    "SQUARE": _unary(np.square),
    "TANH": _unary(np.tanh),
    "LOGISTIC": _unary(lambda values: 1 / (1 + np.exp(-values))),
    "RELU": _unary(lambda values: np.maximum(values, 0)),
    "RELU6": _unary(lambda values: np.clip(values, 0, 6)),
    "ADD": _binary(np.add),
    "SUB": _binary(np.subtract),
    "MUL": _binary(np.multiply),
    "MAXIMUM": _binary(np.maximum),
    "MINIMUM": _binary(np.minimum),
    "FULLY_CONNECTED": _fully_connected,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _depthwise,
    "AVERAGE_POOL_2D": _pool(np.nanmean),
    "MAX_POOL_2D": _pool(np.nanmax),
    "SOFTMAX": _softmax,
    "RESHAPE": _unary(lambda values: values),
    "SQUEEZE": _unary(lambda values: values),
    "EXPAND_DIMS": _unary(lambda values: values),
    "CONCATENATION": _concatenation,
}
"""What runs, by builtin operator; inputs and outputs are float32."""
