"""The order of libstdc++'s containers."""

from __future__ import annotations

from tflm_sim.lite.libstdcxx import IntSet


def test_a_set_of_13_buckets_takes_13_values_and_makes_a_larger_table_for_the_next() -> None:
    values = IntSet()
    for value in range(13):
        values.add(value)
    assert list(values) == [*range(12, -1, -1)]  # each goes in front of all: its bucket was empty
    values.add(13)  # 29 buckets: the 13 are put in again in the order they had, each in front of all
    assert list(values) == [13, *range(13)]
