"""TFLite's ``ArenaPlanner``: when each tensor is allocated and freed, then where it is.

``plan_allocations`` counts references: a tensor is allocated by the first node that writes it (its *alloc node*; 0 for
inputs and variables) and freed after the last node that reads it (its *dealloc node*; never for inputs, outputs and
variables). ``execute_allocations`` then places the tensors of a range of nodes, those that live throughout first, the
others from the largest to the smallest::

    node   0       1       2
           +------ 0 ------+  input            lives throughout
           +- 2 ---+          written by 0, read by 1
                   +- 4 ---+  written by 1, read by 2
                   +5+        temporary of 1
                           3  output: written by 2, never freed

Invariant: a tensor in ``shared_with`` has no allocation of its own.

Upstream sorts with std::sort what it took from an unordered_set, so that the C++ library decides about tensors of equal
size and alloc node; ``libstdcxx`` knows how.

Source: tflite/arena_planner.h, arena_planner.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import chain

from tflm_sim.errors import PlanningError, UsageError
from tflm_sim.extensions.lite.graph_info import AllocationType, GraphInfo, present
from tflm_sim.extensions.lite.in_place import in_place_tensors
from tflm_sim.extensions.lite.libstdcxx import IntSet, std_sort
from tflm_sim.extensions.lite.simple_memory_arena import NO_ALLOC, NODE_NOT_ASSIGNED, SimpleMemoryArena, ensure_failed

DEFAULT_TENSOR_ALIGNMENT = 64
"""The alignment (bytes) that the interpreter asks for (kDefaultTensorAlignment)."""

_ARENAS = (AllocationType.ARENA_RW, AllocationType.ARENA_RW_PERSISTENT)


class ArenaPlanner:
    """The memory planner of one subgraph (mutable).

    Attributes:
        graph: Whose tensors it places, by setting their ``offset``.
        preserves_all_tensors: Whether no tensor gives its bytes to another.
        tensor_alignment: What every offset is a multiple of (bytes).
        arena: Where tensors of type ARENA_RW are.
        persistent_arena: Where tensors of type ARENA_RW_PERSISTENT are, one after the other.
        has_nonpersistent_memory: Whether ``arena`` has its buffer.
        alloc_node: By tensor, the node before which it is allocated; NODE_NOT_ASSIGNED for never.
        dealloc_node: By tensor, the node after which it is freed; NODE_NOT_ASSIGNED for never.
        refcounts: By tensor, its uses as input, output or variable of the graph and as input of nodes.
        shared_with: By tensor that owns no bytes, the tensor whose bytes it uses.
        allocs: By tensor, where it was placed.
    """

    def __init__(
        self, graph: GraphInfo, *, preserves_all_tensors: bool = False, tensor_alignment: int = DEFAULT_TENSOR_ALIGNMENT
    ) -> None:
        self.graph = graph
        self.preserves_all_tensors = preserves_all_tensors
        self.arena = SimpleMemoryArena()
        self.persistent_arena = SimpleMemoryArena()
        self.has_nonpersistent_memory = False
        self.alloc_node: list[int] = []
        self.dealloc_node: list[int] = []
        self.refcounts: list[int] = []
        self.shared_with: dict[int, int] = {}
        self.allocs = [NO_ALLOC] * len(graph.tensors)
        self.tensor_alignment = tensor_alignment
        self._node_tensors: list[IntSet] = []
        self._last_active_node = NODE_NOT_ASSIGNED

    def reset_allocations(self) -> None:
        """Forget where tensors are, but not when they are used."""
        self.arena.clear_plan()
        self.persistent_arena.clear_plan()
        self.allocs = [NO_ALLOC] * len(self.graph.tensors)
        self._last_active_node = NODE_NOT_ASSIGNED

    def reset_allocations_after(self, node: int) -> None:
        """Forget where the tensors are that nodes after ``node`` allocate; persistent tensors stay."""
        for index, alloc in enumerate(self.allocs):
            tensor = self.graph.tensors[index]
            if alloc.first_node > node and alloc.size > 0 and tensor.allocation_type is AllocationType.ARENA_RW:
                self.allocs[index] = NO_ALLOC
                tensor.offset = None
        if self._last_active_node > node:
            self.arena.calculate_active_allocs(self.allocs, node)
        else:
            self.arena.purge_after(node)
        self._last_active_node = node

    def plan_allocations(self) -> None:
        """Decide when tensors are allocated and freed, and which share bytes.

        Raises:
            PlanningError: A variable is an optional tensor.
        """
        self.reset_allocations()
        count = len(self.graph.tensors)
        self.alloc_node = [NODE_NOT_ASSIGNED] * count
        self.dealloc_node = [NODE_NOT_ASSIGNED] * count
        self._node_tensors = [IntSet() for _ in range(max(len(self.graph.execution_plan), 1))]
        if any(index < 0 for index in self.graph.variables):
            condition = "arena_planner.cc:256 tensor_index != kTfLiteOptionalTensor"
            raise ensure_failed("a variable tensor is optional", condition)
        for index in chain(self.graph.variables, present(self.graph.inputs)):
            self._allocate_before(0, index)
        self.refcounts = self._count_references({})
        self.shared_with = self._find_shared()
        self._assign_nodes(self._count_references(self.shared_with))

    def _count_references(self, owners: dict[int, int]) -> list[int]:
        """Count uses; those by nodes count for the tensor that owns the bytes."""
        counts = [0] * len(self.graph.tensors)
        for index in chain(present(self.graph.outputs), self.graph.variables, present(self.graph.inputs)):
            counts[index] += 1
        for node in self.graph.execution_nodes:
            for index in present(node.inputs):
                counts[owners.get(index, index)] += 1
        return counts

    def _assign_nodes(self, refcounts: list[int]) -> None:
        for number, node in enumerate(self.graph.execution_nodes):
            for index in present(node.outputs):
                self._allocate_before(number, index)
            if self.preserves_all_tensors:
                continue
            for index in present(node.inputs):
                owner = self.shared_with.get(index, index)
                refcounts[owner] -= 1
                # A constant is never allocated.
                if refcounts[owner] == 0 and self.alloc_node[owner] != NODE_NOT_ASSIGNED:
                    self.dealloc_node[owner] = number

    def _allocate_before(self, node: int, index: int) -> None:
        self._node_tensors[node].add(index)
        if self.alloc_node[index] == NODE_NOT_ASSIGNED:
            self.alloc_node[index] = node

    def execute_allocations(self, first_node: int, last_node: int) -> None:
        """Place the tensors of the nodes of the execution plan from ``first_node`` to ``last_node``, both inclusive.

        Raises:
            PlanningError: The arena refuses one, or there are fewer tensors than at the time of the plan.
            UsageError: There is no such node.
        """
        if first_node < 0 or last_node >= len(self._node_tensors):
            raise UsageError(f"nodes {first_node} to {last_node} of a graph with {len(self.graph.execution_plan)}")
        added = len(self.graph.tensors) - len(self.allocs)
        if added < 0:
            raise ensure_failed("tensors were removed", "arena_planner.cc:343 num_tensors >= allocs_.size()")
        self.alloc_node += [NODE_NOT_ASSIGNED] * added
        self.dealloc_node += [NODE_NOT_ASSIGNED] * added
        self.allocs += [NO_ALLOC] * added
        self._assign_temporaries(first_node, last_node)
        placed = self._calculate_allocations(first_node, last_node)
        is_moved = self.arena.commit()
        self.has_nonpersistent_memory = True
        is_moved = self.persistent_arena.commit() or is_moved
        for index in range(len(self.graph.tensors)) if is_moved else placed:
            self._resolve(index)

    def _find_shared(self) -> dict[int, int]:
        return {} if self.preserves_all_tensors else in_place_tensors(self.graph, self.refcounts)

    def _assign_temporaries(self, first_node: int, last_node: int) -> None:
        nodes = self.graph.execution_nodes
        for number in range(first_node, min(last_node + 1, len(nodes))):
            for index in nodes[number].temporaries:
                self.alloc_node[index] = number
                self._node_tensors[number].add(index)
                if not self.preserves_all_tensors:
                    self.dealloc_node[index] = number

    def _calculate_allocations(self, first_node: int, last_node: int) -> list[int]:
        """Place what the nodes need, and return those tensors."""
        indices = self._tensors_to_allocate(first_node, last_node)
        if indices:
            if first_node < self._last_active_node:
                self.arena.reset_allocs()
            else:
                self.arena.purge_active_allocs(first_node)
            std_sort(indices, self._is_placed_before)
            for index in indices:
                if not self._shares(index):
                    self._place(index)
        self._last_active_node = last_node
        return indices

    def _tensors_to_allocate(self, first_node: int, last_node: int) -> list[int]:
        indices = chain.from_iterable(self._node_tensors[first_node : last_node + 1])
        return [index for index in indices if self._needs_allocation(index)]

    def _needs_allocation(self, index: int) -> bool:
        tensor = self.graph.tensors[index]
        if tensor.allocation_type is AllocationType.ARENA_RW:
            return self.allocs[index].size < tensor.size
        return tensor.allocation_type is AllocationType.ARENA_RW_PERSISTENT

    def _is_placed_before(self, one: int, other: int) -> bool:
        lives_throughout = [
            self.alloc_node[index] == 0 and self.dealloc_node[index] == NODE_NOT_ASSIGNED for index in (one, other)
        ]
        if any(lives_throughout):
            return one < other if all(lives_throughout) else lives_throughout[0]
        sizes = [self.graph.tensors[index].size for index in (one, other)]
        return sizes[0] > sizes[1] if sizes[0] != sizes[1] else self.alloc_node[one] < self.alloc_node[other]

    def _shares(self, index: int) -> bool:
        """Return whether another tensor's bytes are used; a sharing that sizes or types no longer allow is dropped."""
        owner = self.shared_with.get(index)
        if owner is None:
            return False
        tensor = self.graph.tensors[owner]
        if tensor.allocation_type is AllocationType.ARENA_RW and tensor.size == self.graph.tensors[index].size:
            return True
        del self.shared_with[index]
        return False

    def _place(self, index: int) -> None:
        tensor = self.graph.tensors[index]
        is_persistent = tensor.allocation_type is AllocationType.ARENA_RW_PERSISTENT
        if is_persistent and (self.allocs[index].size or not tensor.size):
            return  # a persistent tensor is placed once
        arena = self.persistent_arena if is_persistent else self.arena
        self.allocs[index] = arena.allocate(
            tensor.size,
            self.tensor_alignment,
            tensor=index,
            first_node=self.alloc_node[index],
            last_node=NODE_NOT_ASSIGNED if is_persistent else self.dealloc_node[index],
        )

    def _resolve(self, index: int, waiting: tuple[int, ...] = ()) -> None:
        """Set the offset of one tensor; those ``waiting`` need it for theirs."""
        if index in waiting:
            raise PlanningError(f"tensor {index} shares its own bytes: the recursion has no end", status="abort")
        tensor = self.graph.tensors[index]
        owner = self.shared_with.get(index, index)
        if owner != index and tensor.allocation_type in _ARENAS:
            owning = self.graph.tensors[owner]
            if owning.allocation_type is tensor.allocation_type:
                self._resolve(owner, (*waiting, index))
                tensor.offset = owning.offset
                return
        if tensor.allocation_type is AllocationType.ARENA_RW and self.allocs[index].size:
            tensor.offset = self.arena.resolve_alloc(self.allocs[index])
        elif tensor.allocation_type is AllocationType.ARENA_RW_PERSISTENT:
            tensor.offset = self.persistent_arena.resolve_alloc(self.allocs[index])

    def release_nonpersistent_memory(self) -> None:
        """Give the buffer of ``arena`` back; its tensors have no bytes until it is acquired again."""
        self.arena.release_buffer()
        self.has_nonpersistent_memory = False
        for tensor in self.graph.tensors:
            if tensor.allocation_type is AllocationType.ARENA_RW:
                tensor.offset = None

    def acquire_nonpersistent_memory(self) -> None:
        """Take a buffer for ``arena`` again; the plan is the same."""
        self.arena.commit()
        self.has_nonpersistent_memory = True
        for index, tensor in enumerate(self.graph.tensors):
            if tensor.allocation_type is AllocationType.ARENA_RW:
                self._resolve(index)
