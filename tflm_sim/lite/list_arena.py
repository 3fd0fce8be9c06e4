"""The older ``SimpleMemoryArena``: a list of allocations, each of which is freed explicitly.

A new allocation takes the gap that fits best between those of the moment, else the end of the list::

    allocate 2047, 2047, 2047   [0    2047) [2048 4095) [4096 6143)
    deallocate the first                    [2048 4095) [4096 6143)
    allocate 1023               [0 1023)    [2048 4095) [4096 6143)
    allocate 2047                                                   [6144 8191): the gap at 1024 is too small

Source: tensorflow/contrib/lite/simple_memory_arena.cc as of 2018; arenas have known usage intervals since 2020
"""

from __future__ import annotations

from tflm_sim.errors import PlanningError
from tflm_sim.lite.simple_memory_arena import DEFAULT_ARENA_ALIGNMENT
from tflm_sim.units import align_up
from tflm_sim.values import dataclass


@dataclass(frozen=True, slots=True)
class ListAlloc:
    """An allocation: offset from the base of the arena and size, in bytes."""

    offset: int = 0
    size: int = 0

    @property
    def end(self) -> int:
        """The first byte above it."""
        return self.offset + self.size


class ListMemoryArena:
    """An arena with an explicit ``deallocate`` (mutable).

    Attributes:
        alignment: The base's alignment; no allocation can ask for more.
        high_water_mark: The bytes that the plan needs.
        allocs: What is allocated now, in the order of the list.
        buffer_size: The bytes of the committed buffer; it never shrinks but by ``release_buffer``.
    """

    def __init__(self, alignment: int = DEFAULT_ARENA_ALIGNMENT) -> None:
        self.alignment = alignment
        self.high_water_mark = 0
        self.allocs: list[ListAlloc] = []
        self.buffer_size = 0
        self._is_committed = False

    @property
    def required_buffer_size(self) -> int:
        """The bytes that ``commit`` asks for: room to align the base, the high water mark, and some padding."""
        padding = self.alignment  # so that small allocations do not move the buffer at once
        return self.alignment + self.high_water_mark + padding

    def allocate(self, size: int, alignment: int) -> ListAlloc:
        """Plan ``size`` bytes and return where; 0 bytes take no place in the list.

        Raises:
            PlanningError: The arena cannot give that alignment.
        """
        if not 0 < alignment <= self.alignment:
            raise PlanningError(f"alignment {alignment} in an arena aligned to {self.alignment}")
        if size == 0:
            return ListAlloc()
        place, offset = self._best_place(size, alignment)
        alloc = ListAlloc(offset, size)
        self.allocs.insert(place, alloc)
        self.high_water_mark = max(self.high_water_mark, alloc.end)
        return alloc

    def _best_place(self, size: int, alignment: int) -> tuple[int, int]:
        """Return the place in the list and the offset."""
        best: tuple[int, int, int] | None = None
        current = 0
        for place, alloc in enumerate(self.allocs):
            aligned = align_up(current, alignment)
            gap = alloc.offset - current
            if aligned + size <= alloc.offset and (best is None or gap < best[0]):
                best = (gap, place, aligned)
            current = alloc.end
        return (len(self.allocs), align_up(current, alignment)) if best is None else best[1:]

    def deallocate(self, alloc: ListAlloc) -> None:
        """Free an allocation; one of 0 bytes was never there.

        Raises:
            PlanningError: Nothing is allocated at its offset, or something of another size.
        """
        if alloc.size == 0:
            return
        if alloc not in self.allocs:
            raise PlanningError(f"{alloc.size} bytes at {alloc.offset} are freed but not allocated")
        self.allocs.remove(alloc)

    def commit(self) -> None:
        """Grow the buffer to what the plan requires; its bytes survive."""
        self.buffer_size = max(self.buffer_size, self.required_buffer_size)
        self._is_committed = True

    def resolve_alloc(self, alloc: ListAlloc) -> int | None:
        """Return the offset (bytes from the base) of ``alloc``, None when it has no bytes.

        Raises:
            PlanningError: The arena is not committed.
        """
        if not self._is_committed:
            raise PlanningError("the arena is not committed")
        return alloc.offset if alloc.size else None

    def clear_plan(self) -> None:
        """Forget the plan but keep the buffer."""
        self._is_committed = False
        self.high_water_mark = 0
        self.allocs = []

    def release_buffer(self) -> None:
        """Give the buffer back but keep the plan."""
        self._is_committed = False
        self.buffer_size = 0
