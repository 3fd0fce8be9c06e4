"""MicroProfiler's lines and tables."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.logs.log_events import ProfiledOp, TicksTable
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.logs.profiler import MAX_ROWS, ProfilerReader

EVENTS, TAGS = '"Event","Tag","Ticks"', '"Unique Tag","Total ticks across all events with that tag."'


def read(*texts: str) -> list[Any]:
    reader, found = ProfilerReader(), []
    for number, text in enumerate(texts, 5):
        found += reader.feed(TextLine(number, text, ended=True)) or []
    return [*found, *reader.flush()]


@pytest.mark.parametrize(
    "text", ["CONV took 123 ticks (4 ms).", "CONV took  123cks (4 ms)", "CONV took 123 ticks (4 ms)"]
)
def test_an_event_is_a_line(text: str) -> None:
    assert read(text) == [ProfiledOp(5, "CONV", 123, 4)]


def test_a_line_without_a_tag_or_before_a_table_is_not_taken() -> None:
    assert read(" took 123 ticks (4 ms)", "0,CONV,5", "CONV, 5") == []


def test_events_are_numbered_from_0() -> None:
    assert read(EVENTS, "0,CONV,5", "1,ADD,-7") == [TicksTable("event", 5, 7, (("CONV", 5), ("ADD", -7)), None, ())]
    (table,) = read(EVENTS, "0,CONV,5", "2,ADD,7")
    assert table.problems == ("event 1 is missing before line 7",)
    assert len(read(EVENTS, "0,A,1", EVENTS, "0,A,1")) == 2


def test_tags_add_up_to_their_total_modulo_2_to_the_32() -> None:
    rows = (("CONV", 5), ("ADD", 7))
    assert read(TAGS, "CONV, 5", "ADD, 7", '"total number of ticks", 12') == [TicksTable("tag", 5, 8, rows, 12, ())]
    for total, problems in (
        (12 - 2**32, ()),
        (12 + 2**32, ()),
        (13, ("the rows do not add up to the total of 13 ticks",)),
    ):
        (table,) = read(TAGS, "CONV, 5", "ADD, 7", f"total number of ticks, {total}")
        assert table.problems == problems
    (table,) = read(TAGS, "CONV, 5")
    assert (table.total, table.problems) == (None, ("the total is missing",))
    (table,) = read('"total number of ticks", 0')
    assert (table.kind, table.rows, table.problems) == ("tag", (), ())


def test_a_row_that_was_cut_is_torn() -> None:
    reader = ProfilerReader()
    reader.feed(TextLine(1, EVENTS, ended=True))
    assert reader.feed(TextLine(2, "0,CONV,5", ended=False)) == []
    assert reader.feed(TextLine(3, "total number of ticks, 5", ended=False)) is None
    (table,) = reader.flush()
    assert isinstance(table, TicksTable)
    assert (table.rows, table.problems) == ((), ("line 2 is torn: '0,CONV,5'",))


def test_a_table_is_cut_after_16384_rows() -> None:
    assert MAX_ROWS == 4 * 4096
    tables = read(EVENTS, *(f"{number},A,1" for number in range(MAX_ROWS + 1)))
    assert [len(table.rows) for table in tables] == [MAX_ROWS]
