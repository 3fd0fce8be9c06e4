"""What a source of the EON compiler needs, in lines out of facts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tflm_sim.extensions.eon.device import EonRequest, EonRoom, EonRun
from tflm_sim.extensions.eon.document import EonBuffer, EonDocument, EonLimit, eon_failure, eon_lines, eon_verdict
from tflm_sim.targets.presets import preset

DOCUMENT = EonDocument(
    source="folder/model.cpp",
    target=preset("cortex-m4"),
    generated=None,
    assumed=(),
    arena_bytes=2000,
    tensors_bytes=1500,
    operators_bytes=400,
    free_bytes=100,
    heap_bytes=0,
    ram_bytes=2000,
    needed_arena_bytes=1904,
    overflow=EonLimit("EI_MAX_OVERFLOW_BUFFER_COUNT", 0, 10),
    scratch=EonLimit("EI_MAX_SCRATCH_BUFFER_COUNT", 2, None),
    answer="yes",
    works=True,
    failure=None,
    interpreter_arena_bytes=None,
    model_bytes=5,
    buffers=(
        EonBuffer(1, 0, "ADD", "prepare", "scratch", "", 1000, None, True),
        EonBuffer(0, 1, "MUL", "init", "persistent", "data", 3, 1600, False),
        EonBuffer(0, 0, "ADD", "prepare", "scratch", "sums", 17, 1700, True),
        EonBuffer(0, 1, "MUL", "prepare", "scratch", "", 4, 1690, False),
        EonBuffer(0, 1, "MUL", "prepare", "persistent", "", 5, None, False),
    ),
)


def test_the_lines_are_the_figures_the_operators_and_what_shares_a_byte() -> None:
    about, target, *lines = eon_lines(DOCUMENT)
    assert about == "model.cpp: the EON compiler's source"
    assert target.startswith("for cortex-m4: TFLM of ")
    assert [" ".join(line.split()) for line in lines] == [
        "",
        "kTensorArenaSize 2,000 B",
        "tensors, to the end of the last 1,500 B",
        "operators, from the arena's end down 400 B",
        "free between them 100 B",
        "on the heap, ei_calloc() 0 B",
        "RAM: the arena and that 2,000 B",
        "EI_MAX_OVERFLOW_BUFFER_COUNT 0 asked for, 10 kept",
        "EI_MAX_SCRATCH_BUFFER_COUNT 2 asked for, any number kept",
        "",
        "operator persistent scratch on the heap",
        "ADD #0 - 17 -",
        "MUL #1 3 + 5 4 5",
        "ADD #0 of subgraph 1 - 1,000 1,000",
        "",
        "ADD #0: a buffer of 1,000 B ends in the first byte of what was taken before it",
        "ADD #0: sums of 17 B ends in the first byte of what was taken before it",
    ]


def test_what_is_known_besides_has_its_line() -> None:
    more = replace(
        DOCUMENT,
        generated="2025-01-02",
        free_bytes=-1,
        heap_bytes=1,
        needed_arena_bytes=1999,
        interpreter_arena_bytes=512,
        buffers=(),
    )
    lines = eon_lines(more)
    assert lines[:2] == [
        "nothing goes to the heap with kTensorArenaSize = 1999 (-1 B)",
        "model.cpp: the EON compiler's source, generated 2025-01-02",
    ]
    assert " ".join(lines[7].split()) == "free between them 0 B"
    assert " ".join(lines[12].split()) == "the interpreter instead: its arena 512 B"
    assert lines[13:] == ["", "operator  persistent  scratch  on the heap"]


@pytest.mark.parametrize(
    ("heap", "count", "failure", "assumed", "verdict"),
    [
        (0, 0, None, (), "yes: it works, and nothing goes to the heap"),
        (1, 1, None, (), "yes: it works, with 1 buffer (1 B) on the heap"),
        (1234, 2, None, (), "yes: it works, with 2 buffers (1,234 B) on the heap"),
        (1234, 2, "it halts", (), "no: it halts"),
    ],
)
def test_the_verdict_counts_what_is_on_the_heap(
    heap: int, count: int, failure: str | None, assumed: tuple[str, ...], verdict: str
) -> None:
    overflow = replace(DOCUMENT.overflow, asked=count)
    assert (
        eon_verdict(replace(DOCUMENT, heap_bytes=heap, overflow=overflow, failure=failure, assumed=assumed)) == verdict
    )


def request(kind: str, size: int, offset: int | None) -> EonRequest:
    return EonRequest(0, 3, "CONV_2D", "prepare", kind, "sums", size, offset, False)


def failure(
    *rows: EonRequest, overflow: int | None = None, scratch: int | None = None, end: int = 96, says: str = ""
) -> str | None:
    room = EonRoom(96, end, overflow, scratch, None)
    source = SimpleNamespace(arena_size=96, tensors_end=end, overflow_limit=overflow, scratch_limit=scratch)
    return eon_failure(SimpleNamespace(run=EonRun(room, rows, 96, says), source=source))  # type: ignore[arg-type]


HEAP = request("scratch", 1234, None)
NULL = "and the kernel gets a null pointer"


@pytest.mark.parametrize(
    ("rows", "limits", "words"),
    [
        ((HEAP, HEAP), (2, 2), None),
        ((HEAP, HEAP), (1, 2), "buffer on the heap number 2 (1,234 B, sums): the source keeps 1 (EI_MAX_OVERFLOW"),
        ((HEAP, HEAP), (2, 1), "scratch buffer number 2 (1,234 B, sums): the source keeps 1 (EI_MAX_SCRATCH"),
        ((HEAP, HEAP), (1, 1), "scratch buffer number 2 (1,234 B, sums): the source keeps 1 (EI_MAX_SCRATCH"),
        ((HEAP, HEAP), (None, 1), "scratch buffer number 2 (1,234 B, sums): the source keeps 1 (EI_MAX_SCRATCH"),
        (
            (request("persistent", 7, None),),
            (0, 0),
            "buffer on the heap number 1 (7 B, sums): the source keeps 0 (EI_MAX_OVERFLOW",
        ),
        ((request("persistent", 7, 80),), (0, 0), None),
        (
            (request("scratch", 7, 80),),
            (0, 0),
            "scratch buffer number 1 (7 B, sums): the source keeps 0 (EI_MAX_SCRATCH",
        ),
    ],
)
def test_of_two_limits_that_is_named_which_the_request_is_past(
    rows: tuple[EonRequest, ...], limits: tuple[int | None, int | None], words: str | None
) -> None:
    found = failure(*rows, overflow=limits[0], scratch=limits[1])
    assert found == (words and f"CONV_2D #3 asks for {words}_BUFFER_COUNT), {NULL}")


def test_tensors_fit_to_the_byte_and_an_operator_may_refuse() -> None:
    assert failure(end=96) is None
    assert failure(end=97) == "the arena does not hold the tensors: it says 'tensor arena is too small'"
    assert failure(says="no kernel") == "no kernel"
