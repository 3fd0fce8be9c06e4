"""The tests of the older arena that people quote: simple_memory_arena_test.cc of its time."""

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.earlier_planners import ListAlloc, ListMemoryArena


def test_basic_arena_operations():
    arena = ListMemoryArena(64)
    first, second, third = (arena.allocate(2047, 32) for _ in range(3))
    arena.deallocate(first)
    fourth = arena.allocate(1023, 32)
    fifth = arena.allocate(2047, 32)
    arena.deallocate(second)
    sixth = arena.allocate(1023, 32)
    assert [alloc.offset for alloc in (first, second, third)] == [0, 2048, 4096]
    assert fourth.offset == 0
    assert fifth.offset == 6144  # the gap from 1024 to 2048 is too small
    assert sixth.offset == 1024


def test_test_after_clear():
    arena = ListMemoryArena(64)
    assert [arena.allocate(2047, 32).offset for _ in range(3)] == [0, 2048, 4096]
    arena.commit()
    arena.clear_plan()
    assert [arena.allocate(1023, 32).offset for _ in range(3)] == [0, 1024, 2048]
    arena.commit()
    arena.clear_plan()
    assert [arena.allocate(4095, 32).offset for _ in range(3)] == [0, 4096, 8192]
    arena.commit()
    assert arena.buffer_size == 64 + (8192 + 4095) + 64


def test_no_bytes_take_no_place():
    arena = ListMemoryArena(64)
    alloc = arena.allocate(0, 32)
    assert alloc == ListAlloc(0, 0)
    arena.deallocate(alloc)
    arena.commit()
    assert arena.resolve_alloc(alloc) is None
    assert arena.resolve_alloc(ListAlloc(0, 4)) == 0


def test_what_is_not_allocated_cannot_be_freed():
    arena = ListMemoryArena(64)
    arena.allocate(64, 32)
    with pytest.raises(PlanningError):
        arena.deallocate(ListAlloc(0, 32))


def test_an_alignment_beyond_that_of_the_arena_is_refused():
    with pytest.raises(PlanningError):
        ListMemoryArena(64).allocate(4, 128)


def test_nothing_resolves_before_commit_or_after_release():
    arena = ListMemoryArena(64)
    alloc = arena.allocate(4, 4)
    with pytest.raises(PlanningError):
        arena.resolve_alloc(alloc)
    arena.commit()
    assert arena.resolve_alloc(alloc) == 0
    arena.release_buffer()
    assert arena.buffer_size == 0
    with pytest.raises(PlanningError):
        arena.resolve_alloc(alloc)
