"""What the strategies read and write, and the two pictures of a problem that they share.

A record is a tensor with its size and the tasks (operators) that use it first and last, both *inclusive*. Sizes are
bytes, or the dimensions of a texture or buffer. A *shared object* is memory that several tensors use one after the
other; an *offset* is a place in one block.

The *profile* of a task lists the tensors that exist during it, largest first. The *positional maximums* are the
column-wise maximums over all profiles::

    task 0: [32]              offsets lower bound: the widest row, 64 + 16 + 8 = 88
    task 1: [32, 32]          positional maximums: 64, 32, 8
    task 2: [64, 16, 8]       shared objects lower bound: their sum, 104

Source: memory_management/types.h, types.cc, internal.h, internal.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Generic, NamedTuple, TypeVar

from tflm_sim.planners.deadline import NEVER, Deadline

NOT_ASSIGNED = 2**64 - 1
"""No object, or no distance (upstream: kNotAssigned)."""

UsageGraph = Sequence[Sequence[int]]


class UInt2(NamedTuple):
    """The dimensions of a 2D texture, in elements."""

    x: int
    y: int


class UInt3(NamedTuple):
    """The dimensions of a 3D texture, in elements."""

    x: int
    y: int
    z: int


class BHWC(NamedTuple):
    """Batch, height, width and channels of a tensor."""

    b: int
    h: int
    w: int
    c: int


Size = int | UInt2 | UInt3 | BHWC
SizeT = TypeVar("SizeT", bound=Size)


@dataclass(frozen=True, slots=True)
class TensorUsageRecord(Generic[SizeT]):
    """A tensor of ``tensor_size`` that exists from ``first_task`` to ``last_task``, both inclusive."""

    tensor_size: SizeT
    first_task: int
    last_task: int

    def exists_with(self, other: TensorUsageRecord[SizeT]) -> bool:
        """Return whether both exist during one task."""
        return self.first_task <= other.last_task and other.first_task <= self.last_task


@dataclass(frozen=True, slots=True)
class ObjectsAssignment(Generic[SizeT]):
    """Which shared object each tensor uses, and how large the objects are."""

    object_ids: tuple[int, ...]
    object_sizes: tuple[SizeT, ...]


@dataclass(frozen=True, slots=True)
class OffsetsAssignment:
    """Where each tensor is in one block of ``total_size`` bytes."""

    offsets: tuple[int, ...]
    total_size: int


def objects_of(records: Sequence[TensorUsageRecord[int]], object_ids: Sequence[int]) -> ObjectsAssignment[int]:
    """Return the assignment in which every object is as large as its largest tensor."""
    sizes = [0] * (max(object_ids, default=-1) + 1)
    for record, object_id in zip(records, object_ids, strict=True):
        sizes[object_id] = max(sizes[object_id], record.tensor_size)
    return ObjectsAssignment(tuple(object_ids), tuple(sizes))


class TaskProfile(NamedTuple):
    """The tensors that exist during a task, largest first, then by index."""

    task: int
    tensors: tuple[int, ...]


def profiles_at(records: Sequence[TensorUsageRecord[int]], tasks: Iterable[int]) -> Iterator[TaskProfile]:
    """Yield the profiles of ``tasks``, which must ascend."""
    beginning = deque(sorted(range(len(records)), key=lambda i: records[i].first_task))
    existing: list[tuple[int, int]] = []
    for task in tasks:
        existing = [(size, i) for size, i in existing if records[i].last_task >= task]
        while beginning and records[beginning[0]].first_task <= task:
            index = beginning.popleft()
            if records[index].last_task >= task:
                insort(existing, (-records[index].tensor_size, index))
        yield TaskProfile(task, tuple(i for _, i in existing))


def widest_profiles(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> list[TaskProfile]:
    """Return the profiles of the tasks at which a tensor begins: every other profile is a part of an earlier one.

    Raises:
        NoPlanInTime: The deadline came first.
    """
    return list(deadline.watch(profiles_at(records, sorted({record.first_task for record in records}))))


def positional_maximums(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> list[int]:
    """Return for each position the largest size that a profile has there; NoPlanInTime as above."""
    rows = ([records[i].tensor_size for i in profile.tensors] for profile in widest_profiles(records, deadline))
    maximums: list[int] = []
    for row in rows:
        maximums = [max(pair) for pair in zip_longest(maximums, row, fillvalue=0)]
    return maximums


def reallocation_graph(deps_graph: UsageGraph) -> list[list[int]]:
    """Return for each tensor those that can share its memory in any order of parallel execution, ascending.

    Args:
        deps_graph: For each tensor the tensors that are computed from it directly.
    """
    count = len(deps_graph)
    graph: list[list[int]] = [[] for _ in range(count)]
    for root, children in enumerate(deps_graph):
        if not children:
            continue
        reached_by = [_descendants(child, deps_graph) for child in children]
        for vertex in set.intersection(*reached_by):
            graph[root].append(vertex)
            graph[vertex].append(root)
    return [sorted(neighbours) for neighbours in graph]


def _descendants(start: int, deps_graph: UsageGraph) -> set[int]:
    """Return what is reached from ``start``, without ``start`` itself."""
    reached = {start}
    queue = deque([start])
    while queue:
        fresh = [vertex for vertex in deps_graph[queue.popleft()] if vertex not in reached]
        reached.update(fresh)
        queue.extend(dict.fromkeys(fresh))
    return reached - {start}


def contains(ascending: Sequence[int], value: int) -> bool:
    position = bisect_left(ascending, value)
    return position < len(ascending) and ascending[position] == value
