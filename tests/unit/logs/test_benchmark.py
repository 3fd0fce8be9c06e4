"""The two tables of ``tflm_benchmark``: which rows are theirs, and which percentages are right."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.logs.benchmark import BenchmarkReader
from tflm_sim.logs.log_events import ArenaConfigured, TensorChecksum
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.recorded import CATEGORIES

TITLES = [kind.benchmark_title for kind in CATEGORIES]


def read(*texts: str, ended: bool = True) -> list[Any]:
    reader, found = BenchmarkReader(), []
    for number, text in enumerate(texts, 5):
        found += reader.feed(TextLine(number, text, ended=ended)) or []
    return [*found, *reader.flush()]


ARENA = ["[[ CSV ]]: Arena", '"Total",1000,100.00', '"NonPersistent",600,60.00', '"Persistent",400,40.00']
TABLE = ["[[ CSV ]]: Allocations", *(f'"{title}",{index},0,0,0,0.00' for index, title in enumerate(TITLES))]


def test_two_tables_are_one_report() -> None:
    (report,) = read(*ARENA, *TABLE)
    assert (report.dialect, report.first_line, report.last_line) == ("benchmark-csv", 5, 9 + len(TITLES))
    assert (report.total, report.head, report.tail, report.problems) == (1000, 600, 400, ())
    assert [use.key for use in report.categories] == [kind.name for kind in CATEGORIES]


def test_the_row_for_compression_may_be_missing_and_no_other() -> None:
    assert read(*ARENA, *TABLE[:-1])[0].problems == ()
    assert read(*ARENA, *TABLE[:-2])[0].problems == ("1 rows of the table of allocations are missing",)
    assert read(*ARENA)[0].problems == (f"{len(TITLES) - 1} rows of the table of allocations are missing",)


def test_tables_of_another_form_or_the_same_table_again_are_reports_of_their_own() -> None:
    assert len(read(*ARENA, *TABLE, *ARENA)) == 2
    assert len(read(*ARENA, TABLE[0].replace("CSV", "Table"))) == 2
    assert len(read(*TABLE, *TABLE)) == 2
    assert len(read(*TABLE, *ARENA)) == 2


def test_rows_that_come_twice_or_with_another_number_are_told() -> None:
    problems = read(*ARENA, ARENA[1])[0].problems
    assert "Total comes twice" in problems
    problems = read(*ARENA, *TABLE, TABLE[1], TABLE[2].replace(",1,", ",2,"))[0].problems
    assert f"{TITLES[0]} comes twice" in problems
    assert f"{TITLES[1]} has the id 2, not 1" in problems


def test_rows_of_nobody_and_rows_before_a_table_are_not_taken() -> None:
    reader = BenchmarkReader()
    assert reader.feed(TextLine(1, ARENA[1], ended=True)) is None
    reader.feed(TextLine(2, ARENA[0], ended=True))
    for text in ('"Nobody",1,2.00', '"Total",1,2,3,4,5.00', TABLE[1], "a line"):
        assert reader.feed(TextLine(3, text, ended=True)) is None
    assert reader.feed(TextLine(4, ARENA[1], ended=True)) == []


@pytest.mark.parametrize(
    "text", ['"Total",1x00,100.00', '"Total",1000,100', '"Total",1000,100.000', '"Total",1000,1000.00']
)
def test_a_row_that_is_no_number_and_percentage_is_torn(text: str) -> None:
    assert f"line 6 is torn: {text!r}" in read(ARENA[0], text)[0].problems
    assert "line 6 is torn" in read(ARENA[0], ARENA[1], ended=False)[0].problems[0]


def test_percentages_are_of_the_total() -> None:
    wrong = [*ARENA[:3], ARENA[3].replace("40.00", "41.00")]
    assert "Persistent: 400 bytes are not 41.00 % of 1000" in read(*wrong)[0].problems
    assert not any("%" in problem for problem in read(wrong[0], wrong[3])[0].problems)
    rows = [TABLE[0], f'"{TITLES[0]}",0,500,500,1,49.00']
    assert f"{TITLES[0]}: 500 bytes are not 49.00 % of 1000" in read(*ARENA, *rows)[0].problems


def test_sizes_and_checksums_are_lines_of_their_own() -> None:
    assert read("Configured arena size = 153600", "Input CRC32: 0x14F6A510", "Output CRC32: 0xff") == [
        ArenaConfigured(5, 153_600, "benchmark"),
        TensorChecksum(6, "input", 0x14F6A510),
        TensorChecksum(7, "output", 255),
    ]
