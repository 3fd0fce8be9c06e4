"""graph_info_test.cc @ f67457790 as data, and what this module adds."""

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.graph_info import GraphInfo, TfLiteNode, TfLiteTensor
from tflm_sim.extensions.lite.partition import NodeSubset, partition


def graph(inputs, outputs, nodes, skipped=0):
    """Return a graph of nodes (inputs, outputs[, might have side effects]), behind ``skipped`` that do not run."""
    made = [TfLiteNode((), ()) for _ in range(skipped)]
    made += [TfLiteNode(tuple(node[0]), tuple(node[1]), might_have_side_effect=node[2:] == (True,)) for node in nodes]
    used = [*inputs, *outputs, *(index for node in made for index in (*node.inputs, *node.outputs))]
    tensors = [TfLiteTensor() for _ in range(max(used, default=-1) + 1)]
    return GraphInfo(tensors, made, tuple(inputs), tuple(outputs), (), list(range(skipped, len(made))))


def subsets(*rows):
    """Return the subsets of (is delegated, nodes, input tensors, output tensors)."""
    return [NodeSubset(is_delegated, *map(tuple, lists)) for is_delegated, *lists in rows]


FORK = ([0], [2, 3], [([0], [1]), ([1], [2]), ([1], [3])])
COMPLEX = ([0], [4, 7], [([0], [1]), ([1], [2, 5]), ([2], [3]), ([3], [4]), ([5], [6]), ([6], [7])])
CASES = {
    "Nodes0PartitionNodes0": (([], [], []), [], True, []),
    "Nodes0PartitionNodes0Tensors1": (([0], [0], []), [], True, []),
    "Nodes1PartitionNodes0": (([0], [1], [([0], [1])]), [], True, [(False, [0], [0], [1])]),
    "Nodes1PartitionNodes0_WithOffset": (([0], [1], [([0], [1])], 17), [], True, [(False, [17], [0], [1])]),
    "Nodes1PartitionNodes0Inputs0": (([], [0], [([], [0])]), [0], True, [(True, [0], [], [0])]),
    "Nodes1PartitionNodes1": (([0], [1], [([0], [1])]), [0], True, [(True, [0], [0], [1])]),
    "Nodes2PartitionNodes1": (
        ([0], [2], [([0], [1]), ([1], [2])]),
        [1],
        True,
        [(False, [0], [0], [1]), (True, [1], [1], [2])],
    ),
    "Nodes2PartitionNodes1_WithOffset": (
        ([0], [2], [([0], [1]), ([1], [2])], 17),
        [18],
        True,
        [(False, [17], [0], [1]), (True, [18], [1], [2])],
    ),
    "Nodes2PartitionNodes2": (([0], [2], [([0], [1]), ([1], [2])]), [0, 1], True, [(True, [0, 1], [0], [2])]),
    "Nodes3PartitionNodes2": (
        ([0], [3], [([0], [1]), ([1], [2]), ([1, 2], [3])]),
        [0, 2],
        True,
        [(True, [0], [0], [1]), (False, [1], [1], [2]), (True, [2], [1, 2], [3])],
    ),
    "Nodes3PartitionNodes2Greedily": (FORK, [0, 2], True, [(True, [0, 2], [0], [1, 3]), (False, [1], [1], [2])]),
    "Nodes3PartitionNodes2ClusteredNonGreedily": (
        FORK,
        [0, 2],
        False,
        [(True, [0], [0], [1]), (False, [1], [1], [2]), (True, [2], [1], [3])],
    ),
    "Nodes4PartitionNodes3_WithControlDependency": (
        ([0], [4], [([0], [1], True), ([1], [2], True), ([2], [3]), ([1, 3], [], True), ([1], [4], True)]),
        [0, 1, 3, 4],
        True,
        [(True, [0, 1], [0], [1, 2]), (False, [2], [2], [3]), (True, [3, 4], [1, 3], [4])],
    ),
    "ComplexGreedily": (COMPLEX, [0, 1, 4, 5], True, [(True, [0, 1, 4, 5], [0], [2, 7]), (False, [2, 3], [2], [4])]),
    "ComplexNonGreedily": (
        COMPLEX,
        [0, 1, 4, 5],
        False,
        [(True, [0, 1], [0], [2, 5]), (False, [2, 3], [2], [4]), (True, [4, 5], [5], [7])],
    ),
}


@pytest.mark.parametrize(("description", "delegated", "greedily", "expected"), CASES.values(), ids=CASES)
def test_upstreams_partitions(description, delegated, greedily, expected):
    assert partition(graph(*description), delegated, greedily=greedily) == subsets(*expected)


def test_external_control_edges_order_nodes_that_have_no_data_between_them():
    nodes = [([0], [1]), ([1], [2]), ([2], [3]), ([1, 3], []), ([1], [4])]
    found = partition(graph([0], [4], nodes), [0, 1, 3, 4], control_edges=[(0, 1), (1, 3), (3, 4)])
    assert found == subsets((True, [0, 1], [0], [1, 2]), (False, [2], [2], [3]), (True, [3, 4], [1, 3], [4]))


TWO = graph([0], [2], [([0], [1]), ([1], [2])])


@pytest.mark.parametrize("edge", [(-1, 0), (0, -1), (2, 0), (0, 2)])
def test_control_edges_of_nodes_that_do_not_exist_are_refused(edge):
    with pytest.raises(PlanningError):
        partition(TWO, [0], control_edges=[edge])


def test_delegated_nodes_that_do_not_exist_are_refused():
    with pytest.raises(PlanningError):
        partition(TWO, [2])


def test_nodes_that_wait_for_themselves_are_refused():
    with pytest.raises(PlanningError):
        partition(graph([0, 1], [2], [([0], [2]), ([1], [3])]), [0, 1], control_edges=[(1, 1)])


def test_without_fusion_every_node_is_a_subset():
    assert [subset.nodes for subset in partition(TWO, [0, 1], fuses_nodes=False)] == [(0,), (1,)]


def test_optional_tensors_are_never_waited_for():
    assert partition(graph([0], [1], [([0, -1], [1, -1])]), [0]) == subsets((True, [0], [0], [1]))


# f(x) = sin(x) + x + sin(2 x):  X -> SIN1 -> ADD1 -> ADD2,  X -> ADD1,  X -> MUL -> SIN2 -> ADD2 -> Y
X, TWO_, S1, A1, M, S2, Y = range(7)
SIN1, ADD1, MUL, SIN2, ADD2 = range(5)
SINES = graph([X], [Y], [([X], [S1]), ([S1, X], [A1]), ([X, TWO_], [M]), ([M], [S2]), ([A1, S2], [Y])])


def test_the_five_nodes_of_two_sines_are_four_subsets():
    assert partition(SINES, [SIN1, SIN2]) == subsets(
        (True, [SIN1], [X], [S1]),
        (False, [ADD1, MUL], [X, TWO_, S1], [A1, M]),
        (True, [SIN2], [M], [S2]),
        (False, [ADD2], [A1, S2], [Y]),
    )
