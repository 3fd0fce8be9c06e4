"""Options and constants that no Eval computes: the bounds of axes, slices, steps and multipliers."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.eval_values import refused_values, undefined_values


def f32(*shape):
    return (shape, T.FLOAT32)


def int8(*shape, scale=0.5):
    return (shape, T.INT8, {"scale": scale, "zero_point": 0})


def constant(*values, kind=T.INT32):
    return ((len(values),), kind, {"data": list(values)})


def axes(kernel, op, *values, kind=T.INT32):
    """Return what is refused of an operator with these axes on an image of rank 3."""
    image, ends = f32(2, 3, 4), constant(*values, kind=kind)
    inputs = [ends, image] if op == "SPLIT" else [image, ends]
    if op == "SPLIT_V":
        inputs = [image, constant(1, 1), ends]
    return [*refused_values(kernel(op, inputs, [f32(2, 3, 4)]).node)]


@pytest.mark.parametrize("op", ["MEAN", "SUM", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "SPLIT", "SPLIT_V", "CUMSUM"])
def test_an_axis_lies_within_the_rank(kernel, op):
    for inside in (-3, -1, 0, 2):
        assert axes(kernel, op, inside) == []
    for outside, shown in ((3, 3), (-4, -1)):
        says = f"CUMSUM Invalid axis: {shown}" if op == "CUMSUM" else ""
        assert axes(kernel, op, outside) == [(f"axis {outside} of a tensor of rank 3", says)]
    assert axes(kernel, op) == []  # none at all


def test_each_axis_of_a_reduction_counts_and_the_first_of_the_others(kernel):
    assert [text for text, _ in axes(kernel, "MEAN", 5, 0, 4)] == [
        "axis 5 of a tensor of rank 3",
        "axis 4 of a tensor of rank 3",
    ]
    for op in ("SPLIT", "SPLIT_V", "CUMSUM"):
        assert axes(kernel, op, 0, 4) == []
        assert len(axes(kernel, op, 4, 4)) == 1


def test_only_integers_that_are_all_there_are_read(kernel):
    assert [text for text, _ in axes(kernel, "MEAN", 5, kind=T.INT64)] == ["axis 5 of a tensor of rank 3"]
    assert axes(kernel, "MEAN", 5, kind=T.INT16) == []
    bench = kernel("MEAN", [f32(2, 3, 4), ((1,), T.INT32)], [f32(2)])
    assert [*refused_values(bench.node)] == []
    assert [*refused_values(kernel("MEAN", [None, constant(5)], [f32(2)]).node)] == []


@pytest.mark.parametrize("op", ["REDUCE_MAX", "REDUCE_MIN"])
def test_the_largest_of_int8_keeps_its_scale(kernel, op):
    def refused(*ends):
        return [*refused_values(kernel(op, [ends[0], constant(0)], [ends[1]]).node)]

    names = "static_cast<double>(op_data->input_scale) != static_cast<double>(op_data->output_scale) (? != ?)"
    assert refused(int8(2, 3), int8(3)) == []
    assert refused(int8(2, 3), int8(3, scale=0.25)) == [("scale 0.5 in and 0.25 out", names)]
    assert refused(f32(2, 3), f32(3)) == []


@pytest.mark.parametrize(
    ("first", "count", "is_inside"),
    [
        (0, 4, True),
        (0, -1, True),
        (3, 1, True),
        (4, 0, True),
        (4, -1, True),
        (0, 5, False),
        (1, 4, False),
        (5, -1, False),
        (-1, 1, False),
        (0, -2, False),
    ],
)
def test_a_slice_lies_within_its_axis(kernel, first, count, is_inside):
    bench = kernel("SLICE", [f32(2, 4), constant(0, first), constant(2, count)], [f32(2, 4)])
    told = f"the slice of {count} from {first} on is not within the 4 of axis 1"
    assert [*undefined_values(bench.node)] == ([] if is_inside else [told])


def test_a_slice_of_another_rank_is_left_to_prepare(kernel):
    for begin, size in ((constant(9), constant(9)), (constant(9, 9), constant(9)), (constant(9), constant(9, 9))):
        assert [*undefined_values(kernel("SLICE", [f32(2, 4), begin, size], [f32(2, 4)]).node)] == []


@pytest.mark.parametrize("name", ["stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor"])
def test_steps_are_one_or_more(kernel, name):
    def told(value):
        options = {"stride_h": 1, "stride_w": 1, name: value}
        bench = kernel("CONV_2D", [f32(1, 4, 4, 1), f32(1, 1, 1, 1)], [f32(1, 4, 4, 1)], options=options)
        return [*undefined_values(bench.node)]

    assert [told(1), told(0), told(-1)] == [[], [f"{name} is 0"], [f"{name} is -1"]]


@pytest.mark.parametrize("name", ["filter_height", "filter_width"])
def test_windows_have_an_element(kernel, name):
    def told(value):
        options = {"stride_h": 1, "stride_w": 1, "filter_height": 1, "filter_width": 1, name: value}
        return [*undefined_values(kernel("MAX_POOL_2D", [f32(1, 4, 4, 1)], [f32(1, 4, 4, 1)], options=options).node)]

    assert [told(1), told(0)] == [[], [f"{name} is 0"]]


@pytest.mark.parametrize(("multiplier", "told"), [(3, []), (2, ["depth_multiplier is 2 with 2 channels in and 6 out"])])
def test_a_depth_multiplier_is_that_of_the_channels(kernel, multiplier, told):
    options = {"stride_h": 1, "stride_w": 1, "depth_multiplier": multiplier}
    inputs = [f32(1, 4, 4, 2), f32(1, 1, 1, 6)]
    bench = kernel("DEPTHWISE_CONV_2D", inputs, [f32(1, 4, 4, 6)], options=options)
    assert [*undefined_values(bench.node)] == told
    flat = kernel("DEPTHWISE_CONV_2D", [f32(4, 4, 2), f32(1, 1, 1, 6)], [f32(1, 4, 4, 6)], options=options)
    assert [*undefined_values(flat.node)] == []
    flat = kernel("DEPTHWISE_CONV_2D", [f32(1, 4, 4, 2), f32(1, 1, 6)], [f32(1, 4, 4, 6)], options=options)
    assert [*undefined_values(flat.node)] == []
