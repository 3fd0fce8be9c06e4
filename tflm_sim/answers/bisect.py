"""``bisect``: which commits of TFLM, or versions of a kernel library, changed a model's smallest arena.

Two versions of TFLM can only differ in the simulation where a row of ``CHANGES`` lies between them. So the model is
sized at the position of each such row, and all positions where the size differs from the one before are reported, not
only one. Versions of a kernel library are tried in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import HIDDEN, INLINE, named
from tflm_sim.document_types import Count
from tflm_sim.errors import SimulatedFailure
from tflm_sim.model.types import Model
from tflm_sim.targets.changes import CHANGES, UPSTREAM
from tflm_sim.targets.history import at_position
from tflm_sim.targets.kernel_library import versions_of
from tflm_sim.targets.presets import at_runtime
from tflm_sim.targets.runtime import Runtime


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A commit of TFLM, or a version of a kernel library.

    Attributes:
        name: The commit, nine digits, or the version.
        date: The commit's day, UTC; "" for a version.
        summaries: What changed with it.
        configuration: The configuration with it, on which the model is sized.
    """

    name: str = field(metadata=named("commit"))
    date: str
    summaries: tuple[str, ...]
    configuration: Configuration = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class SizeChangePoint:
    """A commit or version that changed the smallest arena.

    Attributes:
        state: The commit or version.
        before: The smallest arena before it, in bytes; null where AllocateTensors() fails in an arena of any size.
        after: The smallest arena with it; null likewise.
        message: What the device prints where it fails with it.
    """

    state: HistoryPoint = field(metadata=INLINE)
    before: Count | None
    after: Count | None
    message: str = ""


def bisect(model: Model, states: Iterable[HistoryPoint]) -> Iterator[SizeChangePoint]:
    """Yield each of ``states`` at which the smallest arena differs from that of the state before it."""
    before: tuple[int | None, str] | None = None
    for state in states:
        after = _need(model, state.configuration)
        if before is not None and after[0] != before[0]:
            yield SizeChangePoint(state, before[0], *after)
        before = after


def commits_between(configuration: Configuration, first: int, last: int) -> Iterator[HistoryPoint]:
    """Yield the state at position ``first`` of upstream's history, then each commit up to ``last`` with a change."""
    found: dict[int, list[str]] = {first: []}
    for change in CHANGES.values():
        if change.tree == UPSTREAM:
            for position, summary in ((change.position, change.summary), (change.until, f"undone: {change.summary}")):
                if first < position <= last:
                    found.setdefault(position, []).append(summary)
    machine = replace(configuration.target, runtime=Runtime(compression=configuration.target.runtime.compression))
    for position, summaries in sorted(found.items()):
        commit = at_position(position)
        at = replace(configuration, target=at_runtime(machine, commit.short))
        yield HistoryPoint(commit.short, commit.day, tuple(dict.fromkeys(summaries)), at)


def versions_between(configuration: Configuration, older: str, newer: str) -> Iterator[HistoryPoint]:
    """Yield the versions of the configuration's kernel library from ``older`` to ``newer``."""
    library = configuration.target.kernel_library
    versions = versions_of(library.name, library.variant)[::-1]
    for version in versions[versions.index(older) : versions.index(newer) + 1]:
        target = replace(configuration.target, kernel_library=replace(library, version=version))
        yield HistoryPoint(version, "", (f"{library.name} {version}",), replace(configuration, target=target))


def _need(model: Model, configuration: Configuration) -> tuple[int | None, str]:
    """Return the smallest arena, or None and what the device prints."""
    try:
        return smallest_arena(model, configuration).size, ""
    except SimulatedFailure as failure:
        return None, failure.device_message or str(failure)
