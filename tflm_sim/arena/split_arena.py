"""Persistent and non-persistent memory in two arenas, as ``MicroAllocator::Create`` with two buffers makes them.

    non-persistent:  | head -> |  temp ->           free |        persistent:  |            free        <- tail |

The persistent arena ends at the last multiple of 16, the non-persistent one starts at the first; what lies outside is
lost. Neither can grow into the other, so that no byte is ever handed out twice.

Source: tensorflow/lite/micro/arena_allocator/{persistent,non_persistent}_arena_buffer_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.arena.arena import ArenaRules, EventSender, SingleArenaBufferAllocator
from tflm_sim.arena.events import Observer
from tflm_sim.units import align_down, align_up

ALIGNMENT = 16


_RULES = ArenaRules(resize_refused="ResetTempAllocations() is not called before ResizeBuffer().")


class NonPersistentArenaBufferAllocator(SingleArenaBufferAllocator):
    """An arena for head and temp (mutable). It has one resizable buffer at a time, and a log message of its own."""

    __slots__ = ("_has_resizable_buffer",)

    def __init__(
        self, size: int, *, address: int = 0, pointer_size: int = 4, observers: Sequence[Observer] = ()
    ) -> None:
        super().__init__(size, address=address, pointer_size=pointer_size, observers=observers, rules=_RULES)
        self._has_resizable_buffer = False

    def allocate_resizable_buffer(self, size: int, alignment: int) -> int | None:
        """Take the head for a buffer of ``size`` bytes and return its offset; None and a log line when it is taken."""
        if self._has_resizable_buffer:
            self.log("Cannot allocate a new resizable buffer when one is already allocated")
            return None
        offset = super().allocate_resizable_buffer(size, alignment)
        self._has_resizable_buffer = offset is not None
        return offset

    def deallocate_resizable_buffer(self) -> bool:
        ok = super().deallocate_resizable_buffer()
        self._has_resizable_buffer = self._has_resizable_buffer and not ok
        return ok


class SplitArena(EventSender):
    """A pair of arenas behind the interface of one (mutable); offsets of persistent buffers count from their own arena.

    Args:
        persistent_size: Bytes of the persistent arena.
        non_persistent_size: Bytes of the non-persistent arena.
        persistent_address: Where the persistent arena starts in memory, modulo 16.
        non_persistent_address: Likewise for the other.
        pointer_size: Bytes of ``size_t``.
        observers: Functions that are called with each event.
    """

    def __init__(
        self,
        persistent_size: int,
        non_persistent_size: int,
        *,
        persistent_address: int = 0,
        non_persistent_address: int = 0,
        pointer_size: int = 4,
        observers: Sequence[Observer] = (),
    ) -> None:
        super().__init__(observers)
        end = align_down(persistent_address + persistent_size, ALIGNMENT)
        start = align_up(non_persistent_address, ALIGNMENT)
        self.persistent = SingleArenaBufferAllocator(
            end - persistent_address, address=persistent_address, pointer_size=pointer_size, observers=observers
        )
        self.non_persistent = NonPersistentArenaBufferAllocator(
            non_persistent_address + non_persistent_size - start,
            address=start,
            pointer_size=pointer_size,
            observers=observers,
        )
        self.allocate_persistent_buffer = self.persistent.allocate_persistent_buffer
        self.allocate_temp = self.non_persistent.allocate_temp
        self.allocate_temps = self.non_persistent.allocate_temps
        self.allocate_temp_groups = self.non_persistent.allocate_temp_groups
        self.deallocate_temp = self.non_persistent.deallocate_temp
        self.deallocate_temps = self.non_persistent.deallocate_temps
        self.reset_temp_allocations = self.non_persistent.reset_temp_allocations
        self.allocate_resizable_buffer = self.non_persistent.allocate_resizable_buffer
        self.resize_buffer = self.non_persistent.resize_buffer
        self.deallocate_resizable_buffer = self.non_persistent.deallocate_resizable_buffer
        self.reserve_non_persistent_overlay_memory = self.non_persistent.reserve_non_persistent_overlay_memory
        self.available_memory = self.non_persistent.available_memory

    @property
    def size(self) -> int:
        """Usable bytes of both arenas."""
        return self.persistent.size + self.non_persistent.size

    @property
    def head(self) -> int:
        """Bytes of the head."""
        return self.non_persistent.head

    @property
    def non_persistent_used_bytes(self) -> int:
        """Bytes of the non-persistent arena up to the end of head or temp."""
        return self.non_persistent.non_persistent_used_bytes

    @property
    def persistent_used_bytes(self) -> int:
        """Bytes taken from the persistent arena's end."""
        return self.persistent.persistent_used_bytes

    @property
    def used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports."""
        return self.non_persistent_used_bytes + self.persistent_used_bytes
