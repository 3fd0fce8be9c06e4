from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from tflm_sim.arena.stages import Stage
from tflm_sim.board.diagnosis import Diagnosis, FailureCollector, diagnose
from tflm_sim.board.dialects import parse_log
from tflm_sim.board.dialects.kernel_texts import KernelText
from tflm_sim.board.dialects.messages import MESSAGES

LOGS = Path(__file__).parent / "logs"


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
        "Add SOFTMAX to the op resolver (Add... of MicroMutableOpResolver), if the library has it: 'tflm-sim ops "
        "--library NAME' lists what it has.",
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
    for number in range(10_000):
        for event in parse_log(b"Failed to resize buffer. Requested: 3, available 1, missing: 2\n"):
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
        assert needs <= (set(KernelText._fields) if row.kind == "kernel_text" else read)


def test_every_phase_of_a_message_is_a_stage_of_the_one_table() -> None:
    assert {row.phase for row in MESSAGES} - {""} <= {stage.value for stage in Stage}
