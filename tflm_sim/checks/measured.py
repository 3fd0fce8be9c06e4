"""A model's figures as the user's own program says them, executed; and the configuration that is proved by it.

execute(program, model) --> requests --> those of the simulation?  yes: the simulation is what the program does
                                                                 no: only what was seen holds
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tflm_sim.answers.simulation import simulate
from tflm_sim.checks.executed_facts import ExecutedFacts
from tflm_sim.checks.execution import Agreement, agreement
from tflm_sim.device.configuration import Configuration
from tflm_sim.emulation.event_rows import events_of
from tflm_sim.emulation.execute import execute
from tflm_sim.emulation.execution import ExecutedArena, Execution
from tflm_sim.errors import FirmwareError, TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """What a program did with a model.

    Attributes:
        facts: How that was found.
        arena: What was seen, in the arena that needs most.
        configuration: Of those that its file leaves possible, the one whose simulation asks for the same; otherwise the
            one that does so longest.
        is_simulated: Whether the simulation asks for the same, to the last request, and needs the same.
    """

    facts: ExecutedFacts
    arena: ExecutedArena
    configuration: Configuration
    is_simulated: bool


def measure(
    program: str | os.PathLike[str], model: Model, possible: Sequence[Configuration], sizes: Sequence[int] = ()
) -> MeasuredModel:
    """Execute a program with a model in the place of its own.

    Args:
        program: Its ELF file.
        model: The model.
        possible: The configurations that its file leaves possible, the likeliest first.
        sizes: Sizes of the arena that are tried, whatever is needed; bytes.

    Raises:
        FirmwareError: It cannot be executed, or AllocateTensors() came to no end.
        UsageError: No emulator is installed.
    """
    execution = execute(program, model=model, sizes=sizes)
    arena = max(execution.arenas, key=lambda one: (one.smallest_arena is None, one.smallest_arena or 0))
    if any(one.part != "all" for one in execution.arenas):
        raise FirmwareError("it has an arena for what stays and one for the rest: ask run", path=os.fspath(program))
    if arena.fits is None:
        raise FirmwareError(arena.reason, path=os.fspath(program))
    judged = [(_agreement(arena, model, each), each) for each in possible]
    found, configuration = max(judged, key=lambda row: (row[0].agrees, row[0].compared))
    is_simulated = found.agrees and _smallest(model, configuration) == arena.smallest_arena
    return MeasuredModel(_facts(execution, arena, program, found), arena, configuration, is_simulated)


def _smallest(model: Model, configuration: Configuration) -> int | None:
    smallest = simulate(model, configuration).smallest
    return None if smallest is None else smallest.size


def _agreement(arena: ExecutedArena, model: Model, configuration: Configuration) -> Agreement:
    skipped = -arena.address % BUFFER_ALIGNMENT
    here = replace(configuration, target=replace(configuration.target, arena_address=arena.address % BUFFER_ALIGNMENT))
    try:
        simulation = simulate(model, here, arena_size=arena.size)
    except TflmSimError as problem:
        return Agreement(0, "another request", "nothing", "", str(problem))
    return agreement(events_of(arena.allocations[0].events, arena.size - skipped), simulation)


def _facts(
    execution: Execution, arena: ExecutedArena, program: str | os.PathLike[str], found: Agreement
) -> ExecutedFacts:
    difference = "" if found.agrees else f"{found.executed} instead of {found.simulated}: {found.meaning}"
    return ExecutedFacts(
        file=os.fspath(program),
        core=execution.core,
        emulator=execution.emulator,
        is_guessed=execution.is_guessed,
        arena=arena.symbol,
        arena_bytes=arena.size,
        compared=found.compared,
        difference=f"{found.place}: {difference}" if difference and found.place else difference,
    )
