"""The host's side of our link, without I/O: bytes in, events out; commands in, bytes out.

Two machines share the stream. The *report* machine believes what arrives between a begin and an end when every line is
there; the *command* machine has at most one command under way.

    report      IDLE --begin--> OPEN --end with the right count and digest--> IDLE   ArenaReport
                OPEN --begin, hello, end that does not match, end of the log--> IDLE or OPEN     TornReport

    command     IDLE --send--> AWAITING --ok, no, done--> IDLE   Reply
                AWAITING --hello of a start--> LOST   the device restarted: every later send is refused

What decides about a report is its end: the number of its lines and a digest of all of them. Gaps and damage on the way
are named, and lines that come twice are dropped. A frame that the state does not allow is an event, never an exception,
because a device may say anything at any time. What *we* do wrong is a LocalProtocolError.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tflm_sim.board.framing import (
    SCHEMA,
    SEQUENCE_MODULUS,
    BadFrame,
    FieldValue,
    Frame,
    encode_frame,
    split_line,
)
from tflm_sim.board.lines import LineAssembler, RawLine
from tflm_sim.board.messages import REPLY_FIELDS, ArenaReport, schema_problem
from tflm_sim.board.report_builder import ReportBuilder
from tflm_sim.errors import LocalProtocolError


class CommandState(Enum):
    """Where the command machine is."""

    IDLE = "no command is under way"
    AWAITING = "a command waits for its reply"
    LOST = "the device restarted during a command"


@dataclass(frozen=True, slots=True)
class Text:
    """A line of other text, to be shown and to be read by the dialects."""

    raw: RawLine


@dataclass(frozen=True, slots=True)
class Gap:
    """Frames are missing: the sequence jumped from one number to another."""

    line: int
    expected: int
    got: int


@dataclass(frozen=True, slots=True)
class DuplicateFrame:
    """The same frame again; ignored."""

    line: int
    sequence: int


@dataclass(frozen=True, slots=True)
class TornReport:
    """A report that lost lines; dropped as a whole."""

    line: int
    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class UnknownFrame:
    """A whole frame that this version does not understand; ignored."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Hello:
    """The firmware started, or answers a ping.

    Attributes:
        line: Line number.
        ping: Sequence number of the ping, -1 after a start.
        app: Its name.
        room: Bytes of arena that it can offer.
        buffers: How many buffers it can plan.
    """

    line: int
    ping: int
    app: str
    room: int
    buffers: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command: ``type`` is "ok", "no" or "done"."""

    line: int
    type: str
    command: int
    fields: tuple[tuple[str, FieldValue], ...]

    def number(self, name: str) -> int:
        """Return the field ``name``, which the schema promises to be an integer."""
        value = dict(self.fields)[name]
        assert isinstance(value, int), "the schema was checked when the frame was read"
        return value


LinkEvent = Text | BadFrame | Gap | DuplicateFrame | TornReport | UnknownFrame | Hello | Reply | ArenaReport


class Connection:
    """One end of a link (mutable)."""

    __slots__ = ("_assembler", "_builder", "_last", "_sequence", "command", "state")

    def __init__(self) -> None:
        self._assembler = LineAssembler()
        self._builder: ReportBuilder | None = None
        self._last: Frame | None = None
        self._sequence = 0
        self.state = CommandState.IDLE
        self.command: tuple[int, bytes] | None = None

    # What arrives.

    def receive(self, data: bytes) -> list[LinkEvent]:
        """Take the next bytes; return the events that they complete."""
        return [event for line in self._assembler.feed(data) for event in self._take_line(line)]

    def close(self, reason: str = "the log ends") -> list[LinkEvent]:
        """Return what the end of the stream says: the line that has no end, and the report that has none."""
        last = [event for line in self._assembler.close() for event in self._take_line(line)]
        return [*last, *self._tear(0, reason)]

    def _take_line(self, line: RawLine) -> list[LinkEvent]:
        frames, rest = split_line(line)
        events = [event for frame in frames for event in self._take(frame)]
        text = [Text(RawLine(line.number, line.offset, rest, line.ended))] if rest.strip() else []
        return [*text, *events]

    def _take(self, frame: Frame | BadFrame) -> list[LinkEvent]:
        if isinstance(frame, BadFrame):
            return [frame]
        last, self._last = self._last, frame
        twice = last is not None and (frame.sequence, frame.crc) == (last.sequence, last.crc)
        if twice or (self._builder is not None and self._builder.knows(frame)):
            return [DuplicateFrame(frame.line, frame.sequence)]
        expected = (last.sequence + 1) % SEQUENCE_MODULUS if last is not None else frame.sequence
        fresh = frame.sequence == expected or frame.type == "hello"
        gap: list[LinkEvent] = [] if fresh else [Gap(frame.line, expected, frame.sequence)]
        if problem := schema_problem(frame):
            return [*gap, UnknownFrame(frame.line, problem)]
        return [*gap, *(self._take_reply(frame) if frame.type in REPLY_FIELDS else self._take_report(frame))]

    def _take_report(self, frame: Frame) -> list[LinkEvent]:
        if frame.type == "begin":
            return self._begin(frame)
        if self._builder is None or frame.number("r") != self._builder.number:
            stray = TornReport(frame.line, frame.number("r"), "its beginning is missing")
            return [stray] if frame.type == "end" else []
        if frame.type != "end":
            self._builder.add(frame)
            return []
        builder, self._builder = self._builder, None
        problem = builder.end_problem(frame)
        return [TornReport(frame.line, builder.number, problem)] if problem else [builder.finish(frame)]

    def _begin(self, frame: Frame) -> list[LinkEvent]:
        torn = self._tear(frame.line, "another begins before its end")
        if frame.number("v") != SCHEMA:
            return [*torn, UnknownFrame(frame.line, f"schema {frame.number('v')}: this version reads {SCHEMA}")]
        self._builder = ReportBuilder(frame)
        return torn

    def _tear(self, line: int, reason: str) -> list[LinkEvent]:
        builder, self._builder = self._builder, None
        return [] if builder is None else [TornReport(line, builder.number, reason)]

    def _take_reply(self, frame: Frame) -> list[LinkEvent]:
        if frame.type == "hello":
            return self._take_hello(frame)
        if self.command is None or frame.number("q") != self.command[0]:
            return [UnknownFrame(frame.line, f"a reply to command {frame.number('q')}, which is not under way")]
        self.state, self.command = CommandState.IDLE, None
        return [Reply(frame.line, frame.type, frame.number("q"), frame.fields)]

    def _take_hello(self, frame: Frame) -> list[LinkEvent]:
        ping = dict(frame.fields).get("q", -1)
        hello = Hello(
            frame.line,
            ping if isinstance(ping, int) else -1,
            frame.text("app"),
            frame.number("room"),
            frame.number("buffers"),
        )
        if hello.ping >= 0:
            return [hello]
        if self.state is CommandState.AWAITING:
            self.state = CommandState.LOST
        return [*self._tear(frame.line, "the device restarted"), hello]

    # What is sent.

    def send(self, kind: str, **fields: FieldValue) -> bytes:
        """Return the bytes of a command.

        Raises:
            LocalProtocolError: Another command is under way, or the device restarted during one.
        """
        if self.state is not CommandState.IDLE:
            raise LocalProtocolError(f"'{kind}' cannot be sent: {self.state.value}")
        data = encode_frame(self._sequence, kind, fields)
        self.command = self._sequence, data
        self._sequence = (self._sequence + 1) % SEQUENCE_MODULUS
        self.state = CommandState.AWAITING
        return data

    def resend(self) -> bytes:
        """Return the bytes of the command under way once more: the device carries out each sequence number once.

        Raises:
            LocalProtocolError: No command is under way.
        """
        if self.state is not CommandState.AWAITING or self.command is None:
            raise LocalProtocolError(f"there is no command to repeat: {self.state.value}")
        return self.command[1]

    def forget(self) -> None:
        """Give the command under way up: no reply to it is expected any more."""
        self.state, self.command = CommandState.IDLE, None
