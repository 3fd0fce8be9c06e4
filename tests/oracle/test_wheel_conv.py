"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and FULLY_CONNECTED do the same in real TFLM (pip tflite-micro)."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from tflm_sim.model.types import TensorType as T

TYPES = [
    (T.FLOAT32, T.FLOAT32, T.FLOAT32), (T.INT8, T.INT8, T.INT32), (T.INT8, T.INT4, T.INT32), (T.INT16, T.INT8, T.INT64),
    (T.INT16, T.INT8, T.INT32),
]  # fmt: skip
MIXED = [(T.FLOAT32, T.INT8, T.FLOAT32), (T.INT8, T.FLOAT32, T.INT32), (T.UINT8, T.UINT8, T.INT32)]
SAME = {"padding": "SAME", "stride_w": 1, "stride_h": 1}


def quantized(shape, type_, scale=0.5):
    return (shape, type_, {} if type_ == T.FLOAT32 else {"scale": scale})


def weights(shape, type_, *, axis, scales):
    """Return a constant filter of ones; INT4 holds two values a byte."""
    size = prod(shape) * {T.FLOAT32: 4}.get(type_, 1) // (2 if type_ == T.INT4 else 1)
    quantization = {"scale": [0.01] * scales, "quantized_dimension": axis} if type_ != T.FLOAT32 else {}
    return (shape, type_, {"data": b"\1" * size, **quantization})


def graph(op, types, scales, *, bias):
    """Return the inputs and the output of an operator with 8 output channels."""
    source_type, filter_type, bias_type = types
    biases = [quantized((8,), bias_type, 0.005)] if bias else []
    source = quantized((1, 8, 8, 4), source_type)
    if op == "FULLY_CONNECTED":
        inputs = [quantized((2, 16), source_type), weights((8, 16), filter_type, axis=0, scales=scales), *biases]
        return inputs, [quantized((2, 8), source_type)]
    if op == "DEPTHWISE_CONV_2D":
        inputs = [source, weights((1, 3, 3, 8), filter_type, axis=3, scales=scales), *biases]
        return inputs, [quantized((1, 8, 8, 8), source_type)]
    kernel = weights((8, 3, 3, 4), filter_type, axis=0, scales=scales)
    if op == "CONV_2D":
        return [source, kernel, *biases], [quantized((1, 8, 8, 8), source_type)]
    shape = ((4,), T.INT32, {"data": [1, 8, 8, 8]})
    return [shape, kernel, source, *biases], [quantized((1, 8, 8, 8), source_type)]


OPS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED")


@pytest.mark.parametrize(("op", "types", "scales", "bias"), list(product(OPS, TYPES, (1, 8), (True, False))))
def test_supported_types(same_as_wheel, one_op, op, types, scales, bias):
    options = None if op == "FULLY_CONNECTED" else SAME
    ours = same_as_wheel(one_op(op, *graph(op, types, scales, bias=bias), options=options))
    refused = types[1] == T.INT4 and (op == "TRANSPOSE_CONV" or (op == "FULLY_CONNECTED" and scales == 8))
    assert ours.status == ("error" if refused else "ok")


@pytest.mark.parametrize(("op", "types", "scales"), list(product(OPS, MIXED, (1, 8))))
def test_other_types(same_as_wheel, one_op, op, types, scales):
    same_as_wheel(one_op(op, *graph(op, types, scales, bias=True)))


@pytest.mark.parametrize(("op", "scales"), list(product(OPS, (2, 5))))
def test_as_many_scales_as_channels(same_as_wheel, one_op, op, scales):
    assert same_as_wheel(one_op(op, *graph(op, TYPES[1], scales, bias=True))).status == "error"


@pytest.mark.parametrize("op", OPS)
def test_activations_quantization_and_counts_that_are_refused(same_as_wheel, one_op, op):
    inputs, outputs = graph(op, TYPES[1], 1, bias=True)
    position = 2 if op == "TRANSPOSE_CONV" else 0
    without_scale = [spec if i != position else spec[:2] for i, spec in enumerate(inputs)]
    same_as_wheel(one_op(op, without_scale, outputs))
    same_as_wheel(one_op(op, inputs, [outputs[0][:2]], options={"fused_activation_function": "RELU6"}))
    same_as_wheel(one_op(op, inputs, [(outputs[0][0], T.FLOAT32)]))
    same_as_wheel(one_op(op, [*inputs, inputs[-1]], outputs))
    same_as_wheel(one_op(op, inputs, outputs * 2))
    same_as_wheel(one_op(op, inputs[:1], outputs))


def test_a_16_bit_bias_of_transpose_conv_is_widened(same_as_wheel, one_op):
    inputs, outputs = graph("TRANSPOSE_CONV", (T.INT16, T.INT8, T.INT16), 8, bias=True)
    assert same_as_wheel(one_op("TRANSPOSE_CONV", inputs, outputs, options=SAME)).status == "ok"
