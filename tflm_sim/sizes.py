"""Sizes in bytes as people write them: one grammar for options, project files and Python's arguments.

    size   = shift                        a whole number of bytes, not negative
    shift  = sum     { "<<" sum }
    sum    = product { ("+" | "-") product }
    product = factor { "*" factor }
    factor = number [unit] | "(" shift ")" [unit]

That is C's order, so that what a sketch says is what is read: ``60 * 1024``, ``1 << 16``, ``(2 * 1024UL) + 512``. A
unit binds tighter than any operator, and case does not matter: ``64k``, ``64KiB``, ``1.5M``. K and KiB are 1024; "KB"
is refused, because people mean two things by it. Text and values are bounded, so that no text takes long.
"""

from __future__ import annotations

import re
from typing import overload

from tflm_sim.errors import UsageError, expect

MAX_SIZE = (1 << 63) - 1
"""Bytes; also of every value on the way."""
LEAST_LIMIT = 128
"""Bytes. No TFLM works in fewer, whatever the model: its allocator's own objects take more."""
_MAX_CHARACTERS = 100
_BITS = 63
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|[0-9]+(?:['_][0-9]+)*(?:\.[0-9]+)?)|(?P<unit>[A-Za-z]+)|(?P<sign><<|[-+*()]))"
)
_UNITS: dict[str, int] = {
    **dict.fromkeys(("", "B", "U", "L", "UL", "LU", "LL", "ULL", "LLU"), 1),
    **dict.fromkeys(("K", "KIB"), 1024),
    **dict.fromkeys(("M", "MIB"), 1024**2),
    **dict.fromkeys(("G", "GIB"), 1024**3),
}
"""By their names in capitals; U, L and their like are how C writes the type of a number."""
_BINDING = {"<<": 1, "+": 2, "-": 2, "*": 3}
"""An operator that binds tighter has a higher number."""
_EXAMPLES = "write bytes (65536, 60*1024, 1 << 16) or K/KiB/M/MiB (64KiB)"


class _Reader:
    """What is left to read of a text (mutable)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens()

    def _tokens(self) -> list[tuple[str, str]]:
        """Return the tokens, (kind, text), the last one first."""
        found, place, text = [], 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                raise self.wrong()
            found.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        return found[::-1]

    def wrong(self) -> UsageError:
        """Return the error for a text that the grammar does not have."""
        return UsageError(f"'{self.text}' is not a size; {_EXAMPLES}")

    def expression(self, binding: int = 0) -> int:
        """Read a value, and all operators behind it that bind tighter than ``binding``."""
        value = self._factor()
        while self.tokens and _BINDING.get(self.tokens[-1][1], 0) > binding:
            sign = self.tokens.pop()[1]
            other = self.expression(_BINDING[sign])
            if sign == "<<":
                if not 0 <= other <= _BITS:
                    raise self._too_large() if other > 0 else self.wrong()
                value <<= other
            else:
                value = value + other if sign == "+" else value - other if sign == "-" else value * other
            self._check(value)
        return value

    def _factor(self) -> int:
        kind, token = self.tokens.pop() if self.tokens else ("", "")
        if token == "(":
            whole, fraction = self.expression(), ""
            if not self.tokens or self.tokens.pop()[1] != ")":
                raise self.wrong()
        elif kind == "number":
            is_hex = token[:2] in ("0x", "0X")
            digits, _, fraction = token.replace("'", "").replace("_", "").partition(".")
            whole = int(digits, 16) if is_hex else int(digits + fraction)
        else:
            raise self.wrong()
        scale: int = 10 ** len(fraction)
        size, rest = divmod(whole * self._unit(), scale)
        if rest:
            raise UsageError(f"'{self.text}' is not a whole number of bytes")
        self._check(size)
        return size

    def _unit(self) -> int:
        """Read a unit where one stands, and return its bytes."""
        if not self.tokens or self.tokens[-1][0] != "unit":
            return 1
        unit = self.tokens.pop()[1]
        if unit.lower() in ("kb", "mb", "gb"):
            raise UsageError(
                f"'{self.text}' is ambiguous: {unit} can mean 1000 or 1024; write {unit[0].upper()}iB (1024)"
            )
        if unit.upper() not in _UNITS:
            raise UsageError(f"'{self.text}' has the unknown unit '{unit}'; use B, K, KiB, M, MiB, G or GiB")
        return _UNITS[unit.upper()]

    def _check(self, value: int) -> None:
        if abs(value) > MAX_SIZE:
            raise self._too_large()

    def _too_large(self) -> UsageError:
        return UsageError(f"'{self.text}' is more than any memory has; the largest size is 8,388,607 TiB")


def parse_size(text: str) -> int:
    """Return the bytes that ``text`` names: ``65536``, ``0x10000``, ``64K``, ``60*1024``, ``1 << 16``.

    Raises:
        UsageError: Not a size, a unit that is ambiguous ("KB"), not a whole number of bytes, negative or too large.
    """
    if len(text) > _MAX_CHARACTERS:
        raise UsageError(f"a text of {len(text):,} characters is not a size; {_EXAMPLES}")
    reader = _Reader(text)
    size = reader.expression()
    if reader.tokens or size < 0:
        raise reader.wrong()
    return size


def as_size(given: int | str | None, name: str) -> int | None:
    """Return a size argument in bytes: a number, or text as :func:`parse_size` reads it; None stays None.

    Args:
        given: The argument.
        name: The argument's name, for messages.

    Raises:
        UsageError: It is not a size, negative or too large.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return parse_size(given)
    size: int = expect(given, int, f"{name} in bytes (65536) or as text ('64KiB')")
    if size < 0:
        raise UsageError(f"{name} of {size} bytes: the size must not be negative")
    if size > MAX_SIZE:
        raise UsageError(f"{name} is more than any memory has; the largest size is 8,388,607 TiB")
    return size


@overload
def as_limit(given: int | str, name: str) -> int: ...


@overload
def as_limit(given: None, name: str) -> None: ...


@overload
def as_limit(given: int | str | None, name: str) -> int | None: ...


def as_limit(given: int | str | None, name: str) -> int | None:
    """Return the bytes that there are for an arena, as :func:`as_size`; one in which nothing can work is a mistake.

    Raises:
        UsageError: As :func:`as_size`, or no TFLM works in so few bytes: its unit was forgotten.
    """
    size = as_size(given, name)
    if size is not None and size < LEAST_LIMIT:
        meant = f"; did you mean `{name}={size}KiB`?" if size else ""
        raise UsageError(f"`{name}={size}`: no TFLM works in so few bytes{meant}")
    return size
