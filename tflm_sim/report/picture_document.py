"""Pictures as one JSON document that can be drawn again later, here or by somebody else.

``schemas/report.json`` is its published schema. Rows that come by the thousand are stored as columns,
and texts once, in ``strings``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal

from tflm_sim.document_types import OneOf, Pattern
from tflm_sim.documents import Json, as_json, from_json
from tflm_sim.errors import ModelError
from tflm_sim.files import parse_json
from tflm_sim.palette import CATEGORIES, MEANINGS
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.picture import Picture

SCHEMA_VERSION = 1
KIND = "tflm_sim picture"
Color = Annotated[str, Pattern("^#[0-9a-f]{6}$")]


@dataclass(frozen=True, slots=True)
class CategoryFacts:
    """One kind of bytes, and its colour on a light and on a dark ground.

    Attributes:
        key: Its stable name.
        title: For people.
        section: The part of the arena that it is in.
        light, dark: Fills.
        light_ink, dark_ink: What can be read on each.
        meaning: Which of the five meanings it is a kind of, for people.
        is_hatched: Whether lines lie over its colour.
    """

    key: str
    title: str
    section: Annotated[str, OneOf("head", "temp", "tail")]
    light: Color
    dark: Color
    light_ink: Color = "#10151c"
    dark_ink: Color = "#10151c"
    meaning: str = ""
    is_hatched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureDocument:
    """Every byte of an arena over time, for one model under one or several circumstances.

    Attributes:
        boards: The model on other boards; empty where nobody asked for them.
        strings: The texts of columns, and the names of operators, by index.
    """

    kind: Literal["tflm_sim picture"] = "tflm_sim picture"
    schema_version: Literal[1] = 1
    categories: tuple[CategoryFacts, ...]
    pictures: tuple[Picture, ...]
    boards: tuple[BoardFit, ...] = ()
    strings: tuple[str, ...] = ()


def picture_document(pictures: Sequence[Picture], boards: Sequence[BoardFit] = ()) -> Json:
    """Return one or several pictures of one model as JSON values.

    Args:
        pictures: What it shows.
        boards: The model on other boards.
    """
    rows = CATEGORIES.values()
    categories = tuple(
        CategoryFacts(
            *(row.key, row.title, row.section, row.light, row.dark, row.ink, row.dark_ink),
            meaning=MEANINGS[row.meaning].title,
            is_hatched=row.is_hatched,
        )
        for row in rows
    )
    strings: dict[str, int] = {}
    shown = PictureDocument(categories=categories, pictures=tuple(pictures), boards=tuple(boards))
    document: Json = as_json(shown, strings)
    return {**document, "strings": list(strings)}


def read_document(text: bytes | str, *, path: str = "") -> PictureDocument:
    """Return a saved document.

    Raises:
        ModelError: It is not such a document, or one of another version.
    """
    document = parse_json(text, path=path or "the document", error=ModelError)
    try:
        if document.get("kind") != KIND or document.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"it is not a '{KIND}' of version {SCHEMA_VERSION}")
        strings = [str(value) for value in document["strings"]]
        saved = from_json(PictureDocument, document, strings)
        if not saved.pictures:
            raise ValueError("it has no picture")
        for picture in saved.pictures:
            _check(picture)
        return saved
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelError(f"cannot be read as a saved picture: {type(error).__name__}: {error}", path=path) from None


def _check_steps(picture: Picture) -> None:
    counts = {"enter": len(picture.moments), "place": len(picture.residents)}
    counts |= dict.fromkeys(("persist", "temp", "free"), len(picture.blocks))
    for step in picture.steps:
        if step.kind in counts and not 0 <= step.value < counts[step.kind]:
            raise ValueError(f"a step names the {step.kind} {step.value}")


def _check(picture: Picture) -> None:
    count = len(picture.scopes)
    if len(picture.live_bytes) != count:
        raise ValueError(f"{count} scopes have {len(picture.live_bytes)} numbers of live bytes")
    if picture.status == "ok":
        _check_steps(picture)
    categories = {row.category for row in picture.blocks} | {row.category for row in picture.residents}
    if unknown := categories - CATEGORIES.keys():
        raise ValueError(f"there is no category {min(unknown)!r}")
    for subgraph, operator in chain(((row.subgraph, row.operator) for row in picture.moments), picture.scopes):
        if operator >= 0:
            picture.op_names[subgraph][operator]
    for remedy in picture.remedies:
        if remedy.resident >= len(picture.residents):
            raise ValueError(f"a remedy is without the buffer {remedy.resident}")
    for resident in picture.residents:
        if not 0 <= resident.first <= resident.last < count:
            raise ValueError(f"{resident.name!r} is alive when nothing runs")
