"""The smallest arena that works, derived from one roomy run instead of searched (``arena.needs`` says how).

Not every larger arena works: a size with another remainder modulo 16 may need up to 15 bytes more. ``multiple_of_16``
is the size to put in a firmware; from there on every multiple of 16 works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from tflm_sim.arena.events import Observer, Persist, PlanDone, PlanFits, Resize, Temp
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import PERIOD, Constraint, Needs, Place
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.device.run import arena_rules, lost_bytes, make_arena, roomy_arena, run
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class SmallestArena:
    """The answer of :func:`smallest_arena`.

    Attributes:
        size: The smallest arena in which AllocateTensors() succeeds, in bytes.
        multiple_of_16: The smallest one that is a multiple of 16, in bytes.
        arena_used_bytes: What ``arena_used_bytes()`` reports in an arena of ``size``.
        binding: What would not fit in a byte less.
    """

    size: int
    multiple_of_16: int
    arena_used_bytes: int
    binding: Constraint


@dataclass(frozen=True, slots=True)
class SplitArenaSizes:
    """The smallest pair of arenas: bytes for persistent memory (a multiple of 16), and bytes for head and temp."""

    persistent: int
    non_persistent: int


class NeedsObserver(ArenaState):
    """Collects what must fit from the events of a roomy run (mutable); an observer.

    Args:
        table_bytes: Bytes of the planner's tables for one buffer.

    Attributes:
        needs: What must fit.
    """

    def __init__(self, table_bytes: int) -> None:
        self.needs = Needs()
        self._table_bytes = table_bytes
        super().__init__(
            {
                Persist: self._persisted,
                Temp: self._temp_taken,
                Resize: self._resized,
                PlanFits: self._plan_fits,
                PlanDone: self._plan_done,
            }
        )

    def _here(self) -> Place:
        return type(self.place), tuple(self.place)

    def _persisted(self, event: Persist) -> None:
        self.needs.persist(self.floor, event.size, event.alignment, event.tail_used, event.label, self._here())

    def _temp_taken(self, event: Temp) -> None:
        if self.stage is not Stage.PLANNER_ARENA:
            self.needs.below(event.temp_end, "temp", event.size, event.alignment, "", self._here())

    def _resized(self, event: Resize) -> None:
        self.needs.head = event.head
        self.needs.below(event.head, "head", event.size, event.alignment, "", self._here())

    def _plan_fits(self, event: PlanFits) -> None:
        self.needs.plan(event.needed, self._here())

    def _plan_done(self, event: PlanDone) -> None:
        tables = event.buffer_count * self._table_bytes
        floor = align_up(self.planner_tables + tables, PERIOD)
        self.needs.below(floor, "planner", tables, 0, str(event.buffer_count), self._here())


def smallest_arena(
    model: Model | Sequence[Model], target: Where, *, observers: Iterable[Observer] = (), **settings: Unpack[Settings]
) -> SmallestArena:
    """Return the smallest arena for one model, or for several on one allocator; exact to the byte.

    Args:
        model: One model or several.
        target: What it runs on: a name, a target, or a configuration.
        observers: Who is told of each event of the roomy run.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails in any arena.
        UsageError: An argument has no meaning, or the configuration has two arenas.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    configuration = configure(target, **settings)
    if configuration.is_split:
        raise UsageError("two arenas have a smallest pair: simulate(...).split")
    models = (model,) if isinstance(model, Model) else tuple(model)
    watching = tuple(observers)
    if watching:
        observer = NeedsObserver(table_bytes(configuration))
        room = roomy_arena(configuration.target)
        device = run(models, configuration, make_arena(configuration, arena_size=room, observers=(observer, *watching)))
        needs = observer.needs
    else:
        arena = _measuring_arena(configuration)
        device = run(models, configuration, arena)
        needs = arena.needs
    if device.failure is not None:
        raise device.failure
    return smallest_of(needs, configuration)


def table_bytes(configuration: Configuration) -> int:
    """Return the bytes of temp that the memory planner needs for each buffer."""
    return PER_BUFFER_SIZE if configuration.planner == "greedy" else 0


def _measuring_arena(configuration: Configuration) -> MeasuringArena:
    target, lost = configuration.target, lost_bytes(configuration)
    return MeasuringArena(
        roomy_arena(target) - lost,
        address=target.arena_address + lost,
        pointer_size=target.abi.pointer_size,
        table_bytes=table_bytes(configuration),
        rules=arena_rules(target.runtime),
    )


def smallest_of(needs: Needs, configuration: Configuration) -> SmallestArena:
    """Return the smallest arena, given what must fit in a roomy one that succeeded."""
    size, aligned, tail, binding = needs.smallest_of_all(configuration.target.arena_address, lost_bytes(configuration))
    return SmallestArena(size, aligned, needs.head + tail, binding)


def smallest_pair(needs: Needs) -> SplitArenaSizes:
    """Return the smallest pair of arenas, both aligned to 16, given what must fit in two roomy ones."""
    return SplitArenaSizes(align_up(needs.tail_used, PERIOD), needs.non_persistent)
