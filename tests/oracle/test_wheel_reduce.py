"""MEAN, SUM, REDUCE_*, ARG_MAX and ARG_MIN against the wheel."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

AXES = ((2,), T.INT32, {"data": [1, 2]})
SCALAR_AXIS = ((), T.INT32, {"data": [1]})
REDUCERS = ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")


def _nhwc(type_):
    return ((1, 4, 5, 3), type_, {"scale": 0.5})


def _reduced(type_):
    return ((1, 3), type_, {"scale": 0.25})


@pytest.mark.parametrize("op", REDUCERS)
@pytest.mark.parametrize("type_", [T.FLOAT32, T.INT8, T.INT16, T.INT32])
@pytest.mark.parametrize("axes", [AXES, SCALAR_AXIS, ((3,), T.INT32)])
def test_reducers_take_the_same_bytes(same_as_wheel, one_op, op, type_, axes):
    model = one_op(op, [_nhwc(type_), axes], [_reduced(type_)], options={"keep_dims": True})
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize("axes", [AXES, SCALAR_AXIS])
def test_reduce_all_takes_the_same_bytes(same_as_wheel, one_op, axes):
    assert same_as_wheel(one_op("REDUCE_ALL", [((2, 2, 2), T.BOOL), axes], [((2,), T.BOOL)])).status == "ok"


@pytest.mark.parametrize("op", ["ARG_MAX", "ARG_MIN"])
@pytest.mark.parametrize("type_", [T.FLOAT32, T.INT8, T.BOOL])
def test_arg_max_and_arg_min_take_the_same_bytes(same_as_wheel, one_op, op, type_):
    model = one_op(op, [_nhwc(type_), SCALAR_AXIS], [((1, 5, 3), T.INT32)], options={"output_type": "INT32"})
    assert same_as_wheel(model).status == "ok"


@pytest.mark.parametrize(("op", "inputs", "outputs", "status"), [
    ("REDUCE_MAX", [_nhwc(T.INT8)], [_reduced(T.INT8)], "error"),
    ("REDUCE_MIN", [_nhwc(T.INT8), None], [_reduced(T.INT8)], "error"),
    ("REDUCE_ALL", [_nhwc(T.INT8), AXES], [_reduced(T.INT8)], "error"),
    ("MEAN", [_nhwc(T.INT8), ((1,), T.INT64, {"data": [1]})], [_reduced(T.INT8)], "error"),
    ("SUM", [_nhwc(T.FLOAT32), AXES], [_reduced(T.FLOAT32)] * 2, "error"),
    ("MEAN", [None, AXES], [_reduced(T.INT8)], "abort"),
    ("MEAN", [_nhwc(T.INT8), None], [_reduced(T.INT8)], "abort"),
])  # fmt: skip
def test_broken_nodes_end_the_same_way(same_as_wheel, one_op, op, inputs, outputs, status):
    assert same_as_wheel(one_op(op, inputs, outputs)).status == status


def test_an_unknown_output_type_is_refused(same_as_wheel, one_op):
    model = one_op("ARG_MIN", [_nhwc(T.INT8), SCALAR_AXIS], [((1, 5, 3), T.INT32)], options={"output_type": 50})
    assert same_as_wheel(model).status == "error"
