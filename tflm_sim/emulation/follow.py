"""Executes a program and finds out about each of its arenas: what happens in the emulator's process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tflm_sim.emulation.emulator import Emulator
from tflm_sim.emulation.execution import ExecutedAllocation, ExecutedArena, Execution
from tflm_sim.emulation.follower import Arena, Follower, Result
from tflm_sim.emulation.program import Program
from tflm_sim.emulation.search import SizeSearch, Trial, Unfinished
from tflm_sim.errors import FirmwareError
from tflm_sim.units import align_up
from tflm_sim.values import dataclass

RUN_S = 3.0
"""Seconds of the host's processor for which a program may go on without reaching anything of TFLM."""
_TRIAL_S = 1.0
_ALIGNED = 16
_MOST_OUTPUT = 20_000


@dataclass(frozen=True, slots=True)
class Start:
    """A way to start a program.

    Attributes:
        words: For people.
        is_guessed: Whether it is not the program's own way.
        prepare: Makes the machine, ready to run.
    """

    words: str
    is_guessed: bool
    prepare: Callable[[], Emulator]


def follow(program: Program, make: Callable[[bool], Emulator], *, emulator: str, file: str | None) -> Execution:
    """Execute a program.

    Args:
        program: The program.
        make: Makes a machine with the program in it; whether its data stand where start-up code would put them.
        emulator: Its name, for people.
        file: The program's file.

    Raises:
        FirmwareError: Nothing of TFLM was reached, whichever way it was started.
    """
    reached = []
    for start in _starts(program, make):
        machine = start.prepare()
        follower = Follower(machine, program)
        follower.run(RUN_S)
        if any(arena.results for arena in follower.arenas):
            return Execution(
                file=file,
                core=program.core.name,
                emulator=emulator,
                start=start.words,
                is_guessed=start.is_guessed,
                ending=follower.ending,
                output=follower.debugger.output[:_MOST_OUTPUT].decode("utf-8", "replace"),
                arenas=tuple(
                    _judged(arena, SizeSearch(machine, program, follower, arena, _TRIAL_S), program)
                    for arena in follower.arenas
                    if arena.results
                ),
            )
        reached.append(f"{start.words}, {follower.ending}")
        machine.close()
    raise FirmwareError(f"no AllocateTensors() was reached: {'; '.join(reached)}", path=file)


def _starts(program: Program, make: Callable[[bool], Emulator]) -> Iterator[Start]:
    yield Start("started from reset", False, partial(_from_reset, program, make))


def _from_reset(program: Program, make: Callable[[bool], Emulator]) -> Emulator:
    machine = make(False)
    for register, value in program.reset_state().items():
        machine.set(register, value)
    return machine


def _judged(arena: Arena, search: SizeSearch, program: Program) -> ExecutedArena:
    """Return what is known of an arena, its smallest size included."""
    fits = _fits(arena.results)
    smallest: Trial | None = None
    succeeds_from: int | None = None
    below: tuple[str, ...] = ()
    reason = "" if fits else _reason(arena.results)
    if fits:
        try:
            found = search.smallest()
        except Unfinished as problem:
            reason = f"with {problem.trial.size:,} B {problem.trial.ending}"
        else:
            if found is None:
                reason = "AllocateTensors() succeeds, but TFLM hands out memory twice or ignores a refusal on the way"
                fits = False
            else:
                smallest, succeeds_from = found[0], found[1].size
                below = search.attempt(smallest.size - 1).log
    used = next((one.used for one in reversed(arena.results) if one.status is not None), None)
    return ExecutedArena(
        symbol=program.object_name(arena.head),
        address=arena.address,
        size=arena.size,
        is_exact=arena.is_seen_whole,
        fits=fits,
        arena_used_bytes=used,
        smallest_arena=smallest.size if smallest else None,
        smallest_arena_multiple_of_16=align_up(smallest.size, _ALIGNED) if smallest else None,
        succeeds_from=succeeds_from,
        log_below=below,
        reason=reason,
        allocations=tuple(map(_allocation, arena.results)),
        trials=search.trials,
    )


def _fits(results: list[Result]) -> bool | None:
    if any(one.status for one in results):
        return False
    return None if any(one.status is None for one in results) else True


def _reason(results: list[Result]) -> str:
    failed = next(one for one in results if one.status != 0)
    return f"AllocateTensors() returned {failed.status}" if failed.status is not None else failed.ending


def _allocation(result: Result) -> ExecutedAllocation:
    return ExecutedAllocation(
        status="stopped" if result.status is None else "error" if result.status else "ok",
        arena_used_bytes=result.used,
        refused=result.refused,
        damage=result.damage,
        ending=result.ending,
        log=tuple(result.log),
    )
