"""Splitting, gathering, resizing, broadcasting, moving between space, batch and depth, scanning: as in the wheel."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T


def f32(*shape):
    return (shape, T.FLOAT32)


def int8(*shape):
    return (shape, T.INT8, {"scale": 0.5})


def constant(values, shape=None, type_=T.INT32):
    return ((len(values),) if shape is None else shape, type_, {"data": values})


TABLE = ((5, 4), T.INT8, {"scale": 0.5, "data": range(20)})
SHIFTED_TABLE = ((5, 4), T.INT8, {"scale": 0.5, "zero_point": 3, "data": range(20)})
BLOCK, NO_PADDING = constant([2, 2]), constant([0] * 4, (2, 2))


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), [
    ("SPLIT", [constant([1], ()), int8(1, 4)], [int8(1, 2)] * 2, {"num_splits": 2}),
    ("SPLIT_V", [int8(1, 4), constant([1, 3]), constant([1], ())], [int8(1, 1), int8(1, 3)], {"num_splits": 2}),
    ("PACK", [int8(4), int8(4)], [int8(2, 4)], {"values_count": 2}),
    ("UNPACK", [int8(2, 4)], [int8(4), int8(4)], {"num": 2}),
    ("GATHER", [f32(3, 4), constant([0, 2, 1])], [f32(3, 3)], {"axis": 1}),
    ("GATHER", [f32(3, 4), constant([0, 2], (1, 2))], [f32(3, 2)], {"axis": -1}),
    ("GATHER", [f32(3, 4), constant([0] * 6, (3, 2))], [f32(3, 2)], {"axis": 1, "batch_dims": 1}),
    ("GATHER_ND", [f32(3, 4), constant([0, 2, 1], (3, 1))], [f32(3, 4)], None),
    ("EMBEDDING_LOOKUP", [constant([0, 2, 1]), TABLE], [f32(3, 4)], None),
    ("EMBEDDING_LOOKUP", [constant([0, 2]), TABLE], [int8(3, 4)], None),
    ("DYNAMIC_UPDATE_SLICE", [f32(4, 4), f32(2, 2), constant([0, 1])], [f32(4, 4)], None),
    ("DYNAMIC_UPDATE_SLICE", [f32(*(2,) * 6), f32(*(1,) * 6), constant([0] * 6)], [f32(*(2,) * 6)], None),
    ("EMBEDDING_LOOKUP", [constant([0]), int8(0, 4)], [int8(1, 4)], None),
    ("RESIZE_BILINEAR", [f32(1, 4, 4, 2), constant([8, 8])], [f32(1, 8, 8, 2)], None),
    ("RESIZE_NEAREST_NEIGHBOR", [int8(1, 4, 4, 2), constant([8, 8])], [int8(1, 8, 8, 2)], None),
    ("BROADCAST_TO", [f32(4), constant([3, 4], type_=T.INT64)], [f32(3, 4)], None),
    ("BROADCAST_ARGS", [((2,), T.INT32)] * 2, [((2,), T.INT32)], None),
    ("SELECT_V2", [((2, 4), T.BOOL), int8(2, 4), int8(2, 4)], [int8(2, 4)], None),
    ("SELECT_V2", [((1, 4), T.BOOL), int8(2, 4), int8(2, 1)], [int8(2, 4)], None),
    ("CUMSUM", [f32(2, 4), constant([1], ())], [f32(2, 4)], None),
    ("CUMSUM", [int8(2, 4), constant([1])], [int8(2, 4)], None),
    ("REVERSE_V2", [int8(2, 4), constant([1])], [int8(2, 4)], None),
    ("SPACE_TO_BATCH_ND", [int8(1, 4, 4, 2), BLOCK, NO_PADDING], [int8(4, 2, 2, 2)], None),
    ("BATCH_TO_SPACE_ND", [int8(4, 2, 2, 2), BLOCK, NO_PADDING], [int8(1, 4, 4, 2)], None),
    ("SPACE_TO_DEPTH", [int8(1, 4, 4, 4)], [int8(1, 2, 2, 16)], {"block_size": 2}),
    ("SPACE_TO_DEPTH", [int8(1, 4, 4, 4)], [int8(1, 2, 2, 99)], {"block_size": 2}),
    ("DEPTH_TO_SPACE", [int8(1, 2, 2, 16)], [int8(1, 4, 4, 4)], {"block_size": 2}),
])  # fmt: skip
def test_what_is_accepted(same_as_wheel, one_op, op, inputs, outputs, options):
    assert same_as_wheel(one_op(op, inputs, outputs, options=options)).status == "ok"


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), [
    ("SPLIT", [((), T.INT32), int8(1, 4)], [int8(1, 2)] * 2, {"num_splits": 2}),
    ("GATHER", [((3, 4), T.INT16), constant([0, 2, 1])], [((3, 3), T.INT16)], {"axis": 1}),
    ("GATHER", [f32(3, 4), constant([0, 2, 1], type_=T.INT64)], [f32(3, 3)], {"axis": 1}),
    ("GATHER", [f32(3, 4), constant([0, 2, 1])], [f32(3, 3)], {"axis": 2}),
    ("GATHER_ND", [f32(3, 4), constant([0, 2, 1], (1, 3))], [f32(3, 4)], None),
    ("EMBEDDING_LOOKUP", [constant([0, 2, 1]), TABLE], [f32(2, 4)], None),
    ("EMBEDDING_LOOKUP", [constant([0, 2, 1]), SHIFTED_TABLE], [f32(3, 4)], None),
    ("DYNAMIC_UPDATE_SLICE", [f32(4, 4), f32(2, 5), constant([0, 1])], [f32(4, 4)], None),
    ("DYNAMIC_UPDATE_SLICE", [f32(), f32(), constant([])], [f32()], None),
    ("DYNAMIC_UPDATE_SLICE", [f32(*(2,) * 7), f32(*(1,) * 7), constant([0] * 7)], [f32(*(2,) * 7)], None),
    ("RESIZE_BILINEAR", [f32(1, 4, 4, 2), constant([8, 8])], [f32(1, 8, 8, 2)],
     {"half_pixel_centers": True, "align_corners": True}),
    ("RESIZE_BILINEAR", [f32(1, 4, 4, 2), ((2,), T.INT32)], [f32(1, 8, 8, 2)], None),
    ("RESIZE_NEAREST_NEIGHBOR", [int8(1, 4, 4, 2), constant([8, 8, 1])], [int8(1, 8, 8, 2)], None),
    ("RESIZE_NEAREST_NEIGHBOR", [int8(1, 4, 4, 2), constant([8, 8], type_=T.INT64)], [int8(1, 8, 8, 2)], None),
    ("BROADCAST_TO", [f32(2, 4), constant([3, 4])], [f32(3, 4)], None),
    ("BROADCAST_TO", [f32(1, 4), constant([3, 4])], [f32(2, 4)], None),
    ("BROADCAST_TO", [f32(1, 4), constant([3, 4])], [int8(3, 4)], None),
    ("BROADCAST_ARGS", [((2,), T.INT32), ((2,), T.INT64)], [((2,), T.INT32)], None),
    ("SELECT_V2", [((3, 4), T.BOOL), int8(2, 4), int8(2, 1)], [int8(2, 4)], None),
    ("SELECT_V2", [((1, 4), T.BOOL), int8(2, 4), int8(2, 1)], [int8(1, 4)], None),
    ("SELECT_V2", [((1, 4), T.BOOL), int8(2, 4), int8(2, 1)], [int8(1, 2, 4)], None),
    ("CUMSUM", [int8(2, 4), constant([1, 0])], [int8(2, 4)], None),
    ("CUMSUM", [int8(2, 4), constant([1])], [int8(4, 2)], None),
    ("REVERSE_V2", [((2, 4), T.UINT32), constant([1])], [((2, 4), T.UINT32)], None),
    ("REVERSE_V2", [int8(2, 4), constant([1, 0, 1])], [int8(2, 4)], None),
    ("SPACE_TO_BATCH_ND", [int8(4, 4), BLOCK, NO_PADDING], [int8(4, 2, 2, 2)], None),
    ("SPACE_TO_DEPTH", [int8(1, 5, 4, 4)], [int8(1, 2, 2, 16)], {"block_size": 2}),
    ("SPACE_TO_DEPTH", [int8(1, 4, 4, 4)], [int8(1, 2, 2, 16)], {"block_size": 0}),
    ("SPACE_TO_DEPTH", [int8(1, 4, 4, 4)], [int8(1, 2, 2, 16)], {"block_size": -2}),
    ("SPACE_TO_DEPTH", [None], [int8(1, 2, 2, 16)], {"block_size": 2}),
    ("SPACE_TO_DEPTH", [((1, 4, 4, 4), T.INT16)], [((1, 2, 2, 16), T.INT16)], {"block_size": 2}),
    ("DEPTH_TO_SPACE", [int8(1, 2, 2, 15)], [int8(1, 4, 4, 4)], {"block_size": 2}),
    ("DEPTH_TO_SPACE", [int8(1, 2, 2, 16)], [int8(1, 4, 4, 4)], {"block_size": 0}),
])  # fmt: skip
def test_what_is_refused(same_as_wheel, one_op, op, inputs, outputs, options):
    assert same_as_wheel(one_op(op, inputs, outputs, options=options)).status == "error"


@pytest.mark.parametrize("position", [-1, 3])
def test_gather_refuses_a_constant_position_that_is_out_of_range(wheel, same_as_wheel, one_op, position):
    model = one_op("GATHER", [f32(3, 4), constant([0, position])], [f32(2, 4)], options={"axis": 0})
    ours = same_as_wheel(model)
    assert wheel.run(model).invoke == "error"
    assert f"position {position} of 3" in str(ours.invoke_problem)
