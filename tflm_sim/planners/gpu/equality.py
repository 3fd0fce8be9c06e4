"""NAIVE and EQUALITY: an object per tensor; an object per size, for tensors that do not exist together.

EQUALITY comes in two versions that differ in which free object of the right size they take: with a hash of sizes, the
one that was freed last; without, the one with the lowest id.

Source: memory_management/naive_assignment.h, equality_assignment.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from tflm_sim.planners.gpu.records import ObjectsAssignment, SizeT, TensorUsageRecord


def naive(records: Sequence[TensorUsageRecord[SizeT]]) -> ObjectsAssignment[SizeT]:
    """Give each tensor an object of its own."""
    return ObjectsAssignment(tuple(range(len(records))), tuple(record.tensor_size for record in records))


def equality_with_hash(records: Sequence[TensorUsageRecord[SizeT]]) -> ObjectsAssignment[SizeT]:
    """Reuse the object of exactly this size that was freed last."""
    object_ids: list[int] = []
    object_sizes: list[SizeT] = []
    pool: defaultdict[SizeT, list[int]] = defaultdict(list)
    in_use: list[tuple[int, int]] = []
    for record in records:
        while in_use and in_use[0][0] < record.first_task:
            _, freed = heapq.heappop(in_use)
            pool[object_sizes[freed]].append(freed)
        if pool[record.tensor_size]:
            object_id = pool[record.tensor_size].pop()
        else:
            object_id = len(object_sizes)
            object_sizes.append(record.tensor_size)
        object_ids.append(object_id)
        heapq.heappush(in_use, (record.last_task, object_id))
    return ObjectsAssignment(tuple(object_ids), tuple(object_sizes))


def equality(records: Sequence[TensorUsageRecord[SizeT]]) -> ObjectsAssignment[SizeT]:
    """Reuse the free object of exactly this size with the lowest id."""
    object_ids: list[int] = []
    object_sizes: list[SizeT] = []
    last_tasks: list[int] = []
    for record in records:
        free = (
            object_id
            for object_id, (size, last_task) in enumerate(zip(object_sizes, last_tasks, strict=True))
            if last_task < record.first_task and size == record.tensor_size
        )
        object_id = next(free, len(object_sizes))
        if object_id == len(object_sizes):
            object_sizes.append(record.tensor_size)
            last_tasks.append(record.last_task)
        last_tasks[object_id] = record.last_task
        object_ids.append(object_id)
    return ObjectsAssignment(tuple(object_ids), tuple(object_sizes))
