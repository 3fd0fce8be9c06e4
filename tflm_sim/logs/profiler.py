"""Reads MicroProfiler: a line per event, and its two CSV tables.

Source: micro_profiler.cc @ 90b983c, and its history: the full stop is missing in the benchmarks' own line; the format
``took % ticks`` of 2022 printed ``took  123cks``; the total's label had no quotes in 2022.
"""

from __future__ import annotations

import re

from tflm_sim.logs.log_events import LogEvent, ProfiledOp, TicksTable
from tflm_sim.logs.open_report import OpenReport
from tflm_sim.logs.prefixes import TextLine

MAX_ROWS = 16_384
"""Rows; MicroProfiler has room for 4,096 events. A table that goes on is cut there."""

_EVENT_LINE = re.compile(r" took\s+(?P<ticks>-?\d{1,20}) ?(?:ticks|cks) \((?P<ms>-?\d{1,20}) ms\)")
_HEADERS = {'"Event","Tag","Ticks"': "event", '"Unique Tag","Total ticks across all events with that tag."': "tag"}
_EVENT_ROW = re.compile(r"^(\d{1,10}),([^,]+),(-?\d{1,20})$")
_TAG_ROW = re.compile(r"^([^,\"]+), (-?\d{1,20})$")
_TOTAL_ROW = re.compile(r"^\"?total number of ticks\"?, (-?\d{1,20})$")


class ProfilerReader(OpenReport):
    """Collect one table at a time (mutable)."""

    __slots__ = ("_kind", "_rows", "_total")

    def _clear(self) -> None:
        super()._clear()
        self._kind = ""
        self._rows: list[tuple[str, int]] = []
        self._total: int | None = None

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if (kind := _HEADERS.get(line.text)) is not None:
            done = self.flush()
            self._kind = kind
            self._touch(line.number)
            return done
        if line.ended and (total := _TOTAL_ROW.match(line.text)) is not None:
            self._touch(line.number)
            self._total = int(total[1])
            return self.flush()
        if (took := _EVENT_LINE.search(line.text)) is not None and (tag := line.text[: took.start()].strip()):
            return [ProfiledOp(line.number, tag, int(took["ticks"]), int(took["ms"]))]
        return self._take_row(line) if self._kind else None

    def _take_row(self, line: TextLine) -> list[LogEvent] | None:
        row = (_EVENT_ROW if self._kind == "event" else _TAG_ROW).match(line.text)
        if row is None:
            return None
        if not line.ended:
            return self._tear(line)
        if self._kind == "event" and int(row[1]) != len(self._rows):
            self._complain(f"event {len(self._rows)} is missing before line {line.number}")
        self._rows.append((row[2], int(row[3])) if self._kind == "event" else (row[1], int(row[2])))
        self._last = line.number
        return self.flush() if len(self._rows) >= MAX_ROWS else []

    def _finished(self) -> TicksTable:
        problems, total = list(self._problems), self._total
        if total is not None and (sum(ticks for _, ticks in self._rows) - total) % 2**32:
            problems.append(f"the rows do not add up to the total of {total} ticks")
        if self._kind == "tag" and total is None:
            problems.append("the total is missing")
        return TicksTable(self._kind or "tag", self._first, self._last, tuple(self._rows), total, tuple(problems))
