"""Which TFLM a firmware was built from: the stretches of upstream's history that its file leaves possible.

    traces     |        came ------------------ went       |     messages and functions, see traces.py
    structs    |   x    |   x   |  fits  |  fits  |   x    |     sizes from debug information
    checks     |        |       |        |  lacks |        |     what must be there is not, see absent_checks.py
    result                      [ stretch ]

A stretch lies between two changes that move a byte or a message (``targets/changes.py``): inside of it every commit is
the same to us. Where several are left, each is a candidate, and an answer holds if all of them give it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from tflm_sim.document_types import Count
from tflm_sim.firmware.absent_checks import AbsentCheck
from tflm_sim.firmware.traces import FIRST_POSITION, NEWEST_POSITION, Trace, bounds
from tflm_sim.targets.abi import Abi
from tflm_sim.targets.changes import CHANGES, ESP, UPSTREAM
from tflm_sim.targets.history import main_line
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, Runtime
from tflm_sim.targets.structs import MeasuredStruct, layouts
from tflm_sim.values import NamedTuple, dataclass, replace


class StructMismatch(NamedTuple):
    """A struct whose size in the file is not that of our table, in bytes."""

    struct: str
    measured: Count
    table: Count


@dataclass(frozen=True, slots=True)
class Snapshots:
    """What is left of the history.

    Attributes:
        runtimes: One of each stretch that is left, the newest first.
        first: The position of the first commit that is left.
        last: The position of the last one.
        mismatches: Structs that have another size there; () where all fit.
        came: The trace that came last, None where none bounds that side.
        went: The trace that went first, likewise.
        measured: The structs that were measured.
        abi: The layout rules.
        lacks: A check that is not in the file, for each stretch that is left out for that alone.
        is_mixed: Whether texts are left out that went before others came.
    """

    runtimes: tuple[Runtime, ...]
    first: int
    last: int
    mismatches: tuple[StructMismatch, ...]
    came: Trace | None
    went: Trace | None
    measured: tuple[MeasuredStruct, ...]
    abi: Abi
    lacks: tuple[AbsentCheck, ...] = ()
    is_mixed: bool = False

    @property
    def has_structs(self) -> bool:
        """Whether structs were measured."""
        return bool(self.measured)

    def allow(self, runtime: Runtime) -> bool:
        """Whether a build that is none of upstream's main fits as well as the best."""
        position = min(runtime.position(UPSTREAM), NEWEST_POSITION)
        if any(check.first <= position < check.end for check in self.lacks):
            return False
        starts_after = self.came is None or self.came.first <= position
        ends_before = self.went is None or position < self.went.end
        mismatches = _mismatches(self.measured, self.abi, runtime)
        return starts_after and ends_before and len(mismatches) <= len(self.mismatches)


def find_snapshots(
    measured: tuple[MeasuredStruct, ...],
    abi: Abi,
    traces: Iterable[Trace],
    absent: Iterable[AbsentCheck] = (),
    *,
    compression: bool = False,
) -> Snapshots:
    """Return the snapshots that a firmware can have been built from.

    Args:
        measured: Its structs; () without debug information.
        abi: Its layout rules.
        traces: Its messages and functions of a limited time.
        absent: Checks that it lacks.
        compression: Whether the code for compressed tensors is in it, which decides where structs do not.
    """
    found = list(traces)
    came, went = bounds(found)
    is_mixed = came is not None and went is not None and came.first >= went.end
    if is_mixed and came is not None:
        # A fork keeps old kernels of its own, as esp-tflite-micro does; the newest text is that of its last merge.
        went = bounds(trace for trace in found if trace.end > came.first)[1]
    start = came.first if came else FIRST_POSITION
    end = went.end if went else NEWEST_POSITION + 1
    stretches = _stretches(start, end)
    purposes = ("speed", "size") if _FOR_SIZE in {struct.name for struct in measured} else ("speed",)
    fits = [
        (_mismatches(measured, abi, runtime), stretch, runtime)
        for stretch in reversed(stretches)
        for runtime in (
            replace(_runtime(stretch[1] - 1), compression=compression, optimize_kernels_for=purpose)
            for compression in (False, True)
            for purpose in purposes
        )
        if not runtime.compression or runtime.has("compression")
    ]
    if measured:
        at = {fork: fork.position(UPSTREAM) for fork in _FORKS}
        fits += [
            (_mismatches(measured, abi, fork), (position, position + 1), fork)
            for fork, position in at.items()
            if start <= position < end
        ]
    fewest = min(len(mismatches) for mismatches, _, _ in fits)
    best = [fit for fit in fits if len(fit[0]) == fewest]
    best = [fit for fit in best if fit[2].compression == compression] or best
    own = [fit for fit in best if fit[2] not in _FORKS] or best
    lacking = {fit[1]: check for check in absent for fit in own if check.first <= fit[1][0] and fit[1][1] <= check.end}
    kept = [fit for fit in own if fit[1] not in lacking]
    own = kept or own
    return Snapshots(
        runtimes=tuple(runtime for _, _, runtime in own),
        first=min(stretch[0] for _, stretch, _ in own),
        last=max(stretch[1] for _, stretch, _ in own) - 1,
        mismatches=own[0][0],
        came=came,
        went=went,
        measured=measured,
        abi=abi,
        lacks=tuple(dict.fromkeys(lacking.values())) if kept else (),
        is_mixed=is_mixed,
    )


_FOR_SIZE = "cmsis_nn/svdf.CmsisNnOpDataSvdf"
"""The struct that has another size where kernels are optimized for size."""


def _esp_runtimes() -> tuple[Runtime, ...]:
    """Return one of each esp-tflite-micro between whose releases a change lies, the newest first."""
    releases = [row.runtime() for row in LIBRARIES if row.name == _ESP_LIBRARY and row.is_modelled]
    return tuple({_changes(runtime): runtime for runtime in (*releases, Runtime())}.values())[::-1]


def _changes(runtime: Runtime) -> frozenset[str]:
    return frozenset(change for change in CHANGES if runtime.has(change))


_ESP_LIBRARY = ESP.rpartition("/")[2]
ESP_RUNTIMES = _esp_runtimes()
"""What ESP-NN's kernels are modelled in; the newest is the newest TFLM, with the newest kernels."""
_FORKS = (*(runtime for runtime in ESP_RUNTIMES if runtime.forks), Runtime(CHIRALE_SNAPSHOT, static_memory=False))
"""Builds whose structs upstream never had, for want of a better fit."""


def _stretches(start: int, end: int) -> list[tuple[int, int]]:
    """Return [first, end) of each stretch without a change between two positions."""
    rows = [row for row in CHANGES.values() if row.tree == UPSTREAM]
    edges = {row.position for row in rows} | {row.until for row in rows}
    inside = sorted({start, end, *(edge for edge in edges if start < edge < end)})
    return list(pairwise(inside))


def _runtime(position: int) -> Runtime:
    """Return upstream at a position."""
    if position >= NEWEST_POSITION:
        return Runtime()
    return Runtime(main_line()[position - 1].short, upstream=position)


def _mismatches(measured: tuple[MeasuredStruct, ...], abi: Abi, runtime: Runtime) -> tuple[StructMismatch, ...]:
    table = layouts(abi, runtime)
    return tuple(
        StructMismatch(struct.name, struct.size, table[struct.name].size)
        for struct in measured
        if struct.name in table and table[struct.name].size != struct.size
    )


def commit_at(position: int) -> str:
    """Return "HASH of DAY" of upstream's commit at a position."""
    commit = main_line()[position - 1]
    return f"{commit.short} of {commit.day}"
