"""What is left of a C++ source for a compiler that has some macros defined: no comments, no branches of ``#if``.

:func:`preprocessed` is strict, for sources of which every macro is known; :func:`blanked` is for anybody's: everything
stays in its place, and what nobody knows is "not defined" and is named.

Only what conditions say is evaluated: ``defined``, numbers, names, ``!``, ``&&``, ``||``, comparisons and parentheses.
Macros are not replaced in the text. Time is linear in the size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tflm_sim.errors import ModelError

_COMMENT_OR_STRING = re.compile(
    r"(?m:^[ \t]*+#[ \t]*+error\b[^\n]*+)"
    r"|//[^\n]*+|/\*[^*]*+(?:\*++[^*/][^*]*+)*+(?:\*++/?+)?+|\"(?:[^\"\\\n]++|\\.)*+\"?+"
)
_DIRECTIVE = re.compile(r"[ \t]*+#[ \t]*+(\w*+)[ \t]*+(.*)")
_DEFINITION = re.compile(r"([A-Za-z_]\w*+)[ \t]++(.+)")
_TOKEN = re.compile(r"\s*+(?:(\d\w*+)|([A-Za-z_]\w*+)|(&&|\|\||==|!=|>=|<=|[!()<>])|(\S))")
_SPLICE = "\0\0"
"""In the place of a backslash and a line's end, which are two characters, too."""
MAX_CONDITION_CHARACTERS = 1000
"""Characters of the condition of one ``#if``."""
MAX_NESTED_CONDITIONS = 100
"""Nested conditions."""


def preprocessed(text: str, macros: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the lines that a compiler reads, and the macros at their end.

    Args:
        text: The source.
        macros: The macros that are defined before the first line, with their values.

    Raises:
        ModelError: A condition that is not supported, or one without an end.
    """
    known = dict(macros)
    lines = _COMMENT_OR_STRING.sub(_blank, text).replace("\\\n", " ").split("\n")
    return "\n".join(line for line in _kept(lines, known, None) if line is not None), known


class Blanked(NamedTuple):
    """A source as a compiler reads it, with each character in its place.

    Attributes:
        text: As long as the source; comments, directives and what is not compiled are blanks.
        macros: Those that are defined at its end, with their values.
        undecided: What conditions ask for and nobody defined, and conditions that are not supported.
    """

    text: str
    macros: dict[str, str]
    undecided: frozenset[str]


def blanked(text: str, macros: Mapping[str, str]) -> Blanked:
    """Return what a compiler reads, where not every macro is known; a condition that is not supported is false.

    Args:
        text: The source.
        macros: The macros that are defined before the first line, with their values.

    Raises:
        ModelError: An ``#if`` has no end, an ``#else`` no beginning, or too many are in one another.
    """
    known, undecided = dict(macros), set[str]()
    spaced = _COMMENT_OR_STRING.sub(lambda found: found[0] if found[0][0] != "/" else _spaces(found[0]), text)
    lines = spaced.replace("\\\n", _SPLICE).split("\n")
    kept = zip(lines, _kept(lines, known, undecided), strict=True)
    left = "\n".join(" " * len(line) if read is None else line for line, read in kept)
    return Blanked(left.replace(_SPLICE, "\\\n"), known, frozenset(undecided))


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(found: re.Match[str]) -> str:
    """Return the replacement of a comment or a string; the words of an ``#error`` are kept."""
    return '""' if found[0].startswith('"') else " " if found[0].startswith("/") else found[0]


def _kept(lines: list[str], known: dict[str, str], undecided: set[str] | None) -> Iterator[str | None]:
    """Yield each line, None for one that is not compiled; ``undecided`` gets what is not known, None to refuse it."""
    levels: list[tuple[bool, bool]] = []  # whether the branch and all around it are read, whether one of this #if was
    for line in lines:
        directive = _DIRECTIVE.match(line) if "#" in line else None
        is_read = not levels or levels[-1][0]
        yield line if directive is None and is_read else None
        name, rest = ("", "") if directive is None else (directive[1], directive[2].replace(_SPLICE, " ").strip())
        if name in ("if", "ifdef", "ifndef"):
            is_taken = is_read and _is_true(name, rest, known, undecided)
            levels.append((is_taken, is_taken))
            if len(levels) > MAX_NESTED_CONDITIONS:
                raise ModelError(f"the source has {len(levels)} conditions in one another")
        elif name in ("elif", "else", "endif"):
            _continue_condition(levels, name, rest, known, undecided)
        elif is_read and not (name == "error" and undecided is not None):
            _apply_definition(name, rest, known)
    if levels:
        raise ModelError("an #if of the source has no #endif: it is incomplete")


def _apply_definition(name: str, rest: str, known: dict[str, str]) -> None:
    """Carry out ``#define``, ``#undef`` or ``#error``."""
    if name == "define":
        found = _DEFINITION.fullmatch(rest)
        known.update([(found[1], found[2].strip()) if found else (rest, "")])
    elif name == "error":
        words = rest.strip('" ')[:300]
        raise ModelError(f"the source stops the compiler: {words} (-D NAME defines a macro)")


def _continue_condition(
    levels: list[tuple[bool, bool]], name: str, rest: str, known: Mapping[str, str], undecided: set[str] | None
) -> None:
    if not levels:
        raise ModelError(f"the source has an #{name} without an #if")
    _, was_read = levels.pop()
    if name != "endif":
        outer = not levels or levels[-1][0]
        is_taken = outer and not was_read and (name == "else" or _is_true("if", rest, known, undecided))
        levels.append((is_taken, was_read or is_taken))


def _is_true(name: str, rest: str, known: Mapping[str, str], undecided: set[str] | None) -> bool:
    if name != "if":
        macro = rest.split()[0] if rest else ""
        if undecided is not None and macro not in known:
            undecided.add(macro)
        return (macro in known) == (name == "ifdef")
    condition = _Condition(rest[: MAX_CONDITION_CHARACTERS + 1], known)
    try:
        if len(rest) > MAX_CONDITION_CHARACTERS:
            raise ModelError(f"a condition of the source has {len(rest):,} characters")
        found = bool(condition.value())
    except ModelError:
        if undecided is None:
            raise
        undecided.add(rest[:100])
        return False
    if undecided is not None:
        undecided |= condition.undefined
    return found


class _Condition:
    """One expression of ``#if`` (mutable: how far it is read)."""

    def __init__(self, text: str, known: Mapping[str, str]) -> None:
        self._text, self._known = text, known
        self.undefined: set[str] = set()
        self._tokens = [found[0].strip() for found in _TOKEN.finditer(text)]

    def value(self) -> int:
        """Return the value of the expression.

        Raises:
            ModelError: The expression is not supported.
        """
        found = self._or()
        if self._tokens:
            raise self._unread()
        return found

    def _unread(self) -> ModelError:
        return ModelError(f"the condition '{self._text[:100]}' of the source is not supported")

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _take(self, *expected: str) -> str:
        if not self._tokens or (expected and self._tokens[0] not in expected):
            raise self._unread()
        return self._tokens.pop(0)

    def _or(self) -> int:
        found = self._and()
        while self._next() == "||":
            self._take()
            found = int(bool(self._and()) or bool(found))
        return found

    def _and(self) -> int:
        found = self._compared()
        while self._next() == "&&":
            self._take()
            found = int(bool(self._compared()) and bool(found))
        return found

    def _compared(self) -> int:
        left = self._unary()
        sign = self._next()
        if sign not in _COMPARISONS:
            return left
        self._take()
        return int(_COMPARISONS[sign](left, self._unary()))

    def _unary(self) -> int:
        token = self._take()
        if token == "!":
            return int(not self._unary())
        if token == "(":
            found = self._or()
            self._take(")")
            return found
        if token == "defined":
            return self._defined()
        if token[0].isdigit():
            return self._number(token)
        if token not in self._known:
            self.undefined.add(token)
        return self._number(self._known.get(token, "0"))

    def _defined(self) -> int:
        is_enclosed = self._next() == "("
        if is_enclosed:
            self._take("(")
        name = self._take()
        if is_enclosed:
            self._take(")")
        if name not in self._known:
            self.undefined.add(name)
        return int(name in self._known)

    def _number(self, text: str) -> int:
        try:
            return int(text.rstrip("uUlL") or "1", 0)
        except ValueError:
            raise self._unread() from None


_COMPARISONS = {
    "==": int.__eq__,
    "!=": int.__ne__,
    ">": int.__gt__,
    "<": int.__lt__,
    ">=": int.__ge__,
    "<=": int.__le__,
}
