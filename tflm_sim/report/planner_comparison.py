"""A comparison of planners as a document and as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from tflm_sim.answers.offline_plan import ArenaSaving
from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.document_types import Count, Range
from tflm_sim.escape import printable
from tflm_sim.planners.compare import Comparison, Outcome
from tflm_sim.planners.problem import Problem
from tflm_sim.report.tables import table_lines
from tflm_sim.units import format_size, format_time

_DISTANCE_NOTE = "a distance to the lower bound is not bytes to be won: a plan that small need not exist"


@dataclass(frozen=True, slots=True)
class ProblemBuffer:
    """A buffer to be planned; its lifetime is inclusive at both ends."""

    name: str
    size: Count
    first_time_used: int
    last_time_used: int
    alignment: Annotated[int, Range(1)]
    fixed_offset: Count | None


@dataclass(frozen=True, slots=True)
class PlannerRow:
    """What a planner made of it.

    Attributes:
        distance_to_lower_bound_bytes: A distance, not bytes to be won: a plan at the bound need not exist.
        offsets: In the order of ``buffers``.
        findings: What is wrong with the plan.
        refusal: Why there is no plan.
    """

    planner: str
    peak_bytes: Count | None
    distance_to_lower_bound_bytes: int | None
    proved_optimal: bool
    seconds: Annotated[float, Range(0)]
    offsets: tuple[int, ...] | None
    findings: tuple[str, ...]
    refusal: str | None


@dataclass(frozen=True, slots=True)
class SavingFacts:
    """What the best plan saves when it is in the model's metadata, in bytes."""

    saving: ArenaSaving = field(metadata=INLINE)
    saved_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """Planners compared on one problem; sizes and offsets are bytes.

    Attributes:
        problem: The file.
        lower_bound_bytes: The largest that is known.
        best: The first planner with the smallest valid plan.
        arena: null for a problem from a CSV file.
        assumed: The options that the answer depends on and that were not given; of a model.
    """

    schema_version: Literal[1] = 1
    problem: str
    buffers: tuple[ProblemBuffer, ...]
    lower_bound_bytes: Count
    best: str | None
    planners: tuple[PlannerRow, ...]
    arena: SavingFacts | None
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


def plan_document(
    problem: Problem,
    comparison: Comparison,
    saving: ArenaSaving | None = None,
    *,
    assumed: tuple[str, ...] | None = None,
) -> PlanDocument:
    """Return the comparison as a document; ``assumed`` are the options not given, None without a model."""
    return PlanDocument(
        problem=problem.title,
        buffers=tuple(
            ProblemBuffer(row.name, row.size, row.lower, row.upper - 1, row.alignment, row.offset)
            for row in problem.buffers
        ),
        lower_bound_bytes=comparison.lower_bound,
        best=None if comparison.best is None else comparison.best.planner,
        planners=tuple(_planner(comparison, outcome) for outcome in comparison.outcomes),
        arena=None if saving is None else SavingFacts(saving, saving.saved),
        assumed=assumed,
    )


def _planner(comparison: Comparison, outcome: Outcome) -> PlannerRow:
    plan = outcome.plan
    return PlannerRow(
        planner=outcome.planner,
        peak_bytes=None if plan is None else plan.peak,
        distance_to_lower_bound_bytes=comparison.distance(outcome),
        proved_optimal=comparison.is_proved_optimal(outcome),
        seconds=outcome.seconds,
        offsets=None if plan is None else tuple(plan.offsets),
        findings=tuple(finding.message for finding in outcome.findings),
        refusal=outcome.refusal or None,
    )


def plan_lines(document: PlanDocument) -> list[str]:
    """Return the comparison as a table for people, best known facts first."""
    bound = document.lower_bound_bytes
    title = f"{printable(document.problem)}: {len(document.buffers):,} buffers; lower bound {format_size(bound)}"
    head = ("planner", "peak bytes", "above the lower bound", "optimal", "time")
    lines = [title, "", *table_lines([head, *(_cells(row, bound) for row in document.planners)])]
    problems = [f"{row.planner}: {row.refusal}" for row in document.planners if row.refusal]
    problems += [f"{row.planner}: {finding}" for row in document.planners for finding in row.findings]
    if problems:
        lines += ["", *problems]
    if not any(row.proved_optimal for row in document.planners):
        lines += ["", _DISTANCE_NOTE]
    if document.arena and document.best:
        lines += ["", _saving_line(document.arena.saving, document.best)]
    return lines


def _cells(row: PlannerRow, bound: int) -> tuple[str, ...]:
    distance = row.distance_to_lower_bound_bytes
    peak = "-" if row.peak_bytes is None else f"{row.peak_bytes:,}"
    if distance is None:
        return (row.planner, peak, "-", "-", format_time(row.seconds))
    percent = f" ({distance / bound:.1%})" if distance and bound else ""
    proved = "yes" if row.proved_optimal else "no"
    return (row.planner, peak, f"{distance:,}{percent}", proved, format_time(row.seconds))


_BINDS = {
    "head": "the head",
    "tail": "the tail",
    "temp": "what is allocated for a while",
    "planner": "the planner's own tables",
}


def _saving_line(saving: ArenaSaving, planner: str) -> str:
    """Say what the best plan, written into the model, saves of the arena."""
    before, after = saving.arena_before, saving.arena_after
    head = f"head {saving.head_before:,} -> {saving.head_after:,}"
    verdict = f"saves {saving.saved:,} ({saving.saved / before:.1%}) of the arena"
    if saving.saved <= 0:
        verdict = f"saves nothing of the arena: {_BINDS.get(saving.binding, saving.binding)} must fit"
    return f"{planner} in the model's metadata: {head}, smallest arena {before:,} -> {after:,} bytes; {verdict}"
