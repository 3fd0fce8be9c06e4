"""``Runtime``: which TFLM is linked, and the build flags that change its structs.

A snapshot is a place in the history of one or several repositories. What differs between two of them are rows: structs
(``struct_tables``), changes (``changes.py``), places of messages (``ops/places``).

    90b983c2b        tensorflow/tflite-micro of August 2026. esp-tflite-micro 1.3.8 and 1.4.0 (synced in July 2026) have
                     the same structs, and the same Prepare of every kernel outside kernels/esp_nn.
    esp-tflite-micro-1.3.3
                     TFLM of January 2025, which ESPHome pins (1.3.3~1)
    8f6596d          what the pip wheel of 2026-10-23 was built from
    chirale-2.0.0    the Arduino library Chirale_TensorFLowLite: tensorflow/tflite-micro 0c425da36 of January 2023
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tflm_sim.document_fields import HIDDEN
from tflm_sim.errors import UsageError
from tflm_sim.targets.changes import (
    BEFORE_UPSTREAM,
    CHANGES,
    CORAL,
    EDGE_IMPULSE,
    ESP,
    NEWEST,
    REVERSED,
    TENSORFLOW_OF_2020,
    UPSTREAM,
)
from tflm_sim.targets.reference import LAST_COUNTED, REFERENCE_DAY, REFERENCE_SNAPSHOT, WHEEL_SNAPSHOT

CHIRALE_SNAPSHOT = "chirale-2.0.0"
ESP_1_3_3_SNAPSHOT = "esp-tflite-micro-1.3.3"

_POSITIONS: dict[str, Mapping[str, int]] = {
    REFERENCE_SNAPSHOT: {UPSTREAM: LAST_COUNTED},
    CHIRALE_SNAPSHOT: {UPSTREAM: 981},
    ESP_1_3_3_SNAPSHOT: {UPSTREAM: 1614, ESP: 147},
}
"""The named snapshots, and the position of each in the history of its repositories; in one that is not listed, it is at
the newest."""

OPTIMIZATIONS = ("speed", "size", "neither")
"""What kernels can be optimized for."""

_ABSENT = {CORAL: 0, EDGE_IMPULSE: 0}
"""Repositories whose changes a build does not have unless it comes from there."""


@dataclass(frozen=True)
class Runtime:
    """A TFLM snapshot and how it was built.

    Attributes:
        snapshot: What it is called: one of the above, or the commit.
        static_memory: TF_LITE_STATIC_MEMORY, the lean ``TfLiteTensor`` and ``TfLiteNode``. The makefiles set it; an
            Arduino library cannot.
        compression: USE_TFLM_COMPRESSION, which adds members to OpData and to the allocator.
        optimize_kernels_for: "speed", "size" or "neither": which macro OPTIMIZE_KERNELS_FOR of upstream's Makefile
            defines, KERNELS_OPTIMIZED_FOR_SPEED or _SIZE. It says where CMSIS-NN for MVE keeps sums of weights.
        upstream: Its position in upstream's history; None for the named snapshots above, which know theirs.
        forks: (repository, position) of other repositories in whose history it has a place.
        source_suffix: How the names of its C++ files end, which messages print.
        has_debug_checks: Whether a TFLITE_DCHECK that fails halts it; a build with NDEBUG has none.
    """

    snapshot: str = REFERENCE_SNAPSHOT
    static_memory: bool = True
    compression: bool = False
    optimize_kernels_for: str = "speed"
    upstream: int | None = field(default=None, metadata=HIDDEN)
    forks: tuple[tuple[str, int], ...] = field(default=(), metadata=HIDDEN)
    source_suffix: str = field(default=".cc", metadata=HIDDEN)
    has_debug_checks: bool = field(default=True, metadata=HIDDEN)

    @property
    def kernels_for_size(self) -> bool:
        """Whether KERNELS_OPTIMIZED_FOR_SIZE is defined."""
        return self.optimize_kernels_for == "size"

    def position(self, tree: str) -> int:
        """Return the snapshot's position in the history of a repository, see :mod:`tflm_sim.targets.changes`."""
        if self.upstream is None and self.snapshot == WHEEL_SNAPSHOT != REFERENCE_SNAPSHOT and tree == UPSTREAM:
            from tflm_sim.targets.history import wheels

            return wheels()[-1].position
        if self.upstream is None:
            return _POSITIONS.get(self.snapshot, {}).get(tree, _ABSENT.get(tree, NEWEST))
        return self.upstream if tree == UPSTREAM else dict(self.forks).get(tree, _ABSENT.get(tree, NEWEST))

    @property
    def is_counted(self) -> bool:
        """Whether its place in upstream's history is a count, see :data:`~tflm_sim.targets.changes.LAST_COUNTED`."""
        return self.position(UPSTREAM) <= LAST_COUNTED

    @cached_property
    def day(self) -> str:
        """When upstream's main was what it holds; "" for one read from a document, which has the name only."""
        from tflm_sim.targets.history import at_position

        if self.upstream is None and self.snapshot not in (*_POSITIONS, WHEEL_SNAPSHOT):
            return ""
        position = self.position(UPSTREAM)
        if self.snapshot == REFERENCE_SNAPSHOT:
            return REFERENCE_DAY
        named = {BEFORE_UPSTREAM: "early 2021", TENSORFLOW_OF_2020: "mid-2020"}
        return named.get(position) or at_position(position).day

    def __str__(self) -> str:
        if not self.day:
            return f"TFLM {self.snapshot}"
        placed = "" if self.is_counted else ", placed by its pip wheel's day"
        return f"TFLM of {self.day} ({self.snapshot}{placed})"

    @cached_property
    def has(self) -> Callable[[str], bool]:
        """What returns whether the snapshot has a change of :data:`~tflm_sim.targets.changes.CHANGES`."""
        own = {name for tree, rows in REVERSED.items() for name, where in rows.items() if self.position(tree) in where}
        return _ChangeTable(
            {
                name: (row.position <= self.position(row.tree) < row.until) != (name in own)
                for name, row in CHANGES.items()
            }
        ).__getitem__


class _ChangeTable(dict[str, bool]):
    """Whether a version has each change; an unknown name of a change is a UsageError."""

    def __missing__(self, name: str) -> bool:
        raise UsageError(f"there is no change '{name}' in tflm_sim/targets/changes.py")


FIRST_BUILD = 4
"""The position of a37043ff7, the first commit that holds the library."""


def find_runtime(text: str) -> Runtime:
    """Return the TFLM that ``--runtime TEXT`` names.

    Args:
        text: A commit of tensorflow/tflite-micro by seven or more digits, or a day: where main stood at its end, UTC.

    Raises:
        UsageError: There is no such commit or day, it holds no library yet, or what main held that day is not known.
    """
    from tflm_sim.targets.history import find_commit, find_day, is_commit, is_day

    if is_day(text):
        commit = find_day(text)
    elif is_commit(text):
        commit = find_commit(text)
    else:
        raise UsageError(f"'{text}' is neither a day (2023-06-15) nor a commit (7 or more digits of its hash)")
    if commit.position < FIRST_BUILD:
        raise UsageError(f"{commit.short} of {commit.day} holds no library yet; it begins with a37043ff7 of 2021-04-09")
    return Runtime(commit.short, upstream=commit.position)
