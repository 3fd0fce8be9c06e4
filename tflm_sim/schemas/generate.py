"""JSON Schemas of documents: types from the fields, words from the docstrings.

The published ones lie beside this file; ``tools/release/schemas.py`` writes them, and a test compares.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from tflm_sim.document_types import OneOf, Pattern, Range
from tflm_sim.documents import Json, fields_of, names_its_maker, types_of
from tflm_sim.registry import part_type, parts


def published(name: str) -> Json:
    """Return a published schema by the name of its file, such as "size"."""
    schema: Json = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    return schema


def schema_of(*kinds: Any, title: str) -> Json:
    """Return the JSON Schema of a document, of a list of rows, or of what is any of several."""
    known: dict[str, Json] = {}
    schemas = [_value(kind, known) if fields_of(kind) is None else _object(kind, known) for kind in kinds]
    body = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **body, "$defs": dict(sorted(known.items()))}


def _object(kind: type, known: dict[str, Json]) -> Json:
    summary, _ = _documented(kind)
    properties, required = _properties(kind, known)
    if names_its_maker(kind, properties):
        properties["tflm_sim"] = _MAKER
    return {
        "type": "object",
        "description": summary,
        "properties": properties,
        "required": required,
        "additionalProperties": getattr(kind, "IS_OPEN", False),
    }


_MAKER: Json = {
    "type": "object",
    "description": "Which tflm_sim made the document; older ones do not say it.",
    "properties": {
        "version": {"type": "string"},
        "commit": {"type": "string", "description": 'Nine digits of its commit, or "unknown".'},
    },
    "required": ["version", "commit"],
    "additionalProperties": False,
}


def _properties(kind: type, known: dict[str, Json]) -> tuple[Json, list[str]]:
    """Return the properties of a record, those of what is inline too, and which of them must be there."""
    properties: Json = {}
    required: list[str] = []
    hints, words = types_of(kind), _documented(kind)[1]
    for name, key, form, row, _ in fields_of(kind) or ():
        if form == "hidden":
            continue
        if form == "inline":
            if fields_of(hints[name]) is not None:
                inner, needed = _properties(hints[name], known)
                properties |= inner
                required += needed
            continue
        if form == "parts":
            for part, (_, row_of_part) in parts(kind.__name__).items():
                value = _value(part_type(kind.__name__, part), known)
                properties[part] = {**value, "description": row_of_part.about}
            continue
        hint = hints[name]
        if form == "optional":  # it is left out where it is None
            (hint,) = (each for each in typing.get_args(hint) if each is not type(None))
        properties[key] = _columns(row, known) if row else _value(hint, known, is_interned=form == "interned")
        if name in words:
            properties[key] = {**properties[key], "description": words[name]}
        required += [key] if form != "optional" else []
    return properties, required


def _columns(row: type, known: dict[str, Json]) -> Json:
    summary, words = _documented(row)
    cells = {name: _value(hint, known, is_interned=hint is str) for name, hint in types_of(row).items()}
    properties = {
        name: {"type": "array", "items": cell} | ({"description": words[name]} if name in words else {})
        for name, cell in cells.items()
    }
    return {
        "type": "object",
        "description": summary,
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_SIMPLE = {int: "integer", str: "string", bool: "boolean", float: "number", type(None): "null"}


def _value(hint: Any, known: dict[str, Json], *, is_interned: bool = False) -> Json:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _value(arguments[0], known, is_interned=is_interned) | _keywords(arguments[1])
    if origin in (types.UnionType, typing.Union):
        return _any_of([_value(each, known) for each in arguments])
    if origin is tuple:
        return _tuple(arguments, known, is_interned=is_interned)
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": [*arguments]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(arguments[1], known)}
    if hint is Any:
        return {}
    if fields_of(hint) is not None:
        return _reference(hint, known)
    return {"type": "integer", "minimum": 0} if is_interned else {"type": _SIMPLE[hint]}


def _reference(document: type, known: dict[str, Json]) -> Json:
    if document.__name__ not in known:
        known[document.__name__] = {}
        known[document.__name__] = _object(document, known)
    return {"$ref": f"#/$defs/{document.__name__}"}


def _tuple(arguments: Sequence[Any], known: dict[str, Json], *, is_interned: bool) -> Json:
    first = _value(arguments[0], known, is_interned=is_interned)
    if arguments[-1] is Ellipsis:
        return {"type": "array", "items": first}
    sizes = {"minItems": len(arguments), "maxItems": len(arguments)}
    if len(set(arguments)) == 1:
        return {"type": "array", "items": first, **sizes}
    return {"type": "array", "prefixItems": [_value(each, known) for each in arguments], **sizes}


def _keywords(mark: Range | OneOf | Pattern) -> Json:
    if isinstance(mark, OneOf):
        return {"enum": [*mark]}
    if isinstance(mark, Pattern):
        return {"pattern": mark.expression}
    return {"minimum": mark.minimum} | ({} if mark.maximum is None else {"maximum": mark.maximum})


def _any_of(schemas: Sequence[Json]) -> Json:
    if all("type" in schema and "enum" not in schema for schema in schemas):
        merged: Json = {}
        for schema in schemas:
            merged |= schema
        return {**merged, "type": [schema["type"] for schema in schemas]}
    return {"anyOf": [*schemas]}


@cache
def _documented(kind: type) -> tuple[str, dict[str, str]]:
    """Return a docstring's text before its sections, and what it says about each attribute."""
    text = inspect.getdoc(kind) or ""
    if text.startswith(f"{kind.__name__}("):  # what dataclasses put there where nobody wrote anything
        text = ""
    before, _, after = text.partition("\nAttributes:\n")
    words: dict[str, str] = {}
    names: list[str] = []
    for line in after.splitlines():
        match = re.fullmatch(r"    (\w+(?:, \w+)*): (.*)", line)
        if match:
            names = match[1].split(", ")
            words |= dict.fromkeys(names, match[2])
        elif line.startswith("        ") and names:
            words |= {name: f"{words[name]} {line.strip()}" for name in names}
        elif line.strip():
            break
    return " ".join(before.split()), words
