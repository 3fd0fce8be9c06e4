"""MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, ARG_MAX, ARG_MIN. The axis is tensor 1, the output tensor 2."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
AXES = ((2,), T.INT32, {"data": [1, 2]})
SIMPLE = ["temp 0", "temp 1", "free 1", "free 0"]
SIMPLE_INT8 = ["temp 0", "temp 1", "temp 2", "free 2", "free 1", "free 0"]
# An int per dimension of the input, (1, 4, 5, 3), and an int per axis.
ITERATORS = ["scratch 16 input_iter", "scratch 8 resolved_axis"]
TAKE, FREE = ["temp 0", "temp 2", "temp 1"], ["free 0", "free 2", "free 1"]


def _nhwc(type_):
    return ((1, 4, 5, 3), type_, {"scale": 0.5})


def _reduced(type_):
    return ((1, 3), type_, {"scale": 0.25})


@pytest.mark.parametrize("op", ["MEAN", "SUM"])
@pytest.mark.parametrize(("type_", "accumulator", "simple"), [
    (T.FLOAT32, [], SIMPLE),
    # An int32 per element of the output (1, 3).
    (T.INT8, ["scratch 12 accumulator"], SIMPLE_INT8),
    (T.INT16, ["scratch 12 accumulator"], SIMPLE),
])  # fmt: skip
def test_mean_and_sum_request_scratch_before_the_checks(kernel, op, type_, accumulator, simple):
    bench = kernel(op, [_nhwc(type_), AXES], [_reduced(type_)])
    assert bench.init() == ["persistent 44 OpDataReduce"]  # eleven 32-bit members
    assert bench.prepare() == TAKE + accumulator + ITERATORS + simple + FREE


@pytest.mark.parametrize("op", ["REDUCE_MAX", "REDUCE_MIN"])
def test_max_and_min_check_first(kernel, op):
    bench = kernel(op, [_nhwc(T.FLOAT32), AXES], [_reduced(T.FLOAT32)])
    assert bench.prepare() == SIMPLE + TAKE + ITERATORS + FREE
    bench = kernel(op, [_nhwc(T.INT8), AXES], [_reduced(T.INT8)])
    assert bench.prepare() == SIMPLE_INT8 + TAKE + ITERATORS + FREE


def test_all_checks_between_its_tensors_and_its_scratch(kernel):
    bench = kernel("REDUCE_ALL", [((2, 2), T.BOOL), ((), T.INT32, {"data": [0]})], [((2,), T.BOOL)])
    scratch = ["scratch 8 input_iter", "scratch 4 resolved_axis"]  # a scalar axis is one axis
    assert bench.prepare() == TAKE + SIMPLE + scratch + FREE


@pytest.mark.parametrize("op", ["ARG_MAX", "ARG_MIN"])
def test_arg_max_and_arg_min_only_have_builtin_data(kernel, op):
    bench = kernel(op, [_nhwc(T.INT8), AXES], [((1, 3), T.INT32)])
    bench.parse()
    assert bench.model.builtin_data == ("TfLiteArgMaxParams" if op == "ARG_MAX" else "TfLiteArgMinParams")
    assert (bench.model.init, bench.model.prepare) == (None, None)


def test_an_unknown_output_type_is_refused_by_the_parser(kernel):
    with pytest.raises(PrepareError, match="Unsupported data type 99 in tensor"):
        kernel("ARG_MAX", [AXES, AXES], [AXES], options={"output_type": 99}).parse()


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("REDUCE_MAX", [AXES], [AXES], "reduce_common.cc:46 node->inputs->size != 2 (1 != 2)"),
    ("REDUCE_MAX", [AXES, AXES], [AXES, AXES], "reduce_common.cc:47 node->outputs->size != 1 (2 != 1)"),
    ("REDUCE_MIN", [AXES, None], [AXES], "reduce_common.cc:51 axis != nullptr was not true."),
    ("MEAN", [AXES, ((1,), T.INT64, {"data": [0]})], [AXES],
     "reduce_common.cc:52 axis->type != kTfLiteInt32 (INT64 != INT32)"),
    ("REDUCE_ALL", [((2,), T.INT8), AXES], [AXES], "reduce_common.cc:268 input->type != kTfLiteBool (INT8 != BOOL)"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("op", "inputs", "outputs"), [
    ("MEAN", [None, AXES], [AXES]),
    ("MEAN", [AXES, None], [AXES]),
    ("SUM", [AXES, AXES], []),
    ("REDUCE_MAX", [None, AXES], [AXES]),
    ("REDUCE_ALL", [None, AXES], [AXES]),
])  # fmt: skip
def test_tensors_that_are_used_unseen_halt_when_absent(kernel, op, inputs, outputs):
    assert "is a null pointer, which is read" in kernel(op, inputs, outputs).refusal()
