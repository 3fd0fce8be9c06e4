"""Judge a model: does it work in an arena of a given size, or on a board?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.candidates import candidate_text
from tflm_sim.checks.doubts import Doubt
from tflm_sim.checks.program_need import BankNeed, ProgramNeed, bank_words
from tflm_sim.checks.verdict import Verdict, baseline_key
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.sizes import as_limit
from tflm_sim.targets.boards import Board, board
from tflm_sim.targets.ram_beside import BESIDE, RamBeside, beside_of, figures_of, ram_beside
from tflm_sim.units import format_size

Simulate = Callable[[Model, Configuration, int | None], Simulation]
"""Simulates a model in an arena of that many bytes, None for a roomy one."""


class Room(NamedTuple):
    """The limits for an arena, and the board that they come from.

    ``limit`` is its bytes, None where nobody knows; ``board`` is the board that has it, None where none was named;
    ``beside`` is what there is on it beside the arena (``targets/ram_beside.py``), "" where that was not said.
    """

    limit: int | None
    board: Board | None
    beside: str = ""


def room_on(
    board_name: str | None,
    *,
    limit: int | str | None,
    ram_free: int | str | None,
    has_external_ram: bool,
    beside: str | None = None,
) -> Room:
    """Return the room that a limit says, the size of an arena, or a board and the RAM that a firmware leaves of it.

    Args:
        board_name: The board, None without one.
        limit: The arena's size.
        ram_free: What the firmware leaves free of the board.
        has_external_ram: Whether that is outside of the chip.
        beside: What there is on the board beside the arena: "ble"; its RAM is then what the figures that are known say.

    Raises:
        UsageError: There is no such board, or what is said does not go together.
    """
    if limit is not None and ram_free is not None:
        raise UsageError("`limit=` is the arena's size, `ram_free=` what there is for it: give one of them")
    name, given = ("ram_free", ram_free) if limit is None else ("limit", limit)
    if beside is not None and given is not None:
        raise UsageError(f"`beside=` says what is left of a board's RAM, and so does `{name}=`: give one of them")
    if beside is not None and not board_name:
        raise UsageError("`beside=` needs `board=`: what is taken of its RAM beside the arena")
    if has_external_ram and (given is None or not board_name):
        raise UsageError("`external_ram=` needs `ram_free=`, which says how much of it is free")
    if not board_name:
        if ram_free is not None:
            raise UsageError("`ram_free=` needs `board=`; without a board, give the arena's size with `limit=`")
        return Room(as_limit(limit, "limit"), None)
    chosen = board(board_name)
    if given is None:
        return Room(None, chosen, "" if beside is None else beside_of(beside))
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
    limit, chosen, beside = room
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
    ram: RamBeside | None = None
    doubts: tuple[Doubt, ...] = ()
    if limit is not None:
        fits, reason, log = _in_an_arena(roomy, limit, simulate)
    elif chosen is not None and beside:
        ram = ram_beside(chosen, beside, configuration.target.runtime.snapshot)
        limit, fits, reason, doubts = _in_what_is_left(chosen, beside, ram, needed)
    else:
        assert chosen is not None, "there is a limit or a board"
        limit, fits, reason = _on_the_chip(chosen, needed)
    smallest = roomy.smallest.size
    found = Verdict(
        name, key, needed, limit, fits, before, reason, log, model=model, board=chosen, smallest=smallest, ram=ram,
        doubts=doubts,
    )  # fmt: skip
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
    limit, chosen, _ = room
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
    def banks(self) -> tuple[BankNeed, ...]: ...
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
    if measured.banks:
        is_good = measured.works is True
        reason = f"needs {bank_words(measured.banks)}" if is_good else measured.reason
        return Verdict(
            name, key, needed, None, measured.works, before, reason, () if is_good else measured.log, model=model,
            smallest=measured.smallest, parts=measured.parts, doubts=measured.doubts if measured.works else (),
            figures=measured,
        )  # fmt: skip
    if needed is None:
        return Verdict(
            name, key, None, limit, False, before, measured.reason, measured.log, model=model, parts=measured.parts,
            figures=measured,
        )  # fmt: skip
    works = measured.works
    reason = "" if works else _too_small(needed, limit)
    if not works and (measured.smallest or needed) <= limit and measured.reason:  # It is Invoke() that does not work.
        reason = f"needs {format_size(needed)}; {measured.reason}"
    elif works is None:
        reason = f"needs {format_size(needed)}; in {format_size(limit)} the program came to no end"
    return Verdict(
        name, key, needed, limit, works, before, reason, () if works else measured.log_below, model=model,
        smallest=measured.smallest, parts=measured.parts, doubts=measured.doubts if works else (),
        figures=measured,
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


def _in_what_is_left(
    chosen: Board, beside: str, ram: RamBeside | None, needed: int
) -> tuple[int | None, bool | None, str, tuple[Doubt, ...]]:
    """Judge an arena in what a board's software leaves; return the limit, whether it fits, why not, and doubts."""
    if chosen.largest_bank is not None and needed > chosen.largest_bank.size:
        bank, fits, reason = _on_the_chip(chosen, needed)
        return bank, fits, reason, ()
    if ram is None:
        known = ", ".join(dict.fromkeys(one.beside for one in figures_of(chosen)))
        reason = (
            f"needs {format_size(needed)}; there is no figure of what {chosen.name} has left beside {BESIDE[beside]}"
            f"{f' (there are some for: {known})' if known else ''}; say it with `ram_free=`"
        )
        return None, None, reason, ()
    if needed > ram.left:
        reason = f"{_too_small(needed, ram.left)}, which {ram.name} leaves"
        return ram.left, False, reason, (Doubt(f"{ram.name} takes what the figures say", settled_by=""),)
    rest = Doubt(f"the rest of your firmware takes at most {ram.left - needed:,} B of RAM", settled_by="")
    return ram.left, True, "", (rest,)


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
        f"knows: say it with `ram_free=`{', or what else is on it with `beside=`' if figures_of(chosen) else ''}"
    )
    return bank.size if bank is not None else None, None, reason
