"""The output of a board as text: the log as it arrives, and after it what was recognised and compared."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal, TextIO

from tflm_sim.checks.alternatives import explaining
from tflm_sim.checks.device_report import DeviceReport, ModelIdentity, ReportComparison, compare_report, identify
from tflm_sim.cli.options import configuration
from tflm_sim.cli.terminal import StatusLine, say, say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.documents import as_json
from tflm_sim.extensions.board.framing import BadFrame
from tflm_sim.extensions.board.link_events import (
    CountedBack,
    DuplicateFrame,
    Gap,
    Hello,
    Text,
    TornReport,
    UnknownFrame,
)
from tflm_sim.extensions.board.monitor import MonitorEvent, Noise, Repeated
from tflm_sim.logs.diagnosis import Diagnosis
from tflm_sim.logs.log_events import BenchmarkRecord
from tflm_sim.logs.prefixes import log_text as text_of
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report import log_text
from tflm_sim.samples import sample_path
from tflm_sim.units import format_size

OWN_LINE_PREFIX = "tflm-sim| "


@dataclass(frozen=True, slots=True)
class Expected:
    """The model that the board runs, as the user says, and its configuration."""

    name: str
    model: Model
    configuration: Configuration
    identity: ModelIdentity


def expect_model(args: argparse.Namespace) -> Expected | None:
    """Load the model that the board runs; None without --model.

    Raises:
        UsageError: No such sample.
        ModelError: The file cannot be read as a model.
    """
    if args.model is None:
        return None
    name, config = args.model, configuration(args)
    model = load(name)
    prefix, _, sample = name.partition(":")
    data = (sample_path(sample) if prefix == "sample" else Path(name)).read_bytes()
    return Expected(name, model, config, identify(data))


INCONCLUSIVE = 3


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """A report's figures compared with those of the simulation."""

    comparison: ReportComparison = field(metadata=INLINE)
    is_equal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDocument:
    """What a board said: a line of its log, or something that was recognised.

    Attributes:
        event: The kind of event; the other keys depend on it.
        time: When it arrived.
        comparison: For a report, if the model is known.
    """

    IS_OPEN: ClassVar = True
    IS_KEPT: ClassVar = True

    schema_version: Literal[1] = 1
    event: str
    facts: dict[str, Any] = field(metadata=INLINE)
    time: str | None = field(default=None, metadata=OPTIONAL)
    comparison: ComparisonFacts | None = field(default=None, metadata=OPTIONAL)


@dataclass
class EventPrinter:
    """Prints events (mutable: it counts them).

    Attributes:
        out: The file to print to.
        expected: The model to compare with, or None.
        show_log: Whether the log's own lines are printed too.
        as_json: Print one JSON object a line instead of text.
        clock: Returns what is printed before each line, such as the time; "" for nothing.
        reports: How many reports were recognised.
        differences: How many reports were refused or differ from the simulation.
        torn: How many reports were torn or damaged.
        failures: How many failures of TFLM were recognised.
    """

    out: TextIO
    expected: Expected | None = None
    show_log: bool = True
    as_json: bool = False
    clock: Callable[[], str] = lambda: ""
    reports: int = 0
    differences: int = 0
    torn: int = 0
    failures: int = 0

    def __call__(self, event: MonitorEvent) -> None:
        comparison = self._count(event)
        if self.as_json:
            self._say_json(event, comparison)
        elif isinstance(event, Text):
            if self.show_log:
                say(f"{self.clock()}{text_of(event.raw)}", file=self.out, wraps=False)
        else:
            lines = event_lines(event)
            if comparison is not None and self.expected is not None:
                lines = [*lines, *comparison_lines(comparison, self.expected), *self._why_lines(event, comparison)]
            self.say_all(lines)
        self.out.flush()

    @property
    def has_result(self) -> bool:
        """Whether a report or a failure was recognised."""
        return bool(self.reports or self.failures)

    @property
    def exit_code(self) -> int:
        """0: all that was compared agrees; 1: something differs; 3: a report was torn or damaged."""
        return 1 if self.differences else INCONCLUSIVE if self.torn else 0

    def say(self, text: str) -> None:
        """Print a line of our own."""
        if self.as_json:
            say_json(EventDocument(event="Status", facts={"text": text}), indent=None, file=self.out)
        else:
            say(f"{self.clock()}{OWN_LINE_PREFIX}{text}", file=self.out)

    def say_all(self, lines: Iterable[str]) -> None:
        """Print lines of our own."""
        for line in lines:
            self.say(line)

    def _count(self, event: MonitorEvent) -> ReportComparison | None:
        self.failures += isinstance(event, Diagnosis)
        self.torn += isinstance(event, TornReport) or bool(getattr(event, "problems", ()))
        if not isinstance(event, DeviceReport) or (isinstance(event, BenchmarkRecord) and event.kind != "result"):
            return None
        self.reports += 1
        if self.expected is None:
            return None
        comparison = compare_report(
            event, self.expected.model, self.expected.configuration, identity=self.expected.identity
        )
        self.differences += not comparison.is_equal
        return comparison

    def _why_lines(self, event: MonitorEvent, comparison: ReportComparison) -> list[str]:
        """Return lines that say with which setting all figures would be equal; [] for a damaged or foreign report."""
        is_damaged = bool(getattr(event, "problems", ()))
        if comparison.is_equal or is_damaged or not comparison.figures or not isinstance(event, DeviceReport):
            return []
        assert self.expected is not None, "there is a comparison"
        tried = count(1)
        with StatusLine("which setting explains it?") as line:
            found = explaining(
                event,
                self.expected.model,
                self.expected.configuration,
                on_progress=lambda: line.show(f"{next(tried)} tried"),
            )
        if not found:
            return [
                "  why: no kernels, interpreter, number of resource variables or target that we know makes it equal"
            ]
        return [f"  why: equal with {other.options}: all {len(same.figures)} figures" for other, same in found]

    def _say_json(self, event: MonitorEvent, comparison: ReportComparison | None) -> None:
        if isinstance(event, Text) and not self.show_log:
            return
        document = EventDocument(
            event=type(event).__name__,
            facts=_facts(event),
            time=self.clock().strip() or None,
            comparison=None if comparison is None else ComparisonFacts(comparison, comparison.is_equal),
        )
        say_json(document, indent=None, file=self.out)


def _facts(event: MonitorEvent) -> dict[str, Any]:
    """Return the facts of an event as JSON keys; the sizes of a report are in its figures."""
    if isinstance(event, Text):
        return {"line": event.raw.number, "text": text_of(event.raw)}
    return {name: value for name, value in as_json(event).items() if name != "data"}


def event_lines(event: MonitorEvent) -> list[str]:
    """Return an event of a link in a few lines; [] where there is nothing to say about it."""
    sentence = _SENTENCES.get(type(event))
    return log_text.event_lines(event) if sentence is None else [sentence(event)]


def comparison_lines(comparison: ReportComparison, expected: Expected) -> list[str]:
    """Return the verdict, and a line for each figure that differs."""
    against = f"simulation of {expected.name} on {expected.configuration.target.name}, {comparison.about}"
    different = [figure for figure in comparison.figures if not figure.is_equal]
    if comparison.is_equal:
        return [f"  equal: all {len(comparison.figures)} figures ({against})"]
    if comparison.refused and not different:
        return [f"  not compared: {comparison.refused}"]
    rows = [
        f"    {figure.name}: device {figure.low:,}, simulation {figure.simulated:,} "
        f"({figure.simulated - figure.low:+,})"
        for figure in different
    ]
    verdict = f"not to be believed: {comparison.refused}; " if comparison.refused else ""
    return [f"  {verdict}different: {len(different)} of {len(comparison.figures)} figures ({against})", *rows]


_SENTENCES: dict[type, Callable[[Any], str]] = {
    Repeated: lambda event: f"  the same as the {event.what} at line {event.earlier}, {event.count} times by now",
    TornReport: lambda event: f"report {event.number} is torn and dropped: {event.reason}",
    BadFrame: lambda event: f"line {event.line} is damaged and dropped: {event.reason}",
    Gap: lambda event: (
        f"line {event.line}: {event.missing} frames are missing, from number {event.expected} on"
        if event.missing > 1
        else f"line {event.line}: frame {event.expected} is missing"
    ),
    CountedBack: lambda event: (
        f"line {event.line}: the count of frames goes back from {event.expected} to {event.got}: "
        "the device restarted, or an old line came late"
    ),
    DuplicateFrame: lambda event: f"line {event.line}: frame {event.sequence} came twice",
    UnknownFrame: lambda event: f"line {event.line}: frame ignored: {event.reason}",
    Hello: lambda event: (
        f"{event.app}: {format_size(event.room)} of arena, {event.buffers} buffers"
        if event.room
        else f"{event.app}: the firmware starts; it reports"
    ),
    Noise: lambda event: (
        f"byte {event.offset}: {event.percent} % of this is no text: the baud rate is wrong, or a wire is loose"
    ),
}
