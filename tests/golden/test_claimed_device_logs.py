"""The device figures that people published (../shared/models/CLAIMS.md), in their firmware's format, are read."""

import re
from pathlib import Path

import pytest

from tflm_sim.logs.diagnosis import diagnose
from tflm_sim.logs.log_events import AllocationReport, ArenaUsed, BenchmarkRecord, CategoryUse
from tflm_sim.logs.parser import parse_log
from tflm_sim.recorded import CATEGORIES

CLAIMS = Path(__file__).parents[3] / "shared" / "models" / "CLAIMS.md"
pytestmark = pytest.mark.shared("models/CLAIMS.md")

# How the note column abbreviates the categories: "EvalTensor 204(17)" or "buffer 1232 (req 1148, 14)".
ABBREVIATIONS = {
    "TFLITE_EVAL_TENSOR_DATA": r"EvalTensor",
    "PERSISTENT_TFLITE_TENSOR_DATA": r"Persistent(?:TfLiteTensor)?",
    "PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA": r"quant",
    "PERSISTENT_BUFFER_DATA": r"(?<!variable )buffer",
    "TFLITE_TENSOR_VARIABLE_BUFFER_DATA": r"variable buffer",
    "NODE_AND_REGISTRATION_ARRAY": r"NodeAndReg(?:istration)?",
    "OP_DATA": r"OpData",
}


def measured_rows() -> list[tuple[str, int, str, str]]:
    section = CLAIMS.read_text().split("## A. ")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| ")]
    return [
        (row[0], int(row[2].replace(",", "")), row[3], row[6]) for row in cells if row[2].replace(",", "").isdigit()
    ]


def categories(note: str) -> list[CategoryUse]:
    found = []
    for key, name in ABBREVIATIONS.items():
        match = re.search(name + r" (\d+)(?:/\d+)? ?\((?:req (\d+), ?)?(\d+)", note)
        if match is not None:
            found.append(CategoryUse(key, int(match[1]), int(match[2] or match[1]), int(match[3])))
    return found


def recording_log(total: int, head: int, tail: int, uses: list[CategoryUse]) -> str:
    rows = {row.name: row for row in CATEGORIES}
    mark = "[RecordingMicroAllocator]"
    lines = [
        f"{mark} Arena allocation {name} {size} bytes"
        for name, size in (("total", total), ("head", head), ("tail", tail))
    ]
    lines += [
        f"{mark} '{rows[use.key].recording_title}' used {use.used} bytes with alignment overhead "
        f"(requested {use.requested} bytes for {use.count} {rows[use.key].recording_unit})"
        for use in uses
    ]
    return "\r\n".join(lines) + "\r\n"


def test_every_recording_breakdown_is_read_back() -> None:
    seen = 0
    for name, total, _, note in measured_rows():
        match = re.search(r"head (\d+) tail (\d+)", note)
        if match is None:
            continue
        uses = categories(note)
        (report,) = parse_log(recording_log(total, int(match[1]), int(match[2]), uses).encode())
        assert isinstance(report, AllocationReport)
        assert (report.total, report.head, report.tail) == (total, int(match[1]), int(match[2])), name
        assert report.categories == tuple(uses), name
        assert report.problems == (), name
        seen += 1
    assert seen >= 8


def test_every_single_figure_is_read_in_the_form_its_firmware_prints() -> None:
    seen = 0
    for name, size, platform, note in measured_rows():
        forms = {f"# Arena Usage: {size}": "mlonmcu", f"arena_used_bytes() = {size}": "arena_used_bytes"}
        if "Tflite arena used bytes" in note:
            forms = {f"DEBUG: Tflite arena used bytes: {size}": "edge-impulse"}
        for text, dialect in forms.items():
            assert parse_log(text.encode() + b"\n") == [ArenaUsed(1, size, size, dialect)], (name, platform)
            seen += 1
    assert seen >= 28


def test_the_failure_logs_give_the_bounds_that_were_derived_from_them_by_hand() -> None:
    section = CLAIMS.read_text().split("## D. ")[1].split("\n## ")[0]
    seen = 0
    for line in section.splitlines():
        quoted = re.search(r"Requested: (\d+), available:? (\d+)", line)
        derived = re.search(r"DERIVED HERE: need >= ([\d,]+)", line)
        if quoted is None or derived is None:
            continue
        arena = int(line.split("|")[3].replace(",", ""))
        text = f"Failed to resize buffer. Requested: {quoted[1]}, available {quoted[2]}, missing: "
        (diagnosis,) = diagnose(parse_log(text.encode() + b"\n"), arena_size=arena)
        assert diagnosis.at_least == int(derived[1].replace(",", ""))
        seen += 1
    assert seen == 2


def test_mcufit_rows_of_the_claims_are_those_of_the_recorded_logs() -> None:
    logs = Path(__file__).parents[1] / "unit" / "logs" / "recorded"
    claims = {size for _, size, platform, _ in measured_rows() if "IDF v5.5" in platform or "Chirale" in platform}
    read = {
        event.value("arena_used_bytes")
        for name in ("esp32_mcufit_idf.log", "nano33ble_mcufit_arduino_ide.log")
        for event in parse_log((logs / name).read_bytes())
        if isinstance(event, BenchmarkRecord) and event.kind == "result"
    }
    assert read == claims
