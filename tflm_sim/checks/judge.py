"""Judge a model: does it work in an arena of a given size, or on a board?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.candidates import candidate_text
from tflm_sim.checks.doubts import Doubt
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.checks.verdict import Verdict, baseline_key
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.sizes import as_limit
from tflm_sim.targets.boards import Board, board
from tflm_sim.units import format_size

Simulate = Callable[[Model, Configuration, int | None], Simulation]
"""Simulates a model in an arena of that many bytes, None for a roomy one."""


class Room(NamedTuple):
    """The limits for an arena, and the board that they come from.

    ``limit`` is its bytes, None where nobody knows; ``board`` is the board that has it, None where none was named.
    """

    limit: int | None
    board: Board | None


def room_on(
    board_name: str | None, *, limit: int | str | None, ram_free: int | str | None, has_external_ram: bool
) -> Room:
    """Return the room that a limit says, the size of an arena, or a board and the RAM that a firmware leaves of it.

    Raises:
        UsageError: There is no such board, or what is said does not go together.
    """
    if limit is not None and ram_free is not None:
        raise UsageError("`limit=` is the arena's size, `ram_free=` what there is for it: give one of them")
    name, given = ("ram_free", ram_free) if limit is None else ("limit", limit)
    if has_external_ram and (given is None or not board_name):
        raise UsageError("`external_ram=` needs `ram_free=`, which says how much of it is free")
    if not board_name:
        if ram_free is not None:
            raise UsageError("`ram_free=` needs `board=`; without a board, give the arena's size with `limit=`")
        return Room(as_limit(limit, "limit"), None)
    chosen = board(board_name)
    if given is None:
        return Room(None, chosen)
    free, bank = as_limit(given, name), chosen.largest_bank
    if bank is not None and free > bank.size and not has_external_ram:
        raise UsageError(
            f"`{name}={given}` is more than {chosen.name} has: {chosen.ram_text}, and an arena lies in one "
            "bank; for RAM outside the chip add `external_ram=`"
        )
    return Room(free, chosen)


def simulate_quietly(model: Model, configuration: Configuration, arena_size: int | None) -> Simulation:
    """Simulate without a progress line."""
    return simulate(model, configuration, arena_size=arena_size)


def judge(
    name: str,
    model: Model,
    configuration: Configuration,
    room: Room,
    before: int | None = None,
    *,
    simulate: Simulate = simulate_quietly,
) -> Verdict:
    """Return the verdict on a model in one configuration.

    Args:
        name: The model's path, from the user.
        model: It.
        configuration: How TFLM is set up.
        room: How much there is.
        before: What it needed by the baseline, bytes; None without one.
        simulate: Runs it; another one may show progress.
    """
    limit, chosen = room
    key = baseline_key(name, configuration)
    roomy = simulate(model, configuration, None)
    if roomy.smallest is None:
        reason = f"AllocateTensors() fails in an arena of any size: {roomy.failure}"
        return Verdict(name, key, None, limit, False, before, reason, roomy.log, model=model, board=chosen)
    needed = roomy.smallest.multiple_of_16
    if roomy.invoke_problem is not None:
        problem = roomy.invoke_problem
        return Verdict(name, key, needed, limit, False, before, str(problem), problem.log, model=model, board=chosen)
    log: tuple[str, ...] = ()
    fits: bool | None
    if limit is not None:
        fits, reason, log = _in_an_arena(roomy, limit, simulate)
    else:
        assert chosen is not None, "there is a limit or a board"
        limit, fits, reason = _on_the_chip(chosen, needed)
    smallest = roomy.smallest.size
    found = Verdict(name, key, needed, limit, fits, before, reason, log, model=model, board=chosen, smallest=smallest)
    return _in_flash(found)


def judge_in_program(
    name: str, model: Model, need: ProgramNeed, room: Room, *, key: str, before: int | None = None
) -> Verdict:
    """Return the verdict on a model in a linked program, as its file says.

    Args:
        name: The model's path, from the user.
        model: It.
        need: What it needs there, asked with the room's limit.
        room: How much there is.
        key: Its name and configuration in baselines.
        before: What it needed by the baseline, bytes; None without one.
    """
    limit, chosen = room
    needed = need.multiple_of_16
    found = Verdict(
        name, key, needed, limit, need.works, before, need.reason, need.log, model=model, board=chosen,
        smallest=need.smallest, candidates=need.candidates, parts=need.parts, doubts=need.doubts,
        settled_by=need.settled_by,
    )  # fmt: skip
    if need.banks:
        return replace(found, limit=None, reason=need.reason or f"needs {need.bank_words}")
    if need.reason or needed is None:
        return found
    if limit is None:
        assert chosen is not None, "there is a limit or a board"
        bank, fits, reason = _on_the_chip(chosen, needed)
        return _in_flash(replace(found, limit=bank, works=fits, reason=reason))
    if need.works is None:
        return _in_flash(replace(found, reason=candidate_text(need.candidates)))
    return _in_flash(replace(found, reason="" if need.works else _too_small(needed, limit)))


class ExecutedFigures(Protocol):
    """What a program did with a model: ``extension_points.ProgramFigures``."""

    @property
    def smallest(self) -> int | None: ...
    @property
    def multiple_of_16(self) -> int | None: ...
    @property
    def works(self) -> bool | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def doubts(self) -> tuple[Doubt, ...]: ...
    @property
    def log(self) -> tuple[str, ...]: ...
    @property
    def log_below(self) -> tuple[str, ...]: ...
    @property
    def parts(self) -> Mapping[str, object]: ...


def judge_measured(
    name: str, model: Model, measured: ExecutedFigures, limit: int, *, key: str, before: int | None = None
) -> Verdict:
    """Return the verdict on a model that a program was executed with, in an arena of ``limit`` bytes among others."""
    needed = measured.multiple_of_16
    if needed is None:
        return Verdict(
            name, key, None, limit, False, before, measured.reason, measured.log, model=model, parts=measured.parts
        )
    works = measured.works
    reason = "" if works else _too_small(needed, limit)
    if not works and needed <= limit and measured.reason:  # The size is enough; Invoke() is what does not work.
        reason = f"needs {format_size(needed)}; {measured.reason}"
    elif works is None:
        reason = f"needs {format_size(needed)}; in {format_size(limit)} the program came to no end"
    return Verdict(
        name, key, needed, limit, works, before, reason, () if works else measured.log_below, model=model,
        smallest=measured.smallest, parts=measured.parts, doubts=measured.doubts if works else (),
    )  # fmt: skip


def _in_flash(found: Verdict) -> Verdict:
    """Return the verdict, "no" where the flash of its board is smaller than the model's file."""
    chosen, model = found.board, found.model
    if chosen is None or chosen.flash is None or model is None or len(model.source) <= chosen.flash:
        return found
    sizes = format_size(len(model.source)), format_size(chosen.flash)
    too_large = f"the file alone has {sizes[0]}, the flash of {chosen.name} {sizes[1]}"
    return replace(found, works=False, doubts=(), reason=f"{too_large}; {found.reason}" if found.reason else too_large)


def _in_an_arena(roomy: Simulation, limit: int, simulate: Simulate) -> tuple[bool, str, tuple[str, ...]]:
    """Run in an arena of ``limit`` bytes; return whether that works, else why not, and what the device prints."""
    simulation = simulate(roomy.model, roomy.configuration, limit)
    if simulation.fits:
        return True, "", simulation.log
    assert roomy.smallest is not None, "it works in some arena"
    return False, _too_small(roomy.smallest.multiple_of_16, limit), simulation.log


def _too_small(needed: int, limit: int) -> str:
    if needed <= limit:
        why = "are not a multiple of 16 and do not work" if limit % BUFFER_ALIGNMENT else "end where the device halts"
        return f"needs {format_size(needed)}; {limit:,} B {why}"
    return f"needs {format_size(needed)}, {format_size(needed - limit)} more than {format_size(limit)}"


def _on_the_chip(chosen: Board, needed: int) -> tuple[int | None, bool | None, str]:
    """Judge without ``--ram-free``: an arena that no bank holds does not fit, for any other only the firmware knows."""
    bank = chosen.largest_bank
    if bank is not None and needed > bank.size:
        reason = (
            f"needs {format_size(needed)}, and the largest bank ({bank.name}) has {format_size(bank.size)}; "
            "for external RAM say with `external_ram=` and `ram_free=` how much of it is free"
        )
        return bank.size, False, reason
    reason = (
        f"needs {format_size(needed)}; {chosen.name} has {chosen.ram_text}; how much of it is free only your firmware "
        "knows: say it with `ram_free=`"
    )
    return bank.size if bank is not None else None, None, reason
