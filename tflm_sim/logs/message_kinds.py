"""What a row of the tables of messages is: the text of a line, its cause, its remedy, its figures and its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from string import Formatter

from tflm_sim.logs.templates import Template

Values = Mapping[str, int | str]
"""The fields that were read in a line, by name."""


class Role(Enum):
    """What a line adds to a diagnosis."""

    ALLOCATOR = "the arena refused, with numbers"
    OWNER = "what the bytes were for"
    NODE = "which operator"
    KERNEL = "what the kernel refused"
    MODEL = "what is wrong with the model or the registered operators"
    SEQUENCE = "the program calls TFLM in a wrong order"
    NOTE = "a fact on the way"
    ADDRESS = "a further line in the report of a fault, often with an address"
    BUILD = "the linker refused the program"
    STOPPED = "the processor or the system stopped the program"
    REPORT = "the report of a fault begins, and its other lines say which"
    CAUSE = "why it was stopped"
    FLASH = "the linker refused code and constants"
    FRAMEWORK = "what failed in a program around TFLM"
    HANG = "the last line of a program that hangs"
    APP = "what the program made of it"


@dataclass(frozen=True, slots=True)
class MessageKind:
    """One row: a line that firmware, its system or its tools print, and what it means.

    Attributes:
        kind: Key; rows of one kind are one message in the words of several versions.
        role: What it adds to a diagnosis.
        phase: A phase of allocation, "" when the line alone does not tell.
        says: The cause, one short clause.
        source: Where it is printed.
        templates: Its forms.
        note: The remedy, or what else it proves: a sentence with the message's fields in braces.
        codes: What the values of the field ``code``, or of the first one, mean: a cause and a remedy instead of
            ``says`` and ``note``.
        reads: From the fields of a line: those and what follows from them; None where the line is not meant, as a
            sketch that uses 12 % of the flash.
    """

    kind: str
    role: Role
    phase: str
    says: str
    source: str
    templates: tuple[Template, ...]
    note: str = ""
    codes: Mapping[int | str, tuple[str, str]] = field(default_factory=dict)
    reads: Callable[[Values], Values | None] | None = None

    def meaning(self, values: Values) -> tuple[str, str]:
        """Return the cause and the remedy of a line with these fields.

        A field that the line had no room for is "?" in the cause; a remedy that needs it is "".
        """
        code = values.get("code", next(iter(values.values()), ""))
        says, note = self.codes.get(code, (self.says, self.note))
        needed = {name for _, name, _, _ in Formatter().parse(note) if name}
        return says.format_map(_Known(values)), note.format_map(values) if needed <= values.keys() else ""


class _Known(dict[str, int | str]):
    def __missing__(self, name: str) -> str:
        return _Unknown()


class _Unknown(str):
    __slots__ = ()

    def __format__(self, form: str) -> str:
        return "?"


def row(
    kind: str,
    role: Role,
    phase: str,
    says: str,
    source: str,
    *formats: str,
    fields: str = "",
    note: str = "",
    codes: Mapping[int | str, tuple[str, str]] | None = None,
    reads: Callable[[Values], Values | None] | None = None,
) -> MessageKind:
    """Return a row whose forms are printf formats, with a name for each conversion in ``fields``."""
    forms = tuple(Template(text, tuple(fields.split())) for text in formats)
    return MessageKind(kind, role, phase, says, source, forms, note, codes or {}, reads)
