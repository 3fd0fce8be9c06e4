"""``NativeFirstFit``: first fit of groups that may overlap, beside one in Python that looks at every offset."""

from __future__ import annotations

import random

import pytest

from tflm_sim.errors import TflmSimError
from tflm_sim.planners import native

pytestmark = pytest.mark.skipif(not native.available(), reason="the first fit is C")


def problem(seed: int) -> tuple[list[int], list[native.Gap], list[int]]:
    """Return sizes, gaps and an order; all are small, so that every offset can be tried."""
    chance = random.Random(seed)
    count = chance.randrange(1, 9)
    sizes = [chance.randrange(6) for _ in range(count)]
    gaps: list[native.Gap] = []
    for _ in range(chance.randrange(3 * count)):
        group, other = chance.randrange(count), chance.randrange(count)
        after = chance.randrange(-8, 5)
        if group != other:
            gaps.append((group, other, after, after + chance.randrange(9)))
    return sizes, gaps, chance.sample(range(count), count)


def fitted(sizes: list[int], gaps: list[native.Gap], order: list[int]) -> tuple[int, list[int]]:
    """Return the highest end, and the lowest offset of each group that those before it in the order allow."""
    offsets: dict[int, int] = {}
    for group in order:
        own = [gap for gap in gaps if gap[0] == group and gap[1] in offsets]
        offset = 0
        while any(after < offset - offsets[other] < before for _, other, after, before in own):
            offset += 1
        offsets[group] = offset
    return max(offsets[i] + size for i, size in enumerate(sizes)), [offsets[i] for i in range(len(sizes))]


def climbed(sizes: list[int], gaps: list[native.Gap], order: list[int], steps: int) -> tuple[int, list[int]]:
    """Return the lowest end of an order and of those that follow from it, with its offsets."""
    found = [fitted(sizes, gaps, order)]
    while steps > 0 and len(found) < 1000:
        steps -= len(gaps)
        head, offsets = found[-1]
        top = [i for i in order if offsets[i] + sizes[i] == head]
        order = top + [i for i in order if i not in top]
        found.append(fitted(sizes, gaps, order))
    return min(found)


def test_each_group_lies_as_low_as_those_before_it_allow() -> None:
    for seed in range(200):
        sizes, gaps, order = problem(seed)
        first_fit, (head, offsets) = native.NativeFirstFit(sizes, gaps), fitted(sizes, gaps, order)
        assert first_fit.fit(order) == (head, offsets), seed
        known = [offsets[i] for i in order[: seed % len(order)]]
        assert first_fit.fit(order, known) == (head, offsets), seed


def test_a_climb_gives_the_lowest_of_the_orders_that_follow_from_the_first() -> None:
    for seed in range(200):
        sizes, gaps, order = problem(seed)
        first_fit = native.NativeFirstFit(sizes, gaps)
        for steps in (0, len(gaps), 20 * len(gaps)):
            assert first_fit.climb(order, steps) == climbed(sizes, gaps, order, steps), (seed, steps)


def test_groups_behind_the_first_end_that_is_too_high_have_no_offset() -> None:
    apart = [(1, 0, -32, 16), (0, 1, -16, 32), (2, 1, -16, 32), (1, 2, -32, 16)]
    assert native.NativeFirstFit([16, 32, 16], apart).fit([0, 1, 2], most=47) == (48, [0, 16, -1])


def test_a_gap_of_a_group_that_is_none_is_refused() -> None:
    with pytest.raises(TflmSimError):
        native.NativeFirstFit([16], [(0, 1, 0, 16)])
