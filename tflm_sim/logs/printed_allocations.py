"""Reads RecordingMicroAllocator::PrintAllocations, 2020 to now.

The report has no end line and leaves empty categories out, so it stays open until its owner flushes it (silence, the
end of the log, a reset) or a line comes that can only begin another one.

Source: recording_micro_allocator.cc @ 90b983c; the 2020 titles are in ``_OLD_TITLES``.
"""

from __future__ import annotations

import re

from tflm_sim.logs.log_events import AllocationReport, CategoryUse, LogEvent
from tflm_sim.logs.open_report import OpenReport
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.recorded import CATEGORIES

# A damaged line still has one of these.
_BELONGS_HERE = re.compile(r"RecordingMicroAlloc|Arena allocation |bytes with alignment overhead")
_ARENA = re.compile(r"\[RecordingMicroAllocator\] Arena allocation (total|head|tail) (\d{1,10}) bytes")
_CATEGORY = re.compile(
    r"\[RecordingMicroAllocator\] '([^']+)' used (\d{1,10}) bytes with alignment overhead "
    r"\(requested (\d{1,10}) bytes for (\d{1,10}) ([A-Za-z]+(?: structs)?)\)"
)
_KEYS = [kind.name for kind in CATEGORIES]
# The 2020 report, before eval tensors: its array of TfLiteTensor structs was the one tensor array that there was.
_OLD_TITLES = {
    "TfLiteTensor struct": "TFLITE_TENSOR_STRUCT",
    "TfLiteTensor quantization data": "TFLITE_TENSOR_QUANTIZATION_DATA",
}
_KEY_OF_TITLE = {kind.recording_title: kind.name for kind in CATEGORIES} | _OLD_TITLES
_UNITS = {kind.recording_title: (kind.recording_unit,) for kind in CATEGORIES} | dict.fromkeys(
    _OLD_TITLES, ("tensors", "allocations")
)
_PADDING = 16
# The size of a struct of TFLM on any target that there is: bytes, a multiple of 4.
_STRUCTS = {
    "TFLITE_EVAL_TENSOR_DATA": range(8, 65, 4),
    "PERSISTENT_TFLITE_TENSOR_DATA": range(16, 161, 4),
    "TFLITE_TENSOR_STRUCT": range(16, 161, 4),
    "NODE_AND_REGISTRATION_ARRAY": range(16, 129, 4),
}
# What no category has: the allocator's own objects, lists of tensors, the operators' parameters.
_MAX_UNNAMED, _MAX_UNNAMED_PER_NODE = 4096, 256


class AllocationReader(OpenReport):
    """Collect one report of the arena and its categories at a time (mutable)."""

    __slots__ = ("_arena", "_categories")

    def _clear(self) -> None:
        super()._clear()
        self._arena: dict[str, int] = {}
        self._categories: list[CategoryUse] = []

    def _report(self, dialect: str, *problems: str) -> AllocationReport:
        """Return the report with these problems besides those of its lines and of its numbers."""
        found = (*self._problems, *report_problems(self._arena, self._categories), *problems)
        total, head, tail = (self._arena.get(name) for name in ("total", "head", "tail"))
        return AllocationReport(dialect, self._first, self._last, total, head, tail, tuple(self._categories), found)


class RecordingReader(AllocationReader):
    """Read the lines of RecordingMicroAllocator (mutable)."""

    __slots__ = ()

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if _BELONGS_HERE.search(line.text) is None:
            return None
        if (arena := _ARENA.search(line.text)) is not None:
            return self._take_arena(line.number, arena[1], int(arena[2]))
        if (row := _CATEGORY.search(line.text)) is not None and row[5] in _UNITS.get(row[1], ()):
            use = CategoryUse(_KEY_OF_TITLE[row[1]], int(row[2]), int(row[3]), int(row[4]))
            return self._take_category(line.number, use)
        self._touch(line.number)
        return self._tear(line)

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

    def _finished(self) -> AllocationReport:
        return self._report("recording")


def _size_problems(arena: dict[str, int]) -> list[str]:
    missing = [f"the line with the {name} is missing" for name in ("total", "head", "tail") if name not in arena]
    if not missing and arena["head"] + arena["tail"] != arena["total"]:
        return [f"head {arena['head']} and tail {arena['tail']} do not add up to {arena['total']}"]
    return missing


def report_problems(arena: dict[str, int], categories: list[CategoryUse]) -> list[str]:
    """Say what contradicts itself in a report; [] when nothing does."""
    problems = _size_problems(arena)
    problems += _tail_problems(arena, categories) or [p for use in categories for p in _category_problems(use)]
    order = [_KEYS.index(use.key) for use in categories if use.key in _KEYS]
    if order != sorted(order):
        problems.append("the categories are not in TFLM's order")
    return problems


def _tail_problems(arena: dict[str, int], categories: list[CategoryUse]) -> list[str]:
    """Compare the tail with its categories: it has a little more than they name, by the number of nodes."""
    named = sum(use.used for use in categories)
    unnamed = arena.get("tail", named) - named
    nodes = next((use.count for use in categories if use.key == "NODE_AND_REGISTRATION_ARRAY"), None)
    if unnamed < 0:
        return [f"the categories hold {named} bytes, the tail {arena['tail']}"]
    if nodes is not None and unnamed > _MAX_UNNAMED + _MAX_UNNAMED_PER_NODE * nodes:
        return [f"the categories hold {named} of the tail's {arena['tail']} bytes: a line is missing or wrong"]
    return []


def _category_problems(use: CategoryUse) -> list[str]:
    """Compare a category's three numbers with each other."""
    key, used, requested, count = use.key, use.used, use.requested, use.count
    if used < requested:
        return [f"{key}: used {used} is less than requested {requested}"]
    if used - requested > _PADDING * max(count, 1):
        return [f"{key}: used {used} is more than {count} alignments over {requested}"]
    if requested and not count:
        return [f"{key}: {requested} bytes requested by nobody"]
    sizes = _STRUCTS.get(key)
    if sizes is not None and requested and (requested % count or requested // count not in sizes):
        return [f"{key}: {requested} bytes are not {count} structs"]
    return []
