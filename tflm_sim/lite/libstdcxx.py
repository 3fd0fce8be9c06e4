"""The C++ library's order: what ``std::unordered_set<int>`` iterates over, and how ``std::sort`` leaves ties.

The planner takes tensors out of sets and sorts them by a comparison that leaves many equal, so that the library that
the runtime was built with decides about their places. This is libstdc++, which the wheels for Linux are built with.

Source: libstdc++-v3/include/bits/hashtable.h, stl_algo.h, src/c++11/hashtable_c++0x.cc @ gcc 12
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

_FIRST_PRIMES = (2, 2, 2, 3, 5, 5, 7, 7, 11, 11, 11, 11, 13, 13)
_SMALLEST_TABLE = 11
_SORT_THRESHOLD = 16


class IntSet:
    """A ``std::unordered_set<int>`` that only grows (mutable); it iterates in the library's order."""

    def __init__(self) -> None:
        self._order: list[int] = []
        self._values: set[int] = set()
        self._buckets = 1
        self._next_resize = 0

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __contains__(self, value: int) -> bool:
        return value in self._values

    def __len__(self) -> int:
        return len(self._order)

    def add(self, value: int) -> None:
        """Insert a value that is not negative; one that is there stays where it is."""
        if value in self._values:
            return
        self._values.add(value)
        if len(self._order) + 1 > self._next_resize:
            self._grow(len(self._order) + 1)
        self._insert(value)

    def _grow(self, count: int) -> None:
        wanted = max(count, 0 if self._next_resize else _SMALLEST_TABLE)
        if wanted < self._buckets:
            self._next_resize = self._buckets
            return
        self._buckets = self._next_resize = _next_prime(max(wanted + 1, 2 * self._buckets))
        values, self._order = self._order, []
        for value in values:
            self._insert(value)

    def _insert(self, value: int) -> None:
        """Put a value in front of its bucket's others; a bucket's first goes to the front of all."""
        bucket = value % self._buckets
        place = next((at for at, other in enumerate(self._order) if other % self._buckets == bucket), 0)
        self._order.insert(place, value)


def _next_prime(count: int) -> int:
    if count < len(_FIRST_PRIMES):
        return _FIRST_PRIMES[count]
    return _PRIMES[bisect_left(_PRIMES, count)]


# The growth table of the library (__prime_list), as far as sets of one node's tensors go.
# fmt: off
_PRIMES = (
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 103, 109, 113,
    127, 137, 139, 149, 157, 167, 179, 193, 199, 211, 227, 241, 257, 277, 293, 313, 337, 359, 383, 409, 439, 467,
    503, 541, 577, 619, 661, 709, 761, 823, 887, 953, 1031, 1109, 1193, 1289, 1381, 1493, 1613, 1741, 1879, 2029,
    2179, 2357, 2549, 2753, 2971, 3209, 3469, 3739, 4027, 4349, 4703, 5087, 5503, 5953, 6427, 6949, 7517, 8123,
    8783, 9497, 10273, 11113, 12011, 12983, 14033, 15173, 16411, 17749, 19183, 20753, 22447, 24281, 26267, 28411,
    30727, 33223, 35933, 38873, 42043, 45481, 49201, 53201, 57557, 62233, 67307, 72817, 78779, 85229, 92203, 99733,
    107897, 116731, 126271, 136607, 147793,
)
# fmt: on

Less = Callable[[int, int], bool]


def std_sort(values: list[int], less: Less) -> None:
    """Sort in place as ``std::sort`` does: equal elements end where the library leaves them."""
    if len(values) < 2:
        return
    _introsort(values, 0, len(values), 2 * (len(values).bit_length() - 1), less)
    if len(values) > _SORT_THRESHOLD:
        _insertion_sort(values, 0, _SORT_THRESHOLD, less)
        for place in range(_SORT_THRESHOLD, len(values)):
            _unguarded_insert(values, place, less)
    else:
        _insertion_sort(values, 0, len(values), less)


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
