"""Byte arithmetic and byte sizes in text. K and KiB are 1024; "KB" is refused, because people mean two things by it."""

from __future__ import annotations

import math
import re
import struct

from tflm_sim.errors import UsageError, expect, not_a

_SIZE = r"\s*(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)\s*"
_UNITS = {"": 1, "B": 1, "K": 1024, "KiB": 1024, "M": 1024**2, "MiB": 1024**2, "G": 1024**3, "GiB": 1024**3}

_FLOAT = struct.Struct("<f")


def align_up(value: int, alignment: int) -> int:
    """Return the smallest multiple of ``alignment`` that is not below ``value`` (any positive alignment)."""
    return -(-value // alignment) * alignment


def align_down(value: int, alignment: int) -> int:
    """Return the largest multiple of ``alignment`` that is not above ``value`` (any positive alignment)."""
    return value // alignment * alignment


def int32(value: int) -> int:
    """Return ``value`` as a C ``int`` holds it: the low 32 bits, signed."""
    return (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def float32(value: float) -> float:
    """Return ``value`` rounded to a 32-bit float."""
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def parse_size(text: str) -> int:
    """Return the bytes that ``text`` names: ``65536``, ``0x10000``, ``64K``, ``64KiB``, ``1.5M``.

    Raises:
        UsageError: Not a size, a unit that is ambiguous ("KB"), or not a whole number of bytes.
    """
    match = re.fullmatch(_SIZE, text)
    if match is None:
        raise UsageError(f"'{text}' is not a size; write bytes (65536, 0x10000) or K/KiB/M/MiB (64KiB)")
    number, unit = match["number"], match["unit"]
    if unit.lower() in ("kb", "mb", "gb"):
        raise UsageError(f"'{text}' is ambiguous: {unit} can mean 1000 or 1024; write {unit[0].upper()}iB (1024)")
    if unit not in _UNITS:
        raise UsageError(f"'{text}' has the unknown unit '{unit}'; use B, K, KiB, M, MiB, G or GiB")
    if number[:2] in ("0x", "0X"):
        return int(number, 16) * _UNITS[unit]
    whole, _, fraction = number.partition(".")
    numerator = int(whole + fraction) * _UNITS[unit]
    denominator: int = 10 ** len(fraction)
    size, rest = divmod(numerator, denominator)
    if rest:
        raise UsageError(f"'{text}' is not a whole number of bytes")
    return size


def as_size(given: int | str | None, name: str) -> int | None:
    """Return a size argument in bytes: a number, or text as :func:`parse_size` reads it; None stays None.

    Args:
        given: The argument.
        name: The argument's name, for messages.

    Raises:
        UsageError: It is not a size, or negative.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return parse_size(given)
    expected = f"{name} in bytes (65536) or as text ('64KiB')"
    if isinstance(given, bool):
        raise not_a(expected, given)
    expect(given, int, expected)
    size = given.__index__()
    if size < 0:
        raise UsageError(f"{name} of {size} bytes: the size must not be negative")
    return size


def format_size(size: int) -> str:
    """Return ``size`` bytes for people: ``1,068 B``, ``82,300 B (80.4 KiB)``."""
    if abs(size) < 10 * 1024:
        return f"{size:,} B"
    unit, divisor = ("KiB", 1024) if abs(size) < 1024**2 else ("MiB", 1024**2)
    return f"{size:,} B ({size / divisor:,.1f} {unit})"


def format_time(seconds: float) -> str:
    """Return seconds as "42 us", "1.5 ms" or "3.0 s"."""
    if seconds < 0.001:
        return f"{seconds * 1e6:,.0f} us"
    return f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"
