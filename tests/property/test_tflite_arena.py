"""Invariant: whatever the graph, no two tensors of TFLite's arenas that are in use together share a byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.arena_planner import ArenaPlanner
from tflm_sim.extensions.lite.earlier_planners import QueueArenaPlanner
from tflm_sim.extensions.lite.graph_info import (
    AllocationType,
    GraphInfo,
    InplaceOperator,
    TfLiteNode,
    TfLiteRegistration,
    TfLiteTensor,
)
from tflm_sim.extensions.lite.planning import plan
from tflm_sim.extensions.lite.simple_memory_arena import ArenaAlloc, SimpleMemoryArena
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.validate import validate

SIZES = st.integers(0, 200) | st.sampled_from([4, 64, 128])
FLAGS = st.integers(0, 31).map(InplaceOperator)
TYPES = st.sampled_from([AllocationType.ARENA_RW] * 6 + [AllocationType.MMAP_RO, AllocationType.DYNAMIC])


@st.composite
def graphs(draw, types=TYPES, flags=FLAGS, sizes=SIZES, has_temporaries=True):
    """Draw a graph in which every tensor is written once, before it is read."""
    graph = GraphInfo()

    def tensor(allocation_type):
        graph.tensors.append(TfLiteTensor(draw(sizes), allocation_type))
        return len(graph.tensors) - 1

    count = draw(st.integers(1, 3))
    graph.inputs = tuple(tensor(AllocationType.ARENA_RW) for _ in range(count))
    for _ in range(draw(st.integers(0, 8))):
        known = [-1, *range(len(graph.tensors))]
        inputs = draw(st.lists(st.sampled_from(known), max_size=3))
        outputs = [tensor(draw(types)) for _ in range(draw(st.integers(1, 2)))]
        temporaries = [
            tensor(AllocationType.ARENA_RW) for _ in range(draw(st.integers(0, 2)) if has_temporaries else 0)
        ]
        registration = TfLiteRegistration(inplace_operator=draw(flags))
        graph.nodes.append(TfLiteNode(tuple(inputs), tuple(outputs), tuple(temporaries), registration=registration))
    graph.execution_plan = list(range(len(graph.nodes)))
    written = sorted({index for node in graph.nodes for index in node.outputs})
    graph.outputs = tuple(draw(st.lists(st.sampled_from(written), max_size=3, unique=True))) if written else ()
    if draw(st.booleans()):
        graph.variables = (tensor(AllocationType.ARENA_RW_PERSISTENT),)
    return graph


def check(planner):
    last, buffers, offsets = max(len(planner.graph.execution_plan) - 1, 0), [], []
    for tensor, alloc in zip(planner.graph.tensors, planner.allocs, strict=True):
        if tensor.allocation_type is AllocationType.ARENA_RW and alloc.size:
            upper = min(alloc.last_node, last) + 1
            buffers.append(Buffer(alloc.size, alloc.first_node, upper, planner.tensor_alignment))
            offsets.append(alloc.offset)
    placed = plan_of(buffers, offsets)
    assert validate(buffers, placed) == []
    assert placed.peak <= planner.arena.high_water_mark
    assert lower_bound(buffers) <= planner.arena.high_water_mark
    for tensor in planner.graph.tensors:
        assert tensor.offset is None or tensor.offset % planner.tensor_alignment == 0


@given(graphs(), st.booleans(), st.sampled_from([1, 4, 64]))
def test_a_graph_that_is_planned_at_once_has_a_valid_plan(graph, preserves, alignment):
    planner = ArenaPlanner(graph, preserves_all_tensors=preserves, tensor_alignment=alignment)
    planner.plan_allocations()
    planner.execute_allocations(0, max(len(graph.nodes) - 1, 0))
    check(planner)


@given(graphs(), st.data())
def test_a_graph_that_is_planned_step_by_step_has_a_valid_plan(graph, data):
    planner = ArenaPlanner(graph)
    planner.plan_allocations()
    first = 0
    while first < len(graph.nodes):
        last = data.draw(st.integers(first, len(graph.nodes) - 1))
        planner.execute_allocations(first, last)
        first = last + 1
    check(planner)


@given(graphs(), st.data())
def test_planning_again_after_a_node_leaves_a_valid_plan(graph, data):
    planner = ArenaPlanner(graph)
    planner.plan_allocations()
    last = max(len(graph.nodes) - 1, 0)
    planner.execute_allocations(0, last)
    again = data.draw(st.integers(0, last))
    planner.reset_allocations_after(again)
    if again < last:
        planner.execute_allocations(again + 1, last)
        check(planner)


@given(
    st.lists(
        st.builds(
            lambda size, first, length: Buffer(size, first, first + length + 1, 16),
            SIZES,
            st.integers(0, 9),
            st.integers(0, 5),
        )
    )
)
def test_any_buffers_get_a_valid_plan(buffers):
    placed = plan(buffers)
    assert validate(buffers, placed) == []
    assert placed.peak >= lower_bound(buffers)


OVERWRITES = st.sampled_from([InplaceOperator.NONE, InplaceOperator.INPUT0_SHARED, InplaceOperator.INPUT1_SHARED])


def running(graph, preserves):
    """Return the subgraph of ``graph`` with a kernel that mixes the bytes of its inputs into those of its outputs."""

    def invoke(subgraph, node):
        present = [bytes(subgraph.data(index) or b"") for index in node.inputs if index >= 0]
        total = sum((place + 1) * value for place, data in enumerate(present) for value in data)
        for number, index in enumerate(node.outputs):
            view = subgraph.data(index)
            if view is not None:
                view[:] = bytes((total + number + place) % 251 for place in range(len(view)))
        for index in node.temporaries:
            view = subgraph.data(index)
            if view is not None:
                view[:] = b"\xff" * len(view)

    subgraph = TfLiteSubgraph(preserves_all_tensors=preserves)
    for tensor in graph.tensors:
        subgraph.add_tensor(TfLiteTensor(tensor.size, tensor.allocation_type))
    subgraph.inputs, subgraph.outputs, subgraph.variables = graph.inputs, graph.outputs, graph.variables
    for node in graph.nodes:
        registration = TfLiteRegistration(inplace_operator=node.registration.inplace_operator, invoke=invoke)
        index = subgraph.add_node(registration, node.inputs, node.outputs)
        subgraph.nodes[index].temporaries = node.temporaries
    subgraph.allocate_tensors()
    return subgraph


def results(graph, preserves):
    subgraph = running(graph, preserves)
    for index in graph.inputs:
        view = subgraph.data(index)
        if view is not None:
            view[:] = bytes(place % 7 for place in range(len(view)))
    subgraph.invoke()
    return [bytes(subgraph.data(index) or b"") for index in graph.outputs]


@settings(max_examples=60)
@given(graphs(types=st.just(AllocationType.ARENA_RW), flags=OVERWRITES, sizes=st.sampled_from([0, 4, 32, 100])))
def test_a_model_computes_the_same_in_a_shared_arena_as_in_one_that_preserves_all_tensors(graph):
    graph.variables = ()
    written = {index for node in graph.nodes for index in node.outputs} | set(graph.inputs)
    temporaries = {index for node in graph.nodes for index in node.temporaries}
    for node in graph.nodes:
        node.inputs = tuple(index for index in node.inputs if index in written and index not in temporaries)
    assert results(graph, preserves=False) == results(graph, preserves=True)


STEPS = st.lists(
    st.tuples(st.sampled_from(["allocate", "commit", "purge_active_allocs", "reset_allocs"]), SIZES, st.integers(0, 5))
)


@given(STEPS)
def test_allocations_that_meet_never_share_bytes_and_resolve_after_commit(steps):
    arena = SimpleMemoryArena()
    made = []
    for operation, size, node in steps:
        if operation == "allocate":
            alloc = arena.allocate(size, 16, tensor=len(made), first_node=node, last_node=node + 2)
            made.append(alloc)
        elif operation == "commit":
            arena.commit()
            assert arena.buffer_size >= arena.high_water_mark
            for alloc in made:
                assert arena.resolve_alloc(alloc) == (alloc.offset if alloc.size else None)
        elif operation == "purge_active_allocs":
            arena.purge_active_allocs(node)
        else:
            arena.reset_allocs()
        active = arena.active_allocs
        assert active == sorted(active, key=lambda alloc: alloc.offset)
        buffers = [Buffer(alloc.size, alloc.first_node, alloc.last_node + 1, 16) for alloc in active]
        assert validate(buffers, plan_of(buffers, [alloc.offset for alloc in active])) == []


@given(SIZES)
def test_nothing_resolves_before_commit(size):
    with pytest.raises(PlanningError):
        SimpleMemoryArena().resolve_alloc(ArenaAlloc(0, size, 0, 0, 0))


@given(graphs(flags=st.just(InplaceOperator.NONE)), st.booleans(), st.booleans())
def test_the_older_planner_keeps_tensors_apart_too(graph, preserves_inputs, preserves_intermediates):
    planner = QueueArenaPlanner(
        graph, preserves_inputs=preserves_inputs, preserves_intermediates=preserves_intermediates, tensor_alignment=4
    )
    planner.plan_allocations()
    last = max(len(graph.nodes) - 1, 0)
    temporaries = {index: number for number, node in enumerate(graph.nodes) for index in node.temporaries}
    planner.execute_allocations(0, last)
    begins = {entry.tensor: entry.node for entry in planner.queue if entry.is_allocation} | temporaries
    ends = {entry.tensor: entry.node for entry in planner.queue if not entry.is_allocation} | temporaries
    buffers, offsets = [], []
    for index, tensor in enumerate(graph.tensors):
        if tensor.allocation_type is AllocationType.ARENA_RW and tensor.offset is not None and index in begins:
            buffers.append(Buffer(tensor.size, begins[index], ends.get(index, last) + 1, 4))
            offsets.append(tensor.offset)
    assert validate(buffers, plan_of(buffers, offsets)) == []
