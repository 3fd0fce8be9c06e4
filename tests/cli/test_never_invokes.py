"""``size`` and ``check`` of models that TFLM allocates and can never invoke."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main

WILD = Path(__file__).resolve().parents[2] / "../shared/wild"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().out


@pytest.mark.shared("wild")
@pytest.mark.parametrize(("name", "words"), [
    ("cumsum_args__f32", "#1 ARG_MAX: Only int32_t are supported currently, got INT64."),
    ("resize_ops__q_a16w8", "#0 RESIZE_BILINEAR: Output type is 7, requires float or int8."),
    ("pads_mirror__q_a16w8", "#0 MIRROR_PAD: INT16 is not supported"),
])  # fmt: skip
def test_check_is_no_yes_and_size_says_it_first(capsys: pytest.CaptureFixture[str], name: str, words: str) -> None:
    path = str(WILD / f"{name}.tflite")
    assert run(capsys, "check", path, "--limit", "640KiB") == (1, f"no: allocates, but Invoke() fails: {words}\n")
    assert run(capsys, "size", path)[1].splitlines()[2] == f"allocates, but Invoke() fails: {words}"
    document = json.loads(run(capsys, "size", path, "--json")[1])
    assert (document["status"], document["invoke_problem"]["status"]) == ("ok", "error")
