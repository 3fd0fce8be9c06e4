"""The three standard streams of the process: those that are closed, full, or that nobody reads any more."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_IN_ASCII = str.maketrans({"█": "#", "…": "..."})
"""What a pipe cannot take whose encoding has no such letters, as on Windows."""

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""By file descriptor, with the mode in which Python opens each."""


def open_standard_streams() -> None:
    """Give a process that was started without one of its streams (``2>&-``) an empty one.

    Else the next file that is opened takes its number, and what is printed goes into that file.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open


def discard(stream: TextIO) -> None:
    """Throw away what is still to be written to a stream, because its reader is gone or the disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def write(text: str, stream: TextIO) -> None:
    """Write to a stream; where nobody takes what stderr says, that changes no answer and no exit code.

    Raises:
        OSError: Another stream does not take it.
    """
    try:
        stream.write(text if _takes(stream, text) else text.translate(_IN_ASCII))
    except OSError:
        if stream is not sys.stderr:
            raise
        discard(stream)


def _takes(stream: TextIO, text: str) -> bool:
    """Return whether a stream's encoding has all letters of a text."""
    try:
        return text.isascii() or bool(text.encode(stream.encoding or "utf-8"))
    except UnicodeError:
        return False
