import random

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners import gpu, hill_climb, native
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.deadline import Deadline
from tflm_sim.planners.hill_climb import HillClimb, count_neighbours, first_order, live_bytes, neighbours


def test_neighbours_come_by_the_first_shared_moment_then_by_index():
    buffers = [Buffer(1, 3, 5), Buffer(1, 0, 10), Buffer(1, 2, 4), Buffer(1, 5, 6)]
    assert neighbours(buffers) == [[1, 2], [2, 0, 3], [1, 0], [1]]


def test_neighbours_are_counted_without_listing_them():
    # 0..1 and 1..3 share moment 1 with 1..2; 4..5 is alone: three pairs, counted from both sides
    buffers = [Buffer(1, 0, 2), Buffer(1, 1, 4), Buffer(1, 1, 3), Buffer(1, 4, 6)]
    assert count_neighbours(buffers) == sum(map(len, neighbours(buffers))) == 6


def test_so_many_pairs_that_the_first_plan_would_not_come_soon_are_refused():
    with pytest.raises(PlanningError, match="67,108,864"):
        hill_climb.plan([Buffer(1, 0, 1)] * 8_193)  # 8,193 * 8,192 = 67,117,056


def test_live_bytes_are_counted_where_a_buffer_begins():
    assert live_bytes([Buffer(1, 0, 3), Buffer(2, 2, 4), Buffer(4, 3, 4)]) == {0: 1, 2: 3, 3: 6}


def test_the_first_order_is_by_urgency_then_long_lived_then_early_then_large():
    buffers = [
        Buffer(1, 0, 1),  # urgency 1
        Buffer(8, 1, 2),  # urgency 8 + 2 + 3 = 13, one moment
        Buffer(2, 1, 3),  # urgency 13, two moments
        Buffer(3, 1, 2),  # urgency 13, one moment, smaller
        Buffer(9, 0, 10, offset=0),  # not to be placed; makes every urgency 9 more
    ]
    assert first_order(buffers) == [2, 1, 3, 0]


def test_a_swap_lowers_the_bottleneck():
    # 3 + 1 + 3 = 7 bytes are alive at time 2.
    buffers = [Buffer(3, 2, 3), Buffer(1, 2, 4), Buffer(3, 1, 3), Buffer(4, 3, 6)]
    assert hill_climb.plan(buffers, time_limit=0).peak == 8
    assert hill_climb.plan(buffers).peak == max(live_bytes(buffers).values()) == 7


def test_without_time_the_plan_by_urgency_comes_out():
    buffers = [Buffer(size, first, first + 2 + 1) for size, first in zip([5, 3, 8, 2, 7], [0, 1, 2, 3, 4], strict=True)]
    assert hill_climb.plan(buffers, time_limit=0) == plan_of(buffers, HillClimb(buffers).best_offsets)


def test_a_search_with_one_movable_buffer_gives_up():
    search = HillClimb([Buffer(8, 0, 1, offset=4), Buffer(8, 0, 1)])
    assert not search.is_done
    search.run(1)
    assert search.is_done
    assert list(search.best_offsets) == [4, 12]


def test_an_interrupt_keeps_the_best_plan(monkeypatch):
    class Interrupted(HillClimb):
        def run(self, iterations):
            raise KeyboardInterrupt

    monkeypatch.setattr(hill_climb, "_start", Interrupted)
    buffers = [Buffer(8, 0, 1, offset=4), Buffer(8, 0, 1)]
    assert hill_climb.plan(buffers).offsets == (4, 12)


@pytest.mark.parametrize(
    "place", [hill_climb.plan, lambda buffers: gpu.plan(buffers, gpu.MemoryStrategy.GREEDY_BY_SIZE)]
)
def test_sizes_beyond_32_bits_are_planned(place):
    assert place([Buffer(2**40, 0, 1), Buffer(2**40, 0, 2)]).peak == 2**41


@pytest.mark.skipif(not native.available(), reason="the C core was not built")
@pytest.mark.parametrize(("seconds", "is_done"), [(0.0, True), (None, False)])
def test_the_search_in_c_ends_when_the_time_is_over(seconds, is_done):
    draw = random.Random(1)
    starts = [draw.randrange(300) for _ in range(600)]
    buffers = [Buffer(draw.randrange(1, 1_000), start, start + draw.randrange(1, 200)) for start in starts]
    search = native.NativeHillClimb(native.rows(buffers), count_neighbours(buffers), Deadline(seconds))
    search.run(1)
    assert search.is_done is is_done
