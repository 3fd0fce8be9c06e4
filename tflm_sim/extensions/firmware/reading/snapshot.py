"""Which TFLM a firmware was built from: the stretches of upstream's history that its file leaves possible.

    texts      |        came ------------------ went       |     messages and functions, see dated_texts.py
    structs    |   x    |   x   |  fits  |  fits  |   x    |     sizes from debug information
    checks     |        |       |        |  lacks |        |     what must be there is not, see absent_checks.py
    result                      [ stretch ]

A stretch lies between two changes that move a byte or a message (``targets/changes.py``): inside of it every commit is
the same to us. Where several are left, each is a candidate, and an answer holds if all of them give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

from tflm_sim.document_types import Count
from tflm_sim.extensions.firmware.reading.absent_checks import AbsentCheck
from tflm_sim.extensions.firmware.reading.dated_texts import FIRST_POSITION, DatedText, bounds
from tflm_sim.targets.abi import Abi
from tflm_sim.targets.changes import CHANGES, ESP, UPSTREAM
from tflm_sim.targets.history import at_position, newest
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.reference import LAST_COUNTED
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, Runtime
from tflm_sim.targets.structs import MeasuredStruct, layouts


class StructMismatch(NamedTuple):
    """A struct whose size in the file is not that of our table, in bytes."""

    struct: str
    measured: Count
    table: Count


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The versions of TFLM that a firmware may have been built from.

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
    came: DatedText | None
    went: DatedText | None
    measured: tuple[MeasuredStruct, ...]
    abi: Abi
    lacks: tuple[AbsentCheck, ...] = ()
    is_mixed: bool = False

    @property
    def is_of_a_wheel(self) -> bool:
        """Whether all that are left are behind the counted commits, where the commits of pip wheels are known."""
        return self.first > LAST_COUNTED

    @property
    def has_structs(self) -> bool:
        return bool(self.measured)

    def allow(self, runtime: Runtime) -> bool:
        """Whether a build of another history than upstream's main branch fits as well as the best one."""
        position = min(runtime.position(UPSTREAM), newest().position)
        if any(check.first <= position < check.end for check in self.lacks):
            return False
        starts_after = self.came is None or self.came.first <= position
        ends_before = self.went is None or position < self.went.end
        mismatches = _mismatches(self.measured, self.abi, runtime)
        return starts_after and ends_before and len(mismatches) <= len(self.mismatches)


def find_snapshots(
    measured: tuple[MeasuredStruct, ...],
    abi: Abi,
    texts: Iterable[DatedText],
    absent: Iterable[AbsentCheck] = (),
    *,
    compression: bool = False,
) -> Snapshots:
    """Return the snapshots that a firmware can have been built from.

    Args:
        measured: Its structs; () without debug information.
        abi: Its layout rules.
        texts: Its messages and functions that TFLM had for a limited time.
        absent: Checks that it lacks.
        compression: Whether the code for compressed tensors is in it, which decides where structs do not.
    """
    found = list(texts)
    came, went = bounds(found)
    is_mixed = False
    if came is not None and went is not None and came.first >= went.end:
        is_mixed = True
        # A fork keeps old kernels of its own, as esp-tflite-micro does; the newest text is that of its last merge.
        went = bounds(trace for trace in found if trace.end > came.first)[1]
    best = _best([*_fits(measured, abi, *_span(came, went))], compression=compression)
    kept, lacks = _consistent_with_checks(best, tuple(absent))
    return Snapshots(
        runtimes=tuple(fit.runtime for fit in kept),
        first=min(fit.first for fit in kept),
        last=max(fit.end for fit in kept) - 1,
        mismatches=kept[0].mismatches,
        came=came,
        went=went,
        measured=measured,
        abi=abi,
        lacks=lacks,
        is_mixed=is_mixed,
    )


def _span(came: DatedText | None, went: DatedText | None) -> tuple[int, int]:
    """Return the first position that the texts leave possible, and the one behind the last."""
    first = came.first if came else FIRST_POSITION
    # That nothing went is said of what the table knows. A newer program is told by the names that came.
    last = LAST_COUNTED if first <= LAST_COUNTED else newest().position
    return first, went.end if went else last + 1


class _Fit(NamedTuple):
    """How well the structs fit a build of a stretch: ``first`` to before ``end``."""

    mismatches: tuple[StructMismatch, ...]
    first: int
    end: int
    runtime: Runtime
    is_fork: bool = False


def _fits(measured: tuple[MeasuredStruct, ...], abi: Abi, start: int, end: int) -> Iterator[_Fit]:
    """Yield how each build of each stretch fits, the newest first, then the forks."""
    purposes = ("speed", "size") if _FOR_SIZE in {struct.name for struct in measured} else ("speed",)
    for first, before in reversed(_stretches(start, end)):
        for compression, purpose in product((False, True), purposes):
            runtime = replace(_runtime(before - 1), compression=compression, optimize_kernels_for=purpose)
            if runtime.has("compression") or not compression:
                yield _Fit(_mismatches(measured, abi, runtime), first, before, runtime)
    for fork in _forks() if measured else ():
        position = fork.position(UPSTREAM)
        if start <= position < end:
            yield _Fit(_mismatches(measured, abi, fork), position, position + 1, fork, is_fork=True)


def _best(fits: list[_Fit], *, compression: bool) -> list[_Fit]:
    """Return those with the fewest mismatches; with or without compression as the image has it, of upstream if any."""
    fewest = min(len(fit.mismatches) for fit in fits)
    best = [fit for fit in fits if len(fit.mismatches) == fewest]
    best = [fit for fit in best if fit.runtime.compression == compression] or best
    return [fit for fit in best if not fit.is_fork] or best


def _consistent_with_checks(
    fits: list[_Fit], absent: tuple[AbsentCheck, ...]
) -> tuple[list[_Fit], tuple[AbsentCheck, ...]]:
    """Return the fits that the image's checks allow, and the checks that exclude others; all where none is left."""
    lacking = {
        (fit.first, fit.end): check
        for check in absent
        for fit in fits
        if check.first <= fit.first and fit.end <= check.end
    }
    kept = [fit for fit in fits if (fit.first, fit.end) not in lacking]
    return (kept, tuple(dict.fromkeys(lacking.values()))) if kept else (fits, ())


_FOR_SIZE = "cmsis_nn/svdf.CmsisNnOpDataSvdf"
"""The struct that has another size where kernels are optimized for size."""


_ESP_LIBRARY = ESP.rpartition("/")[2]


@cache
def esp_runtimes() -> tuple[Runtime, ...]:
    """Return what ESP-NN's kernels are modelled in, the newest first: the newest TFLM, with the newest kernels.

    There is one of each esp-tflite-micro between whose releases a change lies.
    """
    releases = [row.runtime() for row in LIBRARIES if row.name == _ESP_LIBRARY and row.is_modelled]
    return tuple({_changes(runtime): runtime for runtime in (*releases, Runtime())}.values())[::-1]


def _changes(runtime: Runtime) -> frozenset[str]:
    return frozenset(change for change in CHANGES if runtime.has(change))


def _forks() -> tuple[Runtime, ...]:
    """Return builds of forks, whose structs upstream never had."""
    return *(runtime for runtime in esp_runtimes() if runtime.forks), Runtime(CHIRALE_SNAPSHOT, static_memory=False)


def _stretches(start: int, end: int) -> list[tuple[int, int]]:
    """Return [first, end) of each stretch without a change between two positions."""
    rows = [row for row in CHANGES.values() if row.tree == UPSTREAM]
    edges = {row.position for row in rows} | {row.until for row in rows}
    inside = sorted({start, end, *(edge for edge in edges if start < edge < end)})
    return list(pairwise(inside))


def _runtime(position: int) -> Runtime:
    if position == LAST_COUNTED:
        return Runtime()
    commit = at_position(position)
    return Runtime(commit.short, upstream=commit.position)


def _mismatches(measured: tuple[MeasuredStruct, ...], abi: Abi, runtime: Runtime) -> tuple[StructMismatch, ...]:
    table = layouts(abi, runtime)
    known = ((struct, table.get(struct.name)) for struct in measured)
    return tuple(
        StructMismatch(struct.name, struct.size, layout.size)
        for struct, layout in known
        if layout is not None and layout.size != struct.size
    )


def commit_at(position: int) -> str:
    """Return "HASH of DAY" of upstream's commit at a position."""
    commit = at_position(position)
    return f"{commit.short} of {commit.day}"
