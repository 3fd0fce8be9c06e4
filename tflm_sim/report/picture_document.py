"""Pictures as one versioned JSON document, and back: what the page embeds, and what can be drawn again later.

``picture_schema.json`` beside this file is its published schema. Rows that come by the thousand are stored as columns,
and their texts as indices into one list of ``strings``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tflm_sim.errors import ModelError
from tflm_sim.files import parse_json
from tflm_sim.report.categories import CATEGORIES
from tflm_sim.report.picture import Block, Limit, Moment, Picture, Remedy, Resident, Step

SCHEMA_VERSION = 1
KIND = "tflm_sim picture"
Document = dict[str, Any]
R = TypeVar("R", bound=NamedTuple)

# Which rows are stored as columns, and which of their fields are texts.
_TABLES: dict[str, type[Any]] = {"moments": Moment, "blocks": Block, "steps": Step, "residents": Resident}
_TEXTS = {"category", "label", "kind", "text", "name"}


def picture_document(pictures: Sequence[Picture]) -> Document:
    """Return one or several pictures of one model as JSON values."""
    strings: dict[str, int] = {}
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "categories": [
            {"key": row.key, "title": row.title, "section": row.section, "light": row.light, "dark": row.dark}
            for row in CATEGORIES.values()
        ],
        "pictures": [_picture(picture, strings) for picture in pictures],
        "strings": list(strings),
    }


def picture_schema() -> Document:
    """Return the published JSON Schema."""
    document: Document = json.loads(Path(__file__).with_name("picture_schema.json").read_text("utf-8"))
    return document


def _picture(picture: Picture, strings: dict[str, int]) -> Document:
    document: Document = {}
    for field in fields(picture):
        value = getattr(picture, field.name)
        if field.name in _TABLES:
            document[field.name] = _columns(_TABLES[field.name], value, strings)
        elif field.name in ("limits", "remedies"):
            document[field.name] = [row._asdict() for row in value]
        elif field.name == "op_names":
            document[field.name] = [[_intern(name, strings) for name in names] for names in value]
        elif isinstance(value, tuple):
            document[field.name] = [list(row) if isinstance(row, tuple) else row for row in value]
        else:
            document[field.name] = value
    return document


def _columns(row_type: type[Any], rows: Sequence[Any], strings: dict[str, int]) -> Document:
    columns = zip(*rows, strict=True) if rows else [()] * len(row_type._fields)
    return {
        name: [_intern(value, strings) for value in column] if name in _TEXTS else list(column)
        for name, column in zip(row_type._fields, columns, strict=True)
    }


def _intern(text: str, strings: dict[str, int]) -> int:
    return strings.setdefault(text, len(strings))


def read_pictures(text: bytes | str, *, path: str = "") -> list[Picture]:
    """Return the pictures of a saved document.

    Raises:
        ModelError: It is not such a document, or one of another version.
    """
    document = parse_json(text, path=path or "the document", error=ModelError)
    try:
        if document.get("kind") != KIND or document.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"it is not a '{KIND}' of version {SCHEMA_VERSION}")
        strings = [str(value) for value in document["strings"]]
        return [_read_picture(row, strings) for row in document["pictures"]]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelError(f"cannot be read as a saved picture: {type(error).__name__}: {error}", path=path) from None


def _read_picture(document: Mapping[str, Any], strings: Sequence[str]) -> Picture:
    picture = Picture(
        title=str(document["title"]),
        size=dict(document["size"]),
        arena_bytes=_number(document["arena_bytes"]),
        split_at=_number(document["split_at"]),
        status=str(document["status"]),
        failure=str(document["failure"]),
        op_names=tuple(tuple(strings[index] for index in names) for names in document["op_names"]),
        subgraph_names=tuple(map(str, document["subgraph_names"])),
        scopes=tuple((_number(subgraph), _number(operator)) for subgraph, operator in document["scopes"]),
        live_bytes=tuple(map(_number, document["live_bytes"])),
        limits=tuple(
            Limit(str(row["stage"]), *(_number(row[name]) for name in Limit._fields[1:])) for row in document["limits"]
        ),
        remedies=tuple(Remedy(*(_number(row[name]) for name in Remedy._fields)) for row in document["remedies"]),
        **{name: _rows(row_type, document[name], strings) for name, row_type in _TABLES.items()},
    )
    _check(picture)
    return picture


def _rows(
    row_type: Callable[..., Any], columns: Mapping[str, Sequence[Any]], strings: Sequence[str]
) -> tuple[Any, ...]:
    names: Iterable[str] = row_type._fields  # type: ignore[attr-defined]
    values = ([strings[i] for i in columns[n]] if n in _TEXTS else map(_number, columns[n]) for n in names)
    return tuple(row_type(*row) for row in zip(*values, strict=True))


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _check(picture: Picture) -> None:
    """Refuse rows that point at nothing."""
    ranges = {"enter": len(picture.moments), "place": len(picture.residents)}
    ranges |= dict.fromkeys(("persist", "temp", "free"), len(picture.blocks))
    for step in picture.steps:
        if step.kind in ranges and picture.status == "ok" and not 0 <= step.value < ranges[step.kind]:
            raise ValueError(f"a step names the {step.kind} {step.value}")
    for category in chain((row.category for row in picture.blocks), (row.category for row in picture.residents)):
        if category not in CATEGORIES:
            raise ValueError(f"there is no category {category!r}")
    for moment in picture.moments:
        if moment.operator >= 0:
            picture.op_names[moment.subgraph][moment.operator]
    for subgraph, operator in picture.scopes:
        if operator >= 0:
            picture.op_names[subgraph][operator]
    for resident in picture.residents:
        if not 0 <= resident.first <= resident.last < len(picture.scopes):
            raise ValueError(f"{resident.name!r} is alive when nothing runs")
