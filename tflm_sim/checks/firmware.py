"""Does a model work in the arena of the firmware that it is linked into? The verdict of ``tflm-sim firmware``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.firmware.firmware import Firmware
from tflm_sim.firmware.memory import Region
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class ArenaRoom:
    """The arena that a model is to work in.

    Attributes:
        name: The symbol, or what the user called it.
        size: Bytes.
        address: Where it lies; None where that is not known (then it counts as aligned to 16).
        free: Bytes of the same region of RAM that nothing takes; None where that is not known.
    """

    name: str
    size: int
    address: int | None = None
    free: int | None = None


@dataclass(frozen=True, slots=True)
class FirmwareVerdict:
    """The answer about one model.

    Attributes:
        model: What the model is called.
        model_size: Its bytes.
        place: Where it lies: a section and an address, or its file.
        arena: The arena; None where the firmware does not say which one it is.
        needed: The smallest arena at that address, bytes; None when no size is enough.
        multiple_of_16: The smallest one that is a multiple of 16.
        used: ``arena_used_bytes()`` in a roomy arena.
        fits: Whether it works; None when that cannot be told.
        log: What the device prints there.
        missing: Operators of the model that the firmware does not register.
        reason: Why it fails in an arena of any size, "" where it does not.
        by_snapshot: Where the TFLM that is linked decides: each that is left, with the smallest arena there (None:
            none). Empty where they agree; what is above is the most demanding then.
    """

    model: str
    model_size: int
    place: str
    arena: ArenaRoom | None
    needed: int | None
    multiple_of_16: int | None
    used: int
    fits: bool | None
    log: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    by_snapshot: tuple[tuple[str, int | None], ...] = ()

    @property
    def exit_code(self) -> int:
        """0: fits, 1: does not, 3: cannot be told."""
        return {True: 0, False: 1, None: 3}[self.fits]


def judge(
    model: Model, configurations: Sequence[Configuration], *, rooms: Sequence[ArenaRoom], missing: tuple[str, ...] = ()
) -> FirmwareVerdict:
    """Return the verdict about ``model``; name, size and place are the caller's to fill in.

    Args:
        model: The model.
        configurations: The firmware's set-up on each target that its file leaves possible, the likeliest first.
        rooms: The arenas that it may get; () where none is known. Of several, none is named in the verdict: it holds
            for each of them, or it cannot be told.
        missing: Operators that the firmware does not register.
    """
    verdicts = [_judge_in(model, configurations, room, missing) for room in rooms or (None,)]
    if len(verdicts) == 1:
        return verdicts[0]
    worst = _most_demanding(verdicts)
    fits = worst.fits if len({verdict.fits for verdict in verdicts}) == 1 else None
    return replace(worst, arena=None, fits=fits)


def _judge_in(
    model: Model, configurations: Sequence[Configuration], room: ArenaRoom | None, missing: tuple[str, ...]
) -> FirmwareVerdict:
    """Return the verdict for one arena."""
    if room is not None and room.address is not None:
        configurations = [configure(one, arena_address=room.address % BUFFER_ALIGNMENT) for one in configurations]
    by_need: dict[tuple[int | None, int], Simulation] = {}
    needs = []
    for configuration in configurations:
        roomy = simulate(model, configuration)
        need = roomy.smallest.size if roomy.smallest else None
        needs.append((configuration.target.runtime.snapshot, need))
        by_need.setdefault((need, roomy.arena_used_bytes), roomy)
    verdicts = [_judge(roomy, room, missing) for roomy in by_need.values()]
    worst = _most_demanding(verdicts)
    if len(verdicts) == 1:
        return worst
    fits = worst.fits if len({verdict.fits for verdict in verdicts}) == 1 else None
    return replace(worst, fits=fits, by_snapshot=tuple(needs))


def _most_demanding(verdicts: Iterable[FirmwareVerdict]) -> FirmwareVerdict:
    return max(verdicts, key=lambda verdict: math.inf if verdict.needed is None else verdict.needed)


def _judge(roomy: Simulation, room: ArenaRoom | None, missing: tuple[str, ...]) -> FirmwareVerdict:
    """Return the verdict for one of the targets."""
    smallest = roomy.smallest
    verdict = FirmwareVerdict(
        model="",
        model_size=0,
        place="",
        arena=room,
        needed=smallest.size if smallest else None,
        multiple_of_16=smallest.multiple_of_16 if smallest else None,
        used=roomy.arena_used_bytes,
        fits=None,
        missing=missing,
    )
    if missing or smallest is None:
        reason = "" if missing else f"AllocateTensors() fails in an arena of any size: {roomy.failure}"
        return replace(verdict, fits=False, reason=reason, log=() if missing else roomy.log)
    if room is None:
        return verdict
    simulation = simulate(roomy.model, roomy.configuration, arena_size=room.size)
    return replace(verdict, fits=simulation.fits, log=simulation.log)


def missing_operators(model: Model, firmware: Firmware) -> tuple[str, ...]:
    """Return the builtin operators of ``model`` that ``firmware`` does not register, as far as that is proved."""
    if firmware.operators is None or firmware.has_all_operators or firmware.is_link_time_optimised:
        return ()
    used = {operator.opcode_index for subgraph in model.subgraphs for operator in subgraph.operators}
    names = {
        builtin_operator_name(code.builtin_code)
        for index, code in enumerate(model.operator_codes)
        if index in used and code.custom_code is None
    }
    return tuple(sorted(names - firmware.operators - {"", "CUSTOM"}))


def region_of(firmware: Firmware, address: int) -> Region | None:
    """Return the region of RAM that holds ``address``."""
    return next((region for region in firmware.regions if region.holds(address)), None)
