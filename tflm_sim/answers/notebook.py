"""A simulation in a notebook: what there is to know in a table, and the plan of the head as a picture."""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import TYPE_CHECKING

from tflm_sim.answers.planned_problem import drawn_buffers, problem_of
from tflm_sim.errors import UsageError
from tflm_sim.escape import html_table
from tflm_sim.planners.buffers import plan_of
from tflm_sim.planners.plan_svg import write_plan_svg

if TYPE_CHECKING:
    from tflm_sim.answers.simulation import Simulation

_MAX_BUFFERS = 2_000
"""In a picture; more would be a line of the notebook that no browser likes."""


def simulation_html(simulation: Simulation) -> str:
    """Return a table and, where the plan can be drawn, its picture."""
    configuration = simulation.configuration
    names = " + ".join(PurePath(model.path or "model").name for model in simulation.models)
    title = f"{names} on {configuration.target.name} ({configuration.target.kernel_library} kernels)"
    return html_table(title, _facts(simulation)) + _picture(simulation)


def _facts(simulation: Simulation) -> list[tuple[str, str]]:
    if simulation.failure is not None:
        return [("AllocateTensors()", str(simulation.failure)), *(("log", line) for line in simulation.log if line)]
    rows = [
        ("head", f"{simulation.head_bytes:,} B"),
        ("tail", f"{simulation.tail_bytes:,} B"),
        ("arena_used_bytes()", f"{simulation.arena_used_bytes:,} B"),
    ]
    if (smallest := simulation.smallest) is not None:
        rows = [("smallest arena", f"{smallest.size:,} B"), *smallest.facts()[::2], *rows]
    if (split := simulation.split) is not None:
        rows = [("smallest arenas", f"{split.persistent:,} B + {split.non_persistent:,} B"), *rows]
    return rows + [("overwritten", text) for text in simulation.corruptions]


def _picture(simulation: Simulation) -> str:
    buffers = simulation.buffers
    if simulation.failure is not None or not 0 < len(buffers) <= _MAX_BUFFERS:
        return ""
    try:
        infos = [planned.info for planned in buffers]
        problem = problem_of(infos, title="the head")
    except UsageError:  # A negative offset, which has no place in the picture.
        return ""
    file = io.StringIO()
    peak = simulation.peak
    assert peak is not None, "something is planned"
    plan = plan_of(problem.buffers, [planned.offset for planned in buffers])
    write_plan_svg(
        file,
        problem,
        plan,
        planner=simulation.configuration.planner,
        lower_bound=peak.live_bytes,
        drawn=drawn_buffers(simulation.model, infos),
    )
    return f'<div style="max-width:760px">{file.getvalue()}</div>'
