"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IMAGE, RESIZED = ((1, 4, 4, 2), T.INT8), ((1, 8, 8, 2), T.INT8)
SIZE, UNKNOWN_SIZE = ((2,), T.INT32, {"data": [8, 8]}), ((2,), T.INT32)
OPS = ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"]


@pytest.mark.parametrize("op", OPS)
def test_three_tensors_are_taken_and_freed_in_order(kernel, op):
    bench = kernel(op, [IMAGE, SIZE], [RESIZED])
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("op", "inputs", "message"), [
    ("RESIZE_BILINEAR", [IMAGE], "resize_bilinear.cc:36 NumInputs(node) != 2 (1 != 2)"),
    ("RESIZE_BILINEAR", [RESIZED, ((1, 1), T.INT32)], "resize_bilinear.cc:47 NumDimensions(size) != 1 (2 != 1)"),
    ("RESIZE_BILINEAR", [((4, 4), T.INT8), SIZE], "resize_bilinear.cc:46 NumDimensions(input) != 4 (2 != 4)"),
    ("RESIZE_BILINEAR", [IMAGE, ((2,), T.INT64)], "resize_bilinear.cc:49 size->type != kTfLiteInt32 (4 != 2)"),
    ("RESIZE_BILINEAR", [IMAGE, UNKNOWN_SIZE], "resize_bilinear.cc Non-constant >size< tensor is not supported"),
    ("RESIZE_NEAREST_NEIGHBOR", [((4, 4), T.INT8), SIZE],
     "resize_nearest_neighbor.cc:50 NumDimensions(input) != 4 (2 != 4)"),
    ("RESIZE_NEAREST_NEIGHBOR", [IMAGE, ((2,), T.INT64)],
     "resize_nearest_neighbor.cc:52 size->type != kTfLiteInt32 (4 != 2)"),
    ("RESIZE_NEAREST_NEIGHBOR", [IMAGE, ((3,), T.INT32)],
     "resize_nearest_neighbor.cc:53 size->dims->data[0] != 2 (3 != 2)"),
    ("RESIZE_NEAREST_NEIGHBOR", [IMAGE, UNKNOWN_SIZE],
     "resize_nearest_neighbor.cc Non-constant >size< tensor is not supported"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, message):
    assert kernel(op, inputs, [RESIZED]).refusal() == KERNELS + message


def test_bilinear_refuses_both_conventions_at_once(kernel):
    options = {"half_pixel_centers": True, "align_corners": True}
    bench = kernel("RESIZE_BILINEAR", [IMAGE, SIZE], [RESIZED], options=options)
    assert bench.refusal() == "If half_pixel_centers is True, align_corners must be False."


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(("inputs", "output"), [
    ([None, SIZE], RESIZED),
    ([IMAGE, None], RESIZED),
    ([IMAGE, SIZE], None),
])  # fmt: skip
def test_null_pointers_halt(kernel, op, inputs, output):
    assert kernel(op, inputs, [output]).refusal().startswith("halts: ")
