"""``Needs``: what must fit in a roomy arena, solved for arenas of every remainder modulo 16."""

from __future__ import annotations

from tflm_sim.arena.events import Phase
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import ArenaStep, Needs
from tflm_sim.arena.stages import Stage

HERE = Phase, (Stage.CREATE,)


def needs() -> Needs:
    """6 bytes aligned to 4, then 16 aligned to 16, as they lie in an arena that ends at a multiple of 16."""
    found = Needs()
    found.persist(0, 6, 4, 8, "a", HERE)  # 6 -> 8
    found.persist(0, 16, 16, 32, "b", HERE)  # 8 + 16 -> 32
    return found


def test_an_arena_with_the_right_remainder_wastes_nothing_between_the_first_allocations() -> None:
    """An arena that ends at 6 modulo 16: a takes 6, b 16 more: a tail of 22 bytes below which 100 must fit."""
    found = needs()
    found.below(100, "temp", 4, 4, "", HERE)
    size, aligned, tail, binding = found.smallest_of_all(0, 0)
    assert (size, aligned, tail) == (134, 144, 22)  # 122 -> 134 = 8 * 16 + 6; 100 + 32 -> 144
    assert (binding.kind, binding.what, binding.place) == ("temp", "4 bytes (align 4)", "create")


def test_where_the_arena_starts_moves_its_end() -> None:
    """From address 4 an arena of 130 bytes ends at 134; one of 144 at 148, with a tail of 36 and 8 bytes to spare."""
    found = needs()
    found.below(100, "temp", 4, 4, "", HERE)
    assert found.smallest_of_all(4, 0)[:3] == (130, 144, 22)
    assert found.smallest_of_all(4, 12)[:3] == (146, 160, 22)  # 12 bytes are lost, 134 and 148 start at 16


def test_what_is_taken_later_counts_for_every_remainder_alike() -> None:
    found = needs()
    found.persist(100, 20, 16, 64, "c", HERE)  # 32 + 20 -> 64
    size, _, tail, binding = found.smallest_of_all(0, 0)
    assert (size, tail) == (166, 54)  # 22 + 32 = 54; 100 + 54 = 154 -> 166 = 10 * 16 + 6
    assert binding.what == "20 bytes (align 16) for c"


def test_before_the_tail_is_settled_every_row_counts() -> None:
    """60 bytes must fit below a alone: with a tail of 6 that is an arena of 66 or more; later needs are smaller."""
    found = Needs()
    found.persist(0, 6, 4, 8, "a", HERE)
    found.below(60, "head", 60, 1, "", HERE)
    size, _, tail, binding = found.smallest_of_all(0, 0)
    assert (size, tail, binding.what) == (66, 6, "60 bytes")


def test_a_step_that_needs_no_memory_below_the_tail_moves_no_figure_of_it() -> None:
    found = Needs()
    found.take_step(ArenaStep(16, 1, 0, None), 100, HERE)
    assert (found.non_persistent, found.tail_used) == (0, 16)
    found.take_step(ArenaStep(0, 0, 8, None), 100, HERE)
    assert found.non_persistent == 108


def test_the_larger_of_two_needs_binds_and_the_first_of_two_equal_ones() -> None:
    found = needs()
    for floor, size in ((40, 1), (50, 2), (50, 3), (45, 4)):
        found.below(floor, "temp", size, 1, "", HERE)
    assert found.smallest_of_all(0, 0)[3].size == 2
    assert found.non_persistent == 50


def test_the_smallest_arena_wins_and_not_the_one_with_the_smallest_tail() -> None:
    """61 bytes and a tail of 6 are 67: an arena that ends at 6 modulo 16 has 70, one that ends at 2 needs 82."""
    found = Needs()
    found.persist(0, 6, 4, 8, "a", HERE)
    found.below(61, "head", 61, 1, "", HERE)
    assert found.smallest_of_all(0, 0)[:3] == (70, 80, 6)  # 61 + 8 = 69 -> 80


def test_where_temps_begin_and_the_tail_stands_is_told_modulo_16() -> None:
    # 4 + 3 = 7; 4 + 1001 = 1005 = 62 * 16 + 13.
    arena = MeasuringArena(1001, address=4, table_bytes=0)
    arena.allocate_temp(3, 1)
    assert arena.ends_modulo_16 == (7, 13)


def test_nothing_is_needed_at_first() -> None:
    found = Needs()
    assert (found.head, found.tail_used, found.non_persistent, found.is_settled) == (0, 0, 0, False)
    assert found.as_step() == ArenaStep(0, 0, 0, None)


def test_without_persistent_memory_the_arena_is_as_large_as_what_lies_in_it() -> None:
    found = Needs()
    found.below(50, "temp", 50, 4, "", HERE)
    assert found.smallest_of_all(0, 0)[:3] == (50, 64, 0)


def test_what_needs_no_byte_is_a_need_too() -> None:
    found = Needs()
    found.persist(0, 0, 16, 0, "nothing", HERE)
    size, aligned, tail, binding = found.smallest_of_all(0, 0)
    assert (size, aligned, tail, binding.label) == (0, 0, 0, "nothing")


def test_of_a_step_and_a_need_before_it_that_are_equal_the_need_before_binds() -> None:
    found = needs()
    found.below(68, "head", 68, 16, "", HERE)  # 32 of tail and 68: 100
    step = needs().as_step()
    assert step.late is None or step.late.need <= 32
    late = Needs()
    late.is_settled = True
    late.below(20, "temp", 20, 4, "", HERE)
    found.take_step(late.as_step(), 48, HERE)  # 48 + 32 + 20: 100
    assert found.late_need == 100
    assert found.smallest_of_all(0, 0)[3].kind == "head"
    found.take_step(late.as_step(), 49, HERE)
    assert found.smallest_of_all(0, 0)[3].kind == "temp"


def test_of_an_early_and_a_late_need_that_are_equal_the_early_one_binds() -> None:
    for late, kind in ((84, "temp"), (85, "head")):
        found = Needs()
        found.persist(0, 16, 8, 16, "a", HERE)
        found.below(100, "temp", 100, 4, "", HERE)  # 116 with a
        found.persist(0, 16, 16, 32, "b", HERE)
        found.below(late, "head", late, 16, "", HERE)  # 116 with a and b
        assert found.smallest_of_all(0, 0)[3].kind == kind


def test_which_of_two_early_needs_binds_depends_on_where_the_arena_ends() -> None:
    """At a multiple of 16: a takes 8, b 8: 60 + 8 < 53 + 16. At 2 modulo 16: a takes 6, b 4: 60 + 6 > 53 + 10."""
    found = Needs()
    found.persist(0, 6, 4, 8, "a", HERE)
    found.below(60, "head", 60, 16, "", HERE)
    found.persist(0, 4, 8, 16, "b", HERE)
    found.below(53, "temp", 53, 4, "", HERE)
    size, aligned, tail, binding = found.smallest_of_all(0, 0)
    assert (size, aligned, tail, binding.kind) == (66, 80, 10, "head")


def test_what_takes_no_bytes_fits_wherever_it_would_begin() -> None:
    found = needs()
    found.below(40, "temp", 40, 4, "", HERE)
    found.tables(57, 0, 3, 0, HERE)  # From 64 on, for a planner whose tables are elsewhere.
    found.plan(0, 0, HERE)
    found.below(99, "temp", 0, 4, "", HERE)
    assert (found.smallest_of_all(0, 0)[0], found.non_persistent) == (70, 40)  # 40 + 22 = 62 -> 70 = 4 * 16 + 6
    found.tables(57, 1, 1, 0, HERE)
    assert found.smallest_of_all(0, 0)[0] == 86  # 64 + 22 = 86 = 5 * 16 + 6
