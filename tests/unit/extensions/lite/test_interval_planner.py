"""The planner of 2020 to 2022: arena_planner_test.cc of its time, tensor i of 3 * (i + 1) bytes, an alignment of 4."""

import pytest

from tflm_sim.extensions.lite.earlier_planners import IntervalArenaPlanner
from tflm_sim.extensions.lite.graph_info import GraphInfo, InplaceOperator, TfLiteNode, TfLiteRegistration, TfLiteTensor

SIMPLE = [([0, 1], [2], []), ([2, 0], [4, 5], []), ([4, 5], [3], [])]
WITH_TEMPORARY = [([0, 1], [2], []), ([2, 0], [4], [5]), ([4], [3], [])]


def offsets(nodes, **options):
    made = [TfLiteNode(tuple(inputs), tuple(outputs), tuple(temporaries)) for inputs, outputs, temporaries in nodes]
    graph = GraphInfo([TfLiteTensor(3 * (index + 1)) for index in range(6)], made, (0, 1), (3,), (), [0, 1, 2])
    planner = IntervalArenaPlanner(graph, tensor_alignment=4, **options)
    planner.plan_allocations()
    planner.execute_allocations(0, 2)
    return [tensor.offset for tensor in graph.tensors]


@pytest.mark.parametrize(
    ("nodes", "options", "expected"),
    [
        # 5 of 18 bytes first, 4 of 15 above it at 20; 3 and 2 at 36 in turns; 0 above 2, which ends at 45; 1 below
        (SIMPLE, {"preserves_inputs": False}, [48, 0, 36, 36, 20, 0]),
        # 0 and 1 stay: 3 and 6 bytes, to 10; 5 at 12, 4 above its 30 at 32, then 2 and 3 above its 47
        (SIMPLE, {"preserves_inputs": True}, [0, 4, 48, 48, 32, 12]),
        (WITH_TEMPORARY, {"preserves_inputs": False}, [48, 0, 36, 0, 20, 0]),
    ],
)
def test_upstreams_graphs(nodes, options, expected):
    assert offsets(nodes, **options) == expected


def test_intermediates_are_kept_on_request_but_no_temporaries():
    kept = offsets(WITH_TEMPORARY, preserves_intermediates=True)
    # 0, 1 and 2 live throughout, to 21; the temporary 5 from 24 to 42, 4 above it; 3 where the temporary was
    assert kept == [0, 4, 12, 24, 44, 24]


def test_nothing_is_computed_in_place():
    in_place = TfLiteRegistration(inplace_operator=InplaceOperator.INPUT0_SHARED)
    nodes = [TfLiteNode((index,), (index + 1,), registration=in_place) for index in range(3)]
    graph = GraphInfo([TfLiteTensor(64) for _ in range(4)], nodes, (0,), (3,), (), [0, 1, 2])
    planner = IntervalArenaPlanner(graph)
    planner.plan_allocations()
    planner.execute_allocations(0, 2)
    # The input stays; today's planner has the rest in one place.
    assert [tensor.offset for tensor in graph.tensors] == [0, 64, 128, 64]
