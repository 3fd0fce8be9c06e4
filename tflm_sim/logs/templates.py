r"""A printf format -> a reader of the lines that it prints, whole, cut short, or torn.

    format   Failed to resize buffer. Requested: %u, available %u, missing: %u
    whole    Failed to resize buffer. Requested: 33488, available 20472, missing: 13016
    cut      Failed to resize buffer. Requested: 33488, avail
    torn     Failed to resize buffer. Requested: 334I (1203) wifi: connected

A number is believed only when something of the format stands after it, or when the format and the line end with it.
A text ends at the first place where what the format has after it stands, and is not tried again beyond (an atomic
group): the time to read a line is bounded, whatever stands in it. Blanks are optional and ``available`` may have a
colon, because people retype logs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_CONVERSION = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|z|t|j)?[diuxXpcsf])")
# No device prints a number of more digits: one that is longer is damage.
_PATTERNS = {
    "d": r"-?(?:\d{1,3}(?:,\d{3}){1,3}(?!,?\d)|\d{1,10}(?!\d))",
    "x": r"(?!0[xX])[0-9a-fA-F]{1,16}(?![0-9a-fA-F])",
    "c": r".",
    "s": r".+?",
    "f": r"-?\d{1,20}(?:\.\d{1,20})?",
}
_PLAIN = {"i": "d", "u": "d", "X": "x", "p": "x"}
_HEAD = 12
_DOTS = ".\N{HORIZONTAL ELLIPSIS} "
"""What terminals and people put where a line is cut."""
_LONG = 18
"""Characters of its own from which a format is known within other words."""
_LEAST_END = 4
"""Characters of a literal from which a line whose beginning is cut may go on."""


@dataclass(frozen=True)
class Template:
    """One printf format with a name for each conversion.

    Attributes:
        format: As in the C source, line end and trailing blanks left out.
        fields: One name per conversion, in order.
    """

    format: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        assert sum(kind != "lit" for kind, _ in self.tokens) == len(self.fields), self.format

    @cached_property
    def tokens(self) -> tuple[tuple[str, str], ...]:
        """The pieces: ("lit", text) or (conversion class, "")."""
        pieces: list[tuple[str, str]] = []
        position = 0
        literal = ""
        for match in _CONVERSION.finditer(self.format):
            literal += self.format[position : match.start()]
            position = match.end()
            letter = match[0][-1]
            if letter == "%":
                literal += "%"
                continue
            if literal:
                pieces.append(("lit", literal))
            literal = ""
            pieces.append((_PLAIN.get(letter, letter), ""))
        literal += self.format[position:]
        return (*pieces, ("lit", literal)) if literal else tuple(pieces)

    @cached_property
    def literal_size(self) -> int:
        """How many characters are the format's own."""
        return sum(len(text) for kind, text in self.tokens if kind == "lit")

    @cached_property
    def anchor(self) -> str:
        """A text that every whole line of this format contains."""
        literals = [text for kind, text in self.tokens if kind == "lit"]
        return max((text.split(":")[0].strip() or text for text in literals), key=len)

    @cached_property
    def head(self) -> str:
        """The first bytes of the format, enough to know a cut line by; "" when it begins with a conversion."""
        kind, text = self.tokens[0]
        return text[:_HEAD] if kind == "lit" and len(text) >= _HEAD else ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole line, to be searched for: other text may stand before and after it."""
        last = len(self.tokens) - 1
        parts: list[str] = []
        until = 0
        for index, (kind, text) in enumerate(self.tokens):
            is_text = kind == "s" and 0 < index < last
            if is_text and not until:
                parts.append("(?>")
                until = index + 1 if [kind for kind, _ in self.tokens[index + 2 : index + 3]] == ["s"] else index + 2
            parts.append(
                _lenient(text) if kind == "lit" else f"({_pattern(kind, last=index == last, first=index == 0)})"
            )
            if until and index in (until, last):
                parts.append(")")
                until = 0
        return re.compile(self._edge(r"(?<![A-Za-z])", 0) + "".join(parts) + self._edge(r"(?![A-Za-z])", -1))

    def _edge(self, guard: str, end: int) -> str:
        """Return ``guard`` where a text so short that words contain it begins, or ends, with a letter."""
        kind, text = self.tokens[end]
        return guard if kind == "lit" and text[end].isalpha() and self.literal_size < _LONG else ""

    def find_all(self, text: str) -> list[tuple[dict[str, int | str], int, int]]:
        """Return the fields of each whole message in ``text``, where it begins, and where it ends."""
        if self.anchor not in text:
            return []
        kinds = [kind for kind, _ in self.tokens if kind != "lit"]
        return [
            (
                {name: _value(kind, part) for name, kind, part in zip(self.fields, kinds, match.groups(), strict=True)},
                match.start(),
                match.end(),
            )
            for match in self.pattern.finditer(text)
        ]

    def find_cut(self, text: str) -> tuple[dict[str, int | str], int, bool] | None:
        """Read a message that does not end properly.

        Returns:
            The fields, how many characters agreed, and whether the line simply ends there (cut) or goes on with
            something else (torn); None when ``text`` has not even the head of this message.
        """
        start = text.find(self.head) if self.head else -1
        if start < 0:
            return None
        values, end, at_end = self._read_from(0, text, start)
        return values, end - start, at_end

    def find_end(self, text: str) -> tuple[dict[str, int | str], int] | None:
        """Read a message whose beginning is cut, with its end or without.

        Returns:
            The fields and how many characters agreed, all of ``text``; None where it is no end of this message.
        """
        best: tuple[dict[str, int | str], int] | None = None
        for index, (kind, literal) in enumerate(self.tokens):
            if kind != "lit" or (text[:3] not in literal and literal[-_LEAST_END:-2].strip()):
                continue  # The text begins with the literal's end: three characters, or fewer that follow blanks.
            for cut in range(len(literal) - _LEAST_END + 1):
                if not text.startswith(literal[cut:].lstrip()):
                    continue
                start = len(literal[cut:].lstrip())
                values, end, at_end = self._read_from(index + 1, text, start)
                if at_end and end == len(text) and values and (best is None or start > best[1]):
                    best = values, end
                break
        return best

    def _read_from(self, first: int, text: str, position: int) -> tuple[dict[str, int | str], int, bool]:
        """Read from a token on; return the fields, where the agreement ends, and whether the line ends there."""
        values: dict[str, int | str] = {}
        skipped = sum(kind != "lit" for kind, _ in self.tokens[:first])
        names = iter(self.fields[skipped:])
        for kind, literal in self.tokens[first:]:
            if kind == "lit":
                length, matched = _common(literal, text[position:])
                position += length
                if not matched:
                    return values, position, not text[position:].strip(_DOTS)
                continue
            name = next(names)
            match = re.compile(_pattern(kind, last=kind == "s", first=False)).match(text, position)
            if match is None or (not text[match.end() :].strip(_DOTS) and first == 0):
                return values, position, match is not None or position >= len(text)
            values[name] = _value(kind, match[0])
            position = match.end()
        return values, position, first > 0 and position == len(text)


def conversions(text: str) -> list[str]:
    """Return the conversions of a printf format."""
    return [match[0] for match in _CONVERSION.finditer(text) if match[0] != "%%"]


def _pattern(kind: str, *, last: bool, first: bool) -> str:
    if kind == "s" and (last or first):
        return r"(?<!\S)\S{1,160}" if first else r"\S+"
    return _PATTERNS[kind]


def _lenient(literal: str) -> str:
    """Escape a literal; blanks may be missing and "available" may have a colon."""
    parts = [re.escape(part) for part in re.split(r"\s+", literal)]
    return r"\s*".join(parts).replace("available", "available:?")


def _common(literal: str, text: str) -> tuple[int, bool]:
    """How many characters of ``text`` agree with ``literal``, and whether all of the literal was there."""
    if (match := re.compile(_lenient(literal)).match(text)) is not None:
        return match.end(), True
    length = 0
    while length < min(len(literal), len(text)) and literal[length] == text[length]:
        length += 1
    return length, False


def _value(kind: str, text: str) -> int | str:
    if kind == "d":
        return int(text.replace(",", ""))
    return int(text, 16) if kind == "x" else text
