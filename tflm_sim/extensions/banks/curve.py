"""The trade between the fastest bank and what the slow ones move: the best plan for each size that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tflm_sim.extensions.banks.bank import RamBank
from tflm_sim.extensions.banks.document import CurvePoint
from tflm_sim.extensions.banks.placement import BankQuestion, BestPlacement
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.deadline import Deadline
from tflm_sim.units import align_down

_MOST_POINTS = 32


def curve(
    question: BankQuestion, banks: Sequence[RamBank], *, time_limit: float | None = None
) -> tuple[CurvePoint, ...]:
    """Return the points from the largest to the smallest fastest bank with which the model works.

    The size of the first bank is not asked: it goes from what everything needs downwards, each time to less than what
    the last plan needed, and by a part of the whole at least.

    Args:
        question: The model.
        banks: The fastest first; the others as they are.
        time_limit: Seconds for all points.
    """
    fastest, *others = banks
    everything = sum(buffer.size for buffer in question.buffers) + question.needs.together_before + question.needs.tail
    smallest = question.roomy.smallest
    size = min(everything, smallest.multiple_of_16) if smallest is not None else everything
    step = max(size // _MOST_POINTS, BUFFER_ALIGNMENT)
    deadline = Deadline(time_limit)
    points: list[CurvePoint] = []
    while size >= BUFFER_ALIGNMENT and not deadline.is_over:
        bank = replace(fastest, size=size + fastest.lost)
        left = deadline.share(_MOST_POINTS).seconds_left if time_limit is not None else None
        point = _point(question.place((bank, *others), time_limit=left), (bank, *others))
        if point is None:
            break
        if points and point.slow_bytes == points[-1].slow_bytes and point.fast_bytes < points[-1].fast_bytes:
            points.pop()
        points.append(point)
        size = align_down(min(point.fast_bytes - 1, size - step), BUFFER_ALIGNMENT)
    return tuple(points)


def _point(placed: BestPlacement, banks: Sequence[RamBank]) -> CurvePoint | None:
    best = placed.best
    if best is None or placed.slow_bound is None:
        return None
    return CurvePoint(
        fast_bytes=best.uses[0].needed,
        slow_bytes=sum(use.moved.total for use in best.uses[1:]),
        slow_bound=placed.slow_bound,
        touched=sum(use.touched for use in best.uses[1:]),
        head=banks[best.head].name,
        tail=banks[best.tail].name,
        other_bytes=tuple(use.needed for use in best.uses[1:]),
    )
