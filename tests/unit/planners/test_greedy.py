import random

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.greedy import GreedyMemoryPlanner, greedy_offsets, placement_order, plan
from tflm_sim.planners.memory_planner import BufferRequirements


def planner_with(*buffers, **options):
    planner = GreedyMemoryPlanner(**options)
    for size, first, last, *offline in buffers:
        planner.add_buffer(size, first, last, offline_offset=offline[0] if offline else None)
    return planner


def test_among_equal_sizes_the_buffer_added_last_comes_first():
    assert list(planner_with((16, 0, 0), (16, 0, 0), (16, 0, 0)).offsets()) == [32, 16, 0]


def test_offline_buffers_come_first_and_in_their_own_order():
    buffers = [BufferRequirements(size, offset, 0, 0) for size, offset in [(5, -1), (1, 64), (9, -1), (2, 0)]]
    assert placement_order(buffers) == [1, 3, 2, 0]


def test_a_gap_that_is_just_big_enough_is_used():
    assert planner_with((16, 0, 0, 0), (16, 0, 0, 24), (8, 0, 0)).offset_for_buffer(2) == 16
    assert planner_with((16, 0, 0, 0), (16, 0, 0, 23), (8, 0, 0)).offset_for_buffer(2) == 39


def test_offline_buffers_may_overlap_and_it_is_noticed():
    planner = planner_with((16, 0, 1, 0), (16, 1, 2, 8))
    assert list(planner.offsets()) == [0, 8]
    assert planner.do_any_buffers_overlap()


@pytest.mark.parametrize(("first", "second", "overlap"), [
    ((16, 0, 1, 8), (8, 0, 1, 23), True),  # byte 23
    ((16, 0, 1, 8), (8, 0, 1, 24), False),
    ((16, 0, 1, 8), (8, 0, 1, 1), True),  # byte 8
    ((16, 0, 1, 8), (8, 0, 1, 0), False),
    ((16, 0, 1, 8), (8, 1, 2, 16), True),  # moment 1
    ((16, 0, 1, 8), (8, 2, 3, 16), False),
])  # fmt: skip
def test_buffers_overlap_that_share_a_byte_at_a_moment(first, second, overlap):
    assert planner_with(first, second).do_any_buffers_overlap() is overlap
    assert planner_with(second, first).do_any_buffers_overlap() is overlap


def test_forty_bytes_of_scratch_hold_one_buffer():
    planner = planner_with((100, 0, 1), scratch_size=79)
    with pytest.raises(PlanningError) as refused:
        planner.add_buffer(50, 2, 3)
    assert refused.value.device_message == "Too many buffers (max is 1)"


def test_init_forgets_the_buffers():
    planner = planner_with((100, 0, 1))
    planner.init(79)
    assert (planner.buffer_count, planner.maximum_memory_size()) == (0, 0)
    planner.add_buffer(50, 2, 3)
    with pytest.raises(PlanningError, match="max is 1"):
        planner.add_buffer(50, 2, 3)


def test_an_index_outside_is_refused_with_upstreams_words():
    with pytest.raises(PlanningError) as refused:
        planner_with((1, 0, 0)).offset_for_buffer(1)
    assert refused.value.device_message == "buffer index 1 is outside range 0 to 1"


def test_a_buffer_added_after_a_plan_was_asked_for_is_planned_too():
    planner = planner_with((10, 0, 0))
    assert planner.maximum_memory_size() == 10
    planner.add_buffer(20, 0, 0)
    assert [planner.offset_for_buffer(0), planner.offset_for_buffer(1)] == [20, 0]


def test_an_end_below_zero_is_unsigned_as_upstream_has_it():
    assert planner_with((16, 0, 0, -20)).maximum_memory_size() == 2**32 - 4


@pytest.mark.parametrize("size", [2**31, 2**63, -1])
def test_sizes_that_tflm_cannot_count_are_refused(size):
    with pytest.raises(PlanningError):
        planner_with((size, 0, 0)).offsets()


LEAST, MOST = -(2**31), 2**31 - 1


@pytest.fixture(params=["C", "Python"])
def place(request):
    """Return the planner in C, where it was built, and in Python."""
    if request.param == "C" and not native.available():
        pytest.skip("the C core was not built")
    return (lambda buffers: native.greedy(buffers)[0]) if request.param == "C" else greedy_offsets


# size, offset (-1: none), first moment, last moment, alignment
@pytest.mark.parametrize(("row", "offset"), [
    ((MOST, -1, 0, 0), 0),
    ((0, MOST, 0, 0), MOST),
    ((1, MOST - 1, 0, 0), MOST - 1),
    ((1, LEAST, 0, 0), LEAST),
    ((1, -1, LEAST + 1, MOST), 0),
    ((1, -1, 0, 0, MOST), 0),
])  # fmt: skip
def test_each_number_may_be_the_largest_or_smallest_that_a_32_bit_planner_counts(place, row, offset):
    assert list(place([BufferRequirements(*row)])) == [offset]


@pytest.mark.parametrize(("row", "message"), [
    ((MOST + 1, -1, 0, 0), "outside 32-bit"),
    ((1, LEAST - 1, 0, 0), "outside 32-bit"),
    ((1, -1, 0, MOST + 1), "outside 32-bit"),
    ((1, MOST, 0, 0), "beyond 2,147,483,647"),
    ((-1, -1, 0, 0), "a negative size"),
    ((1, -1, 0, 0, 0), "an alignment below 1"),
    ((1, -1, LEAST, 0), r"a time of -2\^31"),
    ((1, -1, 0, LEAST), r"a time of -2\^31"),
])  # fmt: skip
def test_a_number_beyond_is_refused(row, message):
    with pytest.raises(PlanningError, match=message):
        greedy_offsets([BufferRequirements(*row)])


def test_two_buffers_that_end_above_int_max_are_refused():
    with pytest.raises(PlanningError, match="2,147,483,647"):
        planner_with((2**30, 0, 0), (2**30, 0, 0)).offsets()


def test_alignment_moves_the_candidate_up():
    assert plan([Buffer(20, 0, 1, 16), Buffer(10, 0, 1, 16), Buffer(5, 0, 1)]).offsets == (0, 32, 20)


@pytest.mark.skipif(not native.available(), reason="the C core was not built")
@pytest.mark.parametrize("lifetime", [3, 60, 2000])
def test_the_c_core_equals_the_python_planner_on_large_problems(lifetime):
    rng = random.Random(lifetime)
    buffers = []
    for _ in range(1500):
        first = rng.randrange(1500)
        offline = rng.choice([-1] * 30 + [rng.randrange(10**6)])
        size = rng.choice([rng.randrange(64), 16 * rng.randrange(4096), rng.randrange(10**6)])
        buffers.append(BufferRequirements(size, offline, first, first + rng.randrange(lifetime)))
    assert native.greedy(buffers)[0] == greedy_offsets(buffers)
