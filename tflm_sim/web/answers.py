"""What the page is told: documents, which ``documents.py`` writes as JSON."""

from __future__ import annotations

from tflm_sim.documents import OPTIONAL, Count
from tflm_sim.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Choice:
    """A target, or a board and its target."""

    name: str
    description: str
    target: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen, and the version of this package."""

    version: str
    targets: tuple[Choice, ...]
    boards: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model that is open.

    Attributes:
        number: What to call it by.
        name: The file's, with the array or member that it is; printable.
        bytes: Of its file.
    """

    number: Count
    name: str
    bytes: Count


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What could not be answered, and why."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The size of a model.

    Attributes:
        target: The preset.
        kernels: The kernel library.
        status: "ok", or how TFLM fails.
        smallest: The smallest arena in bytes; None where it fails in an arena of any size.
        multiple_of_16: The smallest that is a multiple of 16.
        used: ``arena_used_bytes()``.
        head: Bytes of the plan.
        tail: Bytes of persistent memory.
        operators: In all subgraphs.
        failure: What fails, in words; "" where nothing does.
        log: What the device prints, at most 20 lines.
    """

    target: str
    kernels: str
    status: str
    smallest: Count | None
    multiple_of_16: Count | None
    used: Count | None
    head: Count
    tail: Count
    operators: Count
    failure: str
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoardFit:
    """A model on a board.

    Attributes:
        board: Its name.
        description: What it is.
        target: Its preset.
        ram: Bytes of its largest bank; None where that is not known.
        flash: Its bytes of flash, likewise.
        model_bytes: Of the model's file.
        multiple_of_16: The arena's bytes; None where there is no answer.
        share: The arena's share of the bank; None where either is not known.
        fits: Whether arena and model are no larger than that; None where it is not known.
        error: Why there is no answer; "" where there is one.
    """

    board: str
    description: str
    target: str
    ram: Count | None
    flash: Count | None
    model_bytes: Count
    multiple_of_16: Count | None
    share: float | None
    fits: bool | None
    error: str


@dataclass(frozen=True, slots=True)
class ShrinkRow:
    """What shrinking gave.

    Attributes:
        lines: For people.
        smaller: The model that it made; None where it gained nothing.
    """

    lines: tuple[str, ...]
    smaller: OpenModel | None
