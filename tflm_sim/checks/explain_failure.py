"""A diagnosis of a log, a model and a target -> which allocation failed, and the smallest arena.

The log's line has the bytes that were free, so the arena's size need not be known: the tail hangs from the end, and an
arena that is n bytes larger has n bytes more free at the same moment. The simulation is moved to the size at which it
prints the very line of the log (alignment leaves a few; the roundest is taken); where no size does that, the firmware
is not the one that was named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import SmallestArena
from tflm_sim.arena.events import LogLine, Persist, Resize, Temp
from tflm_sim.arena.state import ArenaState
from tflm_sim.board.diagnosis import Diagnosis, Refusal, diagnose
from tflm_sim.board.dialects.messages import BY_KIND, Role
from tflm_sim.board.dialects.parser import parse_log
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.run import ROOMY_ARENA
from tflm_sim.model.types import Model

_MOST_SIZES = 400
# "Arena size is too small for all buffers" (until 2022) is what is now a refused resize of the head.
_SECTIONS = {"plan_too_big": "head"}


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
    roomy = simulate(model, configuration)
    never = "" if roomy.failure is None else str(roomy.failure)
    wanted = [refusal for refusal in diagnosis.refusals if refusal.available is not None]
    if not wanted or roomy.smallest is None:
        size = diagnosis.arena_size or ROOMY_ARENA
        simulation = _simulate(model, configuration, size)
        return ExactExplanation(roomy.smallest, never, diagnosis.arena_size, "", simulation.log, "")
    found, simulation = _find_arena(wanted, diagnosis, model, configuration)
    contradiction = "" if found is not None else _contradiction(wanted[0], simulation)
    place = _place_of_last_refusal(simulation) if found is not None else ""
    return ExactExplanation(roomy.smallest, never, found, place, simulation.log, contradiction)


def _simulate(model: Model, configuration: Configuration, size: int) -> Simulation:
    return simulate(model, configuration, arena_size=max(size, 0))


def _find_arena(
    wanted: Sequence[Refusal], diagnosis: Diagnosis, model: Model, configuration: Configuration
) -> tuple[int | None, Simulation]:
    """Return the likeliest size in which the simulation prints the log's lines, or more than those; and that run.

    Without such a size the run is one in the known arena, or in the likeliest one.
    """
    known = diagnosis.arena_size
    roomy = _simulate(model, configuration, ROOMY_ARENA)
    sizes = [known] if known is not None else _likely_sizes(wanted[0], roomy)
    first: Simulation | None = None
    fits: tuple[int, Simulation] | None = None
    for size in sizes:
        simulation = _simulate(model, configuration, size)
        first = first or simulation
        ours = _diagnose_simulation(simulation)
        if ours is None or not _contains(_numbers(ours.refusals), _numbers(wanted)):
            continue
        fits = fits or (size, simulation)
        if _chain(ours) == _chain(diagnosis):
            return size, simulation
    return fits or (None, first or roomy)


def _diagnose_simulation(simulation: Simulation) -> Diagnosis | None:
    found = diagnose(parse_log("".join(f"{line}\n" for line in simulation.log).encode()))
    return found[-1] if found else None


def _chain(diagnosis: Diagnosis) -> list[str]:
    """The kinds of TFLM's own lines."""
    return [message.kind for message in diagnosis.messages if BY_KIND[message.kind].role is not Role.APP]


def _likely_sizes(wanted: Refusal, roomy: Simulation) -> list[int]:
    """The sizes at which an allocation of the wanted size would find the wanted bytes free, give or take alignment."""
    sizes: list[int] = []
    head = tail_used = 0
    for event in roomy.events:
        exact = -1
        if isinstance(event, Persist):
            tail_used = event.tail_used
            if event.size == wanted.requested:
                exact = tail_used + head - (wanted.missing or 0)
        elif isinstance(event, Resize):
            head = event.head
            if event.size == wanted.requested:
                exact = tail_used + (wanted.available or 0)
        elif isinstance(event, Temp) and event.size == wanted.requested:
            exact = event.offset + tail_used + (wanted.available or 0)
        if exact >= 0:
            sizes += range(max(exact - 15, 0), exact + 16)
    return sorted(set(sizes), key=_roundness)[:_MOST_SIZES]


def _roundness(size: int) -> tuple[bool, bool, bool, int]:
    """Order sizes by how likely a person wrote them."""
    return size % 1024 != 0, size % 16 != 0, size % 4 != 0, -size


def _numbers(refusals: Sequence[Refusal]) -> list[tuple[str, int | None, int | None]]:
    """What two eras' messages for the same refusals have in common."""
    return [(_SECTIONS.get(row.section, row.section), row.requested, row.available) for row in refusals]


def _contains(whole: Sequence[object], part: Sequence[object]) -> bool:
    """Whether ``part`` stands somewhere in ``whole``, without gaps."""
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _place_of_last_refusal(simulation: Simulation) -> str:
    state, place = ArenaState(), ""
    for event in simulation.events:
        state(event)
        if isinstance(event, LogLine) and "equested: " in event.text:
            place = str(state.place)
    return place


def _contradiction(wanted: Refusal, simulation: Simulation) -> str:
    found = _diagnose_simulation(simulation)
    if found is None or not found.refusals:
        return f"in an arena of {simulation.arena_size} bytes this model does not fail on this target"
    ours = found.refusals[0]
    if ours.requested != wanted.requested:
        return (
            f"the log asks for {wanted.requested} bytes, the simulation for {ours.requested}: another model, kernel "
            "library version, interpreter or TFLM version"
        )
    return (
        f"with {ours.requested} bytes asked for, the log has {wanted.available} free, the simulation {ours.available}: "
        "another arena size or interpreter"
    )
