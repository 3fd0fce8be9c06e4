"""``validate``: judge a plan without knowing who made it. It shares no code with any planner."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.deadline import NEVER, Deadline


class Fault(Enum):
    """What can be wrong with a plan."""

    COUNT = "count"
    NEGATIVE = "negative"
    MISALIGNED = "misaligned"
    MOVED = "moved"
    OVERLAP = "overlap"
    PEAK = "peak"


@dataclass(frozen=True, slots=True)
class PlanFault:
    """One thing that is wrong with a plan.

    Attributes:
        fault: Which rule is broken.
        buffers: The indices of the buffers concerned; () for the plan as a whole.
        message: One sentence with the numbers.
    """

    fault: Fault
    buffers: tuple[int, ...]
    message: str


def validate(buffers: Sequence[Buffer], plan: Plan, deadline: Deadline = NEVER) -> list[PlanFault]:
    """Return everything that is wrong with ``plan`` as a placement of ``buffers``; [] for a valid plan.

    Raises:
        NoPlanInTime: The deadline passed before it was judged.
    """
    if len(plan.offsets) != len(buffers):
        return [PlanFault(Fault.COUNT, (), f"{len(plan.offsets)} offsets for {len(buffers)} buffers")]
    overlaps = () if _are_apart(buffers, plan.offsets, deadline) else _overlaps(buffers, plan.offsets, deadline)
    return [*_offset_faults(buffers, plan.offsets), *overlaps, *_peak_faults(buffers, plan)]


def _offset_faults(buffers: Sequence[Buffer], offsets: Sequence[int]) -> Iterator[PlanFault]:
    for index, (buffer, offset) in enumerate(zip(buffers, offsets, strict=True)):
        if offset < 0:
            yield PlanFault(Fault.NEGATIVE, (index,), f"buffer {index} is at the negative offset {offset}")
        if buffer.offset is not None and offset != buffer.offset:
            yield PlanFault(
                Fault.MOVED, (index,), f"buffer {index} is fixed at {buffer.offset} and was put at {offset}"
            )
        if buffer.offset is None and offset % buffer.alignment:
            yield PlanFault(
                Fault.MISALIGNED, (index,), f"buffer {index} is at {offset}, not a multiple of {buffer.alignment}"
            )


def _are_apart(buffers: Sequence[Buffer], offsets: Sequence[int], deadline: Deadline) -> bool:
    """Return whether no two buffers overlap. As long as that is so, those alive at a moment stand in one row of
    offsets, and a new one is compared with the two beside it."""
    row: list[tuple[int, int]] = []
    by_upper: list[tuple[int, tuple[int, int]]] = []
    occupied = (index for index, buffer in enumerate(buffers) if buffer.size > 0)
    for index in deadline.watch(sorted(occupied, key=lambda index: buffers[index].lower)):
        buffer, begin = buffers[index], offsets[index]
        while by_upper and by_upper[0][0] <= buffer.lower:
            del row[bisect_left(row, heapq.heappop(by_upper)[1])]
        place = (begin, begin + buffer.size)
        at = bisect_left(row, place)
        if (at and row[at - 1][1] > begin) or (at < len(row) and row[at][0] < place[1]):
            return False
        row.insert(at, place)
        heapq.heappush(by_upper, (buffer.upper, place))
    return True


def _overlaps(buffers: Sequence[Buffer], offsets: Sequence[int], deadline: Deadline) -> Iterator[PlanFault]:
    """Compare each buffer with those that began earlier and have not ended when it begins."""
    alive: list[int] = []
    for index in deadline.watch(sorted(range(len(buffers)), key=lambda index: buffers[index].lower)):
        alive = [other for other in alive if buffers[other].upper > buffers[index].lower]
        begin, end = offsets[index], offsets[index] + buffers[index].size
        for other in alive:
            other_begin, other_end = offsets[other], offsets[other] + buffers[other].size
            if max(begin, other_begin) < min(end, other_end):
                pair = (min(index, other), max(index, other))
                message = f"buffers {pair[0]} and {pair[1]} are alive together and share bytes"
                yield PlanFault(
                    Fault.OVERLAP, pair, f"{message} {max(begin, other_begin)} to {min(end, other_end) - 1}"
                )
        alive.append(index)


def _peak_faults(buffers: Sequence[Buffer], plan: Plan) -> Iterator[PlanFault]:
    highest = max((offset + buffer.size for buffer, offset in zip(buffers, plan.offsets, strict=True)), default=0)
    if plan.peak != highest:
        yield PlanFault(Fault.PEAK, (), f"the peak is given as {plan.peak} and is {highest}")
