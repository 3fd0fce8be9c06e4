"""Collects the frames of one report and checks its end, from every begin that may be its own."""

from __future__ import annotations

import zlib
from collections import deque

from tflm_sim.extensions.board.framing import Frame, text_of
from tflm_sim.extensions.board.link_events import LinkEvent, TornReport
from tflm_sim.logs.arena_report import ArenaReport, HighWater
from tflm_sim.logs.log_events import CategoryUse, PlanBuffer
from tflm_sim.recorded import CATEGORIES

MAX_LINES = 16_384
"""Lines of a report; a planner of the largest models has a tenth of that many buffers."""
_MAX_CANDIDATES = 4
_MAX_REMEMBERED_ENDS = 16


class ReportBuilder:
    """One report from its begin on (mutable)."""

    __slots__ = ("_begin", "_digest", "_known", "_lines", "number")

    def __init__(self, begin: Frame) -> None:
        self.number = begin.number("r")
        self._begin = begin
        self._lines: list[Frame] = []
        self._known = {(begin.sequence, begin.crc)}
        self._digest = zlib.crc32(begin.crc.to_bytes(4, "big"))

    @property
    def line_count(self) -> int:
        """How many lines it has, its begin included."""
        return len(self._lines) + 1

    def begins_with(self, frame: Frame) -> bool:
        """Return whether the report began with a line that is equal to this one."""
        return (frame.sequence, frame.crc) == (self._begin.sequence, self._begin.crc)

    def knows(self, frame: Frame) -> bool:
        """Return whether the report has a line that is equal to this one already."""
        return (frame.sequence, frame.crc) in self._known

    def add(self, frame: Frame) -> None:
        """Take a line between begin and end."""
        self._lines.append(frame)
        self._known.add((frame.sequence, frame.crc))
        self._digest = zlib.crc32(frame.crc.to_bytes(4, "big"), self._digest)

    def end_problem(self, end: Frame) -> str:
        """Return why the report is torn; "" where it is whole."""
        if end.number("n") != self.line_count:
            return f"it has {self.line_count} lines, its end says {end.number('n')}"
        if end.text("x") != f"{self._digest:08x}":
            return "its lines are not those that its end was computed over"
        return ""

    def finish(self, end: Frame) -> ArenaReport:
        model, used, high = self._only("model"), self._only("used"), self._only("high")
        failed = self._only("fail")
        return ArenaReport(
            first_line=self._begin.line,
            last_line=end.line,
            number=self.number,
            arena_size=self._begin.number("arena"),
            skew=self._begin.number("skew"),
            info=tuple((text_of(line.text("k")), text_of(line.text("s"))) for line in self._of("info")),
            model_size=_number(model, "size"),
            model_crc32=int(model.text("crc"), 16) if model else None,
            total=_number(used, "total"),
            head=used.optional_number("head") if used else None,
            tail=used.optional_number("tail") if used else None,
            categories=tuple(
                CategoryUse(CATEGORIES[line.number("k")].name, *map(line.number, "uqc")) for line in self._of("cat")
            ),
            buffers=tuple(PlanBuffer(*map(line.number, "isofl")) for line in self._of("buf")),
            high_water=HighWater(*map(high.number, ("touched", "gap", "at"))) if high else None,
            digest=self._digest,
            numbers=tuple((text_of(line.text("k")), line.number("v")) for line in self._of("num")),
            failure=_number(failed, "status"),
        )

    def _of(self, kind: str) -> list[Frame]:
        return [line for line in self._lines if line.type == kind]

    def _only(self, kind: str) -> Frame | None:
        """The last line of a kind that says one thing about the whole."""
        return next((line for line in reversed(self._lines) if line.type == kind), None)


class ReportCandidates:
    """The readings of an open report, the oldest first (mutable): each begins at one of its begins that came.

    A begin that comes twice was doubled on the wire, or the device restarted and sends its first report again.
    """

    __slots__ = ("_candidates", "_ends")

    def __init__(self) -> None:
        self._candidates: list[ReportBuilder] = []
        self._ends: deque[tuple[int, int]] = deque(maxlen=_MAX_REMEMBERED_ENDS)

    @property
    def number(self) -> int | None:
        """The device's number of the open report, None without one."""
        return self._candidates[0].number if self._candidates else None

    @property
    def line_count(self) -> int:
        """How many lines the longest reading has."""
        return max((candidate.line_count for candidate in self._candidates), default=0)

    def begins_with(self, frame: Frame) -> bool:
        """Return whether the open report began with a line that is equal to this one."""
        return any(candidate.begins_with(frame) for candidate in self._candidates)

    def knows(self, frame: Frame) -> bool:
        """Return whether every reading has a line that is equal to this one."""
        return bool(self._candidates) and all(candidate.knows(frame) for candidate in self._candidates)

    def ended_with(self, frame: Frame) -> bool:
        """Return whether an end that is equal to this one ended one of the last reports."""
        return (frame.sequence, frame.crc) in self._ends

    def open(self, begin: Frame) -> None:
        """Begin a reading; of too many the oldest is forgotten."""
        self._candidates = [*self._candidates[1 - _MAX_CANDIDATES :], ReportBuilder(begin)]

    def add(self, frame: Frame) -> None:
        """Give a line to each reading that does not have it."""
        for candidate in self._candidates:
            if not candidate.knows(frame):
                candidate.add(frame)

    def tear(self, line: int, reason: str) -> list[LinkEvent]:
        """Drop the open report and return that it is torn; nothing where none is open."""
        number, self._candidates = self.number, []
        return [] if number is None else [TornReport(line, number, reason)]

    def finish(self, end: Frame) -> list[LinkEvent]:
        """Return the first reading that is whole; where it is not the oldest, that one was torn by a restart."""
        candidates, self._candidates = self._candidates, []
        self._ends.append((end.sequence, end.crc))
        problems = [candidate.end_problem(end) for candidate in candidates]
        for candidate, problem in zip(candidates, problems, strict=True):
            if not problem:
                torn: list[LinkEvent] = (
                    [TornReport(end.line, candidate.number, "the device restarted")] if problems[0] else []
                )
                return [*torn, candidate.finish(end)]
        return [TornReport(end.line, candidates[0].number, problems[0])]


def _number(frame: Frame | None, name: str) -> int | None:
    return None if frame is None else frame.number(name)
