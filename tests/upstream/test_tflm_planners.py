"""Upstream's own planner tests: greedy_memory_planner_test.cc, linear_memory_planner_test.cc @ 90b983c."""

import json
from pathlib import Path

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners.greedy import GreedyMemoryPlanner, placement_order
from tflm_sim.planners.linear import LinearMemoryPlanner
from tflm_sim.planners.memory_planner import BufferRequirements

CASES = Path(__file__).parents[3] / "shared/planners/tflm_upstream_cases.json"
pytestmark = pytest.mark.shared("planners")


def planner_cases(kind):
    return json.loads(CASES.read_text())["planner_cases"][kind] if CASES.exists() else []


def name(case):
    return case.get("test", "")


def run(planner, case):
    planner.init(case["scratch_bytes"])
    for (size, first, last), status in zip(case["buffers"], case["add_status"], strict=True):
        if status == "kTfLiteOk":
            planner.add_buffer(size, first, last)
        else:
            with pytest.raises(PlanningError):
                planner.add_buffer(size, first, last)
    for index, offset in case["expect_offsets"].items():
        assert planner.offset_for_buffer(int(index)) == offset
    if "expect_max" in case:
        assert planner.maximum_memory_size() == case["expect_max"]
    if "expect_offset_error_index" in case:
        with pytest.raises(PlanningError):
            planner.offset_for_buffer(case["expect_offset_error_index"])


@pytest.mark.parametrize("case", planner_cases("greedy"), ids=name)
def test_greedy(case):
    planner = GreedyMemoryPlanner()
    run(planner, case)
    assert planner.do_any_buffers_overlap() == case.get("expect_any_overlap", False)
    assert planner.maximum_memory_size() == case.get("cpp_max", 100)  # TestSmallScratch: the one buffer that fits
    assert list(planner.offsets()) == case.get("cpp_offsets", [0])


@pytest.mark.parametrize("case", planner_cases("linear"), ids=name)
def test_linear(case):
    run(LinearMemoryPlanner(), case)


@pytest.mark.parametrize("case", planner_cases("reverse_sort_in_place"), ids=lambda case: f"n{len(case['values'])}")
def test_reverse_sort_in_place(case):
    # The planner sorts a table that it filled backwards; turned around, its order is that of the sort.
    count = len(case["values"])
    order = placement_order([BufferRequirements(size, -1, 0, 0) for size in reversed(case["values"])])
    assert [count - 1 - index for index in order] == case["expected_ids"]
