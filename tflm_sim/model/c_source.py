r"""Arrays of bytes in a C or C++ source, as a compiler reads them.

    alignas(16) const unsigned char NAME[SIZE] attributes = { 0x1c, 28, 034, 0b11100, -1, 0x1'0u, /* ... */ };

Comments, strings, raw strings and character constants are passed over as what they are; so are preprocessor lines and
the branches of ``#if`` that a constant leaves out. Of all else only declarations of arrays matter, and of these only
initializers of plain numbers.

Invariant: time is linear in the size. No expression can give back what it took (they are possessive), and an
initializer ends at the first brace or quote inside, so that no byte is looked at more than twice. A group that looks
ahead is not possessive but short: Python before 3.11.5 loses its place there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tflm_sim.errors import ModelError

MAX_DECLARATION_BYTES = 4096
"""Bytes from an array's name to its initializer, comments not counted."""
MAX_ELEMENT_BYTES = 1 << 20
"""Bytes from one comma of an initializer to the next."""
FIRST_ELEMENTS = 512
"""Bytes of an initializer that are read before anybody is asked whether it begins well."""
MAX_CACHED_ELEMENTS = 4096

_BLANK = b" \t\r\n\v\f\\"
_SPLICED = rb"(?:\\(?:\r\n|[\s\S])"
_COMMENT = rb"//[^\n\\]*+" + _SPLICED + rb"[^\n\\]*+)*+|/\*[^*]*+(?:\*++[^*/][^*]*+)*+(?:\*++/?+)?+"
_STRING = rb'"[^"\\\n]*+' + _SPLICED + rb'[^"\\\n]*+)*+"?+'
_CHARACTER = rb"'[^'\\\n]*+" + _SPLICED + rb"[^'\\\n]*+)*+'?+"
_RAW = rb'(?:u8|[uUL])?R"'

_COMMENTS = re.compile(_COMMENT)
_UNIT = re.compile(
    rb"(?P<text>(?:[^{\"'/\#\w]|(?!" + _RAW + rb")[A-Za-z_]\w*+|[0-9](?:'?\w)*+|/(?![/*])){1,4096})"
    rb"|(?P<comment>" + _COMMENT + rb")"
    rb"|(?P<raw>" + _RAW + rb'(?P<mark>[^()\\\s"]{0,16})\()'
    rb"|(?P<string>" + _STRING + rb"|" + _CHARACTER + rb")"
    rb"|(?P<open>\{(?:\s*+[{};])*+)"
    rb"|(?P<other>[\s\S])"
)
"""What a source is made of here: a run of what does not matter, or one of the things that have an end of their own."""
_DIRECTIVE = re.compile(
    rb"\#[ \t]*+(?P<name>\w*+)(?P<rest>(?:[^\n\\/\"']++|" + _COMMENT + rb"|" + _STRING + rb"|" + _CHARACTER + rb"|"
    rb"\\(?:\r\n|[\s\S])?+|/)*+)"
)
_CONDITIONS = frozenset({b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef", b"else", b"endif"})
_CONSTANT = re.compile(rb"[\s(]*+(?:(?P<true>1|true)|0|false)[\s)]*+(?:$|//|/\*)")
_NAME = re.compile(rb"\b([A-Za-z_]\w*+)\s*+\[")
_NO_BYTES = re.compile(rb"\b(?:u?int(?:16|32|64)_t|short|int|long|float|double)\b")
"""Types whose elements are larger than a byte."""
_PLAIN = re.compile(rb"[^{}\"'/#]{0,65536}+")
_NUMBER = re.compile(
    rb"([-+]?)\s*+(?:0[xX]([0-9a-fA-F]+(?:'[0-9a-fA-F]+)*+)|0[bB]([01]+(?:'[01]+)*+)|(0(?:'?[0-7])*+)|([1-9](?:'?[0-9])*+))"
    rb"(?:[uU](?:ll?|LL?|[zZ])?|(?:ll?|LL?|[zZ])[uU]?)?"
)
_BASES = ((2, 16), (3, 2), (4, 8), (5, 10))
"""Groups of a number, and their bases."""


_REPLACEMENTS = {"comment": b" ", "string": b'""'}


class ByteArray(NamedTuple):
    """An array of bytes in a source.

    Attributes:
        name: The array's.
        data: Its bytes.
        start, end: Where the text of its elements begins and ends in the source: between the braces.
    """

    name: str
    data: bytes
    start: int
    end: int


def byte_arrays(data: bytes, begins: Callable[[bytes], bool]) -> Iterator[ByteArray]:
    """Yield every array for whose first eight bytes ``begins`` returns True.

    Args:
        data: The source.
        begins: A function of eight bytes.

    Raises:
        ModelError: Such an array continues with something that is not supported; the offset says where.
    """
    at, conditions = 0, _Conditions()
    before = bytearray(b"\n")  # the end of what was passed, comments as blanks, strings as empty ones
    while at < len(data):
        unit = _UNIT.match(data, at)
        assert unit is not None, "some alternative takes any byte"
        start, at = at, unit.end()
        kind = unit.lastgroup
        if kind == "text":
            before += data[max(start, at - MAX_DECLARATION_BYTES) : at]
            del before[:-MAX_DECLARATION_BYTES]
        elif kind == "open":
            name = _declared(before) if at == start + 1 and not conditions.is_skipped else None
            before[:] = b"{"
            if name is not None:
                initializer = _Initializer(data, at, name, begins)
                if (found := initializer.read()) is not None:
                    yield ByteArray(name, found, at, initializer.end)
        elif kind in _REPLACEMENTS:
            before += _REPLACEMENTS[kind]
        elif kind == "raw":
            close = b")" + unit["mark"] + b'"'
            end = data.find(close, at)
            at = len(data) if end < 0 else end + len(close)
            before += b'""'
        elif unit[0] == b"#" and _is_line_start(before):
            at = conditions.pass_directive(data, start)
            before += b"\n"
        else:
            before += unit[0]


def _is_line_start(before: bytearray) -> bool:
    end = len(before)
    while end and before[end - 1] in b" \t\r\v\f":
        end -= 1
    return before[end - 1 : end] == b"\n"


def _declared(before: bytearray) -> str | None:
    """Return the name of the array whose initializer follows this text; None where none does."""
    if b"[" not in before:
        return None
    text = bytes(before).rstrip(_BLANK)
    if text.endswith(b"="):
        text = text[:-1]
    elif not text.endswith(b"]"):
        return None
    declaration = text[max(map(text.rfind, (b";", b"{", b"}", b"="))) + 1 :]
    name = _NAME.search(declaration)
    return None if name is None or _NO_BYTES.search(declaration, 0, name.start()) else name[1].decode()


class _Conditions:
    """Skips branches of ``#if`` whose condition is a constant (mutable); of other conditions both branches are read."""

    def __init__(self) -> None:
        self._levels: list[tuple[bool, bool]] = []  # whether the branch is out, whether all later ones are
        self._out = 0

    @property
    def is_skipped(self) -> bool:
        """Whether the current text is in a skipped branch."""
        return self._out > 0

    def pass_directive(self, data: bytes, start: int) -> int:
        """Process the directive at ``start``; return where its line ends."""
        directive = _DIRECTIVE.match(data, start)
        assert directive is not None, "it begins with the sign"
        if directive["name"] in _CONDITIONS:
            rest = directive.start("rest")
            self._take(directive["name"], data[rest : min(directive.end(), rest + 100)])
        return directive.end()

    def _take(self, name: bytes, rest: bytes) -> None:
        constant = _CONSTANT.match(rest)  # of other conditions it is not known what they are
        is_true = constant is not None and bool(constant["true"])
        is_false = constant is not None and not is_true
        if name == b"if":
            self._enter((is_false, is_true))
        elif name in (b"ifdef", b"ifndef"):
            self._enter((False, False))
        elif self._levels:
            was_out, is_settled = self._levels.pop()
            self._out -= was_out
            if name == b"else":
                self._enter((is_settled, True))
            elif name == b"elif":
                self._enter((is_settled or is_false, is_settled or is_true))
            elif name != b"endif":  # elifdef and elifndef
                self._enter((is_settled, is_settled or is_true))

    def _enter(self, level: tuple[bool, bool]) -> None:
        self._levels.append(level)
        self._out += level[0]


class _ElementValues(dict[bytes, int]):
    """The values of an initializer's elements by their text (a cache, mutable)."""

    def __missing__(self, text: bytes) -> int:
        value = _byte(text)
        if len(self) < MAX_CACHED_ELEMENTS:
            self[text] = value
        return value


def _byte(text: bytes) -> int:
    """Return the byte of a constant, in an array of signed or unsigned bytes.

    Raises:
        ValueError: The text is not a constant, or the value does not fit in a byte.
    """
    number = _NUMBER.fullmatch(text.strip(_BLANK))
    if number is None:
        raise ValueError("is no number")
    digits, base = next((digits, base) for group, base in _BASES if (digits := number[group]) is not None)
    digits = digits.replace(b"'", b"").lstrip(b"0")
    value = int(digits or b"0", base) if len(digits) <= 8 else 256  # a byte has eight digits at the most
    if number[1] == b"-":
        value = -value
    if not -128 <= value <= 255:
        raise ValueError("is no byte")
    return value & 0xFF


class _Initializer:
    """The elements from an opening brace on (mutable)."""

    def __init__(self, data: bytes, at: int, name: str, begins: Callable[[bytes], bool]) -> None:
        self._data, self._at, self._name, self._begins = data, at, name, begins
        self._pending = bytearray()
        self._values = bytearray()
        self._spelled = _ElementValues()
        self._problem = ""

    @property
    def end(self) -> int:
        """Where the reading stopped: at the closing brace."""
        return self._at

    def read(self) -> bytes | None:
        """Return the bytes; None for an array whose beginning is not that of a model."""
        most = FIRST_ELEMENTS
        try:
            while self._take():
                if len(self._pending) > most:
                    self._add_whole_elements()
                    if len(self._values) >= 8 and not self._begins_well():
                        return None
                    most = min(2 * most, MAX_ELEMENT_BYTES)
            *whole, last = self._pending.split(b",")
            self._add([*whole, last] if last.strip(_BLANK) else whole)
            if self._problem:
                raise ValueError(self._problem)
        except ValueError as problem:
            if not self._begins_well():
                return None
            words = f"the array {self._name[:100]} begins as a model, but {problem}"
            raise ModelError(words, offset=self._at) from None
        return bytes(self._values) if self._begins_well() else None

    def _add_whole_elements(self) -> None:
        *whole, self._pending = self._pending.split(b",")
        self._add(whole)
        if len(self._pending) > MAX_ELEMENT_BYTES:
            raise ValueError(f"an element has more than {MAX_ELEMENT_BYTES:,} bytes")

    def _begins_well(self) -> bool:
        return self._begins(bytes(self._values[:8]))

    def _add(self, elements: list[bytearray]) -> None:
        append, spelled = self._values.append, self._spelled
        for element in map(bytes, elements):
            try:
                append(spelled[element])
            except ValueError as problem:
                shown = element.strip(_BLANK)[:40].decode("utf-8", "replace")
                raise ValueError(f"its element {len(self._values)}, {shown!r}, {problem}") from None

    def _take(self) -> bool:
        """Read the next run of elements; return whether there are more, and store an error for later."""
        run = _PLAIN.match(self._data, self._at)
        assert run is not None, "it may be empty"
        self._pending += run[0]
        self._at = run.end()
        sign = self._data[self._at : self._at + 1]
        if len(run[0]) == 65536 or sign == b"}":
            return sign != b"}"
        if sign == b"'" and self._data[self._at - 1 : self._at].isalnum():
            self._pending += sign
            self._at += 1
            return True
        comment = _COMMENTS.match(self._data, self._at)
        if comment is None:
            self._problem = f"{sign.decode()!r} follows, which is no part of a number" if sign else "it has no end"
            return False
        self._pending += b" "
        self._at = comment.end()
        return True
