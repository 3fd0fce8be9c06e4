"""Shadow memory: for every byte of an arena, who owns it, in which section, and since when.

    byte     0 ............ 64 ........ 96 ....... 2032 ............ 2048
    owner    | head: plan   | temp      | nobody   | tail: eval tensors |

One shadow value per arena byte, kept as runs, because an arena of a gigabyte has a few thousand owners.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple


class Owner(NamedTuple):
    """Who owns bytes.

    ``section`` is "head", "temp" or "tail"; ``since`` counts events from the start of the arena; ``place`` is where in
    AllocateTensors() it took them.
    """

    section: str
    label: str
    since: int
    place: str
    is_variable: bool = False

    def __str__(self) -> str:
        return f"{self.label} ({self.section}, since {self.place})"


class ShadowMemory:
    """The owners of the bytes of one arena (mutable).

    Invariant: ``_starts`` rises strictly from 0, and run i covers [_starts[i], _starts[i + 1]).
    """

    def __init__(self) -> None:
        self._starts: list[int] = [0]
        self._owners: list[Owner | None] = [None]

    def __getitem__(self, offset: int) -> Owner | None:
        """Return the owner of a byte, None when it is free."""
        return self._owners[bisect_right(self._starts, offset) - 1]

    def owned(self, start: int, end: int) -> Iterator[tuple[int, int, Owner]]:
        """Yield the runs of [start, end) that somebody owns: first byte, byte after the last, owner."""
        index = bisect_right(self._starts, start) - 1
        while start < end:
            stop = min(end, self._starts[index + 1]) if index + 1 < len(self._starts) else end
            owner = self._owners[index]
            if owner is not None:
                yield start, stop, owner
            start, index = stop, index + 1

    def paint(self, start: int, end: int, owner: Owner | None) -> None:
        """Give [start, end) to an owner; None frees it."""
        if start >= end:
            return
        after = self[end]
        low, high = self._split(start), bisect_right(self._starts, end)
        ends_here = self._starts[high - 1] == end
        high -= ends_here
        self._starts[low:high] = [start] if ends_here else [start, end]
        self._owners[low:high] = [owner] if ends_here else [owner, after]

    def _split(self, offset: int) -> int:
        """Return the index of the first run that starts at ``offset`` or later."""
        index = bisect_right(self._starts, offset)
        return index - 1 if self._starts[index - 1] == offset else index
