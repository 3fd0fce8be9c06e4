"""``measure()``: one roomy run that answers "how large must the arena be, and who needs it"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.smallest_arena import ConstraintObserver, SmallestArena, SplitArenaSizes, solve, solve_split
from tflm_sim.arena.events import Observer
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.recording import AllocationRecorder, RecordedAllocation
from tflm_sim.device.run import ROOMY_ARENA, run
from tflm_sim.errors import SimulatedFailure
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one model needs.

    Attributes:
        model: The model.
        configuration: How TFLM was set up.
        status: "ok", "error" or "abort".
        head_bytes: Bytes of the plan in a roomy arena (of temp, where it failed).
        tail_bytes: Persistent bytes in a roomy arena whose size is a multiple of 16.
        recorded: ``RecordedAllocationType`` name to what it holds.
        ledger: Who holds the tail, the device's log, scratch labels.
        allocation: Tensors, lifetimes and the plan; None when it failed before there was one.
        smallest: The smallest arena; None unless the status is "ok", and for two arenas.
        split: The smallest pair of arenas, None for one arena or unless the status is "ok".
        failure: What stopped it, or None.
    """

    model: Model
    configuration: Configuration
    status: str
    head_bytes: int
    tail_bytes: int
    recorded: Mapping[str, RecordedAllocation]
    ledger: TailLedger
    allocation: ModelAllocation | None
    smallest: SmallestArena | None
    split: SplitArenaSizes | None
    failure: SimulatedFailure | None

    @property
    def arena_used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports in a roomy arena; 0 after an abort."""
        return 0 if self.status == "abort" else self.head_bytes + self.tail_bytes


def measure(model: Model, configuration: Configuration, *, observers: Iterable[Observer] = ()) -> Measurement:
    """Run AllocateTensors() once in a roomy arena and derive the rest; the observers are told of each event.

    Raises:
        UsageError, UnsupportedOpError: As :func:`~tflm_sim.answers.simulate.simulate`.
    """
    target = configuration.target
    recorder = AllocationRecorder(compression=target.runtime.compression)
    constraints, ledger = ConstraintObserver(configuration.planner), TailLedger()
    arena_size = ROOMY_ARENA - target.arena_address
    outcome = run(
        [model],
        configuration,
        arena_size=arena_size,
        non_persistent_arena_size=arena_size,
        observers=(recorder, constraints, ledger, *observers),
    )
    arena = outcome.arena
    smallest: SmallestArena | None = None
    split: SplitArenaSizes | None = None
    if outcome.failure is None and configuration.is_split:
        split = solve_split(constraints)
    elif outcome.failure is None:
        smallest = solve(constraints, target.arena_address, lost=arena_size - arena.size)
    return Measurement(
        model=model,
        configuration=configuration,
        status=outcome.status,
        head_bytes=arena.non_persistent_used_bytes,
        tail_bytes=arena.persistent_used_bytes,
        recorded=recorder.recorded,
        ledger=ledger,
        allocation=outcome.allocations[0] if outcome.allocations else None,
        smallest=smallest,
        split=split,
        failure=outcome.failure,
    )
