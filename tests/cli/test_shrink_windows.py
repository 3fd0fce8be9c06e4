"""``tflm-sim shrink --stream S --advise``: what a window that moves on has in common with the one before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main

SPOTTER = ("shrink", "sample:keyword_spotter", "--stream", "2", "--advise", "--axis", "1")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_says_by_operator_and_step_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, errors = run(capsys, *SPOTTER)
    assert (code, errors) == (0, "")
    lines = text.splitlines()
    assert lines[0] == (
        "keyword_spotter.tflite: when its window of 49 frames moves on by 2 frames, 1,105,408 of 2,656,768 "
        "multiply-accumulates are new (41.6 %)"
    )
    assert "#0 CONV_2D               8,000    320,000    100.0 %   24.0 %   28.0 %   36.0 %" in lines
    assert "#8 CONV_2D               8,000    512,000    100.0 %   56.0 %   60.0 %   68.0 %" in lines
    assert "MACs in all                     2,656,768    100.0 %   41.6 %   45.6 %   53.6 %" in lines


def test_the_document_has_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, *SPOTTER, "--json")[1])
    assert (document["window_shape"], document["axis"], document["step"]) == ([1, 49, 10, 1], 1, 2)
    steps = [(each["step"], each["new_macs"]) for each in document["steps"]]
    assert steps == [(1, 2_656_768), (2, 1_105_408), (4, 1_211_648), (8, 1_424_128)]
    first = document["operators"][0]
    assert (first["operator"], first["macs"], first["elements"]) == ("CONV_2D", 320_000, 8_000)
    assert [each["new_elements"][0] for each in document["steps"]] == [8_000, 1_920, 2_240, 2_880]


def test_the_picture_has_a_row_for_each_operator_that_multiplies(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "stream.svg"
    assert run(capsys, *SPOTTER, "--picture", str(file))[0] == 0
    drawn = file.read_text("utf-8")
    assert "1,105,408 of 2,656,768 multiply-accumulates are new" in drawn
    assert drawn.count(">#") == 10
    assert ">76,800 of 320,000<" in drawn


@pytest.mark.parametrize(("options", "words"), [
    (("--advise",), "--advise needs --stream S, the frames by which the window moves on"),
    (("--for", "macs"), "--for needs --stream S"),
    (("--axis", "1"), "--axis needs --stream S"),
    (("--stream", "2", "--axis", "1", "--picture", "x.svg"), "--picture needs --advise"),
    (("--stream", "2", "--axis", "1", "--loops"), "--stream does not go with --loops; remove one of them"),
    (("--stream", "2", "--axis", "1", "--max-macs", "2"), "--stream does not go with --max-macs"),
    (("--stream", "2", "--advise"), "can move along the axes 1 (of 49) and 2 (of 10); name it with --axis"),
    (("--stream", "2", "--advise", "--target", "cortex-m4"), "--advise does not go with --target"),
    (("--stream", "2", "--advise", "-o", "out.tflite"), "--advise does not go with --output"),
    (("--stream", "0", "--advise"), "0"),
])  # fmt: skip
def test_what_does_not_go_together_is_said(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    code, _, errors = run(capsys, "shrink", "sample:keyword_spotter", *options)
    assert code == 2
    assert words in errors
