"""BROADCAST_TO, BROADCAST_ARGS and SELECT_V2."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"


def f32(*shape):
    return (shape, T.FLOAT32)


def boolean(*shape):
    return (shape, T.BOOL)


def shape_tensor(*values, type_=T.INT32):
    return ((len(values),), type_, {"data": list(values)})


TAKE, FREE = ["temp 0", "temp 1", "temp 2"], ["free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("source", "shape", "output"), [
    (f32(1, 4), shape_tensor(3, 4), f32(3, 4)),
    (f32(4), shape_tensor(3, 4, type_=T.INT64), f32(3, 4)),
    (f32(), shape_tensor(2), f32(2)),
])  # fmt: skip
def test_broadcast_to_only_checks(kernel, source, shape, output):
    assert kernel("BROADCAST_TO", [source, shape], [output]).prepare() == TAKE + FREE


BROADCASTABLE = "broadcast_to.cc Output shape must be broadcastable from input shape."
RANK = "broadcast_to.cc BroadcastTo only supports 1-5D tensor."


@pytest.mark.parametrize(("source", "shape", "output", "message"), [
    (f32(1, 1, 1, 1, 1, 1), shape_tensor(1), f32(1), RANK),
    (f32(4), ((2,), T.FLOAT32), f32(3, 4),
     "broadcast_to.cc:90 shape->type == kTfLiteInt32 || shape->type == kTfLiteInt64 was not true."),
    (f32(4), shape_tensor(4), boolean(4), "broadcast_to.cc:92 input->type != output->type (1 != 6)"),
    (((4,), T.STRING), shape_tensor(4), ((4,), T.STRING),
     "broadcast_to.cc:96 input->type != kTfLiteString was not true."),
    (f32(4), ((1,), T.INT32), f32(4), "broadcast_to.cc Non-constant >shape< tensor is not supported"),
    (f32(4), ((1, 1), T.INT32, {"data": [4]}), f32(4), "broadcast_to.cc:37 NumDimensions(shape) != 1 (2 != 1)"),
    (f32(4), shape_tensor(4), f32(3, 4), "broadcast_to.cc Output must match with the expected shape dimension."),
    (f32(3, 4), shape_tensor(4), f32(4), BROADCASTABLE),
    (f32(4), shape_tensor(1, 1, 1, 1, 1, 4), f32(1, 1, 1, 1, 1, 4), RANK),
    (f32(2, 4), shape_tensor(3, 4), f32(3, 4), BROADCASTABLE),
    (f32(1, 4), shape_tensor(3, 4), f32(2, 4),
     "broadcast_to.cc:71 output_shape.Dims(idx) == get_shape_data(idx) was not true."),
])  # fmt: skip
def test_broadcast_to_refusals(kernel, source, shape, output, message):
    assert kernel("BROADCAST_TO", [source, shape], [output]).refusal() == KERNELS + message


@pytest.mark.parametrize(("inputs", "output"), [
    ([None, shape_tensor(4)], f32(4)),
    ([f32(4), None], f32(4)),
    ([f32(4), shape_tensor(4)], None),
    ([f32(4), ((1,), T.INT32, {"data": b"\4"})], f32(4)),
])  # fmt: skip
def test_broadcast_to_halts(kernel, inputs, output):
    assert kernel("BROADCAST_TO", inputs, [output]).refusal().startswith("halts: ")


@pytest.mark.parametrize("type_", [T.INT32, T.INT64])
def test_broadcast_args_only_checks(kernel, type_):
    assert kernel("BROADCAST_ARGS", [((2,), type_)] * 2, [((2,), type_)]).prepare() == TAKE + FREE


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([f32(2)], f32(2), "32 NumInputs(node) == 2 was not true."),
    ([f32(2), f32(2)], f32(2), "43 shape1->type == kTfLiteInt32 || shape1->type == kTfLiteInt64 was not true."),
    ([((2,), T.INT32), ((2,), T.INT64)], f32(2), "45 shape1->type != shape2->type (2 != 4)"),
    ([((2,), T.INT32)] * 2, f32(2), "46 shape1->type != output->type (2 != 1)"),
    ([((), T.INT32), ((2,), T.INT32)], ((2,), T.INT32), "49 NumDimensions(shape1) != 1 (0 != 1)"),
    ([((2,), T.INT32), ((1, 2), T.INT32)], ((2,), T.INT32), "50 NumDimensions(shape2) != 1 (2 != 1)"),
    ([((2,), T.INT32)] * 2, ((), T.INT32), "53 NumDimensions(output) != 1 (0 != 1)"),
])  # fmt: skip
def test_broadcast_args_refusals(kernel, inputs, output, message):
    assert kernel("BROADCAST_ARGS", inputs, [output]).refusal() == f"{KERNELS}broadcast_args.cc:{message}"


@pytest.mark.parametrize(("condition", "x", "y", "output"), [
    (boolean(2, 4), f32(2, 4), f32(2, 4), f32(2, 4)),
    (boolean(1, 4), f32(2, 4), f32(2, 1), f32(2, 4)),
    (boolean(), f32(3, 2, 4), f32(4), f32(3, 2, 4)),
    (boolean(1), f32(), f32(1, 1), f32(1)),
    (boolean(0), f32(1), f32(1), f32(0)),
])  # fmt: skip
def test_select_only_checks(kernel, condition, x, y, output):
    bench = kernel("SELECT_V2", [condition, x, y], [output])
    assert bench.init() == ["persistent 1 select.OpData"]  # a bool
    assert bench.prepare() == [*TAKE, "temp 3", *FREE, "free 3"]


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([boolean(2)], f32(2), "select.cc:78 NumInputs(node) != 3 (1 != 3)"),
    ([f32(2)] * 3, f32(2), "select.cc:95 input_condition->type != kTfLiteBool (FLOAT32 != BOOL)"),
    ([boolean(2), f32(2), boolean(2)], f32(2), "select.cc:96 input_x->type != input_y->type (FLOAT32 != BOOL)"),
    ([boolean(1, 4), f32(2, 4), f32(4)], f32(1, 2, 4), "select.cc:55 out_dims != output_shape->size (2 != 3)"),
    ([boolean(1, 4), f32(2, 4), f32(4)], f32(1, 4),
     "select.cc:70 output_shape->data[out_dims - i - 1] != max_value (1 != 2)"),
])  # fmt: skip
def test_select_refusals(kernel, inputs, output, message):
    assert kernel("SELECT_V2", inputs, [output]).refusal() == KERNELS + message


def test_select_refuses_shapes_that_do_not_fit(kernel):
    bench = kernel("SELECT_V2", [boolean(3, 4), f32(2, 4), f32(4)], [f32(3, 4)])
    assert bench.refusal() == "Given shapes are not broadcastable."


@pytest.mark.parametrize(("inputs", "output"), [
    ([None, f32(2), f32(2)], f32(2)),
    ([boolean(2), None, f32(2)], f32(2)),
    ([boolean(2), f32(2), None], f32(2)),
    ([boolean(2), f32(2), f32(2)], None),
    ([boolean(1, 1, 1, 1, 1, 1, 1), f32(2), f32(2)], f32(2)),
])  # fmt: skip
def test_select_halts(kernel, inputs, output):
    assert kernel("SELECT_V2", inputs, [output]).refusal().startswith("halts: ")
