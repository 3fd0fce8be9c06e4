"""What a log says, as immutable events. ``line`` numbers are 1-based and skip blank lines.

Numbers are bytes unless the name says otherwise. ``problems`` are sentences: a report that has any is shown, named as
damaged, and never compared as if it were whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MAX_PROBLEMS = 20
"""Sentences; a report with more is no more damaged than with these."""


@dataclass(frozen=True, slots=True)
class Message:
    """A line of TFLM (or of an application around it) that we know.

    Attributes:
        line: Line number.
        kind: Key of the row in ``messages.MESSAGES``.
        values: The fields that were read, by name. A number that the line's cut may have shortened is left out.
        cut: The line ends before the message does.
        text: The line without its prefix.
    """

    line: int
    kind: str
    values: tuple[tuple[str, int | str], ...]
    cut: bool
    text: str

    def value(self, name: str) -> int | str | None:
        """Return the field ``name``, or None when the line did not have it."""
        return dict(self.values).get(name)

    def number(self, name: str) -> int | None:
        """Return the numeric field ``name``, or None when the line did not have it."""
        value = self.value(name)
        return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A line that begins like one we know and then is not: torn, interleaved or corrupted. Never believed."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reset:
    """The device started again or crashed; what was open before it is torn."""

    line: int
    cause: str


@dataclass(frozen=True, slots=True)
class CategoryUse:
    """A row of an allocation report: ``key`` is a name of ``RecordedAllocationType``; ``used`` counts alignment too."""

    key: str
    used: int
    requested: int
    count: int


@dataclass(frozen=True, slots=True)
class AllocationReport:
    """What a RecordingMicroAllocator or ``tflm_benchmark`` reported.

    Attributes:
        dialect: "recording", "benchmark-table" or "benchmark-csv".
        first_line: Line number of its first line.
        last_line: Line number of its last line.
        total: Bytes of the arena in use, None when that line is missing.
        head: Of these, not persistent; None when missing.
        tail: Of these, persistent; None when missing.
        categories: The rows, in order. The recording dialect leaves empty categories out.
        problems: Why it must not be believed; () for a sound report.
    """

    dialect: str
    first_line: int
    last_line: int
    total: int | None
    head: int | None
    tail: int | None
    categories: tuple[CategoryUse, ...]
    problems: tuple[str, ...]


class PlanDialect(Enum):
    """The three forms of GreedyMemoryPlanner::PrintMemoryPlan, by when upstream printed them."""

    VERBOSE = "until 2021-05"
    ORDINALS = "2021-05 to 2024-12"
    STARS = "since 2024-12"
    UNKNOWN = "any"


@dataclass(frozen=True, slots=True)
class PlanBuffer:
    """A planned buffer: [offset, offset + size) of the head, during steps first to last, both inclusive."""

    id: int
    size: int
    offset: int
    first: int
    last: int

    @property
    def is_possible(self) -> bool:
        """Whether a planner can print it: an offset is -1 where there is none yet."""
        return self.offset >= -1 and self.first <= self.last


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of the printed map: the step, the 80 columns, and KiB in use rounded up (None where not printed)."""

    step: int
    columns: str
    kib: int | None


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A printed memory plan; ``problems`` is () when the map is exactly what the buffers draw."""

    dialect: PlanDialect
    first_line: int
    last_line: int
    buffers: tuple[PlanBuffer, ...]
    rows: tuple[PlanRow, ...]
    problems: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes from offset 0 to the end of the furthest buffer."""
        return max((buffer.offset + buffer.size for buffer in self.buffers), default=0)


@dataclass(frozen=True, slots=True)
class ProfiledOp:
    """One line of MicroProfiler::Log."""

    line: int
    tag: str
    ticks: int
    ms: int


@dataclass(frozen=True, slots=True)
class TicksTable:
    """A CSV table of MicroProfiler: ``kind`` is "event" or "tag"; ``total`` is None for events."""

    kind: str
    first_line: int
    last_line: int
    rows: tuple[tuple[str, int], ...]
    total: int | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TensorChecksum:
    """``tflm_benchmark``'s CRC32 of an input or output tensor."""

    line: int
    which: str
    crc32: int


@dataclass(frozen=True, slots=True)
class ArenaConfigured:
    """The firmware says how large its arena is, in bytes."""

    line: int
    size: int
    dialect: str


@dataclass(frozen=True, slots=True)
class ArenaUsed:
    """One number for the arena, in bytes: low to high, inclusive; they differ where the firmware rounded."""

    line: int
    low: int
    high: int
    dialect: str


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """A whole ``MCUFIT_RESULT`` or ``MCUFIT_LAYER`` record, as sorted key-value pairs."""

    line: int
    kind: str
    values: tuple[tuple[str, str | int | float | bool | None], ...]

    def value(self, name: str) -> str | int | float | bool | None:
        """Return the field ``name``, or None."""
        return dict(self.values).get(name)


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """A layer of the MLTK profiler: metric names with the interval that its rounded figure allows."""

    line: int
    index: int
    name: str
    metrics: tuple[tuple[str, int, int], ...]


LogEvent = (
    Message
    | Damaged
    | Reset
    | AllocationReport
    | PlanReport
    | ProfiledOp
    | TicksTable
    | TensorChecksum
    | ArenaConfigured
    | ArenaUsed
    | BenchmarkRecord
    | LayerProfile
)
