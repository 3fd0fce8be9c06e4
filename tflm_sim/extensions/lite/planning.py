"""TFLite's arena behind the planner interface: buffers to offsets.

Source: tflite/arena_planner.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import UsageError
from tflm_sim.extensions.lite.simple_memory_arena import DEFAULT_ARENA_ALIGNMENT, SimpleMemoryArena
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.by_name import Planner
from tflm_sim.planners.deadline import deadline_in


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the plan of ArenaPlanner: what lives throughout first, then by size, into the gap that fits best.

    Args:
        buffers: What to place.
        time_limit: Seconds; None for as long as it takes.

    Raises:
        UsageError: A fixed offset, which the arena does not know.
        NoPlanInTime: The time was over before there was a plan.
    """
    if any(buffer.offset is not None for buffer in buffers):
        raise UsageError("TFLite's arena does not know fixed offsets")
    begin = min((buffer.lower for buffer in buffers), default=0)
    end = max((buffer.upper for buffer in buffers), default=0)

    def placement_order(index: int) -> tuple[int, int, int, int]:
        buffer = buffers[index]
        if buffer.lower == begin and buffer.upper == end:
            return (0, 0, 0, index)
        return (1, -buffer.size, buffer.lower, index)

    arena = SimpleMemoryArena(max((buffer.alignment for buffer in buffers), default=DEFAULT_ARENA_ALIGNMENT))
    offsets = [0] * len(buffers)
    for index in deadline_in(time_limit).watch(sorted(range(len(buffers)), key=placement_order)):
        buffer = buffers[index]
        ends = {"first_node": buffer.lower, "last_node": buffer.upper - 1}
        offsets[index] = arena.allocate(buffer.size, buffer.alignment, tensor=index, **ends).offset
    return plan_of(buffers, offsets)


PLANNERS = (
    Planner(
        "tflite_arena_on_tflm_head",
        "LiteRT's ArenaPlanner on TFLM's head; what a phone needs, with its kernels' buffers, says 'lite'",
        plan,
    ),
)
"""What ``plan`` offers beside the core's planners."""
