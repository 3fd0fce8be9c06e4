"""Kernels that add, subtract and multiply: which scales and zero points they take, and products of constants.

Source: tflite/kernels/{add,sub,mul,squared_difference}.cc, tflite/kernels/internal/quantization_util.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, Shape, checked_log2, values_of
from tflm_sim.extensions.lite.kernels.scales import check_activation
from tflm_sim.model.element_types import INTEGER_LIMITS, type_number
from tflm_sim.units import float32

_BYTES = (t.INT8, t.UINT8)
_NAMES = ("input1", "input2", "output")


def binary_shape(call: PrepareCall) -> Shape:
    """Return the shape that the two inputs broadcast to."""
    one, other = call.input(0), call.input(1)
    return one.shape if one.shape == other.shape else call.broadcast(one, other)


def _powers_of_two(tensors: Iterable[TfLiteTensor]) -> list[int]:
    """Return log2 of the scales; [] where one is no power of two."""
    powers = [checked_log2(tensor.scale) for tensor in tensors]
    exact = [power for power in powers if power is not None]
    return exact if len(exact) == len(powers) else []


def add(call: PrepareCall) -> None:
    """ADD and SUB: 16-bit values are symmetric, and may need scales that are powers of two."""
    one, other, output = call.operands(2)
    call.same_type(one, other, "input1", "input2")
    output.type = other.type
    shape = binary_shape(call)
    is_difference = call.source == "sub.cc"
    is_short = one.type == t.INT16 and (one.is_quantized or is_difference)
    tensors = (one, other, output)
    if is_short:
        # In sub.cc the function for powers of two, which asks for the same, stands before this check.
        call.zero_points(**dict(zip(_NAMES, tensors, strict=True)), number=0 if is_difference else 1)
    powers = _powers_of_two(tensors) if call.option("pot_scale_int16") else []
    if output.type in _BYTES or (is_short and not powers):
        _check_sum(call, one, other, output)
    elif is_short:
        _check_shifts(call, powers)
    call.resize(output, shape)


def _check_sum(call: PrepareCall, one: TfLiteTensor, other: TfLiteTensor, output: TfLiteTensor) -> None:
    is_difference = call.source == "sub.cc"
    if is_difference:
        _check_zero_points(call, one, other, output)
    whole, shifted = _rescaled(one, other, output, 15 if output.type == t.INT16 else 20)
    is_fraction = whole < shifted < math.inf
    # Only a difference may be multiplied with more, even with infinity; -0.0 makes that negative.
    is_larger = is_difference and 0 <= shifted < whole and math.copysign(1, shifted) > 0
    if not (is_fraction or is_larger):
        raise _no_fraction()
    check_activation(call, output)


def _rescaled(one: TfLiteTensor, other: TfLiteTensor, output: TfLiteTensor, left_shift: int) -> tuple[float, float]:
    """Return twice the larger scale of the inputs and the shifted one of the output, whose quotient is a multiplier.

    The machine has both in 32 bits. The process ends where an input's scale is not above 0, or too large for that.
    """
    whole = float32(2 * max(one.scale, other.scale))
    if not (one.scale > 0 and other.scale > 0 and whole < math.inf):
        raise _no_fraction()
    return whole, float32((1 << left_shift) * output.scale)


def _no_fraction() -> PrepareError:
    return PrepareCall.abort("the scales make a multiplier that is not between 0 and 1")


def _check_zero_points(call: PrepareCall, one: TfLiteTensor, other: TfLiteTensor, output: TfLiteTensor) -> None:
    low, high = INTEGER_LIMITS[output.type]
    for name, tensor in zip(_NAMES, (one, other, output), strict=True):
        call.ensure(tensor.zero_point >= low, f"{name}_quantization_params.zero_point >= integer_type_min")
        call.ensure(tensor.zero_point <= high, f"{name}_quantization_params.zero_point <= integer_type_max")


def _check_shifts(call: PrepareCall, powers: list[int]) -> None:
    """Refuse scales of which the kernel would have to shift both inputs, or one to the left."""
    one, other = (power - powers[2] for power in powers[:2])
    call.ensure(one == 0 or other == 0, "data->input1_shift == 0 || data->input2_shift == 0")
    call.ensure(one <= 0, "data->input1_shift <= 0")
    call.ensure(other <= 0, "data->input2_shift <= 0")
    check_activation(call, call.output())


def squared_difference(call: PrepareCall) -> None:
    one, other, output = call.operands(2)
    call.same_type(one, other, "input1", "input2")
    output.type = one.type
    if one.type == t.INT8:
        _check_zero_points(call, one, other, output)
        whole, shifted = _rescaled(one, other, output, 14)
        if not whole * whole < shifted < math.inf:
            raise _no_fraction()
    call.resize(output, binary_shape(call))


_MULTIPLIED = (t.FLOAT32, t.FLOAT16, t.INT32, t.INT64, t.COMPLEX64, t.INT16, t.UINT32, t.UINT8, t.INT8)


def multiply(call: PrepareCall) -> None:
    """MUL: the product of two constants is a constant."""
    one, other, output = call.operands(2)
    call.same_type(one, other, "input1", "input2")
    if output.type == t.COMPLEX64 and call.activation:
        raise call.failure("Activation is not allowed for COMPLEX64 input.")
    shape = binary_shape(call)
    if output.type in _BYTES or (output.type == t.INT16 and output.is_quantized):
        check_activation(call, output)
    if one.is_known and other.is_known:
        call.store(output, shape, lambda: [0] * math.prod(shape))
        _check_constant_product(call, one, output)
        if output.type == one.type:
            call.store(output, shape, lambda: _product(one, other, shape, call.activation))
        return
    call.resize(output, shape)


def _check_constant_product(call: PrepareCall, one: TfLiteTensor, output: TfLiteTensor) -> None:
    if output.type not in _MULTIPLIED:
        names = "FLOAT32, COMPLEX32, INT8, INT16, INT32, INT64 and quantized UINT8"
        raise call.failure(f"Mul only supports {names} now, got {type_number(output.type)}.")
    is_plain = output.type not in _BYTES and not (output.type == t.INT16 and output.quantization is not None)
    if not is_plain and one.type != output.type and not (one.type == t.INT16 and output.type in _BYTES):
        raise call.failure("Unsupported combination of input and output types in Mul.")


def _product(one: TfLiteTensor, other: TfLiteTensor, shape: tuple[int, ...], activation: int) -> list[float]:
    """Return the products of two constants; of quantized ones, whose values decide no shape, zeros."""
    count = math.prod(shape)
    left, right = values_of(one), values_of(other)
    if one.quantization is not None or len(left) < one.elements or len(right) < other.elements:
        return [0] * count
    pairs = zip(spread(left, one.shape, shape), spread(right, other.shape, shape), strict=True)
    low, high = {1: (0, math.inf), 2: (-1, 1), 3: (0, 6)}.get(activation, (-math.inf, math.inf))
    return [min(max(x * y, low), high) for x, y in pairs]


def spread(values: tuple[float, ...], own: tuple[int, ...], shape: tuple[int, ...]) -> list[float]:
    """Return the values of a tensor of shape ``own``, broadcast to ``shape``."""
    sizes = (1,) * (len(shape) - len(own)) + own
    result = []
    for place in range(math.prod(shape)):
        index, step, rest = 0, 1, place
        for size, whole in zip(reversed(sizes), reversed(shape), strict=True):
            rest, at = divmod(rest, whole)
            index += (at if size > 1 else 0) * step
            step *= size
        result.append(values[index])
    return result
