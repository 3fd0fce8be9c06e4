"""``tflm-sim shrink --stream S``: the file, what is printed, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim import load, smallest_arena, verify
from tflm_sim.cli import main

SPOTTER = ("shrink", "sample:keyword_spotter", "--stream", "2", "--axis", "1")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_file_is_the_model_that_takes_the_new_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "stream.tflite"
    code, text, _ = run(capsys, *SPOTTER, "--for", "macs", "--target", "cortex-m4", "-o", str(file))
    assert code == 0
    assert text.splitlines()[-1] == f"{file} is written"
    assert "alignas(16) uint8_t tensor_arena[52576];" in text
    assert smallest_arena(file, "cortex-m4").size == 52576
    assert verify("sample:keyword_spotter", file, stream=2, axis=1).start_up == 25
    assert load(file).subgraphs[0].tensors[load(file).subgraphs[0].input_tensors[0]].dims == (1, 2, 10, 1)


def test_the_document_says_how_it_is_fed(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, *SPOTTER, "--for", "macs", "--json")[1])
    assert (document["input_shape"], document["frame_bytes"], document["start_up"]) == ([1, 2, 10, 1], 10, 25)
    assert document["feeding"][1] == "memcpy(interpreter.input(0)->data.raw, frames, 20);"
    assert document["targets"][0]["after"]["smallest_arena_bytes"] == 52576
    assert document["output"] is None


def test_an_arena_that_would_grow_is_refused_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "stream.tflite"
    code, text, errors = run(capsys, *SPOTTER, "-o", str(file))
    assert (code, text) == (1, "")
    assert "--for macs takes that for fewer multiply-accumulates: 52,576 B, and 1,105,408 a step" in errors
    assert not file.exists()


def test_a_header_gets_the_lines_that_feed_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "stream.h"
    assert run(capsys, *SPOTTER, "--for", "macs", "-o", str(file))[0] == 0
    assert "memcpy(interpreter.input(0)->data.raw, frames, 20);" in file.read_text("utf-8")
