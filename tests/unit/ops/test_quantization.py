"""The arithmetic of scales as C does it, where it decides whether a kernel accepts a node."""

from __future__ import annotations

import math
import struct
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.reference.quantization import (
    check_product_scale,
    check_smaller_than_one,
    checked_log2,
    divide,
    ensure_activation_range,
    float32,
    quantize_multiplier,
    softmax_scaling,
    truncate_to_int32,
)

INF, NAN = math.inf, math.nan
KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.cc"


@pytest.fixture
def node(kernel):
    return lambda target="cortex-m4": kernel("RELU", [], [], target=target).node


@pytest.mark.parametrize(("value", "rounded"), [
    # The largest float is 2^128 - 2^104; half a step above it is infinity.
    (0.5, 0.5), (1e39, INF), (-1e39, -INF), (1e-60, 0.0), (2.0**128 - 2.0**103, INF),
    (2.0**128 - 2.0**104, 2.0**128 - 2.0**104),
])  # fmt: skip
def test_float32_rounds_as_the_hardware_does(value, rounded):
    assert float32(value) == rounded


@given(st.floats(width=32))
def test_a_32_bit_float_stays_what_it_is(value):
    assert struct.pack("<d", float32(value)) == struct.pack("<d", value)


@pytest.mark.parametrize(("a", "b", "quotient"), [
    (1.0, 4.0, 0.25), (1.0, 0.0, INF), (-1.0, 0.0, -INF), (1.0, -0.0, -INF), (INF, 0.0, INF), (1.0, INF, 0.0),
])  # fmt: skip
def test_division_follows_ieee_754(a, b, quotient):
    assert divide(a, b) == quotient


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (NAN, 0.0), (NAN, 1.0), (1.0, NAN), (INF, INF)])
def test_division_that_has_no_answer_gives_no_number(a, b):
    assert math.isnan(divide(a, b))


@pytest.mark.parametrize(("multiplier", "expected"), [
    (0.0, (0, 0)),
    (0.5, (2**30, 0)), (1.0, (2**30, 1)), (0.75, (3 * 2**29, 0)), (-0.5, (-(2**30), 0)),
    # Rounds up to 2^31, which does not fit: half of it and one more shift.
    (1.0 - 2.0**-33, (2**30, 1)),
    # Below 2^-31 a shift would leave nothing.
    (2.0**-32, (2**30, -31)), (2.0**-33, (0, 0)),
    (NAN, (0, 0)),
])  # fmt: skip
def test_quantize_multiplier(node, multiplier, expected):
    assert quantize_multiplier(node(), multiplier) == expected


@given(st.floats(min_value=2.0**-31, max_value=1e30))
def test_a_quantized_multiplier_is_the_multiplier_to_31_bits(multiplier):
    fixed, shift = quantize_multiplier(None, multiplier)  # finite: the target does not matter
    assert 2**30 <= fixed < 2**31
    assert math.isclose(math.ldexp(fixed, shift - 31), multiplier, rel_tol=2.0**-30)


def test_infinite_multipliers_become_what_the_compiler_makes_of_them(node):
    assert [quantize_multiplier(node("cortex-m4"), value)[0] for value in (INF, -INF)] == [-1, 1]
    assert [quantize_multiplier(node("x86_64"), value)[0] for value in (INF, -INF)] == [0, 0]


@pytest.mark.parametrize(("value", "x86", "arm"), [
    (1.9, 1, 1), (-1.9, -1, -1), (2.0**31 - 1, 2**31 - 1, 2**31 - 1), (-(2.0**31), -(2**31), -(2**31)),
    (2.0**31, -(2**31), 2**31 - 1), (-1e20, -(2**31), -(2**31)), (INF, -(2**31), 2**31 - 1), (NAN, -(2**31), 0),
])  # fmt: skip
def test_a_cast_to_int_beyond_its_range_depends_on_the_machine(node, value, x86, arm):
    assert truncate_to_int32(node("i386"), value) == truncate_to_int32(node("x86_64"), value) == x86
    assert truncate_to_int32(node("cortex-m4"), value) == arm


def test_multipliers_that_should_be_below_one():
    check_smaller_than_one(0.5, 1e-30, 1.0 - 2.0**-30)
    for bad in (0.0, 1.0, -0.5, NAN, INF, 1.0 - 2.0**-40):
        with pytest.raises(PrepareError) as caught:
            check_smaller_than_one(0.5, bad)
        assert caught.value.status == "abort"


def test_softmax_scaling_is_capped_at_31_bits(node):
    # 0.25 * 1.0 * 2^26 = 2^24: one half, and 25 shifts.
    assert softmax_scaling(node(), 0.25, 1.0) == (2**30, 25)
    assert softmax_scaling(node(), 1.0, 1e30) == (2**31 - 1, 31)
    for bad in (NAN, 0.0, 2.0**-26):
        with pytest.raises(PrepareError):
            softmax_scaling(node(), 1.0, bad)


@pytest.mark.parametrize(("value", "exponent"), [
    (1.0, 0), (2.0**-15, -15), (2.0**100, 100), (float32(2.0**-15 * 1.0005), -15), (float32(0.1), None), (3.0, None),
    (0.0, None), (-1.0, None), (NAN, None), (INF, None),
])  # fmt: skip
def test_checked_log2_takes_what_is_nearly_a_power_of_two(value, exponent):
    assert checked_log2(value) == exponent


@pytest.mark.parametrize(("activation", "type_", "scale", "error"), [
    (0, T.INT8, 0.0, None), (1, T.UINT8, 0.5, None), (2, T.INT16, 0.5, None), (3, T.INT8, 0.5, None),
    (5, T.INT8, 0.0, None),
    (0, T.FLOAT32, 0.5, ":405 false was not true."),
    (1, T.INT8, 0.0, ":349 no_integer_overflow_from_quantization was not true."),
    # 6 / 2^-29 = 3 * 2^30 is beyond 32 bits, 1 / 2^-29 is not; -1 / 2^-31 still fits.
    (3, T.INT8, 2.0**-29, ":349 no_integer_overflow_from_quantization was not true."),
    (2, T.INT8, 2.0**-29, None), (2, T.INT8, 2.0**-31, None),
    (2, T.INT8, 2.0**-32, ":349 no_integer_overflow_from_quantization was not true."),
    # 1 / scale is 2^31 + 64, whose float is 2^31, and 2^31 + 128 + 2^-17, whose float is 2^31 + 256.
    (2, T.INT8, 2.0**-31 * (1 - 2.0**-25), None),
    (2, T.INT8, 2.0**-31 * (1 - 2.0**-24), ":349 no_integer_overflow_from_quantization was not true."),
    (3, T.INT8, INF, None), (2, T.INT8, -0.5, None),
    (1, T.INT8, NAN, ":349 no_integer_overflow_from_quantization was not true."),
])  # fmt: skip
def test_activation_ranges(node, activation, type_, scale, error):
    if error is None:
        ensure_activation_range(node(), activation, type_, scale)
        return
    with pytest.raises(PrepareError) as caught:
        ensure_activation_range(node(), activation, type_, scale)
    assert caught.value.device_message == KERNEL_UTIL + error


@pytest.mark.parametrize(("scales", "is_valid"), [
    ((0.5, 0.5), True), ((0.0, -1.0), True), ((-0.5, -0.5), True), ((0.5, -0.5), False), ((NAN, 0.5), False),
    ((1e-30, -1e-30), True),
])  # fmt: skip
def test_a_product_of_scales_must_not_be_negative(node, scales, is_valid):
    with nullcontext() if is_valid else pytest.raises(PrepareError):
        check_product_scale(node(), *scales)
