"""Numbers that TFLM fixes at compile time. Source: tensorflow/lite/micro/micro_allocator.cc,
micro_arena_constants.h, memory_planner/*.h @ 90b983c."""

from __future__ import annotations

MICRO_ARENA_BUFFER_ALIGNMENT = 16
"""``MicroArenaBufferAlignment()``: alignment of planned buffers and of kernels' persistent buffers, bytes."""

MAX_SCRATCH_BUFFERS_PER_OP = 12
"""``kMaxScratchBuffersPerOp``: how many scratch buffers one Prepare may request."""
