r"""Reads the tables and CSV of ``tflm_benchmark``.

    [[ Table ]]: Arena                      [[ CSV ]]: Arena
            Arena   Bytes   % Arena         "Arena","Bytes","% Arena"
            Total | 84436 |   100.00        "Total",84436,100.00
    NonPersistent | 55296 |    65.49        "NonPersistent",55296,65.49
       Persistent | 29140 |    34.51        "Persistent",29140,34.51

The tool of 2023 says TABLE, Head and Tail, draws rules around the rows and prints hundredths without their leading zero
(1.06 as 1.6). A row is believed when its percentage is that of its bytes.

Source: tools/benchmarking/metrics.cc, generic_model_benchmark.cc @ 90b983c; metrics.cc @ 6da07de (2023).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from tflm_sim.logs.log_events import AllocationReport, ArenaConfigured, CategoryUse, LogEvent, TensorChecksum
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.logs.printed_allocations import AllocationReader
from tflm_sim.recorded import CATEGORIES

_HEADER = re.compile(r"\[\[ (Table|TABLE|CSV) \]\]: (Arena|Allocations)\b")
_CONFIGURED = re.compile(r"Configured arena size = (\d{1,10})(?!\d)")
_CHECKSUM = re.compile(r"\b(Input|Output) CRC32: 0x([0-9A-Fa-f]{1,8})\b")
_ARENA_NAMES = {"Total": "total", "NonPersistent": "head", "Head": "head", "Persistent": "tail", "Tail": "tail"}
_PERCENT = re.compile(r"\d{1,3}\.\d\d?")
_NUMBER = re.compile(r"\d{1,10}")
_COLUMNS = (3, 6)
_COMPRESSION_ROWS = 1
_BY_TITLE = {kind.benchmark_title: kind for kind in CATEGORIES}
_ROWS: dict[str, tuple[Collection[str], int]] = {"Arena": (_ARENA_NAMES, 3), "Allocations": (_BY_TITLE, 6)}
"""Of each table, what the rows are called and how many cells they have."""


class BenchmarkReader(AllocationReader):
    """Collect the two tables as one report (mutable)."""

    __slots__ = ("_dialect", "_percentages", "_section")

    def _clear(self) -> None:
        super()._clear()
        self._dialect = self._section = ""
        self._percentages: list[tuple[str, int, str]] = []

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if (header := _HEADER.search(line.text)) is not None:
            return self._begin(line.number, header[1], header[2])
        if (configured := _CONFIGURED.search(line.text)) is not None:
            return [ArenaConfigured(line.number, int(configured[1]), "benchmark")]
        if (checksum := _CHECKSUM.search(line.text)) is not None:
            return [TensorChecksum(line.number, checksum[1].lower(), int(checksum[2], 16))]
        cells = _cells(line.text) if self._first else None
        return self._take(line, cells) if cells else None

    def _begin(self, number: int, form: str, section: str) -> list[LogEvent]:
        dialect = f"benchmark-{form.lower()}"
        continues = section == "Allocations" and self._section == "Arena" and self._dialect == dialect
        done = [] if continues else self.flush()
        self._dialect, self._section = dialect, section
        self._touch(number)
        return done

    def _take(self, line: TextLine, cells: list[str]) -> list[LogEvent] | None:
        name, numbers = cells[0], cells[1:]
        names, count = _ROWS.get(self._section, ((), 0))
        if name not in names or len(cells) != count:
            return None
        category_row = names is _BY_TITLE
        self._last = line.number
        if not line.ended or not all(map(_NUMBER.fullmatch, numbers[:-1])) or _PERCENT.fullmatch(numbers[-1]) is None:
            return self._tear(line)
        if category_row:
            self._take_category(name, numbers)
        elif _ARENA_NAMES[name] in self._arena:
            self._complain(f"{name} comes twice")
        else:
            self._arena[_ARENA_NAMES[name]] = int(numbers[0])
            self._percentages.append((name, int(numbers[0]), numbers[1]))
        return []

    def _take_category(self, name: str, numbers: list[str]) -> None:
        row = _BY_TITLE[name]
        index, used, requested, count = map(int, numbers[:4])
        if index != CATEGORIES.index(row):
            self._complain(f"{name} has the id {index}, not {CATEGORIES.index(row)}")
        if any(use.key == row.name for use in self._categories):
            self._complain(f"{name} comes twice")
            return
        self._categories.append(CategoryUse(row.name, used, requested, count))
        self._percentages.append((name, used, numbers[4]))

    def _finished(self) -> AllocationReport:
        missing = len(CATEGORIES) - _COMPRESSION_ROWS - len(self._categories)
        problems = [f"{missing} rows of the table of allocations are missing"] if missing > 0 else []
        total = self._arena.get("total", 0)
        problems += [
            f"{name}: {size} bytes are not {percent} % of {total}"
            for name, size, percent in self._percentages
            if total and not _is_percentage(percent, size, total)
        ]
        return self._report(self._dialect, *problems)


def _cells(text: str) -> list[str] | None:
    separator = "|" if "|" in text else ","
    cells = [cell.strip().strip('"').strip() for cell in text.split(separator)]
    while cells and not cells[-1]:
        cells.pop()
    return cells if len(cells) in _COLUMNS else None


def _is_percentage(text: str, size: int, total: int) -> bool:
    """Whether ``text`` is ``size`` in percent of ``total``, in today's form or that of 2023."""
    whole, hundredths = divmod(size * 10000 // total, 100)
    return abs(float(text) - size * 100 / total) < 0.0101 or text == f"{whole}.{hundredths}"
