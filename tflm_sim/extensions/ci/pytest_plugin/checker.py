"""``ArenaChecker``, which the ``arena`` fixture is: questions about one model, assertions that explain themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.check import LinkedProgram
from tflm_sim.checks.judge import Room
from tflm_sim.checks.lifetime_answers import FLASH, HEAD, NOWHERE, TAIL, BufferLife, Lifetimes
from tflm_sim.checks.sanitizer import sanitize
from tflm_sim.checks.verdict import baseline_key, read_baseline
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.escape import one_line, printable
from tflm_sim.model.types import Model
from tflm_sim.report.lifetime_text import after_invoke, buffer_name, scope_label, timeline_lines
from tflm_sim.report.tables import table_lines
from tflm_sim.report.verdict_text import shrinking_lines, verdict_lines
from tflm_sim.sizes import parse_size
from tflm_sim.units import format_size

TOP_ROWS = 5
HOMES = {
    TAIL: "a variable in the tail, whose bytes nobody else gets",
    FLASH: "a constant in flash, which takes no byte of the arena",
    NOWHERE: "without bytes",
}


class ArenaChecker:
    """One model in one configuration.

    Args:
        name: The model as the marker names it, in messages and baselines.
        model: The model.
        configuration: How TFLM is set up.
        limit: Bytes that the firmware has for the arena, None when the marker does not say.
        about: Which TFLM and kernels that is, for the summary.
        program: The linked program in which it has to fit; None for what the configuration says alone.
        shrunk_by: Returns the command that looks for a rewriting that needs at most so many bytes; None to name none.
        remember: Called with (baseline file, key, size) by :meth:`assert_no_growth` when baselines are to be updated;
            None when sizes are compared with them.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        configuration: Configuration,
        *,
        limit: int | None = None,
        about: str = "",
        program: LinkedProgram | None = None,
        shrunk_by: Callable[[int], str] | None = None,
        remember: Callable[[Path, str, int], None] | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.configuration = configuration
        self.limit = limit
        self.about = about
        self._program = program
        self._shrunk_by = shrunk_by or (lambda _: "")
        self._needed: int | None = None
        self._remember = remember

    @cached_property
    def roomy(self) -> Simulation:
        """The model in a roomy arena: what it needs, and who needs it."""
        return simulate(self.model, self.configuration)

    @property
    def key(self) -> str:
        """The name of this model and configuration in baselines."""
        return baseline_key(self.name, self.configuration if self._program is None else self._program.possible[0])

    def size(self) -> int:
        """Return the smallest arena that works and is a multiple of 16, in bytes; of a program that is run as measured.

        Raises:
            SimulatedFailure: AllocateTensors() fails in an arena of any size.
        """
        if self._program is not None:
            self._needed = self._needed or self._program.needed(self.name, self.model)
            if self._needed is not None:
                return self._needed
        smallest = self.roomy.unwrap().smallest
        assert smallest is not None, "it works in one arena"
        return smallest.multiple_of_16

    def simulate(self, arena_size: int | str | None = None) -> Simulation:
        """Simulate AllocateTensors() in an arena: of the given size, else of the marker's limit, else the smallest."""
        size = _bytes(arena_size) if arena_size is not None else self.limit
        return simulate(self.model, self.configuration, arena_size=self.size() if size is None else size)

    def lifetimes(self) -> Lifetimes:
        """Return what lives when and where.

        Raises:
            SimulatedFailure: AllocateTensors() fails in an arena of any size.
        """
        return Lifetimes(self.roomy)

    # -- assertions -------------------------------------------------------------------------------------------------

    def assert_fits(self, limit: int | str | None = None) -> None:
        """Assert that the model works in an arena of ``limit`` bytes, else of the marker's limit: Invoke() too."""
        __tracebackhide__ = True
        room = _bytes(limit) if limit is not None else self.limit
        if room is None:
            raise UsageError("assert_fits() needs a limit: give it one, or give the marker limit=...")
        if self._program is not None:
            verdict = self._program.judge(self.name, self.model, Room(room, None), self.key)
            self._needed = verdict.needed
            if verdict.exit_code:
                raise _failed(verdict_lines(replace(verdict, shrunk_by=self._shrunk_by(room))))
            return
        if self.roomy.failure is not None:
            raise _failed([f"no: {self.name} fails in an arena of any size: {self.roomy.failure}"])
        simulation = self.simulate(room)
        if not simulation.fits:
            raise _failed(self._too_large(room, simulation))
        if (problem := self.roomy.invoke_problem) is not None:
            raise _failed([f"no: {self.name} {problem}", *(f"the device prints: {line}" for line in problem.log)])

    def assert_alive(self, tensor: str | int, *, during: str | int) -> None:
        """Assert that a tensor's content is in memory while an operator runs (each time that it runs)."""
        __tracebackhide__ = True
        lives = self.lifetimes()
        life = lives.find(tensor)
        for scope in lives.scopes_of(during):
            if not lives.is_alive(life, scope):
                raise _failed(_not_alive(lives, life, scope))

    def assert_reuses(self, a: str | int, b: str | int) -> None:
        """Assert that two tensors use some of the same bytes of the head, one after the other."""
        __tracebackhide__ = True
        lives = self.lifetimes()
        first, second = lives.find(a), lives.find(b)
        if second.buffer not in {row.other.buffer for row in lives.sharing(first)}:
            lines = [f"{buffer_name(first)} and {buffer_name(second)} have no byte in common:"]
            outside = [life for life in (first, second) if life.home != HEAD]
            lines += [f"{buffer_name(life)} is {HOMES[life.home]}" for life in outside]
            if not outside and min(first.last, second.last) >= max(first.first, second.first):
                lines.append("they are alive at the same time")
            raise _failed([*lines, *timeline_lines(lives, [first, second])])

    def assert_persistent(self, name: str | int) -> None:
        """Assert that a tensor keeps its content from one Invoke() to the next: a variable, or a constant."""
        __tracebackhide__ = True
        lives = self.lifetimes()
        life = lives.find(name)
        if not life.is_persistent:
            lines = [f"{buffer_name(life)} does not persist: {after_invoke(lives, life)}"]
            shown = [life, *(row.other for row in lives.sharing(life)[: TOP_ROWS - 1])]
            raise _failed([*lines, *timeline_lines(lives, shown)])

    def assert_no_growth(self, baseline: str | Path) -> None:
        """Assert that the model needs no more than the baseline file says; --arena-update-baseline writes it."""
        __tracebackhide__ = True
        path, size = Path(baseline), self.size()
        if self._remember is not None:
            self._remember(path, self.key, size)
            return
        self.compare(size, read_baseline(path).get(self.key), str(path))

    def compare(self, size: int, before: int | None, where: str, *, must_exist: bool = True) -> None:
        """Assert that ``size`` is not above ``before``; None is a failure only where there must be a size."""
        __tracebackhide__ = True
        if before is None and must_exist:
            raise _failed([f"{where} has no size for {self.key}: run pytest with --arena-update-baseline once"])
        if before is not None and size > before:
            first = f"{self.name} needs {size - before:,} B more than before: {before:,} -> {size:,} B ({where})"
            raise _failed([first, *self._who_needs_it()])

    def assert_sound(self, invocations: int = 10) -> None:
        """Assert that the sanitizer finds nothing in AllocateTensors() and that invocations corrupt no byte."""
        __tracebackhide__ = True
        findings = sanitize(self.model, self.configuration, invocations=invocations)
        if findings:
            lines = (printable(str(finding), 400) for finding in findings)
            raise _failed([f"{len(findings)} findings in {self.name}:", *lines])

    # -- explanations -----------------------------------------------------------------------------------------------

    def _too_large(self, room: int, simulation: Simulation) -> list[str]:
        needed = self.size()
        lines = [
            f"no: {self.name} does not fit on {self.configuration.target.name}: it needs {format_size(needed)}, "
            f"{format_size(needed - room)} more than {format_size(room)}"
        ]
        if simulation.failure is not None:
            lines.append(f"in {room:,} B: {simulation.failure}")
        lines += [f"in {room:,} B the device overwrites bytes in use: {text}" for text in simulation.corruptions]
        lines += [f"the device prints: {printable(line, 200)}" for line in simulation.log]
        return lines + self._who_needs_it() + shrinking_lines(self._shrunk_by(room))

    def _who_needs_it(self) -> list[str]:
        """What does not fit in a byte less, the largest holders of the tail, and the fullest moment of the head."""
        smallest = self.roomy.smallest
        if self._needed is not None and (smallest is None or smallest.multiple_of_16 != self._needed):
            return []  # What the program's own kernels take, the simulation does not know.
        assert smallest is not None, "it works in one arena"
        groups = sorted(self.roomy.ledger.groups.items(), key=lambda item: -item[1].used)[:TOP_ROWS]
        lines = [
            f"the last thing that does not fit in a byte less: {smallest.binding.what}, in '{smallest.binding.place}'"
        ]
        lines.append(f"tail {self.roomy.tail_bytes:,} B:")
        lines += [f"    {line}" for line in table_lines([(f"{row.used:,}", what) for what, row in groups])]
        peak = self.roomy.peak
        if peak is not None:
            lives = self.lifetimes()
            alive = [life for life in lives.buffers if life.home == HEAD and lives.is_alive(life, peak.scope)]
            lines.append(f"head {self.roomy.head_bytes:,} B, fullest at {scope_label(lives, peak.scope)}:")
            lines += [f"    {line}" for line in timeline_lines(lives, alive, mark=peak.scope)]
        return lines


def _failed(lines: Iterable[str]) -> AssertionError:
    """Return the error whose message is these lines, with nothing in them that forges another one."""
    return AssertionError("\n".join(map(one_line, lines)))


def _bytes(size: int | str) -> int:
    return size if isinstance(size, int) else parse_size(size)


def _not_alive(lives: Lifetimes, life: BufferLife, scope: int) -> list[str]:
    first = f"{buffer_name(life)} is not alive during {scope_label(lives, scope)}"
    if life.first < 0:
        return [f"{first}: no operator that runs names it"]
    span = f"it lives from {scope_label(lives, life.first)} to {scope_label(lives, life.last)}"
    users = [row.other for row in lives.sharing(life) if row.other.first <= scope <= row.other.last]
    took = f"; by then its bytes belong to {' and '.join(map(buffer_name, users))}" if users else ""
    return [f"{first}: {span}{took}", *timeline_lines(lives, [life, *users], mark=scope)]
