"""``MemoryPlanner``: the interface that TFLM's planners share, as the allocator drives it.

The allocator offers what is left of the arena (``init``), adds the buffers, asks for the peak and for each offset.

Source: tensorflow/lite/micro/memory_planner/micro_memory_planner.h @ 90b983c
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tflm_sim.errors import PlanningError

ONLINE_PLANNED_BUFFER = -1
"""The ``offline_offset`` of a buffer that the planner may place (upstream: kOnlinePlannedBuffer)."""


class BufferRequirements(NamedTuple):
    """A buffer as TFLM's planners keep it: bytes, and a lifetime that is inclusive at both ends.

    Nothing is checked here: TFLM accepts a lifetime that begins at -1 (an output that no operator writes).
    """

    size: int
    offline_offset: int
    first_time_used: int
    last_time_used: int
    alignment: int = 1


class MemoryPlanner(Protocol):
    """What the allocator needs from a planner.

    Attributes:
        per_buffer_size: Bytes of arena that a buffer takes in the planner's tables; 0 where they are elsewhere.
    """

    per_buffer_size: int

    @property
    def buffer_count(self) -> int:
        """How many buffers the planner knows."""

    def init(self, scratch_size: int) -> None:
        """Forget all buffers and use ``scratch_size`` bytes of arena for the planner's own tables."""

    def add_buffer(
        self, size: int, first_time_used: int, last_time_used: int, *, offline_offset: int | None = None
    ) -> None:
        """Add a buffer of ``size`` bytes, needed from ``first_time_used`` to ``last_time_used``, both inclusive.

        Raises:
            PlanningError: The planner refuses it.
        """

    def maximum_memory_size(self) -> int:
        """Return the bytes that the plan needs."""

    def offsets(self) -> Sequence[int]:
        """Return the offset (bytes) of every buffer, in the order in which they were added.

        Raises:
            PlanningError: The planner refuses one of them.
        """

    def offset_for_buffer(self, buffer_index: int) -> int:
        """Return the offset (bytes) of the buffer that was added as number ``buffer_index``, from 0.

        Raises:
            PlanningError: There is no such buffer.
        """

    def print_memory_plan(self) -> list[str]:
        """Return the lines that PrintMemoryPlan sends to the log."""


def check_buffer_index(buffer_index: int, buffer_count: int) -> None:
    """Raise the PlanningError of GetOffsetForBuffer unless 0 <= ``buffer_index`` < ``buffer_count``."""
    if not 0 <= buffer_index < buffer_count:
        message = f"buffer index {buffer_index} is outside range 0 to {buffer_count}"
        raise PlanningError(f"the planner has no such buffer: {message}", device_message=message)


def too_many_buffers(max_buffer_count: int) -> PlanningError:
    """Return the error of AddBuffer when the planner's table is full."""
    message = f"Too many buffers (max is {max_buffer_count})"
    return PlanningError(f"the planner's table is full: {message}", device_message=message)
