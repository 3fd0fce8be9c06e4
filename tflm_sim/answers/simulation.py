"""``simulate()``: run AllocateTensors() of one or several models on one arena; ``Simulation`` is all there is to know.

This is the one boundary where a simulated failure becomes data: "too small" is an answer. What the run does not say by
itself (the smallest arena, the fullest moment, the use of the tail) is computed on first access and then kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Unpack

from tflm_sim.answers.invoke_problem import InvokeProblem, invoke_problem
from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.peak import Peak, find_peak
from tflm_sim.answers.smallest_arena import (
    NeedsObserver,
    SmallestArena,
    SplitArenaSizes,
    smallest_arena,
    smallest_of,
    smallest_pair,
)
from tflm_sim.arena.events import Corruption, Event, LogLine, Observer, each_observer
from tflm_sim.arena.needs import PERIOD, Needs
from tflm_sim.device.configuration import NAMING, Configuration, Settings, Where, configure
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.recording import AllocationRecorder, RecordedAllocation
from tflm_sim.device.run import Device, PlannedBuffer, make_arena, roomy_arena, run
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.load import ModelLike, load_each
from tflm_sim.model.types import Model
from tflm_sim.sizes import as_size


@dataclass(frozen=True, eq=False)
class Simulation:
    """What happened on the arena, and the answers that follow from it.

    A pickle contains only the models, the configuration and the arena sizes; unpickling simulates again.

    Attributes:
        models: The models that share the arena, in order.
        configuration: How TFLM was set up.
        arena_size: Bytes; of persistent memory alone, where there are two arenas.
        non_persistent_arena_size: Bytes of the second arena, None where there is one.
        events: Every event, in order.
        device: The arena and the models on it, as AllocateTensors() left them.
    """

    models: tuple[Model, ...]
    configuration: Configuration
    arena_size: int
    non_persistent_arena_size: int | None
    events: tuple[Event, ...] = field(repr=False)
    device: Device = field(repr=False)

    def __repr__(self) -> str:
        models = "1 model" if len(self.models) == 1 else f"{len(self.models)} models"
        return f"<Simulation of {models} on {self.configuration.target.name}: {self.status}, {self.arena_size:,} B>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _simulated, (self.models, self.configuration, self.arena_size, self.non_persistent_arena_size)

    def _repr_html_(self) -> str:
        """For notebooks: the sizes, and a picture of the plan."""
        from tflm_sim.answers.notebook import simulation_html

        return simulation_html(self)

    # -- how it went ------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The first model."""
        return self.models[0]

    @property
    def status(self) -> str:
        """ "ok"; "error" (AllocateTensors returned kTfLiteError); "abort" (it halts, or uses other memory)."""
        return self.device.status

    @property
    def failure(self) -> SimulatedFailure | None:
        """What stopped it, or None."""
        return self.device.failure

    @property
    def fits(self) -> bool:
        """Whether it works: no failure, and no byte in use was handed out again."""
        return self.failure is None and not self.corruptions

    def unwrap(self) -> Simulation:
        """Return self, or raise the :class:`~tflm_sim.errors.SimulatedFailure` that stopped it."""
        if self.failure is not None:
            raise self.failure
        return self

    @cached_property
    def invoke_problem(self) -> InvokeProblem | None:
        """Why Invoke() fails every time though AllocateTensors() succeeds, None where nothing is known to."""
        return invoke_problem(self.device, self.configuration)

    @cached_property
    def debug_build_halts(self) -> str | None:
        """Where a build with debug checks would halt though this one has none and goes on; None where it would not."""
        target = self.configuration.target
        if target.runtime.has_debug_checks or self.status != "ok":
            return None
        debug = replace(target, runtime=replace(target.runtime, has_debug_checks=True))
        halted = simulate(self.model, replace(self.configuration, target=debug)).failure
        return None if halted is None or halted.status != "abort" else str(halted)

    @cached_property
    def release_build(self) -> str | None:
        """What a build with NDEBUG, which has no debug checks, does where this one halts at one; None elsewhere."""
        target = self.configuration.target
        if not target.runtime.has_debug_checks or self.status != "abort":
            return None
        release = replace(target, runtime=replace(target.runtime, has_debug_checks=False))
        goes_on = simulate(self.model, replace(self.configuration, target=release))
        if goes_on.smallest is not None:
            return f"needs {goes_on.smallest.size:,} B"
        return None if str(goes_on.failure) == str(self.failure) else str(goes_on.failure)

    @cached_property
    def log(self) -> tuple[str, ...]:
        """The lines that the device prints, in order."""
        return tuple(event.text for event in self.events if isinstance(event, LogLine))

    @cached_property
    def corruptions(self) -> tuple[str, ...]:
        """Where the device overwrites bytes in use without noticing, which is a failure too."""
        return tuple(event.text for event in self.events if isinstance(event, Corruption))

    # -- the arena --------------------------------------------------------------------------------------------------

    @property
    def head_bytes(self) -> int:
        """Bytes from the arena's start to the end of the plan; to the end of temp where the simulation failed."""
        return self.device.arena.non_persistent_used_bytes

    @property
    def tail_bytes(self) -> int:
        """Bytes of persistent memory."""
        return self.device.arena.persistent_used_bytes

    @property
    def arena_used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports; 0 after an abort, when nothing reports any more."""
        return 0 if self.status == "abort" else self.head_bytes + self.tail_bytes

    @cached_property
    def recorded(self) -> MappingProxyType[str, RecordedAllocation]:
        """What each ``RecordedAllocationType`` holds, by its name."""
        recorder = AllocationRecorder(compression=self.configuration.target.runtime.compression)
        for event in self.events:
            recorder(event)
        return MappingProxyType(recorder.recorded)

    @cached_property
    def ledger(self) -> TailLedger:
        """Who holds the tail: every persistent byte by what it is and by operator, those without a category too."""
        return TailLedger().fold(self.events)

    # -- the plan ---------------------------------------------------------------------------------------------------

    @property
    def allocations(self) -> tuple[ModelAllocation, ...]:
        """Tensors, lifetimes and plan of each model whose allocation began."""
        return self.device.allocations

    @property
    def allocation(self) -> ModelAllocation | None:
        """Tensors, lifetimes and plan of the first model; None when it failed before its allocation began."""
        return self.allocations[0] if self.allocations else None

    @cached_property
    def buffers(self) -> tuple[PlannedBuffer, ...]:
        """What the planner placed, model after model."""
        return tuple(self.device.planned_buffers())

    @cached_property
    def peak(self) -> Peak | None:
        """The fullest moment of the head (of the fullest model), None without a plan."""
        peaks = [peak for allocation in self.allocations if (peak := find_peak(allocation)) is not None]
        return max(peaks, key=lambda peak: peak.live_bytes, default=None)

    # -- the arena that the models need -----------------------------------------------------------------------------

    @cached_property
    def smallest(self) -> SmallestArena | None:
        """The smallest arena for these models, not the simulated one; None where none works, and for two arenas."""
        roomy = self.roomy
        if self.configuration.split_arenas:
            return None
        if any(allocation.overran for allocation in roomy.allocations):
            return self._smallest_at_harmless_ends()
        if roomy.failure is not None:
            return None
        return smallest_of([(roomy.needs, range(PERIOD))], self.configuration)

    @cached_property
    def unnoticed_from(self) -> int | None:
        """The smallest arena that is too small, but in which no check of TFLM fails; None where one byte less fails.

        In such an arena a kernel that takes persistent memory overwrites its own temps, because TFLM compares the tail
        only with the head. From this size on, the same bytes are overwritten as in an arena that is one byte too small.
        In a still smaller one more bytes are, and what the kernel then does is not known.
        """
        smallest = self.smallest
        if smallest is None or smallest.binding.kind != "tail" or smallest.binding.floor == self.roomy.head_bytes:
            return None
        overwritten = self._silent_corruptions(smallest.size - 1)
        if not overwritten:
            return None
        sizes = range(smallest.size - 1, 0, -1)
        return smallest.size - sum(
            1 for _ in takewhile(lambda size: self._silent_corruptions(size) == overwritten, sizes)
        )

    def _silent_corruptions(self, arena_size: int) -> tuple[str, ...]:
        """Return which bytes in use are overwritten in an arena of this size; () where AllocateTensors() fails."""
        found = simulate(self.models, self.configuration, arena_size=arena_size)
        return found.corruptions if found.failure is None else ()

    def _smallest_at_harmless_ends(self) -> SmallestArena | None:
        """The smallest arena for models that overwrite bytes in some sizes; None where the device halts in all."""
        try:
            return smallest_arena(self.models, self.configuration)
        except SimulatedFailure:
            return None

    @cached_property
    def split(self) -> SplitArenaSizes | None:
        """The smallest pair of arenas; None where none works, and for one arena."""
        roomy = self.roomy
        return smallest_pair(roomy.needs) if self.configuration.split_arenas and roomy.failure is None else None

    @cached_property
    def roomy(self) -> Simulation:
        """The same models in a roomy arena: this simulation, if it is one."""
        room = roomy_arena(self.configuration.target)
        is_roomy = self.arena_size == room and self.non_persistent_arena_size in (None, room)
        return self if is_roomy else simulate(self.models, self.configuration)

    @cached_property
    def needs(self) -> Needs:
        """What must fit into an arena, from the events of a roomy one."""
        return NeedsObserver(self.configuration).fold(self.events).needs


def simulate(
    model: ModelLike | Iterable[ModelLike],
    target: Where | None = None,
    *,
    arena_size: int | str | None = None,
    non_persistent_arena_size: int | str | None = None,
    observers: Iterable[Observer] = (),
    **settings: Unpack[Settings],
) -> Simulation:
    """Simulate ``AllocateTensors()`` of one model, or of several that share one allocator, in order.

    Args:
        model: One model or several: a Model, a path, bytes, ``sample:NAME``.
        target: What it runs on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
        arena_size: Bytes of the arena, or text ("64KiB"); None for a roomy one.
        non_persistent_arena_size: Bytes of a second arena for head and temp; ``arena_size`` is then persistent memory
            alone. None for one arena, or for a roomy one where the configuration has two.
        observers: Functions that are called with each event, as it happens.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        UsageError: An argument has no meaning.
        ModelError: A file cannot be read.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    models = load_each(model)
    configuration = configure(target, **settings)
    arena_size = as_size(arena_size, "arena_size")
    non_persistent_arena_size = as_size(non_persistent_arena_size, "non_persistent_arena_size")
    if non_persistent_arena_size is not None:
        configuration = configure(configuration, split_arenas=True)
    room = roomy_arena(configuration.target)
    if configuration.split_arenas and non_persistent_arena_size is None:
        non_persistent_arena_size = room
    size = room if arena_size is None else arena_size
    events: list[Event] = []
    arena = make_arena(
        configuration,
        arena_size=size,
        non_persistent_arena_size=non_persistent_arena_size or 0,
        observers=(events.append, *each_observer(observers)),
    )
    device = run(models, configuration, arena)
    found = Simulation(models, configuration, size, non_persistent_arena_size, tuple(events), device)
    return found if arena_size is not None or found.fits else _run_without_corruption(found)


def _run_without_corruption(found: Simulation) -> Simulation:
    """Return a run in a roomy arena without corruption: one that ends a few bytes earlier, where this one has any.

    What a kernel overwrites past its own bytes depends on the arena's end modulo 16.
    """
    if not any(allocation.overran for allocation in found.device.allocations):
        return found
    sizes = (found.arena_size - less for less in (4, 8, 12))
    others = (simulate(found.models, found.configuration, arena_size=size) for size in sizes)
    return next((other for other in others if other.fits), found)


def simulation_of(
    given: Simulation | ModelLike | Iterable[ModelLike], target: Where | None, **settings: Unpack[Settings]
) -> Simulation:
    """Return a given simulation, or simulate given models on a target in a roomy arena.

    Raises:
        UsageError: A model without a target, or a simulation together with a target.
        ModelError, UnsupportedOpError: As :func:`simulate`.
    """
    if isinstance(given, Simulation):
        if target is not None or settings:
            raise UsageError("a Simulation already has a target and settings; give them only with a model")
        return given
    models = load_each(given)
    if target is None and not any(settings.get(name) for name in NAMING):
        raise UsageError("a model needs a target: give one, or a Simulation instead of the model")
    return simulate(models, target, **settings)


def _simulated(
    models: tuple[Model, ...], configuration: Configuration, size: int, non_persistent_size: int | None
) -> Simulation:
    return simulate(models, configuration, arena_size=size, non_persistent_arena_size=non_persistent_size)
