import pytest

from tflm_sim.errors import UsageError
from tflm_sim.planners import best_of, native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.compare import compare
from tflm_sim.planners.registry import PLANNERS, planner
from tflm_sim.planners.validate import Fault

needs_native = pytest.mark.skipif(not native.available(), reason="the exact planner is in C")

# TFLM's greedy puts the two 4s first and the 6 above them: 10 bytes; 4 + 5 at time 1 need only 9.
GREEDY_TRAP = [Buffer(4, 0, 1), Buffer(4, 2, 3), Buffer(5, 1, 1), Buffer(5, 2, 2), Buffer(3, 1, 2)]


def test_outcomes_come_in_the_order_of_the_names():
    comparison = compare([Buffer(8, 0, 1), Buffer(4, 1, 2)], ["linear", "greedy"])
    assert [(outcome.planner, outcome.plan.peak) for outcome in comparison.outcomes] == [("linear", 12), ("greedy", 12)]
    assert comparison.lower_bound == 12
    assert comparison.best.planner == "linear"


def test_a_plan_at_the_bound_is_proved_optimal():
    comparison = compare([Buffer(8, 0, 0), Buffer(4, 1, 1)], ["linear", "greedy"])
    linear, greedy = comparison.outcomes
    assert (comparison.distance(linear), comparison.is_proved_optimal(linear)) == (4, False)
    assert (comparison.distance(greedy), comparison.is_proved_optimal(greedy)) == (0, True)


@needs_native
def test_the_bound_of_the_exact_planner_counts_for_all():
    comparison = compare(GREEDY_TRAP, ["greedy", "exact"])
    exact = comparison.outcomes[1]
    assert comparison.is_proved_optimal(exact)
    assert comparison.lower_bound == exact.plan.peak


def test_a_planner_that_refuses_is_an_outcome_without_a_plan():
    comparison = compare([Buffer(8, 0, 0, offset=16)], ["gpu_naive", "greedy"])
    refused, greedy = comparison.outcomes
    assert refused.plan is None
    assert "fixed offset" in refused.refusal
    assert comparison.distance(refused) is None
    assert comparison.best is greedy


def test_buffers_that_collide_at_their_fixed_offsets_give_no_valid_plan():
    comparison = compare([Buffer(8, 0, 0, offset=0), Buffer(8, 0, 0, offset=4)], ["greedy"])
    assert [finding.fault for finding in comparison.outcomes[0].findings] == [Fault.OVERLAP]
    assert comparison.best is None
    assert not comparison.is_proved_optimal(comparison.outcomes[0])


def test_an_unknown_planner_is_refused_before_any_runs():
    with pytest.raises(UsageError, match="no planner 'magic'; use one of: greedy, linear, gpu_naive"):
        compare([], ["greedy", "magic"])


def test_a_planner_says_when_a_problem_is_too_large_for_it():
    with pytest.raises(UsageError, match="more than 400 buffers"):
        planner("gpu_mincostflow")([Buffer(1, 0, 0)] * 401)


def test_no_buffers_need_no_bytes():
    assert {name: place([]).peak for name, place in PLANNERS.items()} == dict.fromkeys(PLANNERS, 0)


def test_best_of_is_never_worse_than_greedy():
    assert best_of.plan(GREEDY_TRAP).peak <= PLANNERS["greedy"](GREEDY_TRAP).peak


def test_best_of_keeps_fixed_offsets():
    buffers = [Buffer(8, 0, 1, offset=4), Buffer(6, 1, 2), Buffer(2, 0, 2)]
    assert best_of.plan(buffers).offsets[0] == 4


def test_best_of_without_time_is_greedy():
    assert best_of.plan(GREEDY_TRAP, time_limit=0) == PLANNERS["greedy"](GREEDY_TRAP)
