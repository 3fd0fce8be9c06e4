"""What is written as JSON is read back the same; what is no such document is told why, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Literal, NamedTuple

import pytest

from tflm_sim.document_fields import HIDDEN, INLINE, INTERNED, OPTIONAL, columns, named
from tflm_sim.document_types import Annotated, Count, IndexOrNone, OneOf, Pattern, Range
from tflm_sim.documents import MAX_INTEGER, as_json, fields_of, from_json


class Kind(IntEnum):
    """A number with a name."""

    FIRST = 1


class Word(StrEnum):
    """A text with a name."""

    LOUD = "!"


class Cell(NamedTuple):
    """A row of columns."""

    name: str
    size: Count


@dataclass(frozen=True)
class Part:
    """What stands in another one's place."""

    low: int
    high: int = 7


@dataclass(frozen=True)
class Whole:
    """Every form of a field."""

    inside: Part = field(metadata=INLINE)
    cells: tuple[Cell, ...] = field(metadata=columns(Cell))
    label: str = field(metadata=INTERNED)
    labels: tuple[str, ...] = field(metadata=INTERNED)
    secret: int = field(default=5, metadata=HIDDEN)
    next: Part | None = field(default=None, metadata=OPTIONAL)
    kind: str = field(default="k", metadata=named("class"))
    made: dict[str, Part] = field(default_factory=dict)


WHOLE = Whole(Part(1, 2), (Cell("b", 3), Cell("a", 4)), "a", ("c", "b"), made={"x": Part(5)})
JSON = {
    "low": 1,
    "high": 2,
    "cells": {"name": [0, 1], "size": [3, 4]},
    "label": 1,
    "labels": [2, 0],
    "class": "k",
    "made": {"x": {"low": 5, "high": 7}},
}


def test_each_form_of_a_field_is_written_and_read() -> None:
    strings: dict[str, int] = {}
    assert as_json(WHOLE, strings) == JSON
    assert strings == {"b": 0, "a": 1, "c": 2}
    assert from_json(Whole, {**JSON, "of a newer version": 1}, [*strings]) == WHOLE


def test_what_is_optional_is_there_where_it_has_a_value_and_defaults_stand_for_what_is_not() -> None:
    assert as_json(Whole(Part(1), (), "a", (), next=Part(3)), {}) == {
        "low": 1,
        "high": 7,
        "cells": {"name": [], "size": []},
        "label": 0,
        "labels": [],
        "next": {"low": 3, "high": 7},
        "class": "k",
        "made": {},
    }
    least = {"low": 1, "cells": {"name": [], "size": []}, "label": 0, "labels": []}
    assert from_json(Whole, least, ["a"]) == Whole(Part(1, 7), (), "a", ())
    assert from_json(Whole, {**least, "secret": 9, "next": {"low": 3}}, ["a"]) == Whole(
        Part(1), (), "a", (), next=Part(3)
    )


def test_which_fields_have_a_default() -> None:
    rows = fields_of(Whole) or ()
    assert [row.name for row in rows if row.has_default] == ["secret", "next", "kind", "made"]
    assert (fields_of(Cell) or ())[0] == ("name", "name", "", None, False)
    assert fields_of(int) is None


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("a", "a"),
        (b"a\xff", "a\ufffd"),
        (Kind.FIRST, "first"),
        (Word.LOUD, "loud"),
        ({"a": Kind.FIRST}, {"a": "first"}),
        ((1, (2, "b")), [1, [2, "b"]]),
        (Cell("n", 1), {"name": "n", "size": 1}),
    ],
)
def test_each_kind_of_value_is_written(value: object, written: object) -> None:
    assert as_json(value) == written


def read(hint: Any, value: object) -> Any:
    """Return what a document with one field of a type reads."""
    return from_json(_one(hint), {"it": value}).it


def _one(hint: Any) -> Any:
    return dataclass(type("One", (), {"__annotations__": {"it": hint}, "__module__": __name__}))


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (Any, [1, "x"], [1, "x"]),
        (int, 2**63 - 1, 9_223_372_036_854_775_807),
        (int, 1 - 2**63, -9_223_372_036_854_775_807),
        (float, 1, 1),
        (float, 1.5, 1.5),
        (str, "x", "x"),
        (bool, True, True),
        (int | None, None, None),
        (int | None, 3, 3),
        (None | int | str, "x", "x"),
        (int | str, 3, 3),
        (Count, 0, 0),
        (IndexOrNone, -1, -1),
        (Annotated[int, Range(3, 5)], 3, 3),
        (Annotated[int, Range(3, 5)], 5, 5),
        (Annotated[int, OneOf(1, 2)], 2, 2),
        (Annotated[bool, OneOf(True)], True, True),
        (Annotated[str, Pattern("^a+$")], "aa", "aa"),
        (Literal["a", "b"], "b", "b"),
        (Literal[True], True, True),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (tuple[int, ...], [], ()),
        (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int], [1], (1,)),
        (Part, {"low": 1}, Part(1)),
    ],
)
def test_each_type_is_read(hint: Any, value: object, expected: object) -> None:
    found = read(hint, value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("hint", "value", "words"),
    [
        (int, 2**63, "9223372036854775808 is out of range"),
        (int, -(2**63), "-9223372036854775808 is out of range"),
        (int, True, "True is not a whole number"),
        (int, 1.5, "1.5 is not a whole number"),
        (float, True, "True is no number"),
        (float, "x", "'x' is no number"),
        (float, 2**63, "9223372036854775808 is out of range"),
        (str, 1, "1 is no text"),
        (bool, 1, "1 is no true or false"),
        (int | str, 1.5, "1.5 is no text"),
        (int, None, "None is not a whole number"),
        (Count, -1, "-1 is out of range"),
        (IndexOrNone, -2, "-2 is out of range"),
        (Annotated[int, Range(3, 5)], 2, "2 is out of range"),
        (Annotated[int, Range(3, 5)], 6, "6 is out of range"),
        (Annotated[int, OneOf(1, 2)], 3, "3 is not 1 or 2"),
        (Annotated[Any, OneOf(1, 2)], True, "True is not 1 or 2"),
        (Annotated[Any, OneOf(True)], 1, "1 is not True"),
        (Annotated[str, Pattern("^a+$")], "b", "'b' does not match ^a+$"),
        (Literal["a", "b"], "c", "'c' is not 'a' or 'b'"),
        (Literal[True], 1, "1 is not True"),
        (Literal[1], True, "True is not 1"),
        (dict[str, int], [1], "[1] is no object"),
        (dict[str, int], {"a": "x"}, "'x' is not a whole number"),
        (tuple[int, ...], 5, "5 is no list"),
        (tuple[int, str], [1], "[1] has not 2 items"),
        (tuple[int], [1, 2], "[1, 2] has not 1 items"),
        (Part, [], "[] is no object"),
        (Part, {}, "it has no 'low'"),
        (Part, {"low": "x"}, "low: 'x' is not a whole number"),
    ],
)
def test_what_is_not_of_the_type_is_told_why(hint: Any, value: object, words: str) -> None:
    with pytest.raises(ValueError, match=r"^it: ") as failure:
        read(hint, value)
    assert str(failure.value) == f"it: {words}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": 5}, "cells: 5 is no object"),
        ({"cells": {"name": [0]}}, "cells: it has no columns size"),
        ({"cells": {}}, "cells: it has no columns name, size"),
        ({"cells": {"name": [0], "size": 1}}, "cells: it has no columns name, size"),
        ({"cells": {"name": [0], "size": [1, 2]}}, "cells: its columns name, size are not of one length"),
        ({"cells": {"name": [3], "size": [1]}}, "cells: there is no text 3"),
        ({"cells": {"name": [0], "size": [-1]}}, "cells: -1 is out of range"),
        ({"label": 3}, "label: there is no text 3"),
        ({"label": -1}, "label: there is no text -1"),
        ({"label": "a"}, "label: 'a' is not a whole number"),
        ({"labels": [0, 3]}, "labels: there is no text 3"),
    ],
)
def test_columns_and_interned_texts_are_whole(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=r"^\w+: ") as failure:
        from_json(Whole, {**JSON, **change}, ["a", "b", "c"])
    assert str(failure.value) == words


def test_the_largest_number_is_that_of_63_bits() -> None:
    assert MAX_INTEGER == 9_223_372_036_854_775_807
