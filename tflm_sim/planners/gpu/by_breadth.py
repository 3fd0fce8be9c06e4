"""GREEDY_BY_BREADTH: tasks by the bytes that exist during them, the tensors of each task by size.

A tensor goes to the object that fits best among those that no tensor uses at the same time: the smallest that is large
enough, else the largest, which then grows.

Source: memory_management/greedy_by_breadth_assignment.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from tflm_sim.planners.deadline import NEVER, Deadline
from tflm_sim.planners.gpu.records import NOT_ASSIGNED, ObjectsAssignment, TensorUsageRecord, widest_profiles


def greedy_by_breadth(records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER) -> ObjectsAssignment[int]:
    """Assign tensors of bytes; of equally broad tasks the earlier one comes first.

    Raises:
        NoPlanInTime: The deadline came first.
    """

    def breadth(tensors: Sequence[int]) -> int:
        return sum(records[i].tensor_size for i in tensors)

    object_ids = [NOT_ASSIGNED] * len(records)
    object_sizes: list[int] = []
    schedules: list[list[tuple[int, int]]] = []
    for profile in sorted(widest_profiles(records, deadline), key=lambda profile: -breadth(profile.tensors)):
        for index in deadline.watch(profile.tensors):
            if object_ids[index] != NOT_ASSIGNED:
                continue
            record = records[index]
            best = _best_object(record, object_sizes, schedules)
            if best == len(object_sizes):
                object_sizes.append(0)
                schedules.append([])
            object_sizes[best] = max(object_sizes[best], record.tensor_size)
            insort(schedules[best], (record.first_task, record.last_task))
            object_ids[index] = best
    return ObjectsAssignment(tuple(object_ids), tuple(object_sizes))


def _best_object(
    record: TensorUsageRecord[int], sizes: Sequence[int], schedules: Sequence[Sequence[tuple[int, int]]]
) -> int:
    """Return the best free object, the first of equally good ones; ``len(sizes)`` when none is free."""
    free = (obj for obj in range(len(sizes)) if _is_free(record, schedules[obj]))
    return min(free, key=lambda obj: _badness(sizes[obj], record.tensor_size), default=len(sizes))


def _badness(object_size: int, tensor_size: int) -> tuple[bool, int]:
    """Order object sizes: large enough ones upwards, then too small ones downwards."""
    return (True, -object_size) if object_size < tensor_size else (False, object_size)


def _is_free(record: TensorUsageRecord[int], schedule: Sequence[tuple[int, int]]) -> bool:
    """Return whether no tensor of ``schedule`` (disjoint, ascending) exists together with ``record``."""
    position = bisect_left(schedule, (record.first_task,))
    if position < len(schedule) and schedule[position][0] <= record.last_task:
        return False
    return position == 0 or schedule[position - 1][1] < record.first_task
