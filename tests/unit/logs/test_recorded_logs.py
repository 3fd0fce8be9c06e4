"""Logs of whole firmwares, written in the exact formats that their sources print, against the events they hold."""

from pathlib import Path

import pytest

from tflm_sim.logs.log_events import (
    AllocationReport,
    ArenaConfigured,
    ArenaUsed,
    BenchmarkRecord,
    CategoryUse,
    Damaged,
    LayerProfile,
    LogEvent,
    Message,
    PlanBuffer,
    PlanDialect,
    PlanReport,
    PlanRow,
    ProfiledOp,
    Reset,
    TensorChecksum,
    TicksTable,
)
from tflm_sim.logs.other_tools import VendorReader
from tflm_sim.logs.parser import parse_log
from tflm_sim.logs.prefixes import TextLine

LOGS = Path(__file__).parent / "recorded"

# tensorflow/lite/micro/tools/benchmarking/README.md @ 90b983c: person_detect on Corstone-300 (Cortex-M4, CMSIS-NN).
README_CATEGORIES = (
    CategoryUse("TFLITE_EVAL_TENSOR_DATA", 1068, 1068, 89),
    CategoryUse("PERSISTENT_TFLITE_TENSOR_DATA", 64, 64, 2),
    CategoryUse("PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA", 40, 40, 4),
    CategoryUse("PERSISTENT_BUFFER_DATA", 25872, 25704, 90),
    CategoryUse("TFLITE_TENSOR_VARIABLE_BUFFER_DATA", 0, 0, 0),
    CategoryUse("NODE_AND_REGISTRATION_ARRAY", 992, 992, 31),
    CategoryUse("OP_DATA", 0, 0, 0),
)


def readme_report(dialect: str, first: int, last: int) -> AllocationReport:
    return AllocationReport(dialect, first, last, 84436, 55296, 29140, README_CATEGORIES, ())


def plan(dialect: PlanDialect, marks: str, kib: int | None) -> PlanReport:
    """hello_world_int8's plan: four buffers of 16 bytes in 32; 80 columns hold 80 bytes, so a column is a byte."""
    buffers = (
        PlanBuffer(0, 16, 16, 0, 1),
        PlanBuffer(1, 16, 0, 1, 2),
        PlanBuffer(2, 16, 16, 2, 3),
        PlanBuffer(3, 16, 0, 3, 3),
    )
    rows = tuple(
        PlanRow(step, low * 16 + high * 16 + "." * 48, kib)
        for step, (low, high) in enumerate([(".", "0"), ("1", "0"), ("1", "2"), (marks, "2")])
    )
    return PlanReport(dialect, 1, 8, buffers, rows, ())


def head(line: int, requested: int, available: int) -> Message:
    missing = requested - available
    return Message(
        line,
        "head",
        (("requested", requested), ("available", available), ("missing", missing)),
        False,
        f"Failed to resize buffer. Requested: {requested}, available {available}, missing: {missing}",
    )


def app(line: int, kind: str, text: str) -> Message:
    return Message(line, kind, (), False, text)


def reboot(first: int, rom_line: str) -> list[LogEvent]:
    """One boot of the ESP32-S3 that fails: ROM line, reset cause, two lines of log, the failure, the program's line."""
    return [Reset(first, "ESP-ROM:esp32s3-20210327"), Reset(first + 1, rom_line)]


SOFTWARE_RESET = "rst:0xc (RTC_SW_CPU_RST),boot:0x8 (SPI_FAST_FLASH_BOOT)"

EXPECTED: dict[str, list[LogEvent]] = {
    # ESP-IDF 5 monitor of a failing ESP32-S3; the TFLM line has no prefix because it goes to stderr.
    "esp32s3_idf_reboot_loop.log": [
        *reboot(1, "rst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)"),
        head(5, 102608, 59764),
        ArenaConfigured(6, 65536, "arena_size"),
        app(7, "allocate_failed", "AllocateTensors() failed"),
        *reboot(8, SOFTWARE_RESET),
        Message(9, "esp_reset", (("reason", 12), ("code", "RTC_SW_CPU_RST")), False, SOFTWARE_RESET),
        head(11, 102608, 59764),
        ArenaConfigured(12, 65536, "arena_size"),
        app(13, "allocate_failed", "AllocateTensors() failed"),
    ],
    # ESPHome logger over the network: esphome/issues#7242 (okay_nabu, arena 26080).
    "esphome_micro_wake_word.log": [
        head(2, 19440, 11876),
        app(3, "starting_failed", "Failed starting model allocation."),
        app(5, "allocate_failed", "Failed to allocate tensors for the streaming model"),
    ],
    # Mbed firmware of 2020 (simple_memory_allocator.cc in tensorflow).
    "stm32_mbed_2020.log": [
        Message(
            1,
            "unaligned",
            (("lost", 12),),
            False,
            "12 bytes lost due to alignment. To avoid this loss, please make sure the tensor_arena "
            "is 16 bytes aligned.",
        ),
        Message(
            2,
            "plan_too_big",
            (("requested", 102400), ("available", 98080)),
            False,
            "Arena size is too small for all buffers. Needed 102400 but only 98080 was available.",
        ),
        app(3, "allocate_failed", "AllocateTensors() failed"),
    ],
    # RecordingMicroAllocator on an STM32H745 with a Zephyr task logging in between, CR CR LF line ends.
    "stm32h7_recording_two_tasks.log": [
        AllocationReport(
            "recording",
            2,
            11,
            23412,
            16004,
            7408,
            (
                CategoryUse("TFLITE_EVAL_TENSOR_DATA", 420, 420, 35),
                CategoryUse("PERSISTENT_TFLITE_TENSOR_DATA", 64, 64, 2),
                CategoryUse("PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA", 40, 40, 4),
                CategoryUse("PERSISTENT_BUFFER_DATA", 5884, 5812, 34),
                CategoryUse("NODE_AND_REGISTRATION_ARRAY", 416, 416, 13),
            ),
            (),
        )
    ],
    # tflm_benchmark (generic_model_benchmark.cc, metrics.cc @ 90b983c) on Corstone-300.
    "corstone300_benchmark_table.log": [
        ArenaConfigured(1, 153600, "benchmark"),
        TensorChecksum(2, "input", 0x14F6A510),
        ProfiledOp(3, "DEPTHWISE_CONV_2D", 175917, 7),
        ProfiledOp(4, "CONV_2D", 249561, 9),
        TicksTable("tag", 5, 8, (("DEPTHWISE_CONV_2D", 175917), ("CONV_2D", 249561)), 425478, ()),
        TensorChecksum(9, "output", 0xA4A6A6BE),
        readme_report("benchmark-table", 10, 23),
    ],
    "x86_benchmark_csv.log": [readme_report("benchmark-csv", 1, 14)],
    # metrics.cc, log_utils.h @ 6da07de (2023-07).
    "benchmark_2023.log": [readme_report("benchmark-table", 1, 17)],
    # Edge Impulse SDK: inferencing_engines/tflite_micro.h and the debug line of its forum guides.
    "edge_impulse_esp32s3.log": [
        ArenaUsed(2, 536059, 536059, "edge-impulse"),
        Message(3, "ei_arena", (("bytes", 894991),), False, "Failed to allocate TFLite arena (894991 bytes)"),
        Message(4, "ei_failed", (("code", -6),), False, "Failed to run classifier (-6)"),
    ],
    # mltk_model_profiler firmware, as mltk/core/profile_model reads it. 12.3k: 12250 up to, not including, 12350.
    "mltk_efr32_profiler.log": [
        ArenaUsed(4, 12250, 12349, "mltk"),
        LayerProfile(
            5,
            0,
            "Conv2D",
            (
                ("OPs", 18_350_000, 18_449_999),
                ("MACs", 9_050_000, 9_149_999),
                ("CPU cycles", 3_050_000, 3_149_999),
                ("Accelerator cycles", 1_150_000, 1_249_999),
                ("us", 39_650, 39_749),
            ),
        ),
        LayerProfile(11, 1, "Softmax", (("CPU cycles", 950, 1049),)),
    ],
    # tum-ei-eda/mlonmcu, tflm backend with DEBUG_ARENA_USAGE.
    "mlonmcu_etiss.log": [ArenaUsed(2, 22780, 22780, "mlonmcu")],
    # greedy_memory_planner.cc @ 90b983c, b2f2718^ and a37043f.
    "greedy_plan_2024.log": [plan(PlanDialect.STARS, "*", 1)],
    "greedy_plan_2022.log": [plan(PlanDialect.ORDINALS, "3", 1)],
    "greedy_plan_2021.log": [plan(PlanDialect.VERBOSE, "3", None)],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_firmware_log_holds_exactly_these_events(name: str) -> None:
    assert parse_log((LOGS / name).read_bytes()) == EXPECTED[name]


def test_every_recorded_log_has_an_expectation() -> None:
    with_records = {"esp32_mcufit_idf.log", "nano33ble_mcufit_arduino_ide.log"}
    assert {path.name for path in LOGS.glob("*.log")} == set(EXPECTED) | with_records


def arenas(name: str) -> dict[object, object]:
    return {
        event.value("model"): event.value("arena_used_bytes")
        for event in parse_log((LOGS / name).read_bytes())
        if isinstance(event, BenchmarkRecord) and event.kind == "result"
    }


def test_mcufit_records_of_two_boards_hold_the_figures_of_its_results() -> None:
    # avionicharshit-byte/mcufit-bench results/results.jsonl, 2026-08-16.
    assert arenas("esp32_mcufit_idf.log") == {
        "person_detect.tflite": 82300,
        "kws_ref_model.tflite": 22780,
        "pretrainedResnet_quant.tflite": 54364,
        "ad01_int8.tflite": 2380,
    }
    assert arenas("nano33ble_mcufit_arduino_ide.log") == {
        "person_detect.tflite": 82740,
        "kws_ref_model.tflite": 24164,
        "pretrainedResnet_quant.tflite": 55188,
        "ad01_int8.tflite": 2596,
    }


def test_a_cut_record_is_damage_and_not_a_number() -> None:
    last = parse_log((LOGS / "nano33ble_mcufit_arduino_ide.log").read_bytes())[-1]
    assert isinstance(last, Damaged)
    assert last.reason == "MCUFIT_RESULT is not whole JSON"


def test_a_layer_of_64_figures_is_full_and_said_at_once() -> None:
    reader = VendorReader()
    assert reader.feed(TextLine(1, "Op0-Conv2D")) == []
    said = [reader.feed(TextLine(number, "1 OPs")) for number in range(2, 66)]
    assert said[:-1] == [[]] * 63
    assert [len(layer.metrics) for layer in said[-1]] == [64]
    assert reader.flush() == []
