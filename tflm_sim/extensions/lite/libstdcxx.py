"""The C++ library's order: what ``std::unordered_set<int>`` iterates over, and how ``std::sort`` leaves ties.

The planner takes tensors out of sets and sorts them by a comparison that leaves many equal, so that the library that
the runtime was built with decides about their places. This is libstdc++, which the wheels for Linux are built with.

Source: libstdc++-v3/include/bits/hashtable.h, stl_algo.h, src/c++11/hashtable_c++0x.cc @ gcc 12
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

TABLE_SIZES = (13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229)
"""How many buckets a set has as it grows: the smallest prime of __prime_list that is twice the last or more."""
_SORT_THRESHOLD = 16


class IntSet:
    """A ``std::unordered_set<int>`` that only grows (mutable); it iterates in the library's order."""

    def __init__(self) -> None:
        self._order: list[int] = []
        self._values: set[int] = set()
        self._buckets = TABLE_SIZES[0]

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def add(self, value: int) -> None:
        """Insert a value that is not negative; one that is there stays where it is."""
        if value in self._values:
            return
        self._values.add(value)
        if len(self._order) == self._buckets:
            self._buckets = next(size for size in TABLE_SIZES if size > self._buckets)
            values, self._order = self._order, []
            for each in values:
                self._insert(each)
        self._insert(value)

    def _insert(self, value: int) -> None:
        """Put a value in front of its bucket's others; a bucket's first goes to the front of all."""
        bucket = value % self._buckets
        place = next((at for at, other in enumerate(self._order) if other % self._buckets == bucket), 0)
        self._order.insert(place, value)


Less = Callable[[int, int], bool]


def std_sort(values: list[int], less: Less) -> None:
    """Sort in place as ``std::sort`` does: equal elements end where the library leaves them."""
    if len(values) < 2:
        return
    _introsort(values, 0, len(values), 2 * (len(values).bit_length() - 1), less)
    _insertion_sort(values, 0, min(len(values), _SORT_THRESHOLD), less)
    for place in range(_SORT_THRESHOLD, len(values)):
        _unguarded_insert(values, place, less)


def _introsort(values: list[int], first: int, last: int, depth: int, less: Less) -> None:
    while last - first > _SORT_THRESHOLD:
        if depth == 0:
            _heap_sort(values, first, last, less)
            return
        depth -= 1
        cut = _partition(values, first, last, less)
        _introsort(values, cut, last, depth, less)
        last = cut


def _partition(values: list[int], first: int, last: int, less: Less) -> int:
    """Move the median of three to the front and partition the rest around it; return the cut."""
    middle = first + (last - first) // 2
    a, b, c = first + 1, middle, last - 1
    if less(values[a], values[b]):
        median = b if less(values[b], values[c]) else c if less(values[a], values[c]) else a
    else:
        median = a if less(values[a], values[c]) else c if less(values[b], values[c]) else b
    values[first], values[median] = values[median], values[first]
    pivot, low, high = values[first], first + 1, last
    while True:
        while less(values[low], pivot):
            low += 1
        high -= 1
        while less(pivot, values[high]):
            high -= 1
        if low >= high:
            return low
        values[low], values[high] = values[high], values[low]
        low += 1


def _insertion_sort(values: list[int], first: int, last: int, less: Less) -> None:
    for place in range(first + 1, last):
        if less(values[place], values[first]):
            values.insert(first, values.pop(place))
        else:
            _unguarded_insert(values, place, less)


def _unguarded_insert(values: list[int], place: int, less: Less) -> None:
    value = values[place]
    while less(value, values[place - 1]):
        values[place] = values[place - 1]
        place -= 1
    values[place] = value


def _heap_sort(values: list[int], first: int, last: int, less: Less) -> None:
    """``std::partial_sort`` of a whole range: make a heap, then pop its largest again and again."""
    count = last - first
    for parent in range((count - 2) // 2, -1, -1):
        _adjust_heap(values, first, parent, count, values[first + parent], less)
    for end in range(count - 1, 0, -1):
        value, values[first + end] = values[first + end], values[first]
        _adjust_heap(values, first, 0, end, value, less)


def _adjust_heap(values: list[int], first: int, hole: int, count: int, value: int, less: Less) -> None:
    top, child = hole, hole
    while child < (count - 1) // 2:
        child = 2 * (child + 1)
        if less(values[first + child], values[first + child - 1]):
            child -= 1
        values[first + hole] = values[first + child]
        hole = child
    if count % 2 == 0 and child == (count - 2) // 2:
        child = 2 * child + 1
        values[first + hole] = values[first + child]
        hole = child
    parent = (hole - 1) // 2
    while hole > top and less(values[first + parent], value):
        values[first + hole] = values[first + parent]
        hole, parent = parent, (parent - 1) // 2
    values[first + hole] = value
