"""What changed between two size documents: which operators, categories and scratch buffers, and by how many bytes.

    before  {"schema_version": 1, "model": ..., "operators": [...], ...}   report/document.py, fresh or read from a file
    after   {"schema_version": 1, ...}
    ->      {"schema_version": 1, "before": ..., "after": ..., "figures": [...], "ops": [...], "scratch": [...]}

Operators of two models are matched by their names, in order: what stands between two runs of equal names was added,
removed or replaced. Sizes are bytes; a change is ``after - before``, and what is not there has none (null), not zero.
``difference_schema.json`` beside this file is the published schema.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.files import read_json
from tflm_sim.report.document import SCHEMA_VERSION as SIZE_SCHEMA_VERSION

SCHEMA_VERSION = 1
Document = dict[str, Any]

FIGURES = (
    "smallest_arena_bytes",
    "smallest_arena_multiple_of_16",
    "smallest_split_arenas_bytes.persistent",
    "smallest_split_arenas_bytes.non_persistent",
    "arena_used_bytes",
    "head_bytes",
    "tail_bytes",
)
_NEEDED = ("model", "target", "status", "arena_used_bytes", "recorded", "tail", "operators", "buffers")
_FIRMWARE = (
    "target",
    "interpreter",
    "planner",
    "resource_variable_count",
    "variable_arena_bytes",
    "split_arenas",
    "custom_ops",
)


class Place(NamedTuple):
    """An operator of a document: its subgraph and its index there."""

    subgraph: int
    operator: int


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two documents, with what each operator holds.

    Attributes:
        names: The operators' names, by subgraph.
        tail: Bytes of the tail by operator, padding included.
        scratch: Scratch buffers by operator, in the order of its requests.
    """

    names: list[list[str]]
    tail: dict[Place, int]
    scratch: dict[Place, list[Document]]

    def describe(self, place: Place | None) -> Document | None:
        """Return an operator as JSON values; None for none."""
        return place and {**place._asdict(), "op": self.names[place.subgraph][place.operator]}

    def tail_bytes(self, place: Place | None) -> int | None:
        """Return an operator's bytes of the tail, None for none."""
        return None if place is None else self.tail.get(place, 0)

    def scratch_buffers(self, place: Place | None) -> list[Document]:
        """Return an operator's scratch buffers."""
        return [] if place is None else self.scratch.get(place, [])

    def scratch_bytes(self, place: Place | None) -> int | None:
        """Return an operator's bytes of scratch, None for none."""
        return None if place is None else sum(row["size"] for row in self.scratch_buffers(place))


Pair = tuple[Place | None, Place | None]


def read_size_document(path: str) -> Document:
    """Return the document that ``tflm-sim size --json`` wrote to a file.

    Raises:
        UsageError: The file cannot be read, or is something else.
    """
    document: Document = read_json(path)
    if not isinstance(document, dict) or not document.keys() >= set(_NEEDED):
        raise UsageError(f"{path} is not the document of one model that 'tflm-sim size MODEL --json' writes")
    if document["schema_version"] != SIZE_SCHEMA_VERSION:
        raise UsageError(f"{path} has schema version {document['schema_version']}, not {SIZE_SCHEMA_VERSION}")
    return document


def difference_document(before: Document, after: Document) -> Document:
    """Return what changed between two size documents; lists hold only what changed, ``figures`` all there is."""
    ours, theirs = _side(before), _side(after)
    pairs = list(_matched_operators(ours.names, theirs.names))
    return {
        "schema_version": SCHEMA_VERSION,
        "before": _facts(before),
        "after": _facts(after),
        "changed_settings": list(_settings("", _firmware(before), _firmware(after))),
        "figures": [
            {"figure": name, **change(a, b)}
            for name in FIGURES
            if (a := _at(before, name), b := _at(after, name)) != (None, None)
        ],
        "categories": _rows("category", _used(before["tail"]["groups"]), _used(after["tail"]["groups"])),
        "recorded": _rows("type", _recorded(before), _recorded(after)),
        "ops": [row for pair in pairs if (row := _operator(ours, theirs, pair))],
        "scratch": [row for pair in pairs for row in _scratch(ours, theirs, pair)],
        "tensors": list(_tensors(before, after)),
    }


def growth(document: Document) -> int | None:
    """Return by how many bytes the smallest arena (two: both together) grew; None when one of them does not exist."""
    sizes = [row for row in document["figures"] if row["figure"] in FIGURES[:1] + FIGURES[2:4]]
    changes: list[int | None] = [row["bytes"] for row in sizes]
    return None if not changes or None in changes else sum(size for size in changes if size is not None)


def change(before: int | None, after: int | None) -> Document:
    """Return both and by how many bytes they differ."""
    return {
        "before": before,
        "after": after,
        "bytes": None if before is None or after is None else after - before,
    }


def schema() -> Document:
    """Return the published JSON Schema of a difference."""
    document: Document = json.loads(Path(__file__).with_name("difference_schema.json").read_text("utf-8"))
    return document


# -- what a side is ---------------------------------------------------------------------------------------------------


def _firmware(document: Document) -> Document:
    return {key: document.get(key) for key in _FIRMWARE}


def _facts(document: Document) -> Document:
    return {"model": document["model"], **_firmware(document), "status": document["status"]}


def _settings(path: str, before: Any, after: Any) -> Iterator[Document]:
    """Yield the leaves of what decides a byte that differ, what proves a target aside."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            if key != "verified_against":
                yield from _settings(f"{path}.{key}" if path else key, before.get(key), after.get(key))
    elif before != after:
        yield {"setting": path, "before": before, "after": after}


def _at(document: Document, path: str) -> int | None:
    value: Any = document
    for key in path.split("."):
        value = value.get(key) if value is not None else None
    return None if value is None else int(value)


# -- categories -------------------------------------------------------------------------------------------------------


def _used(groups: Iterable[Document]) -> dict[str, int]:
    return {row["what"]: row["used"] for row in groups}


def _recorded(document: Document) -> dict[str, int]:
    return {name: row["used"] for name, row in document["recorded"].items()}


def _rows(label: str, before: Mapping[str, int], after: Mapping[str, int]) -> list[Document]:
    """Return the changed rows of two tables, in the order of the first; a row that is not there holds nothing."""
    names = dict.fromkeys((*before, *after))
    return [
        {label: name, **change(before.get(name, 0), after.get(name, 0))}
        for name in names
        if before.get(name, 0) != after.get(name, 0)
    ]


# -- operators and their scratch --------------------------------------------------------------------------------------


def _side(document: Document) -> Side:
    scratch: dict[Place, list[Document]] = {}
    for row in document["buffers"]:
        if row["kind"] == "scratch":
            scratch.setdefault(Place(row["subgraph"], row["operator"]), []).append(row)
    tail = {Place(row["subgraph"], row["operator"]): row["used"] for row in document["tail"]["ops"]}
    return Side(document["operators"], tail, scratch)


def _matched_operators(before: list[list[str]], after: list[list[str]]) -> Iterator[Pair]:
    """Yield the operators of both sides, matched, in the order of AllocateTensors()."""
    nothing: list[str] = []
    for subgraph, (ours, theirs) in enumerate(zip_longest(before, after, fillvalue=nothing)):
        for left, right in _matched(ours, theirs):
            yield (
                None if left is None else Place(subgraph, left),
                None if right is None else Place(subgraph, right),
            )


def _matched(before: list[str], after: list[str]) -> Iterator[tuple[int | None, int | None]]:
    if before == after:
        yield from zip(range(len(before)), range(len(after)), strict=True)
        return
    for _, a, a_end, b, b_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        yield from zip_longest(range(a, a_end), range(b, b_end))


def _operator(before: Side, after: Side, pair: Pair) -> Document | None:
    """Return an operator whose bytes of the tail or of scratch changed, or that only one side has."""
    ours, theirs = pair
    tail = change(before.tail_bytes(ours), after.tail_bytes(theirs))
    scratch = change(before.scratch_bytes(ours), after.scratch_bytes(theirs))
    if tail["bytes"] == 0 and scratch["bytes"] == 0:
        return None
    return {"before": before.describe(ours), "after": after.describe(theirs), "tail": tail, "scratch": scratch}


def _scratch(before: Side, after: Side, pair: Pair) -> Iterator[Document]:
    """Yield the scratch buffers of an operator that changed; they are matched in the order of its requests."""
    ours, theirs = pair
    for a, b in zip_longest(before.scratch_buffers(ours), after.scratch_buffers(theirs)):
        sizes = change(None if a is None else a["size"], None if b is None else b["size"])
        if sizes["bytes"] != 0:
            yield {
                "before_operator": before.describe(ours),
                "after_operator": after.describe(theirs),
                "name": (b or a)["name"],
                **sizes,
            }


# -- tensors of the head ----------------------------------------------------------------------------------------------


def _tensors(before: Document, after: Document) -> Iterator[Document]:
    """Yield the tensors whose bytes in the head changed; they are matched by subgraph and name."""
    ours, theirs = _tensor_sizes(before), _tensor_sizes(after)
    for key in dict.fromkeys((*ours, *theirs)):
        sizes = change(ours.get(key), theirs.get(key))
        if sizes["bytes"] != 0:
            yield {"subgraph": key[0], "name": key[1], **sizes}


def _tensor_sizes(document: Document) -> dict[tuple[int, str, int], int]:
    """Return the bytes of each tensor by subgraph, name, and how many of that name came before it."""
    seen: Counter[tuple[int, str]] = Counter()
    sizes = {}
    for row in document["buffers"]:
        if row["kind"] == "tensor":
            key = (row["subgraph"], row["name"])
            sizes[*key, seen[key]] = row["size"]
            seen[key] += 1
    return sizes
