"""TFLite's ``SimpleMemoryArena``: offsets by usage intervals, and a buffer that grows to the high water mark.

A new tensor looks at the allocations whose interval meets its own, lowest first, and takes the gap that fits best;
without one it goes above them all::

    offset
    6144 |         +---------+   4: size 1023, nodes 4..6, above 2
    4096 |       +-----2-----+
    2048 |   +----1----+   5      5: size 1023, node 6: the gap below 2 that 1 left (1 ends at node 5)
       0 | +--0--+   +--3--+      3: size 2047, nodes 5..6, where 0 was (0 ends at node 3)
         +-1-2-3-4-5-6- node

Invariant: ``active_allocs`` is ordered by offset, and no two of them whose intervals meet share a byte.

Source: tflite/simple_memory_arena.h, simple_memory_arena.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from bisect import insort_right
from collections.abc import Iterable
from dataclasses import dataclass

from tflm_sim.errors import ModelError, PlanningError
from tflm_sim.units import align_up

DEFAULT_ARENA_ALIGNMENT = 64
NODE_NOT_ASSIGNED = 2**31 - 1
"""The last node of a tensor that is never deallocated (kNodeNotAssigned)."""

_SIZE_MAX = 2**64 - 1
_GAP_OVERFLOW = "simple_memory_arena.cc:402 CheckedAdd(aligned_current_offset, size, &aligned_current_end)"
_END_OVERFLOW = "simple_memory_arena.cc:426 CheckedAdd(best_offset, size, &required_buffer_size)"
_MAX_ALLOCATION = 2**63 - 1  # malloc refuses more than PTRDIFF_MAX


@dataclass(frozen=True, slots=True)
class ArenaAlloc:
    """Where a tensor is (ArenaAllocWithUsageInterval); ``ArenaAlloc()`` is one that has no place yet.

    Attributes:
        offset: Bytes from the base of the arena.
        size: Bytes; 0 resolves to no address.
        tensor: Its index, -1 for none.
        first_node: The node before which the bytes are needed, inclusive.
        last_node: The node after which they are free, inclusive.
    """

    offset: int = 0
    size: int = 0
    tensor: int = -1
    first_node: int = -1
    last_node: int = -1

    @property
    def end(self) -> int:
        """The first byte above it."""
        return self.offset + self.size


NO_ALLOC = ArenaAlloc()


class SimpleMemoryArena:
    """An arena of the runtime (mutable): plan with ``allocate``, then ``commit``, then ``resolve_alloc``.

    Attributes:
        alignment: The base's alignment; no tensor can ask for more.
        high_water_mark: The bytes that the plan needs.
        active_allocs: The allocations that a new one has to respect, by offset.
        buffer_size: The bytes of the committed buffer; it never shrinks but by ``release_buffer``.
    """

    def __init__(self, alignment: int = DEFAULT_ARENA_ALIGNMENT) -> None:
        self.alignment = alignment
        self.high_water_mark = 0
        self.active_allocs: list[ArenaAlloc] = []
        self.buffer_size = 0
        self._is_committed = False
        self._buffer = bytearray()

    @property
    def buffer(self) -> bytearray:
        """The committed bytes, zero at first; they are made when they are first looked at and survive growth.

        Raises:
            ModelError: This machine does not have so many.
        """
        if len(self._buffer) < self.buffer_size:
            try:
                grown = bytearray(self.buffer_size)  # Zeros that nobody looks at take no memory.
            except (MemoryError, OverflowError):
                raise ModelError(f"this machine has no memory for an arena of {self.buffer_size:,} bytes") from None
            grown[: len(self._buffer)] = self._buffer
            self._buffer = grown
        return self._buffer

    def reset_allocs(self) -> None:
        """Forget all allocations but not the high water mark."""
        self.active_allocs = []

    def purge_active_allocs(self, node: int) -> None:
        """Forget the allocations that end before ``node``; this only saves time."""
        self.active_allocs = [alloc for alloc in self.active_allocs if alloc.last_node >= node]

    def purge_after(self, node: int) -> None:
        """Forget the allocations that begin after ``node``."""
        self.active_allocs = [alloc for alloc in self.active_allocs if alloc.first_node <= node]

    def calculate_active_allocs(self, allocs: Iterable[ArenaAlloc], node: int) -> None:
        """Make those of ``allocs`` active that are in use at ``node``."""
        active = [alloc for alloc in allocs if alloc.first_node <= node <= alloc.last_node]
        self.active_allocs = sorted(active, key=_offset)

    def allocate(self, size: int, alignment: int, *, tensor: int, first_node: int, last_node: int) -> ArenaAlloc:
        """Plan ``size`` bytes, in use from ``first_node`` to ``last_node``, both inclusive, and return where.

        Raises:
            PlanningError: An alignment that the arena cannot give, or more bytes than a size_t can count.
        """
        if not 0 < alignment <= self.alignment:
            which = "375 alignment != 0" if alignment == 0 else "376 alignment <= underlying_buffer_.GetAlignment()"
            what = f"alignment {alignment} in an arena aligned to {self.alignment}"
            raise ensure_failed(what, f"simple_memory_arena.cc:{which}")
        if size == 0:
            return ArenaAlloc(0, 0, tensor, first_node, last_node)
        offset = self._best_offset(size, alignment, first_node, last_node)
        if offset + size > _SIZE_MAX:
            raise _overflow(offset, size, _END_OVERFLOW)
        self.high_water_mark = max(self.high_water_mark, offset + size)
        alloc = ArenaAlloc(offset, size, tensor, first_node, last_node)
        insort_right(self.active_allocs, alloc, key=_offset)
        return alloc

    def _best_offset(self, size: int, alignment: int, first_node: int, last_node: int) -> int:
        best_offset = None
        best_fit = _SIZE_MAX
        current = 0
        for alloc in self.active_allocs:
            if alloc.last_node < first_node or alloc.first_node > last_node:
                continue
            aligned = align_up(current, alignment)
            if aligned + size > _SIZE_MAX:
                raise _overflow(aligned, size, _GAP_OVERFLOW)
            # Upstream compares a gap measured from the aligned offset with one measured from the unaligned offset.
            if aligned + size <= alloc.offset and alloc.offset - aligned < best_fit:
                best_offset = aligned
                best_fit = alloc.offset - current
            current = max(current, alloc.end)
        return align_up(current, alignment) if best_offset is None else best_offset

    def commit(self) -> bool:
        """Grow the buffer to the high water mark and return whether that moved it; its bytes survive.

        Raises:
            PlanningError: No allocator has that many bytes; the arena is then not committed. Smaller sizes always
                succeed, because the memory of the phone is not modelled.
        """
        self._is_committed = False
        if self.high_water_mark + self.alignment - 1 > _MAX_ALLOCATION:
            raise PlanningError(f"no allocator gives {self.high_water_mark} bytes")
        is_reallocated = self.high_water_mark > self.buffer_size
        self.buffer_size = max(self.buffer_size, self.high_water_mark)
        self._is_committed = True
        return is_reallocated

    def resolve_alloc(self, alloc: ArenaAlloc) -> int | None:
        """Return the offset (bytes from the base) of ``alloc``, None when it has no bytes.

        Raises:
            PlanningError: The arena is not committed, or its buffer ends below the end of ``alloc``.
        """
        if not self._is_committed:
            raise ensure_failed("the arena is not committed", "simple_memory_arena.cc:453 committed_")
        if alloc.end > self.buffer_size:
            failed = "simple_memory_arena.cc:457 underlying_buffer_.GetSize() >= alloc_end"
            raise ensure_failed(f"bytes to {alloc.end} in a buffer of {self.buffer_size}", failed)
        return alloc.offset if alloc.size else None

    def clear_plan(self) -> None:
        """Forget the plan but keep the buffer."""
        self._is_committed = False
        self.high_water_mark = 0
        self.active_allocs = []

    def release_buffer(self) -> None:
        """Give the buffer back but keep the plan; ``commit`` makes a new one."""
        self._is_committed = False
        self.buffer_size = 0
        self._buffer = bytearray()


def ensure_failed(sentence: str, condition: str) -> PlanningError:
    """Return the error of a TF_LITE_ENSURE; ``condition`` is ``file:line expression`` below tflite/."""
    return PlanningError(sentence, device_message=f"tflite/{condition} was not true.")


def _overflow(offset: int, size: int, condition: str) -> PlanningError:
    return ensure_failed(f"{size} bytes at {offset} are more than a size_t can count", condition)


def _offset(alloc: ArenaAlloc) -> int:
    return alloc.offset
