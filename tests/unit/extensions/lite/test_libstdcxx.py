"""The order of libstdc++'s containers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tflm_sim.extensions.lite.libstdcxx import TABLE_SIZES, IntSet, std_sort


def noise(count: int, below: int, seed: int) -> list[int]:
    """Return numbers of the generator that the C standard shows, which the C++ program below had, too."""
    numbers = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2**32
        numbers.append((seed >> 16) % below)
    return numbers


def test_a_set_of_13_buckets_takes_13_values_and_makes_a_larger_table_for_the_next() -> None:
    values = IntSet()
    for value in range(13):
        values.add(value)
    assert list(values) == [*range(12, -1, -1)]  # each goes in front of all: its bucket was empty
    values.add(13)  # 29 buckets: the 13 are put in again in the order they had, each in front of all
    assert list(values) == [13, *range(13)]


def test_a_set_grows_through_primes_each_at_least_twice_the_last_and_not_much_more() -> None:
    # std::unordered_set<int>::bucket_count() of g++ 12.2 while 0, 1, 2 ... are inserted.
    assert all(size % divisor for size in TABLE_SIZES for divisor in range(2, int(size**0.5) + 1))
    assert [2 <= later / size < 2.3 for size, later in pairwise(TABLE_SIZES)] == 12 * [True]


# What std::unordered_set<int> of g++ 12.2 gives: its size, and the sum of each place (from 1) times what stands there.
@pytest.mark.parametrize(
    ("count", "size", "weighted"),
    [
        (13, 11, 1081),
        (14, 10, 678),
        (30, 24, 7982),
        (60, 49, 73573),
        (200, 151, 2262717),
        (600, 459, 62830376),
        (1200, 931, 520606922),
    ],
)
def test_a_set_of_any_numbers_is_in_the_order_of_the_library(count: int, size: int, weighted: int) -> None:
    values = IntSet()
    for value in noise(count, 2 * count, seed=1):
        values.add(value)
    assert (len(values), sum(place * value for place, value in enumerate(values, 1))) == (size, weighted)


def against_quicksort(count: int) -> list[int]:
    """Return keys on which quicksort's pivots are always bad: a value is chosen as late as comparisons allow it."""
    undecided = count
    keys, decided, candidate = [undecided] * count, 0, 0

    def less(a: int, b: int) -> bool:
        nonlocal decided, candidate
        if keys[a] == keys[b] == undecided:
            keys[a if a == candidate else b] = decided
            decided += 1
        candidate = a if keys[a] == undecided else b if keys[b] == undecided else candidate
        return keys[a] < keys[b]

    std_sort(list(range(count)), less)
    return keys


# What std::sort of g++ 12.2 gives: how often it compares, and the sum of each place times what stands there.
@pytest.mark.parametrize(
    ("count", "equal", "comparisons", "weighted"),
    [(100, 1, 1742, 225_019), (101, 1, 1760, 228_711), (100, 4, 751, 225_295), (101, 4, 850, 228_932)],
)
def test_what_defeats_quicksort_is_sorted_by_a_heap_and_equal_ones_end_where_the_library_leaves_them(
    count: int, equal: int, comparisons: int, weighted: int
) -> None:
    assert sorted_by_keys([key // equal for key in against_quicksort(count)]) == (comparisons, weighted)


# Likewise, of keys that are noise.
@pytest.mark.parametrize(
    ("count", "below", "comparisons", "weighted"),
    [
        (2, 3, 2, 1),
        (3, 3, 4, 5),
        (15, 3, 64, 826),
        (15, 1000, 76, 677),
        (16, 3, 73, 990),
        (16, 1000, 89, 810),
        (17, 3, 74, 1007),
        (17, 1000, 92, 956),
        (18, 3, 73, 1233),
        (18, 1000, 94, 1173),
        (33, 3, 151, 7811),
        (33, 1000, 184, 8431),
        (100, 3, 515, 237423),
        (100, 1000, 758, 248293),
        (257, 3, 1542, 4058787),
        (257, 1000, 2453, 4154681),
    ],
)
def test_any_keys_are_sorted_with_the_comparisons_of_the_library(
    count: int, below: int, comparisons: int, weighted: int
) -> None:
    assert sorted_by_keys(noise(count, below, seed=7)) == (comparisons, weighted)


def sorted_by_keys(keys: list[int]) -> tuple[int, int]:
    """Return how often std_sort compares, and the sum of each place times what stands there."""
    compared = 0

    def less(a: int, b: int) -> bool:
        nonlocal compared
        compared += 1
        return keys[a] < keys[b]

    order = list(range(len(keys)))
    std_sort(order, less)
    assert [keys[place] for place in order] == sorted(keys)
    return compared, sum(place * value for place, value in enumerate(order))
