"""The tests of the older planner that people quote: arena_planner_test.cc of its time."""

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.lite.earlier_planners import QueueArenaPlanner
from tflm_sim.extensions.lite.graph_info import AllocationType, GraphInfo, TfLiteNode, TfLiteTensor


def graph(inputs, nodes, outputs):
    """Return a graph whose tensor i has 3 * (i + 1) bytes, as upstream's TestGraph has."""
    made = [TfLiteNode(*map(tuple, node)) for node in nodes]
    used = [*inputs, *outputs, *(index for node in made for index in (*node.inputs, *node.outputs, *node.temporaries))]
    tensors = [TfLiteTensor(3 * (index + 1)) for index in range(max(used, default=-1) + 1)]
    return GraphInfo(tensors, made, tuple(inputs), tuple(outputs), (), list(range(len(made))))


def simple_graph(**options):
    return QueueArenaPlanner(graph([0, 1], [([0, 1], [2]), ([2, 0], [4, 5]), ([4, 5], [3])], [3]), **options)


def execute(planner, first=0, last=10):
    planner.plan_allocations()
    planner.execute_allocations(first, last)
    return planner.graph.tensors


def after(tensors, index):
    return -(-(tensors[index].offset + tensors[index].size) // 4) * 4


def queue(planner):
    return " ".join(map(str, planner.queue))


def test_simple_graph():
    planner = simple_graph()
    tensors = execute(planner)
    assert queue(planner) == "+0 +1 +2 -1 +4 +5 -2 -0 +3 -4 -5"
    assert [tensors[index].offset for index in (0, 1, 2)] == [0, 4, 12]  # 0 ends at 3, 1 at 10
    assert tensors[4].offset == after(tensors, 2)
    assert tensors[5].offset == after(tensors, 4)
    assert tensors[3].offset == 0


def test_simple_graph_inputs_preserved():
    planner = simple_graph(preserves_inputs=True)
    tensors = execute(planner)
    assert queue(planner) == "+0 +1 +2 +4 +5 -2 +3 -4 -5"
    for before, index in ((0, 1), (1, 2), (2, 4), (4, 5), (1, 3)):  # the output takes the place of tensor 2
        assert tensors[index].offset == after(tensors, before)


def test_intermediates_are_preserved_on_request():
    planner = simple_graph(preserves_inputs=True, preserves_intermediates=True)
    tensors = execute(planner)
    assert "-" not in queue(planner)
    assert len({tensor.offset for tensor in tensors}) == 6


def test_simple_graph_with_optionals():
    planner = QueueArenaPlanner(graph([0, -1, 1], [([0, 1], [2]), ([2, 0], [4, 5]), ([4, -1, 5], [3])], [3]))
    tensors = execute(planner)
    assert queue(planner) == "+0 +1 +2 -1 +4 +5 -2 -0 +3 -4 -5"
    for before, index in ((0, 1), (1, 2), (2, 4), (4, 5)):
        assert tensors[index].offset == after(tensors, before)
    assert (tensors[0].offset, tensors[3].offset) == (0, 0)


def test_simple_graph_with_persistent_tensor():
    # Chronologically: +0 +1 +2 -1 +5 +4 -2 -0 -5 +3 -4, with the temporary 5 around node 1.
    planner = QueueArenaPlanner(graph([0, -1, 1], [([0, 1], [2], []), ([2, 0], [4], [5]), ([4, -1], [3], [])], [3]))
    planner.graph.tensors[1].allocation_type = AllocationType.ARENA_RW_PERSISTENT
    tensors = execute(planner)
    assert (tensors[0].offset, tensors[1].offset) == (0, 0)  # in two arenas
    for before, index in ((0, 2), (2, 5), (5, 4)):
        assert tensors[index].offset == after(tensors, before)
    assert tensors[3].offset == 0


def test_planning_can_go_step_by_step():
    planner = simple_graph()
    planner.plan_allocations()
    planner.execute_allocations(0, 0)
    assert [tensor.offset for tensor in planner.graph.tensors] == [0, 4, 12, None, None, None]
    planner.execute_allocations(1, 1)
    planner.execute_allocations(2, 2)
    stepwise = [tensor.offset for tensor in planner.graph.tensors]
    assert stepwise == [tensor.offset for tensor in execute(simple_graph())]


def test_a_negative_node_is_refused():
    with pytest.raises(UsageError):
        simple_graph().execute_allocations(-1, 0)
