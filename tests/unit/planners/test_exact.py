from __future__ import annotations

import csv
import math
import random
import threading
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.planners import exact, native
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.by_name import planner
from tflm_sim.planners.exact import Progress
from tflm_sim.planners.exact import solve as solve_without_limit
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.problem import read_csv
from tflm_sim.planners.validate import validate

SPEED = Path(__file__).parents[4] / "shared" / "planners" / "speed"

pytestmark = pytest.mark.skipif(not native.available(), reason="the C extension was not built")

needs_instances = pytest.mark.shared("planners")


solve = partial(solve_without_limit, node_limit=5_000_000)


def instance(name: str) -> list[Buffer]:
    """Read one of the recorded problems: size, first, last (inclusive)."""
    with (SPEED / f"{name}.csv").open(newline="") as file:
        return [Buffer(int(row["size"]), int(row["first"]), int(row["last"]) + 1) for row in csv.DictReader(file)]


def chain_under_a_long_one() -> list[Buffer]:
    """Five buffers of 2, each of which meets the next one, and one of 3 that meets them all."""
    return [*(Buffer(2, time, time + 1 + 1) for time in range(5)), Buffer(3, 0, 6)]


def test_no_buffers_need_nothing() -> None:
    result = solve([])
    assert (result.offsets, result.peak, result.proved, result.gap) == ((), 0, True, 0)


def test_buffers_of_size_zero_are_put_at_zero_or_where_they_are_fixed() -> None:
    assert solve([Buffer(0, 0, 10), Buffer(4, 0, 10)]).offsets == (0, 0)
    assert solve([Buffer(0, 0, 10, offset=50), Buffer(4, 0, 10)]).peak == 50


def test_neighbours_are_stacked_to_the_live_bytes() -> None:
    """2 + 2 of two neighbours + 3 of the long one = 7."""
    result = solve(chain_under_a_long_one())
    assert (result.peak, result.lower_bound, result.proved) == (7, 7, True)
    assert result.plan is not None
    assert validate(chain_under_a_long_one(), result.plan) == []


def test_the_optimum_above_the_live_bytes_is_proved() -> None:
    """8 bytes are alive at most (times 1, 5 and 7), and 8 are not enough; buffers are named by size and lifetime.

    At 7 the 3 (5..7), the 1 and the 4 fill all of 8: the 3 is at 0, 1, 4 or 5. At 5 it is with a 2 (2..5) and a 3
    (1..6): it is at 0, 2, 3 or 5. So it is at 0 (5 is the mirror image), and the 3 (1..6) at 3 or 5.
    At 3, the 2 (2..5) is at 6. At 1 the 2 (1..2) has only 6 too, as 0..2 is for the 3 (0..1): they meet at 2.
    At 5, the 2 (2..5) is at 3. At 1 the 2 (1..2) may not be there: it is at 0, the 3 (0..1) at 2, and at 0 the 4 has
    0..1 and 5..7: no room.
    """
    lives = [(2, 2, 6), (3, 5, 8), (1, 7, 8), (2, 1, 3), (4, 7, 8), (4, 0, 1), (3, 0, 2), (3, 1, 7)]
    buffers = [Buffer(*life) for life in lives]
    result = solve(buffers)
    assert lower_bound(buffers) == 8
    assert (result.peak, result.lower_bound, result.proved) == (9, 9, True)
    assert solve(buffers, capacity=8).infeasible


def test_a_fixed_buffer_stays_and_the_others_go_around_it() -> None:
    """10..19 is taken at time 1: the 8 bytes go below, the 12 above, 20 + 12 = 32."""
    result = solve([Buffer(10, 1, 2, offset=10), Buffer(8, 0, 2), Buffer(12, 1, 3)])
    assert (result.offsets, result.peak, result.proved) == ((10, 0, 20), 32, True)


def test_orders_of_buffers_that_differ_in_nothing_are_not_tried() -> None:
    """Three of each of four kinds around two that are fixed: 70 nodes if the three could change places."""
    kinds = [(7, 2, 6), (5, 0, 3), (2, 5, 6), (4, 3, 6)]
    result = solve(
        [Buffer(3, 1, 3, offset=9), Buffer(3, 4, 6, offset=2), *(Buffer(*k) for k in kinds for _ in range(3))]
    )
    assert (result.peak, result.proved, result.nodes < 20) == (43, True, True)


def test_alignments_bind_each_buffer() -> None:
    """3 bytes anywhere and 5 aligned to 16: the 5 at 0, the 3 above, 5 + 3 = 8."""
    assert solve([Buffer(3, 0, 1, alignment=1), Buffer(5, 0, 1, alignment=16)]).offsets == (5, 0)


def test_sizes_are_rounded_up_to_the_alignment_except_at_the_top() -> None:
    """20 -> 32 below 24: 56; the other way round 24 -> 32, 32 + 20 = 52."""
    assert solve([Buffer(20, 0, 1, alignment=16), Buffer(24, 0, 1, alignment=16)]).peak == 52


def test_a_capacity_below_the_optimum_is_infeasible() -> None:
    result = solve(chain_under_a_long_one(), capacity=6)
    assert (result.infeasible, result.proved, result.offsets, result.peak, result.gap) == (True, True, None, None, None)
    assert result.lower_bound == 7


def test_colliding_fixed_buffers_are_infeasible() -> None:
    result = solve([Buffer(4, 0, 2, offset=0), Buffer(4, 1, 3, offset=3)])
    assert (result.infeasible, result.proved, result.plan) == (True, True, None)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_fixed_buffers_collide_where_two_share_a_byte_at_a_moment(count: int) -> None:
    draw, found = random.Random(count), []
    for _ in range(300):
        starts = [draw.randrange(9) for _ in range(count)]
        places = [draw.randrange(24) for _ in range(count)]
        buffers = [
            Buffer(draw.randint(1, 6), start, start + draw.randint(1, 5), offset=place)
            for start, place in zip(starts, places, strict=True)
        ]
        collide = any(
            a.lower < b.upper and b.lower < a.upper and p < q + b.size and q < p + a.size
            for (a, p), (b, q) in combinations(zip(buffers, places, strict=True), 2)
        )
        assert solve(buffers).infeasible is collide
        found.append(collide)
    assert {*found} == {True, False}


def test_a_capacity_is_enough_for_the_first_plan_within_it() -> None:
    result = solve(chain_under_a_long_one(), capacity=100)
    assert result.proved
    assert result.peak is not None
    assert result.peak <= 100


@needs_instances
@pytest.mark.slow
@pytest.mark.parametrize("name", list("ABCDEFGHIJK"))
def test_the_challenging_instances_fit_their_capacity(name: str) -> None:
    """Source: benchmarks/challenging @ google/minimalloc 9f5cf81, capacity 1,048,576."""
    buffers = instance(f"minimalloc_{name}")
    result = solve(buffers, capacity=1_048_576, time_limit=60)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert result.plan.peak <= 1_048_576


@needs_instances
def test_c_has_its_smallest_capacity_at_the_live_bytes() -> None:
    """1,039,360 bytes are alive at one moment of instance C."""
    result = solve(instance("minimalloc_C"), time_limit=60)
    assert (result.peak, result.proved) == (1_039_360, True)


@needs_instances
def test_two_workers_find_a_valid_plan() -> None:
    buffers = instance("minimalloc_K")
    result = solve(buffers, capacity=1_048_576, time_limit=60, workers=2)
    assert result.plan is not None
    assert result.proved
    assert validate(buffers, result.plan) == []


@needs_instances
def test_a_node_limit_leaves_a_valid_plan_and_a_gap() -> None:
    buffers = instance("minimalloc_D")
    result = solve(buffers, node_limit=1)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert not result.proved
    assert result.gap == result.plan.peak - result.lower_bound > 0


@needs_instances
def test_a_time_limit_ends_the_search() -> None:
    """Without its end this search visits tens of millions of nodes."""
    result = solve(instance("minimalloc_J"), time_limit=0.0)
    assert not result.proved
    assert result.nodes < 1_000


@needs_instances
def test_progress_reports_what_is_known() -> None:
    seen: list[Progress] = []
    result = solve(instance("minimalloc_J"), time_limit=0.5, on_progress=seen.append)
    assert seen
    assert all(status.lower_bound <= status.peak for status in seen)
    assert result.peak is not None
    assert result.peak <= seen[-1].peak


@needs_instances
def test_cancel_ends_the_search_with_the_plan_so_far() -> None:
    cancel = threading.Event()
    result = solve(instance("minimalloc_J"), on_progress=lambda status: cancel.set(), cancel=cancel)
    assert not result.proved
    assert result.plan is not None


@needs_instances
def test_a_keyboard_interrupt_keeps_the_plan_so_far() -> None:
    def interrupt(status: Progress) -> None:
        raise KeyboardInterrupt

    assert solve(instance("minimalloc_J"), on_progress=interrupt).plan is not None


@needs_instances
def test_what_on_progress_raises_is_raised_again() -> None:
    def fail(status: Progress) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve(instance("minimalloc_J"), on_progress=fail)


def test_more_buffers_than_are_searched_get_a_plan_and_a_bound() -> None:
    buffers = [Buffer(1 + index % 7, index, index + index % 5 + 1) for index in range(3000)]
    result = solve(buffers, node_limit=2_000)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert result.lower_bound <= result.plan.peak


def test_more_buffers_than_are_searched_are_improved_window_by_window() -> None:
    draw = random.Random(1)
    starts = [draw.randrange(2_100) for _ in range(2_100)]
    buffers = [Buffer(64 * draw.randint(1, 999), start, start + draw.randint(0, 9) + 1) for start in starts]
    first, later = solve(buffers, node_limit=0), solve(buffers, node_limit=20_000)
    assert first.plan is not None
    assert later.plan is not None
    assert validate(buffers, later.plan) == []
    assert later.plan.peak < first.plan.peak


@pytest.mark.parametrize(("limit", "nodes", "peak"), [(5_000, 6_685, 1_885_018), (20_000, 20_749, 1_884_397)])
def test_windows_are_searched_until_the_limit_and_as_they_were(limit: int, nodes: int, peak: int) -> None:
    """Whoever changes the search on purpose writes the new numbers here; 1,838,502 bytes are enough."""
    draw = random.Random(1)
    starts = [draw.randrange(2_100) for _ in range(2_100)]
    buffers = [Buffer(draw.randint(1, 99_999), start, start + draw.randint(0, 40) + 1) for start in starts]
    result = solve(buffers, node_limit=limit)
    assert (result.nodes, result.peak, result.lower_bound) == (nodes, peak, 1_838_502)


def training_step(layers: int, seed: int) -> list[Buffer]:
    """Activations live from a layer's forward pass to its backward pass, workspaces in one of them, gradients on."""
    draw, end, buffers = random.Random(seed), 8 * layers, []
    for layer in range(layers):
        forward, backward = 4 * layer, end - 4 * layer
        for _ in range(3):
            lower, upper = forward + draw.randint(0, 2), backward - draw.randint(0, 2)
            buffers.append(Buffer(draw.choice((20, 41, 41, 64)), lower, upper))
        upper = forward + draw.randint(1, 6)
        buffers.append(Buffer(draw.choice((320, 400)), forward, upper))
        upper = backward + draw.randint(1, 3)
        buffers.append(Buffer(draw.choice((320, 400)), backward - 4, upper))
        buffers.append(Buffer(draw.choice((13, 26)), backward - 3, end + 5))
    return buffers


def test_of_few_sizes_first_come_first_served_finds_the_optimum_that_windows_do_not() -> None:
    buffers = training_step(342, seed=20)
    assert len(buffers) == 2_052
    result = solve(buffers, node_limit=2_000)
    assert (result.peak, result.lower_bound, result.proved) == (43_301, 43_301, True)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []


@needs_instances
def test_a_missed_capacity_leaves_the_best_plan_that_was_found() -> None:
    """First fit needs 1,291,264 bytes for D; 1,025,024 is smaller than any plan known."""
    result = solve(instance("minimalloc_D"), capacity=1_025_024, node_limit=60_000)
    assert result.peak is not None
    assert result.peak < 1_200_000


@needs_instances
def test_mirrored_time_and_perfect_packings_are_answered() -> None:
    mirrored = [Buffer(b.size, -b.upper, -b.lower) for b in instance("minimalloc_K")]
    assert solve(mirrored, capacity=1_048_576, node_limit=200_000).peak == 1_048_576


@needs_instances
@pytest.mark.slow
@pytest.mark.parametrize("name", ["AC", "DE"])
def test_two_programs_in_one_memory_are_planned_one_above_the_other(name: str) -> None:
    """Each fits 2^20 bytes alone; no search of both at once comes near 2^21."""
    path = SPEED.parent / "hard" / f"stack_{name}.2097152.csv"
    with path.open(newline="") as file:
        buffers = read_csv(file, path=str(path)).buffers
    result = solve(buffers, capacity=2_097_152, node_limit=300_000)
    assert result.peak is not None
    assert result.peak <= 2_097_152
    assert result.offsets is not None
    assert not validate(buffers, plan_of(buffers, result.offsets))


def families_that_hand_over() -> st.SearchStrategy[list[Buffer]]:
    """Two chains in which each buffer ends where the next begins, at even and at odd moments, with alignments."""
    row = st.lists(st.tuples(st.integers(1, 40), st.sampled_from([1, 4, 6, 16])), min_size=8, max_size=12)

    def chain(cells: list[tuple[int, int]], shift: int) -> list[Buffer]:
        return [Buffer(size, 4 * k + shift, 4 * k + shift + 4, alignment) for k, (size, alignment) in enumerate(cells)]

    return st.tuples(row, row, row, row).map(
        lambda rows: [b for shift, cells in enumerate(rows) for b in chain(cells, shift)]
    )


@pytest.mark.slow
@given(families_that_hand_over(), st.integers(90, 130))
@settings(max_examples=20)
def test_plans_in_storeys_are_valid_with_any_alignments(buffers: list[Buffer], capacity: int) -> None:
    result = solve(buffers, capacity=capacity, node_limit=20_000)
    assert result.infeasible or result.offsets is not None
    assert result.offsets is None or not validate(buffers, plan_of(buffers, result.offsets))


def test_the_upper_storey_begins_where_all_of_its_alignments_agree() -> None:
    """2^59 is a multiple of 16,384 and not of 6."""
    rows = (
        (26, 16, 17, 16_384),
        (28_816, 16, 21, 1),
        (16, 16, 17, 16_384),
        (16, 14, 19, 6),
        (16, 3, 8, 1),
        (2**59, 16, 17, 1),
    )
    buffers = [Buffer(size, lower, upper, alignment=alignment) for size, lower, upper, alignment in rows]
    result = solve(buffers, node_limit=3000)
    assert result.offsets is not None
    assert not validate(buffers, plan_of(buffers, result.offsets))


def test_a_rectangle_cut_into_pieces_is_put_together_again() -> None:
    """Cuts across the whole of a piece, by turns in time and in size: 256 pieces of a rectangle of 10^6 bytes."""
    draw = random.Random(5)
    pieces = [(0, 10**4, 10**6)]
    for turn in range(8):
        cut = []
        for first, end, size in pieces:
            low, high = (first, end) if turn % 2 == 0 else (0, size)
            at = low + (high - low) * draw.randint(300, 700) // 1_000
            cut += (
                [(first, at, size), (at, end, size)] if turn % 2 == 0 else [(first, end, at), (first, end, size - at)]
            )
        pieces = cut
    buffers = [Buffer(size, first, end) for first, end, size in pieces]
    assert solve(buffers, capacity=10**6, node_limit=2_000_000).peak == 10**6


@pytest.mark.parametrize(
    "buffers",
    [
        [Buffer(2**63, 0, 1)],
        [Buffer(1, 0, 1, offset=2**63)],
        [Buffer(2**59, 0, 1), Buffer(2**59, 0, 1), Buffer(1, 0, 1)],
        [Buffer(1, 0, 1, alignment=2**61)],
    ],
)
def test_numbers_out_of_range_are_refused(buffers: list[Buffer]) -> None:
    with pytest.raises(UsageError):
        solve(buffers)


def test_times_at_the_edges_of_64_bits_are_times() -> None:
    edge = 2**63 - 1
    assert solve([Buffer(3, -edge - 1, edge + 1), Buffer(2, edge, edge + 1), Buffer(2, -edge - 1, -edge)]).peak == 5


def test_buffers_that_carry_each_other_beside_very_large_ones_settle_at_once() -> None:
    """c, e and f can only rest on each other once d and h are placed: 16 bytes a pass would take 2^26 passes."""
    lives = [
        (2**31 - 2, 1, 5, 1),
        (2**30 - 1, 0, 2, 1),
        (16, 0, 4, 3),
        (2**30 - 1, 1, 5, 64),
        (5, 0, 3, 2),
        (16, 2, 4, 2**20),
        (2**31 - 2, 1, 3, 1),
        (2**29, 3, 4, 64),
    ]
    buffers = [Buffer(*life) for life in lives]
    result = solve(buffers, node_limit=10_000)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert (result.peak, result.proved) == (6_442_450_959, True)


def test_a_fixed_offset_far_above_does_not_round_sizes_out_of_range() -> None:
    """The step of the fixed offsets is 2^59: forty sizes rounded up to it would be 40 * 2^59."""
    buffers = [*(Buffer(1, time, time + 1, offset=0) for time in range(40)), Buffer(1, 0, 40, offset=2**59)]
    result = solve(buffers)
    assert (result.peak, result.lower_bound, result.proved) == (2**59 + 1, 2**59 + 1, True)


@pytest.mark.parametrize(
    "limits", [{"capacity": -1}, {"time_limit": -0.5}, {"time_limit": float("nan")}, {"node_limit": -1}, {"workers": 0}]
)
def test_limits_below_zero_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        solve([Buffer(1, 0, 1)], **limits)  # type: ignore[arg-type]


def test_without_the_extension_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "available", lambda: False)
    with pytest.raises(TflmSimError, match="C compiler"):
        solve([Buffer(1, 0, 1)])


class Steps:
    """Watches whether the quick planners are asked for a plan to go on with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        real = exact._improved

        def improved(*arguments: Any) -> exact.ExactResult:
            self.asked += 1
            return real(*arguments)

        monkeypatch.setattr(exact, "_EASY_SECONDS", 0.0)
        monkeypatch.setattr(exact, "_improved", improved)


HARD = [Buffer(draw, start, start + 9) for start, draw in enumerate([7, 13, 5, 29, 3, 17, 11, 23, 19, 2] * 12)]


def test_what_is_not_solved_at_once_begins_anew_with_the_plan_of_the_quick_planners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Steps(monkeypatch)
    best = min(planner(name)(HARD).peak for name in ("greedy", "vela_greedy"))
    result = exact.solve(HARD, time_limit=0.5)
    assert steps.asked == 1
    assert result.peak is not None
    assert result.peak <= best


@pytest.mark.parametrize("limits", [
    {"node_limit": 1},
    {"capacity": 10_000, "time_limit": 0.5},
    {"start": planner("greedy")(HARD), "time_limit": 0.2},
    {"time_limit": math.inf, "node_limit": 1},
])  # fmt: skip
def test_with_a_limit_of_its_own_or_a_plan_to_start_with_it_searches_once(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, Any]
) -> None:
    steps = Steps(monkeypatch)
    exact.solve(HARD, **limits)
    assert steps.asked == 0


def test_a_search_that_was_ended_does_not_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch)
    cancel = threading.Event()
    cancel.set()
    assert exact.solve(HARD, time_limit=0.5, cancel=cancel).peak is not None
    assert steps.asked == 0
    cancel.clear()
    exact.solve(HARD, time_limit=0.2, cancel=cancel)
    assert steps.asked == 1


def test_a_plan_to_start_with_is_one() -> None:
    two = [Buffer(8, 0, 1), Buffer(8, 0, 1)]
    with pytest.raises(UsageError, match=r"^no plan to start with: "):
        exact.solve(two, start=Plan((0, 4), 12))
    assert exact.solve(two, start=Plan((0, 8), 16)).peak == 16


@pytest.mark.parametrize("workers", [0, -1])
def test_a_search_has_a_thread(workers: int) -> None:
    with pytest.raises(UsageError):
        exact.solve([Buffer(8, 0, 1)], workers=workers)
