"""The page's script makes no sentence: what the page says is written in Python, with the words of the other skins."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tflm_sim.checks.program_need import Ram
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.load import load
from tflm_sim.palette import CATEGORIES
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.page_text import WORDS, page_texts
from tflm_sim.report.picture import Picture
from tflm_sim.report.take_picture import take_picture
from tflm_sim.targets.presets import preset

PACKAGE = Path(__file__).resolve().parents[3] / "tflm_sim"
SCRIPTS = sorted([*PACKAGE.glob("report/page_parts/*.js"), *PACKAGE.glob("extensions/page/site/*.js")])
Make = Callable[..., Picture]


def literals(script: str) -> list[str]:
    """Return the texts in a script: those in quotes, and of a template what stands outside of its gaps."""
    code = re.sub(r"/\*.*?\*/", "", script, flags=re.S)
    code = re.sub(r"^\s*//.*$", "", code, flags=re.M)
    pieces = re.findall(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`', code)
    quoted = [one or other for one, other, _ in pieces if one or other]
    outside = [part for *_, template in pieces if template for part in re.split(r"\$\{[^}]*\}", template)]
    return quoted + outside


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_sentence_is_made_in_javascript(path: Path) -> None:
    made = [text for text in literals(path.read_text("utf-8")) if re.search(r"[A-Za-z]{2,} [a-z]{2,}", text)]
    of_site = "extensions" in path.parts
    keys = {*WORDS, *(pytest.importorskip("tflm_sim.extensions.page.words").WORDS if of_site else ())}
    assert [text for text in made if text not in keys] == []


def test_the_search_for_sentences_finds_them() -> None:
    script = 'x = "no model here"; // not a word of this\ny = `${n} bytes are gone`; z = "word";'
    assert literals(script) == ["no model here", "word", "", " bytes are gone"]


def test_every_word_that_a_script_asks_for_is_there_and_each_is_asked_for() -> None:
    code = "".join(path.read_text("utf-8") for path in SCRIPTS if path.parent.name == "page_parts")
    asked = re.findall(r'\bwords\((?:[^"(]+\? )?"([^"]+)"(?: : "([^"]+)")?', code)
    assert len(asked) > 50
    assert {key for keys in asked for key in keys if key} <= {*WORDS}
    kinds = {"enter", "reset", "resize", "request", "log", "corruption"}  # of steps, which are data
    assert [key for key in WORDS if f'"{key}"' not in code and not key.startswith("by ") and key not in kinds] == []


def test_a_comparison_is_titled_by_what_differs_and_its_cards_are_the_change() -> None:
    model = load("sample:residual")
    first, other = (take_picture(model, Configuration(preset(name))) for name in ("cortex-m4", "esp32-s3"))
    texts = page_texts([first, other])
    assert texts["about"] == "TFLM of 2026-08-20 (90b983c2b)"
    assert [each["heading"] for each in texts["pictures"]] == [
        "cortex-m4, cmsis_nn@4ab83cc (dsp) kernels",
        "esp32-s3, esp_nn@1.3.1 (esp32s3) kernels",
    ]
    card = texts["cards"][0]
    assert (card["title"], card["text"], card["note"]) == ("smallest arena", "55,000 → 102,076 B", "(+47,076)")
    three = page_texts([first, other, first])
    assert [(card["text"], card["note"]) for card in three["cards"]] == [
        ("55,008 B", "53.7 KiB"),
        ("102,080 B", "+47,072"),
        ("55,008 B", "53.7 KiB"),
    ]


def test_of_two_models_the_model_is_the_title() -> None:
    pictures = [
        take_picture(load(f"sample:{name}"), Configuration(preset("cortex-m4"))) for name in ("sine", "residual")
    ]
    assert [each["heading"] for each in page_texts(pictures)["pictures"]] == ["sine.tflite", "residual.tflite"]


def test_operators_are_counted_from_one() -> None:
    tflm = take_picture(load("sample:mobilenet_v1_025"), Configuration(preset("cortex-m4")))
    scopes = page_texts([tflm])["pictures"][0]["scopes"]
    assert scopes[0].endswith(" alive in 1 buffer; before operator 1 of 31")
    assert scopes[-1].endswith("; operator 31 of 31")


def test_a_model_that_never_fits_says_what_fails_where_and_what_to_do(never_fits: Picture) -> None:
    texts = page_texts([never_fits])
    fails, none, what = texts["banner"]
    assert none == "No arena is large enough: the device refuses the model itself."
    assert fails == "AllocateTensors() fails: TFLM has no kernel for 'LSTM'"
    stops = "It stops in registration of operator #0 in subgraph 0; "
    assert what == f"{stops}change this operator, or take a library that has what it needs."
    peak = [part["text"] for part in texts["pictures"][0]["peak"]]
    assert "The device prints" in peak
    assert not [text for text in peak if text.startswith("What decides")]


@pytest.fixture
def never_fits() -> Picture:
    from tflm_sim.model.build import ModelBuilder
    from tflm_sim.model.load import parse
    from tflm_sim.model.types import TensorType

    builder = ModelBuilder()
    a, b = (builder.tensor((1, 4), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.operator("LSTM", [a], [b])
    return take_picture(parse(builder.build(inputs=[a], outputs=[b])), Configuration(preset("cortex-m4")))


def test_the_sums_of_the_page_are_those_of_the_report() -> None:
    picture = take_picture(load("sample:residual"), Configuration(preset("cortex-m4")))
    (texts,) = page_texts([picture])["pictures"]
    answer = picture.size.answer
    (bar,) = [part for part in texts["tail"] if part["tag"] == "bar"]
    assert sum(segment["bytes"] for segment in bar["segments"]) == answer.tail_bytes
    assert {segment["category"] for segment in bar["segments"]} <= {*CATEGORIES}
    (held,) = [part["rows"] for part in texts["peak"] if part["tag"] == "table" and "id" not in part]
    limit = picture.limits[0]
    assert sum(int(row[1]["text"].replace(",", "")) for row in held) == limit.need
    assert answer.peak is not None
    says = f"{answer.peak.live_bytes:,} B alive of {answer.head_bytes:,} B: no plan can be smaller."
    assert says in [part["text"] for part in texts["peak"]]


def test_boards_are_a_chart_with_the_arenas_end_and_a_table() -> None:
    rows = [
        BoardFit("one", "esp32", "ok", 4096, 320 << 10, 503_316, 4 << 20, may_fit=True, fits="if free"),
        BoardFit("two", "cortex-m0", "ok", 4096, 4 << 10, 9, None, may_fit=False, fits="no: RAM"),
        BoardFit("three", "cortex-m0", "error", None, None, 9, None, may_fit=None, fits="not known"),
    ]
    picture = take_picture(load("sample:sine"), Configuration(preset("cortex-m4")))
    title, chart, table = page_texts([picture], rows)["boards"]
    assert title["text"] == "3 boards"
    assert [(row["label"], row["width"], row["no"]) for row in chart["rows"]] == [
        ("one", 100.0, False),
        ("two", 13.66, True),  # log(2) / log(160): the scale begins at half of the least
    ]
    assert [row["mark"] for row in chart["rows"]] == [13.66, 13.66]
    assert [cell["text"] for cell in table["rows"][0]] == ["one", "4,096 B", "1.2 %", "12.0 %", "if free"]
    assert table["titles"][0] == "esp32, RAM: 320 KiB, flash: 4,096 KiB"


def test_the_ram_of_a_board_is_a_bar_of_the_arena_and_what_is_left() -> None:
    picture = take_picture(load("sample:residual"), Configuration(preset("cortex-m4")))
    (texts,) = page_texts([picture], room=Ram("RAM of b", 65_536))["pictures"]
    title, bar = texts["peak"][:2]
    says = "10,528 B left for static data, heap and stack"  # 65,536 - 55,008
    assert title["text"] == f"RAM of b, 65,536 B: the arena has 55,008 B, {says}"
    assert [(part["category"], part["bytes"]) for part in bar["segments"]] == [
        ("activation", 49_740),
        ("kernel data", 5_268),
        ("", 10_528),
    ]
    (texts,) = page_texts([picture], room=Ram("RAM of b", 55_000))["pictures"]
    assert texts["peak"][0]["text"].endswith("the arena has 55,008 B, 8 B too many")
    (texts,) = page_texts([picture], room=Ram("RAM", 65_536, (("static data", 4_096), ("stack", 1_024))))["pictures"]
    title, bar = texts["peak"][:2]
    assert title["text"].endswith("the arena has 55,008 B, static data 4,096 B, stack 1,024 B, 5,408 B left")
    assert [(part["category"], part["text"]) for part in bar["segments"][2:]] == [
        ("other", "static data: 4,096 B"),
        ("other", "stack: 1,024 B"),
        ("", "5,408 B left: 5,408 B"),
    ]
