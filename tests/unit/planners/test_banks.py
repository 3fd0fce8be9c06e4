"""Buffers in banks: every answer is the cheapest of all assignments that pack, by trying all of them, and by CP-SAT."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from math import inf

import pytest
from compare.bank_plans import NONE, UNDECIDED, by_cp_sat

from tflm_sim.errors import UsageError
from tflm_sim.planners import exact, native
from tflm_sim.planners.banks import BankPlan, NoBankPlan, assign
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.validate import validate

pytestmark = pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing")
Problem = tuple[list[Buffer], list[list[int]], list[int]]


def problem(seed: int, most: int) -> Problem:
    """Return buffers of 16 to 640 bytes, what each costs in each bank, and the banks' bytes."""
    rng = random.Random(seed)
    moments = rng.choice([4, 8])
    buffers = []
    for _ in range(rng.randint(3, most)):
        lower = rng.randrange(moments)
        upper = min(moments, lower + 1 + int(rng.expovariate(0.4)))
        buffers.append(Buffer(16 * rng.randint(1, 40), lower, upper))
    banks = rng.choice([2, 2, 3])
    peak = max(sum(each.size for each in buffers if each.lower <= time < each.upper) for time in range(moments))
    rooms = [int(peak * rng.uniform(0.1, 0.9)) // 16 * 16 for _ in range(banks)]
    if rng.random() < 0.5:
        rooms[-1] = 2 * peak
    return buffers, [[bank * rng.randint(0, 100) * each.size for bank in range(banks)] for each in buffers], rooms


def packs(buffers: Sequence[Buffer], room: int) -> bool:
    found = exact.solve(buffers, capacity=room)
    return found.peak is not None and found.peak <= room


def by_trying_all(buffers: list[Buffer], costs: list[list[int]], rooms: list[int]) -> int | None:
    """Return the least cost of an assignment that packs, None where none does."""
    rows = sorted(
        (sum(row[bank] for row, bank in zip(costs, banks, strict=True)), banks)
        for banks in product(range(len(rooms)), repeat=len(buffers))
    )
    for cost, banks in rows:
        if all(
            packs([each for each, bank in zip(buffers, banks, strict=True) if bank == number], room)
            for number, room in enumerate(rooms)
        ):
            return cost
    return None


def check(found: BankPlan | NoBankPlan, best: int | None, given: Problem) -> None:
    buffers, costs, rooms = given
    if best is None:
        assert found == NoBankPlan(proved=True)
        return
    assert isinstance(found, BankPlan)
    assert (found.cost, found.lower_bound) == (best, best)
    assert sum(row[bank] for row, bank in zip(costs, found.banks, strict=True)) == best
    for number, room in enumerate(rooms):
        inside = [index for index, bank in enumerate(found.banks) if bank == number]
        placed = [buffers[index] for index in inside]
        plan = plan_of(placed, [found.offsets[index] for index in inside])
        assert validate(placed, plan) == []
        assert plan.peak == found.peaks[number] <= room


@pytest.mark.parametrize("seed", range(40))
def test_no_other_assignment_that_packs_costs_less(seed: int) -> None:
    given = problem(seed, 7)
    check(assign(*given), by_trying_all(*given), given)


@pytest.mark.parametrize(
    "seed", [*range(100, 108), *(pytest.param(at, marks=pytest.mark.nightly) for at in range(108, 130))]
)
def test_cp_sat_finds_none_that_costs_less(seed: int) -> None:
    pytest.importorskip("ortools")
    given = problem(seed, 18)
    best = by_cp_sat(*given, seconds=inf)
    assert best != UNDECIDED, "the oracle came to an end"
    check(assign(*given), None if best == NONE else int(best), given)


def test_small_buffers_that_always_fit_beside_the_large_ones_are_no_choices() -> None:
    """Two of the three large ones fit; which of the 150 small ones lie elsewhere would be 2 ** 150 choices."""
    rng = random.Random(3)
    buffers = [Buffer(7008, 10, 60), Buffer(7104, 8, 11), Buffer(7104, 58, 61)]
    for lower in [*range(75)] * 2:
        buffers.append(Buffer(16 * rng.randint(1, 8), lower, lower + rng.randint(1, 20)))
    costs = [[0, 14_016], [0, 14_112], [0, 21_312], *([0, each.size + rng.randint(0, 99)] for each in buffers[3:])]
    found = assign(buffers, costs, [11_504, 1 << 20])
    assert isinstance(found, BankPlan)
    assert (found.cost, found.lower_bound) == (14_016, 14_016)


def test_three_hundred_operators_are_solved_to_the_end_and_the_answer_has_its_bound() -> None:
    rng = random.Random(5)
    buffers = [Buffer(16 * rng.randint(8, 600), time, time + rng.choice([2, 2, 2, 3, 9])) for time in range(300)]
    costs = [[0, each.size * rng.randint(2, 60)] for each in buffers]
    found = assign(buffers, costs, [20_000, 200_000])
    assert isinstance(found, BankPlan)
    assert (found.cost, found.lower_bound) == (4_184_656, 4_184_656)


def test_a_knapsack_of_buffers_that_come_and_go_together_is_solved_by_the_bytes_that_are_taken() -> None:
    """A layer's parts, among them 4 of 76,688 bytes and 4 of 7,680; each is stored and loaded once."""
    sizes = [7680] * 4 + [76688] * 4 + [174448, 16, 16, 16, 16, 1920, 30672, 697792, 690128]
    buffers = [Buffer(size, 0, 2) for size in sizes]
    found = assign(buffers, [[0, 2 * size] for size in sizes], [1_450_512, 64 << 20])
    assert isinstance(found, BankPlan)
    taken = sum(size for size, bank in zip(sizes, found.banks, strict=True) if bank == 0)
    assert found.cost == found.lower_bound == 2 * (sum(sizes) - taken)
    # By trying all of them: no choice takes more of the 1,450,512 bytes.
    sums = {0}
    for size in sizes:
        sums |= {each + size for each in sums}
    assert taken == max(each for each in sums if each <= 1_450_512)


def test_sizes_that_fit_by_their_sum_and_not_side_by_side_go_elsewhere() -> None:
    # At every moment 6 units are alive at most; no plan has room for all in 6.
    sizes = ((2, 0, 2), (1, 0, 4), (3, 0, 1), (3, 1, 5), (2, 4, 7), (1, 5, 7), (3, 5, 6), (2, 2, 4), (3, 6, 7))
    buffers = [Buffer(16 * size, lower, upper) for size, lower, upper in sizes]
    peak = max(sum(each.size for each in buffers if each.lower <= time < each.upper) for time in range(7))
    found = assign(buffers, [[0, each.size] for each in buffers], [peak, 1000])
    assert isinstance(found, BankPlan)
    assert packs(buffers, peak) is (found.cost == 0)


def test_a_buffer_larger_than_every_bank_has_no_place() -> None:
    assert assign([Buffer(32, 0, 1)], [[0, 1]], [16, 16]) == NoBankPlan(proved=True)


def test_fixed_offsets_are_refused() -> None:
    with pytest.raises(UsageError, match="fixed offsets"):
        assign([Buffer(16, 0, 1, offset=0)], [[0, 1]], [16, 16])
