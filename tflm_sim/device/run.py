"""``run()``: AllocateTensors() of one or several models on a fresh arena; ``Device`` is what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tflm_sim.arena.arena import SET_HEAD_RULES, ArenaRules, SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, End, Event, LogLine, Observer, Run
from tflm_sim.arena.split_arena import SplitArena
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.interpreter import MicroInterpreter
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.resources import create_resource_variables
from tflm_sim.errors import ArenaOverflowError, SimulatedFailure, UsageError, each_of
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.types import Model
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.roles import FailedDebugCheck
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.target import Target
from tflm_sim.units import align_up

if TYPE_CHECKING:
    from tflm_sim.device.prepare_cache import PrepareCache

Arena = SingleArenaBufferAllocator | SplitArena

ROOMY_ARENA = 1 << 30
"""An arena, in bytes, that is larger than any microcontroller's and still a positive C ``int``."""


def roomy_arena(target: Target) -> int:
    """Return the size of a roomy arena that ends at a multiple of 16, in bytes."""
    return ROOMY_ARENA - target.arena_address


@dataclass(frozen=True, slots=True)
class PlannedBuffer:
    """A buffer that the memory planner placed in the head.

    Attributes:
        info: The tensor or scratch buffer, its size, and when it is alive (inclusive scopes).
        offset: Bytes from the arena's start.
    """

    info: AllocationInfo
    offset: int

    @property
    def end(self) -> int:
        """The first byte after it, rounded up to the planner's 16."""
        return self.offset + align_up(self.info.size, BUFFER_ALIGNMENT)


@dataclass(frozen=True, slots=True)
class Device:
    """The device after AllocateTensors(): the arena, the models whose allocation began, and why it stopped."""

    arena: Arena
    interpreters: tuple[MicroInterpreter, ...]
    failure: SimulatedFailure | None

    @property
    def allocations(self) -> tuple[ModelAllocation, ...]:
        return tuple(i.allocation for i in self.interpreters if i.allocation is not None)

    @property
    def tail_offset(self) -> int:
        """Where the tail starts in the arena (of persistent memory, where there are two)."""
        return self.arena.persistent.tail if isinstance(self.arena, SplitArena) else self.arena.tail

    @property
    def is_split(self) -> bool:
        """Whether persistent memory is an arena of its own."""
        return isinstance(self.arena, SplitArena)

    def plans(self, offsets: Sequence[int] | None = None) -> list[dict[int, int]]:
        """Return each model's plan, head offset by info; with ``offsets`` in place of the planner's, in their order.

        Raises:
            UsageError: There are not as many offsets as buffers, or one is negative.
        """
        plans = [allocation.offsets for allocation in self.allocations]
        if offsets is None:
            return plans
        offsets = each_of(offsets, int, "the offsets of a plan in bytes")
        if len(offsets) != sum(map(len, plans)) or any(offset < 0 for offset in offsets):
            raise UsageError(f"a plan is one offset, 0 or more, for each of the {sum(map(len, plans))} buffers")
        chosen = iter(offsets)
        return [dict(zip(plan, chosen, strict=False)) for plan in plans]

    @property
    def status(self) -> str:
        """ "ok", "error" or "abort"."""
        return "ok" if self.failure is None else self.failure.status

    def planned_buffers(self) -> Iterable[PlannedBuffer]:
        """Yield what the planner placed, model after model."""
        for allocation in self.allocations:
            for index, offset in allocation.offsets.items():
                yield PlannedBuffer(allocation.infos[index], offset)


def run(
    models: Sequence[Model],
    configuration: Configuration,
    arena: SingleArenaBufferAllocator | SplitArena,
    cache: PrepareCache | None = None,
) -> Device:
    """Run the models, which share one allocator, on a fresh arena, in order.

    Args:
        models: The models.
        configuration: How TFLM is set up.
        arena: A fresh arena.
        cache: A cache of Prepares, for a ``MeasuringArena``.

    Raises:
        UnsupportedOpError: TFLM has an operator that we have no model of.
        ModelError: A tensor index of a model is out of range.
        UsageError: A tensor to be preserved is in none of the models.
    """
    for model in models:
        if model.index_fault is not None:
            raise copy(model.index_fault)  # threads share the model, and raising adds to an error's traceback
    for place, index in configuration.preserved:
        if not any(_has_tensor(model, place, index) for model in models):
            raise UsageError(f"preserved: no model has a tensor {index} in subgraph {place}")
    target = configuration.target
    kind = "split" if configuration.split_arenas else configuration.interpreter
    interpreters: list[MicroInterpreter] = []
    failure: SimulatedFailure | None = None
    try:
        allocator = MicroAllocator(
            arena,
            target,
            kind=kind,
            planner=configuration.planner,
            has_own_planner=configuration.own_planner,
            has_own_arena_allocator=configuration.has_own_arena_allocator,
            preserved=configuration.preserved,
        )
        for size in configuration.own_requests:
            allocator.allocate_persistent_buffer(size, "the firmware's own request")
        for model in models:
            variables = _resource_variables(model, allocator, configuration)
            interpreters.append(
                MicroInterpreter(model, allocator, registrations(target, configuration.custom_ops), variables, cache)
            )
            interpreters[-1].allocate_tensors()
    except SimulatedFailure as error:
        if isinstance(error, FailedDebugCheck) and not target.runtime.has_debug_checks:
            error = error.without_checks()
        failure = _without_frames(error)
    device = Device(arena, tuple(i for i in interpreters if i.allocation is not None), failure)
    arena.tell(End, configuration.interpreter, device.status, 0 if device.status == "abort" else arena.used_bytes)
    return device


def _has_tensor(model: Model, place: int, index: int) -> bool:
    return 0 <= place < len(model.subgraphs) and 0 <= index < len(model.subgraphs[place].tensors)


def _without_frames(failure: SimulatedFailure) -> SimulatedFailure:
    """Return a failure without its traceback, which would keep the arena and the model alive in a reference cycle."""
    link: BaseException | None = failure
    while link is not None:
        link.__traceback__ = None
        link = link.__context__
    return failure


def _resource_variables(
    model: Model, allocator: MicroAllocator, configuration: Configuration
) -> ResourceVariables | None:
    """Create the table of a model's resource variables in the arena that the configuration names."""
    count = configuration.resource_variables
    size = configuration.variable_arena
    if size is None:
        return create_resource_variables(model, allocator, count)
    try:
        return create_resource_variables(model, _variable_allocator(allocator, configuration, size), count)
    except ArenaOverflowError as error:
        error.where = "variable arena"
        raise


def _variable_allocator(allocator: MicroAllocator, configuration: Configuration, size: int) -> MicroAllocator:
    """Return an allocator on a second arena; its log lines and corruptions go to the models' event stream too."""

    def tell(event: Event) -> None:
        if isinstance(event, LogLine | Corruption):
            allocator.arena.emit(event)

    apart = replace(configuration, interpreter="plain", split_arenas=False)
    return MicroAllocator(_arena(apart, size, (tell,)), configuration.target)


def make_arena(
    configuration: Configuration,
    *,
    arena_size: int,
    non_persistent_arena_size: int = 0,
    observers: Sequence[Observer] = (),
) -> Arena:
    """Return a fresh arena.

    Args:
        configuration: The configuration.
        arena_size: Bytes; of persistent memory alone, where there are two arenas.
        non_persistent_arena_size: Bytes of the second arena.
        observers: Functions that are called with each event.

    Raises:
        UsageError: A size is not valid.
    """
    for size in (arena_size, non_persistent_arena_size):
        if not 0 <= size < 1 << 31:
            raise UsageError(f"an arena of {size} bytes is not between 0 and 2 GiB")
    arena = (
        _split_arena(configuration, arena_size, non_persistent_arena_size, observers)
        if configuration.split_arenas
        else _arena(configuration, arena_size, observers)
    )
    arena.tell(Run, configuration.interpreter, arena_size)
    return arena


def lost_bytes(configuration: Configuration) -> int:
    """Return the bytes at the start of an arena that are not used.

    ``MicroAllocator::Create`` skips to an aligned start; ``RecordingMicroAllocator::Create`` does not.
    """
    address = configuration.target.arena_address
    return -address % BUFFER_ALIGNMENT if configuration.interpreter == "plain" else 0


def arena_rules(runtime: Runtime) -> ArenaRules:
    """Return how a version of TFLM's arena allocator behaves, and what it logs."""
    texts = {} if runtime.has("resizable_buffer") else SET_HEAD_RULES
    return ArenaRules(checks_temps=runtime.has("temps_checked"), **texts)


def _arena(configuration: Configuration, size: int, observers: Sequence[Observer]) -> SingleArenaBufferAllocator:
    target, lost = configuration.target, lost_bytes(configuration)
    return SingleArenaBufferAllocator(
        size - lost,
        address=target.arena_address + lost,
        pointer_size=target.abi.pointer_size,
        observers=observers,
        rules=arena_rules(target.runtime),
    )


def _split_arena(
    configuration: Configuration, size: int, non_persistent_size: int, observers: Sequence[Observer]
) -> SplitArena:
    target = configuration.target
    return SplitArena(
        size,
        non_persistent_size,
        persistent_address=target.arena_address,
        non_persistent_address=target.arena_address,
        pointer_size=target.abi.pointer_size,
        observers=observers,
    )
