"""The ``ArenaPlanner`` of earlier releases, on the same tensors as today's.

2018 to early 2020, ``QueueArenaPlanner``: a chronological queue of allocations and deallocations, carried out in a list
that takes the gap of the moment that fits best. For the graph 0, 1 -> [2]; 2, 0 -> [4, 5]; 4, 5 -> [3] the queue is,
allocations as + and deallocations as -::

    +0 +1   +2 -1   +4 +5 -2 -0   +3 -4 -5
    inputs  node 0  node 1        node 2

A node's temporaries are allocated before its outputs and freed before the next node's.

2020 to 2022, ``IntervalArenaPlanner``: usage intervals as today's, no sharing of bytes, and inputs that may go. With
``preserves_inputs=False``, an input's bytes are free after its last reader. The graph above, tensor i of 3 * (i + 1)
bytes, at an alignment of 4::

    node    0       1       2
    44  |   +---0---+
    32  |   +---2---+---3---+
    16  |   .       +---4---+
     0  |   +-1-+   +---5---+

Source: tensorflow/contrib/lite/simple_memory_arena.cc as of 2018, tensorflow/lite/arena_planner.cc as of early 2020 and
of later in 2020; ``preserve_inputs`` went in 2022
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

from tflm_sim.errors import PlanningError, UsageError
from tflm_sim.extensions.lite.arena_planner import DEFAULT_TENSOR_ALIGNMENT, ArenaPlanner
from tflm_sim.extensions.lite.graph_info import AllocationType, GraphInfo, present
from tflm_sim.extensions.lite.simple_memory_arena import DEFAULT_ARENA_ALIGNMENT
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class ListAlloc:
    """An allocation: offset from the base of the arena and size, in bytes."""

    offset: int = 0
    size: int = 0

    @property
    def end(self) -> int:
        """The first byte above it."""
        return self.offset + self.size


class ListMemoryArena:
    """The arena of 2018: a list of allocations, each of which is freed explicitly (mutable).

    A new allocation takes the gap that fits best between those of the moment, else the end of the list::

        allocate 2047, 2047, 2047   [0    2047) [2048 4095) [4096 6143)
        deallocate the first                    [2048 4095) [4096 6143)
        allocate 1023               [0 1023)    [2048 4095) [4096 6143)
        allocate 2047                                                   [6144 8191): the gap at 1024 is too small

    Attributes:
        alignment: The base's alignment; no allocation can ask for more.
        high_water_mark: The bytes that the plan needs.
        allocs: What is allocated now, in the order of the list.
        buffer_size: The bytes of the committed buffer; it never shrinks but by ``release_buffer``.
    """

    def __init__(self, alignment: int = DEFAULT_ARENA_ALIGNMENT) -> None:
        self.alignment = alignment
        self.high_water_mark = 0
        self.allocs: list[ListAlloc] = []
        self.buffer_size = 0
        self._is_committed = False

    @property
    def required_buffer_size(self) -> int:
        """The bytes that ``commit`` asks for: room to align the base, the high water mark, and some padding."""
        padding = self.alignment  # so that small allocations do not move the buffer at once
        return self.alignment + self.high_water_mark + padding

    def allocate(self, size: int, alignment: int) -> ListAlloc:
        """Plan ``size`` bytes and return where; 0 bytes take no place in the list.

        Raises:
            PlanningError: The arena cannot give that alignment.
        """
        if not 0 < alignment <= self.alignment:
            raise PlanningError(f"alignment {alignment} in an arena aligned to {self.alignment}")
        if size == 0:
            return ListAlloc()
        place, offset = self._best_place(size, alignment)
        alloc = ListAlloc(offset, size)
        self.allocs.insert(place, alloc)
        self.high_water_mark = max(self.high_water_mark, alloc.end)
        return alloc

    def _best_place(self, size: int, alignment: int) -> tuple[int, int]:
        """Return the place in the list and the offset."""
        best: tuple[int, int, int] | None = None
        current = 0
        for place, alloc in enumerate(self.allocs):
            aligned = align_up(current, alignment)
            gap = alloc.offset - current
            if aligned + size <= alloc.offset and (best is None or gap < best[0]):
                best = (gap, place, aligned)
            current = alloc.end
        return (len(self.allocs), align_up(current, alignment)) if best is None else best[1:]

    def deallocate(self, alloc: ListAlloc) -> None:
        """Free an allocation; one of 0 bytes was never there.

        Raises:
            PlanningError: Nothing is allocated at its offset, or something of another size.
        """
        if alloc.size == 0:
            return
        if alloc not in self.allocs:
            raise PlanningError(f"{alloc.size} bytes at {alloc.offset} are freed but not allocated")
        self.allocs.remove(alloc)

    def commit(self) -> None:
        """Grow the buffer to what the plan requires; its bytes survive."""
        self.buffer_size = max(self.buffer_size, self.required_buffer_size)
        self._is_committed = True

    def resolve_alloc(self, alloc: ListAlloc) -> int | None:
        """Return the offset (bytes from the base) of ``alloc``, None when it has no bytes.

        Raises:
            PlanningError: The arena is not committed.
        """
        if not self._is_committed:
            raise PlanningError("the arena is not committed")
        return alloc.offset if alloc.size else None

    def clear_plan(self) -> None:
        """Forget the plan but keep the buffer."""
        self._is_committed = False
        self.high_water_mark = 0
        self.allocs = []

    def release_buffer(self) -> None:
        """Give the buffer back but keep the plan."""
        self._is_committed = False
        self.buffer_size = 0


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


class IntervalArenaPlanner(ArenaPlanner):
    """The memory planner of one subgraph (mutable); attributes as today's planner has them.

    Attributes:
        preserves_inputs: Whether the graph's inputs keep their bytes.
        preserves_intermediates: Whether no tensor but temporaries is freed.
    """

    def __init__(
        self,
        graph: GraphInfo,
        *,
        preserves_inputs: bool = True,
        preserves_intermediates: bool = False,
        tensor_alignment: int = DEFAULT_TENSOR_ALIGNMENT,
    ) -> None:
        super().__init__(graph, preserves_all_tensors=preserves_intermediates, tensor_alignment=tensor_alignment)
        self.preserves_inputs = preserves_inputs

    def _count_references(self, owners: dict[int, int]) -> list[int]:
        counts = super()._count_references(owners)
        for index in () if self.preserves_inputs else present(self.graph.inputs):
            counts[index] -= 1
        return counts

    def _find_shared(self) -> dict[int, int]:
        return {}  # until 2023 nothing was computed in place

    def _assign_temporaries(self, first_node: int, last_node: int) -> None:
        super()._assign_temporaries(first_node, last_node)
        for number, node in enumerate(self.graph.execution_nodes[first_node : last_node + 1], first_node):
            for index in node.temporaries:
                self.dealloc_node[index] = number

    def _tensors_to_allocate(self, first_node: int, last_node: int) -> list[int]:
        indices = chain.from_iterable(self._node_tensors[first_node : last_node + 1])
        return sorted(index for index in set(indices) if self._needs_allocation(index))


def earlier_arenas(graph: GraphInfo) -> dict[str, int]:
    """Return how many bytes of arena earlier planners give the tensors of a wholly prepared graph, by their years."""
    tensors = [replace(tensor) for tensor in graph.tensors]
    ends = (graph.inputs, graph.outputs, graph.variables)
    copy = GraphInfo(tensors, graph.nodes, *ends, graph.execution_plan)
    found = {}
    for years, planner in (
        ("2018 to 2020", QueueArenaPlanner(copy, preserves_inputs=True)),
        ("2020 to 2022", IntervalArenaPlanner(copy)),
    ):
        planner.plan_allocations()
        planner.execute_allocations(0, max(len(graph.execution_plan) - 1, 0))
        found[years] = planner.arena.high_water_mark
    return found
