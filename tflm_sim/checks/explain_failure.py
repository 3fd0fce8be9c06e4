"""A diagnosis of a log, a model and a target -> which allocation failed, and the smallest arena.

The log's line has the bytes that were free, so the arena's size need not be known: the tail hangs from the end, and an
arena that is n bytes larger has n bytes more free at the same moment. The simulation is moved to the size at which it
prints the very line of the log; where no size does that, the firmware is not the one that was named.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.allocator.configuration import Configuration
from tflm_sim.allocator.measure import measure
from tflm_sim.allocator.place import PlaceTracker
from tflm_sim.allocator.simulate import ROOMY_ARENA, Simulation, simulate_configuration
from tflm_sim.allocator.smallest_arena import SmallestArena
from tflm_sim.arena.events import Event, LogLine
from tflm_sim.board.diagnosis import Diagnosis, Refusal
from tflm_sim.board.dialects.parser import parse_log
from tflm_sim.board.diagnosis import diagnose
from tflm_sim.model.types import Model

_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class ExactExplanation:
    """What the simulation adds to a diagnosis.

    Attributes:
        smallest: The smallest arena, None when no size is enough.
        never: Why no size is enough, "" when one is.
        arena_size: The arena in which the simulation prints the log's numbers, None when there is none.
        place: The operator or phase of the allocation that failed there, "" when unknown.
        device_log: What the simulated device prints in that arena.
        contradiction: Why the log cannot come from this model on this target, "" when it can.
    """

    smallest: SmallestArena | None
    never: str
    arena_size: int | None
    place: str
    device_log: tuple[str, ...]
    contradiction: str


def explain_failure(diagnosis: Diagnosis, model: Model, configuration: Configuration) -> ExactExplanation:
    """Find the arena in which the simulation fails like the log, and the smallest one in which it does not.

    Raises:
        UnsupportedOpError: We have no model of one of its operators.
    """
    measurement = measure(model, configuration)
    never = "" if measurement.failure is None else str(measurement.failure)
    size, simulation, contradiction = _find_arena(diagnosis, model, configuration, measurement.smallest)
    place = _FirstRefusal()
    if simulation is not None:
        for event in simulation.events:
            place(event)
    log = simulation.log if simulation is not None else ()
    return ExactExplanation(measurement.smallest, never, size, place.place, log, contradiction)


class _FirstRefusal:
    """Remembers where the run was when the last refusal was printed (mutable): that one stopped it."""

    def __init__(self) -> None:
        self._tracker = PlaceTracker()
        self.place = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, LogLine) and "equested: " in event.text:
            self.place = str(self._tracker)
        elif not isinstance(event, LogLine):
            self._tracker.follow(event)


def _find_arena(
    diagnosis: Diagnosis, model: Model, configuration: Configuration, smallest: SmallestArena | None
) -> tuple[int | None, Simulation | None, str]:
    wanted = next((refusal for refusal in reversed(diagnosis.refusals) if refusal.requested is not None), None)
    if wanted is None or smallest is None:
        size = diagnosis.arena_size or ROOMY_ARENA
        simulation = simulate_configuration([model], configuration, arena_size=size)
        return (size if diagnosis.arena_size else None), simulation, _contradiction(diagnosis, simulation)
    size = diagnosis.arena_size or smallest.size - (wanted.missing or 1)
    simulation = None
    for _ in range(_ATTEMPTS):
        simulation = simulate_configuration([model], configuration, arena_size=max(size, 0))
        ours = _last_refusal(simulation, wanted.section)
        if ours == wanted:
            return size, simulation, ""
        if ours is None or ours.available is None or wanted.available is None or diagnosis.arena_size:
            break
        step = wanted.available - ours.available
        if step == 0:
            break
        size += step
    return None, simulation, _refusal_contradiction(wanted, simulation)
