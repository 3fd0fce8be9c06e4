"""The order of libstdc++'s containers."""

from __future__ import annotations

import pytest

from tflm_sim.lite.libstdcxx import IntSet, std_sort


def test_a_set_of_13_buckets_takes_13_values_and_makes_a_larger_table_for_the_next() -> None:
    values = IntSet()
    for value in range(13):
        values.add(value)
    assert list(values) == [*range(12, -1, -1)]  # each goes in front of all: its bucket was empty
    values.add(13)  # 29 buckets: the 13 are put in again in the order they had, each in front of all
    assert list(values) == [13, *range(13)]


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
    keys, compared = [key // equal for key in against_quicksort(count)], 0

    def less(a: int, b: int) -> bool:
        nonlocal compared
        compared += 1
        return keys[a] < keys[b]

    order = list(range(count))
    std_sort(order, less)
    assert [keys[place] for place in order] == sorted(keys)
    assert (compared, sum(place * value for place, value in enumerate(order))) == (comparisons, weighted)
