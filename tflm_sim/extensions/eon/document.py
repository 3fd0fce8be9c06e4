"""What a source of the EON compiler needs, as a JSON document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath
from typing import Annotated, Literal

from tflm_sim.checks.doubts import Answer, answer_of
from tflm_sim.document_types import Count, OneOf
from tflm_sim.escape import printable
from tflm_sim.extensions.eon.answer import EonAnswer
from tflm_sim.report.circumstances import sentence_with_assumed, target_line
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.target import Target
from tflm_sim.units import format_size


@dataclass(frozen=True, slots=True)
class EonBuffer:
    """What an operator asked for.

    Attributes:
        subgraph, operator: Indices.
        op: The operator.
        stage: When.
        kind: A scratch buffer is one of those that the source counts.
        label: What it is for.
        bytes: Its size.
        offset: From the arena's start; None on the heap.
        shares_a_byte: Whether its last byte is the first of what was taken before it.
    """

    subgraph: Count
    operator: Count
    op: str
    stage: Annotated[str, OneOf("init", "prepare")]
    kind: Annotated[str, OneOf("persistent", "scratch")]
    label: str
    bytes: Count
    offset: Count | None
    shares_a_byte: bool


@dataclass(frozen=True, slots=True)
class EonLimit:
    """A number of buffers of which a source can keep so many (None: any number), and the macro that says it."""

    macro: str
    asked: Count
    limit: Count | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EonDocument:
    """A source of the EON compiler on a target.

    Attributes:
        source: The file.
        generated: The day on which it was made.
        assumed: The options that the answer depends on and that were not given.
        arena_bytes: kTensorArenaSize.
        tensors_bytes: From the arena's start to the end of its last tensor.
        operators_bytes: What operators hold at the arena's end.
        free_bytes: Between the two.
        heap_bytes: What operators hold on the heap, without what the heap itself needs.
        ram_bytes: The arena and that.
        needed_arena_bytes: The least multiple of 16 for kTensorArenaSize with which nothing goes to the heap.
        overflow: Buffers on the heap.
        scratch: Scratch buffers.
        answer: Whether the initialisation succeeds.
        works: The same as true or false.
        failure: Why it does not.
        interpreter_arena_bytes: The smallest arena for the model with TFLM's interpreter, a multiple of 16; None where
            AllocateTensors() fails, and with an SDK before August 2021, whose interpreter is not modelled.
        model_bytes: Of the .tflite file that the interpreter reads, rebuilt.
        buffers: In the order of the requests.
    """

    schema_version: Literal[1] = 1
    source: str
    target: Target
    generated: str | None
    assumed: tuple[str, ...]
    arena_bytes: Count
    tensors_bytes: Count
    operators_bytes: Count
    free_bytes: int
    heap_bytes: Count
    ram_bytes: Count
    needed_arena_bytes: Count
    overflow: EonLimit
    scratch: EonLimit
    answer: Answer
    works: bool
    failure: str | None
    interpreter_arena_bytes: Count | None
    model_bytes: Count
    buffers: tuple[EonBuffer, ...]


def eon_document(answer: EonAnswer, *, assumed: Sequence[str] = ()) -> EonDocument:
    """Return what a source needs as a document; ``assumed`` are the options not given."""
    run, source = answer.run, answer.source
    smallest = None if answer.interpreter is None else answer.interpreter.smallest
    heap = sum(row.size for row in run.on_heap)
    failure = eon_failure(answer)
    return EonDocument(
        source=answer.path,
        target=answer.target,
        generated=None if source.generated is None else source.generated.isoformat(),
        assumed=tuple(assumed),
        arena_bytes=source.arena_size,
        tensors_bytes=source.tensors_end,
        operators_bytes=source.arena_size - run.low,
        free_bytes=run.free,
        heap_bytes=heap,
        ram_bytes=source.arena_size + heap,
        needed_arena_bytes=run.smallest_arena,
        overflow=EonLimit("EI_MAX_OVERFLOW_BUFFER_COUNT", len(run.on_heap), source.overflow_limit),
        scratch=EonLimit("EI_MAX_SCRATCH_BUFFER_COUNT", len(run.scratch), source.scratch_limit),
        answer=answer_of(failure is None),
        works=failure is None,
        failure=failure,
        interpreter_arena_bytes=None if smallest is None else smallest.multiple_of_16,
        model_bytes=len(answer.model.source),
        buffers=tuple(
            EonBuffer(
                row.subgraph, row.operator, row.op, row.stage, row.kind, row.label, row.size, row.offset, row.shares
            )
            for row in run.requests
        ),
    )


def eon_failure(answer: EonAnswer) -> str | None:
    """Return why the initialisation fails, None where it succeeds."""
    run, source = answer.run, answer.source
    if source.tensors_end > source.arena_size:
        return "the arena does not hold the tensors: it says 'tensor arena is too small'"
    if run.refused is None:
        return run.failure or None
    row, macro = run.refused
    kind, limit = "buffer on the heap", source.overflow_limit
    if macro == "SCRATCH":
        kind, limit = "scratch buffer", source.scratch_limit
    assert limit is not None, "past a limit that there is not"
    return (
        f"{row.op} #{row.operator} asks for {kind} number {limit + 1} ({row.size:,} B, {row.label}): the source keeps "
        f"{limit} (EI_MAX_{macro}_BUFFER_COUNT), and the kernel gets a null pointer"
    )


def eon_verdict(document: EonDocument) -> str:
    """Return whether the source works in its arena, what lies on the heap, and what was not named."""
    if document.failure is not None:
        verdict = f"no: {document.failure}"
    elif document.heap_bytes == 0:
        verdict = "yes: it works, and nothing goes to the heap"
    else:
        count = document.overflow.asked
        verdict = f"yes: it works, with {count} buffer{'s' * (count > 1)} ({document.heap_bytes:,} B) on the heap"
    return sentence_with_assumed(verdict, document.assumed)


def eon_lines(document: EonDocument) -> list[str]:
    """Return a document as text, without its verdict."""
    name = printable(PurePath(document.source).name)
    made = f", generated {document.generated}" if document.generated else ""
    lines = [*_remedy(document), f"{name}: the EON compiler's source{made}", target_line(document.target)]
    lines += ["", *table_lines(list(_figures(document)))]
    lines += ["", *table_lines([("operator", "persistent", "scratch", "on the heap"), *_operators(document)])]
    shared = list(_shared_bytes(document))
    return [*lines, "", *shared] if shared else lines


def _figures(document: EonDocument) -> Iterator[tuple[str, str]]:
    yield "kTensorArenaSize", format_size(document.arena_bytes)
    yield "  tensors, to the end of the last", format_size(document.tensors_bytes)
    yield "  operators, from the arena's end down", format_size(document.operators_bytes)
    yield "  free between them", format_size(max(document.free_bytes, 0))
    yield "on the heap, ei_calloc()", format_size(document.heap_bytes)
    yield "RAM: the arena and that", format_size(document.ram_bytes)
    for limit in (document.overflow, document.scratch):
        kept = "any number" if limit.limit is None else limit.limit
        yield limit.macro, f"{limit.asked} asked for, {kept} kept"
    interpreter = document.interpreter_arena_bytes
    if interpreter is not None:
        yield "the interpreter instead: its arena", format_size(interpreter)


def _operators(document: EonDocument) -> Iterator[tuple[str, ...]]:
    rows = sorted(document.buffers, key=lambda row: (row.subgraph, row.operator))
    for (subgraph, index, op), group in groupby(rows, key=lambda row: (row.subgraph, row.operator, row.op)):
        own = list(group)
        where = f" of subgraph {subgraph}" if subgraph else ""
        yield (
            f"{op} #{index}{where}",
            *(
                " + ".join(f"{row.bytes:,}" for row in own if wanted(row)) or "-"
                for wanted in (
                    lambda row: row.kind == "persistent",
                    lambda row: row.kind == "scratch",
                    lambda row: row.offset is None,
                )
            ),
        )


def _remedy(document: EonDocument) -> Iterator[str]:
    if document.heap_bytes:
        yield (
            f"nothing goes to the heap with kTensorArenaSize = {document.needed_arena_bytes} "
            f"({document.needed_arena_bytes - document.arena_bytes:+,} B)"
        )


def _shared_bytes(document: EonDocument) -> Iterator[str]:
    for row in document.buffers:
        if row.shares_a_byte:
            yield (
                f"{row.op} #{row.operator}: {row.label or 'a buffer'} of {row.bytes:,} B ends in the first byte of "
                "what was taken before it"
            )
