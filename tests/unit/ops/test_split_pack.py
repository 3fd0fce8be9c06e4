"""SPLIT, SPLIT_V, PACK and UNPACK."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
VALUE, HALF = ((1, 4), T.INT8), ((1, 2), T.INT8)
AXIS, UNKNOWN_AXIS = ((), T.INT32, {"data": [1]}), ((), T.INT32)
SIZES = ((2,), T.INT32, {"data": [2, 2]})


def test_only_the_axis_is_taken(kernel):
    assert kernel("SPLIT", [AXIS, VALUE], [HALF, HALF]).prepare() == ["temp 0", "free 0"]
    assert kernel("SPLIT_V", [VALUE, SIZES, AXIS], [HALF, HALF]).prepare() == ["temp 2", "free 2"]


@pytest.mark.parametrize(("op", "struct"), [("PACK", "TfLitePackParams"), ("UNPACK", "TfLiteUnpackParams")])
def test_pack_and_unpack_only_have_builtin_data(kernel, op, struct):
    model = kernel(op, [VALUE], [VALUE]).model
    assert (model.builtin_data, model.init, model.prepare) == (struct, None, None)


@pytest.mark.parametrize(("op", "inputs", "message"), [
    ("SPLIT", [], "split.cc:73 axis != nullptr was not true."),
    ("SPLIT", [None, VALUE], "split.cc:73 axis != nullptr was not true."),
    ("SPLIT", [UNKNOWN_AXIS, VALUE], "split.cc Non-constant >axis< tensor is not supported"),
    ("SPLIT_V", [VALUE, SIZES], "split_v.cc:75 NumInputs(node) != 3 (2 != 3)"),
    ("SPLIT_V", [VALUE, SIZES, UNKNOWN_AXIS], "split_v.cc Non-constant >axis< tensor is not supported"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, message):
    assert kernel(op, inputs, [HALF, HALF]).refusal() == KERNELS + message


@pytest.mark.parametrize(("op", "inputs"), [("SPLIT", None), ("SPLIT_V", [VALUE, SIZES, None])])
def test_null_pointers_halt(kernel, op, inputs):
    assert kernel(op, inputs, [HALF]).refusal().startswith("halts: ")
