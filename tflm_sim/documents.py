"""Documents: what is written as JSON is a frozen dataclass, which alone says how it is written and read.

    @dataclass(frozen=True, slots=True)
    class Peak:
        \"""Where most is alive.      <- the schema's description

        Attributes:
            scope: The moment.         <- a property's description
        \"""

        scope: Count                   -> {"scope": 3, "buffers": [0, 2]}
        buffers: tuple[Count, ...]

``field(metadata=INLINE)`` and its like say how a field stands in JSON (``document_fields.py``); the types in
``document_types.py`` say what its values are, and need not be imported at run time by who names them. Rows that come by
the thousand may be named tuples; they are objects in JSON all the same. ``schemas/generate.py`` makes JSON Schemas of
documents; one with ``IS_OPEN`` may get more keys without a new version.

A document with ``schema_version`` also says which tflm_sim made it. One with ``IS_KEPT`` does not: users compare it by
its text, or it is a row of many.
"""

from __future__ import annotations

import contextlib
import re
import reprlib
import types
import typing
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from tflm_sim import document_types
from tflm_sim.document_types import OneOf, Pattern, Range
from tflm_sim.provenance import maker
from tflm_sim.registry import part_type, parts

if TYPE_CHECKING:
    import dataclasses

T = TypeVar("T")
MAX_INTEGER = (1 << 63) - 1
"""The largest integer of a document, and its negative the smallest: every reader of JSON can represent them."""
Json = dict[str, Any]


class JsonField(NamedTuple):
    """How a field is written in JSON.

    Attributes:
        name: The attribute's name in Python.
        key: The name in JSON.
        form: "inline", "parts", "hidden", "optional", "derived", "interned" (``document_fields.py``), "" for a plain
            value.
        row: The class of named tuple that is written as columns, else None.
        has_default: Whether the key may be missing in what is read.
    """

    name: str
    key: str
    form: str
    row: type | None
    has_default: bool


def _field(row: dataclasses.Field[Any]) -> JsonField:
    from dataclasses import MISSING

    facts = row.metadata
    has_default = row.default is not MISSING or row.default_factory is not MISSING
    return JsonField(row.name, facts.get("key", row.name), facts.get("as", ""), facts.get("row"), has_default)


@cache
def fields_of(kind: Hashable) -> tuple[JsonField, ...] | None:
    """Return the fields of a dataclass or a named tuple; None for any other type."""
    import dataclasses  # slow to import, and only needed for JSON

    if dataclasses.is_dataclass(kind):
        return tuple(map(_field, dataclasses.fields(kind)))
    names: Sequence[str] | None = getattr(kind, "_fields", None)
    return None if names is None else tuple(JsonField(name, name, "", None, False) for name in names)


@cache
def types_of(kind: Hashable) -> dict[str, Any]:
    """Return the types of a document's fields, with what is said about them."""
    return typing.get_type_hints(kind, localns=vars(document_types), include_extras=True)


# -- writing ----------------------------------------------------------------------------------------------------------


def as_json(value: Any, strings: dict[str, int] | None = None) -> Any:
    """Return a document, or any value in one, as JSON has it.

    Args:
        value: The value.
        strings: Takes the texts of columns and interned fields, each with its index.
    """
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, Enum)):
        return value
    kind: Any = type(value)
    fields = fields_of(kind)
    if fields is not None:
        members = dict(_members(value, fields, strings))
        return {**members, "tflm_sim": maker()} if names_its_maker(kind, members) else members
    if isinstance(value, Mapping):
        return {key: as_json(item, strings) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [as_json(item, strings) for item in value]


def names_its_maker(kind: Any, keys: Iterable[str]) -> bool:
    """Return whether a document says which tflm_sim made it: each with a version of its schema, if it is not kept."""
    return "schema_version" in keys and not getattr(kind, "IS_KEPT", False)


def _members(value: Any, fields: tuple[JsonField, ...], strings: dict[str, int] | None) -> Iterator[tuple[str, Any]]:
    for name, key, form, row, _ in fields:
        item = getattr(value, name)
        if form == "hidden" or (form == "optional" and item is None):
            continue
        if form in ("inline", "parts"):
            yield from as_json(item, strings).items()
        elif row is not None:
            yield key, _as_columns(row, item, strings)
        elif form == "interned":
            yield key, _interned(item, strings)
        else:
            yield key, as_json(item, strings)


def _as_columns(row: type, rows: Sequence[Any], strings: dict[str, int] | None) -> Json:
    hints = types_of(row)
    values = zip(*rows, strict=True) if rows else ((),) * len(hints)
    return {
        name: _interned(column, strings) if hint is str else list(column)
        for (name, hint), column in zip(hints.items(), values, strict=True)
    }


def _interned(value: Any, strings: dict[str, int] | None) -> Any:
    assert strings is not None, "a document with interned texts has a table of them"
    if isinstance(value, str):
        return strings.setdefault(value, len(strings))
    return [_interned(item, strings) for item in value]


# -- reading ----------------------------------------------------------------------------------------------------------


def from_json(kind: type[T], value: object, strings: Sequence[str] = ()) -> T:
    """Return a document that was read as JSON; keys that it does not know are left out.

    Args:
        kind: The dataclass, or a named tuple.
        value: What :func:`as_json` made.
        strings: The texts of columns and interned fields.

    Raises:
        ValueError: Something is missing or of another type; it says what.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{_brief(value)} is no object")
    taken: dict[str, Any] = {}
    record: Any = kind
    hints = types_of(record)
    for name, key, form, row, has_default in fields_of(record) or ():
        if form == "inline":
            taken[name] = from_json(hints[name], value, strings)
        elif form == "parts":
            known = parts(record.__name__)
            taken[name] = {
                part: _read(part_type(record.__name__, part), value[part], strings) for part in known if part in value
            }
        elif form in ("hidden", "derived") or (has_default and key not in value):
            continue
        elif key not in value:
            raise ValueError(f"it has no {key!r}")
        else:
            try:
                taken[name] = _read(hints[name], value[key], strings, row=row, is_interned=form == "interned")
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from None
    return kind(**taken)


def _read(hint: Any, value: Any, strings: Sequence[str], *, row: type | None = None, is_interned: bool = False) -> Any:
    if row is not None:
        return _read_columns(row, value, strings)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _marked(arguments[1], _read(arguments[0], value, strings, is_interned=is_interned))
    if origin in (types.UnionType, typing.Union):
        return _read_any(arguments, value, strings)
    if origin is tuple:
        return _read_tuple(arguments, value, strings, is_interned=is_interned)
    if origin is Literal:
        return _literal(arguments, value)
    if origin is dict:
        return {key: _read(arguments[1], item, strings) for key, item in _of_type(dict, value).items()}
    if fields_of(hint) is not None:
        return from_json(hint, value, strings)
    return _interned_text(value, strings) if is_interned else _read_plain(hint, value)


def _read_plain(hint: Any, value: Any) -> Any:
    if hint is Any:
        return value
    return _number(value) if hint is int else _of_type(hint, value)


def _read_any(hints: Sequence[Any], value: Any, strings: Sequence[str]) -> Any:
    """Return None for null, else the value read as the first of several types that it fits."""
    if value is None:
        return None
    *others, last = [each for each in hints if each is not type(None)]
    for hint in others:
        with contextlib.suppress(ValueError):
            return _read(hint, value, strings)
    return _read(last, value, strings)


def _read_tuple(arguments: Sequence[Any], value: Any, strings: Sequence[str], *, is_interned: bool) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{_brief(value)} is no list")
    if arguments[-1] is not Ellipsis and len(value) != len(arguments):
        raise ValueError(f"{_brief(value)} has not {len(arguments)} items")
    hints = arguments if arguments[-1] is not Ellipsis else (arguments[0],) * len(value)
    return tuple(_read(hint, item, strings, is_interned=is_interned) for hint, item in zip(hints, value, strict=True))


def _literal(arguments: Sequence[Any], value: Any) -> Any:
    if value not in arguments or isinstance(value, bool) is not isinstance(arguments[0], bool):
        raise ValueError(f"{_brief(value)} is not {' or '.join(map(repr, arguments))}")
    return value


def _read_columns(row: type, value: Any, strings: Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(value, dict):
        raise ValueError(f"{_brief(value)} is no object")
    hints = types_of(row)
    if missing := hints.keys() - value.keys():
        raise ValueError(f"it has no columns {', '.join(sorted(missing))}")
    if not all(isinstance(value[name], list) for name in hints):
        raise ValueError(f"it has no columns {', '.join(sorted(hints))}")
    if len({len(value[name]) for name in hints}) > 1:
        raise ValueError(f"its columns {', '.join(hints)} are not of one length")
    read = (
        [_read(hint, cell, strings, is_interned=hint is str) for cell in value[name]] for name, hint in hints.items()
    )
    return tuple(row(*cells) for cells in zip(*read, strict=True))


def _interned_text(value: object, strings: Sequence[str]) -> str:
    index = _number(value)
    if not 0 <= index < len(strings):
        raise ValueError(f"there is no text {index}")
    return strings[index]


def _marked(mark: Range | OneOf | Pattern, value: Any) -> Any:
    """Return a value after checking the range, choice or pattern that its annotation demands; null passes."""
    if isinstance(mark, OneOf):
        if value not in mark or isinstance(value, bool) is not isinstance(mark[0], bool):
            raise ValueError(f"{_brief(value)} is not {' or '.join(map(repr, mark))}")
    elif isinstance(mark, Pattern):
        if not re.search(mark.expression, value):
            raise ValueError(f"{_brief(value)} does not match {mark.expression}")
    elif value < mark.minimum or (mark.maximum is not None and value > mark.maximum):
        raise ValueError(f"{_brief(value)} is out of range")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{_brief(value)} is not a whole number")
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise ValueError(f"{_brief(value)} is out of range")
    return value


def _of_type(kind: type, value: object) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return _number(value)
    if not isinstance(value, kind):
        raise ValueError(f"{_brief(value)} is no {_NAMES.get(kind, kind.__name__)}")
    return value


_NAMES = {str: "text", bool: "true or false", float: "number", dict: "object"}


def _brief(value: object) -> str:
    text = reprlib.repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
