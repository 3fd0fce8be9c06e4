"""What the link says, as immutable events."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.extensions.board.framing import BadFrame, FieldValue
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.lines import RawLine


@dataclass(frozen=True, slots=True)
class Text:
    """A line of other text, to be shown and to be read by the dialects."""

    raw: RawLine


@dataclass(frozen=True, slots=True)
class Gap:
    """Frames are missing: ``missing`` frames from number ``expected`` to the one before ``got``, modulo 65536."""

    line: int
    expected: int
    got: int
    missing: int


@dataclass(frozen=True, slots=True)
class CountedBack:
    """The sender's count of frames went back: the device restarted, or an old line came late."""

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
        room: Bytes of arena that it can offer; 0 for firmware that reports only.
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


LinkEvent = (
    Text | BadFrame | Gap | CountedBack | DuplicateFrame | TornReport | UnknownFrame | Hello | Reply | ArenaReport
)
