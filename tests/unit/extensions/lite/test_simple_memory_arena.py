import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.simple_memory_arena import NO_ALLOC, ArenaAlloc, SimpleMemoryArena


def allocate(arena, size, first_node, last_node, alignment=64):
    return arena.allocate(size, alignment, tensor=0, first_node=first_node, last_node=last_node)


def test_a_gap_is_taken_when_it_fits_best():
    arena = SimpleMemoryArena()
    for size in (64, 256, 64, 128, 64):  # ends at 64, 320, 384, 512, 576
        allocate(arena, size, 0, 9)
    arena.active_allocs = [alloc for alloc in arena.active_allocs if alloc.size == 64]  # gaps of 256 and of 128
    assert allocate(arena, 100, 0, 9).offset == 384  # the gap of 128, not the lower one


def test_gaps_are_measured_as_upstream_measures_them():
    # Both gaps are 96 from their aligned offsets, 32 and 160. The first is kept as 127, from 1: so the second wins.
    arena = SimpleMemoryArena()
    ends = {"tensor": 0, "first_node": 0, "last_node": 0}
    arena.active_allocs = [ArenaAlloc(0, 1, **ends), ArenaAlloc(128, 32, **ends), ArenaAlloc(256, 1, **ends)]
    assert allocate(arena, 32, 0, 0, alignment=32).offset == 160


def test_intervals_that_do_not_meet_share_bytes():
    arena = SimpleMemoryArena()
    assert allocate(arena, 100, 0, 1).offset == 0
    assert allocate(arena, 100, 2, 3).offset == 0
    assert allocate(arena, 100, 1, 2).offset == 128
    assert arena.high_water_mark == 228


def test_a_resolved_offset_is_that_of_the_allocation():
    arena = SimpleMemoryArena()
    alloc = allocate(arena, 100, 0, 1)
    with pytest.raises(PlanningError) as error:
        arena.resolve_alloc(alloc)
    assert error.value.device_message == "tflite/simple_memory_arena.cc:453 committed_ was not true."
    assert arena.commit()
    assert arena.resolve_alloc(alloc) == 0
    assert arena.resolve_alloc(NO_ALLOC) is None


def test_bytes_survive_growth_but_not_release():
    arena = SimpleMemoryArena()
    allocate(arena, 4, 0, 1)
    assert arena.commit()
    arena.buffer[:] = b"abcd"
    allocate(arena, 4, 0, 1)
    assert arena.commit()
    assert arena.buffer == b"abcd" + bytes(60 + 4)
    arena.release_buffer()
    assert arena.commit()
    assert arena.buffer == bytes(68)


@pytest.mark.parametrize(
    ("alignment", "line"), [(0, "375 alignment != 0"), (128, "376 alignment <= underlying_buffer_.GetAlignment()")]
)
def test_an_alignment_that_the_arena_cannot_give_is_refused(alignment, line):
    with pytest.raises(PlanningError) as error:
        allocate(SimpleMemoryArena(64), 4, 0, 1, alignment=alignment)
    assert error.value.device_message == f"tflite/simple_memory_arena.cc:{line} was not true."


def test_more_than_a_size_t_can_count_is_refused_and_changes_nothing():
    arena = SimpleMemoryArena()
    allocate(arena, 64, 0, 1)
    with pytest.raises(PlanningError):
        allocate(arena, 2**64 - 64, 0, 1)
    assert arena.high_water_mark == 64
    assert len(arena.active_allocs) == 1


def test_active_allocs_are_those_of_the_node():
    arena = SimpleMemoryArena()
    early, late = allocate(arena, 64, 0, 1), allocate(arena, 64, 1, 5)
    arena.reset_allocs()
    arena.calculate_active_allocs([NO_ALLOC, late, early], 1)
    assert arena.active_allocs == [early, late]
    arena.purge_active_allocs(2)
    assert arena.active_allocs == [late]
    arena.purge_after(0)
    assert arena.active_allocs == []
