"""The arena's arithmetic and messages, with the numbers written out."""

import pytest

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, Event, LogLine, Persist, Resize, Temp
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.split_arena import NonPersistentArenaBufferAllocator
from tflm_sim.errors import ArenaOverflowError
from tflm_sim.recorded import RecordedAllocationType


def make(size: int, *, address: int = 0) -> tuple[SingleArenaBufferAllocator, list[Event]]:
    events: list[Event] = []
    return SingleArenaBufferAllocator(size, address=address, observers=[events.append]), events


def test_the_tail_grows_down_and_aligns_down() -> None:
    arena, events = make(100)
    assert arena.allocate_persistent_buffer(10, 8, label="a") == 88  # 100 - 10 = 90, down to 88
    assert arena.allocate_persistent_buffer(3, 1) == 85
    assert events[0] == Persist(10, 8, 88, 12, 12, "", "a")
    assert arena.persistent_used_bytes == 15


def test_alignment_is_of_addresses() -> None:
    arena, _ = make(100, address=12)
    assert arena.allocate_persistent_buffer(4, 16) == 84  # 12 + 84 = 96
    assert arena.allocate_temp(4, 16) == 4  # 12 + 4 = 16


def test_a_tail_that_would_reach_the_head_is_refused_with_the_device_message() -> None:
    arena, events = make(64)
    assert arena.resize_buffer(40, 4)
    assert arena.allocate_persistent_buffer(32, 16) is None  # 64 - 32 = 32, 8 below the head
    assert events[-1] == LogLine("Failed to allocate tail memory. Requested: 32, available 24, missing: 8")
    assert (arena.head, arena.tail) == (40, 64)


def test_a_tail_that_reaches_live_temps_is_granted_and_called_corruption() -> None:
    arena, events = make(64)
    arena.allocate_temp(40, 4)
    assert arena.allocate_persistent_buffer(32, 16) == 32
    assert Corruption("tail: 32 bytes at 32 overwrite temps that end at 40") in events


def test_a_tail_that_reaches_temps_which_were_given_back_is_fine() -> None:
    arena, events = make(64)
    arena.deallocate_temp(arena.allocate_temp(40, 4) or 0)
    assert arena.allocate_persistent_buffer(32, 16) == 32
    assert not any(isinstance(event, Corruption) for event in events)


def test_a_temp_does_not_fit_by_the_bytes_that_are_missing() -> None:
    arena, events = make(64)
    arena.allocate_persistent_buffer(30, 1)
    assert arena.allocate_temp(40, 4) is None  # tail at 34
    assert events[-1] == LogLine("Failed to allocate temp memory. Requested: 40, available 34, missing: 6")


def test_a_temp_that_aligns_past_the_tail_is_granted_because_the_subtraction_wraps() -> None:
    arena, events = make(64)
    arena.allocate_temp(61, 1)
    arena.allocate_persistent_buffer(2, 1)  # the tail is at 62
    assert arena.allocate_temp(1, 16) == 64  # 62 - 64 wraps to 2^32 - 2
    assert Corruption("temp: 1 bytes at 64 overwrite the tail at 62") in events


def test_giving_a_temp_back_does_not_move_temp_only_the_reset_does() -> None:
    arena, events = make(64)
    arena.allocate_temp(8, 4)
    arena.deallocate_temp(0)
    assert arena.temp == 8
    assert arena.reset_temp_allocations()
    assert arena.temp == 0
    assert events[0] == Temp(8, 4, 0, 8, 64)


def test_a_reset_with_a_temp_out_is_refused_with_two_lines() -> None:
    arena, events = make(64)
    arena.allocate_temp(8, 4)
    arena.allocate_temp(8, 4)
    arena.deallocate_temp(8)
    assert not arena.reset_temp_allocations()
    assert [event.text for event in events if isinstance(event, LogLine)] == [
        "Number of allocated temp buffers: 1. Checksum passing status: 1",  # the offset 0 adds nothing to the sum
        "All temp buffers must be freed before calling ResetTempAllocations()",
    ]


def test_the_head_cannot_be_resized_while_temps_are_in_use() -> None:
    arena, events = make(64)
    arena.allocate_temp(8, 4)
    assert not arena.resize_buffer(16, 4)
    assert events[-1] == Resize(16, 4, False, 0, 64)
    assert isinstance(events[-2], LogLine)
    assert events[-2].text.startswith("Internal error: either buffer is not resizable")


def test_a_head_that_would_reach_the_tail_is_refused() -> None:
    arena, events = make(64)
    arena.allocate_persistent_buffer(32, 16)
    assert not arena.resize_buffer(33, 16)
    assert events[-2] == LogLine("Failed to resize buffer. Requested: 33, available 32, missing: 1")


def test_a_head_that_is_given_back_has_no_bytes() -> None:
    arena, _ = make(64)
    assert arena.resize_buffer(40, 4)
    assert arena.deallocate_resizable_buffer()
    assert (arena.head, arena.temp) == (0, 0)


def test_a_head_that_begins_behind_skipped_bytes_cannot_be_given_back() -> None:
    arena, events = make(64, address=13)
    assert arena.allocate_resizable_buffer(8, 4) == 3  # 13 + 3 = 16
    assert not arena.deallocate_resizable_buffer()
    assert events[-1] == Resize(0, 1, False, 3 + 8, 64)
    assert isinstance(events[-2], LogLine)
    assert events[-2].text.startswith("Internal error: either buffer is not resizable")


def test_available_memory_aligns_both_ends_inwards_and_wraps_when_nothing_is_left() -> None:
    arena, _ = make(64)
    arena.allocate_temp(5, 1)
    arena.allocate_persistent_buffer(5, 1)
    assert arena.available_memory(16) == 32  # 59 down to 48, 5 up to 16
    arena.allocate_temp(45, 1)
    assert arena.available_memory(16) == 2**32 - 16  # 48 - 64


def test_used_bytes_count_the_further_of_head_and_temp() -> None:
    arena, _ = make(64)
    arena.resize_buffer(8, 4)
    arena.allocate_temp(4, 4)
    arena.allocate_persistent_buffer(3, 1)
    assert arena.used_bytes == 12 + 3


def test_a_negative_size_stops_the_simulation_because_the_device_pointer_wraps() -> None:
    for size in (-1, 2**31, 2**32 - 10):
        arena, _ = make(64)
        with pytest.raises(ArenaOverflowError, match="wrap around") as failure:
            arena.allocate_persistent_buffer(size, 16, label="a kernel buffer")
        assert failure.value.status == "abort"
        assert arena.tail == 64


def test_a_size_is_negative_from_two_gibibytes_on_and_none_is_a_size() -> None:
    arena, events = make(64)
    assert arena.allocate_persistent_buffer(0, 1) == 64
    assert arena.allocate_persistent_buffer(2**31 - 1, 1) is None
    assert events[-1] == LogLine(
        f"Failed to allocate tail memory. Requested: {2**31 - 1}, available 64, missing: {2**31 - 1 - 64}"
    )
    wide = SingleArenaBufferAllocator(64, pointer_size=8)
    assert wide.allocate_persistent_buffer(2**31, 1) is None
    assert wide.allocate_persistent_buffer(2**63 - 1, 1) is None
    with pytest.raises(ArenaOverflowError, match=f"^tail: {2**64 - 1} bytes for a buffer wrap around: the device"):
        wide.allocate_persistent_buffer(-1, 1)
    with pytest.raises(ArenaOverflowError, match=f"^tail: {2**32 - 1} bytes for a name wrap around: the device"):
        arena.allocate_persistent_buffer(-1, 1, label="a name")


def test_the_head_is_compared_with_what_is_free_behind_skipped_bytes() -> None:
    arena, events = make(64, address=13)  # From 16 on there are 61 bytes.
    assert arena.resize_buffer(61, 16)
    assert not arena.resize_buffer(62, 16)
    assert events[-2] == LogLine("Failed to resize buffer. Requested: 62, available 61, missing: 1")


def test_a_head_of_no_bytes_begins_where_the_arena_does() -> None:
    arena, events = make(64, address=13)
    assert arena.allocate_resizable_buffer(8, 1) == 0
    assert arena.deallocate_resizable_buffer()
    assert events[-1] == Resize(0, 1, True, 0, 64)


def test_an_arena_starts_at_address_0_of_a_32_bit_machine_unless_something_else_is_said() -> None:
    for arena in (
        SingleArenaBufferAllocator(0),
        NonPersistentArenaBufferAllocator(0),
        MeasuringArena(0, table_bytes=0),
    ):
        assert arena.address == 0
        arena.temp = 16
        assert arena.available_memory(16) == 2**32 - 16


def test_a_temp_that_is_freed_twice_is_counted_as_the_device_counts() -> None:
    arena, events = make(64)
    offset = arena.allocate_temp(4, 4)
    assert offset is not None
    arena.deallocate_temp(offset)
    arena.deallocate_temp(offset)
    assert not arena.reset_temp_allocations()
    assert LogLine("Number of allocated temp buffers: -1. Checksum passing status: 1") in events


def test_all_that_is_left_may_be_less_than_nothing_and_is_granted() -> None:
    """Temps end at 90 and are aligned to 96; the tail at 95 is aligned to 80: 2^32 - 16 bytes, which end at 80."""
    events: list[Event] = []
    arena = SingleArenaBufferAllocator(95, observers=[events.append])
    assert arena.allocate_temp(90, 1) == 0
    rest = arena.available_memory(16)
    assert rest == 2**32 - 16
    assert arena.allocate_temp(rest, 16) == 96
    assert events[1:] == [Temp(2**32 - 16, 16, 96, 80, 95)]
    arena.deallocate_temps([0, 96])
    assert arena.reset_temp_allocations()


def test_a_temp_of_no_bytes_behind_the_tail_overwrites_nothing() -> None:
    events: list[Event] = []
    arena = SingleArenaBufferAllocator(95, observers=[events.append])
    arena.allocate_temp(90, 1)
    assert arena.allocate_temp(0, 16) == 96
    assert not any(isinstance(event, Corruption) for event in events)
    assert arena.allocate_temp(1, 1) == 96
    assert isinstance(events[-2], Corruption)


@pytest.mark.parametrize(
    ("size", "category", "overwrites"),
    [
        (16, "", True),
        (16, RecordedAllocationType.PERSISTENT_BUFFER_DATA, True),
        (16, RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA, False),
        (0, "", False),
    ],
)
def test_variables_and_what_has_no_bytes_may_lie_over_temps(size: int, category: str, overwrites: bool) -> None:
    """Nobody writes to a variable before all temps are freed."""
    events: list[Event] = []
    arena = SingleArenaBufferAllocator(100, observers=[events.append])
    arena.allocate_temp(90, 1)
    assert arena.allocate_persistent_buffer(size, 16, category=category) == (80 if size else 96)
    assert arena.allocate_persistent_buffer(size, 16, category=category) == (64 if size else 96)
    assert any(isinstance(event, Corruption) for event in events) is overwrites
