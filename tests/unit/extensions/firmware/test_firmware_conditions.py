"""Numbers of resource variables that still fit."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.extensions.firmware.conditions import _MAX_VARIABLES, _differ, _most_variables


class Case:
    """A firmware that fits with up to ``most`` resource variables."""

    def __init__(self, most: int, count: int = 0) -> None:
        self.most, self.count = most, count

    def at(self, *, resource_variables: int) -> Any:
        return Case(self.most, resource_variables)

    def fits(self) -> bool:
        return self.count <= self.most

    def answer(self) -> int:
        return self.most


@pytest.mark.parametrize("most", [*range(3, 40), _MAX_VARIABLES])
def test_the_most_resource_variables_are_those_of_the_tightest_case(most: int) -> None:
    assert _most_variables(3, [Case(_MAX_VARIABLES), Case(most)]) == most  # type: ignore[list-item]


def test_where_none_fits_the_least_is_said() -> None:
    assert _most_variables(3, [Case(2)]) == 3  # type: ignore[list-item]


def test_pairs_of_cases_differ_where_one_pair_has_two_answers() -> None:
    assert not _differ([(Case(1), Case(1)), (Case(2), Case(2))])  # type: ignore[list-item]
    assert _differ([(Case(1), Case(1)), (Case(1), Case(2))])  # type: ignore[list-item]
