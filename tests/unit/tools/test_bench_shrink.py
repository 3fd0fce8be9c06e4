"""``bench_shrink.py``: what needs more with more options is named."""

from __future__ import annotations

import bench_shrink


def test_what_needs_more_with_more_options_of_the_same_kernels_is_named() -> None:
    rows = [
        bench_shrink.Row(column, name, operators=4, before=3000, after=after)
        for name, sizes in (("a", (2000, 1900, 1950, 1800)), ("b", (2000, 2000, 1900, 1900)))
        for column, after in zip(("shrink", "plan", "M4", "M55"), sizes, strict=True)
    ]
    assert list(bench_shrink.larger_with_more(bench_shrink.OPTIONS, rows)) == [
        "larger with more options: a: plan 1,900 B, M4 1,950 B"
    ]
