"""SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM do the same in real TFLM (pip tflite-micro)."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from tflm_sim.model.types import TensorType as T

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
BYTES = {T.FLOAT32: 4, T.INT32: 4, T.INT16: 2, T.INT8: 1, T.INT64: 8}


def constant(shape, type_, scale=0.1):
    quantization = {} if type_ == T.FLOAT32 else {"scale": scale}
    return (shape, type_, {"data": b"\1" * (prod(shape) * BYTES[type_]), **quantization})


def variable(shape, type_, scale=0.1):
    return (shape, type_, {"scale": scale, "is_variable": True})


def svdf(type_, time_type, bias_type, *, units=4, bias_scale=0.01):
    """Return the inputs and the output: 16 inputs, 8 filters, a memory of 10."""
    bias = None if bias_type is None else constant((units,), bias_type, bias_scale)
    weights = [constant((8, 16), type_), constant((8, 10), time_type), bias]
    source, state = ((1, 16), type_, {"scale": 0.1}), variable((1, 80), time_type)
    return [source, *weights, state], [((1, units), type_, {"scale": 0.1})]


@pytest.mark.parametrize(("type_", "time_type", "bias_type", "rank"), [
    *product([T.FLOAT32], [T.FLOAT32], [T.FLOAT32, T.INT32], [1, 2, 3]),
    *product([T.INT8], [T.INT16, T.INT8, T.INT32], [T.INT32, T.FLOAT32], [1, 2, 3]),
])  # fmt: skip
def test_svdf(same_as_wheel, one_op, type_, time_type, bias_type, rank):
    tensors = svdf(type_, time_type, bias_type, units=8 // rank)
    same_as_wheel(one_op("SVDF", *tensors, options={"rank": rank}))


def test_svdf_without_a_bias_is_not_for_int8(same_as_wheel, one_op):
    ours = same_as_wheel(one_op("SVDF", *svdf(T.INT8, T.INT16, None), options={"rank": 2}))
    assert ours.status == "abort"


@pytest.mark.parametrize("position", range(5))
def test_svdf_with_a_wrong_shape(same_as_wheel, one_op, position):
    inputs, outputs = svdf(T.INT8, T.INT16, T.INT32)
    shape, type_, arguments = inputs[position]
    wrong = {key: value for key, value in arguments.items() if key != "data"}
    for new_shape in ((*shape, 1), tuple(size + 1 for size in shape)):
        changed = [*inputs[:position], (new_shape, type_, wrong), *inputs[position + 1 :]]
        same_as_wheel(one_op("SVDF", changed, outputs, options={"rank": 2}))
    same_as_wheel(one_op("SVDF", [*inputs, inputs[0]], outputs, options={"rank": 2}))
    same_as_wheel(one_op("SVDF", inputs[:4], outputs, options={"rank": 2}))


def lstm(type_, cell_type, *, scales=1, batch=2, state=5):
    """Return the 24 inputs and the output of an LSTM with 4 steps and 3 inputs."""
    weights_type = T.FLOAT32 if type_ == T.FLOAT32 else T.INT8
    bias_type = {T.FLOAT32: T.FLOAT32, T.INT8: T.INT32, T.INT16: T.INT64}[type_]

    def weights(*shape):
        return constant(shape, weights_type, [0.01] * scales if scales > 1 else 0.01)

    inputs = [((batch, 4, 3), type_, {"scale": 0.1}), *[weights(state, 3)] * 4, *[weights(state, state)] * 4]
    inputs += [*[None] * 3, *[constant((state,), bias_type, 0.001)] * 4, *[None] * 2]
    inputs += [variable((batch, state), type_), variable((batch, state), cell_type, 2.0**-11), *[None] * 4]
    return inputs, [((batch, 4, state), type_, {"scale": 0.1})]


@pytest.mark.parametrize(("types", "scales", "batch"), list(product(
    [(T.FLOAT32, T.FLOAT32), (T.INT8, T.INT16), (T.INT16, T.INT16), (T.INT8, T.INT8)], [1, 5], [1, 2]
)))  # fmt: skip
def test_lstm(same_as_wheel, one_op, types, scales, batch):
    options = {"fused_activation_function": "TANH", "cell_clip": 10.0}
    ours = same_as_wheel(one_op(LSTM, *lstm(*types, scales=scales, batch=batch), options=options))
    assert ours.status == ("error" if types == (T.INT8, T.INT8) else "ok")


@pytest.mark.parametrize("position", [0, 1, 4, 5, 8, 12, 15, 18, 19])
def test_lstm_with_a_wrong_tensor(same_as_wheel, one_op, position):
    inputs, outputs = lstm(T.INT8, T.INT16)
    shape, type_, arguments = inputs[position]
    plain = {key: value for key, value in arguments.items() if key != "data"}
    other_type = T.UINT8 if type_ != T.UINT8 else T.INT8
    wrong = [None, (shape, other_type, plain), (tuple(size + 1 for size in shape), type_, plain)]
    if "is_variable" in plain:
        wrong.append((shape, type_, {**plain, "is_variable": False}))
    for spec in wrong:
        same_as_wheel(one_op(LSTM, [*inputs[:position], spec, *inputs[position + 1 :]], outputs))


@pytest.mark.parametrize("position", [9, 11, 16, 17, 20, 23])
def test_lstm_variants_are_refused(same_as_wheel, one_op, position):
    inputs, outputs = lstm(T.INT8, T.INT16)
    inputs[position] = constant((5,), T.INT8)
    assert same_as_wheel(one_op(LSTM, inputs, outputs)).status == "error"


def test_lstm_with_a_negative_input_scale_goes_on_when_weights_have_a_scale_per_row(same_as_wheel, one_op):
    inputs, outputs = lstm(T.INT8, T.INT16, scales=5)
    inputs[0] = ((2, 4, 3), T.INT8, {"scale": -0.1})
    ours = same_as_wheel(one_op(LSTM, inputs, outputs))
    assert (ours.status, len(ours.log)) == ("ok", 4)


def test_lstm_with_other_counts_and_outputs(same_as_wheel, one_op):
    inputs, outputs = lstm(T.INT8, T.INT16)
    same_as_wheel(one_op(LSTM, inputs[:20], outputs))
    same_as_wheel(one_op(LSTM, inputs, outputs * 2))
    for shape in ((2, 4), (1, 4, 5), (2, 3, 5), (2, 4, 6)):
        assert same_as_wheel(one_op(LSTM, inputs, [(shape, T.INT8, {"scale": 0.1})])).status == "error"
