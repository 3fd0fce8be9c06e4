"""Invariant: the exact planner's plan is valid and as small as brute force finds, and one byte less is refused."""

from __future__ import annotations

from functools import partial
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.exact import solve as solve_without_limit
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.validate import validate
from tflm_sim.units import align_up

pytestmark = pytest.mark.skipif(not native.available(), reason="the C extension was not built")


solve = partial(solve_without_limit, node_limit=1_000_000)
"""What is not proved by then fails the test instead of going on for ever."""


def lowest_above(buffer: Buffer, placed: list[tuple[Buffer, int]], obstacles: list[Buffer]) -> int:
    """Return the lowest aligned offset above all placed neighbours that meets no obstacle."""
    ends = [offset + other.size for other, offset in placed if other.is_alive_with(buffer) and other.size]
    at = align_up(max(ends, default=0), buffer.alignment)
    for obstacle in sorted(obstacles, key=lambda obstacle: obstacle.offset or 0):
        assert obstacle.offset is not None
        end = obstacle.offset + obstacle.size
        if obstacle.is_alive_with(buffer) and at < end and obstacle.offset < at + buffer.size:
            at = align_up(end, buffer.alignment)
    return at


def brute_force(buffers: list[Buffer]) -> int:
    """Return the smallest peak: in the order of their offsets, the buffers of a best plan lie as low as they can."""
    obstacles = [buffer for buffer in buffers if buffer.offset is not None and buffer.size]
    fixed_end = max((buffer.offset + buffer.size for buffer in buffers if buffer.offset is not None), default=0)
    best = None
    for order in permutations(buffer for buffer in buffers if buffer.offset is None and buffer.size):
        placed: list[tuple[Buffer, int]] = []
        for buffer in order:
            placed.append((buffer, lowest_above(buffer, placed, obstacles)))
        peak = max([fixed_end, *(offset + buffer.size for buffer, offset in placed)])
        best = peak if best is None else min(best, peak)
    return fixed_end if best is None else best


def collides(buffers: list[Buffer]) -> bool:
    fixed = [buffer for buffer in buffers if buffer.offset is not None and buffer.size]
    return any(
        a.is_alive_with(b) and a.offset < b.offset + b.size and b.offset < a.offset + a.size
        for k, a in enumerate(fixed)
        for b in fixed[:k]
    )


@st.composite
def a_buffer(draw: st.DrawFn, *, last_time: int = 6, may_be_fixed: bool = True) -> Buffer:
    first = draw(st.integers(0, last_time))
    return Buffer(
        size=draw(st.one_of(st.integers(0, 12), st.sampled_from([16, 20, 24, 32, 48]))),
        lower=first,
        upper=draw(st.integers(first, last_time)) + 1,
        alignment=draw(st.sampled_from([1, 1, 1, 2, 3, 4, 8, 16])),
        offset=draw(st.one_of(st.none(), st.none(), st.integers(0, 40))) if may_be_fixed else None,
    )


small_problems = st.lists(a_buffer(), max_size=6)


@settings(max_examples=400)
@given(small_problems)
def test_the_peak_is_that_of_brute_force(buffers: list[Buffer]) -> None:
    result = solve(buffers)
    assert result.proved
    assert result.infeasible == collides(buffers)
    if result.infeasible:
        return
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert result.peak == result.lower_bound == brute_force(buffers)


@settings(max_examples=150)
@given(small_problems.filter(lambda buffers: not collides(buffers)))
def test_the_best_capacity_is_reached_and_one_byte_less_is_infeasible(buffers: list[Buffer]) -> None:
    best = brute_force(buffers)
    within = solve(buffers, capacity=best)
    assert (within.proved, within.infeasible, within.peak) == (True, False, best)
    if best > 0:
        below = solve(buffers, capacity=best - 1)
        assert (below.proved, below.infeasible, below.offsets) == (True, True, None)


@settings(max_examples=60)
@given(small_problems.filter(lambda buffers: not collides(buffers)), st.sampled_from([2**33 + 1, 2**45 + 7]))
def test_sizes_that_need_64_bits_scale_the_peak(buffers: list[Buffer], factor: int) -> None:
    """Offsets scale with sizes, alignments and fixed offsets; a peak is one end of one buffer."""
    scaled = [
        Buffer(
            buffer.size * factor,
            buffer.lower,
            buffer.upper,
            buffer.alignment * factor,
            None if buffer.offset is None else buffer.offset * factor,
        )
        for buffer in buffers
    ]
    one = Buffer(1, 100, 101)
    assert solve([*scaled, one]).peak == max(1, brute_force(buffers) * factor)


@settings(max_examples=60)
@given(st.lists(a_buffer(last_time=12), max_size=25).filter(lambda buffers: not collides(buffers)), st.integers(1, 2))
def test_larger_plans_are_valid_and_within_the_bounds(buffers: list[Buffer], workers: int) -> None:
    result = solve(buffers, node_limit=20_000, workers=workers)
    assert result.plan is not None
    assert validate(buffers, result.plan) == []
    assert lower_bound(buffers) <= result.lower_bound <= result.plan.peak
    assert result.proved == (result.gap == 0)


@settings(max_examples=40)
@given(st.lists(a_buffer(last_time=12, may_be_fixed=False), max_size=14), st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_order_of_the_buffers(buffers: list[Buffer], random: object) -> None:
    shuffled = list(buffers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = solve(buffers, node_limit=200_000), solve(shuffled, node_limit=200_000)
    if one.proved and other.proved:
        assert one.peak == other.peak


@settings(max_examples=40)
@given(st.lists(a_buffer(last_time=10), max_size=9).filter(lambda buffers: not collides(buffers)))
def test_fixing_the_best_plan_is_a_valid_problem_with_the_same_peak(buffers: list[Buffer]) -> None:
    best = solve(buffers)
    assert best.offsets is not None
    fixed = [
        Buffer(buffer.size, buffer.lower, buffer.upper, buffer.alignment, offset)
        for buffer, offset in zip(buffers, best.offsets, strict=True)
    ]
    assert solve(fixed).plan == plan_of(buffers, best.offsets)
