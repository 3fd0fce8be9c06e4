"""What a board says, as text: the log as it comes, and after it what was recognised and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tflm_sim.board.connection import DuplicateFrame, Gap, Hello, Text, TornReport, UnknownFrame
from tflm_sim.board.diagnosis import PHASES, Diagnosis, diagnose
from tflm_sim.board.dialects.events import (
    AllocationReport,
    ArenaConfigured,
    ArenaUsed,
    BenchmarkRecord,
    Damaged,
    Message,
    PlanReport,
    Reset,
)
from tflm_sim.board.framing import BadFrame
from tflm_sim.board.messages import ArenaReport
from tflm_sim.board.monitor import MonitorEvent, Noise, Repeated
from tflm_sim.board.prefixes import log_text
from tflm_sim.checks.device_report import Comparison, DeviceReport, ModelIdentity, compare_report, identify
from tflm_sim.cli.options import load_model
from tflm_sim.cli.terminal import say
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.types import Model
from tflm_sim.samples import sample_path
from tflm_sim.units import format_size

MARK = "tflm-sim| "
# So many lines of other text after a failure: its chain is over.
_PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Expected:
    """The model that the board is said to run, and how."""

    name: str
    model: Model
    configuration: Configuration
    identity: ModelIdentity


def expect_model(name: str, configuration: Configuration) -> Expected:
    """Load the model that the board is said to run.

    Raises:
        UsageError: No such sample.
        ModelError: The file cannot be read as a model.
    """
    model = load_model(name)
    prefix, _, sample = name.partition(":")
    data = (sample_path(sample) if prefix == "sample" else Path(name)).read_bytes()
    return Expected(name, model, configuration, identify(data))


@dataclass
class EventPrinter:
    """Prints events (mutable: it counts, and remembers a failure until its chain is over).

    Attributes:
        out: Where to.
        expected: The model to compare with, None without.
        show_log: Whether the log's own lines are printed too.
        reports: How many reports were recognised.
        differences: How many of them were refused or differ from the simulation.
    """

    out: TextIO
    expected: Expected | None = None
    show_log: bool = True
    reports: int = 0
    differences: int = 0
    _chain: list[Message | ArenaConfigured] = field(default_factory=list)
    _quiet_lines: int = 0

    def __call__(self, event: MonitorEvent) -> None:
        """Print one event, and the diagnosis of a failure once nothing more of its chain comes."""
        if isinstance(event, Reset):
            self._explain()
        if isinstance(event, Text):
            self._quiet_lines += 1
        if isinstance(event, Message | ArenaConfigured):
            self._chain.append(event)
            self._quiet_lines = 0
        elif self._quiet_lines == _PATIENCE:
            self._explain()
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)
        self.out.flush()

    def close(self) -> None:
        """Print the diagnosis of a failure that is still open."""
        self._explain()
        self.out.flush()

    def _explain(self) -> None:
        for diagnosis in diagnose(self._chain):
            for line in diagnosis_lines(diagnosis):
                self.say(line)
        sizes = [event for event in self._chain if isinstance(event, ArenaConfigured)]
        self._chain = [*sizes[-1:]]

    def say(self, text: str) -> None:
        """Print a line of our own."""
        say(f"{MARK}{text}", file=self.out)

    def text(self, event: Text) -> None:
        """Print a line of the log."""
        if self.show_log:
            say(log_text(event.raw), file=self.out)

    def report(self, event: Any) -> None:
        """Print a report, and how it compares."""
        self.reports += 1
        for line in report_lines(event):
            self.say(line)
        if self.expected is None:
            return
        expected = self.expected
        comparison = compare_report(event, expected.model, expected.configuration, identity=expected.identity)
        self.differences += not comparison.is_equal
        for line in comparison_lines(comparison, expected):
            self.say(line)


def report_lines(report: DeviceReport) -> list[str]:
    """Return a report in a few lines; what is wrong with it comes first."""
    if isinstance(report, ArenaUsed):
        rounded = "" if report.low == report.high else f" to {report.high:,}"
        return [f"line {report.line}: arena in use: {report.low:,}{rounded} bytes ({report.dialect})"]
    if isinstance(report, BenchmarkRecord):
        return [f"line {report.line}: {report.value('model')}: arena in use: {report.value('arena_used_bytes')} bytes"]
    if isinstance(report, PlanReport):
        where, what = f"lines {report.first_line}-{report.last_line}", f"memory plan of {len(report.buffers)} buffers"
        return [f"{where}: {what}, {format_size(report.size)}", *_problem_lines(report.problems)]
    if isinstance(report, AllocationReport):
        return [*_used_lines(report, f"{report.dialect} report"), *_problem_lines(report.problems)]
    lines = _used_lines(report, f"report {report.number} of the stub")
    lines += [f"  {key}: {text}" for key, text in report.info]
    if report.high_water is not None:
        high = report.high_water
        lines.append(
            f"  painted arena: {high.touched:,} bytes written, {high.gap_size:,} untouched at {high.gap_offset:,}"
        )
    return lines


def _used_lines(report: AllocationReport | ArenaReport, name: str) -> list[str]:
    where = f"lines {report.first_line}-{report.last_line}"
    figures = [("total", report.total), ("head", report.head), ("tail", report.tail)]
    known = ", ".join(f"{name} {size:,}" for name, size in figures if size is not None)
    return [f"{where}: {name}: {known or 'no figures of the arena'}"]


def _problem_lines(problems: tuple[str, ...]) -> list[str]:
    return [f"  not to be believed: {problem}" for problem in problems]


def comparison_lines(comparison: Comparison, expected: Expected) -> list[str]:
    """Return the verdict, and each figure that differs (all of them when it is about more than one)."""
    against = f"simulation of {expected.name} on {expected.configuration.target.name}, {comparison.about}"
    if comparison.refused:
        return [f"  not compared: {comparison.refused}"]
    different = [figure for figure in comparison.figures if not figure.is_equal]
    if not different:
        return [f"  equal: all {len(comparison.figures)} figures ({against})"]
    rows = [
        f"    {figure.name}: device {figure.low:,}, simulation {figure.simulated:,} "
        f"({figure.simulated - figure.low:+,})"
        for figure in different
    ]
    return [f"  different: {len(different)} of {len(comparison.figures)} figures ({against})", *rows]


def diagnosis_lines(diagnosis: Diagnosis) -> list[str]:
    """Return a diagnosis as text."""
    times = f" ({len(diagnosis.lines)} times)" if len(diagnosis.lines) > 1 else ""
    lines = [f"line {diagnosis.lines[0]}{times}: {diagnosis.what}"]
    if diagnosis.phase:
        lines.append(f"  phase     {PHASES[diagnosis.phase]}")
    if diagnosis.op:
        lines.append(f"  operator  {diagnosis.op}" + (f", node {diagnosis.node}" if diagnosis.node is not None else ""))
    if (arena := _arena_line(diagnosis)) != "":
        lines.append(f"  arena     {arena}")
    return [*lines, *(f"  note      {note}" for note in diagnosis.notes)]


def _arena_line(diagnosis: Diagnosis) -> str:
    if diagnosis.at_least is None:
        return ""
    later = "a later allocation can need more"
    if diagnosis.arena_size is not None:
        return f"{format_size(diagnosis.arena_size)} given, at least {format_size(diagnosis.at_least)} needed; {later}"
    return (
        f"at least {format_size(diagnosis.missing or 0)} more than now, and no less than "
        f"{format_size(diagnosis.at_least)}; {later}"
    )


_HANDLERS: dict[type, Callable[[EventPrinter, Any], None]] = {
    Text: EventPrinter.text,
    AllocationReport: EventPrinter.report,
    PlanReport: EventPrinter.report,
    ArenaReport: EventPrinter.report,
    ArenaUsed: EventPrinter.report,
    BenchmarkRecord: lambda printer, event: printer.report(event) if event.kind == "result" else None,
    Repeated: lambda printer, event: printer.say(
        f"  the same as the report at line {event.earlier}, {event.count} times by now"
    ),
    TornReport: lambda printer, event: printer.say(f"report {event.number} is torn and dropped: {event.reason}"),
    BadFrame: lambda printer, event: printer.say(f"line {event.line} is damaged and dropped: {event.reason}"),
    Damaged: lambda printer, event: printer.say(f"line {event.line} is damaged and dropped: {event.reason}"),
    Gap: lambda printer, event: printer.say(
        f"line {event.line}: frames {event.expected} to {event.got - 1} are missing"
    ),
    DuplicateFrame: lambda printer, event: printer.say(f"line {event.line}: frame {event.sequence} came twice"),
    UnknownFrame: lambda printer, event: printer.say(f"line {event.line}: frame ignored: {event.reason}"),
    Hello: lambda printer, event: printer.say(
        f"{event.app}: {format_size(event.room)} of arena, {event.buffers} buffers"
    ),
    Reset: lambda printer, event: printer.say(f"line {event.line}: the device restarted: {event.cause}"),
    Noise: lambda printer, event: printer.say(
        f"byte {event.offset}: {event.percent} % of this is no text: the baud rate is wrong, or a wire is loose"
    ),
}
