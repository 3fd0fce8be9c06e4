"""A JSON Schema is made of the dataclasses of a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Optional

import pytest

from tflm_sim.document_fields import HIDDEN, INLINE, INTERNED, OPTIONAL, columns, named
from tflm_sim.document_types import Annotated, Count, IndexOrNone, OneOf, Pattern, Range
from tflm_sim.schemas.generate import published, schema_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Cell(NamedTuple):
    """A cell.

    Attributes:
        name: Its name.
    """

    name: str
    size: Count


@dataclass(frozen=True)
class Part:
    """A part,
    of two lines.

    Attributes:
        low, high: Where it begins,
            and where it ends.
        high_again: Its end.
    After the attributes:
        text: no attribute
    """

    low: int
    high: int
    high_again: int
    text: str = ""


@dataclass(frozen=True)
class Whole:
    """The whole."""

    IS_OPEN = True
    inside: Part = field(metadata=INLINE)
    facts: dict[str, Any] = field(metadata=INLINE)
    secret: int = field(metadata=HIDDEN)
    cells: tuple[Cell, ...] = field(metadata=columns(Cell))
    label: str = field(metadata=INTERNED)
    labels: tuple[str, ...] = field(metadata=INTERNED)
    next: Part | None = field(default=None, metadata=OPTIONAL)
    kind: str = field(default="", metadata=named("class"))


def test_a_record_is_an_object_with_its_docstring_and_what_is_inline_stands_in_its_place() -> None:
    part = {
        "low": {"type": "integer", "description": "Where it begins, and where it ends."},
        "high": {"type": "integer", "description": "Where it begins, and where it ends."},
        "high_again": {"type": "integer", "description": "Its end."},
        "text": {"type": "string"},
    }
    schema = schema_of(Whole, title="whole")
    assert schema == {
        "$schema": DRAFT,
        "title": "whole",
        "type": "object",
        "description": "The whole.",
        "properties": {
            **part,
            "cells": {
                "type": "object",
                "description": "A cell.",
                "properties": {
                    "name": {"type": "array", "items": {"type": "integer", "minimum": 0}, "description": "Its name."},
                    "size": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                },
                "required": ["name", "size"],
                "additionalProperties": False,
            },
            "label": {"type": "integer", "minimum": 0},
            "labels": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "next": {"$ref": "#/$defs/Part"},
            "class": {"type": "string"},
        },
        "required": ["low", "high", "high_again", "text", "cells", "label", "labels", "class"],
        "additionalProperties": True,
        "$defs": {
            "Part": {
                "type": "object",
                "description": "A part, of two lines.",
                "properties": part,
                "required": ["low", "high", "high_again", "text"],
                "additionalProperties": False,
            }
        },
    }


def test_a_record_without_a_docstring_has_an_empty_description() -> None:
    bare: Any = dataclass(type("Bare", (), {"__annotations__": {"low": "int"}, "__module__": __name__}))
    assert schema_of(bare, title="")["description"] == ""


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int, {"type": "integer"}),
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (Any, {}),
        (Count, {"type": "integer", "minimum": 0}),
        (IndexOrNone, {"type": "integer", "minimum": -1}),
        (Annotated[int, Range(3, 5)], {"type": "integer", "minimum": 3, "maximum": 5}),
        (Annotated[int, OneOf(1, 2)], {"type": "integer", "enum": [1, 2]}),
        (Annotated[str, Pattern("^a$")], {"type": "string", "pattern": "^a$"}),
        (Literal["a"], {"const": "a"}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, int], {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (int | None, {"type": ["integer", "null"]}),
        (Optional[Count], {"type": ["integer", "null"], "minimum": 0}),  # noqa: UP045 - as it was written once
        (Annotated[int, OneOf(1, 2)] | None, {"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "null"}]}),
        (Literal[1] | None, {"anyOf": [{"const": 1}, {"type": "null"}]}),
    ],
)
def test_each_type_has_its_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint, title="") == {"$schema": DRAFT, "title": "", **schema, "$defs": {}}


def test_one_of_several_documents_is_any_of_them_and_what_they_name_is_defined_once() -> None:
    schema = schema_of(tuple[Part, ...], dict[str, Part], title="")
    assert schema["anyOf"] == [
        {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Part"}},
    ]
    assert schema["$defs"] == schema_of(Part | None, title="")["$defs"]
    assert schema["$defs"].keys() == {"Part"}


def test_a_published_schema_is_found_by_its_verb() -> None:
    assert published("size")["title"] == "tflm-sim size"
