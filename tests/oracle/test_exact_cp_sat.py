"""The exact planner agrees with OR-tools CP-SAT (the ``exact`` extra) on small problems."""

from __future__ import annotations

from random import Random

import pytest

from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.exact import solve

pytestmark = pytest.mark.skipif(not native.available(), reason="the C extension was not built")


def cp_sat_peak(buffers: list[Buffer]) -> int:
    """Return the smallest peak as CP-SAT proves it: rectangles of time and bytes that may not overlap."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    highest = sum(buffer.size + buffer.alignment for buffer in buffers)
    peak = model.new_int_var(0, highest, "peak")
    times, spans = [], []
    for index, buffer in enumerate(buffers):
        step = model.new_int_var(0, highest // buffer.alignment, f"step{index}")
        duration = buffer.upper - buffer.lower
        times.append(model.new_fixed_size_interval_var(buffer.lower, duration, f"time{index}"))
        spans.append(model.new_fixed_size_interval_var(step * buffer.alignment, buffer.size, f"bytes{index}"))
        model.add(step * buffer.alignment + buffer.size <= peak)
    model.add_no_overlap_2d(times, spans)
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = 20
    solver.parameters.num_workers = 2
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


def random_problem(random: Random) -> list[Buffer]:
    """Return up to 16 buffers over ten moments, some of them aligned."""
    buffers = []
    for _ in range(random.randint(8, 16)):
        first = random.randint(0, 9)
        last = min(9, first + random.randint(0, 5))
        buffers.append(Buffer(random.randint(1, 20), first, last + 1, random.choice((1, 1, 2, 4))))
    return buffers


@pytest.mark.parametrize("seed", range(12))
def test_the_peak_is_that_of_cp_sat(seed: int) -> None:
    buffers = random_problem(Random(seed))
    result = solve(buffers, time_limit=20)
    assert result.proved
    assert result.peak == cp_sat_peak(buffers)
