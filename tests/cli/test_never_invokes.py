"""Every verdict on models that TFLM allocates and can never invoke: none is a yes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.build import ModelBuilder, offline_plan
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import TensorType

WILD = Path(__file__).resolve().parents[2] / "../shared/wild"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().out


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """MIRROR_PAD of int16, which Prepare takes and Eval does not know; it takes 704 B on a Cortex-M4."""
    builder = ModelBuilder()
    tensor = builder.tensor((4, 4), TensorType.INT16, scale=0.5)
    paddings = builder.tensor((2, 2), TensorType.INT32, data=bytes(16))
    result = builder.tensor((4, 4), TensorType.INT16, scale=0.5)
    builder.operator("MIRROR_PAD", [tensor, paddings], [result])
    path = tmp_path / "mirror.tflite"
    path.write_bytes(builder.build(inputs=[tensor], outputs=[result]))
    return str(path)


def test_a_row_of_a_sweep_has_the_sizes_and_is_not_ok(capsys: pytest.CaptureFixture[str], mirror: str) -> None:
    run(capsys, "sweep", mirror, "--boards", "nano33ble", "-o", f"{mirror}.jsonl")
    row = json.loads(Path(f"{mirror}.jsonl").read_text("utf-8"))
    assert (row["status"], row["fits"]) == ("never-invokes", False)
    assert row["error"] == "allocates, but Invoke() fails: #0 MIRROR_PAD: INT16 is not supported"
    assert row["smallest_arena"] <= row["multiple_of_16"] < row["limit"]


def test_no_board_of_a_comparison_runs_it(capsys: pytest.CaptureFixture[str], mirror: str) -> None:
    code, out = run(capsys, "size", mirror, "--boards", "nano33ble,pico")
    assert (code, out.count("no: Invoke()")) == (1, 2)
    assert "nano33ble, pico: allocates, but Invoke() fails: #0 MIRROR_PAD: INT16 is not supported" in out


def test_check_advises_no_smaller_arena_for_it(capsys: pytest.CaptureFixture[str], mirror: str) -> None:
    code, out = run(capsys, "check", mirror, "--limit", "640")
    assert (code, "shrink" in out) == (1, False)


@pytest.mark.parametrize(
    "words",
    [
        ("size", "--json"), ("size", "--jsonl"), ("size",), ("report", "-o", "r.svg"), ("trace", "--invoke", "1"),
        ("shrink", "--goal", "64KiB"),
    ],
)  # fmt: skip
def test_figures_of_it_have_the_exit_code_of_what_fails_in_tflm(
    words: tuple[str, ...], mirror: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(mirror).parent)
    assert main([words[0], mirror, *words[1:]]) == 4
    assert "MIRROR_PAD" in "".join(capsys.readouterr())


def test_beside_what_is_on_a_board_it_is_a_no(mirror: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "size", mirror, "--board", "nano33ble", "--library", "chirale", "--beside", "ble", "--json")
    assert (code, json.loads(out)["answer"]) == (4, "no")


def test_what_overlaps_in_it_is_found_all_the_same(mirror: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(mirror)
    path.write_bytes(with_metadata(path.read_bytes(), OFFLINE_MEMORY_ALLOCATION, offline_plan([0, -1, 0])))
    code, out = run(capsys, "trace", mirror, "--invoke", "1")
    assert (code, out.count("[live-buffers-overlap]"), out.count("but Invoke() fails")) == (4, 1, 1)


@pytest.mark.shared("wild")
@pytest.mark.parametrize(("name", "words"), [
    ("cumsum_args__f32", "#1 ARG_MAX: Only int32_t are supported currently, got INT64."),
    ("resize_ops__q_a16w8", "#0 RESIZE_BILINEAR: Output type is 7, requires float or int8."),
    ("pads_mirror__q_a16w8", "#0 MIRROR_PAD: INT16 is not supported"),
])  # fmt: skip
def test_check_is_no_yes_and_size_says_it_first(capsys: pytest.CaptureFixture[str], name: str, words: str) -> None:
    path = str(WILD / f"{name}.tflite")
    code, out = run(capsys, "check", path, "--limit", "640KiB")
    assumed = "not named, so assumed: --target, --library, --kernels"
    assert (code, out.splitlines()[0]) == (1, f"no: allocates, but Invoke() fails: {words}; {assumed}")
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
