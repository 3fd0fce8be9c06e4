r"""Reads GreedyMemoryPlanner::PrintMemoryPlan in its three forms, and draws the same map.

    since 2024-12       0 (id=0): size=16, offset=16, first_used=0 last_used=1
                           0: ........000000 (1k)         one-step buffers are "*"
    2021-05 to 2024-12  0 (id=0): size=16, offset=16, first_used=0 last_used=1
                         0: ........000000 (1k)           one-step buffers keep their ordinal
    until 2021-05       Planner buffer ID: 0, calculated offset: 16, size required: 16, first_time_created: 0, ...
                        ........000000                    no step, no KiB

The map follows from the buffers alone, so it is the plan's checksum: where the printed map and the one that we draw
differ, a line is damaged. Source: memory_planner/greedy_memory_planner.cc @ 90b983c, b2f2718^, a37043f.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from tflm_sim.logs.log_events import LogEvent, PlanBuffer, PlanDialect, PlanReport, PlanRow
from tflm_sim.logs.open_report import OpenReport
from tflm_sim.logs.prefixes import TextLine

LINE_WIDTH = 80
MAX_LINES = 8192
"""Buffers, and rows of the map; a plan with more is cut and named."""
_MAX_CELLS = 1 << 22

_ORDINALS = string.digits + string.ascii_lowercase + string.ascii_uppercase
_BUFFER = re.compile(
    r"(?P<mark>[0-9a-zA-Z*]) \(id=(?P<id>\d{1,10})\): size=(?P<size>\d{1,10}), offset=(?P<offset>-?\d{1,10}), "
    r"first_used=(?P<first>-?\d{1,10}),? last_used=(?P<last>-?\d{1,10})(?!\d)"
)
_VERBOSE = re.compile(
    r"Planner buffer ID: (?P<id>\d{1,10}), calculated offset: (?P<offset>-?\d{1,10}), "
    r"size required: (?P<size>\d{1,10}), first_time_created: (?P<first>-?\d{1,10}), "
    r"last_time_used: (?P<last>-?\d{1,10})(?!\d)"
)
_ROW = re.compile(r"^ *(\d{1,10}): ([.!*0-9a-zA-Z]{80}) \((\d{1,10})k\)")
_BARE_ROW = re.compile(r"^[.!*0-9a-zA-Z]{80}$")
_TORN = re.compile(r"\(id=\d+\): size=|Planner buffer ID: \d+|^ *\d+: [.!*0-9a-zA-Z]{20,}")


class PlanReader(OpenReport):
    """Collect one plan at a time (mutable). A plan ends with the map row of its last step."""

    __slots__ = ("_buffers", "_ids", "_marks", "_rows", "_steps", "_verbose")

    def _clear(self) -> None:
        super()._clear()
        self._buffers: list[PlanBuffer] = []
        self._ids: set[int] = set()
        self._steps = 0
        self._marks: list[str] = []
        self._rows: list[PlanRow] = []
        self._verbose = False

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        text = line.text
        if (match := _BUFFER.search(text) or _VERBOSE.search(text)) is not None and line.ended:
            return self._take_buffer(line.number, match)
        if self._first and (row := _read_row(text, len(self._rows))) is not None:
            return self._take_row(line.number, row)
        if _TORN.search(text) is None:
            return None
        self._touch(line.number)
        return self._tear(line)

    def _take_buffer(self, number: int, match: re.Match[str]) -> list[LogEvent]:
        fields = match.groupdict()
        buffer = PlanBuffer(*(int(fields[name]) for name in ("id", "size", "offset", "first", "last")))
        done = self.flush() if self._rows or buffer.id in self._ids or len(self._ids) >= MAX_LINES else []
        self._touch(number)
        self._buffers.append(buffer)
        self._ids.add(buffer.id)
        self._steps = max(self._steps, buffer.last)
        self._marks.append(fields.get("mark", ""))
        self._verbose = "mark" not in fields
        return done

    def _take_row(self, number: int, row: PlanRow) -> list[LogEvent]:
        self._touch(number)
        self._rows.append(row)
        return self.flush() if row.step >= self._steps or len(self._rows) >= MAX_LINES else []

    def _finished(self) -> PlanReport:
        dialect = self._dialect()
        problems = (*self._problems, *self._find_problems(dialect))
        return PlanReport(dialect, self._first, self._last, tuple(self._buffers), tuple(self._rows), problems)

    def _dialect(self) -> PlanDialect:
        if self._verbose:
            return PlanDialect.VERBOSE
        one_step = [
            mark
            for mark, buffer in zip(self._marks, self._buffers, strict=True)
            if buffer.first == buffer.last and buffer.id < len(_ORDINALS)
        ]
        if one_step:
            return PlanDialect.STARS if set(one_step) == {"*"} else PlanDialect.ORDINALS
        return PlanDialect.UNKNOWN

    def _what_is_missing(self) -> str:
        """Return what cannot be compared with the map, or not be drawn; "" where everything can."""
        if [buffer.id for buffer in self._buffers] != list(range(len(self._buffers))):
            return "buffers are missing"
        if not self._rows:
            return "the map is missing"
        count = len(self._rows)  # A damaged line may speak of more steps than memory holds.
        if count != self._steps + 1 or [row.step for row in self._rows] != list(range(count)):
            return "rows of the map are missing"
        if odd := [buffer.id for buffer in self._buffers if not buffer.is_possible]:
            return f"buffer {odd[0]} has no such offset or lifetime"
        return "it is too large to be checked" if len(self._buffers) * len(self._rows) > _MAX_CELLS else ""

    def _find_problems(self, dialect: PlanDialect) -> list[str]:
        if missing := self._what_is_missing():
            return [missing]
        drawn = draw_plan(self._buffers, dialect)
        return [
            f"step {row.step}: the map is not what the buffers draw"
            for row, ours in zip(self._rows, drawn, strict=True)
            if row.columns != ours.columns or row.kib not in (None, ours.kib)
        ]


def draw_plan(buffers: Sequence[PlanBuffer], dialect: PlanDialect) -> list[PlanRow]:
    """Draw the map that TFLM prints for a plan: one row of 80 columns per step, 0 to the last one used."""
    width = max([LINE_WIDTH, *(buffer.offset + buffer.size for buffer in buffers)])
    steps = max((buffer.last for buffer in buffers), default=0)
    return [_draw_row(step, buffers, width, dialect) for step in range(steps + 1)]


def _draw_row(step: int, buffers: Sequence[PlanBuffer], width: int, dialect: PlanDialect) -> PlanRow:
    columns = ["."] * LINE_WIDTH
    used = 0
    for buffer in buffers:
        if not buffer.first <= step <= buffer.last or buffer.offset == -1:
            continue
        used += buffer.size
        for column in range(buffer.offset * LINE_WIDTH // width, (buffer.offset + buffer.size) * LINE_WIDTH // width):
            columns[column] = _mark(buffer, dialect) if columns[column] == "." else "!"
    return PlanRow(step, "".join(columns), -(-used // 1024))


def _mark(buffer: PlanBuffer, dialect: PlanDialect) -> str:
    if dialect in (PlanDialect.STARS, PlanDialect.UNKNOWN):
        return "*" if buffer.first == buffer.last else _ORDINALS[buffer.id % len(_ORDINALS)]
    return _ORDINALS[buffer.id] if buffer.id < len(_ORDINALS) else "*"


def _read_row(text: str, step: int) -> PlanRow | None:
    if (row := _ROW.search(text)) is not None:
        return PlanRow(int(row[1]), row[2], int(row[3]))
    return PlanRow(step, text, None) if _BARE_ROW.match(text) else None
