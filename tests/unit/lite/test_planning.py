import pytest

from tflm_sim.errors import UsageError
from tflm_sim.lite.arena_planner import ArenaPlanner
from tflm_sim.lite.graph_info import GraphInfo, InplaceOperator, TfLiteNode, TfLiteRegistration, TfLiteTensor
from tflm_sim.lite.planning import plan, planned_problem
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.validate import validate


def test_what_lives_throughout_comes_first_and_the_rest_by_size():
    buffers = [Buffer(10, 0, 2), Buffer(30, 1, 3), Buffer(5, 0, 3)]
    assert plan(buffers) == Plan((35, 5, 0), 45)


def test_buffers_that_do_not_meet_share_bytes():
    assert plan([Buffer(100, 0, 1, 64), Buffer(100, 1, 2, 64), Buffer(10, 0, 2, 64)]) == Plan((64, 64, 0), 164)


def test_no_buffers_are_an_empty_plan():
    assert plan([]) == Plan((), 0)


def test_fixed_offsets_are_refused():
    with pytest.raises(UsageError):
        plan([Buffer(4, 0, 1, offset=16)])


def test_a_planned_graph_is_a_problem_with_a_valid_plan():
    shares = TfLiteRegistration(inplace_operator=InplaceOperator.INPUT0_SHARED)
    nodes = [TfLiteNode((0,), (1,)), TfLiteNode((1,), (2,), registration=shares), TfLiteNode((2,), (3,))]
    graph = GraphInfo(
        [TfLiteTensor(100, name="in"), *(TfLiteTensor(100) for _ in range(3))], nodes, (0,), (3,), (), [0, 1, 2]
    )
    planner = ArenaPlanner(graph)
    planner.plan_allocations()
    planner.execute_allocations(0, 2)
    problem, placed = planned_problem(planner, title="chain")
    assert [buffer.name for buffer in problem.buffers] == ["in", "tensor 1", "tensor 3"]
    assert problem.buffers == (Buffer(100, 0, 3, 64), Buffer(100, 0, 3, 64), Buffer(100, 2, 3, 64))
    assert placed == Plan((0, 128, 256), 356)
    assert validate(problem.buffers, placed) == []
