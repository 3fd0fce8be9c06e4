"""Two arenas: neither grows into the other, and alignment is lost at the outer ends."""

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, LogLine
from tflm_sim.arena.split_arena import SplitArena


def test_the_persistent_arena_ends_at_a_multiple_of_16() -> None:
    arena = SplitArena(50, 64)
    assert arena.allocate_persistent_buffer(8, 4) == 40  # the end is 48
    assert arena.size == 48 + 64


def test_the_non_persistent_arena_starts_at_a_multiple_of_16() -> None:
    arena = SplitArena(64, 50, non_persistent_address=4)
    assert arena.size == 64 + 38  # 12 bytes are skipped


def test_persistent_memory_cannot_use_what_is_free_in_the_other_arena() -> None:
    lines: list[object] = []
    arena = SplitArena(16, 1024, observers=[lines.append])
    assert arena.allocate_persistent_buffer(17, 1) is None
    assert lines == [LogLine("Failed to allocate tail memory. Requested: 17, available 16, missing: 1")]


def test_head_and_temp_live_in_the_non_persistent_arena() -> None:
    arena = SplitArena(64, 64)
    arena.allocate_persistent_buffer(64, 16)
    assert arena.resize_buffer(48, 16)
    assert arena.allocate_temp(16, 16) == 48
    assert arena.head == 48
    assert arena.used_bytes == 64 + 64


def test_a_refused_resize_has_its_own_message() -> None:
    lines: list[object] = []
    arena = SplitArena(64, 64, observers=[lines.append])
    arena.allocate_temp(4, 4)
    assert not arena.resize_buffer(4, 4)
    assert LogLine("ResetTempAllocations() is not called before ResizeBuffer().") in lines
    assert "Internal error" in SingleArenaBufferAllocator(64).rules.resize_refused


def test_the_resizable_buffer_is_there_once_at_a_time() -> None:
    lines: list[object] = []
    arena = SplitArena(64, 64, observers=[lines.append])
    assert arena.allocate_resizable_buffer(16, 16) == 0
    assert arena.allocate_resizable_buffer(16, 16) is None
    assert lines[-1] == LogLine("Cannot allocate a new resizable buffer when one is already allocated")
    assert arena.deallocate_resizable_buffer()
    assert arena.allocate_resizable_buffer(16, 16) == 0


def test_arenas_smaller_than_what_their_alignment_loses() -> None:
    events: list[Event] = []
    pair = SplitArena(4, 4, persistent_address=8, non_persistent_address=8, observers=[events.append])
    # The persistent arena ends at address 0, 8 below its start; the other one starts at 16, 4 above its end.
    assert (pair.persistent.size, pair.non_persistent.size) == (-8, -4)
    assert pair.allocate_persistent_buffer(24, 4) is None
    assert events == [LogLine("Failed to allocate tail memory. Requested: 24, available 4294967288, missing: 32")]


def test_both_arenas_start_at_address_0_of_a_32_bit_machine_unless_something_else_is_said() -> None:
    arena = SplitArena(16, 32)
    assert (arena.persistent.size, arena.non_persistent.size) == (16, 32)
    assert (arena.persistent.address, arena.non_persistent.address) == (0, 0)
    arena.allocate_temp(24, 1)
    assert arena.available_memory(32) == 0
    arena.allocate_temp(8, 1)
    assert arena.available_memory(64) == 2**32 - 64  # 32 down to 0, 32 up to 64.


def test_pointers_of_eight_bytes_wrap_later() -> None:
    arena = SplitArena(16, 32, persistent_address=8, non_persistent_address=8, pointer_size=8)
    # From 16 on there are 24 bytes: 16 and 40. Aligned to 64 both ways that is 0 - 64, as addresses.
    assert (arena.persistent.size, arena.non_persistent.size, arena.non_persistent.address) == (8, 24, 16)
    assert arena.available_memory(64) == 2**64 - 64


def test_a_buffer_that_does_not_fit_was_never_there() -> None:
    lines: list[object] = []
    arena = SplitArena(64, 16, observers=[lines.append])
    assert arena.allocate_resizable_buffer(17, 16) is None
    assert arena.allocate_resizable_buffer(16, 16) == 0
    arena.allocate_temp(0, 1)
    arena.non_persistent.temp = 16
    assert arena.non_persistent.deallocate_resizable_buffer()
    assert arena.allocate_resizable_buffer(16, 16) == 0


def test_a_head_that_cannot_be_given_back_is_still_taken() -> None:
    lines: list[object] = []
    arena = SplitArena(64, 64, observers=[lines.append])
    assert arena.allocate_resizable_buffer(16, 16) == 0
    arena.allocate_temp(4, 4)
    assert not arena.deallocate_resizable_buffer()
    assert arena.allocate_resizable_buffer(16, 16) is None
    assert lines[-1] == LogLine("Cannot allocate a new resizable buffer when one is already allocated")


def test_what_was_never_taken_can_be_given_back_and_is_not_taken_then() -> None:
    arena = SplitArena(64, 64)
    arena.allocate_temp(4, 4)
    assert not arena.deallocate_resizable_buffer()
    arena.deallocate_temp(0)
    assert arena.reset_temp_allocations()
    assert arena.allocate_resizable_buffer(16, 16) == 0
