"""``OpenReport``: a report of several lines while it is read."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tflm_sim.logs.log_events import MAX_PROBLEMS, LogEvent
from tflm_sim.logs.prefixes import TextLine


class OpenReport(ABC):
    """The lines of one report at a time (mutable): where it began, where it ends so far, what is wrong with it."""

    __slots__ = ("_first", "_last", "_problems")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._first = self._last = 0
        self._problems: list[str] = []

    @abstractmethod
    def _finished(self) -> LogEvent:
        """Return the report as it is now."""

    def _touch(self, number: int) -> None:
        """Take line ``number`` for one of the report."""
        self._first = self._first or number
        self._last = number

    def _complain(self, problem: str) -> None:
        self._problems = [*self._problems[: MAX_PROBLEMS - 1], problem]

    def _tear(self, line: TextLine) -> list[LogEvent]:
        """Note a line that cannot be read; no event comes of it."""
        self._complain(f"line {line.number} is torn: {line.text!r}")
        return []

    def flush(self) -> list[LogEvent]:
        """Return the open report, if there is one: nothing more of it will come."""
        if not self._first:
            return []
        report = self._finished()
        self._clear()
        return [report]
