"""Every planner, any buffers: the validator finds nothing, the peak is at least the bound, and C equals Python."""

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.cli.plan import ALL_PLANNERS
from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.by_name import PLANNERS
from tflm_sim.planners.exact import solve
from tflm_sim.planners.gpu.by_size import best_fit_offsets
from tflm_sim.planners.gpu.records import TensorUsageRecord
from tflm_sim.planners.greedy import greedy_offsets
from tflm_sim.planners.hill_climb import HillClimb, count_neighbours
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.memory_planner import BufferRequirements
from tflm_sim.planners.problem import Problem, read_csv, write_csv
from tflm_sim.planners.validate import Fault, validate

needs_native = pytest.mark.skipif(not native.available(), reason="the C core was not built")

SIZES = st.one_of(st.integers(0, 4), st.sampled_from([0, 16, 32, 64, 4096]), st.integers(0, 10_000))
TIMES = st.integers(-3, 12)


@st.composite
def requirements(draw, sizes=SIZES, times=TIMES):
    offline = st.one_of(st.just(-1), st.just(-1), st.integers(0, 300), st.integers(-40, 40))
    alignment = st.sampled_from([1, 1, 4, 16, 12])
    return BufferRequirements(draw(sizes), draw(offline), draw(times), draw(times), draw(alignment))


@st.composite
def buffers(draw):
    first = draw(TIMES)
    last = first + draw(st.integers(0, 6))
    return Buffer(draw(SIZES), first, last + 1, draw(st.sampled_from([1, 1, 2, 3, 4, 16])))


def outcome(plan, *args):
    try:
        return plan(*args)
    except PlanningError:
        return PlanningError


@needs_native
@settings(max_examples=400)
@given(st.lists(requirements(), max_size=120))
def test_the_c_greedy_equals_the_python_greedy(problem):
    offsets, _ = native.greedy(problem)
    assert offsets == greedy_offsets(problem)


@needs_native
@settings(max_examples=300)
@given(
    st.lists(
        requirements(
            sizes=st.sampled_from([0, 1, 2**30, 2**31 - 1, 2**31, -1, 2**63, 7]),
            times=st.sampled_from([-(2**31), -(2**31) + 1, -1, 0, 2**31 - 1, 2**31]),
        ),
        max_size=6,
    )
)
def test_the_c_greedy_refuses_what_the_python_greedy_refuses(problem):
    in_c = outcome(native.greedy, problem)
    assert (in_c if in_c is PlanningError else in_c[0]) == outcome(greedy_offsets, problem)


@needs_native
@settings(max_examples=200)
@given(st.lists(requirements(sizes=st.sampled_from([0, 0, 1, 4, 16, 20])), max_size=120))
def test_the_c_best_fit_equals_the_python_one_whatever_is_empty(problem):
    lives = [(row.size, min(row[2:4]), max(row[2:4])) for row in problem]
    rows = [(size, -1, first, last, 4) for size, first, last in lives]
    assert native.best_fit(rows) == best_fit_offsets([TensorUsageRecord(*life) for life in lives], 4)


@needs_native
@settings(max_examples=100)
@given(st.lists(buffers(), max_size=25), st.data())
def test_the_c_hill_climb_equals_the_python_hill_climb(problem, data):
    fixed = st.integers(0, 200)
    problem = [replace(b, offset=data.draw(fixed)) if data.draw(st.integers(0, 9)) == 0 else b for b in problem]
    in_c, in_python = native.NativeHillClimb(native.rows(problem), count_neighbours(problem)), HillClimb(problem)
    for iterations in (1, 7, 100):
        in_c.run(iterations)
        in_python.run(iterations)
        assert list(in_c.best_offsets) == list(in_python.best_offsets)
        assert in_c.is_done == in_python.is_done


@pytest.mark.parametrize("planner", ALL_PLANNERS.values(), ids=ALL_PLANNERS.keys())
@settings(max_examples=100)
@given(problem=st.lists(buffers(), max_size=40))
def test_a_plan_is_valid_and_not_below_the_bound(planner, problem):
    result = planner(problem)
    assert validate(problem, result) == []
    assert result.peak >= lower_bound(problem)


@pytest.mark.parametrize("name", ["greedy", "linear", "hill_climb", "best_of"])
@settings(max_examples=100)
@given(problem=st.lists(buffers(), max_size=20), data=st.data())
def test_fixed_offsets_are_kept_and_only_they_can_collide(name, problem, data):
    offsets = st.one_of(st.none(), st.none(), st.integers(0, 300))
    problem = [replace(buffer, offset=data.draw(offsets)) for buffer in problem]
    result = PLANNERS[name](problem)
    findings = validate(problem, result)
    for finding in findings:
        assert finding.fault is Fault.OVERLAP
        assert all(problem[index].offset is not None for index in finding.buffers)
    assert findings or result.peak >= lower_bound(problem)


@needs_native
@settings(max_examples=100)
@given(problem=st.lists(buffers(), max_size=9))
def test_no_planner_is_below_the_exact_one(problem):
    exact = solve(problem, time_limit=20)
    assert exact.proved
    assert all(planner(problem).peak >= exact.peak for planner in ALL_PLANNERS.values())


@settings(max_examples=100)
@given(problem=st.lists(buffers(), max_size=20))
def test_a_problem_survives_the_csv(problem):
    file = io.StringIO()
    named = Problem(tuple(replace(buffer, name=f"b{index}") for index, buffer in enumerate(problem)))
    write_csv(file, named)
    again = read_csv(file.getvalue().splitlines())
    assert again == named
    assert [buffer.name for buffer in again.buffers] == [buffer.name for buffer in named.buffers]
