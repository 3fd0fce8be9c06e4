"""TFLM's ``NonPersistentMemoryPlannerShim``: somebody else made the plan, TFLM only looks the offsets up.

Source: tensorflow/lite/micro/memory_planner/non_persistent_buffer_planner_shim.cc @ 90b983c
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import PlanningError


class NonPersistentMemoryPlannerShim:
    """A planner that repeats a given plan (mutable: it counts the buffers that are added).

    Args:
        offsets: Bytes from the base of the arena, one per buffer, in the order in which they will be added.
    """

    preserves_all_tensors = False

    def __init__(self, offsets: Sequence[int]) -> None:
        self._offsets = tuple(offsets)
        self._requested = 0

    @property
    def buffer_count(self) -> int:
        """How many buffers the given plan has, whether or not they were added."""
        return len(self._offsets)

    def init(self, scratch_size: int) -> None:
        """Do nothing: the shim needs no tables."""

    def add_buffer(
        self, size: int, first_time_used: int, last_time_used: int, *, offline_offset: int | None = None
    ) -> None:
        """Count a buffer; neither its size nor its lifetime is looked at.

        Raises:
            PlanningError: The given plan has fewer buffers, or an offline offset, which the shim does not know.
        """
        if offline_offset is not None:
            raise PlanningError("NonPersistentMemoryPlannerShim refuses an offline offset and prints nothing")
        self._requested += 1
        if self._requested > self.buffer_count:
            raise self._beyond_plan("add", self._requested)

    def maximum_memory_size(self) -> int:
        """Return 0, so that the allocator accepts the plan whatever its size."""
        return 0

    def offset_for_buffer(self, buffer_index: int) -> int:
        """Return the given offset in bytes.

        Raises:
            PlanningError: The given plan has fewer buffers. (Upstream does not check for a negative index.)
        """
        if not 0 <= buffer_index < self.buffer_count:
            raise self._beyond_plan("get offset for", buffer_index)
        return self._offsets[buffer_index]

    def print_memory_plan(self) -> list[str]:
        """Return no lines: upstream prints nothing for this planner."""
        return []

    def _beyond_plan(self, verb: str, number: int) -> PlanningError:
        message = f"Attempting to {verb} buffer {number}, but only {self.buffer_count} buffers in given buffer plan."
        return PlanningError(f"the offline plan is too short: {message}", device_message=message)
