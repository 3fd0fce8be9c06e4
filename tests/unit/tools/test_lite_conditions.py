"""How ``tools upstream lite_conditions`` finds the same condition in the next release, and gives it a column."""

from __future__ import annotations

from upstream.lite_conditions import Condition, differences, read, replaced, with_column

TABLE = (
    "file\t2.3.0\tleft\tright\n"
    "one.cc\t10\tNumInputs(node)\t1\n"
    "one.cc\t20\tinput != nullptr\t\n"
    "one.cc\t30\tNumInputs(node)\t1\n"
    "two.cc\t5\tleft > 0\t\n"
)
NEXT = [
    Condition("one.cc", "axis >= 0", "", (8,)),
    Condition("one.cc", "NumInputs(node)", "1", (12,)),
    Condition("one.cc", "input != nullptr", "", (22,)),
    Condition("one.cc", "NumInputs(node)", "1", (30,)),
]


def test_a_condition_keeps_its_row_where_its_neighbours_stayed() -> None:
    _, rows = read(TABLE)
    assert {(row.left, row.lines) for row in with_column(rows, NEXT)} == {
        ("axis >= 0", (None, 8)),
        ("NumInputs(node)", (10, 12)),
        ("input != nullptr", (20, 22)),
        ("NumInputs(node)", (30, 30)),
        ("left > 0", (5, None)),
    }


def test_a_release_has_a_column_which_is_written_anew_in_its_place() -> None:
    releases, rows = read(TABLE)
    text = replaced(releases, rows, "2.4.0", NEXT)
    assert text.splitlines()[0] == "file\t2.3.0\t2.4.0\tleft\tright"
    assert "two.cc\t5\t\tleft > 0\t" in text.splitlines()
    assert replaced(*read(text), "2.4.0", NEXT) == text
    older = [row._replace(lines=row.lines[:1]) for row in rows]
    assert replaced(*read(text), "2.3.0", older).splitlines()[0] == "file\t2.3.0\t2.4.0\tleft\tright"


def test_what_came_and_went_is_named_with_its_function() -> None:
    _, rows = read(TABLE)
    found = [(one, f"Prepare{number}") for number, one in enumerate(NEXT)]
    assert list(differences(rows, found)) == [
        "came: one.cc:8 axis >= 0 (Prepare0)",
        "went: two.cc:5 left > 0",
        "1 conditions at the same line, 2 elsewhere",
    ]
