"""``tflm-sim size`` on a source of the EON compiler, or an archive: figures, a document and a .tflite file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from zipfile import ZipFile

import jsonschema
import pytest
from eon_text import NPU, SMALL, eon_text

from tflm_sim.cli import main
from tflm_sim.extensions.eon.source import EonSource
from tflm_sim.samples import sample_path
from tflm_sim.schemas.generate import published


@pytest.fixture
def source(tmp_path: Path) -> str:
    return written(tmp_path, SMALL)


def written(folder: Path, source: EonSource) -> str:
    path = folder / "tflite_learn_5_compiled.cpp"
    path.write_text(eon_text(source), "utf-8")
    return str(path)


def document(argv: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, object]:
    assert main(["size", *argv, "--json"]) == code
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(published("eon")).validate(found)
    return found


def test_the_document_says_what_lies_where(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([source, "--target", "cortex-m4", "--kernels", "reference"], capsys)
    sizes = [(row["op"], row["kind"], row["bytes"]) for row in found["buffers"]]  # type: ignore[attr-defined]
    # In the order of the requests: OpData of both, multipliers and shifts of three channels, a sum for each output.
    assert sizes == [
        ("CONV_2D", "persistent", 56),
        ("MEAN", "persistent", 40),
        ("CONV_2D", "persistent", 12),
        ("CONV_2D", "persistent", 12),
        ("MEAN", "scratch", 12),
    ]
    assert found["arena_bytes"] == 512
    assert found["tensors_bytes"] == 80  # the last one has 48 bytes at 32
    assert found["operators_bytes"] == 160  # 64 + 48 + 3 x 16
    assert found["free_bytes"] == 512 - 80 - 160
    assert found["needed_arena_bytes"] == 80 + 160
    assert (found["heap_bytes"], found["ram_bytes"], found["works"]) == (0, 512, True)
    assert found["generated"] == "2024-02-09"
    assert found["assumed"] == ["--library"]


def test_the_text_is_about_the_same(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", source]) == 0
    verdict, title, target, *_ = capsys.readouterr().out.splitlines()
    assumed = "not named, so assumed: --target, --library, --kernels"
    assert verdict == f"yes: it works, and nothing goes to the heap; {assumed}"
    assert title == "tflite_learn_5_compiled.cpp: the EON compiler's source, generated 2024-02-09"
    assert "(edge-impulse@2023-11-15)" in target


def test_the_verdict_comes_first_and_with_it_what_would_keep_the_heap_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, replace(SMALL, arena_size=96, overflow_limit=1))
    remedy = "nothing goes to the heap with kTensorArenaSize = 256 (+160 B)"  # 80 + 64 + 48 + 4 x 16; 256 - 96
    for limit, code, begin in (("1", 4, "no: "), ("64", 0, "yes: it works, with ")):
        assert main(["size", path, "--target", "cortex-m4", "-D", f"EI_MAX_OVERFLOW_BUFFER_COUNT={limit}"]) == code
        verdict, second, *_ = capsys.readouterr().out.splitlines()
        assert verdict.startswith(begin)
        assert second == remedy


def test_past_the_limit_of_the_heap_the_initialisation_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, replace(SMALL, arena_size=96, overflow_limit=1))
    found = document([path, "--target", "cortex-m4"], capsys, code=4)
    assert "asks for buffer on the heap number 2" in str(found["failure"])
    assert "EI_MAX_OVERFLOW_BUFFER_COUNT" in str(found["failure"])
    assert document([path, "-D", "EI_MAX_OVERFLOW_BUFFER_COUNT=64"], capsys)["works"] is True


def test_a_model_for_an_npu_needs_its_kernel_and_keeps_its_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "npu_compiled.cpp"
    path.write_text(eon_text(NPU))
    assert main(["size", str(path), "--target", "cortex-m55"]) == 0
    said = capsys.readouterr().out
    assert "ethos-u #0          12  48 + 24  -" in said
    rebuilt = str(tmp_path / "npu.tflite")
    assert main(["size", str(path), "--to-tflite", rebuilt]) == 0
    assert main(["size", rebuilt, "--target", "cortex-m55", "--ethos-u"]) == 0
    assert "96 B of scratch in the head" in capsys.readouterr().out


def test_past_the_limit_of_scratch_buffers_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([written(tmp_path, replace(SMALL, scratch_limit=0))], capsys, code=4)
    assert "asks for scratch buffer number 1" in str(found["failure"])


def test_an_arena_that_does_not_hold_the_tensors_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([written(tmp_path, replace(SMALL, arena_size=64))], capsys, code=4)
    assert found["failure"] == "the arena does not hold the tensors: it says 'tensor arena is too small'"


def test_an_archive_gives_its_source(tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.write(source, "tflite-model/tflite_learn_5_compiled.cpp")
        archive.writestr("edge-impulse-sdk/porting/nothing.cpp", "int main() {}")
    assert document([str(path)], capsys)["source"] == f"{path}:tflite-model/tflite_learn_5_compiled.cpp"
    with ZipFile(path, "a") as archive:
        archive.write(source, "tflite-model/tflite_learn_9_compiled.cpp")
    assert main(["size", str(path)]) == 3
    assert "contains 2 sources of the EON compiler; name one of" in capsys.readouterr().err
    assert document([f"{path}:tflite-model/tflite_learn_9_compiled.cpp"], capsys)["arena_bytes"] == 512


def test_the_rebuilt_model_is_one_for_every_verb(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rebuilt.tflite"
    assert main(["size", source, "--to-tflite", str(path)]) == 0
    capsys.readouterr()
    assert main(["size", str(path), "--library", "edge-impulse@2023-11-15", "--json"]) == 0
    smallest = json.loads(capsys.readouterr().out)["smallest_arena_multiple_of_16"]
    assert document([source], capsys)["interpreter_arena_bytes"] == smallest


def test_a_source_of_2023_takes_the_bytes_that_it_asks_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, replace(SMALL, aligns=False, has_micro_context=False, generated=date(2023, 7, 1)))
    found = document([path, "--target", "cortex-m4", "--kernels", "reference"], capsys)
    assert found["target"]["runtime"]["snapshot"] == "edge-impulse@2023-06-30"  # type: ignore[index]
    asked = [row["bytes"] for row in found["buffers"]]  # type: ignore[attr-defined]
    # The OpData of TFLM's first version are 4 bytes shorter than those of 2023 in the test of the document.
    assert asked == [52, 36, 12, 12, 12]
    assert (found["operators_bytes"], found["needed_arena_bytes"]) == (124, 208)  # 80 + 124, rounded up to 16


OF_2020 = {
    "aligns": False,
    "has_micro_context": False,
    "has_eval_tensors": False,
    "overflow_limit": None,
    "scratch_limit": None,
    "generated": date(2020, 11, 9),
}


@pytest.mark.parametrize(
    ("kernels", "asked"),
    [
        ("reference", [40, 12, 12]),  # OpData, and two arrays of 3 int32
        ("cmsis_nn", [44, 12, 12, 8]),  # a pointer more, and 2 columns of 2 channels x 1 x 1 of int16
    ],
)
def test_a_source_of_2020_has_the_kernels_of_its_time(
    kernels: str, asked: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, replace(SMALL, **OF_2020))  # type: ignore[arg-type]
    found = document([path, "--kernels", kernels], capsys)
    assert found["target"]["runtime"]["snapshot"] == "edge-impulse@2020-12-24"  # type: ignore[index]
    assert [row["bytes"] for row in found["buffers"]] == asked  # type: ignore[attr-defined]
    assert found["interpreter_arena_bytes"] is None
    assert all(row["kind"] == "persistent" for row in found["buffers"])  # type: ignore[attr-defined]


def test_the_interpreter_of_2020_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "model.tflite")
    assert main(["size", written(tmp_path, SMALL), "--to-tflite", model]) == 0
    assert main(["size", model, "--library", "edge-impulse@2021-05-11"]) == 2
    assert "its interpreter of mid-2020 is not, and the nearest is edge-impulse@2021-08-31" in capsys.readouterr().err


def test_a_source_of_2022_keeps_any_number_of_buffers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = {"aligns": False, "has_micro_context": False, "overflow_limit": None, "scratch_limit": None}
    path = written(tmp_path, replace(SMALL, arena_size=80, generated=date(2022, 1, 1), **old))  # type: ignore[arg-type]
    found = document([path, "--kernels", "reference"], capsys)
    assert (found["works"], found["heap_bytes"]) == (True, 124)  # all five of the test above
    assert found["overflow"] == {"macro": "EI_MAX_OVERFLOW_BUFFER_COUNT", "asked": 5, "limit": None}
    assert main(["size", path]) == 0
    assert "6 asked for, any number kept" in capsys.readouterr().out  # CMSIS-NN's convolution has a scratch buffer


@pytest.mark.parametrize(
    ("change", "arguments", "code", "words"),
    [
        (
            {"has_eval_tensors": False},
            ["--library", "edge-impulse@2021-08-31"],
            3,
            "for an SDK before May 2021: it does not compile with edge-impulse@2021-08-31",
        ),
        (
            {"has_micro_context": False},
            ["--library", "edge-impulse@2021-07-07"],
            3,
            "for an SDK of May 2021 or later: it does not compile with edge-impulse@2021-07-07",
        ),
        (
            {"has_micro_context": False},
            ["--library", "edge-impulse@2024-06-24"],
            3,
            "for an SDK before August 2023: it does not compile with edge-impulse@2024-06-24",
        ),
        ({}, ["--library", "edge-impulse@2022-09-16"], 3, "for an SDK of August 2023 or later: it does not compile"),
        ({}, ["--library", "esp-tflite-micro"], 2, "is not Edge Impulse's SDK"),
        ({}, ["--target", "esp32", "--kernels", "esp_nn_ansi"], 2, "ESP-NN with its optimised code only"),
    ],
)
def test_what_is_not_modelled_is_refused(
    change: dict[str, bool],
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path, replace(SMALL, **change))  # type: ignore[arg-type]
    assert main(["size", path, *arguments]) == code
    assert words in capsys.readouterr().err


def test_a_source_of_another_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.cpp"
    path.write_text("int main() {}", "utf-8")
    assert main(["size", str(path), "--to-tflite", str(tmp_path / "out.tflite")]) == 3
    assert "there is no source of the EON compiler in it" in capsys.readouterr().err
    assert not (tmp_path / "out.tflite").exists()


def test_a_macro_has_a_name(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", source, "-D", "9=1"]) == 2
    assert "argument -D: '9=1' is neither NAME nor NAME=VALUE" in capsys.readouterr().err


def test_a_source_is_read_from_a_pipe_and_named_by_a_board(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", source, "--target", "cortex-m33"]) == 0
    _, _, *said = capsys.readouterr().out.splitlines()
    with open(source, "rb") as file:
        command = [sys.executable, "-m", "tflm_sim", "size", "-", "--target", "cortex-m33"]
        piped = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True).stdout
    assert piped.splitlines()[2:] == said
    found = document([source, "--board", "esp32-s3"], capsys)
    assert (found["target"]["name"], found["assumed"]) == ("esp32-s3", ["--library", "--kernels"])  # type: ignore[index]


def test_sources_and_models_are_sized_side_by_side(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "export.zip"
    with ZipFile(archive, "w") as file:
        file.write(source, "a_compiled.cpp")
        file.write(sample_path("sine"), "trained.tflite")
    names = [source, "sample:sine", f"{archive}:a_compiled.cpp", str(archive), "none.cpp"]
    assert main(["size", *names, "--jsonl"]) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row, schema in zip(rows, ("eon", "size", "eon", "size", "size"), strict=True):
        jsonschema.Draft202012Validator(published(schema)).validate(row)
    assert [row.get("arena_bytes") for row in rows] == [512, None, 512, None, None]
    assert main(["size", *names[:2]]) == 0
    said = capsys.readouterr().out
    assert said.index("yes: it works, and nothing goes to the heap") < said.index("smallest arena")


@pytest.mark.parametrize(
    ("verb", "options", "code", "words"),
    [
        ("size", ["--map"], 2, "--map applies to TFLM's interpreter, but"),
        ("size", ["--board", "pico", "--beside", "ble"], 2, "--beside applies to TFLM's interpreter"),
        ("size", ["--arena-size", "9"], 2, "--arena-size applies to TFLM's interpreter"),
        ("size", ["--interpreter", "recording"], 2, "--interpreter applies to TFLM's interpreter"),
        ("size", ["--custom-ops", "ops.py"], 2, "--custom-ops applies to TFLM's interpreter"),
        ("size", ["--to-tflite", "out.tflite", "--json"], 2, "--to-tflite does not go with --json"),
        ("size", ["second.cpp", "--to-tflite", "out.tflite"], 2, "the model of one source; 2 are given"),
        (
            "check",
            ["--limit", "1KiB"],
            3,
            "it looks like what Edge Impulse's EON compiler makes: 'tflm-sim size' reads it",
        ),
    ],
)
def test_what_is_about_the_interpreter_is_refused(
    verb: str, options: list[str], code: int, words: str, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, source, *options]) == code
    said = capsys.readouterr()
    assert words in said.err + said.out


def test_a_macro_for_a_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", "-D", "EI_MAX_OVERFLOW_BUFFER_COUNT=64"]) == 2
    assert "-D is for a source of the EON compiler, but " in capsys.readouterr().err


def test_another_source_is_what_it_was_for_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.cpp"
    path.write_text("int main() { return 0; }", "utf-8")
    assert main(["size", str(path)]) == 3
    assert "a source file without an array that is a model" in capsys.readouterr().err
