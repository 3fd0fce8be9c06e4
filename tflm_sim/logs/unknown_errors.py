"""Lines of a log that speak of an error, and that no reader knows: never to be passed over in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tflm_sim.document_types import Count
from tflm_sim.logs.lines import LineAssembler
from tflm_sim.logs.log_events import AllocationReport, LogEvent, Message, PlanReport, TicksTable
from tflm_sim.logs.prefixes import is_progress, read_line

MAX_UNKNOWN = 8
"""Lines; more say no more."""
_SEVERITIES = ("E", "ERR", "err", "ERROR")
_INFORMS = ("I", "D", "V", "C", "INF", "DBG", "inf", "dbg", "INFO", "DEBUG", "TRACE")
_WORDS = re.compile(
    r"\b(?:\w*error\w*|err|fail(?:s|ed|ure|ures|ing)?|panic\w*|assert\w*|abort\w*|\w*exception|(?!default)\w*fault|overflow\w*|"
    r"out of memory|no memory|enomem|cannot|can't|can ?not|could ?n[o']t|unable|(?:not|un)[ -]?supported|invalid|"
    r"corrupt\w*|traceback|undefined|unresolved|crash\w*|timed? ?out|mismatch\w*|not enough|too (?:small|large|big))\b",
    re.IGNORECASE,
)
_IN_INFORMATION = re.compile(
    r"\b(?:\w*error\w*|fail(?:s|ed|ure|ures|ing)?|panic\w*|abort\w*|\w*exception|(?!default)\w*fault|"
    r"overflow\w*|out of memory|corrupt\w*|crash\w*)\b",
    re.IGNORECASE,
)
"""Words that a line of information does not have where all is well; a watchdog's timeout may stand there."""
_HARMLESS = re.compile(
    r"\b(?:no|0|without) (?:\w+ )?(?:errors?|failures?)\b|\b(?:errors?|failures?)\s*[:=]\s*0\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class UnknownError:
    """A line that speaks of an error.

    Attributes:
        line: Its number.
        text: The line, without its prefix.
    """

    line: Count
    text: str


def unknown_errors(data: bytes, events: Iterable[LogEvent]) -> tuple[list[UnknownError], int]:
    """Return the first lines of a log that speak of an error and are part of no event, and how many lines it has.

    Args:
        data: The log.
        events: What was read in it.
    """
    known = {number for event in events if not _only_speaks(event) for number in _lines(event)}
    assembler = LineAssembler()
    found: dict[str, UnknownError] = {}
    lines = [*assembler.feed(data), *assembler.close()]
    for raw in lines:
        if raw.number in known or len(found) == MAX_UNKNOWN:
            continue
        line = read_line(raw)
        words = _IN_INFORMATION if line.severity in _INFORMS else _WORDS
        says_so = line.severity in _SEVERITIES or words.search(line.text)
        if says_so and not (_HARMLESS.search(line.text) or is_progress(line.text)) and line.text.strip():
            found.setdefault(line.text, UnknownError(raw.number, line.text))
    return list(found.values()), len(lines)


def _only_speaks(event: LogEvent) -> bool:
    """Whether a line is known as one that names AllocateTensors(), which says nothing of how that ended."""
    return isinstance(event, Message) and event.kind == "allocate_called"


def _lines(event: LogEvent) -> Iterable[int]:
    if isinstance(event, AllocationReport | PlanReport | TicksTable):
        return range(event.first_line, event.last_line + 1)
    return (event.line,)
