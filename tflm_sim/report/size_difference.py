"""What changed between two size documents: which operators, categories and scratch buffers, and by how many bytes.

    before, after   SizeDocument    of this run, or read from a file
    ->              Difference      figures, categories, recorded, ops, scratch, tensors: each with before and after

Operators of two models are matched by their names, in order: what stands between two runs of equal names was added,
removed or replaced. Sizes are bytes; a change is ``after - before``, and what is not there has none (null), not zero.
``schemas/diff.json`` is the published schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from tflm_sim.checks.doubts import Answer
from tflm_sim.document_fields import INLINE, OPTIONAL, PARTS
from tflm_sim.document_types import Count
from tflm_sim.documents import as_json, from_json
from tflm_sim.errors import UsageError
from tflm_sim.files import read_json
from tflm_sim.report.document import ConfigurationFacts, ModelFacts, SizeDocument
from tflm_sim.report.size_answer import HeadBuffer, SizeAnswer, Status, Tail

FIGURES = (
    "smallest_arena_bytes",
    "smallest_arena_multiple_of_16",
    "smallest_split_arenas_bytes.persistent",
    "smallest_split_arenas_bytes.non_persistent",
    "arena_used_bytes",
    "head_bytes",
    "tail_bytes",
)
OF_BANK = "banks."


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A number of bytes on both sides; null where a side has none.

    Attributes:
        bytes: after - before; null where one side has none.
    """

    before: int | None
    after: int | None
    bytes: int | None

    @property
    def weight(self) -> int:
        """The bytes that changed; what only one side has counts whole."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class KnownChange(SizeChange):
    """A number of bytes that both sides have.

    Attributes:
        bytes: after - before.
    """

    before: Count
    after: Count
    bytes: int


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """An operator: its subgraph, its index there, and its name."""

    subgraph: Count
    operator: Count
    op: str


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What was compared.

    Attributes:
        assumed: The options that the answer depends on and that were not given.
        parts: What extensions say beside it, by key.
    """

    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    status: Status
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    parts: Mapping[str, Any] = field(default_factory=dict, metadata=PARTS)


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that differs, by its path in the document."""

    setting: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure of both sides.

    Attributes:
        figure: Its name in the document of ``size``; "banks." and a bank's name for what that must have.
    """

    figure: str
    change: SizeChange = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class CategoryChange:
    """Bytes of the tail, by what they are."""

    category: str
    change: KnownChange = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """Bytes of a RecordedAllocationType."""

    type: str
    change: KnownChange = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class OperatorChange:
    """An operator whose bytes of the tail or of scratch changed, or that only one side has."""

    before: OperatorFacts | None
    after: OperatorFacts | None
    tail: SizeChange
    scratch: SizeChange


@dataclass(frozen=True, slots=True)
class ScratchChange:
    """A scratch buffer that changed; an operator's are matched in the order of its requests."""

    before_operator: OperatorFacts | None
    after_operator: OperatorFacts | None
    name: str
    change: SizeChange = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class TensorChange:
    """A tensor whose bytes in the head changed; they are matched by subgraph and name."""

    subgraph: Count
    name: str
    change: SizeChange = field(metadata=INLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed between two documents; ``figures`` are all there are, the other lists what changed.

    Where a side was executed and the simulation asks for something else, only what was seen of a program is compared:
    figures and the tail by operator.

    Attributes:
        answer: With --fail-on-increase: whether the smallest arena did not grow by more.
    """

    schema_version: Literal[1] = 1
    answer: Answer | None = field(default=None, metadata=OPTIONAL)
    before: SideFacts
    after: SideFacts
    changed_settings: tuple[SettingChange, ...]
    figures: tuple[FigureChange, ...]
    categories: tuple[CategoryChange, ...]
    recorded: tuple[RecordedChange, ...]
    ops: tuple[OperatorChange, ...]
    scratch: tuple[ScratchChange, ...]
    tensors: tuple[TensorChange, ...]


class OperatorPlace(NamedTuple):
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

    names: tuple[tuple[str, ...], ...]
    tail: dict[OperatorPlace, int]
    scratch: dict[OperatorPlace, list[HeadBuffer]]

    def describe(self, place: OperatorPlace | None) -> OperatorFacts | None:
        return None if place is None else OperatorFacts(*place, self.names[place.subgraph][place.operator])

    def tail_bytes(self, place: OperatorPlace | None) -> int | None:
        return None if place is None else self.tail.get(place, 0)

    def scratch_buffers(self, place: OperatorPlace | None) -> list[HeadBuffer]:
        return [] if place is None else self.scratch.get(place, [])

    def scratch_bytes(self, place: OperatorPlace | None) -> int | None:
        return None if place is None else sum(row.size for row in self.scratch_buffers(place))


Names = tuple[tuple[str, ...], ...]
Pair = tuple[OperatorPlace | None, OperatorPlace | None]


def read_size_document(path: str) -> SizeDocument:
    """Return the document that ``tflm-sim size --json`` wrote to a file.

    Raises:
        UsageError: The file cannot be read, or is something else.
    """
    document = read_json(path)
    if isinstance(document, dict) and document.get("schema_version", 1) != 1:
        raise UsageError(f"{path} has schema version {document['schema_version']}, not 1")
    try:
        return from_json(SizeDocument, document)
    except ValueError as reason:
        raise UsageError(
            f"{path} is not the document of one model that 'tflm-sim size MODEL --json' writes: {reason}"
        ) from None


def _figure_changes(before: SizeAnswer, after: SizeAnswer) -> Iterator[FigureChange]:
    for name in FIGURES:
        row = change(_figure(before, name), _figure(after, name))
        if (row.before, row.after) != (None, None):
            yield FigureChange(name, row)
    needed, then = ({bank.name: bank.needed for bank in answer.bank_needs or ()} for answer in (before, after))
    for bank in dict.fromkeys((*needed, *then)):
        yield FigureChange(f"{OF_BANK}{bank}", change(needed.get(bank, 0), then.get(bank, 0)))


def difference_document(before: SizeDocument, after: SizeDocument) -> Difference:
    """Return what changed between two size documents."""
    documents = (before, after)
    settings = as_json(before.configuration), as_json(after.configuration)
    answers = [one.answer if all(map(_is_known, documents)) else _seen(one.answer) for one in documents]
    if any(one.answer.tail_bytes is None for one in documents):
        answers = [replace(answer, tail=Tail((), ())) for answer in answers]
    ours, theirs = map(_side, answers)
    pairs = list(_matched_operators(ours.names, theirs.names))
    return Difference(
        before=_side_facts(before),
        after=_side_facts(after),
        changed_settings=tuple(_settings("", *settings)),
        figures=tuple(_figure_changes(before.answer, after.answer)),
        categories=tuple(CategoryChange(*row) for row in _rows(*map(_tail_by_group, answers))),
        recorded=tuple(RecordedChange(*row) for row in _rows(*map(_recorded, answers))),
        ops=tuple(row for pair in pairs if (row := _operator(ours, theirs, pair))),
        scratch=tuple(row for pair in pairs for row in _scratch(ours, theirs, pair)),
        tensors=tuple(_tensors(*answers)),
    )


def _side_facts(document: SizeDocument) -> SideFacts:
    return SideFacts(document.model, document.configuration, document.answer.status, document.assumed, document.parts)


def _is_known(document: SizeDocument) -> bool:
    """Whether the plan is known, and not only what was seen of a program."""
    return "executed" not in document.parts or document.answer.peak is not None


def _seen(answer: SizeAnswer) -> SizeAnswer:
    """Return what is seen of a program that is executed."""
    return replace(answer, tail=replace(answer.tail, groups=()), recorded={}, buffers=())


def growth(document: Difference) -> int | None:
    """Return by how many bytes the smallest arena grew, several and banks together; None when one does not exist."""
    arenas = FIGURES[:1] + FIGURES[2:4]
    rows = [row for row in document.figures if row.figure in arenas or row.figure.startswith(OF_BANK)]
    changes = [row.change.bytes for row in rows]
    return None if not changes or None in changes else sum(size for size in changes if size is not None)


def change(before: int | None, after: int | None) -> SizeChange:
    """Return both and by how many bytes they differ."""
    return SizeChange(before, after, None if before is None or after is None else after - before)


# -- settings, figures, categories ------------------------------------------------------------------------------------


def _settings(path: str, before: Any, after: Any) -> Iterator[SettingChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            if key not in ("verified_against", "newer_kernels"):
                yield from _settings(f"{path}.{key}" if path else key, before.get(key), after.get(key))
    elif before != after:
        yield SettingChange(path, before, after)


def _figure(answer: SizeAnswer, path: str) -> int | None:
    value: Any = answer
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return None if value is None else int(value)


def _tail_by_group(answer: SizeAnswer) -> dict[str, int]:
    return {row.what: row.used for row in answer.tail.groups}


def _recorded(answer: SizeAnswer) -> dict[str, int]:
    return {name: row.used for name, row in answer.recorded.items()}


def _rows(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[tuple[str, KnownChange]]:
    """Yield the changed rows of two tables, in the order of the first; a row that is not there holds nothing."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, 0), after.get(name, 0)
        if old != new:
            yield name, KnownChange(old, new, new - old)


# -- operators and their scratch --------------------------------------------------------------------------------------


def _side(answer: SizeAnswer) -> Side:
    scratch: dict[OperatorPlace, list[HeadBuffer]] = {}
    for row in answer.buffers:
        if row.operator is not None:
            scratch.setdefault(OperatorPlace(row.subgraph, row.operator), []).append(row)
    tail = {OperatorPlace(row.subgraph, row.operator): row.used for row in answer.tail.ops}
    return Side(answer.operators, tail, scratch)


def _matched_operators(before: Names, after: Names) -> Iterator[Pair]:
    """Yield the operators of both sides, matched, in the order of AllocateTensors()."""
    for subgraph, (ours, theirs) in enumerate(zip_longest(before, after, fillvalue=())):
        for left, right in _matched(ours, theirs):
            yield (
                None if left is None else OperatorPlace(subgraph, left),
                None if right is None else OperatorPlace(subgraph, right),
            )


def _matched(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[tuple[int | None, int | None]]:
    if before == after:
        yield from zip(range(len(before)), range(len(after)), strict=True)
        return
    for _, a, a_end, b, b_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        yield from zip_longest(range(a, a_end), range(b, b_end))


def _operator(before: Side, after: Side, pair: Pair) -> OperatorChange | None:
    ours, theirs = pair
    tail = change(before.tail_bytes(ours), after.tail_bytes(theirs))
    scratch = change(before.scratch_bytes(ours), after.scratch_bytes(theirs))
    if tail.bytes == 0 and scratch.bytes == 0:
        return None
    return OperatorChange(before.describe(ours), after.describe(theirs), tail, scratch)


def _scratch(before: Side, after: Side, pair: Pair) -> Iterator[ScratchChange]:
    ours, theirs = pair
    for a, b in zip_longest(before.scratch_buffers(ours), after.scratch_buffers(theirs)):
        sizes = change(_size(a), _size(b))
        if sizes.bytes != 0:
            yield ScratchChange(before.describe(ours), after.describe(theirs), (b or a).name, sizes)


# -- tensors of the head ----------------------------------------------------------------------------------------------


def _tensors(before: SizeAnswer, after: SizeAnswer) -> Iterator[TensorChange]:
    ours, theirs = _tensor_sizes(before), _tensor_sizes(after)
    for key in dict.fromkeys((*ours, *theirs)):
        sizes = change(ours.get(key), theirs.get(key))
        if sizes.bytes != 0:
            yield TensorChange(key[0], key[1], sizes)


def _tensor_sizes(answer: SizeAnswer) -> dict[tuple[int, str, int], int]:
    """Return the bytes of each tensor by subgraph, name, and how many of that name came before it."""
    seen: Counter[tuple[int, str]] = Counter()
    sizes = {}
    for row in answer.buffers:
        if row.operator is None:
            key = (row.subgraph, row.name)
            sizes[*key, seen[key]] = row.size
            seen[key] += 1
    return sizes


def _size(row: HeadBuffer | None) -> int | None:
    return None if row is None else row.size
