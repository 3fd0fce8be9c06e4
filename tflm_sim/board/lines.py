"""Bytes in any chunking -> the lines of a log.

Both CR and LF end a line and blank lines vanish, so that LF, CR LF, LF CR and the CR CR LF of a double conversion give
the same lines. A line longer than ``MAX_LINE`` comes out in pieces, so a port that sends noise without any line end
cannot fill the memory.

Invariant: the lines depend on the bytes only, never on how they were chunked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LINE = 4096

_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class RawLine:
    """One non-empty line.

    Attributes:
        number: 1 for the first non-empty line of the stream.
        offset: Where its first byte is in the stream, in bytes.
        data: The bytes without the line end.
        ended: False for a piece of an overlong line, and for the rest that ``close`` returns.
    """

    number: int
    offset: int
    data: bytes
    ended: bool


class LineAssembler:
    """Cut a byte stream into lines (mutable)."""

    __slots__ = ("_count", "_offset", "_pending")

    def __init__(self) -> None:
        self._pending = b""
        self._offset = 0
        self._count = 0

    def feed(self, data: bytes) -> list[RawLine]:
        """Take the next bytes of the stream; return the lines that they complete."""
        parts = _LINE_END.split(self._pending + data)
        lines: list[RawLine] = []
        for part in parts[:-1]:
            self._take(part, lines, ended=True)
            self._offset += 1
        rest = parts[-1]
        while len(rest) > MAX_LINE:
            self._take(rest[:MAX_LINE], lines, ended=False)
            rest = rest[MAX_LINE:]
        self._pending = rest
        return lines

    def close(self) -> list[RawLine]:
        """Return what is left without a line end, as a line that says so."""
        lines: list[RawLine] = []
        self._take(self._pending, lines, ended=False)
        self._pending = b""
        return lines

    def _take(self, data: bytes, lines: list[RawLine], *, ended: bool) -> None:
        while len(data) > MAX_LINE:
            self._take(data[:MAX_LINE], lines, ended=False)
            data = data[MAX_LINE:]
        if data:
            self._count += 1
            lines.append(RawLine(self._count, self._offset, data, ended))
        self._offset += len(data)
