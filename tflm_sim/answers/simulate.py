"""``simulate()``: run AllocateTensors() of one or several models on one arena and keep what there is to know.

This is the one boundary where a simulated failure becomes data: "too small" is an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.peak import Peak, find_peak
from tflm_sim.arena.events import Corruption, Event, LogLine, Observer
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.recording import AllocationRecorder, RecordedAllocation
from tflm_sim.device.run import ROOMY_ARENA, Outcome, PlannedBuffer, run
from tflm_sim.errors import SimulatedFailure
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import OpModel
from tflm_sim.targets.target import Target


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

    @property
    def peak(self) -> Peak | None:
        """The fullest moment of the head (of the fullest model), None without a plan."""
        peaks = [peak for allocation in self.outcome.allocations if (peak := find_peak(allocation)) is not None]
        return max(peaks, key=lambda peak: peak.live_bytes, default=None)

    @property
    def ledger(self) -> TailLedger:
        """Who holds the tail: every persistent byte by what it is and by operator, those without a category too."""
        ledger = TailLedger()
        for event in self.events:
            ledger(event)
        return ledger

    def unwrap(self) -> Simulation:
        """Return self, or raise the :class:`~tflm_sim.errors.SimulatedFailure` that stopped it."""
        if self.failure is not None:
            raise self.failure
        return self


def simulate(
    model: Model | Sequence[Model],
    target: Target,
    *,
    arena_size: int = ROOMY_ARENA,
    interpreter: str | None = None,
    planner: str = "greedy",
    resource_variable_count: int | None = None,
    variable_arena_size: int | None = None,
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
        variable_arena_size: Bytes of an arena of its own for their table; None where it lies in the model's arena.
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
        variable_arena_size=variable_arena_size,
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
