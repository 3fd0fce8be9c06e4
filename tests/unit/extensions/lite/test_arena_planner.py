import pytest

from tflm_sim.errors import PlanningError, UsageError
from tflm_sim.extensions.lite.arena_planner import ArenaPlanner
from tflm_sim.extensions.lite.graph_info import (
    AllocationType,
    GraphInfo,
    InplaceOperator,
    TfLiteNode,
    TfLiteRegistration,
    TfLiteTensor,
)
from tflm_sim.extensions.lite.simple_memory_arena import NODE_NOT_ASSIGNED

OVERWRITES = TfLiteRegistration(inplace_operator=InplaceOperator.INPUT0_SHARED)

# Six nodes and five intermediate tensors of i > v > ii > iv > iii bytes:
#
#   in -> (0) -i-> (1) -ii-> (2) -iii-----------> (5) -> out
#                     `-ii-> (3) -v-> (4) -iv---> (5)
IN, I_, II, III, IV, V_, OUT = range(7)
SIX_NODES = [
    TfLiteNode((IN,), (I_,)),
    TfLiteNode((I_,), (II,)),
    TfLiteNode((II,), (III,)),
    TfLiteNode((II,), (V_,)),
    TfLiteNode((V_,), (IV,)),
    TfLiteNode((III, IV), (OUT,)),
]
SIZES = {IN: 64, I_: 320, II: 192, III: 64, IV: 128, V_: 256, OUT: 32}


def six_nodes(sizes, **options):
    graph = GraphInfo([TfLiteTensor(sizes[index]) for index in range(7)], SIX_NODES, (IN,), (OUT,), (), list(range(6)))
    planner = ArenaPlanner(graph, **options)
    planner.plan_allocations()
    planner.execute_allocations(0, 5)
    return planner


def offsets(planner):
    return [tensor.offset for tensor in planner.graph.tensors]


PICTURE = """
  576 |              iii   iii   iii   iii
  512 |        ii    ii    ii
  448 |        ii    ii    ii          out
  384 |        ii    ii    ii    iv    iv
  320 |  i     i                 iv    iv
  256 |  i     i           v     v
  192 |  i     i           v     v
  128 |  i     i           v     v
   64 |  i     i           v     v
    0 |  in    in    in    in    in    in
node     0     1     2     3     4     5
"""


def picture(planner):
    """Return which tensor is in each 64 bytes at each node, the highest bytes first."""
    names = ("in", "i", "ii", "iii", "iv", "v", "out")
    cells = {
        (row, node): names[alloc.tensor]
        for alloc in planner.allocs
        for row in range(alloc.offset // 64, -(-alloc.end // 64))
        for node in range(alloc.first_node, min(alloc.last_node, 5) + 1)
    }
    rows = [f"{row * 64:5} |  " + "".join(f"{cells.get((row, node), ''):6}" for node in range(6)) for row in range(10)]
    lines = [*reversed(rows), "node     " + "".join(f"{node:<6}" for node in range(6))]
    return "\n" + "".join(f"{line.rstrip()}\n" for line in lines)


def test_the_worked_example_shares_bytes_between_tensors_that_do_not_meet():
    planner = six_nodes(SIZES)
    assert planner.alloc_node == [0, 0, 1, 2, 4, 3, 5]
    assert planner.dealloc_node == [NODE_NOT_ASSIGNED, 1, 3, 5, 5, 4, NODE_NOT_ASSIGNED]
    placed = dict(zip(("in", "i", "ii", "iii", "iv", "v", "out"), offsets(planner), strict=True))
    assert placed == {
        "in": 0,
        "i": 64,
        "v": 64,  # does not meet i: the same place
        "ii": 64 + 320,  # meets i and v: above the higher, i
        "iv": 64 + 256,  # meets v only: above v, where ii was
        "iii": 64 + 320 + 192,  # meets v, iv and ii: above the highest, ii
        "out": 64 + 256 + 128,  # between iv and iii, which fits better than below iv; today it does not stand in front
    }
    assert planner.arena.high_water_mark == 64 + 320 + 192 + 64  # in + i + ii + iii
    assert picture(planner) == PICTURE


def test_in_the_worked_example_a_small_tensor_jumps_the_queue_when_the_first_is_very_large():
    planner = six_nodes(SIZES | {I_: 1024})
    assert planner.graph.tensors[II].offset == 64 + 1024
    assert planner.graph.tensors[III].offset == 64 + 256 + 128  # between iv and ii
    assert planner.arena.high_water_mark == 64 + 1024 + 192


def test_in_the_worked_example_all_tensors_can_be_preserved():
    planner = six_nodes(SIZES, preserves_all_tensors=True)
    assert offsets(planner) == [0, 64, 640, 960, 832, 384, 1024]  # in, i, v, ii, iv, iii, out, one after the other
    assert planner.arena.high_water_mark == sum(SIZES.values())


def chain(sizes, registrations, **options):
    """Return the planner of tensors in a row, each made from the one before."""
    nodes = [
        TfLiteNode((index,), (index + 1,), registration=registration)
        for index, registration in enumerate(registrations)
    ]
    count = len(nodes)
    graph = GraphInfo([TfLiteTensor(size) for size in sizes], nodes, (0,), (count,), (), list(range(count)))
    return ArenaPlanner(graph, **options)


def test_an_output_takes_the_bytes_of_an_input_that_nobody_else_reads():
    planner = chain([100] * 5, [TfLiteRegistration(), OVERWRITES, OVERWRITES, TfLiteRegistration()])
    planner.plan_allocations()
    planner.execute_allocations(0, 3)
    assert planner.shared_with == {2: 1, 3: 1}
    assert offsets(planner) == [0, 128, 128, 128, 256]


def test_upstream_overwrites_what_another_view_still_shows():
    # 2 and 3 are views of 1. Node 3 may overwrite 3: nobody else reads 3, and 1 has one reader. But node 4 reads 2.
    view = TfLiteRegistration(inplace_operator=InplaceOperator.INPUT0_SHARED | InplaceOperator.DATA_UNMODIFIED)
    nodes = [
        TfLiteNode((0,), (1,)),
        TfLiteNode((1,), (2,), registration=view),
        TfLiteNode((2,), (3,), registration=view),
        TfLiteNode((3,), (4,), registration=OVERWRITES),
        TfLiteNode((2, 4), (5,)),
    ]
    planner = ArenaPlanner(GraphInfo([TfLiteTensor(100) for _ in range(6)], nodes, (0,), (5,), (), list(range(5))))
    planner.plan_allocations()
    planner.execute_allocations(0, 4)
    assert offsets(planner)[1:5] == [128] * 4


def test_sharing_is_dropped_when_sizes_differ_later():
    planner = chain([100] * 4, [TfLiteRegistration(), OVERWRITES, TfLiteRegistration()])
    planner.plan_allocations()
    planner.graph.tensors[2].size = 200
    planner.execute_allocations(0, 2)
    assert planner.shared_with == {}
    assert offsets(planner) == [0, 384, 128, 512]  # 2 is the largest; 1 meets it, and so does 3


def test_tensors_that_share_in_a_circle_are_an_endless_recursion():
    # 2 and 3 use the bytes of 1; then 1 is written again and uses those of 4, and 4 those of 3, which is 1.
    edges = [(1, 2), (2, 3), (4, 1), (3, 4)]
    nodes = [
        TfLiteNode((0,), (1,)),
        *(TfLiteNode((before,), (after,), registration=OVERWRITES) for before, after in edges),
    ]
    graph = GraphInfo(
        [TfLiteTensor(64) for _ in range(6)], [*nodes, TfLiteNode((0,), (5,))], (0,), (5,), (), list(range(6))
    )
    planner = ArenaPlanner(graph)
    planner.plan_allocations()
    assert planner.shared_with == {2: 1, 3: 1, 1: 4, 4: 1}
    with pytest.raises(PlanningError) as error:
        planner.execute_allocations(0, 5)
    assert error.value.status == "abort"


def test_variables_live_in_the_persistent_arena_and_stay_there():
    planner = chain([64, 64, 64], [TfLiteRegistration(), TfLiteRegistration()])
    planner.graph.tensors.append(TfLiteTensor(10, AllocationType.ARENA_RW_PERSISTENT, is_variable=True))
    planner.graph.variables = (3,)
    planner.plan_allocations()
    planner.execute_allocations(0, 1)
    assert planner.persistent_arena.buffer_size == 10
    planner.reset_allocations_after(0)
    assert offsets(planner) == [0, 64, None, 0]


def test_a_variable_must_not_be_an_optional_tensor():
    planner = chain([64, 64], [TfLiteRegistration()])
    planner.graph.variables = (-1,)
    with pytest.raises(PlanningError):
        planner.plan_allocations()


def test_temporaries_of_a_prepare_are_placed_although_they_came_after_the_plan():
    planner = chain([64, 64, 64], [TfLiteRegistration(), TfLiteRegistration()])
    planner.plan_allocations()
    planner.graph.tensors.append(TfLiteTensor(128))
    planner.graph.nodes[1].temporaries = (3,)
    planner.execute_allocations(0, 1)
    assert offsets(planner) == [0, 192, 256, 64]


@pytest.mark.parametrize(("first", "last"), [(-1, 0), (0, 2)])
def test_nodes_that_do_not_exist_cannot_be_planned(first, last):
    planner = chain([64, 64, 64], [TfLiteRegistration(), TfLiteRegistration()])
    planner.plan_allocations()
    with pytest.raises(UsageError):
        planner.execute_allocations(first, last)


def test_tensors_must_not_vanish():
    planner = chain([64, 64, 64], [TfLiteRegistration(), TfLiteRegistration()])
    planner.plan_allocations()
    planner.graph.tensors.pop()
    with pytest.raises(PlanningError):
        planner.execute_allocations(0, 1)
