"""The host's side of our link, without I/O: bytes in, events out; commands in, bytes out.

Two machines share the stream, and one table each says all that they do. The *report* machine believes what arrives
between a begin and an end when every line is there; the *command* machine has at most one command under way.

    report      IDLE --begin--> OPEN --end--> IDLE          ArenaReport, or TornReport where no candidate is whole
                OPEN --begin of another report, hello, too many lines, end of the log--> TornReport

    command     IDLE --send--> AWAITING --ok, no, done--> IDLE   Reply
                AWAITING --hello of a start--> LOST   the device restarted: every later send is refused

What decides about a report is its end: the number of its lines and a digest of all of them. Gaps and damage on the way
are named, and lines that come twice are dropped. The same begin again is either such a line or a device that restarted
and counts from 0 again: both readings are kept as candidates until the end tells which one it was.

A frame that the state does not allow is an event, never an exception, because a device may say anything at any time.
What *we* do wrong is a LocalProtocolError.
"""

from __future__ import annotations

from enum import Enum

from tflm_sim.errors import LocalProtocolError
from tflm_sim.extensions.board import link_events
from tflm_sim.extensions.board.framing import (
    SCHEMA,
    SEQUENCE_MODULUS,
    BadFrame,
    FieldValue,
    Frame,
    encode_frame,
    split_line,
)
from tflm_sim.extensions.board.messages import REPLY_FIELDS, schema_problem
from tflm_sim.extensions.board.report_builder import MAX_LINES, ReportCandidates
from tflm_sim.logs.lines import LineAssembler, RawLine


class ReportState(Enum):
    """Where the report machine is."""

    IDLE = "no report is open"
    OPEN = "a report is open"


class CommandState(Enum):
    """Where the command machine is."""

    IDLE = "no command is under way"
    AWAITING = "a command waits for its reply"
    LOST = "the device restarted during a command"


class LinkInput(Enum):
    """An input of the two state machines: a frame, by what it means in this state, or a call of our own."""

    BEGIN = "a report begins"
    FOREIGN = "a report of another schema begins"
    REPEATED_BEGIN = "the begin of the open report arrives once more"
    LINE = "a line of the open report"
    TOO_LONG = "the open report has more lines than any"
    END = "an end with the open report's number"
    OUTSIDE_REPORT = "a line or an end of a report that is not open"
    START = "the device says that it started"
    CLOSE = "the stream ends"
    SEND = "we send a command"
    RESEND = "we send the same command once more"
    REPLY = "the reply to the command under way"
    GIVE_UP = "we no longer wait for the answer to the command"


# (state, input) -> (next state, the method that does what there is to do, "" where nothing is).
REPORT_TRANSITIONS: dict[tuple[ReportState, LinkInput], tuple[ReportState, str]] = {
    (ReportState.IDLE, LinkInput.BEGIN): (ReportState.OPEN, "_open"),
    (ReportState.IDLE, LinkInput.FOREIGN): (ReportState.IDLE, "_refuse"),
    (ReportState.IDLE, LinkInput.OUTSIDE_REPORT): (ReportState.IDLE, "_outside_report"),
    (ReportState.IDLE, LinkInput.START): (ReportState.IDLE, ""),
    (ReportState.IDLE, LinkInput.CLOSE): (ReportState.IDLE, ""),
    (ReportState.OPEN, LinkInput.BEGIN): (ReportState.OPEN, "_tear_and_open"),
    (ReportState.OPEN, LinkInput.REPEATED_BEGIN): (ReportState.OPEN, "_open_another"),
    (ReportState.OPEN, LinkInput.FOREIGN): (ReportState.IDLE, "_tear_and_refuse"),
    (ReportState.OPEN, LinkInput.LINE): (ReportState.OPEN, "_add"),
    (ReportState.OPEN, LinkInput.TOO_LONG): (ReportState.IDLE, "_give_up"),
    (ReportState.OPEN, LinkInput.END): (ReportState.IDLE, "_finish"),
    (ReportState.OPEN, LinkInput.OUTSIDE_REPORT): (ReportState.OPEN, "_outside_report"),
    (ReportState.OPEN, LinkInput.START): (ReportState.IDLE, "_tear_by_start"),
    (ReportState.OPEN, LinkInput.CLOSE): (ReportState.IDLE, "_tear_by_close"),
}
# What is not here is a LocalProtocolError where we ask for it, and a frame that is ignored where the device sends it.
COMMAND_TRANSITIONS: dict[tuple[CommandState, LinkInput], CommandState] = {
    (CommandState.IDLE, LinkInput.SEND): CommandState.AWAITING,
    (CommandState.IDLE, LinkInput.START): CommandState.IDLE,
    (CommandState.IDLE, LinkInput.GIVE_UP): CommandState.IDLE,
    (CommandState.AWAITING, LinkInput.RESEND): CommandState.AWAITING,
    (CommandState.AWAITING, LinkInput.REPLY): CommandState.IDLE,
    (CommandState.AWAITING, LinkInput.START): CommandState.LOST,
    (CommandState.AWAITING, LinkInput.GIVE_UP): CommandState.IDLE,
    (CommandState.LOST, LinkInput.START): CommandState.LOST,
    (CommandState.LOST, LinkInput.GIVE_UP): CommandState.IDLE,
}


class Connection:
    """One end of a link (mutable)."""

    __slots__ = ("_assembler", "_candidates", "_last", "_late", "_reason", "_report", "_sequence", "command", "state")

    def __init__(self) -> None:
        self._assembler = LineAssembler()
        self._candidates = ReportCandidates()
        self._last: Frame | None = None
        self._late: Frame | None = None
        self._reason = ""
        self._sequence = 0
        self._report = ReportState.IDLE
        self.state = CommandState.IDLE
        self.command: tuple[int, bytes] | None = None

    # What arrives.

    def receive(self, data: bytes) -> list[link_events.LinkEvent]:
        """Take the next bytes; return the events that they complete."""
        return [event for line in self._assembler.feed(data) for event in self._take_line(line)]

    def close(self, reason: str = "the log ends") -> list[link_events.LinkEvent]:
        """Return the events of the end of the stream: a line without an end, and a report without an end."""
        last = [event for line in self._assembler.close() for event in self._take_line(line)]
        self._reason = reason
        return [*last, *self._step_report(LinkInput.CLOSE, None)]

    def _take_line(self, line: RawLine) -> list[link_events.LinkEvent]:
        frames, rest = split_line(line)
        events = [event for frame in frames for event in self._take(frame)]
        text = [link_events.Text(RawLine(line.number, line.offset, rest, line.ended))] if rest.strip() else []
        return [*text, *events]

    def _take(self, frame: Frame | BadFrame) -> list[link_events.LinkEvent]:
        if isinstance(frame, BadFrame):
            return [frame]
        last = self._last
        begins_again = frame.type == "begin" and self._candidates.begins_with(frame)
        if not begins_again and (_is_same(frame, last) or self._candidates.knows(frame)):
            self._last = frame
            return [link_events.DuplicateFrame(frame.line, frame.sequence)]
        counted = [] if begins_again and _is_same(frame, last) else self._count(frame)
        if problem := schema_problem(frame):
            return [*counted, link_events.UnknownFrame(frame.line, problem)]
        if frame.type in REPLY_FIELDS:
            return [*counted, *self._take_reply(frame)]
        return [*counted, *self._step_report(self._meaning(frame, begins_again), frame)]

    def _count(self, frame: Frame) -> list[link_events.LinkEvent]:
        """Follow the sender's count of frames; a hello starts it again.

        Going back is a restart, or one line that came late: two in a row tell that it is a restart.
        """
        last, late = self._last, self._late
        expected = frame.sequence if last is None or frame.type == "hello" else (last.sequence + 1) % SEQUENCE_MODULUS
        missing = (frame.sequence - expected) % SEQUENCE_MODULUS
        goes_back = missing >= SEQUENCE_MODULUS // 2
        goes_on_late = late is not None and frame.sequence == (late.sequence + 1) % SEQUENCE_MODULUS
        if goes_back and frame.type != "begin" and not goes_on_late:
            self._late = frame
        else:
            self._last, self._late = frame, None
        if goes_back:
            return [] if goes_on_late else [link_events.CountedBack(frame.line, expected, frame.sequence)]
        return [link_events.Gap(frame.line, expected, frame.sequence, missing)] if missing else []

    def _meaning(self, frame: Frame, begins_again: bool) -> LinkInput:
        """Return which input of the report machine a frame is."""
        if frame.type == "begin":
            known = LinkInput.REPEATED_BEGIN if begins_again else LinkInput.BEGIN
            return known if frame.number("v") == SCHEMA else LinkInput.FOREIGN
        if frame.number("r") != self._candidates.number:
            return LinkInput.OUTSIDE_REPORT
        if frame.type == "end":
            return LinkInput.END
        return LinkInput.LINE if self._candidates.line_count < MAX_LINES else LinkInput.TOO_LONG

    def _step_report(self, given: LinkInput, frame: Frame | None) -> list[link_events.LinkEvent]:
        self._report, action = REPORT_TRANSITIONS[self._report, given]
        events: list[link_events.LinkEvent] = getattr(self, action)(frame) if action else []
        return events

    def _open(self, frame: Frame) -> list[link_events.LinkEvent]:
        self._candidates.open(frame)
        return []

    def _open_another(self, frame: Frame) -> list[link_events.LinkEvent]:
        self._candidates.open(frame)
        return [link_events.DuplicateFrame(frame.line, frame.sequence)]

    def _tear_and_open(self, frame: Frame) -> list[link_events.LinkEvent]:
        torn = self._candidates.tear(frame.line, "another begins before its end")
        self._candidates.open(frame)
        return torn

    def _refuse(self, frame: Frame) -> list[link_events.LinkEvent]:
        return [link_events.UnknownFrame(frame.line, f"schema {frame.number('v')}: this version reads {SCHEMA}")]

    def _tear_and_refuse(self, frame: Frame) -> list[link_events.LinkEvent]:
        return [*self._candidates.tear(frame.line, "another begins before its end"), *self._refuse(frame)]

    def _add(self, frame: Frame) -> list[link_events.LinkEvent]:
        self._candidates.add(frame)
        return []

    def _give_up(self, frame: Frame) -> list[link_events.LinkEvent]:
        return self._candidates.tear(frame.line, f"it has more than {MAX_LINES:,} lines")

    def _finish(self, frame: Frame) -> list[link_events.LinkEvent]:
        return self._candidates.finish(frame)

    def _outside_report(self, frame: Frame) -> list[link_events.LinkEvent]:
        if frame.type != "end":
            return []
        if self._candidates.ended_with(frame):
            return [link_events.DuplicateFrame(frame.line, frame.sequence)]
        return [link_events.TornReport(frame.line, frame.number("r"), "its beginning is missing")]

    def _tear_by_start(self, frame: Frame) -> list[link_events.LinkEvent]:
        return self._candidates.tear(frame.line, "the device restarted")

    def _tear_by_close(self, _: None) -> list[link_events.LinkEvent]:
        return self._candidates.tear(0, self._reason)

    def _take_reply(self, frame: Frame) -> list[link_events.LinkEvent]:
        if frame.type == "hello":
            return self._take_hello(frame)
        is_ours = self.command is not None and frame.number("q") == self.command[0]
        if not is_ours or not self._step_command(LinkInput.REPLY):
            return [
                link_events.UnknownFrame(frame.line, f"a reply to command {frame.number('q')}, which is not under way")
            ]
        self.command = None
        return [link_events.Reply(frame.line, frame.type, frame.number("q"), frame.fields)]

    def _take_hello(self, frame: Frame) -> list[link_events.LinkEvent]:
        ping = dict(frame.fields).get("q", -1)
        hello = link_events.Hello(
            frame.line,
            ping if isinstance(ping, int) else -1,
            frame.text("app"),
            frame.number("room"),
            frame.number("buffers"),
        )
        if hello.ping >= 0:
            return [hello]
        self._step_command(LinkInput.START)
        return [*self._step_report(LinkInput.START, frame), hello]

    def _step_command(self, given: LinkInput) -> bool:
        """Give the command machine an input; return whether its state allows it."""
        following = COMMAND_TRANSITIONS.get((self.state, given))
        self.state = following or self.state
        return following is not None

    # What is sent.

    def send(self, kind: str, **fields: FieldValue) -> bytes:
        """Return the bytes of a command.

        Raises:
            LocalProtocolError: Another command is under way, or the device restarted during one.
        """
        if not self._step_command(LinkInput.SEND):
            raise LocalProtocolError(f"'{kind}' cannot be sent: {self.state.value}")
        data = encode_frame(self._sequence, kind, fields)
        self.command = self._sequence, data
        self._sequence = (self._sequence + 1) % SEQUENCE_MODULUS
        return data

    def resend(self) -> bytes:
        """Return the bytes of the command under way once more: the device carries out each sequence number once.

        Raises:
            LocalProtocolError: No command is under way.
        """
        if self.command is None or not self._step_command(LinkInput.RESEND):
            raise LocalProtocolError(f"there is no command to repeat: {self.state.value}")
        return self.command[1]

    def forget(self) -> None:
        """Stop waiting for a reply to the last command."""
        self._step_command(LinkInput.GIVE_UP)
        self.command = None


def _is_same(frame: Frame, other: Frame | None) -> bool:
    return other is not None and (frame.sequence, frame.crc) == (other.sequence, other.crc)
