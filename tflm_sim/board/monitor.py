"""One stream of a board's port -> everything that it says: our frames, the dialects, noise, and what came before.

Sans-IO: bytes in, events out. ``idle`` is the one fact about time that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tflm_sim.board.connection import Connection, LinkEvent, Text
from tflm_sim.board.dialects.events import AllocationReport, LogEvent, PlanReport
from tflm_sim.board.dialects.parser import LogParser
from tflm_sim.board.messages import ArenaReport

_BLOCK = 256
_NOISE_PERCENT = 30
_PLAIN = frozenset([*range(0x20, 0x7F), *b"\t\r\n\x1b", *range(0xC2, 0xF5)])


@dataclass(frozen=True, slots=True)
class Noise:
    """A block of the stream is no text: the baud rate is wrong, or the line is not connected.

    Attributes:
        offset: First byte of the block in the stream.
        percent: How many of its bytes no text would have.
    """

    offset: int
    percent: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """A report says the same as an earlier one.

    Attributes:
        line: First line of the repetition.
        earlier: First line of the first one.
        count: How many there are by now.
    """

    line: int
    earlier: int
    count: int


MonitorEvent = LinkEvent | LogEvent | Noise | Repeated
_Report = AllocationReport | PlanReport | ArenaReport


class Monitor:
    """Read a port (mutable)."""

    __slots__ = ("_block", "_connection", "_noisy", "_offset", "_parser", "_seen")

    def __init__(self) -> None:
        self._connection = Connection()
        self._parser = LogParser()
        self._block = b""
        self._offset = 0
        self._noisy = False
        self._seen: dict[_Report, tuple[int, int]] = {}

    def feed(self, data: bytes) -> list[MonitorEvent]:
        """Take the next bytes; return the events that they complete, each ``Text`` before what was read in it."""
        return [*self._listen(data), *self._digest(self._connection.receive(data))]

    def idle(self) -> list[MonitorEvent]:
        """Say that the port was silent for a while: reports that have no end line are finished."""
        return self._judge(self._parser.flush())

    def close(self, reason: str = "the log ends") -> list[MonitorEvent]:
        """Finish everything: the stream ends here."""
        return [*self._digest(self._connection.close(reason)), *self._judge(self._parser.close())]

    def _digest(self, events: list[LinkEvent]) -> list[MonitorEvent]:
        found: list[MonitorEvent] = []
        for event in events:
            found += self._judge([event]) if isinstance(event, ArenaReport) else [event]
            if isinstance(event, Text):
                found += self._judge(self._parser.feed_line(event.raw))
        return found

    def _judge(self, events: list[LogEvent] | list[ArenaReport]) -> list[MonitorEvent]:
        """Put after each report whether it was there before."""
        found: list[MonitorEvent] = []
        for event in events:
            found.append(event)
            if not isinstance(event, AllocationReport | PlanReport | ArenaReport):
                continue
            key = _content(event)
            earlier, count = self._seen.get(key, (event.first_line, 0))
            self._seen[key] = earlier, count + 1
            if count:
                found.append(Repeated(event.first_line, earlier, count + 1))
        return found

    def _listen(self, data: bytes) -> list[MonitorEvent]:
        """Judge whole blocks of the stream, so that the chunking does not matter."""
        found: list[MonitorEvent] = []
        self._block += data
        while len(self._block) >= _BLOCK:
            block, self._block = self._block[:_BLOCK], self._block[_BLOCK:]
            percent = sum(byte not in _PLAIN for byte in block) * 100 // _BLOCK
            noisy = percent >= _NOISE_PERCENT
            if noisy and not self._noisy:
                found.append(Noise(self._offset, percent))
            self._noisy = noisy
            self._offset += _BLOCK
        return found


def _content(report: _Report) -> _Report:
    """What a report says, without where it stands."""
    if isinstance(report, ArenaReport):
        return replace(report, first_line=0, last_line=0, number=0, digest=0)
    return replace(report, first_line=0, last_line=0)
