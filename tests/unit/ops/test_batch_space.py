"""SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, SPACE_TO_DEPTH and DEPTH_TO_SPACE."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"


def int8(*shape):
    return (shape, T.INT8)


BLOCK, CROPS = ((2,), T.INT32, {"data": [2, 2]}), ((2, 2), T.INT32, {"data": [0] * 4})
# The output is tensor 3; block and crops are only looked at when the operator runs.
BATCH_STEPS = ["temp 0", "temp 3", "free 0", "free 3"]


def test_space_to_batch_only_checks(kernel):
    bench = kernel("SPACE_TO_BATCH_ND", [int8(1, 4, 4, 2), BLOCK, CROPS], [int8(4, 2, 2, 2)])
    assert bench.init() == ["persistent 4 SpaceToBatchParams"]  # an int32
    assert bench.prepare() == BATCH_STEPS


def test_batch_to_space_only_checks(kernel):
    bench = kernel("BATCH_TO_SPACE_ND", [int8(4, 2, 2), BLOCK, CROPS], [int8(1, 4, 2)])
    assert bench.model.init is None
    assert bench.prepare() == BATCH_STEPS


@pytest.mark.parametrize(("op", "file", "counts", "tensors"), [
    ("SPACE_TO_BATCH_ND", "space_to_batch_nd.cc", 51, 58),
    ("BATCH_TO_SPACE_ND", "batch_to_space_nd.cc", 42, 51),
])  # fmt: skip
@pytest.mark.parametrize(("inputs", "outputs", "line", "message"), [
    ([int8(1, 4, 4, 2)], [int8(1, 2, 2)], 0, "NumInputs(node) != 3 (1 != 3)"),
    ([int8(1, 4, 4, 2), BLOCK, CROPS], [], 1, "NumOutputs(node) != 1 (0 != 1)"),
    ([None, BLOCK, CROPS], [int8(1, 2, 2)], 2, "input != nullptr && output != nullptr was not true."),
    ([int8(4, 4), BLOCK, CROPS], [int8(1, 2, 2)], 4,
     "NumDimensions(input) >= kInputOutputMinDimensionNum was not true."),
    ([int8(1, 4, 4), BLOCK, CROPS], [int8(2, 2)], 5,
     "NumDimensions(output) >= kInputOutputMinDimensionNum was not true."),
    ([int8(1, 1, 4, 4, 2), BLOCK, CROPS], [int8(1, 2, 2)], 6,
     "NumDimensions(input) <= kInputOutputMaxDimensionNum was not true."),
    ([int8(1, 4, 4), BLOCK, CROPS], [int8(1, 1, 1, 2, 2)], 7,
     "NumDimensions(output) <= kInputOutputMaxDimensionNum was not true."),
    ([int8(1, 4, 4), BLOCK, CROPS], [((1, 2, 2), T.INT16)], 8, "input->type != output->type (INT8 != INT16)"),
])  # fmt: skip
def test_batch_refusals(kernel, op, file, counts, tensors, inputs, outputs, line, message):
    place = counts + line if line < 2 else tensors + line - 2
    assert kernel(op, inputs, outputs).refusal() == f"{KERNELS}{file}:{place} {message}"


@pytest.mark.parametrize(("op", "source", "block", "shape"), [
    ("SPACE_TO_DEPTH", int8(1, 4, 6, 3), 2, "(1, 2, 3, 12)"),
    ("SPACE_TO_DEPTH", int8(1, 4, 6, 3), -2, "(1, -2, -3, 12)"),
    ("DEPTH_TO_SPACE", int8(1, 2, 3, 12), 2, "(1, 4, 6, 3)"),
])  # fmt: skip
def test_depth_operators_write_the_outputs_shape(kernel, op, source, block, shape):
    bench = kernel(op, [source], [int8(9, 9, 9, 9)], options={"block_size": block})
    # The dims: a length and four ints.
    written = ["persistent 20 dims", f"shape 1 {shape}"]
    assert bench.prepare() == ["temp 0", "temp 1", *written, "free 0", "free 1"]


def test_the_number_of_dimensions_stays_the_files(kernel):
    options = {"block_size": 2}
    short = kernel("SPACE_TO_DEPTH", [int8(1, 4, 6, 3)], [int8(9, 9)], options=options)
    assert "shape 1 (1, 2)" in short.prepare()
    long = kernel("SPACE_TO_DEPTH", [int8(1, 4, 6, 3)], [int8(9, 9, 9, 9, 5)], options=options)
    assert "shape 1 (1, 2, 3, 12, 5)" in long.prepare()


@pytest.mark.parametrize(("op", "file", "first"), [
    ("SPACE_TO_DEPTH", "space_to_depth.cc", 40),
    ("DEPTH_TO_SPACE", "depth_to_space.cc", 41),
])  # fmt: skip
@pytest.mark.parametrize(("inputs", "output", "line", "message"), [
    ([], int8(1), 0, "NumInputs(node) != 1 (0 != 1)"),
    ([None], int8(1), 7, "input != nullptr was not true."),
    ([int8(1, 2, 2, 4)], None, 10, "output != nullptr was not true."),
    ([int8(2, 2, 4)], int8(1), 12, "NumDimensions(input) != 4 (3 != 4)"),
    ([int8(1, 2, 2, 4)], ((1,), T.INT16), 15,
     "data_type == kTfLiteFloat32 || data_type == kTfLiteInt8 was not true."),
    ([((1, 2, 2, 4), T.INT16)], int8(1), 17, "input->type != output->type (INT16 != INT8)"),
])  # fmt: skip
def test_depth_refusals(kernel, op, file, first, inputs, output, line, message):
    bench = kernel(op, inputs, [output], options={"block_size": 2})
    assert bench.refusal() == f"{KERNELS}{file}:{first + line} {message}"


@pytest.mark.parametrize(("op", "source", "block", "message"), [
    ("SPACE_TO_DEPTH", int8(1, 5, 4, 1), 2,
     "space_to_depth.cc:65 input_height != output_height * block_size (5 != 4)"),
    ("SPACE_TO_DEPTH", int8(1, 4, 5, 1), 2, "space_to_depth.cc:66 input_width != output_width * block_size (5 != 4)"),
    ("DEPTH_TO_SPACE", int8(1, 2, 2, 4), 0, "depth_to_space.cc:61 block_size > 0 was not true."),
    ("DEPTH_TO_SPACE", int8(1, 2, 2, 7), 2,
     "depth_to_space.cc:71 input_channels != output_channels * block_size * block_size (7 != 4)"),
])  # fmt: skip
def test_blocks_that_do_not_divide(kernel, op, source, block, message):
    assert kernel(op, [source], [int8(1)], options={"block_size": block}).refusal() == KERNELS + message


def test_a_block_of_0_halts_space_to_depth(kernel):
    assert kernel("SPACE_TO_DEPTH", [int8(1, 4, 4, 1)], [int8(1)]).refusal().startswith("halts: ")
