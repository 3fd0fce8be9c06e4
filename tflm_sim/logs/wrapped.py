"""Joins the report of a linker that wraps it: IAR's and TI's say in which memory and by how much some lines later.

Error[Lp011]: section placement failed
            unable to allocate space for sections/blocks with a total estimated
                      minimum size of 0x19834 bytes (max align 0x8) in
                      <[0x20000000-0x20017fff]> (total uncommitted space
                      0x18000).
"""

from __future__ import annotations

import re
from dataclasses import replace

from tflm_sim.logs.failures import read_messages
from tflm_sim.logs.log_events import LogEvent, Message
from tflm_sim.logs.prefixes import TextLine

_BEGINS = re.compile(r"Error\[Lp011\]: section placement failed|program will not fit into available")
_GOES_ON = re.compile(r"\s|\S+ +size: 0x")
_ENDS = re.compile(r"\)\.\s*$|>\s*$|max hole: 0x")
_MAX_LINES = 8


class WrappedReader:
    """Read a report of several lines as one (mutable)."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: list[TextLine] = []

    def feed(self, line: TextLine) -> list[LogEvent] | None:
        """Return the events that ``line`` completes, or None when it belongs to something else."""
        if not self._lines and not _BEGINS.search(line.text):
            return None
        if self._lines and not _GOES_ON.match(line.text):
            return [*self.flush(), *(self.feed(line) or read_messages(line))]
        self._lines.append(line)
        return self.flush() if _ENDS.search(line.text) or len(self._lines) == _MAX_LINES else []

    def flush(self) -> list[LogEvent]:
        """Return the report that is open: joined it says more than its first line."""
        lines, self._lines = self._lines, []
        if not lines:
            return []
        text = " ".join(" ".join(line.text for line in lines).split()).replace("'", "")
        rest = _BEGINS.split(text, maxsplit=1)[-1]
        found = read_messages(replace(lines[0], text=rest)) or read_messages(lines[0])
        return [*found, *(Message(line.number, "wrapped", (), cut=False, text=line.text) for line in lines[1:])]
