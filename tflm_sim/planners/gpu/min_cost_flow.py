"""MINCOSTFLOW: shared objects as a minimum-cost flow, one unit through every tensor.

Each tensor i has a *left* vertex (its memory is free for another tensor) and a *right* vertex (it needs memory)::

    source --0--> left(i) --max(0, size j - size i)--> right(j) --0--> sink     i ends before j begins
    source ---------------size j---------------------> right(j)                 j gets a new object

Saturated edges left(i) -> right(j) chain the tensors of one object. The shortest paths are found breadth-first with
repeats (SPFA), in upstream's order of edges: among equally cheap flows that order decides.

Source: memory_management/min_cost_flow_assignment.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.deadline import NEVER, Deadline, out_of_time
from tflm_sim.planners.gpu.records import NOT_ASSIGNED, ObjectsAssignment, TensorUsageRecord, objects_of

_OUT_OF_REACH = 2**31 - 1


class _Network:
    """The flow graph (mutable). An edge with index e has its reverse at e ^ 1."""

    def __init__(self, records: Sequence[TensorUsageRecord[int]]) -> None:
        self.count = len(records)
        self.source = 2 * self.count
        self.sink = self.source + 1
        self.edges_from: list[list[int]] = [[] for _ in range(self.sink + 1)]
        self.target: list[int] = []
        self.capacity: list[int] = []
        self.cost: list[int] = []
        self._build(records)

    def _build(self, records: Sequence[TensorUsageRecord[int]]) -> None:
        ended: list[int] = []
        in_use: list[tuple[int, int]] = []
        for index, record in enumerate(records):
            while in_use and in_use[0][0] < record.first_task:
                ended.append(heapq.heappop(in_use)[1])
            heapq.heappush(in_use, (record.last_task, index))
            right = index + self.count
            self._add_edge(self.source, index, 0)
            self._add_edge(right, self.sink, 0)
            self._add_edge(self.source, right, record.tensor_size)
            for other in ended:
                self._add_edge(other, right, max(0, record.tensor_size - records[other].tensor_size))

    def _add_edge(self, source: int, target: int, cost: int) -> None:
        for begin, end, capacity, edge_cost in ((source, target, 1, cost), (target, source, 0, -cost)):
            self.edges_from[begin].append(len(self.target))
            self.target.append(end)
            self.capacity.append(capacity)
            self.cost.append(edge_cost)

    def saturate(self, deadline: Deadline) -> None:
        """Push units along shortest paths until there is none."""
        while (previous := self._shortest_path()) is not None:
            if deadline.is_over:
                raise out_of_time()
            vertex = self.sink
            while vertex != self.source:
                edge = previous[vertex]
                self.capacity[edge] -= 1
                self.capacity[edge ^ 1] += 1
                vertex = self.target[edge ^ 1]

    def _shortest_path(self) -> list[int] | None:
        """Return the last edge to each vertex on the way from the source, None when the sink is out of reach.

        Upstream compares a signed distance with an unsigned one, so a negative distance never counts as shorter.
        """
        dist = [_OUT_OF_REACH] * (self.sink + 1)
        dist[self.source] = 0
        previous = [0] * (self.sink + 1)
        queue = [self.source]
        while queue:
            following: dict[int, None] = {}
            for vertex in queue:
                for edge in self.edges_from[vertex]:
                    if self.capacity[edge] > 0:
                        end = self.target[edge]
                        if 0 <= dist[vertex] + self.cost[edge] < dist[end]:
                            dist[end] = dist[vertex] + self.cost[edge]
                            previous[end] = edge
                            following[end] = None
            queue = list(following)
        return None if dist[self.sink] == _OUT_OF_REACH else previous

    def successor(self, tensor: int) -> int | None:
        """Return the tensor that gets the memory of ``tensor`` next."""
        reused = (
            self.target[edge] - self.count
            for edge in self.edges_from[tensor]
            if self.capacity[edge] == 0 and self.count <= self.target[edge] < self.source
        )
        return next(reused, None)

    def new_objects(self) -> list[int]:
        edges = (edge for edge in self.edges_from[self.source] if self.capacity[edge] == 0)
        return [self.target[edge] - self.count for edge in edges if self.target[edge] >= self.count]


def min_cost_flow(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> ObjectsAssignment[int]:
    """Assign tensors of bytes; ``records`` should ascend by first task (unsorted ones can overlap, as upstream).

    Raises:
        PlanningError: The sizes do not sum up to less than 2^31 - 1, upstream's int for "out of reach".
        NoPlanInTime: The deadline came first.
    """
    if sum(record.tensor_size for record in records) >= _OUT_OF_REACH:
        raise PlanningError("MINCOSTFLOW counts costs in 32 bits and these tensors have more bytes than that")
    if native.available():
        rows = ((record.tensor_size, record.first_task, record.last_task) for record in records)
        return objects_of(records, native.min_cost_flow(rows, deadline))
    return objects_of(records, min_cost_flow_object_ids(records, deadline))


def min_cost_flow_object_ids(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> list[int]:
    """Return the object of each tensor, in plain Python."""
    network = _Network(records)
    network.saturate(deadline)
    object_ids = [NOT_ASSIGNED] * len(records)
    for object_id, first in enumerate(network.new_objects()):
        tensor: int | None = first
        while tensor is not None and object_ids[tensor] == NOT_ASSIGNED:
            object_ids[tensor] = object_id
            tensor = network.successor(tensor)
    return object_ids
