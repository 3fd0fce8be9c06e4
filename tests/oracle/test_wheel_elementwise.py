"""Comparisons, elementwise operators, casts and quantization against the wheel."""

from __future__ import annotations

import pytest

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType as T

FLOATS = ((2, 3), T.FLOAT32)
INTS = ((2, 3), T.INT32)
BOOLS = ((2, 3), T.BOOL)
INT8 = ((2, 3), T.INT8, {"scale": 0.5, "zero_point": 3})
INT16 = ((2, 3), T.INT16, {"scale": 0.25, "zero_point": 0})
CONSTANT = ((2, 3), T.INT32, {"data": [1] * 6})
COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
UNARY_FLOATS = ("ABS", "SIN", "COS", "LOG", "SQRT", "RSQRT", "SQUARE", "EXP", "NEG", "CEIL", "FLOOR", "ROUND")

ACCEPTED = [
    *((op, [FLOATS, FLOATS], [BOOLS]) for op in COMPARISONS),
    *((op, [INT8, INT8], [BOOLS]) for op in COMPARISONS),
    ("EQUAL", [INTS, CONSTANT], [BOOLS]),
    *((op, [BOOLS, BOOLS], [BOOLS]) for op in ("LOGICAL_AND", "LOGICAL_OR")),
    ("LOGICAL_NOT", [BOOLS], [BOOLS]),
    *((op, [FLOATS], [FLOATS]) for op in UNARY_FLOATS),
    *((op, [INT8], [INT8]) for op in ("ABS", "RSQRT", "SIN", "NEG", "FLOOR", "LOGICAL_NOT")),
    ("ABS", [INT16], [INT16]),
    ("ABS", [((4,), T.INT16)], [((4,), T.INT16)]),
    ("RSQRT", [((4,), T.INT8, {"scale": 0.0})], [((4,), T.INT8, {"scale": 0.0})]),
    *((op, [INTS, CONSTANT], [INTS]) for op in ("FLOOR_DIV", "FLOOR_MOD")),
    *(("CAST", [source], [output]) for source in (FLOATS, INTS, BOOLS) for output in (FLOATS, INT8, INT16, BOOLS)),
    ("CAST", [((2, 8), T.FLOAT8_E4M3FN)], [INT8]),
    ("NEG", [((2, 8), T.FLOAT8_E5M2)], [((2, 8), T.FLOAT8_E5M2)]),
    *(("QUANTIZE", [source], [output]) for source in (FLOATS, INTS, INT8, INT16) for output in (INT8, INT16)),
    ("QUANTIZE", [FLOATS], [((2, 3), T.UINT8, {"scale": 0.5})]),
    *(("DEQUANTIZE", [source], [FLOATS]) for source in (INT8, INT16, ((2, 3), T.UINT8))),
    ("DEQUANTIZE", [((4,), T.INT8, {"data": [1, 2, 3, 4], "scale": [0.5] * 4})], [((4,), T.FLOAT32)]),
]

REFUSED = [
    ("LESS", [None, INTS], [BOOLS]),
    ("LESS", [INTS], [BOOLS]),
    ("SIN", [FLOATS, FLOATS], [FLOATS]),
    ("LOG", [FLOATS], [INT8]),
    ("ABS", [((4,), T.INT8)], [((4,), T.INT8)]),
    ("ABS", [((4,), T.INT16, {"scale": 1.0, "zero_point": 5})], [((4,), T.INT16, {"scale": 1.0})]),
    ("CEIL", [FLOATS], [((3, 2), T.FLOAT32)]),
    ("ROUND", [FLOATS], [((6,), T.FLOAT32)]),
    ("EXP", [FLOATS], [((2, 4), T.FLOAT32)]),
    ("FLOOR_DIV", [INTS, FLOATS], [INTS]),
    ("FLOOR_MOD", [INTS], [INTS]),
    ("CAST", [FLOATS, FLOATS], [INTS]),
    ("QUANTIZE", [FLOATS], [((2, 3), T.INT8)]),
    ("QUANTIZE", [FLOATS], [((2, 3), T.INT8, {"scale": [0.5, 0.5]})]),
    ("QUANTIZE", [BOOLS], [INT8]),
    ("DEQUANTIZE", [((2, 3), T.FLOAT16)], [FLOATS]),
    ("DEQUANTIZE", [INT8], [INTS]),
]


@pytest.mark.parametrize(("op", "inputs", "outputs"), ACCEPTED)
def test_accepted_nodes_take_the_same_bytes(same_as_wheel, one_op, op, inputs, outputs):
    assert same_as_wheel(one_op(op, inputs, outputs)).status == "ok"


@pytest.mark.parametrize(("op", "inputs", "outputs"), REFUSED)
def test_refused_nodes_print_the_same(same_as_wheel, one_op, op, inputs, outputs):
    assert same_as_wheel(one_op(op, inputs, outputs)).status == "error"


@pytest.mark.parametrize("scale", [None, 1.0, 0.0, -0.5])
def test_int8_comparisons_outside_of_scales_0_to_1_abort(same_as_wheel, one_op, scale):
    bad = ((2, 3), T.INT8, {"scale": scale})
    assert same_as_wheel(one_op("GREATER", [INT8, bad], [BOOLS])).status == "abort"


def test_an_unknown_type_in_the_options_of_cast_is_refused(same_as_wheel, one_op):
    assert same_as_wheel(one_op("CAST", [FLOATS], [INTS], options={"in_data_type": 99})).status == "error"


@pytest.mark.parametrize(("op", "input_count", "output_count", "status"), [
    ("LESS", None, 1, "abort"),   # taking a tensor reads the vector's length
    ("CEIL", 1, None, "abort"),
    ("SIN", None, 1, "error"),    # NumInputs() and NumOutputs() know null pointers
    ("SIN", 1, None, "error"),
    ("NEG", None, None, "ok"),
])  # fmt: skip
def test_a_node_without_a_vector_of_operands(same_as_wheel, op, input_count, output_count, status):
    builder = ModelBuilder()
    x, y, other = (builder.tensor((4,), T.FLOAT32) for _ in range(3))
    builder.operator(op, input_count and [x] * input_count, output_count and [y] * output_count)
    assert same_as_wheel(builder.build(inputs=[x, other], outputs=[other])).status == status
