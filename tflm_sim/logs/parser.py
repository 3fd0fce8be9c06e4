"""Bytes of a log -> events: cut into lines, prefixes off, every reader asked in turn.

Invariant: the events depend on the bytes and on where ``flush`` was called, never on the chunking.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from tflm_sim.logs.benchmark import BenchmarkReader
from tflm_sim.logs.failures import read_messages
from tflm_sim.logs.lines import LineAssembler, RawLine
from tflm_sim.logs.log_events import LogEvent, Message, Reset
from tflm_sim.logs.message_kinds import Role
from tflm_sim.logs.other_tools import VendorReader, read_record
from tflm_sim.logs.prefixes import TextLine, read_line
from tflm_sim.logs.printed_allocations import RecordingReader
from tflm_sim.logs.printed_plan import PlanReader
from tflm_sim.logs.profiler import ProfilerReader
from tflm_sim.logs.tflm_messages import BY_KIND
from tflm_sim.logs.wrapped import WrappedReader

# A report with so many foreign lines after its last one is over: an end that depends on no clock.
_MAX_OTHER_LINES = 64
_ENDS = (Role.STOPPED, Role.REPORT, Role.CAUSE)
# Characters of a line that are read; only a record of JSON is longer.
_MAX_LINE_CHARACTERS = 640


class _Reader(Protocol):
    def feed(self, line: TextLine) -> list[LogEvent] | None: ...

    def flush(self) -> list[LogEvent]: ...


class LogParser:
    """Read a log as it comes (mutable)."""

    __slots__ = ("_assembler", "_idle", "_readers")

    def __init__(self) -> None:
        self._assembler = LineAssembler()
        self._readers: tuple[_Reader, ...] = (
            RecordingReader(),
            BenchmarkReader(),
            PlanReader(),
            ProfilerReader(),
            VendorReader(),
            WrappedReader(),
        )
        self._idle = 0

    def feed(self, data: bytes) -> list[LogEvent]:
        """Take the next bytes; return the events that they complete."""
        return [event for line in self._assembler.feed(data) for event in self.feed_line(line)]

    def feed_line(self, raw: RawLine) -> list[LogEvent]:
        """Take one line; return the events that it completes."""
        line = read_line(raw)
        if (record := read_record(line)) is not None:
            return [record]
        if len(line.text) > _MAX_LINE_CHARACTERS:
            line = replace(line, text=line.text[:_MAX_LINE_CHARACTERS], ended=False)
        self._idle += 1
        for reader in self._readers:
            if (events := reader.feed(line)) is not None:
                self._idle = 0
                if not any(isinstance(event, Reset) for event in events):
                    return events
                return [*self.flush(), *events, *read_messages(line)]  # the same line says why it restarted
        messages = read_messages(line)
        is_stopped = any(isinstance(one, Message) and BY_KIND[one.kind].role in _ENDS for one in messages)
        overdue = self.flush() if self._idle == _MAX_OTHER_LINES or is_stopped else []
        return [*overdue, *messages]

    def flush(self) -> list[LogEvent]:
        """Finish the reports that are open: the port was silent for long enough that no more of them will come."""
        return [event for reader in self._readers for event in reader.flush()]

    def close(self) -> list[LogEvent]:
        """Finish everything: the log ends here."""
        last = [event for line in self._assembler.close() for event in self.feed_line(line)]
        return [*last, *self.flush()]


def parse_log(data: bytes) -> list[LogEvent]:
    parser = LogParser()
    return [*parser.feed(data), *parser.close()]
