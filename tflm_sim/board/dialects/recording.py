"""Reads RecordingMicroAllocator::PrintAllocations, 2020 to now.

The report has no end line and leaves empty categories out, so it stays open until its owner flushes it (silence, the
end of the log, a reset) or a line comes that can only begin another one.

Source: recording_micro_allocator.cc @ 90b983c; the 2020 titles are in ``categories.OLD_TITLES``.
"""

from __future__ import annotations

import re

from tflm_sim.board.dialects.categories import BY_RECORDING_TITLE, KEYS
from tflm_sim.board.dialects.events import AllocationReport, CategoryUse, LogEvent
from tflm_sim.board.prefixes import TextLine

_MARK = "[RecordingMicroAllocator]"
_ARENA = re.compile(r"\[RecordingMicroAllocator\] Arena allocation (total|head|tail) (\d+) bytes")
_CATEGORY = re.compile(
    r"\[RecordingMicroAllocator\] '([^']+)' used (\d+) bytes with alignment overhead "
    r"\(requested (\d+) bytes for (\d+) [A-Za-z]+(?: structs)?\)"
)


class RecordingReader:
    """Collect one report at a time (mutable)."""

    __slots__ = ("_arena", "_categories", "_first", "_last", "_problems")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._first = self._last = 0
        self._arena: dict[str, int] = {}
        self._categories: list[CategoryUse] = []
        self._problems: list[str] = []

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if _MARK not in line.text:
            return None
        if (arena := _ARENA.search(line.text)) is not None:
            return self._take_arena(line.number, arena[1], int(arena[2]))
        if (row := _CATEGORY.search(line.text)) is not None and row[1] in BY_RECORDING_TITLE:
            use = CategoryUse(BY_RECORDING_TITLE[row[1]], int(row[2]), int(row[3]), int(row[4]))
            return self._take_category(line.number, use)
        self._touch(line.number)
        self._problems.append(f"line {line.number} is torn: {line.text!r}")
        return []

    def _take_arena(self, number: int, name: str, size: int) -> list[LogEvent]:
        done = self.flush() if name in self._arena or (name == "total" and self._categories) else []
        self._touch(number)
        self._arena[name] = size
        return done

    def _take_category(self, number: int, use: CategoryUse) -> list[LogEvent]:
        done = self.flush() if any(use.key == known.key for known in self._categories) else []
        self._touch(number)
        self._categories.append(use)
        return done

    def _touch(self, number: int) -> None:
        self._first = self._first or number
        self._last = number

    def flush(self) -> list[LogEvent]:
        """Return the open report, if there is one: nothing more of it will come."""
        if not self._first:
            return []
        problems = (*self._problems, *report_problems(self._arena, self._categories))
        report = AllocationReport(
            "recording",
            self._first,
            self._last,
            self._arena.get("total"),
            self._arena.get("head"),
            self._arena.get("tail"),
            tuple(self._categories),
            problems,
        )
        self._clear()
        return [report]


def report_problems(arena: dict[str, int], categories: list[CategoryUse]) -> list[str]:
    """Say what contradicts itself in a report; [] when nothing does."""
    problems = [f"the line with the {name} is missing" for name in ("total", "head", "tail") if name not in arena]
    if not problems and arena["head"] + arena["tail"] != arena["total"]:
        problems.append(f"head {arena['head']} and tail {arena['tail']} do not add up to {arena['total']}")
    named = sum(use.used for use in categories)
    if named > arena.get("tail", named):
        problems.append(f"the categories hold {named} bytes, the tail {arena['tail']}")
    problems += [
        f"{use.key}: used {use.used} is less than requested {use.requested}"
        for use in categories
        if use.used < use.requested
    ]
    order = [KEYS.index(use.key) for use in categories if use.key in KEYS]
    if order != sorted(order):
        problems.append("the categories are not in TFLM's order")
    return problems
