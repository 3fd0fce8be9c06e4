"""Tables: which cells are numbers, how columns are broken, and which of them a width has room for."""

from __future__ import annotations

import pytest

from tflm_sim.report.tables import _is_number, fitting_columns, table_lines


@pytest.mark.parametrize(
    ("cell", "is_number"),
    [
        ("5", True),
        ("1,024 B", True),
        ("+5", True),
        ("-5", True),
        ("-", False),
        ("+", False),
        ("", False),
        ("--5", False),
        ("x5", False),
        ("1.5 ms", True),
        ("4.1.0", False),
        ("4.1", True),
        ("2024-05-06", False),
        ("2024", False),
        ("20245", True),
        ("1234567ab", False),
        ("1234567abc", True),
    ],
)
def test_versions_days_and_commits_are_no_numbers(cell: str, is_number: bool) -> None:
    assert _is_number(cell) is is_number


def test_the_widest_column_but_the_first_is_broken_until_all_fit() -> None:
    rows = [("a" * 20, "two words", "bb")]
    assert table_lines(rows) == [f"{'a' * 20}  two words  bb"]
    # 20 + 9 + 2, and two gaps of 2.
    assert table_lines(rows, width=35) == table_lines(rows)
    assert table_lines(rows, width=34) == [f"{'a' * 20}  two    bb", f"{'a' * 20}  words".replace("a", " ")]
    # 1 + 12 and a gap of 2 are 3 too many: the column keeps 9 letters.
    assert table_lines([("a", "aaaa bbbb cc")], width=12) == ["a  aaaa bbbb", "   cc"]
    # No column is narrower than six letters for that.
    assert table_lines([("a", "bbbbbb", "cccccc")], width=1) == ["a  bbbbbb  cccccc"]
    assert table_lines([("a", "b bbbbb", "cccccc")], width=1) == ["a  b      cccccc", "   bbbbb"]


def test_a_broken_cell_leaves_the_others_empty_below_it() -> None:
    assert table_lines([("5", "one two"), ("-", "x")], width=9) == ["5  one", "   two", "-  x"]


@pytest.mark.parametrize(
    ("width", "columns"),
    [(None, [0, 1, 2]), (13, [0, 1, 2]), (12, [0, 1]), (9, [0, 1]), (8, [1, 2]), (7, [1]), (4, [1]), (0, [1])],
)
def test_the_columns_that_matter_most_are_chosen_first(width: int | None, columns: list[int]) -> None:
    # Columns of 3, 4 and 2 letters: 3 + 4 + 2 and two gaps are 13.
    assert fitting_columns([("abc", "abcd", "ab"), ("", "", "")], (1, 0, 2), width=width) == columns


def test_a_narrow_column_is_taken_where_a_wide_one_had_no_room() -> None:
    assert fitting_columns([("a", "b" * 9, "c")], (0, 1, 2), width=5) == [0, 2]
    assert fitting_columns([("a", "b", "c")], (2,), width=5) == [2]
