"""One description of a linked program, from which every verb answers that is given one.

    file --> Firmware           what it holds
         --> FirmwareTarget     for what it was built, and how each part of that is known
         --> DescribedProgram   both, read once; need(model, ...) is what any verb says of a model in it

``firmware`` judges the models of the program in its arenas; the other verbs ask what a model needs there, or whether it
works in an arena of a size of theirs. Both are :func:`~tflm_sim.extensions.firmware.judge.judge`: what the code says
of an interpreter (planner, resource variables, operators, two arenas, kernels of its own) is true of both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tflm_sim.checks.candidates import CandidateNeed
from tflm_sim.checks.doubts import with_command
from tflm_sim.checks.program_need import ProgramNeed, Ram
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.document import placed_arenas, ram_facts
from tflm_sim.extensions.firmware.emulation.cores import core_of
from tflm_sim.extensions.firmware.judge import FirmwareVerdict, judge
from tflm_sim.extensions.firmware.program_facts import InterpreterFacts, ProgramFacts, interpreter_facts
from tflm_sim.extensions.firmware.ram_parts import FREE, ram_parts
from tflm_sim.extensions.firmware.reading.firmware import Firmware, read_firmware
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget, firmware_target
from tflm_sim.extensions.firmware.rooms import Subject, rooms_of
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.target import Target

_KEPT = 4
"""Programs whose description is kept, so that several models of one are not several readings of it."""


@dataclass(frozen=True, slots=True)
class DescribedProgram:
    """What a program's file says.

    Attributes:
        firmware: What it holds.
        found: For what it was built.
        interpreters: What its code says of each interpreter.
    """

    firmware: Firmware
    found: FirmwareTarget
    interpreters: tuple[InterpreterFacts, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets for which it may have been built, the likeliest first, with its arena's address."""
        addresses = {call.arena for call in self.firmware.set_up.arenas or ()}
        addresses = addresses or {arena.address for arena in self.firmware.arenas}
        address = addresses.pop() if len(addresses) == 1 else None
        if address is None:
            return self.found.alternatives
        return tuple(replace(target, arena_address=address % BUFFER_ALIGNMENT) for target in self.found.alternatives)

    def need(
        self,
        model: Model,
        configurations: Sequence[Configuration],
        *,
        limit: int | None = None,
        address: int | None = None,
        into: int = 0,
        settled: frozenset[str] = frozenset(),
        command: str = "",
    ) -> ProgramNeed:
        """Return what a model needs in the program: where it has it, or in the place of one of its own.

        Args:
            model: The model.
            configurations: The program's set-up on each target that is possible, the likeliest first.
            limit: Bytes of the arena that is asked about; None where only the need is.
            address: Where the arena starts, modulo 16; None for where the program has it.
            into: The number of the interpreter that gets the model, from 1 on, in the order of the calls in the code
                that make them; 0 for any.
            settled: Settings that the user named: "planner", "resource_variables".
            command: What executes the program with this model.
        """
        name = model.path or "the model"
        own = None if into else next(iter(self.firmware.copies_of(model)), None)
        rooms = rooms_of(self.firmware, limit=limit, model=own, address=address, into=into)
        place = None if own is None else own.address
        subject = Subject(name, len(model.source), "from its file", model, rooms, address=place)
        verdict = judge(
            subject,
            self.firmware,
            configurations,
            self.found.conditions,
            settled=settled,
            asks_for_room=limit is not None,
        )
        settled_by = command if is_executable(self.firmware) else ""
        doubts = with_command(verdict.doubts, settled_by)
        works = _works(verdict, has_limit=limit is not None)
        chosen = configurations[0] if verdict.case is None else verdict.case.configuration
        need = ProgramNeed(
            configuration=chosen,
            configurations=tuple(dict.fromkeys((chosen, *(case.configuration for case in verdict.all_cases)))),
            simulation=None if verdict.case is None else verdict.case.roomy(),
            smallest=verdict.needed,
            multiple_of_16=verdict.multiple_of_16,
            split=verdict.split,
            works=works,
            reason=verdict.why,
            log=verdict.log,
            banks=verdict.banks,
            doubts=doubts,
            settled_by=settled_by,
            candidates=tuple(CandidateNeed(row.case, row.needed) for row in verdict.cases),
        )
        facts = ProgramFacts(
            file=self.firmware.image.path or "",
            answer=need.answer,
            smallest_arena=need.smallest,
            smallest_arena_multiple_of_16=need.multiple_of_16,
            smallest_split_arenas=need.split,
            reason=need.reason,
            doubts=need.doubts,
            interpreters=self.interpreters[max(into - 1, 0) : into or None],
        )
        return replace(need, parts={"program": facts}, ram=self._ram())

    def _ram(self) -> Ram | None:
        """Return the RAM of the first arena, and what else is in it; None where the file does not say where it ends."""
        arenas = placed_arenas(self.firmware)
        for region in map(ram_facts, self.firmware.regions):
            parts = ram_parts(region, arenas)
            if "arena" in parts and region.end is not None:
                others = tuple((name, size) for name, size in parts.items() if name not in ("arena", FREE))
                return Ram(f"RAM at {region.start:#010x}", region.end - region.start, others)
        return None


def _works(verdict: FirmwareVerdict, *, has_limit: bool) -> bool | None:
    """Return whether the model works in the arena that was asked about, or in some arena where none was."""
    if has_limit or verdict.case is None or verdict.fits is False:
        return verdict.fits
    return verdict.needed is not None


def is_executable(firmware: Firmware) -> bool:
    """Whether an emulator has the program's core."""
    if firmware.image.elf is None:
        return False
    try:
        core_of(firmware.image.elf)
    except FirmwareError:
        return False
    return True


def described(path: str, **named: str | None) -> DescribedProgram:
    """Return the description of a program, read once.

    Args:
        path: Its file.
        named: What the file may not say, as for :func:`firmware_target`.

    Raises:
        UsageError: A fact that the file does not contain has to be named.
        FirmwareError: The file cannot be used.
    """
    try:
        now = os.stat(path)
    except (OSError, ValueError):  # ValueError: no file has such a name.
        return _described(path, (), tuple(sorted(named.items())))  # It says what is wrong with it.
    return _described(path, (now.st_mtime_ns, now.st_size), tuple(sorted(named.items())))


@lru_cache(maxsize=_KEPT)
def _described(path: str, state: tuple[int, ...], named: tuple[tuple[str, str | None], ...]) -> DescribedProgram:
    firmware = read_firmware(path)
    return DescribedProgram(firmware, firmware_target(firmware, **dict(named)), interpreter_facts(firmware))
