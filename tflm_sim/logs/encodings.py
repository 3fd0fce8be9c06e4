"""Logs as shells write them -> UTF-8: PowerShell's ``>`` and ``Tee-Object`` write UTF-16."""

from __future__ import annotations

import codecs

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SAMPLE_BYTES = 64


class Utf8Stream:
    """Decodes a stream to UTF-8; the encoding is detected from its first bytes (mutable).

    A byte order mark tells UTF-16, and so does text whose every second byte is zero; everything else stays as it is.
    """

    __slots__ = ("_decoder", "_is_known", "_start")

    def __init__(self) -> None:
        self._start = b""
        self._is_known = False
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what can be read of them by now."""
        if not self._is_known:
            self._start += data
            if len(self._start) < _SAMPLE_BYTES:
                return b""
            data = self._decide()
        return self._recode(data, is_last=False)

    def close(self) -> bytes:
        """Return what the end of the stream leaves."""
        return self._recode(b"" if self._is_known else self._decide(), is_last=True)

    def _decide(self) -> bytes:
        self._is_known = True
        data, self._start = self._start, b""
        mark, name = next((row for row in _MARKS if data.startswith(row[0])), (b"", ""))
        data, name = data[len(mark) :], name or _guess(data)
        if name != "utf-8":
            self._decoder = codecs.getincrementaldecoder(name)("replace")
        return data

    def _recode(self, data: bytes, *, is_last: bool) -> bytes:
        if self._decoder is None:
            return data
        return self._decoder.decode(data, is_last).encode("utf-8", "replace")


def _guess(data: bytes) -> str:
    """UTF-16 without a mark: more than half of the even, or of the odd, bytes are zero, and few of the others."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    most, few = len(data) // 4, len(data) // 16
    if odd > most and even <= few:
        return "utf-16-le"
    return "utf-16-be" if even > most and odd <= few else "utf-8"


def as_utf8(data: bytes) -> bytes:
    stream = Utf8Stream()
    return stream.feed(data) + stream.close()
