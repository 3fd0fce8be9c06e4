"""Reads single-line messages: failures, notes, and lines that are cut or torn."""

from __future__ import annotations

from tflm_sim.board.dialects.events import Damaged, LogEvent, Message
from tflm_sim.board.dialects.messages import BY_HEAD, MESSAGES, MessageKind, Role
from tflm_sim.board.prefixes import TextLine

# The smallest print buffer of upstream's debug_log ports; a longer line has lost its end there.
DEVICE_LINE_LIMIT = 255
# A line that agrees with a format for fewer characters than this, and reads no field, is somebody else's.
_LEAST_AGREEMENT = 32


def read_message(line: TextLine) -> LogEvent | None:
    """Return what the line says, or None when it is not one of ours.

    Of several kinds that fit, the longest wins: "... resolver size is too small (4)." is more than "is too small (4).".
    """
    best: tuple[int, MessageKind, dict[str, int | str], int] | None = None
    for row in MESSAGES:
        for template in row.templates:
            if (found := template.find(line.text)) is not None and (best is None or len(template.format) > best[0]):
                best = len(template.format), row, *found
    if best is None:
        return _read_cut(line)
    _, row, values, end = best
    if end == len(line.text) and _may_be_cut(line) and row.role is not Role.ALLOCATOR:
        values = _without_last_number(values)
    return _checked(row, values, line, cut=False)


def _may_be_cut(line: TextLine) -> bool:
    return not line.ended or len(line.text) >= DEVICE_LINE_LIMIT


def _without_last_number(values: dict[str, int | str]) -> dict[str, int | str]:
    names = list(values)
    return {name: values[name] for name in names[:-1]} if names and isinstance(values[names[-1]], int) else values


def _read_cut(line: TextLine) -> LogEvent | None:
    """Read a line that begins like a message: cut at its end, or torn by another task."""
    best: tuple[int, MessageKind, dict[str, int | str], bool] | None = None
    ambiguous = False
    for head, candidates in BY_HEAD.items():
        if head not in line.text:
            continue
        for row, template in candidates:
            found = template.find_cut(line.text)
            if found is None:
                continue
            values, length, at_end = found
            if best is None or length > best[0]:
                best, ambiguous = (length, row, values, at_end), False
            elif length == best[0] and row.kind != best[1].kind:
                ambiguous = True
    if best is None:
        return None
    length, row, values, at_end = best
    if not at_end and not values and length < _LEAST_AGREEMENT:
        return None
    if ambiguous or not at_end:
        reason = (
            "it is cut before it says what failed" if at_end else "it begins like a TFLM message and then is not one"
        )
        return Damaged(line.number, line.text, reason)
    return _checked(row, values, line, cut=True)


def _checked(row: MessageKind, values: dict[str, int | str], line: TextLine, *, cut: bool) -> LogEvent:
    """Refuse numbers that contradict each other: requested - available is what is missing, modulo 2^32."""
    triple = [values.get(name) for name in ("requested", "available", "missing")]
    numbers = [value for value in triple if isinstance(value, int)]
    if len(numbers) == 3 and (numbers[0] - numbers[1] - numbers[2]) % 2**32:
        return Damaged(line.number, line.text, f"{numbers[0]} - {numbers[1]} is not {numbers[2]}")
    return Message(line.number, row.kind, tuple(values.items()), cut, line.text)
