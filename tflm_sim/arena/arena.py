"""TFLM's arena allocators, to the byte and to the message.

    base                                                                       base + size
     | head -> |  temp -> (until the next reset)         free         | <- tail |
     0      head                 temp                              tail      size

Invariant: 0 <= head <= temp, and a refused call changes nothing. ``temp <= tail`` holds too, unless TFLM itself breaks
it: ``allocate_persistent_buffer`` compares with the head and not with temp, and ``allocate_temp`` subtracts unsigned.
Both then hand out bytes that are in use; the device does not notice, we emit a ``Corruption``.

Source: tensorflow/lite/micro/arena_allocator/*.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tflm_sim.arena.events import Corruption, Event, LogLine, Observer, Persist, Resize, Temp, TempFree, TempReset
from tflm_sim.errors import ArenaOverflowError
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.units import align_down, align_up


def unsigned(value: int) -> int:
    """Return ``value`` as ``%u`` prints it: the low 32 bits."""
    return value & 0xFFFFFFFF


Temps = tuple[tuple[int, int], ...]
"""Temps that belong together, each (size, alignment) in bytes."""


def overwrites_temps(size: int, category: str) -> bool:
    """Return whether a persistent allocation is written while temps that it lies over are in use.

    Variables are not. AllocateVariables() writes nothing, and the AllocationInfos that are temps at that moment are
    filled in after it; ResetVariableTensors() writes the variables when all temps have been freed.

    Source: CommitStaticMemoryPlan() in micro_allocator.cc, micro_interpreter.cc @ 90b983c.
    """
    return size > 0 and category != RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA


class ArenaAllocator(Protocol):
    """The arena interface that ``MicroAllocator`` uses: one arena, or a persistent and a non-persistent one."""

    @property
    def size(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def is_heard(self) -> bool: ...
    def log(self, message: str) -> None: ...
    def tell(self, kind: Callable[..., Event], *facts: Any) -> None: ...
    def emit(self, event: Event) -> None: ...
    def allocate_persistent_buffer(
        self, size: int, alignment: int, *, category: str = "", label: str = ""
    ) -> int | None: ...
    def allocate_temp(self, size: int, alignment: int) -> int | None: ...
    def allocate_temps(self, wanted: Temps) -> tuple[tuple[int, ...], int]: ...
    def allocate_temp_groups(self, groups: tuple[Temps, ...]) -> list[tuple[int, ...]] | None: ...
    def deallocate_temp(self, offset: int) -> None: ...
    def deallocate_temps(self, offsets: Sequence[int]) -> None: ...
    def reset_temp_allocations(self) -> bool: ...
    def allocate_resizable_buffer(self, size: int, alignment: int) -> int | None: ...
    def resize_buffer(self, size: int, alignment: int) -> bool: ...
    def deallocate_resizable_buffer(self) -> bool: ...
    def reserve_non_persistent_overlay_memory(self, size: int, alignment: int) -> bool: ...
    def available_memory(self, alignment: int) -> int: ...


@dataclass(frozen=True, slots=True)
class ArenaRules:
    """What the versions of TFLM's allocator differ in.

    Attributes:
        checks_temps: Whether the temp section is emptied only when all temps were given back.
        resize_refused: The log message when the head cannot be resized now.
        resize_failed: The log message when the head does not fit.
    """

    checks_temps: bool = True
    resize_refused: str = (
        "Internal error: either buffer is not resizable or ResetTempAllocations() is not called before ResizeBuffer()."
    )
    resize_failed: str = "Failed to resize buffer."


NEWEST_RULES = ArenaRules()
SET_HEAD_RULES: dict[str, str] = {
    "resize_refused": "Internal error: SetHeadBufferSize() needs to be called after ResetTempAllocations().",
    "resize_failed": "Failed to set head size.",
}
"""The messages before the head was a resizable buffer (a6f1b9ebc)."""


class EventSender:
    """Sends events to the observers."""

    __slots__ = ("observers",)

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = tuple(observers)

    def log(self, message: str) -> None:
        """Emit the lines of one device message; an empty line is no line."""
        for line in message.split("\n"):
            if line:
                self.tell(LogLine, line)

    def tell(self, kind: Callable[..., Event], *facts: Any) -> None:
        """Create an event and send it to every observer; without observers, no event is created."""
        if self.observers:
            self.emit(kind(*facts))

    def emit(self, event: Event) -> None:
        """Send an event to every observer."""
        for observer in self.observers:
            observer(event)

    @property
    def is_heard(self) -> bool:
        return bool(self.observers)


class SingleArenaBufferAllocator(EventSender):
    """Head, temp and tail in one buffer (mutable).

    Args:
        size: Bytes from the aligned start of the arena to its end.
        address: Where the arena starts in memory; only its low bits matter.
        pointer_size: Bytes of ``size_t``: subtractions wrap at that width.
        observers: Functions that are called with each event.
        rules: Which version of the allocator it is.
    """

    __slots__ = (
        "_checksum",
        "_live_temps",
        "_mask",
        "_resizable",
        "_temp_count",
        "address",
        "head",
        "rules",
        "size",
        "tail",
        "temp",
    )

    def __init__(
        self,
        size: int,
        *,
        address: int = 0,
        pointer_size: int = 4,
        observers: Sequence[Observer] = (),
        rules: ArenaRules = NEWEST_RULES,
    ) -> None:
        super().__init__(observers)
        self.rules = rules
        self.size = size
        self.address = address
        self.head = 0
        self.temp = 0
        self.tail = size
        self._mask = (1 << 8 * pointer_size) - 1
        self._resizable = 0
        self._live_temps: dict[int, int] = {}
        self._temp_count = 0
        self._checksum = 0

    def align_up(self, offset: int, alignment: int) -> int:
        """Return the lowest offset, not below ``offset``, whose address is a multiple of ``alignment``."""
        return align_up(self.address + offset, alignment) - self.address

    def align_down(self, offset: int, alignment: int) -> int:
        """Return the highest offset, not above ``offset``, whose address is a multiple of ``alignment``."""
        return align_down(self.address + offset, alignment) - self.address

    def allocate_persistent_buffer(
        self, size: int, alignment: int, *, category: str = "", label: str = ""
    ) -> int | None:
        """Take ``size`` bytes from the tail; None and a log line when they would reach into the head.

        Raises:
            ArenaOverflowError: The size is negative as a signed ``size_t``: the device's pointer wraps around.
        """
        if not 0 <= size <= self._mask >> 1:
            raise ArenaOverflowError(
                f"tail: {size & self._mask} bytes for {label or 'a buffer'} wrap around: the device writes past it",
                status="abort",
            )
        offset = self.align_down(self.tail - size, alignment)
        if offset < self.head:
            missing = self.head - offset
            self.log(
                f"Failed to allocate tail memory. Requested: {unsigned(size)}, "
                f"available {unsigned(size - missing)}, missing: {unsigned(missing)}"
            )
            return None
        if (end := self.live_temp_end) > offset and overwrites_temps(size, category):
            self.tell(Corruption, f"tail: {size} bytes at {offset} overwrite temps that end at {end}")
        used = self.tail - offset
        self.tail = offset
        self.tell(Persist, size, alignment, offset, used, self.size - offset, category, label)
        return offset

    def allocate_temp(self, size: int, alignment: int) -> int | None:
        """Take ``size`` bytes after the last temp; None and a log line when the tail is in the way.

        The memory planner asks for all that is left. Where the next multiple of 16 is behind the tail, that is a size
        below zero: it wraps, and the temp ends before it starts.
        """
        offset = self.align_up(self.temp, alignment)
        available = self.tail - offset & self._mask
        if available < size:
            self.log(
                f"Failed to allocate temp memory. Requested: {unsigned(size)}, "
                f"available {unsigned(available)}, missing: {unsigned(size - available)}"
            )
            return None
        self.temp = offset + size & self._mask
        if self.tail < self.temp and size:
            self.tell(Corruption, f"temp: {size} bytes at {offset} overwrite the tail at {self.tail}")
        self._live_temps[offset] = self.temp
        self._temp_count += 1
        self._checksum ^= self.address + offset
        self.tell(Temp, size, alignment, offset, self.temp, self.tail)
        return offset

    def allocate_temp_groups(self, groups: tuple[Temps, ...]) -> list[tuple[int, ...]] | None:
        """Return None, so that the caller takes every temp by itself, with an event for each."""
        return None

    def allocate_temps(self, wanted: Temps) -> tuple[tuple[int, ...], int]:
        """Take one temp after the other, each (size, alignment), up to the first that does not fit.

        Returns:
            The temps to free later, and how many of the wanted ones fitted.
        """
        offsets = []
        for size, alignment in wanted:
            offset = self.allocate_temp(size, alignment)
            if offset is None:
                break
            offsets.append(offset)
        return tuple(offsets), len(offsets)

    def deallocate_temps(self, offsets: Sequence[int]) -> None:
        """Free temps, in the order of ``offsets``."""
        for offset in offsets:
            self.deallocate_temp(offset)

    def deallocate_temp(self, offset: int) -> None:
        """Free a temp; the end of the temp section stays where it is until the reset."""
        self._live_temps.pop(offset, None)
        self._temp_count -= 1
        self._checksum ^= self.address + offset
        self.tell(TempFree, offset)

    @property
    def live_temp_end(self) -> int:
        """The end of the last temp that was not freed; 0 when all were."""
        return max(self._live_temps.values(), default=0)

    def is_all_temp_deallocated(self) -> bool:
        """Return whether every temp was freed; log the device's message otherwise."""
        if self._temp_count or self._checksum:
            self.log(
                f"Number of allocated temp buffers: {self._temp_count}. "
                f"Checksum passing status: {int(not self._checksum)}"
            )
            return False
        return True

    def reset_temp_allocations(self) -> bool:
        """Empty the temp section; refused with two log lines while temps are not freed, in versions that count them."""
        if not self.rules.checks_temps:
            for offset in tuple(self._live_temps):
                self.tell(TempFree, offset)
            self._live_temps.clear()
            self._temp_count = self._checksum = 0
        ok = self.is_all_temp_deallocated()
        self.tell(TempReset, ok, self.temp, self.head)
        if not ok:
            self.log("All temp buffers must be freed before calling ResetTempAllocations()")
            return False
        self.temp = self.head
        return True

    def allocate_resizable_buffer(self, size: int, alignment: int) -> int | None:
        """Take the head for a buffer of ``size`` bytes and return its offset; None where ``resize_buffer`` refuses."""
        self._resizable = self.align_up(0, alignment)
        return self._resizable if self.resize_buffer(size, alignment) else None

    def resize_buffer(self, size: int, alignment: int) -> bool:
        """Set the head to ``size`` bytes from the arena's start; refused with a log line while temps are in use."""
        start = self.align_up(0, alignment)
        ok = self.head == self.temp
        if not ok:
            self.log(self.rules.resize_refused)
        elif (available := self.tail - start & self._mask) < size:
            ok = False
            self.log(
                f"{self.rules.resize_failed} Requested: {unsigned(size)}, "
                f"available {unsigned(available)}, missing: {unsigned(size - available)}"
            )
        else:
            self.head = self.temp = start + size
        self.tell(Resize, size, alignment, ok, self.head, self.tail)
        return ok

    def deallocate_resizable_buffer(self) -> bool:
        """Empty the head; refused with a log line where its buffer is not at the arena's start.

        That happens in an unaligned arena, where bytes were skipped to align the buffer.
        Source: single_arena_buffer_allocator.cc @ 90b983c, DeallocateResizableBuffer().
        """
        if self._resizable == 0:
            return self.resize_buffer(0, 1)
        self.log(self.rules.resize_refused)
        self.tell(Resize, 0, 1, False, self.head, self.tail)
        return False

    def reserve_non_persistent_overlay_memory(self, size: int, alignment: int) -> bool:
        """Set the head for the final plan."""
        return self.resize_buffer(size, alignment)

    def available_memory(self, alignment: int) -> int:
        """Bytes between temp and tail when both are aligned inwards; wraps like ``size_t`` when there are none."""
        return self.align_down(self.tail, alignment) - self.align_up(self.temp, alignment) & self._mask

    @property
    def non_persistent_used_bytes(self) -> int:
        """Bytes from the start to the end of head or temp, whichever is further."""
        return max(self.head, self.temp)

    @property
    def persistent_used_bytes(self) -> int:
        """Bytes from the tail to the end."""
        return self.size - self.tail

    @property
    def used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports."""
        return self.non_persistent_used_bytes + self.persistent_used_bytes
