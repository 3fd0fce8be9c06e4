"""A model's figures, measured in the user's own executed program, and the configuration that this proves.

execute(program, model) --> requests --> equal to the simulation's?  yes: all answers of the simulation are valid
                                                                   no: only the measured figures are valid
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from tflm_sim.answers.simulation import simulate
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import FirmwareError, TflmSimError
from tflm_sim.extensions.firmware.closest import Closest, closest
from tflm_sim.extensions.firmware.emulation.execute import execute
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena, Execution
from tflm_sim.extensions.firmware.executed_facts import ExecutedFacts
from tflm_sim.extensions.firmware.executed_places import ExecutedPlace, executed_places
from tflm_sim.extensions.firmware.execution import own_model, pairs, sum_if_known
from tflm_sim.extensions.firmware.reading.firmware import Firmware, read_firmware
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """What a program did with a model.

    Attributes:
        model: The model.
        facts: How that was found.
        own: What was seen as the program has it, in the arena that needs most of those in which the model is.
        arena: The same, of which the figures are: that, or the smallest arena where the program's own is too small.
        rest: Where that is only for what stays: the one for the rest.
        configuration: Of those that its file leaves possible, the one whose simulation asks for the same; otherwise the
            one that does so longest.
        exact: The same with the program's own kernels as they were seen, and the arena where it is.
        is_simulated: Whether the simulation with ``exact`` asks for the same, to the last request, and needs the same.
        place: What the program's file says of where ``own`` lies.
    """

    model: Model
    facts: ExecutedFacts
    own: ExecutedArena
    arena: ExecutedArena
    rest: ExecutedArena | None
    configuration: Configuration
    exact: Configuration
    is_simulated: bool
    place: ExecutedPlace

    @property
    def smallest(self) -> int | None:
        """Bytes of the smallest arena, of both where there are two, of all banks; None where no size is enough."""
        if self.banks:
            is_planned = self.own.fits or any((bank.size or 0) < bank.needed for bank in self.banks)
            return sum(bank.needed for bank in self.banks) if is_planned else None  # The plan may be another model's.
        return sum_if_known(arena.smallest_arena for arena in self._arenas)

    @property
    def multiple_of_16(self) -> int | None:
        """As ``smallest``, of arenas whose sizes are multiples of 16."""
        return self.smallest if self.banks else sum_if_known(one.smallest_arena_multiple_of_16 for one in self._arenas)

    @property
    def banks(self) -> tuple[BankNeed, ...]:
        """What each bank must have, where its planner is that of banks.h."""
        return self.facts.banks

    @property
    def _arenas(self) -> list[ExecutedArena]:
        return [self.arena] if self.rest is None else [self.arena, self.rest]


def measure(
    program: str | os.PathLike[str],
    model: Model | None,
    possible: Sequence[Configuration],
    sizes: Sequence[int] = (),
    *,
    into: int = 0,
) -> MeasuredModel:
    """Execute a program with a model in the place of its own.

    Args:
        program: Its ELF file.
        model: The model; None for the program's own. Where it is that, byte for byte, the program runs as it is.
        possible: The configurations that its file leaves possible, the likeliest first.
        sizes: Sizes of the arena that are tried, whatever is needed; bytes.
        into: The number of the one that gets the model, from 1 on; 0 for each. Of those with models of their
            own, the one that is asked about; 0 for the one whose arena needs most.

    Raises:
        FirmwareError: It cannot be executed, AllocateTensors() came to no end, or its own model is not in its file.
        UsageError: No emulator is installed.
    """
    firmware = _read(program)
    execution, pairs, is_own = _executed(program, firmware, model, sizes, into)
    arena, rest = max(pairs, key=lambda pair: (pair[0].smallest_arena is None, pair[0].smallest_arena or 0))
    if arena.fits is None:
        raise FirmwareError(arena.reason, path=os.fspath(program))
    if into not in (0, arena.allocations[0].interpreter):
        raise FirmwareError(
            "this interpreter uses an arena that another one used before; use 'firmware APP.elf --run' instead",
            path=os.fspath(program),
        )
    place = _place(execution, arena, firmware, None if is_own else model, into)
    if model is None and firmware is not None:
        model = own_model(firmware, arena.allocations[0])
    if model is None:
        raise FirmwareError("the program's file does not contain its model; name the model", path=os.fspath(program))
    own, arena = arena, _of_figures(arena)
    near = closest(arena, rest, model, possible)
    facts = _facts(execution, own, rest, program, near)
    works = _invoke_works(arena, is_own=is_own)
    facts = replace(facts, invoke_works=works, invoke_problem="" if works else own.reason)
    measured = MeasuredModel(
        model, facts, own, arena, rest, near.configuration, near.exact, is_simulated=False, place=place
    )
    is_simulated = not arena.banks and near.agrees and _smallest(model, near.exact) == measured.smallest
    return replace(measured, is_simulated=is_simulated)


def _invoke_works(arena: ExecutedArena, *, is_own: bool) -> bool | None:
    """Return whether Invoke() stays within its bounds and succeeds; None where it comes to no good end.

    That proves nothing where another model was put in: it computes with whatever stands in its inputs. What is not run,
    since AllocateTensors() fails in the program's own arena, has no fault.
    """
    runs = [run for one in arena.allocations for run in one.invocations] if arena.fits else []
    if any(store.into != "data" for run in runs for store in run.stores or ()):
        return False
    return True if all(run.status == "ok" for run in runs) else False if is_own else None


def _read(program: str | os.PathLike[str]) -> Firmware | None:
    """Return what a program's file says; None for what cannot be read, which can be executed all the same."""
    with suppress(TflmSimError):
        return read_firmware(os.fspath(program))
    return None


def _place(
    execution: Execution, arena: ExecutedArena, firmware: Firmware | None, other: Model | None, interpreter: int
) -> ExecutedPlace:
    """Return what a program's file says of where an arena lies."""
    places: tuple[ExecutedPlace, ...] = ()
    with suppress(TflmSimError):  # What its code does not say can be executed all the same.
        places = executed_places(execution, firmware, other, interpreter) if firmware else ()
    nothing = ExecutedPlace(address=arena.address, fault="", conditions=())
    return next((one for one in places if one.address == arena.address), nothing)


def _of_figures(arena: ExecutedArena) -> ExecutedArena:
    """Return an arena that is too small as the program has it with the smallest multiple of 16 that works."""
    size, allocations = arena.smallest_arena_multiple_of_16, arena.allocations_at_smallest
    if not allocations or size is None:
        return arena
    used = allocations[-1].arena_used_bytes
    return replace(arena, size=size, fits=True, arena_used_bytes=used, allocations=allocations)


_Pair: TypeAlias = tuple[ExecutedArena, ExecutedArena | None]


def _arenas_of_interpreter(execution: Execution, interpreter: int, program: str | os.PathLike[str]) -> list[_Pair]:
    """Return the arenas of an interpreter, of all interpreters for 0, without those given up as too small."""
    found = [one for one in pairs(execution) if not execution.is_left(one[0])]
    having = [one for one in found if any(interpreter in (0, each.interpreter) for each in one[0].allocations)]
    if found and not having:
        most = max(each.interpreter for one, _ in found for each in one.allocations)
        raise FirmwareError(f"there is no interpreter {interpreter}: it has {most}", path=os.fspath(program))
    return having


def _executed(
    program: str | os.PathLike[str], firmware: Firmware | None, model: Model | None, sizes: Sequence[int], into: int
) -> tuple[Execution, list[_Pair], bool]:
    """Return what a program did, the arenas that are asked about, and whether it ran with its own model in them.

    A model that is its own is not put in: only as it is, the program does to its arena what it does on the device.
    """
    copies = [one.model for one in firmware.copies_of(model)] if model and firmware else []
    if model is None or copies:
        execution = execute(program, invokes=1, sizes=sizes)
        pairs = _arenas_of_interpreter(execution, into, program)
        if model is None or firmware is None:
            return execution, pairs, True
        stands = [(pair, pair[0].allocations[0], own_model(firmware, pair[0].allocations[0])) for pair in pairs]
        own = [pair for pair, _, found in stands if found in copies]
        if not own and len(copies) == len(firmware.models):
            # It has no other model to copy to an unaligned address, where no other one would do either.
            own = [pair for pair, first, found in stands if found is None and (first.model or 0) % 4]
        if own:
            return execution, own, True
    execution = execute(program, model=model, invokes=1, sizes=sizes, into=into)
    return execution, _arenas_of_interpreter(execution, into, program), False


def _smallest(model: Model, configuration: Configuration) -> int | None:
    simulation = simulate(model, configuration)
    smallest = simulation.smallest or simulation.split
    return None if smallest is None else smallest.size


def _facts(
    execution: Execution,
    arena: ExecutedArena,
    rest: ExecutedArena | None,
    program: str | os.PathLike[str],
    near: Closest,
) -> ExecutedFacts:
    found = near.agreement
    # What a fault cut short has no request that differs, whatever the simulation goes on with.
    is_cut = arena.smallest_arena is None and any(one.status == "stopped" for one in arena.allocations)
    agrees = found.agrees or bool(arena.banks) or is_cut
    difference = "" if agrees else f"{found.executed} instead of {found.simulated}: {found.meaning}"
    return ExecutedFacts(
        file=os.fspath(program),
        core=execution.core,
        emulator=execution.emulator,
        is_guessed=execution.is_guessed,
        arena=arena.symbol,
        arena_bytes=arena.size,
        fits=bool(arena.fits),
        other_arena="" if rest is None else rest.symbol,
        other_arena_bytes=None if rest is None else rest.size,
        interpreter=arena.allocations[0].interpreter,
        sharing=len({one.interpreter for one in arena.allocations}),
        compared=0 if arena.banks else found.compared,
        difference=f"{found.place}: {difference}" if difference and found.place else difference,
        kernels_as_seen=tuple(row.op for row in near.seen),
        banks=arena.banks,
    )
