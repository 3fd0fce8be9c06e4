"""When TFLM changed what its kernels ask for: one row a change, and when operators came.

A position counts the first-parent commits of a repository up to one (``git rev-list --first-parent --count COMMIT``):
positions of one repository compare as times do.
"""

from __future__ import annotations

from dataclasses import dataclass

UPSTREAM = "tensorflow/tflite-micro"
ESP = "espressif/esp-tflite-micro"
NEWEST = 1_000_000
"""The position of a build that is newer than all rows."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of what is asked for.

    Attributes:
        position: The first that has it.
        commit: The same, by its hash.
        date: When it was committed, UTC.
        summary: What it does.
        tree: The repository.
        until: The first position that has it no longer.
    """

    position: int
    commit: str
    date: str
    summary: str
    tree: str = UPSTREAM
    until: int = NEWEST + 1


CHANGES: dict[str, Change] = {
    "reduce_iterates": Change(1722, "0efdd51a3", "2026-01-16", "reduce keeps its iterator in a scratch buffer"),
    "esp_conv_keeps_node_data": Change(
        151, "a91b807", "2025-02-17", "CONV_2D's Init allocates its NodeData whole", ESP
    ),
}

OPERATORS_SINCE: dict[str, str] = {}
"""Operators that came later than the first rows, with the change that brought each."""
