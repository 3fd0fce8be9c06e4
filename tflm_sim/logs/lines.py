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
        self._pending = bytearray()
        self._offset = 0
        self._count = 0

    def feed(self, data: bytes) -> list[RawLine]:
        """Take the next bytes of the stream; return the lines that they complete. The time is linear in the bytes."""
        lines: list[RawLine] = []
        *whole, rest = _LINE_END.split(data)
        for part in whole:
            self._grow(part, lines)
            self._emit(len(self._pending), lines, ended=True)
            self._offset += 1
        self._grow(rest, lines)
        return lines

    def close(self) -> list[RawLine]:
        """Return what is left without a line end, as a line that says so."""
        lines: list[RawLine] = []
        self._emit(len(self._pending), lines, ended=False)
        return lines

    def _grow(self, data: bytes, lines: list[RawLine]) -> None:
        self._pending += data
        while len(self._pending) > MAX_LINE:
            self._emit(MAX_LINE, lines, ended=False)

    def _emit(self, size: int, lines: list[RawLine], *, ended: bool) -> None:
        data = bytes(self._pending[:size])
        del self._pending[:size]
        if data:
            self._count += 1
            lines.append(RawLine(self._count, self._offset, data, ended))
        self._offset += size
