"""EQUAL ... LESS_EQUAL: two inputs, and int8 scales that must lie between 0 and 1."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
BOOLS = [((4,), T.BOOL)]
ALL = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")


@pytest.mark.parametrize("op", ALL)
def test_init_takes_op_data_and_prepare_frees_both_inputs(kernel, op):
    bench = kernel(op, [((4,), T.FLOAT32), ((4,), T.FLOAT32)], BOOLS)
    # ComparisonParams: seven 32-bit members and a bool, 29 bytes padded to 32.
    assert bench.init() == ["persistent 32 comparisons.OpData"]
    assert bench.prepare() == ["temp 0", "temp 1", "free 0", "free 1"]


@pytest.mark.parametrize(("inputs", "message"), [
    ([None, ((4,), T.INT32)], "comparisons.cc:557 input1 != nullptr was not true."),
    ([((4,), T.INT32)], "comparisons.cc:560 input2 != nullptr was not true."),
])  # fmt: skip
def test_a_missing_input_is_refused(kernel, inputs, message):
    assert kernel("LESS", inputs, BOOLS).refusal() == KERNELS + message


@pytest.mark.parametrize("scale", [None, 0.0, 1.0, -0.5, float("nan"), float("inf")])
def test_int8_with_a_scale_outside_of_0_to_1_halts(kernel, scale):
    good, bad = ((4,), T.INT8, {"scale": 0.5}), ((4,), T.INT8, {"scale": scale})
    assert kernel("EQUAL", [good, bad], BOOLS).refusal().startswith("halts: ")
    assert kernel("EQUAL", [bad, good], BOOLS).refusal().startswith("halts: ")


def test_without_memory_for_op_data_prepare_halts(kernel):
    inputs = [((4,), T.INT32), ((4,), T.INT32)]
    assert "node->user_data != nullptr" in kernel("EQUAL", inputs, BOOLS, refuse="persistent").refusal()
