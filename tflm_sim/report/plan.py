"""A comparison of planners as a document and as text."""

from __future__ import annotations

from typing import Any

from tflm_sim.answers.offline_plan import ArenaSaving
from tflm_sim.escape import printable
from tflm_sim.planners.compare import Comparison, Outcome
from tflm_sim.planners.problem import Problem
from tflm_sim.report.text import table_lines
from tflm_sim.units import format_size

SCHEMA_VERSION = 1
_DISTANCE_NOTE = "a distance to the lower bound is not bytes to be won: a plan that small need not exist"


def plan_document(problem: Problem, comparison: Comparison, saving: ArenaSaving | None = None) -> dict[str, Any]:
    """Return the comparison as JSON values (``plan_schema.json``); sizes and offsets are bytes, lifetimes inclusive."""
    best = comparison.best
    return {
        "schema_version": SCHEMA_VERSION,
        "problem": problem.title,
        "buffers": [
            {
                "name": name,
                "size": buffer.size,
                "first_time_used": buffer.first_time_used,
                "last_time_used": buffer.last_time_used,
                "alignment": buffer.alignment,
                "fixed_offset": buffer.offset,
            }
            for name, buffer in zip(problem.names, problem.buffers, strict=True)
        ],
        "lower_bound_bytes": comparison.lower_bound,
        "best": best and best.planner,
        "planners": [_outcome(comparison, outcome) for outcome in comparison.outcomes],
        "arena": saving
        and {
            "head_before_bytes": saving.head_before,
            "head_after_bytes": saving.head_after,
            "smallest_before_bytes": saving.arena_before,
            "smallest_after_bytes": saving.arena_after,
            "saved_bytes": saving.saved,
            "binding": saving.binding,
        },
    }


def _outcome(comparison: Comparison, outcome: Outcome) -> dict[str, Any]:
    return {
        "planner": outcome.planner,
        "peak_bytes": outcome.plan and outcome.plan.peak,
        "distance_to_lower_bound_bytes": comparison.distance(outcome),
        "proved_optimal": comparison.is_proved_optimal(outcome),
        "seconds": outcome.seconds,
        "offsets": outcome.plan and list(outcome.plan.offsets),
        "findings": [finding.message for finding in outcome.findings],
        "refusal": outcome.refusal or None,
    }


def plan_lines(problem: Problem, comparison: Comparison) -> list[str]:
    """Return the comparison as a table for people, best known facts first."""
    lines = [
        f"{printable(problem.title)}: {len(problem.buffers):,} buffers; "
        f"lower bound {format_size(comparison.lower_bound)}",
        "",
    ]
    head = ("planner", "peak bytes", "distance to the lower bound", "proved optimal", "time")
    lines += table_lines([head, *(_row(comparison, outcome) for outcome in comparison.outcomes)])
    refusals = [f"{outcome.planner}: {outcome.refusal}" for outcome in comparison.outcomes if outcome.refusal]
    faults = [
        f"{outcome.planner}: {finding.message}" for outcome in comparison.outcomes for finding in outcome.findings
    ]
    if refusals or faults:
        lines += ["", *refusals, *faults]
    if not any(map(comparison.is_proved_optimal, comparison.outcomes)):
        lines += ["", _DISTANCE_NOTE]
    return lines


_BINDS = {
    "head": "the head",
    "tail": "the tail",
    "temp": "what is allocated for a while",
    "planner": "the planner's own tables",
}


def saving_lines(saving: ArenaSaving, planner_name: str) -> list[str]:
    """Say what the best plan, written into the model, saves of the arena."""
    head = f"head {saving.head_before:,} -> {saving.head_after:,}"
    arena = f"smallest arena {saving.arena_before:,} -> {saving.arena_after:,}"
    verdict = f"saves {saving.saved:,} ({saving.saved / saving.arena_before:.1%}) of the arena"
    if saving.saved <= 0:
        verdict = f"saves nothing of the arena: {_BINDS.get(saving.binding, saving.binding)} must fit"
    return [f"{planner_name} in the model's metadata: {head}, {arena} bytes; {verdict}"]


def _row(comparison: Comparison, outcome: Outcome) -> tuple[str, ...]:
    distance = comparison.distance(outcome)
    if outcome.plan is None or distance is None:
        return (outcome.planner, f"{outcome.plan.peak:,}" if outcome.plan else "-", "-", "-", _time(outcome.seconds))
    percent = f" ({distance / comparison.lower_bound:.1%})" if distance and comparison.lower_bound else ""
    proved = "yes" if comparison.is_proved_optimal(outcome) else "no"
    return (outcome.planner, f"{outcome.plan.peak:,}", f"{distance:,}{percent}", proved, _time(outcome.seconds))


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:,.0f} us"
    return f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"
