from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from tflm_sim.arena.stages import Stage
from tflm_sim.logs.diagnosis import Diagnosis, FailureCollector, diagnose, refusal_in_words
from tflm_sim.logs.kernel_texts import KernelText
from tflm_sim.logs.log_events import ArenaConfigured, LogEvent, Message, Reset
from tflm_sim.logs.parser import parse_log
from tflm_sim.logs.tflm_messages import BY_KIND, MESSAGES

LOGS = Path(__file__).parent / "recorded"


def only(text: str, *, arena_size: int | None = None) -> Diagnosis:
    (diagnosis,) = diagnose(parse_log(text.encode() + b"\n"), arena_size=arena_size)
    return diagnosis


def test_a_boot_loop_is_one_failure_that_occurred_twice() -> None:
    (diagnosis,) = diagnose(parse_log((LOGS / "esp32s3_idf_reboot_loop.log").read_bytes()))
    assert diagnosis.lines == (5, 11)
    assert diagnosis.arena_size == 65536
    assert diagnosis.missing == 42844
    assert diagnosis.at_least == 108380  # 65536 + 42844


@pytest.mark.parametrize(
    ("requested", "available", "arena_size", "at_least"),
    [
        (19440, 11876, 26080, 33644),  # okay_nabu, esphome/issues#7242
        (17840, 10876, 22860, 29824),  # hey_jarvis, esphome/issues#7242
    ],
)
def test_the_least_arena_is_what_was_given_and_what_was_missing(
    requested: int, available: int, arena_size: int, at_least: int
) -> None:
    text = f"Failed to resize buffer. Requested: {requested}, available {available}, missing: {requested - available}"
    assert only(text, arena_size=arena_size).at_least == at_least


def test_without_the_arena_size_the_request_itself_is_the_bound() -> None:
    assert only("Failed to resize buffer. Requested: 33488, available 20472, missing: 13016").at_least == 33488


def test_a_chain_says_what_failed_for_whom_and_where() -> None:
    diagnosis = only(
        "Failed to allocate tail memory. Requested: 120, available 100, missing: 20\n"
        "Failed to allocate memory for context->eval_tensors, 120 bytes required\n"
        "Failed starting model allocation.\n"
        "AllocateTensors() failed",
        arena_size=1000,
    )
    assert diagnosis.what == "the TfLiteEvalTensor array does not fit: 120 B asked for, 100 B free, 20 B missing"
    assert (diagnosis.phase, diagnosis.at_least, len(diagnosis.messages)) == ("eval_tensors", 1020, 4)


def test_a_failing_operator_is_named_with_its_index() -> None:
    diagnosis = only(
        "Failed to allocate temp memory. Requested: 40, available 8, missing: 32\n"
        "Node CONV_2D (number 12) failed to prepare with status 1"
    )
    assert (diagnosis.op, diagnosis.node, diagnosis.phase, diagnosis.missing) == ("CONV_2D", 12, "op_prepare", 32)


def test_a_missing_operator_is_not_called_an_arena_problem() -> None:
    diagnosis = only("Didn't find op for builtin opcode 'SOFTMAX'\nFailed to get registration from op code SOFTMAX")
    assert diagnosis.what == "the operator is not registered with the resolver"
    assert diagnosis.at_least is None
    assert diagnosis.notes == (
        "Add SOFTMAX to the op resolver (Add... of MicroMutableOpResolver), if the library has it: 'tflm-sim list ops "
        "--library NAME' shows what it has.",
    )


def test_two_failures_are_two_diagnoses() -> None:
    text = "Scratch buffer request exceeds limit per operator (12)\nAllocateTensors() failed\nInvoke failed\n"
    found = diagnose(parse_log((text + "Didn't find op for builtin opcode 'ADD'\n").encode()))
    assert [diagnosis.lines for diagnosis in found] == [(1,), (4,)]


def test_the_heap_of_edge_impulse_is_told_from_the_arena() -> None:
    diagnosis = only("ERR: Failed to allocate TFLite arena (894991 bytes)\nERR: Failed to run classifier (-6)")
    assert diagnosis.what == "no room for the whole arena, from the heap of 894,991 B (874.0 KiB)"
    assert diagnosis.at_least is None


def test_a_sound_log_has_no_diagnosis() -> None:
    assert diagnose(parse_log((LOGS / "corstone300_benchmark_table.log").read_bytes())) == []
    assert (
        diagnose(parse_log(b"4 bytes lost due to alignment. To avoid this loss, please make sure the tensor_arena"))
        == []
    )


def test_a_firmware_that_fails_in_a_loop_does_not_fill_the_memory() -> None:
    collector, found = FailureCollector(), []
    (event,) = parse_log(b"Failed to resize buffer. Requested: 3, available 1, missing: 2\n")
    for number in range(10_000):
        found += collector.feed(replace(event, line=number))
    assert len(found) == 10_000 // 64
    assert len(collector.close()[0].messages) == 10_000 % 64


@pytest.mark.parametrize(
    ("line", "what", "note"),
    [
        (
            "Arena size is too small for activation buffers. Needed 55296 but only 40864 was available.",
            "the memory plan does not fit: 55,296 B (54.0 KiB) asked for, 40,864 B (39.9 KiB) free, "
            "14,432 B (14.1 KiB) missing",
            "",
        ),
        (
            "Failed to allocate persistent buffer of size 576, does not fit in tensor arena and reached "
            "EI_MAX_OVERFLOW_BUFFER_COUNT",
            "no room for a kernel's buffer beside the arena (EON compiled model) of 576 B",
            "EI_MAX_OVERFLOW_BUFFER_COUNT in edge-impulse-sdk",
        ),
        (
            "ERR: Failed to allocate scratch buffer of size 1124, reached EI_MAX_SCRATCH_BUFFER_COUNT",
            "no room for a kernel's scratch buffer, for which the table is full (EON compiled model) of 1,124 B",
            "define a larger EI_MAX_SCRATCH_BUFFER_COUNT",
        ),
        ("AllocateTensors() failed", "AllocateTensors failed", "--model, --target and --arena-size"),
    ],
)
def test_lines_of_other_versions_and_programs_are_answered(line: str, what: str, note: str) -> None:
    diagnosis = only(line)
    assert diagnosis.what == what
    assert note in " ".join(diagnosis.notes)


def test_every_note_needs_only_fields_that_its_kind_has() -> None:
    for row in MESSAGES:
        needs = {name for _, name, _, _ in Formatter().parse(row.note) if name}
        read = {name for other in MESSAGES if other.kind == row.kind for t in other.templates for name in t.fields}
        read |= {"bytes", "text", "npu", "model"} if row.reads is not None else set()
        assert needs <= (set(KernelText._fields) if row.kind == "kernel_text" else read)


def test_every_phase_of_a_message_is_a_stage_of_the_one_table() -> None:
    assert {row.phase for row in MESSAGES} - {""} <= {stage.value for stage in Stage}


def message(kind: str, line: int = 1, **values: int | str) -> Message:
    return Message(line, kind, tuple(values.items()), cut=False, text="t")


def collected(*events: LogEvent, arena_size: int | None = None) -> list[Diagnosis]:
    collector = FailureCollector(arena_size)
    return [*(one for event in events for one in collector.feed(event)), *collector.close()]


HEAD = {"requested": 100, "available": 60, "missing": 40}


@pytest.mark.parametrize(
    ("values", "numbers", "missing", "at_least"),
    [
        (HEAD, ": 100 B asked for, 60 B free, 40 B missing", 40, 100),
        ({"requested": 100, "available": 60}, ": 100 B asked for, 60 B free, 40 B missing", 40, 100),
        ({"requested": 0, "available": 0, "missing": 0}, ": 0 B asked for, 0 B free, 0 B missing", 0, 0),
        ({"available": 60}, ": 60 B free", None, None),
        ({"requested": 100}, "", None, None),
        ({"missing": 40}, "", 40, 0),
        ({"requested": 100, "missing": 40}, "", 40, 100),
        ({"available": 60, "missing": 40}, ": 60 B free", 40, 0),
    ],
)
def test_a_refusal_has_the_numbers_that_were_read(
    values: dict[str, int], numbers: str, missing: int | None, at_least: int | None
) -> None:
    (diagnosis,) = collected(message("head", **values))
    assert diagnosis.what == BY_KIND["head"].says + numbers
    assert (diagnosis.missing, diagnosis.at_least) == (missing, at_least)
    assert refusal_in_words(diagnosis.refusals[0]).endswith(numbers)


def test_the_arena_is_what_somebody_knows_else_what_the_log_says_last() -> None:
    said = [ArenaConfigured(1, size, "arena_size") for size in (1000, 2000)]
    failure = message("head", **HEAD)
    assert [one.at_least for one in collected(*said, failure)] == [2040]
    assert [one.at_least for one in collected(*said, failure, arena_size=500)] == [540]
    assert [one.at_least for one in collected(*said, failure, arena_size=0)] == [40]
    (several,) = collected(failure, message("tail", requested=300, available=10, missing=290), arena_size=1000)
    assert (several.missing, several.at_least) == (290, 1290)
    (unknown,) = collected(failure, message("tail", requested=50, available=10))
    assert unknown.at_least == 100


def test_eight_other_lines_end_a_failure_and_a_line_about_the_arena_begins_to_count_anew() -> None:
    collector = FailureCollector()
    assert collector.feed_other_line() == []
    collector.feed(message("head", **HEAD))
    assert [collector.feed_other_line() for _ in range(7)] == [[]] * 7
    collector.feed(ArenaConfigured(2, 1000, "arena_size"))
    assert [collector.feed_other_line() for _ in range(7)] == [[]] * 7
    (ended,) = collector.feed_other_line()
    assert ended.at_least == 1040
    assert [collector.feed_other_line() for _ in range(9)] == [[]] * 9


def test_after_the_programs_own_line_another_message_is_another_failure() -> None:
    head, app = message("head", 1, **HEAD), message("allocate_failed", 2)
    (one,) = collected(head, app, message("allocate_failed", 3))
    assert len(one.messages) == 3
    assert [len(each.messages) for each in collected(head, app, message("head", 3, **HEAD))] == [2, 1]
    assert [each.lines for each in collected(app, message("head", 9, **HEAD), app)] == [(2,), (9,)]


def test_a_program_s_line_that_comes_before_those_of_tflm_is_of_the_same_failure() -> None:
    (one,) = collected(message("allocate_failed", 2), message("head", 3, **HEAD), message("allocate_failed", 5))
    assert one.lines == (2,)
    assert one.what.startswith("the head")


def test_a_restart_ends_a_failure_and_a_fault_is_part_of_it() -> None:
    head = message("head", 1, **HEAD)
    power, panic = Reset(5, "rst:0x1 (POWERON)"), "Guru Meditation Error: Core 0 panic'ed (StoreProhibited)"
    fault = Message(5, "esp_panic", (("core", 0), ("code", "StoreProhibited")), cut=False, text=panic)
    assert [len(one.messages) for one in collected(head, power)] == [1]
    (found,) = collected(head, fault)
    assert [one.kind for one in found.messages] == ["head", "panic", "esp_panic"]
    assert [one.what for one in collected(fault)] == ["the program wrote to an address that is none"]
    assert collected(power) == []


def test_a_log_in_which_the_device_restarts_and_nothing_says_why_is_a_failure() -> None:
    power = "rst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)"
    lines = [power, "I (12) main: hello", "I (13) main: setup", "I (14) main: AllocateTensors", "I (15) main: more"]
    text = "\n".join([*lines, power, ""]).encode()
    assert [one.what for one in diagnose(parse_log(text))] == ["the device started again, and no line says why"]
    assert diagnose(parse_log("\n".join([*lines, ""]).encode())) == []
    software = text.replace(b"0x1 (POWERON)", b"0xc (RTC_SW_CPU_RST)")
    assert [one.lines for one in diagnose(parse_log(software))] == [(1,)]


def test_of_an_assertion_and_its_abort_the_assertion_is_the_cause() -> None:
    found = only(
        "assert failed: f a.c:7 (x > 0)\nabort() was called at PC 0x40081f67 on core 0\nBacktrace: "
        "0x40081f64:0x3ffb8460"
    )
    assert found.what == "an assertion failed in f a.c"
    assert found.notes == ("f a.c:7 demands x > 0.",)
    assert [place.address for place in found.places] == [0x40081F67, 0x40081F64]


def test_notes_alone_are_no_failure() -> None:
    assert collected(message("unaligned", lost=4)) == []
    (found,) = collected(message("unaligned", lost=4), message("head", **HEAD))
    assert found.lines == (1,)
    assert len(found.messages) == 2


@pytest.mark.parametrize(
    ("kinds", "is_of_the_arena"),
    [(("head",), True), (("allocate_failed",), True), (("op_missing",), False), (("op_missing", "head"), True)],
)
def test_a_failure_is_the_arenas_where_the_allocator_refuses_or_nobody_says(
    kinds: tuple[str, ...], is_of_the_arena: bool
) -> None:
    (found,) = collected(*(message(kind) for kind in kinds))
    assert found.is_of_the_arena is is_of_the_arena


def test_an_operator_is_the_first_that_is_named_with_its_node() -> None:
    node = message("node_prepare", op="ADD", node=0, status=1)
    (found,) = collected(message("head", **HEAD), node)
    assert (found.op, found.node, found.phase) == ("ADD", 0, "op_prepare")
    (bare,) = collected(message("head", **HEAD))
    assert (bare.op, bare.node) == ("", None)
