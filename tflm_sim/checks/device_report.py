"""Compares what a device reports with the simulation, figure by figure.

The way in which a firmware measures itself changes its arena. So a recording report is compared with a recording
interpreter, ``tflm_benchmark`` with one that also has room for its hundred resource variables, and a report of the stub
with the stub's own arena.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.events import PlanAdd, PlanOffset
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.run import ROOMY_ARENA
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.log_events import AllocationReport, ArenaUsed, BenchmarkRecord, CategoryUse, PlanBuffer, PlanReport
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.recorded import RecordedAllocationType

# Source: tools/benchmarking/generic_model_benchmark.cc @ 90b983c, kNumResourceVariable.
BENCHMARK_RESOURCE_VARIABLES = 100

_FIGURES_OF_A_LINE = ("used", "requested", "count", "size", "offset", "first", "last")
_MIN_LINES = 4

DeviceReport = AllocationReport | PlanReport | ArenaReport | ArenaUsed | BenchmarkRecord


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What identifies a model in a report: bytes, CRC-32 and SHA-256 (hex) of the file."""

    size: int
    crc32: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure: the device's (low to high, where the firmware rounded) and the simulation's."""

    name: str
    low: int
    high: int
    simulated: int

    @property
    def line(self) -> str:
        """What the line of the report that has this figure is about."""
        about, _, last = self.name.rpartition(" ")
        return about if last in _FIGURES_OF_A_LINE else self.name

    @property
    def is_equal(self) -> bool:
        """Whether the simulation's figure is what the device printed."""
        return self.low <= self.simulated <= self.high


@dataclass(frozen=True, slots=True)
class ReportComparison:
    """The result of comparing a report with the simulation.

    Attributes:
        about: What was compared with what.
        refused: Why the figures must not be believed, or are about something else; "" when they may be.
        figures: Every figure, in the report's order, also of a damaged report; () when it is about something else.
    """

    about: str
    refused: str
    figures: tuple[ComparedFigure, ...]

    @property
    def is_equal(self) -> bool:
        """Whether every figure agrees."""
        return not self.refused and all(figure.is_equal for figure in self.figures)

    @property
    def different_lines(self) -> tuple[str, ...]:
        """The lines of the report with a figure that differs, by the name of what they are about."""
        return tuple(dict.fromkeys(figure.line for figure in self.figures if not figure.is_equal))


def identify(data: bytes) -> ModelIdentity:
    """Return the identity of a model file."""
    return ModelIdentity(len(data), zlib.crc32(data), hashlib.sha256(data).hexdigest())


def compare_report(
    report: DeviceReport,
    model: Model,
    configuration: Configuration,
    *,
    identity: ModelIdentity | None = None,
    checks_remainders: bool = True,
) -> ReportComparison:
    """Compare a report with the simulation of ``model``; a damaged or foreign report is refused, and says why.

    Args:
        report: What the device reports.
        model: What it runs.
        configuration: How.
        identity: Of the model, to recognise a report about another one.
        checks_remainders: Whether arenas whose size is no multiple of 16 are tried too, where the report has no size.
    """
    observed, about = _observer(report, configuration)
    if foreign := _another_model(report, identity):
        return ReportComparison(about, foreign, ())
    problems = report.problems if isinstance(report, AllocationReport | PlanReport) else ()
    damage = f"the report is damaged: {'; '.join(problems)}" if problems else ""
    best = _compare(report, model, observed, about, _arena_sizes(report)[0])
    for size in _arena_sizes(report)[1:] if checks_remainders else ():
        if best.refused or best.is_equal or damage:
            break
        other = _compare(report, model, observed, about, size)
        best = other if len(other.different_lines) < len(best.different_lines) else best
    if damage:
        return replace(best, refused=damage)
    return replace(best, refused=best.refused or _damage_beside_the_simulation(report, best))


def _compare(
    report: DeviceReport, model: Model, observed: Configuration, about: str, arena_size: int
) -> ReportComparison:
    simulation = simulate(model, observed, arena_size=arena_size)
    if isinstance(report, ArenaReport) and report.failure is not None:
        fails = ComparedFigure("AllocateTensors() fails", 1, 1, int(simulation.status != "ok"))
        return ReportComparison(about, "", (fails,))
    if simulation.status != "ok":
        return ReportComparison(about, f"the simulation fails in this arena: {simulation.failure}", ())
    odd = arena_size % BUFFER_ALIGNMENT
    where = f"{about}, arena size {odd} past a multiple of 16" if odd else about
    return ReportComparison(where, "", tuple(_figures(report, simulation)))


def _observer(report: DeviceReport, configuration: Configuration) -> tuple[Configuration, str]:
    """Return the set-up that the firmware which prints this report has."""
    recording = replace(configuration, interpreter="recording", planner="greedy", split_arenas=False)
    if isinstance(report, AllocationReport) and report.dialect.startswith("benchmark"):
        count = BENCHMARK_RESOURCE_VARIABLES
        return replace(recording, resource_variables=count), "tflm_benchmark, recording interpreter"
    if isinstance(report, AllocationReport):
        return recording, "recording interpreter"
    if isinstance(report, ArenaReport):
        address = replace(configuration.target, arena_address=report.skew)
        base = recording if report.categories else configuration
        return replace(base, target=address), f"{base.interpreter} interpreter, arena of {report.arena_size} bytes"
    return configuration, f"{configuration.interpreter} interpreter"


def _arena_sizes(report: DeviceReport) -> Sequence[int]:
    """The arena's own size where the report says it; else a roomy one for each remainder that alignment can see.

    One figure alone would fit some remainder too easily: it is compared with a multiple of 16 only.
    """
    if isinstance(report, ArenaReport):
        return [report.arena_size]
    if isinstance(report, ArenaUsed | BenchmarkRecord):
        return [ROOMY_ARENA]
    remainders = sorted(range(BUFFER_ALIGNMENT), key=lambda remainder: (remainder % 4, remainder % 8))
    return [ROOMY_ARENA - remainder for remainder in remainders]


def _damage_beside_the_simulation(report: DeviceReport, comparison: ReportComparison) -> str:
    """Tell damage in a text without checksums: one line that differs while all sums and all other lines agree.

    Whatever really differs changes the tail or the head with it, and so the total: three lines at least. In a plan
    one buffer alone can really be another; its map is too coarse to tell, so both are said.
    """
    lines = {figure.line for figure in comparison.figures}
    if not isinstance(report, AllocationReport | PlanReport) or len(comparison.different_lines) != 1:
        return ""
    if len(lines) < _MIN_LINES:
        return ""
    really = ", or that buffer is really another" if isinstance(report, PlanReport) else ""
    return (
        f"this log is damaged or incomplete{really}: {len(lines) - 1} of {len(lines)} lines agree with the "
        f"simulation, the one about {comparison.different_lines[0]} does not"
    )


def _another_model(report: DeviceReport, identity: ModelIdentity | None) -> str:
    if identity is None:
        return ""
    sha256: object = None
    if isinstance(report, BenchmarkRecord):
        sha256 = report.value("model_sha256")
    if isinstance(report, ArenaReport):
        sha256 = dict(report.info).get("sha256")
        if report.model_crc32 not in (None, identity.crc32) or report.model_size not in (None, identity.size):
            return (
                f"it is about another model: {report.model_size} bytes with CRC-32 {report.model_crc32 or 0:08x}, "
                f"not {identity.size} bytes with {identity.crc32:08x}"
            )
    if isinstance(sha256, str) and sha256 and sha256 != identity.sha256:
        return f"it is about another model: SHA-256 {sha256[:12]}..., not {identity.sha256[:12]}..."
    return ""


def _figures(report: DeviceReport, simulation: Simulation) -> Iterable[ComparedFigure]:
    if isinstance(report, ArenaUsed):
        return [ComparedFigure("arena_used_bytes", report.low, report.high, simulation.arena_used_bytes)]
    if isinstance(report, BenchmarkRecord):
        used = report.value("arena_used_bytes")
        return [_exact("arena_used_bytes", used if isinstance(used, int) else -1, simulation.arena_used_bytes)]
    if isinstance(report, PlanReport):
        return _plan_figures(report.buffers, simulation)
    rows = {
        "total": (report.total, simulation.arena_used_bytes),
        "head": (report.head, simulation.head_bytes),
        "tail": (report.tail, simulation.tail_bytes),
    }
    plan: Iterable[ComparedFigure] = ()
    if isinstance(report, ArenaReport):
        plan = _plan_figures(report.buffers, simulation)
        if dict(report.info).get("planner") == "outside":
            rows = {"head": rows["head"]}
    figures = (_exact(name, measured, ours) for name, (measured, ours) in rows.items() if measured is not None)
    return [*figures, *_category_figures(report.categories, simulation), *plan]


def _exact(name: str, measured: int, simulated: int) -> ComparedFigure:
    return ComparedFigure(name, measured, measured, simulated)


def _category_figures(uses: Sequence[CategoryUse], simulation: Simulation) -> list[ComparedFigure]:
    """Three figures for each category; one that a report leaves out is empty, if the report has categories at all."""
    if not uses:
        return []
    measured = {use.key: use for use in uses}
    figures = []
    for kind in RecordedAllocationType:
        use = measured.get(kind.name, CategoryUse(kind.name, 0, 0, 0))
        ours = simulation.recorded.get(kind.value)
        if ours is None and kind.name not in measured:
            continue
        figures += [
            _exact(f"{kind.value} used", use.used, ours.used if ours else 0),
            _exact(f"{kind.value} requested", use.requested, ours.requested if ours else 0),
            _exact(f"{kind.value} count", use.count, ours.count if ours else 0),
        ]
    return figures


def _plan_figures(buffers: Sequence[PlanBuffer], simulation: Simulation) -> list[ComparedFigure]:
    if not buffers:
        return []
    added = [event for event in simulation.events if isinstance(event, PlanAdd)]
    offsets = {event.planner_index: event.offset for event in simulation.events if isinstance(event, PlanOffset)}
    figures = [_exact("planned buffers", len(buffers), len(added))]
    for buffer, ours in zip(buffers, added, strict=False):
        figures += [
            _exact(f"buffer {buffer.id} size", buffer.size, ours.size),
            _exact(f"buffer {buffer.id} offset", buffer.offset, offsets[buffer.id]),
            _exact(f"buffer {buffer.id} first", buffer.first, ours.first),
            _exact(f"buffer {buffer.id} last", buffer.last, ours.last),
        ]
    return figures
