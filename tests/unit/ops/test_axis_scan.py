"""CUMSUM and REVERSE_V2."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
AXIS = ((1,), T.INT32, {"data": [1]})
FLOATS = ((2, 4), T.FLOAT32)


def int8(scale):
    return ((2, 4), T.INT8, {} if scale is None else {"scale": scale})


def test_cumsum_of_floats_takes_nothing(kernel):
    bench = kernel("CUMSUM", [FLOATS, AXIS], [FLOATS])
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


def test_cumsum_of_int8_takes_its_op_data_in_prepare(kernel):
    bench = kernel("CUMSUM", [int8(0.5), AXIS], [int8(0.5)])
    # Nine 32-bit members.
    assert bench.prepare() == [
        "temp 0",
        "temp 1",
        "temp 2",
        "persistent 36 cumsum.OpData",
        "free 0",
        "free 1",
        "free 2",
    ]


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([FLOATS], FLOATS, "48 NumInputs(node) != 2 (1 != 2)"),
    ([((2,), T.INT16), AXIS], FLOATS, "58 input->type == kTfLiteFloat32 || input->type == kTfLiteInt8 was not true."),
    ([FLOATS, ((1,), T.INT64)], FLOATS, "60 axis->type != kTfLiteInt32 (4 != 2)"),
    ([FLOATS, ((2,), T.INT32)], FLOATS, "62 NumElements(axis) != 1 (2 != 0)"),
    ([((), T.FLOAT32), AXIS], FLOATS, "64 NumDimensions(input) >= 1 was not true."),
    ([FLOATS, AXIS], int8(0.5), "69 input->type != output->type (1 != 9)"),
    ([FLOATS, AXIS], ((4, 2), T.FLOAT32), "70 HaveSameShapes(input, output) was not true."),
])  # fmt: skip
def test_cumsum_refusals(kernel, inputs, output, message):
    assert kernel("CUMSUM", inputs, [output]).refusal() == f"{KERNELS}cumsum.cc:{message}"


@pytest.mark.parametrize(("source", "output"), [
    (None, FLOATS),
    (FLOATS, None),
    (int8(None), int8(0.5)),
    (int8(0.5), int8(None)),
    (int8(float("inf")), int8(0.5)),
    # 2 * 0.5 / (2 ** 20 * 2 ** -20) is 1; the multiplier must be below.
    (int8(0.5), int8(2.0**-20)),
])  # fmt: skip
def test_cumsum_halts(kernel, source, output):
    assert kernel("CUMSUM", [source, AXIS], [output]).refusal().startswith("halts: ")


def test_reverse_only_checks(kernel):
    bench = kernel("REVERSE_V2", [FLOATS, AXIS], [FLOATS])
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([FLOATS], FLOATS, "47 NumInputs(node) != 2 (1 != 2)"),
    ([None, AXIS], FLOATS, "53 input != nullptr was not true."),
    ([FLOATS, None], FLOATS, "56 axis != nullptr was not true."),
    ([FLOATS, AXIS], None, "59 output != nullptr was not true."),
    ([FLOATS, ((), T.INT32)], FLOATS, "60 NumDimensions(axis) != 1 (0 != 1)"),
    ([((1,) * 7, T.FLOAT32), AXIS], FLOATS, "61 NumDimensions(input) <= kMaxDimensions was not true."),
    ([FLOATS, ((3,), T.INT32)], FLOATS, "62 NumDimensions(input) >= NumElements(axis) was not true."),
    ([FLOATS, AXIS], int8(0.5), "79 input->type != output->type (1 != 9)"),
])  # fmt: skip
def test_reverse_refusals(kernel, inputs, output, message):
    assert kernel("REVERSE_V2", inputs, [output]).refusal() == f"{KERNELS}reverse.cc:{message}"


def test_reverse_refuses_types(kernel):
    bench = kernel("REVERSE_V2", [((2,), T.UINT32), AXIS], [FLOATS])
    assert bench.refusal() == "Type 'UINT32' is not supported by reverse."
    bench = kernel("REVERSE_V2", [FLOATS, ((1,), T.INT64)], [FLOATS])
    assert bench.refusal() == "Axis Type 'INT64' is not supported by reverse."
