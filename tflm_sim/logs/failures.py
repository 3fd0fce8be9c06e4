"""Reads single-line messages: failures, notes, and lines that are cut or torn."""

from __future__ import annotations

from itertools import chain

from tflm_sim.logs.kernel_texts import find_kernel_text
from tflm_sim.logs.log_events import Damaged, LogEvent, Message
from tflm_sim.logs.message_kinds import MessageKind, Role, Values
from tflm_sim.logs.prefixes import TextLine, is_progress
from tflm_sim.logs.tflm_messages import BY_ANCHOR, BY_HEAD, MESSAGES

# The smallest print buffer of upstream's debug_log ports; a longer line has lost its end there.
DEVICE_LINE_LIMIT = 255
# A line that agrees with a format for fewer characters than this, and reads no field, is somebody else's.
_LEAST_AGREEMENT = 32
_GENERIC_KIND = "allocate_called"
_ELLIPSES = ".\N{HORIZONTAL ELLIPSIS} "
"""What people write for the beginning of a line that they leave out."""


_Found = tuple[int, int, MessageKind, Values | None]
"""Start, end and row of a message, and its fields; None for a line of that form that is no failure."""


def _longest_messages(text: str) -> list[_Found]:
    """Return the messages of a text: of those that overlap the longest, in any order."""
    found = [
        ((-len(template.format), values is None, place), (start, end, row, values))
        for anchor, templates in BY_ANCHOR.items()
        if anchor in text
        for place, row, template in templates
        for read, start, end in template.find_all(text)
        for values in [read if row.reads is None else row.reads(read)]
    ]
    chosen: list[_Found] = []
    for _, one in sorted(found, key=lambda each: each[0]):
        if all(one[1] <= other[0] or one[0] >= other[1] for other in chosen):
            chosen.append(one)
    return chosen


def read_messages(line: TextLine) -> list[LogEvent]:
    """Return the messages of a line, in order; [] when it has none of TFLM's.

    Of several kinds that fit at one place, the longest wins: "... resolver size is too small (4)." is more than "is too
    small (4).".
    """
    chosen = [] if is_progress(line.text) else _longest_messages(line.text)
    if all(row.kind == _GENERIC_KIND for _, _, row, _ in chosen):
        text = find_kernel_text(line.text)
        if text is not None:
            return [Message(line.number, "kernel_text", tuple(text._asdict().items()), cut=False, text=line.text)]
    if not chosen:
        cut = _read_cut(line) or _read_end(line)
        return [] if cut is None else [cut]
    known = sorted((each for each in chosen if each[3] is not None), key=lambda each: each[0])
    return [_whole(line, end, row, dict(values or {})) for _, end, row, values in known]


def _whole(line: TextLine, end: int, row: MessageKind, values: dict[str, int | str]) -> LogEvent:
    """Return a message that ends at ``end``; of one that may be cut there the last number is not believed."""
    may_be_cut = end == len(line.text) and (not line.ended or len(line.text) >= DEVICE_LINE_LIMIT)
    if may_be_cut and row.role is not Role.ALLOCATOR:
        names = list(values)
        if names and isinstance(values[names[-1]], int):
            values = {name: values[name] for name in names[:-1]}
    return _checked(row, values, line, cut=False)


_CUT, _TORN = "it is cut before it says what failed", "it begins like a TFLM message and then is not one"


def _read_cut(line: TextLine) -> LogEvent | None:
    """Read a line that begins like a message: cut at its end, or torn by another task."""
    candidates = chain.from_iterable(rows for head, rows in BY_HEAD.items() if head in line.text)
    found = [(*cut, row) for _, row, template in candidates if (cut := template.find_cut(line.text))]
    if not found:
        return None
    values, length, at_end, row = max(found, key=lambda each: each[1])
    if at_end:
        is_one = len({other.kind for _, agreed, _, other in found if agreed == length}) == 1
        return _checked(row, values, line, cut=True) if is_one else _damaged(line, _CUT)
    return _damaged(line, _TORN) if values or length >= _LEAST_AGREEMENT else None


def _damaged(line: TextLine, reason: str) -> Damaged:
    return Damaged(line.number, line.text, reason)


def _read_end(line: TextLine) -> LogEvent | None:
    """Read the end of a message, where the line says that its beginning is cut, or the log begins with it."""
    text = line.text.lstrip(_ELLIPSES)
    if text == line.text and line.number != 1:
        return None
    text = text.strip()
    found = [
        (*end, row) for row in MESSAGES for template in row.templates if (end := template.find_end(text)) is not None
    ]
    if not found:
        return None
    values, longest, row = max(found, key=lambda each: each[1])
    if len({other.kind for _, agreed, other in found if agreed == longest}) > 1:
        return Damaged(line.number, line.text, "its beginning is cut, and several messages end so")
    return _checked(row, values, line, cut=True)


def _checked(row: MessageKind, values: dict[str, int | str], line: TextLine, *, cut: bool) -> LogEvent:
    """Refuse numbers that contradict each other: requested - available is what is missing, modulo 2^32."""
    triple = [values.get(name) for name in ("requested", "available", "missing")]
    numbers = [value for value in triple if isinstance(value, int)]
    if len(numbers) == 3 and (numbers[0] - numbers[1] - numbers[2]) % 2**32:
        return Damaged(line.number, line.text, f"{numbers[0]} - {numbers[1]} is not {numbers[2]}")
    return Message(line.number, row.kind, tuple(values.items()), cut, line.text)
