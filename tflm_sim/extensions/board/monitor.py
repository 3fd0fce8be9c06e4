"""One stream of a board's port -> everything that it says: our frames, the dialects, noise, and what came before.

Sans-IO: bytes in, events out. ``idle`` is the one fact about time that it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tflm_sim.extensions.board.connection import Connection
from tflm_sim.extensions.board.link_events import LinkEvent, Text
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.diagnosis import Diagnosis, FailureCollector
from tflm_sim.logs.log_events import AllocationReport, ArenaConfigured, LogEvent, Message, PlanReport
from tflm_sim.logs.parser import LogParser

_BLOCK_BYTES = 256
_NOISE_PERCENT = 30
_MAX_REMEMBERED = 64
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
    """A report or a failure says the same as an earlier one.

    Attributes:
        line: First line of the repetition.
        earlier: First line of the first one.
        count: How many there are by now.
        what: "report" or "failure".
    """

    line: int
    earlier: int
    count: int
    what: str = "report"


MonitorEvent = LinkEvent | LogEvent | Diagnosis | Noise | Repeated
_Report = AllocationReport | PlanReport | ArenaReport | Diagnosis


class Monitor:
    """Read a port (mutable).

    Args:
        arena_size: The arena of the firmware in bytes, for its failures; None where only the log may say it.
    """

    __slots__ = ("_block", "_connection", "_failures", "_noisy", "_offset", "_parser", "_seen")

    def __init__(self, arena_size: int | None = None) -> None:
        self._connection = Connection()
        self._parser = LogParser()
        self._failures = FailureCollector(arena_size)
        self._block = b""
        self._offset = 0
        self._noisy = False
        self._seen: dict[object, tuple[int, int]] = {}

    def feed(self, data: bytes) -> list[MonitorEvent]:
        """Take the next bytes; return the events that they complete, each ``Text`` before what was read in it."""
        return [*self._listen(data), *self._digest(self._connection.receive(data))]

    def idle(self) -> list[MonitorEvent]:
        """Say that the port was silent for a while: what has no end line is finished."""
        return [*self._judge(self._parser.flush()), *self._judge(self._failures.close())]

    def close(self, reason: str = "the log ends") -> list[MonitorEvent]:
        """Finish everything: the stream ends here."""
        last = [*self._digest(self._connection.close(reason)), *self._read(self._parser.close())]
        return [*last, *self._judge(self._failures.close())]

    def _digest(self, events: list[LinkEvent]) -> list[MonitorEvent]:
        found: list[MonitorEvent] = []
        for event in events:
            if not isinstance(event, Text):
                found += self._judge([event])
                continue
            said = self._parser.feed_line(event.raw)
            is_of_a_chain = any(isinstance(one, Message | ArenaConfigured) for one in said)
            found += [event, *self._read(said)]
            found += [] if is_of_a_chain else self._judge(self._failures.feed_other_line())
        return found

    def _read(self, events: Sequence[LogEvent]) -> list[MonitorEvent]:
        """Put before each event the failure that it ends."""
        return [one for event in events for one in self._judge([*self._failures.feed(event), event])]

    def _judge(self, events: Sequence[MonitorEvent]) -> list[MonitorEvent]:
        """Put after each report and failure whether it was there before."""
        found: list[MonitorEvent] = []
        for event in events:
            found.append(event)
            if not isinstance(event, AllocationReport | PlanReport | ArenaReport | Diagnosis):
                continue
            key, line = _content(event)
            earlier, count = self._seen.pop(key, (line, 0))
            self._seen[key] = earlier, count + 1
            if len(self._seen) > _MAX_REMEMBERED:
                del self._seen[next(iter(self._seen))]
            if count:
                what = "failure" if isinstance(event, Diagnosis) else "report"
                found.append(Repeated(line, earlier, count + 1, what))
        return found

    def _listen(self, data: bytes) -> list[MonitorEvent]:
        """Judge whole blocks of the stream, so that the chunking does not matter."""
        found: list[MonitorEvent] = []
        data = self._block + data
        whole = len(data) - len(data) % _BLOCK_BYTES
        self._block = data[whole:]
        for start in range(0, whole, _BLOCK_BYTES):
            block = data[start : start + _BLOCK_BYTES]
            percent = sum(byte not in _PLAIN for byte in block) * 100 // _BLOCK_BYTES
            noisy = percent >= _NOISE_PERCENT
            if noisy and not self._noisy:
                found.append(Noise(self._offset, percent))
            self._noisy = noisy
            self._offset += _BLOCK_BYTES
        return found


def _content(event: _Report) -> tuple[object, int]:
    """What a report or a failure says, without where it stands; and its first line."""
    if isinstance(event, Diagnosis):
        return event.content, event.lines[0]
    numbers = ("first_line", "last_line", *(("number", "digest") if isinstance(event, ArenaReport) else ()))
    without: dict[str, Any] = dict.fromkeys(numbers)
    return replace(event, **without), event.first_line
