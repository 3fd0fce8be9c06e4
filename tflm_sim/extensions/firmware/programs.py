"""Who reads and measures linked programs, for verbs that are given one: ``extension_points.Programs``."""

from __future__ import annotations

import os.path
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.doubts import Answer, Doubt, answer_of
from tflm_sim.device.configuration import Configuration, Settings, possible_configurations
from tflm_sim.errors import expect
from tflm_sim.escape import html_table, printable
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model

if TYPE_CHECKING:
    from tflm_sim.arena.events import Event
    from tflm_sim.checks.program_need import BankNeed, ProgramNeed
    from tflm_sim.extensions.firmware.measured import MeasuredModel
    from tflm_sim.logs.crashes import CodePlace
    from tflm_sim.report.document import SizeDocument
    from tflm_sim.report.picture import Picture
    from tflm_sim.targets.target import Target

_ELF = b"\x7fELF"


def is_program(path: str) -> bool:
    """Tell whether a file is an ELF file."""
    if not os.path.isfile(path):
        return False
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_ELF)) == _ELF
    return False


def possible_targets(path: str, **named: str | None) -> tuple[Target, ...]:
    """Return the targets for which a program may have been built; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.cli.terminal import say
    from tflm_sim.extensions.firmware.described import described  # The reader is large.

    program = described(path, **named)
    for ground in program.found.assumptions:
        name = program.found.target.name
        say(f"{name}: {ground.part} assumed: {ground.value} ({ground.grounds})", file=sys.stderr)
    return program.targets


def need(
    path: str,
    model: Model,
    configurations: Sequence[Configuration],
    *,
    limit: int | None = None,
    address: int | None = None,
    into: int = 0,
    settled: frozenset[str] = frozenset(),
    command: str = "",
    **named: str | None,
) -> ProgramNeed:
    """Return what a model needs in a program; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.described import described

    program = described(path, **named)
    return program.need(
        model, configurations, limit=limit, address=address, into=into, settled=settled, command=command
    )


def measure(
    path: str, model: Model | None, possible: Sequence[Configuration], sizes: Sequence[int] = (), *, into: int = 0
) -> MeasuredProgram:
    """Execute a program with a model; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.measured import measure as execute_and_compare  # The emulator is large.

    return MeasuredProgram(execute_and_compare(path, model, possible, sizes, into=into))


def seen(path: str, model: Model | None) -> list[str]:
    """Execute a program, and return what it did; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.emulation.execute import execute
    from tflm_sim.extensions.firmware.execution_text import seen_lines

    found = execute(path, model=model, invokes=1)
    return [line for arena in found.arenas for line in seen_lines(arena)] or [found.ending]


def measure_program(
    path: str | os.PathLike[str],
    model: ModelLike | None = None,
    target: str | None = None,
    *,
    into: int = 0,
    **settings: Unpack[Settings],
) -> MeasuredProgram:
    """Execute a linked program and return what its arena needs, and the simulation that asks for the very same.

        >>> tflm_sim.measure("build/app.elf").simulation.peak.op
        'CONV_2D'

    Args:
        path: Its ELF file.
        model: Put in the place of the program's model; None for its own.
        target: The machine, where the file does not say it.
        into: The interpreter that gets the model, from 1 on; 0 for each.
        settings: What the file does not say; see :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        FirmwareError: It cannot be executed, or does not come as far as AllocateTensors().
        UsageError: Something has to be named that the file does not say.
    """
    expect(path, (str, os.PathLike), "the path of an ELF file")
    name = os.fspath(path)
    settings["firmware"] = name
    possible = possible_configurations(target, **settings)
    return measure(name, None if model is None else load(model), possible, into=into)


def outputs(
    path: str, model: Model | bytes, runs: Iterable[Sequence[bytes]], *, into: int = 0
) -> list[tuple[bytes, ...]]:
    """Return what a program's kernels compute; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.emulation.execute import compute_outputs

    return compute_outputs(path, model, runs, into=into)


def places(path: str, addresses: Sequence[int]) -> tuple[CodePlace, ...]:
    """Return what lies at addresses of code; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.places import places as places_of

    return places_of(path, addresses)


def smallest_arena(path: str, model: Model, *, into: int = 0) -> int | None:
    """Return the smallest arena of a program with a model; see :class:`~tflm_sim.extension_points.Programs`."""
    from tflm_sim.extensions.firmware.emulation.execute import execute

    return execute(path, model=model, into=into).smallest_of(into or 1)


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """What a program did with a model, in the forms that verbs ask for: ``extension_points.ProgramFigures``."""

    found: MeasuredModel

    def __repr__(self) -> str:
        facts = self.found.facts
        needs = "no size is enough" if self.smallest is None else f"{self.smallest:,} B"
        return f"<MeasuredProgram {printable(os.path.basename(facts.file), 100)}: {needs}>"

    def _repr_html_(self) -> str:
        """For notebooks: how it was measured, and the picture of the simulation that asks for the same."""
        lines = self.lines(has_ledger=False)
        shown = html_table(lines[0], [(line,) for line in lines[1:] if line])
        return shown if self.simulation is None else shown + self.simulation._repr_html_()

    @property
    def simulation(self) -> Simulation | None:
        """The simulation in the program's own arena that asks for the very same; None where there is none."""
        if self.exact is None:
            return None
        own, rest = self.found.own, self.found.rest
        other = None if rest is None else rest.size
        return simulate(self.model, self.exact, arena_size=own.size, non_persistent_arena_size=other)

    @property
    def model(self) -> Model:
        return self.found.model

    @property
    def configuration(self) -> Configuration:
        """The configuration whose simulation comes nearest."""
        return self.found.configuration

    @property
    def exact(self) -> Configuration | None:
        """The configuration whose simulation asks for the very same; None where there is none."""
        return self.found.exact if self.found.is_simulated else None

    @property
    def arena_size(self) -> int:
        """Bytes of the program's own arena; of what stays, where there are two."""
        return self.found.own.size

    @property
    def smallest(self) -> int | None:
        """Bytes of the smallest arena; None where no size is enough."""
        return self.found.smallest

    @property
    def multiple_of_16(self) -> int | None:
        """As ``smallest``, of arenas whose sizes are multiples of 16."""
        return self.found.multiple_of_16

    @property
    def banks(self) -> tuple[BankNeed, ...]:
        """What each bank must have, where the planner is that of banks.h; no size is tried then."""
        return self.found.banks

    @property
    def parts(self) -> Mapping[str, object]:
        return {"executed": self.found.facts}

    @property
    def fits(self) -> bool:
        """Whether AllocateTensors() succeeds in the program's own arena."""
        return bool(self.found.own.fits)

    @property
    def answer(self) -> Answer:
        """Whether the model works in some arena, its Invoke() too."""
        return answer_of(self.smallest is not None and self.found.facts.invoke_works)

    @property
    def works(self) -> bool | None:
        """Whether the model works in the first of the sizes that were to be tried, its Invoke() too."""
        if self.banks:
            return False if self.found.place.fault else self.found.own.works
        tried, needed = self.found.arena.tried[0], self.multiple_of_16
        # The size is that of both arenas together, where there are two.
        is_enough = tried.works if self.found.rest is None else needed is not None and needed <= tried.size
        does_work = self.found.facts.invoke_works if is_enough else is_enough
        # What runs all the same may lie where something else does.
        is_misplaced = self._has_own_size and (self.found.own.works is False or bool(self.found.place.fault))
        return False if does_work and is_misplaced else does_work

    @property
    def reason(self) -> str:
        """Why no size is enough, or why it does not work although one is; "" where it works, or the size is why."""
        own = self.found.own
        if self._has_own_size:
            return own.reason or self.found.place.fault
        return own.reason if own.fits or self.smallest is None else ""  # Of another size, its own arena says nothing.

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is taken for granted of where the first of those sizes lies, and no execution settles."""
        conditions = self.found.place.conditions if self._has_own_size else ()
        return tuple(Doubt(text, settled_by="") for text in conditions)

    @property
    def _has_own_size(self) -> bool:
        """Whether the first of those sizes is the one that the program has, in both arenas or all banks together."""
        own, rest, tried = self.found.own, self.found.rest, self.found.arena.tried
        return bool(self.banks) or (bool(tried) and tried[0].size == own.size + (0 if rest is None else rest.size))

    @property
    def log(self) -> tuple[str, ...]:
        """What the program prints in its own arena."""
        return self.found.own.allocations[0].log

    @property
    def log_below(self) -> tuple[str, ...]:
        """What it prints with one byte less than the smallest arena."""
        return self.found.arena.log_below

    def document(self) -> SizeDocument:
        """Return the document of ``size`` with these figures."""
        from tflm_sim.extensions.firmware.executed_document import measured_document

        return replace(measured_document(self.model, self.found), fitting=self.answer)

    def pictures(self) -> tuple[Picture, ...]:
        """Return what happened in the arena; of several banks a picture each."""
        from tflm_sim.extensions.firmware.executed_document import measured_pictures

        return measured_pictures(self.model, self.found)

    def lines(self, *, has_ledger: bool = True) -> list[str]:
        from tflm_sim.extensions.firmware.executed_document import measured_lines

        return measured_lines(self.model, self.found, has_ledger=has_ledger)

    def events(self) -> Iterator[Event]:
        """Yield what happened in the program's own arena: the simulation's events where it asks for the very same."""
        from tflm_sim.extensions.firmware.execution import requests

        own, simulation = self.found.own, self.simulation
        if simulation is None or own.fits is not True:
            return iter(requests(own, self.found.rest, len(own.allocations)))
        return iter(simulation.events)
