"""Single lines of other tools: sizes with every figure that they can have, records, and resets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tflm_sim.logs.log_events import ArenaConfigured, ArenaUsed, BenchmarkRecord, Damaged, LayerProfile, Reset
from tflm_sim.logs.other_tools import VendorReader, _interval, read_record
from tflm_sim.logs.prefixes import TextLine


def line(text: str, *, ended: bool = True, number: int = 3) -> TextLine:
    return TextLine(number, text, ended=ended)


def read(text: str, **how: Any) -> Any:
    return VendorReader().feed(line(text, **how))


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("# Arena Usage: 928", ArenaUsed(3, 928, 928, "mlonmcu")),
        ("Arena Usage after model invocation: 928 bytes", ArenaUsed(3, 928, 928, "mlonmcu")),
        ("TFLite arena used bytes: 928", ArenaUsed(3, 928, 928, "edge-impulse")),
        ("arena_used_bytes() = 928", ArenaUsed(3, 928, 928, "arena_used_bytes")),
        ("Arena used: 928", ArenaUsed(3, 928, 928, "arena_used_bytes")),
        ("Tensor runtime memory: 928", ArenaUsed(3, 928, 928, "mltk")),
        ("Tensor runtime memory: 12.3k", ArenaUsed(3, 12_250, 12_349, "mltk")),
        ("kTensorArenaSize = 4096", ArenaConfigured(3, 4096, "arena_size")),
        ("arena=4096", ArenaConfigured(3, 4096, "arena_size")),
        ("arena used: 12345678901", None),
        ("somebody else", None),
    ],
)
def test_a_size_is_read(text: str, event: object) -> None:
    assert read(text) == (None if event is None else [event])


def test_a_number_at_the_end_of_a_line_that_was_cut_is_not_believed() -> None:
    for text in ("arena used: 928", "Tensor runtime memory: 928", "arena=928"):
        assert read(text, ended=False) is None
        assert read(f"{text} bytes", ended=False) is not None


@pytest.mark.parametrize(
    ("figure", "unit", "interval"),
    [
        ("12", "", (12, 12)),
        ("12.5", "", (12, 12)),
        ("12", "k", (12_000, 12_000)),
        ("12.3", "k", (12_250, 12_349)),
        ("1.25", "M", (1_245_000, 1_254_999)),
        ("1.0", "G", (950_000_000, 1_049_999_999)),
        ("0.5", "k", (450, 549)),
    ],
)
def test_a_rounded_figure_is_all_numbers_that_print_so(figure: str, unit: str, interval: tuple[int, int]) -> None:
    assert _interval(figure, unit) == interval


def test_a_layer_has_the_metrics_below_it_until_something_else_comes() -> None:
    reader = VendorReader()
    assert reader.feed(line("12.5M MACs")) is None
    assert reader.feed(line("Op4-conv2d", number=7)) == []
    for text in ("  12.5M MACs", "  1.5 ms", "  7 OPs"):
        assert reader.feed(line(text)) == []
    metrics = (("MACs", 12_450_000, 12_549_999), ("us", 1450, 1549), ("OPs", 7, 7))
    assert reader.feed(line("Op5-add", number=11)) == [LayerProfile(7, 4, "conv2d", metrics)]
    assert reader.flush() == [LayerProfile(11, 5, "add", ())]
    assert reader.flush() == []


def test_of_a_layer_64_metrics_are_kept() -> None:
    reader = VendorReader()
    reader.feed(line("Op0-x"))
    answers = [reader.feed(line("1 OPs")) for _ in range(65)]
    assert answers[:63] == [[]] * 63
    assert [len(event.metrics) for event in answers[63] or () if isinstance(event, LayerProfile)] == [64]
    assert answers[64] is None


@pytest.mark.parametrize(
    "text",
    [
        "rst:0x1 (POWERON),boot:0x8",
        "ESP-ROM:esp32s3-20210327",
        "ets Jun  8 2016 00:22:57",
        "*** Booting Zephyr OS build v4 ***",
    ],
)
def test_a_reset_ends_an_open_layer(text: str) -> None:
    reader = VendorReader()
    reader.feed(line("Op4-conv2d"))
    assert reader.feed(line(text)) == [LayerProfile(3, 4, "conv2d", ()), Reset(3, text)]


RESULT = {"schema": 1, "model": "m", "model_sha256": "s", "target": "t", "kernels": "k", "arena_used_bytes": 928}
LAYER = {"model": "m", "target": "t", "op": "o", "us_per_inference": 5}


def record(kind: str, fields: object) -> Any:
    return read_record(line(f"MCUFIT_{kind} {fields if isinstance(fields, str) else json.dumps(fields)}"))


def test_a_record_is_its_fields_in_order() -> None:
    assert record("RESULT", RESULT) == BenchmarkRecord(3, "result", tuple(sorted(RESULT.items())))
    assert record("LAYER", LAYER) == BenchmarkRecord(3, "layer", tuple(sorted(LAYER.items())))
    assert record("LAYER", {**LAYER, "more": None}).value("more") is None
    assert read_record(line("MCUFIT_OTHER {}")) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ('{"model": 5', "MCUFIT_RESULT is not whole JSON"),
        ("[" * 100_000, "MCUFIT_RESULT is not whole JSON"),
        ("[]", "MCUFIT_RESULT lacks fields"),
        ({name: value for name, value in RESULT.items() if name != "kernels"}, "MCUFIT_RESULT lacks fields"),
        ({**RESULT, "more": []}, "MCUFIT_RESULT has nested fields"),
        ({**RESULT, "more": {}}, "MCUFIT_RESULT has nested fields"),
        ({**RESULT, "schema": 2}, "MCUFIT_RESULT has schema 2, we read 1"),
        ({**RESULT, "arena_used_bytes": -1}, "MCUFIT_RESULT has no size that an arena can have"),
        ({**RESULT, "arena_used_bytes": True}, "MCUFIT_RESULT has no size that an arena can have"),
        ({**RESULT, "arena_used_bytes": 1.5}, "MCUFIT_RESULT has no size that an arena can have"),
        ({**RESULT, "arena_used_bytes": 1024**4}, "MCUFIT_RESULT has no size that an arena can have"),
    ],
)
def test_a_record_that_is_not_whole_is_damage(fields: object, reason: str) -> None:
    found = record("RESULT", fields)
    assert isinstance(found, Damaged)
    assert (found.line, found.reason) == (3, reason)


@pytest.mark.parametrize("size", [0, 1024**4 - 1])
def test_an_arena_of_less_than_a_tebibyte_is_believed(size: int) -> None:
    assert record("RESULT", {**RESULT, "arena_used_bytes": size}).value("arena_used_bytes") == size
