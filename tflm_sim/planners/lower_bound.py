"""``lower_bound``: bytes that no plan can go below, because that many must be in the arena at one moment.

Offsets are multiples of ``step``, the greatest common divisor of all alignments and fixed offsets. So of the buffers
alive at one moment every one but the topmost occupies its size rounded up to ``step``::

    step 16, sizes 20 and 24:   20 -> 32, 24 -> 32;  32 + 24 = 56 or 32 + 20 = 52: at least 52 (sum - largest slack)
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import gcd

from tflm_sim.planners.buffers import Buffer
from tflm_sim.units import align_up


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Return the most bytes that are alive at one moment, alignment padding and fixed offsets included."""
    occupied = [buffer for buffer in buffers if buffer.size > 0]
    step = gcd(*(buffer.alignment if buffer.offset is None else buffer.offset for buffer in occupied))
    fixed_end = max((buffer.offset + buffer.size for buffer in buffers if buffer.offset is not None), default=0)
    return max(fixed_end, _max_live_bytes(occupied, step or 1))


def _max_live_bytes(buffers: Sequence[Buffer], step: int) -> int:
    """Sweep the moments at which a buffer begins; those that ended are in ``by_end``, the slacks in ``slacks``."""
    live = peak = 0
    by_end: list[tuple[int, int]] = []
    slacks: list[tuple[int, int]] = []
    for buffer in sorted(buffers, key=lambda buffer: buffer.lower):
        now = buffer.lower
        while by_end and by_end[0][0] <= now:
            live -= heapq.heappop(by_end)[1]
        padded = align_up(buffer.size, step)
        live += padded
        heapq.heappush(by_end, (buffer.upper, padded))
        heapq.heappush(slacks, (buffer.size - padded, buffer.upper))
        while slacks[0][1] <= now:
            heapq.heappop(slacks)
        peak = max(peak, live + slacks[0][0])
    return peak
