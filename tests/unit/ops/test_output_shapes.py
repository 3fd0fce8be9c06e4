"""The two short times in which kernels computed their outputs' dims: November 2023 and January 2024."""

from __future__ import annotations

import struct

import pytest

from tflm_sim.model.types import TensorType as T

NOVEMBER, JANUARY, LATER = "2023-11-29", "2024-01-05", "2024-01-09"
DIMS = "persistent 20 dims"  # a count and four dims
WINDOW = {"padding": 1, "stride_w": 2, "stride_h": 2, "dilation_w_factor": 1, "dilation_h_factor": 1}


def of(kernel, op, inputs, outputs, day, **arguments):
    return kernel(op, inputs, outputs, runtime=day, **arguments)


def ints(*values, shape=None):
    return (shape or (len(values),), T.INT32, {"data": struct.pack(f"<{len(values)}i", *values)})


def floats(*shape):
    return (shape, T.FLOAT32)


def test_a_convolution_writes_the_dims_that_its_window_gives(kernel):
    inputs = [floats(1, 9, 7, 4), floats(6, 3, 3, 4), floats(6)]
    lines = of(kernel, "CONV_2D", inputs, [floats(1, 1, 1, 6)], JANUARY, options=WINDOW).prepare()
    # (9 + 2 - 3) // 2 and (7 + 2 - 3) // 2.
    assert lines[lines.index(DIMS) + 1] == "shape 3 (1, 4, 3, 6)"
    same = {**WINDOW, "padding": 0}
    lines = of(kernel, "CONV_2D", inputs, [floats(1, 1, 1, 6)], JANUARY, options=same).prepare()
    assert "shape 3 (1, 5, 4, 6)" in lines
    lines = of(kernel, "CONV_2D", inputs, [floats(1, 1, 1, 6)], "2024-01-11", options=WINDOW).prepare()
    assert DIMS not in lines


@pytest.mark.parametrize("kernels", ["reference", "cmsis_nn"])
def test_a_depthwise_convolution_does_too_and_checks_its_channels(kernel, kernels):
    inputs = [floats(1, 9, 7, 3), floats(1, 3, 3, 6), floats(6)]
    options = {**WINDOW, "depth_multiplier": 2}
    arguments = {"options": options, "kernels": kernels}
    lines = of(kernel, "DEPTHWISE_CONV_2D", inputs, [floats(1, 1, 1, 6)], JANUARY, **arguments).prepare()
    assert lines[lines.index(DIMS) + 1] == "shape 3 (1, 4, 3, 6)"
    inputs[1] = floats(1, 3, 3, 7)
    bench = of(kernel, "DEPTHWISE_CONV_2D", inputs, [floats(1, 1, 1, 7)], JANUARY, **arguments)
    assert bench.refusal().endswith(" num_filter_channels % num_input_channels != 0 (1 != 0)")


def test_a_convolution_checks_its_channels(kernel):
    inputs = [floats(1, 9, 7, 5), floats(6, 3, 3, 4), floats(6)]
    bench = of(kernel, "CONV_2D", inputs, [floats(1, 4, 3, 6)], JANUARY, options=WINDOW)
    assert bench.refusal().endswith(" input_channels % filter_input_channels != 0 (1 != 0)")
    assert "conv_common.cc:1" in bench.refusal()


def test_expand_dims_writes_whatever_the_file_says(kernel):
    bench = of(kernel, "EXPAND_DIMS", [floats(2, 3), ints(-1)], [floats(9, 9, 9)], JANUARY)
    lines = bench.prepare()
    assert lines[lines.index("persistent 16 dims") + 1] == "shape 2 (2, 3, 1)"
    bench = of(kernel, "EXPAND_DIMS", [floats(2, 3), ints(5)], [floats(9, 9, 9)], JANUARY)
    assert bench.refusal().endswith(" axis_value < output_shape->size was not true.")


def test_reshape_looks_at_the_shape_that_is_asked_for(kernel):
    lines = of(kernel, "RESHAPE", [floats(2, 3), ints(3, -1)], [floats(3, 7)], JANUARY).prepare()
    assert lines == ["temp 0", "temp 1", "temp 2", "persistent 12 dims", "shape 2 (3, 2)", "free 0", "free 1", "free 2"]
    lines = of(kernel, "RESHAPE", [floats(2, 3), ints(3, 2)], [floats(9, 9)], JANUARY).prepare()
    assert "persistent 12 dims" not in lines
    square = [floats(2, 3), ints(3, 2, shape=(1, 2))]
    refused = of(kernel, "RESHAPE", square, [floats(3, 2)], JANUARY)
    assert refused.refusal().endswith(" ReshapeOutput(context, node) != kTfLiteOk (1 != 0)")
    assert any("new_shape->dims->size != 1 (2 != 1)" in line for line in refused.requests)
    assert of(kernel, "RESHAPE", square, [floats(3, 2)], LATER).prepare()


BLOCKS = [ints(2, 2), ints(0, 0, 1, 1, shape=(2, 2))]


@pytest.mark.parametrize(
    ("day", "moves"), [("2023-11-27", False), (NOVEMBER, True), ("2023-12-01", False), (JANUARY, True)]
)
def test_space_to_batch_copies_dims_that_change(kernel, day, moves):
    inputs = [floats(1, 4, 6, 3), *BLOCKS]
    lines = of(kernel, "SPACE_TO_BATCH_ND", inputs, [floats(4, 9, 4, 3)], day).prepare()
    assert (DIMS in lines) == moves
    if moves:
        assert "shape 3 (4, 2, 4, 3)" in lines  # 4 / 2 and (6 + 1 + 1) / 2
    lines = of(kernel, "SPACE_TO_BATCH_ND", inputs, [floats(4, 2, 4, 3)], day).prepare()
    assert DIMS not in lines


def test_space_to_batch_refuses_what_its_blocks_do_not_divide(kernel):
    inputs = [floats(1, 5, 6, 3), *BLOCKS]
    bench = of(kernel, "SPACE_TO_BATCH_ND", inputs, [floats(4, 2, 4, 3)], JANUARY)
    assert bench.refusal().endswith(" final_dim_size % block_shape_data[dim] != 0 (1 != 0)")
    bench = of(kernel, "SPACE_TO_BATCH_ND", [inputs[0], floats(2), inputs[2]], [floats(4, 2, 4, 3)], JANUARY)
    assert bench.refusal().endswith(" IsConstantOrPersistentTensor(block_shape) was not true.")


def test_batch_to_space_writes_fewer_elements_alone(kernel):
    inputs = [floats(4, 2, 4, 3), *BLOCKS]
    lines = of(kernel, "BATCH_TO_SPACE_ND", inputs, [floats(1, 4, 7, 3)], JANUARY).prepare()
    assert "shape 3 (1, 4, 6, 3)" in lines  # 2 * 2 and 4 * 2 - 1 - 1
    bench = of(kernel, "BATCH_TO_SPACE_ND", inputs, [floats(1, 4, 5, 3)], JANUARY)
    assert bench.refusal().endswith(" output_shape.FlatSize() <= old_output_shape.FlatSize() was not true.")
    assert DIMS not in of(kernel, "BATCH_TO_SPACE_ND", inputs, [floats(1, 4, 7, 3)], NOVEMBER).prepare()
