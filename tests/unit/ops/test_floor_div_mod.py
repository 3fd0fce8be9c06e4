"""FLOOR_DIV and FLOOR_MOD: an Init without a request, three tensors of one type."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
INTS, FLOATS = ((4,), T.INT32), ((4,), T.FLOAT32)


@pytest.mark.parametrize("op", ["FLOOR_DIV", "FLOOR_MOD"])
def test_three_tensors_are_taken_and_freed_in_order(kernel, op):
    bench = kernel(op, [INTS, INTS], [INTS])
    assert bench.init() == []
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("FLOOR_DIV", [INTS], [INTS], "floor_div.cc:37 NumInputs(node) != 2 (1 != 2)"),
    ("FLOOR_DIV", [INTS, INTS], [], "floor_div.cc:38 NumOutputs(node) != 1 (0 != 1)"),
    ("FLOOR_DIV", [None, INTS], [INTS], "floor_div.cc:42 input1 != nullptr was not true."),
    ("FLOOR_DIV", [INTS, None], [INTS], "floor_div.cc:45 input2 != nullptr was not true."),
    ("FLOOR_DIV", [INTS, FLOATS], [INTS], "floor_div.cc:50 input1->type != input2->type (INT32 != FLOAT32)"),
    ("FLOOR_DIV", [INTS, INTS], [FLOATS], "floor_div.cc:51 input1->type != output->type (INT32 != FLOAT32)"),
    ("FLOOR_MOD", [INTS], [INTS], "floor_mod.cc:42 NumInputs(node) != 2 (1 != 2)"),
    ("FLOOR_MOD", [None, INTS], [INTS], "floor_mod.cc:47 input1 != nullptr was not true."),
    ("FLOOR_MOD", [INTS, INTS], [FLOATS], "floor_mod.cc:56 input1->type != output->type (INT32 != FLOAT32)"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message
