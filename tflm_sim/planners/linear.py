"""TFLM's ``LinearMemoryPlanner``: every buffer gets its own bytes, one after the other, for the whole invocation.

Source: tensorflow/lite/micro/memory_planner/linear_memory_planner.cc @ 90b983c
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import PlanningError
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.memory_planner import check_buffer_index, too_many_buffers
from tflm_sim.units import align_up

MAX_BUFFER_COUNT = 1024


class LinearMemoryPlanner:
    """The planner behind ``preserve_all_tensors`` (mutable while buffers are added).

    It has no AddBuffer for offline offsets of its own: the base class answers with kTfLiteError and prints nothing.
    """

    per_buffer_size = 0

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._next_free_offset = 0

    @property
    def buffer_count(self) -> int:
        return len(self._offsets)

    def init(self, scratch_size: int) -> None:
        """Do nothing: the table is part of the planner, and buffers added before stay."""

    def add_buffer(
        self, size: int, first_time_used: int, last_time_used: int, *, offline_offset: int | None = None
    ) -> None:
        """Place the next ``size`` bytes above all others; the lifetime does not matter.

        Raises:
            PlanningError: More than 1024 buffers, or an offline offset, which this planner does not know.
        """
        if offline_offset is not None:
            raise PlanningError("LinearMemoryPlanner refuses a buffer with an offline offset and prints nothing")
        if self.buffer_count >= MAX_BUFFER_COUNT:
            raise too_many_buffers(MAX_BUFFER_COUNT)
        self._offsets.append(self._next_free_offset)
        self._next_free_offset += size

    def maximum_memory_size(self) -> int:
        """Return the sum of all sizes in bytes."""
        return self._next_free_offset

    def offsets(self) -> Sequence[int]:
        """Return the offset of every buffer in bytes."""
        return self._offsets

    def offset_for_buffer(self, buffer_index: int) -> int:
        """Return the offset in bytes; PlanningError when there is no such buffer."""
        check_buffer_index(buffer_index, self.buffer_count)
        return self._offsets[buffer_index]

    def print_memory_plan(self) -> list[str]:
        """Return no lines: upstream prints nothing for this planner."""
        return []


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the plan that stacks all buffers, as LinearMemoryPlanner does, with any number of them.

    A buffer with a fixed offset keeps it and everything else goes above the highest of those. ``time_limit`` is there
    because all planners have it: this one is done at once.
    """
    top = max((buffer.offset + buffer.size for buffer in buffers if buffer.offset is not None), default=0)
    offsets = []
    for buffer in buffers:
        if buffer.offset is not None:
            offsets.append(buffer.offset)
            continue
        offset = align_up(top, buffer.alignment)
        offsets.append(offset)
        top = offset + buffer.size
    return plan_of(buffers, offsets)
