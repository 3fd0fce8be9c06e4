"""GREEDY_BY_SIZE: offsets by best fit, and shared objects by *size-distance priority*.

Offsets: tensors by descending size, each into the smallest gap that is large enough among the tensors that exist
together with it, else above them.

Shared objects: tensors by *position* (the rightmost positional maximum that is not below the size; left first), then by
the distance in tasks to the nearest tensor of any object that they could share (near first), then by size (large
first). A tensor goes to the object of that nearest tensor.

Source: memory_management/greedy_by_size_assignment.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from math import gcd

from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.deadline import NEVER, Deadline
from tflm_sim.planners.gpu.records import (
    NOT_ASSIGNED,
    ObjectsAssignment,
    OffsetsAssignment,
    TensorUsageRecord,
    objects_of,
    positional_maximums,
)
from tflm_sim.units import align_up


def greedy_by_size_offsets(
    records: Sequence[TensorUsageRecord[int]], *, base_addr_align_bytes: int = 1, deadline: Deadline = NEVER
) -> OffsetsAssignment:
    """Place tensors in one block, at multiples of ``base_addr_align_bytes``; NoPlanInTime if the deadline comes."""
    offsets = _offsets(records, base_addr_align_bytes, deadline)
    ends = (offset + record.tensor_size for offset, record in zip(offsets, records, strict=True))
    return OffsetsAssignment(tuple(offsets), max(ends, default=0))


def _offsets(records: Sequence[TensorUsageRecord[int]], alignment: int, deadline: Deadline) -> list[int]:
    """Return the offsets from the C core, or from Python where C was not built or a value does not fit its 32 bits.

    What divides all sizes is taken out before: a problem of gigabytes then still fits.
    """
    unit = gcd(*(record.tensor_size for record in records))
    if unit == 0 or unit % alignment:
        unit = gcd(unit, alignment)
    least = max(alignment // unit, 1)
    if native.available():
        with suppress(PlanningError):
            rows = ((r.tensor_size // unit, -1, r.first_task, r.last_task, least) for r in records)
            return [unit * offset for offset in native.best_fit(rows, deadline)]
    return best_fit_offsets(records, alignment, deadline)


def best_fit_offsets(
    records: Sequence[TensorUsageRecord[int]], alignment: int, deadline: Deadline = NEVER
) -> list[int]:
    """Return the offsets in bytes, in plain Python; for each tensor, those that exist together with it are sorted."""
    offsets = [0] * len(records)
    placed = _Placed(records)
    for index in deadline.watch(sorted(range(len(records)), key=lambda i: -records[i].tensor_size)):
        record = records[index]
        offsets[index] = _best_gap(record.tensor_size, placed.existing_with(record))
        placed.add(record, offsets[index], align_up(offsets[index] + record.tensor_size, alignment))
    return offsets


class _Placed:
    """Tensors that have an offset, found by the tasks during which they exist (mutable).

    Time is counted in the tasks that are some tensor's first. A tensor stands in the nodes of a segment tree that make
    up its time, so that one walk from a leaf to the root meets each that exists then, once.
    """

    def __init__(self, records: Sequence[TensorUsageRecord[int]]) -> None:
        self._times = sorted({record.first_task for record in records})
        self._nodes: list[list[tuple[int, int, int]]] = [[] for _ in range(2 * len(self._times))]
        self._starting: list[list[tuple[int, int, int]]] = [[] for _ in self._times]
        self._count = 0

    def existing_with(self, record: TensorUsageRecord[int]) -> list[tuple[int, int, int]]:
        """Return offset, number and end of those that exist together with ``record``, by offset, older first."""
        first, behind = self._span(record)
        found = list(chain.from_iterable(self._starting[first + 1 : behind]))
        node = first + len(self._times)
        while node:
            found += self._nodes[node]
            node //= 2
        return sorted(found)

    def add(self, record: TensorUsageRecord[int], offset: int, end: int) -> None:
        """Note where ``record`` is; what comes behind it begins at ``end``."""
        entry = (offset, self._count, end)
        self._count += 1
        first, behind = self._span(record)
        self._starting[first].append(entry)
        low, high = first + len(self._times), behind + len(self._times)
        while low < high:
            if low % 2:
                self._nodes[low].append(entry)
                low += 1
            if high % 2:
                high -= 1
                self._nodes[high].append(entry)
            low, high = low // 2, high // 2

    def _span(self, record: TensorUsageRecord[int]) -> tuple[int, int]:
        """Return the range of its times: the first of them, and the one behind the last."""
        return bisect_left(self._times, record.first_task), bisect_right(self._times, record.last_task)


def _best_gap(size: int, existing: Iterable[tuple[int, int, int]]) -> int:
    """Return the offset of the smallest gap of at least ``size`` bytes, the lowest of equal ones, else the end."""
    gaps: list[tuple[int, int]] = []
    end = 0
    for offset, _, other_end in existing:
        if offset - end >= size:
            gaps.append((offset - end, end))
        if other_end > end:
            end = other_end
    return min(gaps, default=(0, end))[1]


class _Candidate:
    """A tensor that has no object yet (mutable): its distance to each object, and the nearest one.

    ``best_object`` keeps its last value when no object is left; ``best_dist`` says so.
    """

    __slots__ = ("best_dist", "best_object", "dist", "index", "position", "record")

    def __init__(self, index: int, record: TensorUsageRecord[int], position: int) -> None:
        self.index = index
        self.record = record
        self.position = position
        self.dist: list[int] = []
        self.best_dist = NOT_ASSIGNED
        self.best_object = NOT_ASSIGNED

    def priority(self) -> tuple[int, int, int]:
        """Return what the smallest of is assigned next."""
        return (self.position, self.best_dist, -self.record.tensor_size)

    def object_gained(self, object_id: int, tensor: TensorUsageRecord[int]) -> None:
        """Note that ``tensor`` now uses an object, possibly a new one."""
        is_new = object_id == len(self.dist)
        if is_new:
            self.dist.append(NOT_ASSIGNED)
        elif self.dist[object_id] == NOT_ASSIGNED:
            return
        dist = _distance(self.record, tensor)
        if is_new or dist == NOT_ASSIGNED:
            self.dist[object_id] = dist
        else:
            self.dist[object_id] = min(self.dist[object_id], dist)
        if dist == NOT_ASSIGNED and self.best_object == object_id:
            self.best_dist = min(self.dist)
            if self.best_dist != NOT_ASSIGNED:
                self.best_object = self.dist.index(self.best_dist)
        elif dist < self.best_dist:
            self.best_dist, self.best_object = dist, object_id


def _distance(a: TensorUsageRecord[int], b: TensorUsageRecord[int]) -> int:
    """Return the tasks between two tensors (1: one follows the other), NOT_ASSIGNED if both exist at once."""
    if a.exists_with(b):
        return NOT_ASSIGNED
    return max(a.first_task - b.last_task, b.first_task - a.last_task)


def greedy_by_size_objects(
    records: Sequence[TensorUsageRecord[int]], deadline: Deadline = NEVER
) -> ObjectsAssignment[int]:
    """Assign tensors of bytes to shared objects; of equal priority the first record is assigned first.

    Raises:
        NoPlanInTime: The deadline came first.
    """
    descending = [-maximum for maximum in positional_maximums(records, deadline)]
    positions = [bisect_right(descending, -record.tensor_size) for record in records]
    candidates = zip(records, positions, strict=True)
    waiting = [_Candidate(index, record, position) for index, (record, position) in enumerate(candidates)]
    object_ids = [NOT_ASSIGNED] * len(records)
    object_count = 0
    for _ in deadline.watch(records):
        chosen = min(waiting, key=_Candidate.priority)
        waiting.remove(chosen)
        is_new = chosen.best_dist == NOT_ASSIGNED
        object_id = object_count if is_new else chosen.best_object
        object_count += is_new
        object_ids[chosen.index] = object_id
        for candidate in waiting:
            candidate.object_gained(object_id, chosen.record)
    return objects_of(records, object_ids)
