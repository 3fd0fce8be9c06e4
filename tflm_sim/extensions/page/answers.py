"""Answers that only the page asks for. Its sizes and boards are those of ``size --json``, with ``--boards all`` too."""

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
    """What can be chosen, the version of this package, and whether its planners run in C or in Python."""

    version: str
    planner_core: Literal["C", "Python"]
    targets: tuple[Choice, ...]
    boards: tuple[Choice, ...]
    libraries: tuple[Choice, ...]


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
        facts: What the file says, and how it is known.
    """

    answer: Answer
    fits: bool | None
    verdicts: tuple[str, ...]
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
        fits: The same as true or false, or null.
        text: The same in words.
        left: Bytes that its largest bank has left, below zero those that are too many; null where none is known.
    """

    answer: Answer
    fits: bool | None
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
