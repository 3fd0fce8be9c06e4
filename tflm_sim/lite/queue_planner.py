"""The older ``ArenaPlanner``: a chronological queue of allocations and deallocations, carried out in an older arena.

For the graph 0, 1 -> [2]; 2, 0 -> [4, 5]; 4, 5 -> [3] the queue is, allocations as + and deallocations as -::

    +0 +1   +2 -1   +4 +5 -2 -0   +3 -4 -5
    inputs  node 0  node 1        node 2

A node's temporaries are allocated before its outputs and freed before the next node's.

Source: tensorflow/lite/arena_planner.cc as of early 2020; planners have known usage intervals since then
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from tflm_sim.errors import UsageError
from tflm_sim.lite.graph_info import AllocationType, GraphInfo, present
from tflm_sim.lite.list_arena import ListAlloc, ListMemoryArena
from tflm_sim.values import dataclass


@dataclass(frozen=True, slots=True)
class QueuedAllocation:
    """An entry of the queue: ``node`` (its place in the execution plan) allocates or frees a tensor."""

    node: int
    tensor: int
    is_allocation: bool

    def __str__(self) -> str:
        return f"{'+' if self.is_allocation else '-'}{self.tensor}"


class QueueArenaPlanner:
    """The memory planner of one subgraph (mutable).

    Attributes:
        graph: Whose tensors it places, by setting their ``offset``.
        preserves_inputs: Whether the graph's inputs keep their bytes; invoking twice needs it.
        preserves_intermediates: Whether no tensor but temporaries is freed.
        arena: Where tensors of type ARENA_RW are.
        persistent_arena: Where tensors of type ARENA_RW_PERSISTENT are; nothing is freed there.
        queue: In the order of time.
    """

    def __init__(
        self,
        graph: GraphInfo,
        *,
        preserves_inputs: bool = False,
        preserves_intermediates: bool = False,
        tensor_alignment: int = 4,
    ) -> None:
        self.graph = graph
        self.preserves_inputs = preserves_inputs
        self.preserves_intermediates = preserves_intermediates
        self.arena = ListMemoryArena()
        self.persistent_arena = ListMemoryArena()
        self.queue: list[QueuedAllocation] = []
        self._allocs: list[ListAlloc] = []
        self._tensor_alignment = tensor_alignment

    def reset_allocations(self) -> None:
        """Forget where tensors are, but not the queue."""
        self.arena.clear_plan()
        self.persistent_arena.clear_plan()
        self._allocs = [ListAlloc()] * len(self.graph.tensors)

    def plan_allocations(self) -> None:
        """Fill the queue."""
        self.reset_allocations()
        self.queue = []
        graph, allocated = self.graph, set[int]()
        refcounts = [0] * len(graph.tensors)
        kept = chain(graph.outputs, graph.variables, graph.inputs if self.preserves_inputs else ())
        for index in present((*kept, *chain.from_iterable(node.inputs for node in graph.execution_nodes))):
            refcounts[index] += 1
        self._queue_allocations(0, present((*graph.inputs, *graph.variables)), allocated)
        for number, node in enumerate(graph.execution_nodes):
            self._queue_allocations(number, present(node.outputs), allocated)
            if not self.preserves_intermediates:
                self._queue_deallocations(number, present(node.inputs), allocated, refcounts)

    def _queue_allocations(self, node: int, indices: Iterable[int], allocated: set[int]) -> None:
        for index in indices:
            if index not in allocated:
                allocated.add(index)
                self.queue.append(QueuedAllocation(node, index, is_allocation=True))

    def _queue_deallocations(
        self, node: int, indices: Iterable[int], allocated: set[int], refcounts: list[int]
    ) -> None:
        for index in indices:
            refcounts[index] -= 1
            if refcounts[index] == 0 and index in allocated:
                self.queue.append(QueuedAllocation(node, index, is_allocation=False))

    def execute_allocations(self, first_node: int, last_node: int) -> None:
        """Carry out the queue from ``first_node`` to ``last_node``, inclusive; nodes above the last do not matter.

        Raises:
            PlanningError: The arena refuses.
            UsageError: A negative node, or the allocations were not planned.
        """
        if first_node < 0 or len(self._allocs) > len(self.graph.tensors):
            raise UsageError(f"nodes {first_node} to {last_node} are not nodes of the planned graph")
        self._allocs += [ListAlloc()] * (len(self.graph.tensors) - len(self._allocs))
        active_node = first_node
        for entry in self.queue:
            if not first_node <= entry.node <= last_node:
                continue
            if entry.node == active_node:
                if active_node != first_node:
                    self._deallocate(self._temporaries(active_node - 1))
                self._allocate(self._temporaries(active_node))
                active_node += 1
            (self._allocate if entry.is_allocation else self._deallocate)((entry.tensor,))
        if active_node > 0:
            self._deallocate(self._temporaries(active_node - 1))
        self.arena.commit()
        self.persistent_arena.commit()
        self._resolve()

    def _temporaries(self, node: int) -> tuple[int, ...]:
        nodes = self.graph.execution_nodes
        return nodes[node].temporaries if node < len(nodes) else ()

    def _allocate(self, indices: Iterable[int]) -> None:
        for index in indices:
            arena = self._arena(index)
            if arena is not None:
                self._allocs[index] = arena.allocate(self.graph.tensors[index].size, self._tensor_alignment)

    def _deallocate(self, indices: Iterable[int]) -> None:
        for index in indices:
            if self._arena(index) is self.arena:
                self.arena.deallocate(self._allocs[index])

    def _resolve(self) -> None:
        for index, alloc in enumerate(self._allocs):
            arena = self._arena(index)
            if arena is not None:
                self.graph.tensors[index].offset = arena.resolve_alloc(alloc)

    def _arena(self, index: int) -> ListMemoryArena | None:
        arenas = {AllocationType.ARENA_RW: self.arena, AllocationType.ARENA_RW_PERSISTENT: self.persistent_arena}
        return arenas.get(self.graph.tensors[index].allocation_type)
