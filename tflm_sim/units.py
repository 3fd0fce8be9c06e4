"""Byte arithmetic, and sizes and times as people read them; ``sizes.py`` reads what people write."""

from __future__ import annotations

import math
import struct

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
