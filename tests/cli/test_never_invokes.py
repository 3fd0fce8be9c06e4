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
    code, out = run(capsys, "check", path, "--limit", "640KiB")
    assert (code, out.splitlines()[0]) == (1, f"no: allocates, but Invoke() fails: {words}")
    lines = run(capsys, "size", path)[1].splitlines()
    sizes = next(number for number, line in enumerate(lines) if line.startswith("smallest arena"))
    assert lines.index(f"allocates, but Invoke() fails: {words}") < sizes
    document = json.loads(run(capsys, "size", path, "--json")[1])
    assert (document["status"], document["invoke_problem"]["status"]) == ("ok", "error")


@pytest.mark.shared("wild")
@pytest.mark.parametrize("name", ["autoencoder_dense__q_a8w8", "autoencoder_dense__q_a16w8"])
def test_one_byte_less_is_said_to_fail_only_where_it_does(capsys: pytest.CaptureFixture[str], name: str) -> None:
    # The wheel passes from 5,752 B on, ends with a signal from 5,736 on, and fails below.
    path = str(WILD / f"{name}.tflite")
    said = run(capsys, "size", path, "--target", "x86_64-pip")[1]
    assert "smallest arena  5,768 B  passes unnoticed from 5,752 B, with bytes overwritten\n" in said
    document = json.loads(run(capsys, "size", path, "--target", "x86_64-pip", "--json")[1])
    assert (document["smallest_arena_bytes"], document["passes_unnoticed_from_bytes"]) == (5768, 5752)


@pytest.mark.shared("wild")
def test_a_null_bias_is_undefined_on_cmsis_nn_and_taken_by_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(WILD / "transpose_valid__q_a16w8.tflite")
    said = run(capsys, "size", path, "--target", "cortex-m4", "--kernels", "cmsis_nn")[1]
    assert "bias is a null pointer, which is read; what the device does is undefined" in said
    assert "halts" not in said
    assert run(capsys, "size", path, "--target", "cortex-m4", "--kernels", "reference")[0] == 0
