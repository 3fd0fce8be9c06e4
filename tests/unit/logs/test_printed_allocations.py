"""What contradicts itself in a report of RecordingMicroAllocator, at the number where it begins to."""

from __future__ import annotations

import pytest

from tflm_sim.logs.log_events import AllocationReport, CategoryUse
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.logs.printed_allocations import RecordingReader, _category_problems, _tail_problems, report_problems

NODES, OPS = "NODE_AND_REGISTRATION_ARRAY", "OP_DATA"


def use(key: str, used: int, requested: int, count: int) -> CategoryUse:
    return CategoryUse(key, used, requested, count)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (use(OPS, 8, 8, 1), ""),
        (use(OPS, 7, 8, 1), "OP_DATA: used 7 is less than requested 8"),
        (use(OPS, 24, 8, 1), ""),
        (use(OPS, 25, 8, 1), "OP_DATA: used 25 is more than 1 alignments over 8"),
        (use(OPS, 40, 8, 2), ""),
        (use(OPS, 41, 8, 2), "OP_DATA: used 41 is more than 2 alignments over 8"),
        (use(OPS, 16, 0, 0), ""),
        (use(OPS, 17, 0, 0), "OP_DATA: used 17 is more than 0 alignments over 0"),
        (use(OPS, 8, 8, 0), "OP_DATA: 8 bytes requested by nobody"),
        (use(OPS, 9, 9, 2), ""),
        (use(NODES, 32, 32, 2), ""),
        (use(NODES, 33, 33, 2), "NODE_AND_REGISTRATION_ARRAY: 33 bytes are not 2 structs"),
        (use(NODES, 24, 24, 2), "NODE_AND_REGISTRATION_ARRAY: 24 bytes are not 2 structs"),
        (use(NODES, 18, 18, 1), "NODE_AND_REGISTRATION_ARRAY: 18 bytes are not 1 structs"),
        (use(NODES, 0, 0, 3), ""),
    ],
)
def test_the_numbers_of_a_category_go_together(row: CategoryUse, problem: str) -> None:
    assert _category_problems(row) == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("TFLITE_EVAL_TENSOR_DATA", 8, 64),
        ("PERSISTENT_TFLITE_TENSOR_DATA", 16, 160),
        ("TFLITE_TENSOR_STRUCT", 16, 160),
        (NODES, 16, 128),
    ],
)
def test_a_struct_has_as_many_bytes_as_on_some_target_a_multiple_of_4(key: str, least: int, most: int) -> None:
    sizes = [size for size in range(1, 200) if not _category_problems(use(key, size, size, 1))]
    assert sizes == list(range(least, most + 1, 4))


def test_the_tail_has_what_its_categories_have_and_a_little_more() -> None:
    rows = [use(OPS, 40, 40, 1)]
    assert (
        _tail_problems({"tail": 40}, rows) == _tail_problems({}, rows) == _tail_problems({"tail": 1 << 30}, rows) == []
    )
    assert _tail_problems({"tail": 39}, rows) == ["the categories hold 40 bytes, the tail 39"]
    # 4,096 B, and 256 a node.
    rows.append(use(NODES, 0, 0, 2))
    assert _tail_problems({"tail": 40 + 4096 + 512}, rows) == []
    assert _tail_problems({"tail": 40 + 4096 + 513}, rows) == [
        "the categories hold 40 of the tail's 4649 bytes: a line is missing or wrong"
    ]
    assert len(_tail_problems({"tail": 40 + 4097}, [*rows[:1], use(NODES, 0, 0, 0)])) == 1


def test_the_arena_adds_up_and_has_three_lines() -> None:
    assert report_problems({"total": 5, "head": 3, "tail": 2}, []) == []
    assert report_problems({"total": 6, "head": 3, "tail": 2}, []) == ["head 3 and tail 2 do not add up to 6"]
    assert report_problems({"head": 3}, []) == [
        "the line with the total is missing",
        "the line with the tail is missing",
    ]
    rows = [use(OPS, 1, 1, 1), use(NODES, 0, 0, 0), use("of 2020", 0, 0, 0)]
    whole = {"total": 5, "head": 3, "tail": 2}
    assert report_problems(whole, rows) == ["the categories are not in TFLM's order"]
    assert report_problems(whole, [rows[1], rows[2], rows[0]]) == []
    assert report_problems(whole, [use(OPS, 1, 2, 1)]) == ["OP_DATA: used 1 is less than requested 2"]
    # What the tail contradicts is told without the rows.
    assert report_problems(whole, [use(OPS, 9, 10, 1)]) == ["the categories hold 9 bytes, the tail 2"]


START = "[RecordingMicroAllocator] "


def row(title: str, used: int, unit: str) -> str:
    return f"{START}'{title}' used {used} bytes with alignment overhead (requested {used} bytes for 1 {unit})"


def read(*texts: str) -> list[AllocationReport]:
    reader, found = RecordingReader(), []
    for number, text in enumerate(texts, 5):
        events = reader.feed(TextLine(number, text, ended=True))
        assert events is not None
        found += events
    return [*found, *reader.flush()]  # type: ignore[list-item]


TOTAL, HEAD, TAIL = (
    f"{START}Arena allocation {name} {size} bytes" for name, size in (("total", 5), ("head", 3), ("tail", 2))
)


def test_a_report_ends_where_a_line_can_only_begin_another_one() -> None:
    ops = row("Operator runtime data", 2, "OpData structs")
    (one,) = read(TOTAL, HEAD, TAIL, ops)
    assert (one.first_line, one.last_line, one.total, one.head, one.tail) == (5, 8, 5, 3, 2)
    assert (one.categories, one.problems, one.dialect) == ((use(OPS, 2, 2, 1),), (), "recording")
    assert [report.last_line for report in read(TOTAL, HEAD, TAIL, TOTAL)] == [7, 8]
    assert [report.last_line for report in read(ops, TOTAL)] == [5, 6]
    assert [report.last_line for report in read(ops, HEAD)] == [6]
    assert [report.last_line for report in read(TOTAL, ops, ops)] == [6, 7]
    assert [report.last_line for report in read(TOTAL, HEAD, HEAD)] == [6, 7]
    assert RecordingReader().feed(TextLine(1, "somebody else", ended=True)) is None


def test_a_row_with_another_unit_or_title_is_torn() -> None:
    for text in (row("Operator runtime data", 2, "tensors"), row("Nobody's data", 2, "tensors"), f"{START}'Oper"):
        (report,) = read(text)
        assert report.problems[0] == f"line 5 is torn: {text!r}"
        assert report.categories == ()
    (report,) = read(row("TfLiteTensor quantization data", 2, "allocations"))
    assert report.categories == (use("TFLITE_TENSOR_QUANTIZATION_DATA", 2, 2, 1),)
