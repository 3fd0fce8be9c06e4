"""Reports that are torn, doubled or contradict themselves say so."""

import pickle
from pathlib import Path

import pytest

from tflm_sim.logs.log_events import (
    AllocationReport,
    ArenaUsed,
    BenchmarkRecord,
    Message,
    PlanReport,
    Reset,
    TicksTable,
)
from tflm_sim.logs.parser import LogParser, parse_log

LOGS = Path(__file__).parents[2] / "logs" / "recorded"

ARENA = (
    "[RecordingMicroAllocator] Arena allocation total 100 bytes\n"
    "[RecordingMicroAllocator] Arena allocation head 60 bytes\n"
    "[RecordingMicroAllocator] Arena allocation tail 40 bytes\n"
)
NODES = (
    "[RecordingMicroAllocator] 'NodeAndRegistration struct' used 32 bytes with alignment overhead "
    "(requested 32 bytes for 1 NodeAndRegistration structs)\n"
)
EVAL = (
    "[RecordingMicroAllocator] 'TfLiteEvalTensor data' used 8 bytes with alignment overhead "
    "(requested 8 bytes for 1 allocations)\n"
)


def reports(text: str) -> list[AllocationReport]:
    return [event for event in parse_log(text.encode()) if isinstance(event, AllocationReport)]


def problems(text: str) -> tuple[str, ...]:
    (report,) = reports(text)
    return report.problems


def test_a_sound_report_has_no_problems() -> None:
    assert problems(ARENA + EVAL + NODES) == ()


def test_the_same_report_twice_is_two_reports() -> None:
    first, second = reports((ARENA + EVAL + NODES) * 2)
    assert (first.first_line, first.last_line, second.first_line, second.last_line) == (1, 5, 6, 10)
    assert first.categories == second.categories


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ARENA.replace("total 100", "total 101") + EVAL, "head 60 and tail 40 do not add up to 101"),
        (ARENA.split("\n", 1)[1] + EVAL, "the line with the total is missing"),
        (ARENA + EVAL.replace("used 8", "used 80"), "the categories hold 80 bytes, the tail 40"),
        (ARENA + EVAL.replace("used 8", "used 4"), "TFLITE_EVAL_TENSOR_DATA: used 4 is less than requested 8"),
        (ARENA + NODES + EVAL, "the categories are not in TFLM's order"),
        (ARENA + "[RecordingMicroAllocator] 'TfLiteEv\n", 'line 4 is torn: "[RecordingMicroAllocator] \'TfLiteEv"'),
    ],
)
def test_a_report_that_contradicts_itself_says_how(text: str, problem: str) -> None:
    assert problems(text) == (problem,)


def test_the_2020_titles_are_read() -> None:
    old = EVAL.replace("TfLiteEvalTensor data", "TfLiteTensor struct").replace("allocations)", "tensors)")
    (report,) = reports(ARENA + old)
    assert [use.key for use in report.categories] == ["TFLITE_TENSOR_STRUCT"]


def test_categories_of_zero_bytes_are_rows_like_others() -> None:
    # docs/memory_management.md @ 90b983c shows them; the code at 90b983c leaves them out.
    (report,) = reports(ARENA + EVAL.replace("8", "0").replace("for 1", "for 0"))
    assert report.problems == ()
    assert [(use.used, use.requested, use.count) for use in report.categories] == [(0, 0, 0)]


def test_a_reset_tears_an_open_report_and_sixty_four_foreign_lines_end_it() -> None:
    after_reset = parse_log((ARENA + "*** Booting Zephyr OS build v4.0.0 ***\n" + EVAL).encode())
    assert [type(event) for event in after_reset] == [AllocationReport, Reset, AllocationReport]
    parser = LogParser()
    assert parser.feed((ARENA + "hello\n" * 63).encode()) == []
    assert [type(event) for event in parser.feed(b"hello\n")] == [AllocationReport]


def test_silence_ends_a_report() -> None:
    parser = LogParser()
    assert parser.feed((ARENA + EVAL).encode()) == []
    (report,) = parser.flush()
    assert isinstance(report, AllocationReport)
    assert parser.flush() == []


BENCHMARK = (LOGS / "x86_benchmark_csv.log").read_text()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"Persistent",29140,34.51', '"Persistent",29140,34.61', "Persistent: 29140 bytes are not 34.61 % of 84436"),
        ('"Operation data",6,', '"Operation data",5,', "Operation data has the id 5, not 6"),
        ('"Operation data",6,0,0,0,0.00\n', "", "1 rows of the table of allocations are missing"),
        ("1068,1068,89,1.26", "10x8,1068,89,1.26", "line 8 is torn: '\"Eval tensor data\",0,10x8,1068,89,1.26'"),
    ],
)
def test_a_damaged_benchmark_table_says_how(old: str, new: str, problem: str) -> None:
    assert problem in problems(BENCHMARK.replace(old, new))


PLAN = (LOGS / "greedy_plan_2024.log").read_text()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("offset=16, first_used=0", "offset=17, first_used=0", "step 0: the map is not what the buffers draw"),
        ("1 (id=1): size=16, offset=0, first_used=1 last_used=2\n", "", "buffers are missing"),
        ("   2: ", "   7: ", "rows of the map are missing"),
        ("(1k)", "(2k)", "step 3: the map is not what the buffers draw"),
    ],
)
def test_a_plan_is_compared_with_its_own_map(old: str, new: str, problem: str) -> None:
    events = parse_log(PLAN.replace(old, new).encode())
    found = [text for event in events if isinstance(event, PlanReport) for text in event.problems]
    assert problem in found


def test_a_plan_without_its_map_is_not_believed() -> None:
    (plan,) = parse_log("\n".join(PLAN.splitlines()[:4]).encode() + b"\n")
    assert isinstance(plan, PlanReport)
    assert plan.problems == ("the map is missing",)
    assert plan.size == 32  # offset 16 + 16 bytes


def test_ticks_that_do_not_add_up_are_said() -> None:
    text = (
        '"Unique Tag","Total ticks across all events with that tag."\nADD, 3\nCONV_2D, 4\n"total number of ticks", %d\n'
    )
    good, bad = (parse_log((text % total).encode()) for total in (7, 8))
    assert good == [TicksTable("tag", 1, 4, (("ADD", 3), ("CONV_2D", 4)), 7, ())]
    assert isinstance(bad[0], TicksTable)
    assert bad[0].problems == ("the rows do not add up to the total of 8 ticks",)


def test_the_event_table_counts_its_rows() -> None:
    (table,) = parse_log(b'"Event","Tag","Ticks"\n0,ADD,3\n2,CONV_2D,4\n')
    assert isinstance(table, TicksTable)
    assert table.rows == (("ADD", 3), ("CONV_2D", 4))
    assert table.problems == ("event 1 is missing before line 3",)


# Damage in text without checksums.

WHOLE = """\
[RecordingMicroAllocator] Arena allocation total 23412 bytes
[RecordingMicroAllocator] Arena allocation head 16004 bytes
[RecordingMicroAllocator] Arena allocation tail 7408 bytes
[RecordingMicroAllocator] 'TfLiteEvalTensor data' used 420 bytes with alignment overhead (requested 420 bytes for 35 \
allocations)
[RecordingMicroAllocator] 'Persistent buffer data' used 5884 bytes with alignment overhead (requested 5812 bytes for \
34 allocations)
[RecordingMicroAllocator] 'NodeAndRegistration struct' used 416 bytes with alignment overhead (requested 416 bytes \
for 13 NodeAndRegistration structs)
"""


def test_the_whole_log_has_no_problem() -> None:
    assert problems(WHOLE) == ()


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ("tail 7408", "tail 7403"),
        ("used 420", "used 990"),
        ("requested 420", "requested 410"),
        ("for 35 allocations", "for 36 allocations"),
        ("used 5884", "used 8884"),
        ("(requested 5812", "(requested 5112"),
        ("requested 416", "requested 406"),
        ("13 Node", "11 Node"),
        ("[RecordingMicroAllocator] Arena allocation head", "[RecordingMicroAllocatox] Arena allocation head"),
        ("34 allocations", "34 tensors"),
        ("head 16004", "head 16004000000000000"),
        ("total 23412", "total " + "9" * 400),
    ],
)
def test_a_digit_or_a_word_that_was_damaged_is_named(whole: str, damaged: str) -> None:
    assert problems(WHOLE.replace(whole, damaged, 1))


def test_a_plan_with_impossible_numbers_is_damage_and_ends() -> None:
    """An offset of -1000 was an IndexError, a last step of 3,000,000 never ended, 400 digits an OverflowError."""
    row = " 0: " + "0" * 80 + " (1k)\n"
    for numbers in (
        "size=16, offset=-1000, first_used=0 last_used=0",
        "size=16, offset=0, first_used=0 last_used=3000000",
        "size=16, offset=0, first_used=5 last_used=0",
        f"size={'9' * 400}, offset=0, first_used=0 last_used=0",
    ):
        found = parse_log(f"0 (id=0): {numbers}\n{row}".encode())
        assert [event.problems != () for event in found if isinstance(event, PlanReport)] == [True]


RECORD = 'MCUFIT_RESULT {"schema":1,"model":"a","model_sha256":"","target":"","kernels":"","arena_used_bytes":'


def test_a_number_that_no_device_prints_is_no_message() -> None:
    for text in (
        f"Failed to resize buffer. Requested: {'9' * 400}, available 1, missing: 1",
        f"[[ Table ]]: Arena\nTotal | {'9' * 400} | 100.00",
        f"arena_used_bytes: {'9' * 400}",
        f"{RECORD}{'9' * 400}}}",
        f"{RECORD}1e999}}",
        "MCUFIT_RESULT " + "[" * 4000,
    ):
        assert not any(isinstance(event, Message | ArenaUsed | BenchmarkRecord) for event in parse_log(text.encode()))


@pytest.mark.parametrize(
    "line",
    [
        "[RecordingMicroAllocator] garbage",
        "0 (id=0): size=",
        "1 (id=1): size=1, offset=0, first_used=0 last_used=9",
        "[[ Table ]]: Arena",
        "Total | 1 | 100.0000",
        "Op1-CONV",
    ],
)
def test_an_open_report_does_not_grow_without_end(line: str) -> None:
    parser = LogParser()
    for number in range(2000):
        parser.feed(f"{line.replace('id=1', f'id={number}')}\n".encode())
    assert len(pickle.dumps(parser.close())) < 200_000


def test_a_plan_is_told_as_soon_as_its_map_is_complete() -> None:
    reader = LogParser()
    *before, last = PLAN.encode().splitlines(keepends=True)
    assert [event for line in before for event in reader.feed(line)] == []
    assert [type(event) for event in reader.feed(last)] == [PlanReport]
