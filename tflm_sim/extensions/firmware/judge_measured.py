"""Whether the models of a linked program fit their arenas, measured by executing the program.

Version, kernels and settings need not be assumed, because the program contains the code that decides.
"""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation, ExecutedArena, Execution
from tflm_sim.extensions.firmware.execution import pairs, sum_if_known
from tflm_sim.extensions.firmware.judge import FirmwareVerdict
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel
from tflm_sim.extensions.firmware.rooms import ArenaRoom

_GUESSED = "what was made up of the system around it does the same on its board"
_SKIPPED = (
    "TFLM skips nothing for alignment at the arena's start (up to 15 bytes, which were not seen, come to all sizes)"
)


def measured_verdict(model: EmbeddedModel, name: str, execution: Execution) -> FirmwareVerdict:
    """Return the verdict about a model in a program: of several arenas in which it is used, the one that needs most.

    Args:
        model: The model.
        name: What it is called.
        execution: What the program did.
    """
    place = f"at {model.address:#x}" + (f" in {model.piece}" if model.piece else "")
    found = [_verdict(model, name, place, each, execution) for each in _arenas_of(model, execution)]
    if not found:
        reason = "executed, the program does not use it before it ends or waits"
        return FirmwareVerdict(name, model.extent, place, None, None, None, 0, None, reason=reason)
    return max(found, key=lambda one: (one.fits is False, one.fits is None, one.needed or 0))


def _arenas_of(model: EmbeddedModel, execution: Execution) -> Iterator[tuple[ExecutedArena, ...]]:
    """Yield the arena, or the two that belong together, in which each interpreter of a model is in the end."""
    for arena, rest in pairs(execution):
        is_here = any(_is_of(model, one) for one in arena.allocations)
        if is_here and not execution.is_left(arena):
            yield (arena,) if rest is None else (arena, rest)


def _is_of(model: EmbeddedModel, allocation: ExecutedAllocation) -> bool:
    return allocation.model is not None and model.address <= allocation.model < model.address + model.extent


def _verdict(
    model: EmbeddedModel, name: str, place: str, arenas: tuple[ExecutedArena, ...], execution: Execution
) -> FirmwareVerdict:
    first = arenas[0]
    failing = next((one for one in arenas if one.fits is not True), None)
    log, reason = ((), "") if failing is None else _why_not(model, first, failing)
    names = " and ".join(one.symbol or f"an arena at {one.address:#x}" for one in arenas)
    room = ArenaRoom(names, sum(one.size for one in arenas), first.address)
    return FirmwareVerdict(
        name, model.extent, place, room,
        needed=sum_if_known(one.smallest_arena for one in arenas),
        multiple_of_16=sum_if_known(one.smallest_arena_multiple_of_16 for one in arenas),
        used=first.arena_used_bytes or 0,
        fits=True if failing is None else failing.fits,
        log=log,
        reason=reason,
        conditions=tuple(_conditions(arenas, execution)),
    )  # fmt: skip


def _why_not(model: EmbeddedModel, first: ExecutedArena, failing: ExecutedArena) -> tuple[tuple[str, ...], str]:
    """Return the log of what failed, or else of the first allocation; and the reason."""
    failed = next((one for one in first.allocations if one.status != "ok"), first.allocations[0])
    asked = "" if failed.status == "ok" or _is_of(model, failed) else "of another model in this arena, "
    return failed.log, f"{asked}{failing.reason}"


def _conditions(arenas: tuple[ExecutedArena, ...], execution: Execution) -> Iterator[str]:
    if execution.is_guessed:
        yield _GUESSED
    if any(one.smallest_arena is not None and not one.is_exact for one in arenas):
        yield _SKIPPED
