"""The smallest arena that works, derived from one roomy run instead of searched (``arena.needs`` says how).

Not every larger arena works: a size with another remainder modulo 16 may need up to 15 bytes more. ``multiple_of_16``
is the size to put in a firmware; from there on every multiple of 16 works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from tflm_sim.arena.events import Observer, Persist, PlanDone, PlanFits, Resize, Temp, each_observer
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import PERIOD, Constraint, Needs, PlaceFacts
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.device.run import Device, arena_rules, lost_bytes, make_arena, roomy_arena, run
from tflm_sim.errors import UsageError
from tflm_sim.escape import html_table
from tflm_sim.model.load import ModelLike, load_each
from tflm_sim.model.types import Model
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.short_repr import short_repr
from tflm_sim.units import align_up

if TYPE_CHECKING:
    from typing import Unpack

    from tflm_sim.device.prepare_cache import PrepareCache
    from tflm_sim.document_types import Count

_WORD = 4
"""Bytes."""

NeedsByEnd = Sequence[tuple[Needs, range]]
"""What must fit, and in arenas whose end has which remainders modulo 16."""


@dataclass(frozen=True, slots=True)
class SmallestArena:
    """The answer of :func:`smallest_arena`.

    Attributes:
        size: The smallest arena, in bytes, in which AllocateTensors() succeeds and gets all that it asks for, and in
            which no byte is handed out twice.
        multiple_of_16: The smallest one that is a multiple of 16, in bytes; ``size`` where the device halts in every
            multiple of 16, because a kernel overwrites bytes behind its own there.
        arena_used_bytes: What ``arena_used_bytes()`` reports in an arena of ``size``.
        binding: What would not fit in a byte less.
    """

    size: int
    multiple_of_16: int
    arena_used_bytes: int
    binding: Constraint

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """For notebooks: the sizes, and what does not fit in a byte less."""
        return html_table(f"smallest arena: {self.size:,} B", self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return (title, text) rows for people."""
        return [
            ("for the firmware", f"alignas(16) uint8_t tensor_arena[{self.multiple_of_16}];"),
            ("arena_used_bytes()", f"{self.arena_used_bytes:,} B"),
            ("does not fit in a byte less", f"{self.binding.what}, in '{self.binding.place}'"),
        ]


@dataclass(frozen=True, slots=True)
class SplitArenaSizes:
    """The smallest pair of arenas in which TFLM gets all that it asks for.

    AllocateTensors() may succeed in less persistent memory, where a kernel asks for some that its types do not use:
    TRANSPOSE_CONV of floats neither checks nor writes its quantized multipliers.
    Source: TransposeConvPrepare() in kernels/transpose_conv.cc @ 90b983c.

    Attributes:
        persistent: Bytes for persistent memory, a multiple of 16.
        non_persistent: Bytes for head and temp.
    """

    persistent: Count
    non_persistent: Count

    @property
    def size(self) -> int:
        """Bytes of both."""
        return self.persistent + self.non_persistent

    @property
    def multiple_of_16(self) -> int:
        """Bytes of both, each a multiple of 16."""
        return self.persistent + align_up(self.non_persistent, PERIOD)


class NeedsObserver(ArenaState):
    """Collects what must fit from the events of a roomy run (mutable); an observer.

    Args:
        configuration: How TFLM is set up.

    Attributes:
        needs: What must fit.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.needs = Needs()
        self._table_bytes = table_bytes(configuration)
        self._address = configuration.target.arena_address + lost_bytes(configuration)
        super().__init__(
            {
                Persist: self._persisted,
                Temp: self._temp_taken,
                Resize: self._resized,
                PlanFits: self._plan_fits,
                PlanDone: self._plan_done,
            }
        )

    def _place(self) -> PlaceFacts:
        return type(self.place), tuple(self.place)

    def _persisted(self, event: Persist) -> None:
        floor = self.floor_below(event)
        self.needs.persist(floor, event.size, event.alignment, event.tail_used, event.label, self._place())

    def _temp_taken(self, event: Temp) -> None:
        if self.stage is not Stage.PLANNER_ARENA:
            self.needs.below(event.temp_end, "temp", event.size, event.alignment, "", self._place())

    def _resized(self, event: Resize) -> None:
        self.needs.head = event.head
        self.needs.below(event.head, "head", event.size, event.alignment, "", self._place())

    def _plan_fits(self, event: PlanFits) -> None:
        self.needs.plan(event.needed, self._address, self._place())

    def _plan_done(self, event: PlanDone) -> None:
        tables = event.buffer_count * self._table_bytes
        self.needs.tables(self.planner_tables, tables, event.buffer_count, self._address, self._place())


def smallest_arena(
    model: ModelLike | Iterable[ModelLike],
    target: Where | None = None,
    *,
    observers: Iterable[Observer] = (),
    **settings: Unpack[Settings],
) -> SmallestArena:
    """Return the smallest arena for one model, or for several on one allocator; exact to the byte.

    Args:
        model: One model or several: a Model, a path, bytes, ``sample:NAME``.
        target: What it runs on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
        observers: Functions that are called with each event of the roomy run.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails in any arena.
        UsageError: An argument has no meaning, or the configuration has two arenas.
        ModelError: A file cannot be read.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    models = load_each(model)
    configuration = in_one_arena(configure(target, **settings))
    device, needs = roomy_run(models, configuration, each_observer(observers))
    if device.failure is not None:
        raise device.failure
    return smallest_of(needs, configuration)


def in_one_arena(configuration: Configuration) -> Configuration:
    """Return the configuration, after checking that it has one arena.

    Raises:
        UsageError: It has two arenas.
    """
    if configuration.split_arenas:
        raise UsageError("smallest_arena() sizes one arena; for two arenas use simulate(...).split")
    return configuration


def roomy_run(
    models: Sequence[Model],
    configuration: Configuration,
    watching: tuple[Observer, ...] = (),
    cache: PrepareCache | None = None,
) -> tuple[Device, NeedsByEnd]:
    """Run the models in a roomy arena.

    Args:
        models: The models that share one allocator, in order.
        configuration: How TFLM is set up; with one arena.
        watching: Observers, which are called with each event.
        cache: A cache of Prepares, which is used where there are no observers.

    Returns:
        The device, which failed only where it fails in every arena, and what had to fit.
    """
    device, needs = _run_ending_at(models, configuration, watching, cache=cache)
    if not any(allocation.overran for allocation in device.allocations):
        return device, [(needs, range(PERIOD))]
    # What a kernel overwrites behind its own bytes, and does then, depends on the arena's end modulo 16, in words.
    runs = {end: _run_ending_at(models, configuration, (), end, cache) for end in range(0, PERIOD, _WORD)}
    works = {end: run for end, run in runs.items() if run[0].failure is None}
    device = next((device for device, _ in works.values()), device)
    return device, [(needs, range(end, end + _WORD)) for end, (_, needs) in works.items()]


def _run_ending_at(
    models: Sequence[Model],
    configuration: Configuration,
    watching: tuple[Observer, ...],
    end: int = 0,
    cache: PrepareCache | None = None,
) -> tuple[Device, Needs]:
    """Run the models in a roomy arena that ends at ``end`` modulo 16; with observers it ends at 0.

    Returns:
        The device, and what had to fit.
    """
    if watching:
        observer = NeedsObserver(configuration)
        room = roomy_arena(configuration.target)
        arena = make_arena(configuration, arena_size=room, observers=(observer, *watching))
        return run(models, configuration, arena), observer.needs
    measuring = _measuring_arena(configuration, -end % PERIOD)
    return run(models, configuration, measuring, cache), measuring.needs


def table_bytes(configuration: Configuration) -> int:
    """Return the bytes of temp that the memory planner needs for each buffer."""
    return PER_BUFFER_SIZE if configuration.planner == "greedy" else 0


def _measuring_arena(configuration: Configuration, less: int) -> MeasuringArena:
    target, lost = configuration.target, lost_bytes(configuration)
    return MeasuringArena(
        roomy_arena(target) - lost - less,
        address=target.arena_address + lost,
        pointer_size=target.abi.pointer_size,
        table_bytes=table_bytes(configuration),
        rules=arena_rules(target.runtime),
    )


def smallest_of(needs: NeedsByEnd, configuration: Configuration) -> SmallestArena:
    """Return the smallest arena, given what must fit in roomy ones that succeeded, and what they run on."""
    address, lost = configuration.target.arena_address, lost_bytes(configuration)
    found = [(one.head, *one.smallest_of_all(address, lost, ends)) for one, ends in needs]
    head, size, _, tail, binding = min(found, key=itemgetter(1))
    aligned = next((each for _, _, each, *_ in found if each is not None), size)
    return SmallestArena(size, aligned, head + tail, binding)


def smallest_pair(needs: Needs) -> SplitArenaSizes:
    """Return the smallest pair of arenas, both aligned to 16, given what must fit in two roomy ones."""
    return SplitArenaSizes(align_up(needs.tail_used, PERIOD), needs.non_persistent)
