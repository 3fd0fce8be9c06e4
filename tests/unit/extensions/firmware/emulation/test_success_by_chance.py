"""The search for an executed program's smallest arena, with sizes in which it succeeds by chance."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.search import SizeSearch, Trial
from tflm_sim.extensions.firmware.emulation.seen import Arena, Result

GIVEN = 20_000
USED = 8_052
NEEDS = 10_400


class Program(SizeSearch):
    """A program that needs :data:`NEEDS` bytes and also returns success with other sizes."""

    def __init__(self, succeeding: list[range]) -> None:
        arena = Arena(0x20000000, GIVEN, 0x20000000, True, None, None, results=[Result(0, USED)])
        nothing: Any = None
        super().__init__(nothing, nothing, nothing, arena, 1.0)
        self.succeeding = succeeding

    def attempt(self, size: int, *, is_brief: bool = False) -> Trial:
        self.trials += 1
        succeeds = size >= NEEDS or any(size in each for each in self.succeeding)
        results = (Result(0 if succeeds else 1, USED),)
        return Trial(size, succeeds, size >= NEEDS, False, results, "")


@pytest.mark.parametrize(
    ("succeeding", "succeeds_from"),
    [
        ([], NEEDS),
        # TFLM hands out bytes twice and does not notice.
        ([range(9_000, NEEDS)], 9_000),
        ([range(NEEDS - 1, NEEDS)], NEEDS - 1),
        # Far below, a wild pointer happens to be harmless here: with 10,399 bytes TFLM says "Too many buffers".
        ([range(8_064, 8_100)], NEEDS),
        ([range(8_064, 8_100), range(10_000, NEEDS)], 10_000),
    ],
)
def test_success_begins_where_no_size_above_fails(succeeding: list[range], succeeds_from: int) -> None:
    found = Program(succeeding).smallest()
    assert found is not None
    assert (found[0].size, found[1]) == (NEEDS, succeeds_from)
