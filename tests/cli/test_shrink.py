"""``tflm-sim shrink``, and what ``size`` and ``report`` say of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import shrinking_models as models

from tflm_sim import load, numbers, shrink, shrunk_lines, smallest_arena
from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.shrink import cli as module
from tflm_sim.model.types import Model


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    model: Model = models.channels_model()
    file = tmp_path / "model.tflite"
    file.write_bytes(model.source)
    return file


def advised(capsys: pytest.CaptureFixture[str], *argv: object) -> list[str]:
    """Return what ``size --advise`` says would be smaller."""
    return run(capsys, "size", *argv, "--advise")[1].splitlines()[-1].split("; ")


def test_it_writes_a_model_that_needs_what_it_says(
    capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "small.tflite"
    code, text, _ = run(capsys, "shrink", path, "-o", out, "--target", "cortex-m4")
    size = smallest_arena(load(out), "cortex-m4")
    assert code == 0
    assert f"-> {size.size:,} B on cortex-m4" in text
    assert f"tensor_arena[{size.multiple_of_16}];" in text
    assert "resolver.AddConcatenation();" in text
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.tflite", "small.tflite"]


def test_as_json_it_says_what_each_target_gains(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, text, _ = run(capsys, "shrink", path, "--target", "cortex-m4", "--target", "esp32-s3", "--json")
    document = json.loads(text)
    assert code == 0
    assert [row["target"] for row in document["targets"]] == ["cortex-m4", "esp32-s3"]
    assert all(
        row["after"]["smallest_arena_bytes"] <= row["before"]["smallest_arena_bytes"] for row in document["targets"]
    )
    assert document["output"] is None
    assert "same expressions" in document["verified"]


def test_explain_shows_each_part_and_what_was_rejected(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    _, text, _ = run(capsys, "shrink", path, "--explain")
    assert "run in 6 parts by channels" in text
    assert "computes tensor" in text
    assert "rejected: splits: round 2" in text
    assert "rejected: splits: round 2" in run(capsys, "shrink", path)[1]


def test_nothing_is_written_over_the_model_itself(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    before = path.read_bytes()
    code, _, error = run(capsys, "shrink", path, "-o", path)
    assert code == 2
    assert "add --in-place to overwrite it" in error
    assert path.read_bytes() == before
    assert run(capsys, "shrink", path, "-o", path, "--in-place")[0] == 0
    assert path.read_bytes() != before


def test_a_folder_that_is_none_is_refused_before_the_search(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "tflm_sim.extensions.shrink.shrink.shrink", lambda *arguments, **options: pytest.fail("it searches")
    )
    code, _, error = run(capsys, "shrink", path, "-o", tmp_path / "none" / "small.tflite")
    assert code == 2
    assert f"small.tflite cannot be written: there is no folder {tmp_path / 'none'}" in error


def test_a_goal_that_is_not_met_is_a_no(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, text, _ = run(capsys, "shrink", path, "--goal", "1KiB")
    assert code == 1
    assert "the goal of 1,024 B is NOT met" in text


def test_a_model_that_cannot_be_made_smaller_is_a_no(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "small.tflite"
    code, text, _ = run(capsys, "shrink", "sample:sine", "-o", out)
    assert code == 1
    assert "nothing that we know makes it smaller" in text
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--ops", "SLICES"), "there is no builtin operator 'SLICES'"),
        (("--max-macs", "0.5"), "is below 1"),
        (("--max-flash", "10KB"), "ambiguous"),
        (("--prove", "-1"), "must not be negative"),
        (("--time-limit", "0s"), "is not a valid time"),
        (("--target", "cortex-m99"), "cortex-m99"),
    ],
)
def test_an_option_without_meaning_is_refused(
    capsys: pytest.CaptureFixture[str], path: Path, options: tuple[str, ...], sentence: str
) -> None:
    code, _, error = run(capsys, "shrink", path, *options)
    assert code == 2
    assert sentence in error


def test_flash_is_a_limit(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, text, _ = run(capsys, "shrink", path, "--max-flash", "+1%", "--json")
    document = json.loads(text)
    assert document["after"]["file_bytes"] <= document["before"]["file_bytes"] * 1.01
    assert code in (0, 1)


def test_a_time_limit_is_said_where_it_ended_the_search(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, text, _ = run(capsys, "shrink", path, "--time-limit", "0.001ms")
    assert code == 1
    assert ": nothing smaller was found before the search ended\n" in text
    assert "the search ended early: the time was over; this is the best until then" in text
    assert json.loads(run(capsys, "shrink", path, "--time-limit", "10m", "--json")[1])["stopped"] == ""


def test_size_advises_only_when_asked(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    assert "shrink" not in run(capsys, "size", path)[1]
    assert advised(capsys, path) == [
        "11,760 B with `shrink`, no additional MACs",
        "11,696 B with `shrink --offline-plan`, no additional MACs",
    ]


@pytest.mark.slow
def test_loops_are_advised_where_they_need_least_and_the_tflm_knows_what_they_are_made_of(
    capsys: pytest.CaptureFixture[str], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tflm_sim.extensions.shrink.advice.SEARCH_SECONDS", None)  # Else a slow machine finds less.
    path.write_bytes(models.padded_rows_model().source)
    assert advised(capsys, path)[1].endswith("B with `shrink --loops`, +31.2 % MACs")
    # The day before TFLM got DYNAMIC_UPDATE_SLICE.
    assert advised(capsys, path, "--runtime", "2025-11-09")[1].endswith("B with `shrink --offline-plan`, +12.5 % MACs")


def test_int8_io_is_asked_for_and_the_lines_are_part_of_both_answers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, out = tmp_path / "floats.tflite", tmp_path / "small.tflite"
    path.write_bytes(models.float_io_model().source)
    with_int8_io = advised(capsys, path)[-1]
    code, text, _ = run(capsys, "shrink", path, "-o", out, "--int8-io")
    size = smallest_arena(load(out), "cortex-m4").size
    assert code == 0
    assert with_int8_io == f"{size:,} B with `shrink --int8-io`, which changes the interface"
    assert 'input 0 "image": int8 with scale 0.5 and zero point -3 instead of float32' in text
    document = json.loads(run(capsys, "shrink", path, "--int8-io", "--json")[1])
    given, wanted = document["conversions"]
    assert (given["what"], given["after"]) == ("input", {"type": "int8", "scale": 0.5, "zero_point": -3})
    assert (wanted["what"], wanted["before"]) == ("output", {"type": "float32", "scale": None, "zero_point": None})
    assert all(line in text for line in (*given["c"], *given["python"], *wanted["c"], *wanted["python"]))
    assert json.loads(run(capsys, "shrink", path, "--json")[1])["with_int8_io_bytes"] == [size]


@pytest.mark.slow
def test_a_report_advises_in_a_line_of_its_own(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path) -> None:
    said = run(capsys, "size", path, "--advise")[1].splitlines()[-1]
    picture = tmp_path / "picture.json"
    assert run(capsys, "report", path, "-o", picture, "--advise")[0] == 0
    (document,) = json.loads(picture.read_text("utf-8"))["pictures"]
    assert document["size"]["advice"] == said
    assert "shrink" not in document["title"]


def test_a_report_shows_both_models(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path) -> None:
    small, page = tmp_path / "small.tflite", tmp_path / "report.html"
    run(capsys, "shrink", path, "-o", small)
    assert run(capsys, "report", path, "-o", page, "--compare-model", small)[0] == 0
    assert "small.tflite on cortex-m4" in page.read_text("utf-8")


def test_a_goal_that_is_met_already_is_not_called_out_of_reach(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    same = path.with_name("same.tflite")
    code, text, _ = run(capsys, "shrink", path, "--goal", "1MiB", "-o", same)
    needed = smallest_arena(load(path), "cortex-m4").size
    assert code == 0
    assert same.read_bytes() == path.read_bytes()
    assert f"model.tflite: {needed:,} B on cortex-m4 are within the goal of 1,048,576 B as it is" in text.splitlines()


def test_its_tables_fit_a_terminal(path: Path) -> None:
    """Of a program, the cases that its file leaves open have long names: head and tail are left out then."""
    shrunk = shrink(load(path), "cortex-m4")
    (gain,) = shrunk.gains
    long = replace(shrunk, gains=(replace(gain, target="app.elf", case="TFLM f9fecab84, int enums"),))
    for each, titles in ((shrunk, "target arena saved head tail"), (long, "target arena saved head")):
        lines = shrunk_lines(each, width=80)
        assert lines[2].split() == titles.split()
        assert max(map(len, lines[2 : lines.index("", 2)])) <= 80


@pytest.mark.parametrize(
    ("text", "ratio"), [("1.10", 1.1), ("2", 2.0), ("+10%", 1.1), (" +12.5% ", 1.125), ("+0%", 1.0), ("0.5", 0.5)]
)
def test_a_multiple_is_a_number_or_what_is_added_in_percent(text: str, ratio: float) -> None:
    assert numbers.multiple(text) == pytest.approx(ratio)


@pytest.mark.parametrize("text", ["10%", "+10", "-1", "1,1", "x1.1"])
def test_what_is_no_multiple_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="is not a multiple; write"):
        numbers.multiple(text)


@pytest.mark.parametrize(
    ("text", "allowed"), [("+10%", 1100), ("+0.55%", 1005), ("+1KiB", 2024), ("2KiB", 2048), ("+0", 1000), ("900", 900)]
)
def test_flash_is_a_size_or_what_may_be_added_to_the_model(text: str, allowed: int) -> None:
    assert module._flash(1000, text) == allowed


def test_operators_are_named_in_any_case_and_none_is_none() -> None:
    assert module._operators("add, Mul,,") == {"ADD", "MUL"}
    assert module._operators("none") == module._operators("") == frozenset()
    with pytest.raises(UsageError, match="there is no builtin operator 'ADDER'"):
        module._operators("MUL,adder,ZEBRA")


def test_a_c_array_is_written_in_the_place_of_the_one_that_the_sketch_has(
    capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path
) -> None:
    data = path.read_bytes()
    sketch = tmp_path / "model.h"
    elements = ", ".join(f"0x{byte:02X}" for byte in data)
    sketch.write_text(f"alignas(8) const unsigned char g_model[] = {{ {elements} }};\nint g_model_len = {len(data)};\n")
    code, text, _ = run(capsys, "shrink", f"{sketch}:g_model", "-o", sketch)
    assert code == 2
    code, text, _ = run(
        capsys, "shrink", sketch, "-o", sketch, "--in-place", "--library", "ArduTFLite.h", "--target", "cortex-m4",
        "--target", "esp32-s3",
    )  # fmt: skip
    small = load(sketch)
    sizes = [smallest_arena(small, name, library="chirale").multiple_of_16 for name in ("cortex-m4", "esp32-s3")]
    lines = sketch.read_text().splitlines()
    assert code == 0
    assert lines[0].startswith(f"// tflm-sim: alignas(16) uint8_t tensor_arena[{sizes[0]}];  // on nano33ble-chirale: ")
    assert lines[1].startswith(f"// tflm-sim: alignas(16) uint8_t tensor_arena[{sizes[1]}];  // on esp32-s3: ")
    assert "// tflm-sim: resolver.AddConcatenation();" in lines
    assert lines[-2].startswith("alignas(8) const unsigned char g_model[] = { 0x")
    assert lines[-1] == f"int g_model_len = {len(small.source)};"
    assert f"tensor_arena[{sizes[0]}];  // on nano33ble-chirale: " in text
    assert f"tensor_arena[{sizes[1]}];  // on esp32-s3: " in text


def test_a_new_c_array_is_called_after_its_file(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path) -> None:
    assert run(capsys, "shrink", path, "-o", tmp_path / "small_model.cc", "--board", "pico")[0] == 0
    text = (tmp_path / "small_model.cc").read_text()
    assert "extern const unsigned int small_model_len;" in text
    needed = smallest_arena(load(tmp_path / "small_model.cc"), board="pico").multiple_of_16
    assert text.startswith(f"// tflm-sim: alignas(16) uint8_t tensor_arena[{needed}];")
    (tmp_path / "other.h").write_text("extern const unsigned char small_model[];\n")
    code, _, err = run(capsys, "shrink", path, "-o", tmp_path / "other.h", "--board", "pico")
    assert (code, "is not overwritten: it has no array that is a model" in err) == (2, True)
