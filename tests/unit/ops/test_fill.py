"""FILL and ZEROS_LIKE."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
VALUE, OUTPUT = ((), T.FLOAT32), ((2, 3), T.FLOAT32)


@pytest.mark.parametrize("type_", [T.INT8, T.INT16, T.INT32, T.INT64])
def test_fill_compares_its_dims_in_any_signed_type(kernel, type_):
    bench = kernel("FILL", [((2,), type_, {"data": [2, 3]}), VALUE], [OUTPUT])
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


def _dims(*values, type_=T.INT32):
    return ((len(values),), type_, {"data": values})


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([None, VALUE], OUTPUT, "fill.cc:73 dims != nullptr was not true."),
    ([_dims(2, 3)], OUTPUT, "fill.cc:76 value != nullptr was not true."),
    ([_dims(2, 3), ((1,), T.FLOAT32)], OUTPUT, "fill.cc:82 NumDimensions(value) != 0 (1 != 0)"),
    ([_dims(2, 3), ((), T.INT32)], OUTPUT, "fill.cc:85 value->type != output->type (2 != 1)"),
    ([((2,), T.INT32), VALUE], OUTPUT, "fill.cc Non-constant >dims< tensor is not supported"),
    ([((1, 2), T.INT32, {"data": [2, 3]}), VALUE], OUTPUT, "fill.cc:43 NumDimensions(tensor) != 1 (2 != 1)"),
    ([_dims(2), VALUE], OUTPUT, "fill.cc:45 array->size != tensor_len (2 != 1)"),
    ([_dims(2, 4), VALUE], OUTPUT, "fill.cc:34 array->data[i] != GetTensorData<T>(tensor)[i] (3 != 4)"),
    # Compared in 64 bits, printed in 32.
    ([_dims(2, 3 + 2**32, type_=T.INT64), VALUE], OUTPUT,
     "fill.cc:34 array->data[i] != GetTensorData<T>(tensor)[i] (3 != 3)"),
])  # fmt: skip
def test_fill_refusals(kernel, inputs, output, message):
    assert kernel("FILL", inputs, [output]).refusal() == KERNELS + message


def test_fill_refuses_dims_that_are_no_integers(kernel):
    bench = kernel("FILL", [((2,), T.FLOAT32, {"data": [2, 3]}), VALUE], [OUTPUT])
    assert bench.refusal() == "cannot compare int array to tensor of type 1."


def test_fill_halts_on_dims_without_enough_data(kernel):
    assert kernel("FILL", [((2,), T.INT32, {"data": [2]}), VALUE], [OUTPUT]).refusal().startswith("halts: ")


def test_zeros_like_looks_at_both_tensors(kernel):
    assert kernel("ZEROS_LIKE", [OUTPUT], [VALUE]).prepare() == ["temp 0", "temp 1", "free 0", "free 1"]
    assert kernel("ZEROS_LIKE", [OUTPUT, VALUE], [VALUE]).refusal() == (
        KERNELS + "zeros_like.cc:31 NumInputs(node) != 1 (2 != 1)"
    )
