"""The pools, SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION and activations do the same in real TFLM (pip tflite-micro)."""

from __future__ import annotations

from itertools import product

import pytest

from tflm_sim.model.types import TensorType as T

TYPES = (T.FLOAT32, T.INT8, T.INT16, T.UINT8, T.INT32)
TWO_BY_TWO = {"stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}


def tensor(shape, type_, scale=0.5, zero_point=0):
    return (shape, type_, {"scale": scale, "zero_point": zero_point})


@pytest.mark.parametrize(
    ("op", "type_", "padding"),
    list(product(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), TYPES, ("SAME", "VALID"))),
)
def test_pools(same_as_wheel, one_op, op, type_, padding):
    options = {"padding": padding, **TWO_BY_TWO, "fused_activation_function": "RELU6"}
    # SAME: ceil(9 / 2) = 5 rows; VALID: 4.
    output = tensor((1, 5 if padding == "SAME" else 4, 4, 4), type_)
    ours = same_as_wheel(one_op(op, [tensor((1, 9, 8, 4), type_)], [output], options=options))
    supported = (T.FLOAT32,) if op == "L2_POOL_2D" else (T.FLOAT32, T.INT8, T.INT16)
    assert ours.status == ("ok" if type_ in supported else "error")


@pytest.mark.parametrize(("scale", "zero_point", "type_"), [(0.25, 0, T.INT8), (0.5, 1, T.INT8), (0.5, 0, T.FLOAT32)])
def test_a_pool_that_would_rescale(same_as_wheel, one_op, scale, zero_point, type_):
    output = tensor((1, 4, 4, 4), type_, scale, zero_point)
    same_as_wheel(one_op("MAX_POOL_2D", [tensor((1, 8, 8, 4), T.INT8)], [output], options=TWO_BY_TWO))


def test_l2_pool_of_other_ranks_and_counts(same_as_wheel, one_op):
    four, two = ((1, 8, 8, 4), T.FLOAT32), ((8, 8), T.FLOAT32)
    for inputs, outputs in (
        ([two], [four]),
        ([four], [two]),
        ([four, four], [four]),
        ([four], [((1, 4, 4, 4), T.INT8)]),
    ):
        assert same_as_wheel(one_op("L2_POOL_2D", inputs, outputs, options=TWO_BY_TWO)).status == "error"


POT, QUANTIZED_SOFTMAX = 2.0**-15, (1 / 256, -128)
OUTPUTS = {
    ("LOGISTIC", T.INT8): QUANTIZED_SOFTMAX,
    ("LOGISTIC", T.INT16): (POT, 0),
    ("TANH", T.INT16): (POT, 0),
    ("SOFTMAX", T.INT8): QUANTIZED_SOFTMAX,
    ("SOFTMAX", T.INT16): (POT, 0),
    ("LOG_SOFTMAX", T.INT8): (1 / 16, 127),
}
UNARY = (
    "RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "ELU", "LOGISTIC", "TANH", "SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"
)  # fmt: skip
OPTIONS = {"SOFTMAX": {"beta": 1.0}, "LEAKY_RELU": {"alpha": 0.1}}


@pytest.mark.parametrize(("op", "type_"), list(product(UNARY, TYPES)))
def test_unary_operators(same_as_wheel, one_op, op, type_):
    source = tensor((2, 8), type_, 0.1)
    output = tensor((2, 8), type_, *OUTPUTS.get((op, type_), (0.1, 0)))
    same_as_wheel(one_op(op, [source], [output], options=OPTIONS.get(op)))


@pytest.mark.parametrize("op", UNARY)
def test_unary_operators_with_tensors_that_they_refuse(same_as_wheel, one_op, op):
    options = OPTIONS.get(op)
    source, wide = tensor((2, 8), T.INT8, 0.1), tensor((2, 8), T.INT16, 0.1, 5)
    for output in (tensor((2, 8), T.INT8, 0.2, 3), tensor((2, 8), T.FLOAT32), tensor((3, 8), T.INT8), wide):
        same_as_wheel(one_op(op, [source], [output], options=options))
        same_as_wheel(one_op(op, [wide], [output], options=options))
    same_as_wheel(one_op(op, [source, source], [source], options=options))
    same_as_wheel(one_op(op, [None], [source], options=options))


def test_softmax_of_int8_to_int16(same_as_wheel, one_op):
    output = tensor((2, 8), T.INT16, 1 / 65536, -32768)
    assert same_as_wheel(one_op("SOFTMAX", [tensor((2, 8), T.INT8)], [output], options={"beta": 1.0})).status == "ok"


@pytest.mark.parametrize("options", [None, {"beta": 1.0}])
def test_softmax_without_a_scale_ends_the_process(same_as_wheel, one_op, options):
    scale = 0.0 if options else 0.5
    output = tensor((2, 8), T.INT8, *QUANTIZED_SOFTMAX)
    assert (
        same_as_wheel(one_op("SOFTMAX", [tensor((2, 8), T.INT8, scale)], [output], options=options)).status == "abort"
    )


@pytest.mark.parametrize(("source", "alpha", "output"), [
    (T.FLOAT32, T.FLOAT32, T.FLOAT32), (T.INT8, T.INT8, T.INT8), (T.INT16, T.INT8, T.INT16),
    (T.INT16, T.INT16, T.INT16),
])  # fmt: skip
def test_prelu(same_as_wheel, one_op, source, alpha, output):
    inputs = [tensor((2, 8), source), tensor((8,), alpha)]
    ours = same_as_wheel(one_op("PRELU", inputs, [tensor((2, 8), output)]))
    assert ours.status == ("error" if alpha == T.INT16 else "ok")
