import html
import random
import time
from collections.abc import Sequence

import pytest

from tflm_sim.errors import NoPlanInTime, UsageError
from tflm_sim.planners import best_of, native
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.by_name import PLANNERS, Planner, planner
from tflm_sim.planners.compare import compare
from tflm_sim.planners.deadline import Deadline
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.validate import Fault, validate

needs_native = pytest.mark.skipif(not native.available(), reason="the exact planner is in C")

# 10 bytes are alive at time 0, and 10 are enough; TFLM's greedy needs 13.
GREEDY_TRAP = [Buffer(3, 1, 4), Buffer(3, 2, 4), Buffer(1, 3, 4), Buffer(5, 0, 2), Buffer(5, 0, 1)]


def test_outcomes_come_in_the_order_of_the_names():
    comparison = compare([Buffer(8, 0, 2), Buffer(4, 1, 3)], ["linear", "greedy"])
    assert [(outcome.planner, outcome.plan.peak) for outcome in comparison.outcomes] == [("linear", 12), ("greedy", 12)]
    assert comparison.lower_bound == 12
    assert comparison.best.planner == "linear"


def test_a_plan_at_the_bound_is_proved_optimal():
    comparison = compare([Buffer(8, 0, 1), Buffer(4, 1, 2)], ["linear", "greedy"])
    linear, greedy = comparison.outcomes
    assert (comparison.distance(linear), comparison.is_proved_optimal(linear)) == (4, False)
    assert (comparison.distance(greedy), comparison.is_proved_optimal(greedy)) == (0, True)


@needs_native
def test_the_bound_of_the_exact_planner_counts_for_all():
    # Two bytes are alive at time 0, at multiples of 16: 17 bytes. The third buffer, aligned to 1, hides that from the
    # bound by live bytes.
    buffers = [Buffer(1, 0, 1, 16), Buffer(1, 0, 1, 16), Buffer(1, 1, 2)]
    assert lower_bound(buffers) == 2
    comparison = compare(buffers, ["greedy", "exact"])
    assert comparison.lower_bound == 17
    assert [comparison.is_proved_optimal(outcome) for outcome in comparison.outcomes] == [True, True]


def test_a_planner_that_refuses_is_an_outcome_without_a_plan():
    comparison = compare([Buffer(8, 0, 1, offset=16)], ["gpu_naive", "greedy"])
    refused, greedy = comparison.outcomes
    assert refused.plan is None
    assert "fixed offset" in refused.refusal
    assert refused.refusal in html.unescape(comparison._repr_html_())
    assert comparison.distance(refused) is None
    assert comparison.best is greedy


def test_buffers_that_collide_at_their_fixed_offsets_give_no_valid_plan():
    comparison = compare([Buffer(8, 0, 1, offset=0), Buffer(8, 0, 1, offset=4)], ["greedy"])
    assert [finding.fault for finding in comparison.outcomes[0].findings] == [Fault.OVERLAP]
    assert comparison.best is None
    assert not comparison.is_proved_optimal(comparison.outcomes[0])


def test_an_unknown_planner_is_refused_before_any_runs():
    with pytest.raises(UsageError, match="no planner 'magic'; use one of: greedy, linear, gpu_naive"):
        compare([], ["greedy", "magic"])


def test_a_planner_says_when_a_problem_is_too_large_for_it():
    with pytest.raises(UsageError, match="more than 1,000 buffers"):
        planner("gpu_mincostflow")([Buffer(1, 0, 1)] * 1001)


def test_no_buffers_need_no_bytes():
    there = {name: place for name, place in PLANNERS.items() if name != "exact" or native.available()}
    assert {name: place([]).peak for name, place in there.items()} == dict.fromkeys(there, 0)


def test_an_interrupt_ends_one_planner_and_not_the_others():
    def interrupted(buffers, *, time_limit):
        raise KeyboardInterrupt

    table = {"slow": Planner("slow", "", interrupted), "greedy": PLANNERS["greedy"]}
    comparison = compare([Buffer(8, 0, 1)], ["slow", "greedy"], planners=table)
    assert comparison.outcomes[0].refusal == "interrupted"
    assert comparison.best.planner == "greedy"


def test_best_of_finds_what_greedy_misses():
    assert (PLANNERS["greedy"](GREEDY_TRAP).peak, best_of.plan(GREEDY_TRAP).peak) == (13, 10)


def test_best_of_keeps_fixed_offsets():
    buffers = [Buffer(8, 0, 2, offset=4), Buffer(6, 1, 3), Buffer(2, 0, 3)]
    assert best_of.plan(buffers).offsets[0] == 4


def test_best_of_without_time_is_greedy():
    assert best_of.plan(GREEDY_TRAP, time_limit=0) == PLANNERS["greedy"](GREEDY_TRAP)


def test_the_best_of_the_quick_ones_leaves_out_what_counts_in_32_bits() -> None:
    """3 GiB each, two at once: TFLM's greedy refuses, the others need 6 GiB."""
    assert planner("best_of")([Buffer(3 << 30, time, time + 1 + 1) for time in range(3)]).peak == 6 << 30


def test_a_time_limit_is_for_all_planners_together() -> None:
    """3,000 buffers, half of them alive at once: without a limit the planners take minutes."""
    draw = random.Random(1)
    starts = [draw.randrange(940) for _ in range(3_000)]
    buffers = [Buffer(draw.randint(1, 5_000), start, start + draw.randint(1, 900)) for start in starts]
    begun = time.process_time()
    comparison = compare(buffers, list(PLANNERS), time_limit=1.0)
    assert time.process_time() - begun < 4  # the limit, a second to judge plans, and what cannot be interrupted
    refused = {outcome.planner for outcome in comparison.outcomes if "the time was over" in outcome.refusal}
    assert {"gpu_greedy_by_breadth", "hill_climb_tvm"} <= refused
    assert comparison.best is not None


def test_when_the_time_is_over_no_further_planner_begins() -> None:
    def place(buffers: Sequence[Buffer], *, time_limit: float | None) -> Plan:
        raise AssertionError

    late = {"late": Planner("late", "", place)}
    (outcome,) = compare([Buffer(1, 0, 1)], "late", planners=late, time_limit=0).outcomes
    assert outcome.refusal == "the time was over before there was a plan"


def test_a_plan_that_cannot_be_judged_in_time_does_not_count() -> None:
    buffers = [Buffer(1, 0, 1)] * 64  # the clock is asked at every 64th
    with pytest.raises(NoPlanInTime):
        validate(buffers, Plan(tuple(range(64)), 64), Deadline(0))


@needs_native
def test_the_exact_planner_begins_with_the_best_plan_of_the_others() -> None:
    draw = random.Random(2)
    buffers = [Buffer(draw.randint(1, 999), start, start + draw.randint(1, 9)) for start in range(2_100)]
    comparison = compare(buffers, ["exact", "greedy", "hill_climb"], time_limit=3.0)
    exact, *others = comparison.outcomes
    assert exact.plan is not None
    assert all(other.plan is not None and exact.plan.peak <= other.plan.peak for other in others)


def test_a_planner_takes_as_many_buffers_as_it_says_and_no_more():
    place = Planner("few", "", PLANNERS["linear"].place, most_buffers=2)
    assert place([Buffer(8, 0, 1)] * 2).peak == 16
    with pytest.raises(UsageError, match=r"^few would take minutes with more than 2 buffers$"):
        place([Buffer(8, 0, 1)] * 3)
    limits = {name: place.most_buffers for name, place in PLANNERS.items() if place.most_buffers is not None}
    assert limits == {"gpu_mincostflow": 1000}


def test_the_best_of_the_quick_ones_stops_at_the_bound_and_begins_with_greedy(monkeypatch):
    asked = []

    def placing(name, peak):
        def place(buffers, *, time_limit):
            asked.append((name, time_limit is None))
            return Plan((0,), peak)

        return place

    monkeypatch.setattr(best_of.greedy, "plan", placing("greedy", 12))
    monkeypatch.setattr(best_of, "_PLANNERS", (placing("second", 8), placing("third", 10)))
    monkeypatch.setattr(best_of.hill_climb, "plan", placing("hill_climb", 9))
    free, fixed = [Buffer(8, 0, 1)], [Buffer(8, 0, 1, offset=0)]
    assert best_of.plan(free).peak == 8
    assert asked == [("greedy", True), ("second", True)]
    asked.clear()
    assert best_of.plan(fixed).peak == 9  # Of the others none keeps fixed offsets.
    assert [name for name, _ in asked] == ["greedy", "hill_climb"]
    asked.clear()
    assert best_of.plan([Buffer(7, 0, 1)]).peak == 8
    assert [name for name, _ in asked] == ["greedy", "second", "third", "hill_climb"]


def test_findings_of_a_plan_stand_in_its_row():
    comparison = compare([Buffer(8, 0, 1, offset=0), Buffer(8, 0, 1, offset=4)], ["greedy"])
    (outcome,) = comparison.outcomes
    text = html.unescape(comparison._repr_html_())
    assert outcome.refusal == ""
    assert outcome.findings[0].message in text
    assert "12 B" in text  # Its peak all the same.
