"""What was recognised in a log, as text."""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.arena.stages import Stage
from tflm_sim.checks.device_report import DeviceReport
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.crashes import CodePlace
from tflm_sim.logs.diagnosis import Diagnosis, refusal_in_words
from tflm_sim.logs.log_events import AllocationReport, ArenaUsed, BenchmarkRecord, Damaged, PlanReport, Reset
from tflm_sim.units import format_size

MAX_PLACES = 8
"""Addresses of a report of a fault that are shown."""


def event_lines(event: object) -> list[str]:
    """Return an event in a few lines; [] where there is nothing to say about it."""
    if isinstance(event, DeviceReport):
        is_layer = isinstance(event, BenchmarkRecord) and event.kind != "result"
        return [] if is_layer else report_lines(event)
    if isinstance(event, Diagnosis):
        return diagnosis_lines(event)
    if isinstance(event, Damaged):
        return [f"line {event.line} is damaged and dropped: {event.reason}"]
    if isinstance(event, Reset):
        return [f"line {event.line}: the device restarted: {event.cause}"]
    return []


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
    lines += [f"  {key}: {number:,}" for key, number in report.numbers]
    if report.failure is not None:
        lines.append(f"  AllocateTensors() failed with status {report.failure} in {format_size(report.arena_size)}")
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
    head = ["  this log is damaged or incomplete:"] if problems else []
    return [*head, *(f"  not to be believed: {problem}" for problem in problems)]


def diagnosis_lines(diagnosis: Diagnosis, places: Sequence[CodePlace] | None = None) -> list[str]:
    """Return a diagnosis as text.

    Args:
        diagnosis: The diagnosis.
        places: Its places in the program, where more is known of them than the log says.
    """
    times = f" ({len(diagnosis.lines)} times)" if len(diagnosis.lines) > 1 else ""
    lines = [f"line {diagnosis.lines[0]}{times}: {diagnosis.what}"]
    lines += [f"  before    {refusal_in_words(refusal)}" for refusal in diagnosis.refusals[:-1]]
    if diagnosis.phase:
        lines.append(f"  phase     {Stage(diagnosis.phase).doing}")
    if diagnosis.op:
        lines.append(f"  operator  {diagnosis.op}" + (f", node {diagnosis.node}" if diagnosis.node is not None else ""))
    lines += [f"  at        {place}" for place in (diagnosis.places if places is None else places)[:MAX_PLACES]]
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
