"""Upstream's own cases: arena_planner_test.cc and arena_planner_subgraph_test.cc @ f67457790."""

import json
from pathlib import Path

import pytest
from recorded_graph import graph_from_json

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.arena_planner import ArenaPlanner
from tflm_sim.extensions.lite.graph_info import AllocationType, GraphInfo
from tflm_sim.extensions.lite.simple_memory_arena import SimpleMemoryArena

CASES = Path(__file__).parents[3] / "shared/planners/arena_planner_cases.json"
pytestmark = pytest.mark.shared("planners")


def cases(kind):
    return json.loads(CASES.read_text())[kind] if CASES.exists() else []


def name(case):
    return case["test"]


class PlannerTest:
    """Upstream's fixture: one graph, one planner, and the steps of a test."""

    def __init__(self, graph, alignment):
        self.graph = graph
        self.alignment = alignment
        self.planner = None
        self.addresses = {}

    def offset(self, index):
        return self.graph.tensors[index].offset or 0  # a null pointer and a null base: upstream's GetOffset is 0

    def offset_after(self, index):
        end = self.offset(index) + self.graph.tensors[index].size
        return -(-end // 4) * 4

    def value(self, term):
        return term if isinstance(term, int) else getattr(self, term[0])(term[1])

    def step(self, word, *arguments):
        getattr(self, word)(*arguments)

    def set_bytes(self, index, size):
        self.graph.tensors[index].size = size

    def add_bytes(self, index, size):
        self.graph.tensors[index].size += size

    def set_allocation_type(self, index, allocation_type):
        self.graph.tensors[index].allocation_type = AllocationType(allocation_type)

    def set_variables(self, variables):
        self.graph.variables = tuple(variables)

    def set_graph_and_plan(self, options):
        for tensor in self.graph.tensors:
            tensor.offset = None
        self.planner = ArenaPlanner(
            self.graph, tensor_alignment=self.alignment, preserves_all_tensors=options["preserve_all_tensors"]
        )
        self.planner.plan_allocations()

    def swap_graph(self, graph: GraphInfo):
        self.graph = self.planner.graph = graph
        self.planner.plan_allocations()

    def execute(self, first, last):
        self.planner.execute_allocations(first, len(self.graph.execution_plan) - 1 if last == "last" else last)
        for index, tensor in enumerate(self.graph.tensors):
            self.addresses.setdefault(index, (tensor.allocation_type, tensor.offset))

    def reset_allocations(self):
        self.planner.reset_allocations()

    def reset_allocations_after(self, node):
        self.planner.reset_allocations_after(node)

    def acquire_nonpersistent(self):
        self.planner.acquire_nonpersistent_memory()

    def release_nonpersistent(self):
        self.planner.release_nonpersistent_memory()

    def expect_eq(self, left, right):
        assert self.value(left) == self.value(right)

    def expect_ne(self, left, right):
        assert self.value(left) != self.value(right)

    def expect_unallocated(self, index, expected):
        assert (self.graph.tensors[index].offset is None) == expected

    def expect_has_nonpersistent_memory(self, expected):
        assert self.planner.has_nonpersistent_memory == expected

    def expect_different_addresses(self, left, right, _why):
        first, second = self.graph.tensors[left], self.graph.tensors[right]
        assert first.offset == second.offset
        assert first.allocation_type is not second.allocation_type

    def expect_pointer_unchanged_since_first_execute(self, index):
        tensor = self.graph.tensors[index]
        assert (tensor.allocation_type, tensor.offset) == self.addresses[index]

    def expect_distinct_offset_count(self, indices, count):
        assert len({self.offset(index) for index in indices}) == count


@pytest.mark.parametrize("case", cases("arena_planner_test") + cases("arena_planner_subgraph_test"), ids=name)
def test_arena_planner(case):
    run = PlannerTest(graph_from_json(case["graph"]), case["graph"]["alignment"])
    states = [answer for answers in case["observed"] for answer in answers if answer["op"] == "dump"]
    for word, *arguments in case["steps"]:
        if word == "swap_graph_and_plan":
            run.swap_graph(graph_from_json(arguments[0]))
        else:
            run.step(word, *arguments)
        if word in ("execute", "reset_allocations_after", "acquire_nonpersistent", "release_nonpersistent"):
            observed = states.pop(0)
            assert [tensor.offset for tensor in run.graph.tensors] == observed["offsets"]
            assert run.planner.arena.buffer_size == observed["arena_size"]
            assert run.planner.persistent_arena.buffer_size == observed["persistent_size"]
    assert not states


def test_a_failed_resize_preserves_the_buffer():
    arena = SimpleMemoryArena(64)
    arena.allocate(128, 64, tensor=0, first_node=0, last_node=0)
    assert arena.commit()
    arena.buffer[:4] = b"kept"
    arena.allocate(2**64 - 1 - 128, 64, tensor=1, first_node=0, last_node=0)
    with pytest.raises(PlanningError):
        arena.commit()
    assert arena.buffer_size == 128
    assert arena.buffer[:4] == b"kept"
