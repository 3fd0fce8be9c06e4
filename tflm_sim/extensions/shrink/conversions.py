"""The lines of C and Python that compute what a QUANTIZE or DEQUANTIZE at the ends of a model computes, byte by byte.

``--int8-io`` takes such an operator out of the model; the firmware runs these lines in its place. The Python lines are
also what ``--prove`` runs (``wheel_worker``, ``prove_program``), so that what is shown is what was proved.

A float32 is divided by the scale as a float32 and rounded half away from zero; integers are multiplied by a multiplier
of 31 bits, rounded twice. Beyond 2^31 steps TFLM's own cast is undefined, and so are these lines.

Source: reference/quantize.h AffineQuantize, reference/requantize.h, reference/dequantize.h, kernels/internal/common.cc
MultiplyByQuantizedMultiplier (without TFLITE_SINGLE_ROUNDING), kernels/internal/quantization_util.cc QuantizeMultiplier
@ 90b983c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tflm_sim.model.element_types import C_TYPES, ELEMENT_BITS, INTEGER_LIMITS
from tflm_sim.model.types import TensorType

INNER = frozenset({TensorType.INT8, TensorType.UINT8, TensorType.INT16})
"""Types that an input or output may have once its QUANTIZE or DEQUANTIZE is gone."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What an element's bytes say: a ``TensorType``, and for integers the scale (a float32) and the zero point."""

    type: int
    scale: float = 1.0
    zero_point: int = 0


def operator_between(outer: Numbers, inner: Numbers, *, is_input: bool) -> str | None:
    """Return which operator converts an input or output, None where no lines here do what it does.

    Args:
        outer: The input or output as it is in the original.
        inner: What the operator makes of the input, or makes the output of; no wider than ``outer``.
        is_input: Which of the two it is.
    """
    known = {TensorType.FLOAT32, *INNER} | ({TensorType.INT32} if not is_input else set())
    if inner.type not in INNER or outer.type not in known or ELEMENT_BITS[inner.type] > ELEMENT_BITS[outer.type]:
        return None
    source, target = (outer, inner) if is_input else (inner, outer)
    if TensorType.FLOAT32 in (source.type, target.type):
        return "QUANTIZE" if is_input else "DEQUANTIZE"
    _, shift = _multiplier(source.scale / target.scale)
    # TFLM shifts an int32 to the left first.
    return "QUANTIZE" if shift <= 30 - ELEMENT_BITS[source.type] else None


def c_lines(name: str, source: Numbers, target: Numbers) -> tuple[str, ...]:
    """Return a C function of one element; ``stdint.h`` and ``math.h`` are included by whoever uses it."""
    head = f"static inline {C_TYPES[target.type]} {name}({C_TYPES[source.type]} x) {{"
    if target.type == TensorType.FLOAT32:
        return head, f"    return {_float(source.scale)}f * (float)({_minus('x', source.zero_point)});", "}"
    low, high = INTEGER_LIMITS[target.type]
    if source.type == TensorType.FLOAT32:
        body = [f"    int32_t q = {_plus(f'(int32_t)roundf(x / {_float(target.scale)}f)', target.zero_point)};"]
    else:
        body = _c_integers(source, target)
    if target.type == TensorType.INT32:
        return (head, *body, "    return q;", "}")
    return (head, *body, f"    return ({C_TYPES[target.type]})(q < {low} ? {low} : q > {high} ? {high} : q);", "}")


def python_lines(name: str, source: Numbers, target: Numbers) -> tuple[str, ...]:
    """Return a Python function of a numpy array; numpy is imported as ``np`` by whoever uses it."""
    head = f"def {name}(x):"
    if target.type == TensorType.FLOAT32:
        steps = _minus("np.asarray(x, np.int32)", source.zero_point)
        return head, f"    return np.float32({_float(source.scale)}) * ({steps}).astype(np.float32)"
    low, high = INTEGER_LIMITS[target.type]
    if source.type == TensorType.FLOAT32:
        body = [
            f"    q = (np.asarray(x, np.float32) / np.float32({_float(target.scale)})).astype(np.float64)",
            "    q = np.sign(q) * np.floor(np.abs(q) + 0.5)  # half away from zero; np.round() goes to even",
        ]
    else:
        body = _python_integers(source, target)
    shifted = _plus("q", target.zero_point)
    dtype = f"np.{TensorType(target.type).name.lower()}"
    return (head, *body, f"    return np.clip({shifted}, {low}, {high}).astype({dtype})")


def _c_integers(source: Numbers, target: Numbers) -> list[str]:
    multiplier, shift = _multiplier(source.scale / target.scale)
    steps = _minus("x", source.zero_point)
    if (multiplier, shift) == (2**30, 1):
        return [f"    int32_t q = {_plus(steps, target.zero_point)};"]
    left, right = max(shift, 0), max(-shift, 0)
    mask = (1 << right) - 1
    rounded = f"(h >> {right}) + ((h & {mask}) > {mask >> 1} + (h < 0))" if right else "h"
    return [
        f"    int64_t p = (int64_t)(({steps}) * {1 << left}) * {multiplier};",
        "    int32_t h = (int32_t)((p + (p >= 0 ? 1073741824 : -1073741823)) / 2147483648);",
        f"    int32_t q = {_plus(rounded, target.zero_point)};",
    ]


def _python_integers(source: Numbers, target: Numbers) -> list[str]:
    multiplier, shift = _multiplier(source.scale / target.scale)
    steps = _minus("np.asarray(x, np.int64)", source.zero_point)
    if (multiplier, shift) == (2**30, 1):
        return [f"    q = {steps}"]
    left, right = max(shift, 0), max(-shift, 0)
    mask = (1 << right) - 1
    body = [
        f"    p = ({steps}) * {(1 << left) * multiplier}",
        "    q = np.where(p >= 0, (p + 2**30) >> 31, -((2**30 - 1 - p) >> 31))",
    ]
    return body + ([f"    q = (q >> {right}) + ((q & {mask}) > {mask >> 1} + (q < 0))"] if right else [])


def _multiplier(ratio: float) -> tuple[int, int]:
    """Return ``QuantizeMultiplier``: a multiplier of 31 bits and its left shift, for a positive ratio."""
    fraction, shift = math.frexp(ratio)
    fixed = math.floor(fraction * 2**31 + 0.5)
    if fixed == 2**31:
        fixed, shift = 2**30, shift + 1
    return (fixed, shift) if shift >= -31 else (0, 0)


def _float(value: float) -> str:
    """Return nine digits of a float32, which say it exactly, with a point or an exponent, as C wants it."""
    text = f"{value:.9g}"
    return text if any(letter in text for letter in ".e") else f"{text}.0"


def _plus(text: str, number: int) -> str:
    return text if not number else f"{text} {'+' if number > 0 else '-'} {abs(number)}"


def _minus(text: str, number: int) -> str:
    return _plus(text, -number)
