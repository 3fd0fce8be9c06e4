"""ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, ADD_N, MAXIMUM, MINIMUM and BATCH_MATMUL in real TFLM (pip tflite-micro)."""

from __future__ import annotations

from itertools import product

import pytest

from tflm_sim.model.types import TensorType as T

TYPES = (T.FLOAT32, T.INT8, T.INT16, T.UINT8, T.INT32, T.INT64)
BINARY = ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "ADD_N", "MAXIMUM", "MINIMUM")
FUSED = ("ADD", "SUB", "MUL", "DIV")


def tensor(shape, type_, scale=0.5, zero_point=0):
    return (shape, type_, {} if scale is None else {"scale": scale, "zero_point": zero_point})


@pytest.mark.parametrize(("op", "type_", "scale"), list(product(BINARY, TYPES, (0.5, None))))
def test_one_type(same_as_wheel, one_op, op, type_, scale):
    operand = tensor((2, 8), type_, scale)
    same_as_wheel(one_op(op, [operand, operand], [operand]))


@pytest.mark.parametrize("op", BINARY)
def test_broadcasts_mixes_and_counts(same_as_wheel, one_op, op):
    floats, int8, int16 = (tensor((2, 8), type_) for type_ in (T.FLOAT32, T.INT8, T.INT16))
    same_as_wheel(one_op(op, [floats, tensor((8,), T.FLOAT32)], [floats]))
    same_as_wheel(one_op(op, [int8, tensor((), T.INT8)], [int8]))
    same_as_wheel(one_op(op, [floats, int8], [floats]))
    same_as_wheel(one_op(op, [int8, int8], [floats]))
    same_as_wheel(one_op(op, [floats, floats, floats], [floats]))
    same_as_wheel(one_op(op, [int8, tensor((2, 8), T.INT8, 0.25, 3)], [int8]))
    same_as_wheel(one_op(op, [int16, tensor((2, 8), T.INT16, 0.5, 3)], [int16]))
    if op not in ("MAXIMUM", "MINIMUM"):
        same_as_wheel(one_op(op, [floats, None], [floats]))


@pytest.mark.parametrize(("op", "activation"), list(product(FUSED, ("RELU", "RELU6", "RELU_N1_TO_1", "TANH"))))
def test_fused_activations(same_as_wheel, one_op, op, activation):
    options = {"fused_activation_function": activation}
    for type_ in (T.FLOAT32, T.INT8, T.INT16, T.INT32):
        operand = tensor((2, 8), type_, None if type_ == T.INT32 else 0.5)
        assert same_as_wheel(one_op(op, [operand, operand], [operand], options=options)).status in ("ok", "error")
    tiny = tensor((2, 8), T.INT8, 2.0**-29)
    operand = tensor((2, 8), T.INT8, 2.0**-20)
    same_as_wheel(one_op(op, [operand, operand], [tiny], options=options))


@pytest.mark.parametrize("op", ["ADD", "SUB", "SQUARED_DIFFERENCE", "ADD_N"])
def test_scales_of_zero_end_the_process(same_as_wheel, one_op, op):
    zero, half = tensor((2, 8), T.INT8, 0.0), tensor((2, 8), T.INT8)
    assert same_as_wheel(one_op(op, [zero, zero], [half])).status == "abort"


@pytest.mark.parametrize("count", [2, 3, 7])
def test_add_n_with_many_inputs(same_as_wheel, one_op, count):
    for type_ in (T.FLOAT32, T.INT8):
        operand = tensor((2, 8), type_)
        assert same_as_wheel(one_op("ADD_N", [operand] * count, [operand])).status == "ok"


SHAPES = [
    ((2, 3), (3, 4), (2, 4)), ((5, 2, 3), (3, 4), (5, 2, 4)), ((1, 5, 2, 3), (6, 1, 3, 4), (6, 5, 2, 4)),
    ((3, 3), (3, 3), (1, 3, 3)), ((3, 3), (3, 3), (9,)), ((3, 3), (3, 3), (3, 4)), ((2, 3, 3), (4, 3, 3), (4, 3, 3)),
    ((3,), (3, 3), (3,)), ((1, 1, 1, 1, 3, 3), (3, 3), (3, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("shapes", "adjoint"), list(product(SHAPES, product((False, True), repeat=2))))
def test_batch_matmul_shapes(same_as_wheel, one_op, shapes, adjoint):
    lhs, rhs, output = (tensor(shape, T.INT8) for shape in shapes)
    options = {"adj_x": adjoint[0], "adj_y": adjoint[1]}
    same_as_wheel(one_op("BATCH_MATMUL", [lhs, rhs], [output], options=options))


@pytest.mark.parametrize("types", list(product((T.FLOAT32, T.INT8, T.INT16, T.INT32), repeat=3)))
def test_batch_matmul_types(same_as_wheel, one_op, types):
    lhs, rhs, output = (tensor((3, 3), type_) for type_ in types)
    ours = same_as_wheel(one_op("BATCH_MATMUL", [lhs, rhs], [output]))
    assert ours.status == ("ok" if len(set(types)) == 1 and T.INT32 not in types else "error")


def test_batch_matmul_quantization_that_is_refused(same_as_wheel, one_op):
    good = tensor((3, 3), T.INT16)
    bad = tensor((3, 3), T.INT16, 0.5, 1)
    for tensors in (
        (bad, good, good),
        (good, bad, good),
        (good, good, bad),
        (tensor((3, 3), T.INT16, -0.5), good, good),
    ):
        assert same_as_wheel(one_op("BATCH_MATMUL", tensors[:2], tensors[2:])).status == "error"
