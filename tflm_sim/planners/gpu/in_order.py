"""GREEDY_IN_ORDER: tensors by first task, each into the free object that wastes the least.

An object of bytes grows when a larger tensor moves in. A texture does not: it must cover the tensor in every dimension.
With a reallocation graph, an object may be reused only where the graph connects the tensor with the object's last one.

Source: memory_management/greedy_in_order_assignment.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence
from math import prod
from typing import TypeVar

from tflm_sim.planners.gpu.records import ObjectsAssignment, TensorUsageRecord, UInt2, UInt3, UsageGraph, contains

TextureSize = TypeVar("TextureSize", UInt2, UInt3)


def greedy_in_order(
    records: Sequence[TensorUsageRecord[int]], reallocation_graph: UsageGraph | None = None
) -> ObjectsAssignment[int]:
    """Assign tensors of bytes; ``records`` should ascend by first task (unsorted ones can overlap, as upstream)."""
    object_ids: list[int] = []
    object_sizes: list[int] = []
    last_tensor: list[int] = []
    pool: list[tuple[int, int]] = []
    in_use: list[tuple[int, int]] = []
    for index, record in enumerate(records):
        while in_use and in_use[0][0] < record.first_task:
            _, freed = heapq.heappop(in_use)
            insort(pool, (object_sizes[freed], freed))
        if reallocation_graph is None:
            best = _closest(pool, record.tensor_size)
        else:
            allowed = [i for i, (_, obj) in enumerate(pool) if contains(reallocation_graph[last_tensor[obj]], index)]
            best = min(allowed, key=lambda i: abs(pool[i][0] - record.tensor_size), default=None)
        if best is None:
            object_id = len(object_sizes)
            object_sizes.append(record.tensor_size)
            last_tensor.append(index)
        else:
            _, object_id = pool.pop(best)
            object_sizes[object_id] = max(object_sizes[object_id], record.tensor_size)
            last_tensor[object_id] = index
        object_ids.append(object_id)
        heapq.heappush(in_use, (record.last_task, object_id))
    return ObjectsAssignment(tuple(object_ids), tuple(object_sizes))


def _closest(pool: Sequence[tuple[int, int]], size: int) -> int | None:
    """Return the position in ``pool`` of the smallest object that is large enough, or of the largest if that is closer.

    Of two that waste the same the large enough one is taken.
    """
    if not pool:
        return None
    position = bisect_left(pool, (size, 0))
    if position == len(pool):
        return position - 1
    if position > 0 and size - pool[position - 1][0] < pool[position][0] - size:
        return position - 1
    return position


def greedy_in_order_multidimensional(
    records: Sequence[TensorUsageRecord[TextureSize]],
) -> ObjectsAssignment[TextureSize]:
    """Assign textures: of the free objects that cover the tensor, the one with the fewest elements too many."""
    object_ids: list[int] = []
    object_sizes: list[TextureSize] = []
    pool: list[int] = []
    in_use: list[tuple[int, int]] = []
    for record in records:
        while in_use and in_use[0][0] < record.first_task:
            pool.append(heapq.heappop(in_use)[1])
        size = record.tensor_size
        covering = [obj for obj in pool if all(a >= b for a, b in zip(object_sizes[obj], size, strict=True))]
        if covering:
            object_id = min(covering, key=lambda obj: prod(object_sizes[obj]))
            pool.remove(object_id)
        else:
            object_id = len(object_sizes)
            object_sizes.append(size)
        object_ids.append(object_id)
        heapq.heappush(in_use, (record.last_task, object_id))
    return ObjectsAssignment(tuple(object_ids), tuple(object_sizes))
