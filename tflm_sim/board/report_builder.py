"""Collects the frames of one report and checks its end."""

from __future__ import annotations

import zlib

from tflm_sim.board.dialects.categories import KEYS
from tflm_sim.board.dialects.events import CategoryUse, PlanBuffer
from tflm_sim.board.framing import Frame, text_of
from tflm_sim.board.messages import ArenaReport, HighWater


class ReportBuilder:
    """One report from its begin on (mutable)."""

    __slots__ = ("_begin", "_digest", "_known", "_lines", "number")

    def __init__(self, begin: Frame) -> None:
        self.number = begin.number("r")
        self._begin = begin
        self._lines: list[Frame] = []
        self._known = {(begin.sequence, begin.crc)}
        self._digest = zlib.crc32(begin.crc.to_bytes(4, "big"))

    def knows(self, frame: Frame) -> bool:
        """Return whether this very line is in the report already."""
        return (frame.sequence, frame.crc) in self._known

    def add(self, frame: Frame) -> None:
        """Take a line between begin and end."""
        self._lines.append(frame)
        self._known.add((frame.sequence, frame.crc))
        self._digest = zlib.crc32(frame.crc.to_bytes(4, "big"), self._digest)

    def end_problem(self, end: Frame) -> str:
        """Return why the report must not be believed, "" when it may."""
        count = len(self._lines) + 1
        if end.number("n") != count:
            return f"it has {count} lines, its end says {end.number('n')}"
        if end.text("x") != f"{self._digest:08x}":
            return "its lines are not those that its end was computed over"
        return ""

    def finish(self, end: Frame) -> ArenaReport:
        """Return the report."""
        model, used, high = self._only("model"), self._only("used"), self._only("high")
        return ArenaReport(
            first_line=self._begin.line,
            last_line=end.line,
            number=self.number,
            arena_size=self._begin.number("arena"),
            skew=self._begin.number("skew"),
            info=tuple((text_of(line.text("k")), text_of(line.text("s"))) for line in self._of("info")),
            model_size=model.number("size") if model else None,
            model_crc32=int(model.text("crc"), 16) if model else None,
            total=used.number("total") if used else None,
            head=used.optional_number("head") if used else None,
            tail=used.optional_number("tail") if used else None,
            categories=tuple(
                CategoryUse(KEYS[line.number("k")], *(line.number(name) for name in "uqc")) for line in self._of("cat")
            ),
            buffers=tuple(PlanBuffer(*(line.number(name) for name in "isofl")) for line in self._of("buf")),
            high_water=HighWater(*(high.number(name) for name in ("touched", "gap", "at"))) if high else None,
            digest=self._digest,
        )

    def _of(self, kind: str) -> list[Frame]:
        return [line for line in self._lines if line.type == kind]

    def _only(self, kind: str) -> Frame | None:
        """The last line of a kind that says one thing about the whole."""
        return next((line for line in reversed(self._lines) if line.type == kind), None)
