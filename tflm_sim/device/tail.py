"""Persistent allocations that TFLM checks: the device prints why, and AllocateTensors() fails."""

from __future__ import annotations

from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.errors import ArenaOverflowError


def take_persistent(
    arena: ArenaAllocator, size: int, alignment: int, *, label: str, message: str, category: str = ""
) -> int:
    """Take ``size`` bytes from the tail and return their offset.

    Args:
        arena: Whose tail.
        size, alignment: Bytes.
        label: What it is for, for people.
        message: What the device prints when it does not fit.
        category: The ``RecordedAllocationType`` that counts it.

    Raises:
        ArenaOverflowError: It does not fit.
    """
    offset = arena.allocate_persistent_buffer(size, alignment, category=category, label=label)
    if offset is None:
        arena.log(message)
        raise ArenaOverflowError(
            f"tail: {size} bytes (align {alignment}) for {label} do not fit", device_message=message
        )
    return offset
