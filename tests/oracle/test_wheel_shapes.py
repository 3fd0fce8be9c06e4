"""Operators that move elements between shapes (RESHAPE ... STRIDED_SLICE, PAD, CONCATENATION, FILL) against the wheel.

Left out: what only its build without DCHECKs accepts (SLICE of another type).
"""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

IMAGE, PADDED = (1, 4, 4, 3), (1, 6, 7, 3)
PADDINGS = ((4, 2), T.INT32, {"data": [0, 0, 1, 1, 1, 2, 0, 0]})


def _ints(*values):
    return ((len(values),), T.INT32, {"data": values})


def _int8(*shape, **quantization):
    return (shape, T.INT8, quantization)


ACCEPTED = [
    ("RESHAPE", [_int8(2, 6)], [_int8(3, 4)], {}),
    ("RESHAPE", [_int8(2, 6), _ints(3, 4)], [_int8(3, 4)], {"new_shape": (3, 4)}),
    ("RESHAPE", [_int8(2, 6)], [_int8(3, -1, 2)], {}),
    ("RESHAPE", [((2, 6), T.FLOAT32)], [((-1,), T.FLOAT32)], {}),
    ("RESHAPE", [_int8(1)], [_int8(0)], {}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8(3)], {}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8(3, 1)], {"squeeze_dims": (0, 0)}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8(1, 3)], {"squeeze_dims": (-1,)}),
    ("EXPAND_DIMS", [_int8(2, 3), _ints(1)], [_int8(2, 1, 3)], {}),
    ("EXPAND_DIMS", [_int8(2, 3), ((), T.INT32, {"data": [-1]})], [_int8(2, 3, 1)], {}),
    ("SHAPE", [_int8(2, 3)], [((2,), T.INT32)], {"out_type": "INT32"}),
    ("TRANSPOSE", [_int8(2, 3, 4), _ints(2, 0, 1)], [_int8(4, 2, 3)], {}),
    ("STRIDED_SLICE", [_int8(4, 6), _ints(1, 2), _ints(3, 6), _ints(1, 2)], [_int8(2, 2)], {}),
    ("STRIDED_SLICE", [_int8(4, 6), _ints(-3, 0), _ints(-1, 6), _ints(1, 4)], [_int8(2, 2)], {}),
    ("STRIDED_SLICE", [_int8(4, 6), _ints(3, 5), _ints(-9, -9), _ints(-1, -2)], [_int8(4, 3)], {}),
    ("STRIDED_SLICE", [_int8(4, 6), _ints(2, 2), _ints(3, 3), _ints(1, 1)], [_int8(3, 4)],
     {"begin_mask": 1, "end_mask": 2}),
    ("STRIDED_SLICE", [_int8(4, 6), _ints(-1, 0), _ints(0, 6), _ints(1, 1)], [_int8(6)], {"shrink_axis_mask": 1}),
    ("SLICE", [_int8(4, 6), _ints(1, 1), _ints(2, 2)], [_int8(2, 2)], {}),
    ("SLICE", [_int8(4, 6), ((2,), T.INT64), ((2,), T.INT64)], [_int8(2, 2)], {}),
    ("PAD", [(IMAGE, T.FLOAT32), PADDINGS], [(PADDED, T.FLOAT32)], {}),
    ("PADV2", [_int8(*IMAGE, scale=0.5), PADDINGS, _int8(scale=0.5)], [_int8(*PADDED, scale=0.5)], {}),
    ("MIRROR_PAD", [_int8(*IMAGE), PADDINGS], [_int8(*PADDED)], {"mode": "SYMMETRIC"}),
    ("CONCATENATION", [_int8(1, 4, scale=0.5)] * 10, [_int8(10, 4, scale=0.5)], {"axis": 0}),
    ("CONCATENATION", [((1, 4), T.INT64), ((1, 4), T.INT64, {"data": [1] * 4})], [((1, 8), T.INT64)], {"axis": -1}),
    ("FILL", [_ints(2, 3), ((), T.FLOAT32)], [((2, 3), T.FLOAT32)], {}),
    ("FILL", [((2,), T.INT64, {"data": [2, 3]}), ((), T.INT8)], [_int8(2, 3)], {}),
    ("ZEROS_LIKE", [_int8(2, 3)], [((4,), T.FLOAT32)], {}),
]  # fmt: skip

REFUSED = [
    ("RESHAPE", [_int8(4)] * 3, [_int8(4)], {}),
    ("RESHAPE", [_int8(4)], [_int8(4)], {"new_shape": (1,) * 9}),
    ("RESHAPE", [_int8(2, 6)], [_int8(0, -1)], {}),
    ("RESHAPE", [_int8(2, 6)], [_int8(-1, -1)], {}),
    ("RESHAPE", [_int8(2, 6)], [_int8(7, -1)], {}),
    ("RESHAPE", [_int8(2, 6)], [_int8(5)], {}),
    ("RESHAPE", [_int8(4)], [((4,), T.FLOAT32)], {}),
    ("RESHAPE", [None], [_int8(4)], {}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8(2)], {}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8()], {}),
    ("SQUEEZE", [_int8(1, 3, 1)], [_int8(3)], {"squeeze_dims": (0,)}),
    ("SQUEEZE", [_int8(1, 3)], [_int8(3)], {"squeeze_dims": (1,)}),
    ("SQUEEZE", [_int8(*(1,) * 9)], [_int8(1)], {}),
    ("SQUEEZE", [_int8(1)], [_int8(1)], {"squeeze_dims": (0,) * 9}),
    ("EXPAND_DIMS", [_int8(2, 3), ((1,), T.INT32)], [_int8(2, 1, 3)], {}),
    ("EXPAND_DIMS", [_int8(2, 3), ((1,), T.INT64, {"data": [1]})], [_int8(2, 1, 3)], {}),
    ("EXPAND_DIMS", [_int8(2, 3), _ints(3)], [_int8(2, 1, 3)], {}),
    ("EXPAND_DIMS", [_int8(2, 3), _ints(1)], [_int8(2, 3, 1)], {}),
    ("SHAPE", [], [((2,), T.INT32)], {}),
    ("TRANSPOSE", [_int8(2, 3), _ints(0, 2)], [_int8(3, 2)], {}),
    ("TRANSPOSE", [_int8(2, 3), ((2,), T.INT32)], [_int8(3, 2)], {}),
    ("STRIDED_SLICE", [_int8(4), _ints(1), _ints(4), _ints(1)], [_int8(4)], {}),
    ("STRIDED_SLICE", [_int8(4), _ints(1), _ints(4), _ints(0)], [_int8(4)], {}),
    ("STRIDED_SLICE", [_int8(*(1,) * 5), _ints(1), _ints(4), _ints(1)], [_int8(4)], {}),
    ("SLICE", [_int8(4)], [_int8(4)], {}),
    ("PAD", [_int8(*IMAGE), PADDINGS], [_int8(1, 6, 6, 3)], {}),
    ("PAD", [_int8(*IMAGE), PADDINGS], [(PADDED, T.FLOAT32)], {}),
    ("PAD", [_int8(*IMAGE), ((4, 2), T.INT32)], [_int8(*PADDED)], {}),
    ("PADV2", [_int8(*IMAGE), PADDINGS, _int8(2)], [_int8(*PADDED)], {}),
    ("MIRROR_PAD", [_int8(3), PADDINGS], [_int8(6)], {}),
    ("CONCATENATION", [_int8(1, 4)] * 11, [_int8(11, 4)], {}),
    ("CONCATENATION", [_int8(1, 4, scale=0.5, zero_point=3)], [_int8(1, 4, scale=0.5)], {}),
    ("CONCATENATION", [_int8(1, 4)], [_int8(1, 4)], {"fused_activation_function": "RELU6"}),
    ("FILL", [_ints(2, 4), ((), T.FLOAT32)], [((2, 3), T.FLOAT32)], {}),
    ("FILL", [((2,), T.FLOAT32, {"data": [2, 3]}), ((), T.FLOAT32)], [((2, 3), T.FLOAT32)], {}),
    ("ZEROS_LIKE", [], [_int8(2)], {}),
]


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), ACCEPTED)
def test_accepted_nodes_take_the_same_bytes(same_as_wheel, one_op, op, inputs, outputs, options):
    assert same_as_wheel(one_op(op, inputs, outputs, options=options)).status == "ok"


@pytest.mark.parametrize(("op", "inputs", "outputs", "options"), REFUSED)
def test_refused_nodes_print_the_same(same_as_wheel, one_op, op, inputs, outputs, options):
    assert same_as_wheel(one_op(op, inputs, outputs, options=options)).status == "error"


@pytest.mark.parametrize(("op", "inputs"), [
    ("TRANSPOSE", [None, _ints(0)]),
    ("STRIDED_SLICE", [None, _ints(0), _ints(4), _ints(1)]),
    ("MIRROR_PAD", [None, PADDINGS]),
    ("SQUEEZE", [None]),
])  # fmt: skip
def test_absent_tensors_that_are_used_unseen_abort(same_as_wheel, one_op, op, inputs):
    assert same_as_wheel(one_op(op, inputs, [_int8(4)])).status == "abort"
