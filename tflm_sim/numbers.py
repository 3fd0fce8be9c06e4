"""Numbers that people write, in options, variables of the environment and names: the one place that reads them.

``sizes.py``, which reads sizes in bytes, is the other half. Python's own ``int`` and ``float`` take more than people
mean ("nan", "٣", "1_0") and raise for text of 4,301 digits; so only these two modules call them. The test
tests/test_gates.py finds any other call, and any option of such a type, in the modules that people's text goes through.
"""

from __future__ import annotations

import re

from tflm_sim.errors import UsageError

MOST = 10**18
"""The largest number, if nobody says a smaller one."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_SECONDS_OF = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "": 1}
"""By unit; one that ends another stands behind it."""
_SHOWN = 60


def as_whole(text: str) -> int | None:
    """Return the whole number that a text is, None for another text."""
    return int(text) if _WHOLE.fullmatch(text) else None


def whole(text: str, least: int = -MOST, most: int = MOST) -> int:
    """Return the whole number that a text is.

    Raises:
        UsageError: It is none, or not one from ``least`` to ``most``.
    """
    number = as_whole(text.strip())
    if number is None:
        raise _wrong(text, "a whole number")
    if not least <= number <= most:
        least_and_most = f"{least:,} to {most:,}" if most < MOST else f"at least {least:,}"
        raise UsageError(f"{number:,} is out of range: {least_and_most}")
    return number


def seconds(text: str) -> float:
    """Return the seconds of a time such as 60s, 500ms or 2m; a number alone is seconds.

    Raises:
        UsageError: It is no time.
    """
    number = text.strip()
    unit = next(unit for unit in _SECONDS_OF if number.endswith(unit))
    return _real(number[: len(number) - len(unit)].rstrip(), text, "a time; write 60s, 500ms or 2m") * _SECONDS_OF[unit]


def multiple(text: str) -> float:
    """Return a multiple: 1.10, or +10%.

    Raises:
        UsageError: It is none.
    """
    share = share_of(text)
    return _real(text.strip(), text, "a multiple; write 1.10 or +10%") if share is None else 1 + share


def share_of(text: str) -> float | None:
    """Return the share that a text such as "+10%" names, None for one of another form."""
    number = text.strip()
    if not (number.startswith("+") and number.endswith("%")):
        return None
    return _real(number[1:-1], text, "a share; write +10%") / 100


def _real(number: str, text: str, what: str) -> float:
    if not _REAL.fullmatch(number):
        raise _wrong(text, what)
    return float(number)


def _wrong(text: str, what: str) -> UsageError:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return UsageError(f"'{shown}' is not {what}")
