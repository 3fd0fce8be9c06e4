"""What the page shows, ready for people: its script lays it out and makes no sentence and no sum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tflm_sim.checks.doubts import Answer
from tflm_sim.document_fields import OPTIONAL
from tflm_sim.document_types import Count


@dataclass(frozen=True, slots=True)
class Choice:
    """A target, a library, or a board with its target and its flash (0 where it differs)."""

    name: str
    description: str
    target: str | None = field(default=None, metadata=OPTIONAL)
    flash: Count | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen, and which version of this package runs, with its planners in C or in Python."""

    version: str
    targets: tuple[Choice, ...]
    boards: tuple[Choice, ...]
    libraries: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class StripPart:
    """A part of the strip that shows an arena.

    Attributes:
        title: What it is and how large, for people.
        bytes: Its size.
        category: A key of ``palette.CATEGORIES``; "gap", "free" or "missing" for what is none.
        light, dark: Its colour on a light and on a dark ground.
        is_hatched: Whether lines lie over it.
    """

    title: str
    bytes: Count
    category: str
    light: str
    dark: str
    is_hatched: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """What the table of all models says of one: numbers, null where there is none, and why it fits or not.

    ``left`` is what the largest bank of the board has left, below zero what is too much.
    """

    arena: int | None
    head: int | None
    tail: int | None
    operators: int | None
    left: int | None
    fits: str
    reason: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """All that the page says of a model.

    Attributes:
        answer: Whether it fits; null where nobody asked for a room.
        tone: "yes", "no" or "open": how the verdict is coloured.
        verdict: Whether it fits, or why there is no arena; "" where nobody asked for a room.
        number, about, assumed: The bytes to put in the firmware, for what, and what was not named.
        smallest: The smallest arena; null where there is none.
        line: What to paste; "" where there is no arena.
        problem: Why no Invoke() works, or "".
        log: What the device prints where it fails.
        strip: The arena, from its start to its end, and what the board has beside it.
        facts: Titles and figures.
        row: The same for the table of all models.
    """

    answer: Answer | None
    tone: Literal["yes", "no", "open"]
    verdict: str
    number: str
    about: str
    assumed: str
    smallest: Count | None
    line: str
    problem: str
    log: str
    strip: tuple[StripPart, ...]
    facts: tuple[tuple[str, str], ...]
    row: TableRow


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A model on every board.

    Attributes:
        summary: Which boards it fits.
        rows: Board, arena, whether it fits, shares of RAM and flash, target, what it is.
        tones: Of each row: "yes", "no" or "open".
        errors: Of each row why there is no arena, or "".
    """

    summary: str
    rows: tuple[tuple[str, ...], ...]
    tones: tuple[str, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model that is open.

    Attributes:
        number: What to call it by.
        name: The file's, with the array or member that it is; printable.
        bytes: Of its file.
        save: What the button says that saves it.
    """

    number: Count
    name: str
    bytes: Count
    save: str = ""


@dataclass(frozen=True, slots=True)
class OpenFirmware:
    """A linked program that is open.

    Attributes:
        firmware: What to call it by.
        name: The file's; printable.
    """

    firmware: Count
    name: str


@dataclass(frozen=True, slots=True)
class FirmwareAnswer:
    """Whether the models of a program fit their arenas, as ``firmware`` says it.

    Attributes:
        answer: Whether all do: the worst of their answers.
        fits: The same as true or false; null where it is "if" or "cannot tell".
        verdicts: A line for each model, or the one that says why there is no answer.
        tones: Of each verdict: "yes", "no" or "open".
        facts: What the file says, and how it is known.
    """

    answer: Answer
    fits: bool | None
    verdicts: tuple[str, ...]
    tones: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that could not be answered, and why."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class BoardVerdict:
    """Whether the arena fits into the board that was named.

    Attributes:
        answer: Whether it does; "cannot tell" where only the firmware knows.
        text: The same in words.
        left: Bytes that its largest bank has left, below zero those that are too many; null where none is known.
    """

    answer: Answer
    text: str
    left: int | None = None


@dataclass(frozen=True, slots=True)
class ShrinkRow:
    """What shrinking gave.

    Attributes:
        lines: For people.
        smaller: The model that it made; None where it gained nothing.
    """

    lines: tuple[str, ...]
    smaller: OpenModel | None
