"""``simulate()``: run AllocateTensors() of one or several models on one arena and keep what there is to know.

This is the one boundary where a simulated failure becomes data: "too small" is an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from tflm_sim.allocator.arena_contents import ArenaContents
from tflm_sim.allocator.configuration import Configuration
from tflm_sim.allocator.constants import MICRO_ARENA_BUFFER_ALIGNMENT
from tflm_sim.allocator.interpreter import MicroInterpreter
from tflm_sim.allocator.invoke import Invocation, invoke
from tflm_sim.allocator.micro_allocator import MicroAllocator
from tflm_sim.allocator.model_allocation import ModelAllocation
from tflm_sim.allocator.recording import AllocationRecorder, RecordedAllocation
from tflm_sim.allocator.resources import create_resource_variables
from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, End, Event, LogLine, Observer, Run
from tflm_sim.arena.split_arena import SplitArena
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.target.target import Target
from tflm_sim.units import align_up

ROOMY_ARENA = 1 << 30
"""An arena, in bytes, that is larger than any microcontroller's and still a positive C ``int``."""


@dataclass(frozen=True, slots=True)
class PlannedBuffer:
    """A buffer that the memory planner placed in the head.

    Attributes:
        info: Whose it is, how large and when it is alive (inclusive scopes).
        offset: Bytes from the arena's start.
    """

    info: AllocationInfo
    offset: int

    @property
    def end(self) -> int:
        """The first byte after it, rounded up to the planner's 16."""
        return self.offset + align_up(self.info.size, 16)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What happened on the arena.

    Attributes:
        status: "ok"; "error" (AllocateTensors returned kTfLiteError); "abort" (the device halts or goes wild).
        log: The lines that the device prints, in order.
        arena_size: Bytes.
        head_bytes: Bytes from the start to the end of the plan (of temp, where it failed).
        tail_bytes: Bytes of persistent memory.
        recorded: ``RecordedAllocationType`` name to what it holds.
        buffers: What the planner placed, model after model.
        events: Every event.
        corruptions: Where the device overwrites bytes in use without noticing, which is a failure too.
        failure: What stopped it, or None.
        outcome: The arena and the models on it, as AllocateTensors() left them.
    """

    status: str
    log: tuple[str, ...]
    arena_size: int
    head_bytes: int
    tail_bytes: int
    recorded: MappingProxyType[str, RecordedAllocation]
    buffers: tuple[PlannedBuffer, ...]
    events: tuple[Event, ...]
    corruptions: tuple[str, ...]
    failure: SimulatedFailure | None
    outcome: Outcome = field(repr=False, compare=False)

    @property
    def arena_used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports; 0 after an abort, when nothing reports any more."""
        return 0 if self.status == "abort" else self.head_bytes + self.tail_bytes

    def unwrap(self) -> Simulation:
        """Return self, or raise the :class:`~tflm_sim.errors.SimulatedFailure` that stopped it."""
        if self.failure is not None:
            raise self.failure
        return self

    def invoke(self, count: int = 1, *, while_iterations: int = 2, offsets: Sequence[int] | None = None) -> Invocation:
        """Invoke every model of the arena in turn, ``count`` times, on the arena's bytes.

        Variables start anew with each call of this method.

        Args:
            count: How many times.
            while_iterations: How often the body of each WHILE runs.
            offsets: Another plan: a head offset for each of ``buffers``; None for TFLM's.

        Raises:
            SimulatedFailure: AllocateTensors() failed, or Invoke() fails: a kernel asks for what it may not have then.
            UsageError: Too few offsets, or a negative one.
            ModelError: The subgraphs nest so that too many operators run.
        """
        outcome = self.unwrap().outcome
        plans = outcome.plans(offsets)
        placed = [offset for plan in plans for offset in plan.values()]
        ends = (offset + buffer.info.size for offset, buffer in zip(placed, self.buffers, strict=True))
        contents = ArenaContents(max(ends, default=0), outcome.tail_offset, self.tail_bytes)
        return invoke(outcome.interpreters, plans, contents, count=count, while_iterations=while_iterations)


def simulate(
    model: Model | Sequence[Model],
    target: Target,
    *,
    arena_size: int = ROOMY_ARENA,
    interpreter: str | None = None,
    planner: str = "greedy",
    resource_variable_count: int | None = None,
    non_persistent_arena_size: int | None = None,
    custom_ops: Iterable[OpModel] = (),
    observers: Iterable[Observer] = (),
) -> Simulation:
    """Simulate ``AllocateTensors()`` of one model, or of several that share one allocator, in order.

    Args:
        model: One model or several.
        target: What it runs on.
        arena_size: Bytes of the arena; by default roomy.
        interpreter: "plain" or "recording" (whose allocator objects are larger); by default the target's.
        planner: "greedy", or "linear" (``preserve_all_tensors``).
        resource_variable_count: Room in ``MicroResourceVariables``; by default one per VAR_HANDLE name, and no table at
            all for a model without VAR_HANDLE.
        non_persistent_arena_size: Bytes of a second arena for head and temp; ``arena_size`` is then persistent memory
            alone. None for one arena.
        custom_ops: Kernels of one's own.
        observers: Who else is told of each event, as it happens.

    Raises:
        UsageError: An argument has no meaning.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    configuration = Configuration(
        target,
        interpreter or target.interpreter,
        planner,
        resource_variable_count,
        is_split=non_persistent_arena_size is not None,
        custom_ops=tuple(custom_ops),
    )
    return simulate_configuration(
        [model] if isinstance(model, Model) else list(model),
        configuration,
        arena_size=arena_size,
        non_persistent_arena_size=non_persistent_arena_size or 0,
        observers=observers,
    )


def simulate_configuration(
    models: Sequence[Model],
    configuration: Configuration,
    *,
    arena_size: int = ROOMY_ARENA,
    non_persistent_arena_size: int = 0,
    observers: Iterable[Observer] = (),
) -> Simulation:
    """Simulate ``AllocateTensors()`` of models that share one allocator, in order; as :func:`simulate`."""
    events: list[Event] = []
    recorder = AllocationRecorder(compression=configuration.target.runtime.compression)
    outcome = run(
        models,
        configuration,
        arena_size=arena_size,
        non_persistent_arena_size=non_persistent_arena_size,
        observers=(events.append, recorder, *observers),
    )
    return Simulation(
        status=outcome.status,
        log=tuple(event.text for event in events if isinstance(event, LogLine)),
        arena_size=arena_size,
        head_bytes=outcome.arena.non_persistent_used_bytes,
        tail_bytes=outcome.arena.persistent_used_bytes,
        recorded=MappingProxyType(recorder.recorded),
        buffers=tuple(outcome.planned_buffers()),
        events=tuple(events),
        corruptions=tuple(event.text for event in events if isinstance(event, Corruption)),
        failure=outcome.failure,
        outcome=outcome,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one :func:`run` leaves behind: the arena, the models that came as far as an allocation, why it stopped."""

    arena: SingleArenaBufferAllocator | SplitArena
    interpreters: tuple[MicroInterpreter, ...]
    failure: SimulatedFailure | None

    @property
    def allocations(self) -> tuple[ModelAllocation, ...]:
        """What each of the models has taken."""
        return tuple(i.allocation for i in self.interpreters if i.allocation is not None)

    @property
    def tail_offset(self) -> int:
        """Where the tail starts in the arena (of persistent memory, where there are two)."""
        return self.arena.persistent.tail if isinstance(self.arena, SplitArena) else self.arena.tail

    def plans(self, offsets: Sequence[int] | None = None) -> list[dict[int, int]]:
        """Return each model's plan, head offset by info; with ``offsets`` in place of the planner's, in their order.

        Raises:
            UsageError: There are not as many offsets as buffers, or one is negative.
        """
        plans = [allocation.offsets for allocation in self.allocations]
        if offsets is None:
            return plans
        if len(offsets) != sum(map(len, plans)) or min(offsets, default=0) < 0:
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
    *,
    arena_size: int,
    non_persistent_arena_size: int = 0,
    observers: Sequence[Observer],
) -> Outcome:
    """Run the models on a fresh arena; sizes as for :func:`simulate`, which keeps more of it."""
    target = configuration.target
    arena = _make_arena(configuration, arena_size, non_persistent_arena_size, observers)
    arena.emit(Run(configuration.interpreter, arena_size))
    kind = "split" if configuration.is_split else configuration.interpreter
    interpreters: list[MicroInterpreter] = []
    failure: SimulatedFailure | None = None
    try:
        allocator = MicroAllocator(
            arena, target, kind=kind, planner=configuration.planner, preserved=configuration.preserved
        )
        for model in models:
            variables = create_resource_variables(model, allocator, configuration.resource_variable_count)
            interpreters.append(
                MicroInterpreter(model, allocator, registrations(target, configuration.custom_ops), variables)
            )
            interpreters[-1].allocate_tensors()
    except SimulatedFailure as error:
        failure = error
    outcome = Outcome(arena, tuple(i for i in interpreters if i.allocation is not None), failure)
    arena.emit(End(configuration.interpreter, outcome.status, 0 if outcome.status == "abort" else arena.used_bytes))
    return outcome


def _make_arena(
    configuration: Configuration, arena_size: int, non_persistent_arena_size: int, observers: Sequence[Observer]
) -> SingleArenaBufferAllocator | SplitArena:
    for size in (arena_size, non_persistent_arena_size):
        if not 0 <= size < 1 << 31:
            raise UsageError(f"an arena of {size} bytes is not between 0 and 2 GiB")
    address, pointer_size = configuration.target.arena_address, configuration.target.abi.pointer_size
    if configuration.is_split:
        return SplitArena(
            arena_size,
            non_persistent_arena_size,
            persistent_address=address,
            non_persistent_address=address,
            pointer_size=pointer_size,
            observers=observers,
        )
    # MicroAllocator::Create skips to an aligned start; RecordingMicroAllocator::Create does not.
    lost = -address % MICRO_ARENA_BUFFER_ALIGNMENT if configuration.interpreter == "plain" else 0
    return SingleArenaBufferAllocator(
        arena_size - lost, address=address + lost, pointer_size=pointer_size, observers=observers
    )
