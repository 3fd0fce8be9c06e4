"""ABS, RSQRT, SIN ..., CEIL, ROUND, EXP, and the four that prepare nothing."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.reference import REFERENCE

KERNELS = "tensorflow/lite/micro/kernels/"
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]
FLOATS = ((2, 3), T.FLOAT32)
INT8 = ((2, 3), T.INT8)
QUANTIZED = ((2, 3), T.INT8, {"scale": 0.5, "zero_point": 3})


@pytest.mark.parametrize("op", ["SIN", "COS", "LOG", "SQRT", "SQUARE", "CEIL", "ROUND", "EXP"])
def test_a_float_in_and_a_float_out_are_looked_at_and_freed(kernel, op):
    bench = kernel(op, [FLOATS], [FLOATS])
    assert bench.model.init is None
    assert bench.prepare() == IN_OUT


@pytest.mark.parametrize("op", ["LOGICAL_NOT", "SIN", "SQRT", "ABS", "RSQRT"])
@pytest.mark.parametrize("type_", [T.BOOL, T.FLOAT32, T.INT32, T.UINT8])
def test_prepare_accepts_every_type(kernel, op, type_):
    assert kernel(op, [((4,), type_)], [((4,), type_)]).prepare() == IN_OUT


@pytest.mark.parametrize("op", ["NEG", "FLOOR", "LOGICAL_AND", "LOGICAL_OR"])
def test_operators_without_init_and_prepare_ask_for_nothing(op):
    assert (REFERENCE[op].builtin_data, REFERENCE[op].init, REFERENCE[op].prepare) == (None, None, None)


@pytest.mark.parametrize(("op", "tensor"), [
    ("ABS", FLOATS), ("ABS", QUANTIZED), ("ABS", ((4,), T.INT16)), ("ABS", ((4,), T.INT16, {"scale": 1.0})),
    ("RSQRT", FLOATS), ("RSQRT", QUANTIZED), ("RSQRT", ((4,), T.INT8, {"scale": 0.0})),
])  # fmt: skip
def test_abs_and_rsqrt_have_op_data(kernel, op, tensor):
    bench = kernel(op, [tensor], [tensor])
    # Four ints, a bool padded to 4, and two enums of 4 bytes: 16 + 4 + 8.
    assert bench.init() == ["persistent 28 elementwise.OpDataAbsRsqrt"]
    assert bench.prepare() == IN_OUT


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("SIN", [FLOATS, FLOATS], [FLOATS], "elementwise.cc:81 NumInputs(node) != 1 (2 != 1)"),
    ("SIN", [FLOATS], [], "elementwise.cc:82 NumOutputs(node) != 1 (0 != 1)"),
    ("COS", [None], [FLOATS], "elementwise.cc:85 input != nullptr was not true."),
    ("LOG", [FLOATS], [INT8], "elementwise.cc:89 input->type != output->type (FLOAT32 != INT8)"),
    ("ABS", [], [FLOATS], "elementwise.cc:105 NumInputs(node) != 1 (0 != 1)"),
    ("ABS", [FLOATS], [FLOATS, FLOATS], "elementwise.cc:106 NumOutputs(node) != 1 (2 != 1)"),
    ("ABS", [None], [FLOATS], "elementwise.cc:108 input != nullptr was not true."),
    ("ABS", [FLOATS], [INT8], "elementwise.cc:111 input->type != output->type (FLOAT32 != INT8)"),
    ("ABS", [INT8], [QUANTIZED],
     "elementwise.cc:130 input->quantization.type != kTfLiteAffineQuantization (0 != 1)"),
    ("ABS", [QUANTIZED], [INT8],
     "elementwise.cc:132 output->quantization.type != kTfLiteAffineQuantization (0 != 1)"),
    ("CEIL", [None, None], [], "ceil.cc:35 input != nullptr was not true."),
    ("CEIL", [FLOATS, FLOATS], [FLOATS], "ceil.cc:39 NumInputs(node) != 1 (2 != 1)"),
    ("CEIL", [INT8], [INT8], "ceil.cc:41 input->type != kTfLiteFloat32 (INT8 != FLOAT32)"),
    ("CEIL", [FLOATS], [INT8], "ceil.cc:42 output->type != input->type (INT8 != FLOAT32)"),
    ("CEIL", [FLOATS], [((2, 4), T.FLOAT32)], "ceil.cc:43 output->bytes != input->bytes (32 != 24)"),
    ("CEIL", [FLOATS], [((6,), T.FLOAT32)], "ceil.cc:44 output->dims->size != input->dims->size (1 != 2)"),
    ("CEIL", [FLOATS], [((3, 2), T.FLOAT32)],
     "ceil.cc:46 output->dims->data[i] != input->dims->data[i] (3 != 2)"),
    ("ROUND", [FLOATS], [FLOATS, FLOATS], "round.cc:39 NumOutputs(node) != 1 (2 != 1)"),
    ("ROUND", [FLOATS], [((3, 2), T.FLOAT32)],
     "round.cc:45 output->dims->data[i] != input->dims->data[i] (3 != 2)"),
    ("EXP", [], [FLOATS], "exp.cc:33 NumInputs(node) != 1 (0 != 1)"),
    ("EXP", [((4,), T.FLOAT16)], [((4,), T.FLOAT16)],
     "exp.cc:41 input->type != kTfLiteFloat32 (FLOAT16 != FLOAT32)"),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("inputs", "line", "name"), [((1, 0), 149, "input"), ((0, 2), 150, "output")])
def test_quantized_int16_abs_refuses_a_zero_point(kernel, inputs, line, name):
    source, output = (((4,), T.INT16, {"scale": 1.0, "zero_point": zero}) for zero in inputs)
    value = max(inputs)
    expected = f"{KERNELS}elementwise.cc:{line} op_data->{name}_offset != 0 ({value} != 0)"
    assert kernel("ABS", [source], [output]).refusal() == expected


def test_a_full_temp_section_is_a_missing_tensor(kernel):
    assert kernel("EXP", [FLOATS], [FLOATS], refuse="temp 1").refusal() == (
        KERNELS + "exp.cc:40 output != nullptr was not true."
    )
