"""``memory_plan_lines``: what GreedyMemoryPlanner::PrintMemoryPlan sends to the log, character for character.

First a line per buffer, then a row per moment: 80 columns stand for the whole plan, a buffer is drawn with its
character, ``!`` where two share a column. A buffer that is alive at one moment only is ``*``::

    0 (id=0): size=10, offset=50, first_used=0 last_used=1
       0: ....(one row per moment)

Source: tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc @ 90b983c
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.planners.memory_planner import BufferRequirements

LINE_WIDTH = 80
_ORDINALS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def memory_plan_lines(buffers: Sequence[BufferRequirements], offsets: Sequence[int]) -> list[str]:
    """Return the log lines for ``buffers`` at ``offsets`` (bytes), without newlines.

    The device computes columns in 32 bits; from 2^31 / 80 bytes (26,843,546) on, its picture is garbage.
    """
    characters = [
        "*" if buffer.first_time_used == buffer.last_time_used else _ORDINALS[index % len(_ORDINALS)]
        for index, buffer in enumerate(buffers)
    ]
    lines = [
        f"{character} (id={index}): size={buffer.size}, offset={offset}, "
        f"first_used={buffer.first_time_used} last_used={buffer.last_time_used}"
        for index, (character, buffer, offset) in enumerate(zip(characters, buffers, offsets, strict=True))
    ]
    scale = max((offset + buffer.size for buffer, offset in zip(buffers, offsets, strict=True)), default=0)
    max_time = max((buffer.last_time_used for buffer in buffers), default=0)
    placed = list(zip(characters, buffers, offsets, strict=True))
    return lines + [_row(time, placed, max(LINE_WIDTH, scale)) for time in range(max(0, max_time) + 1)]


def _row(time: int, placed: Sequence[tuple[str, BufferRequirements, int]], scale: int) -> str:
    columns = ["."] * LINE_WIDTH
    memory_use = 0
    for character, buffer, offset in placed:
        if offset == -1 or not buffer.first_time_used <= time <= buffer.last_time_used:
            continue
        memory_use += buffer.size
        begin, end = offset * LINE_WIDTH // scale, (offset + buffer.size) * LINE_WIDTH // scale
        for column in range(max(0, begin), end):
            columns[column] = character if columns[column] == "." else "!"
    return f"{time:4d}: {''.join(columns)} ({(memory_use + 1023) // 1024}k)"
