"""``tflm-sim diff`` and ``list boards``: outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tflm_sim.cli import main
from tflm_sim.schemas.generate import published
from tflm_sim.targets.boards import BOARDS

WAKE_WORD = "sample:streaming"
ESP_NN = ("--target", "esp32-s3", "--kernels", "esp_nn@1.2.0", "--kernels", "esp_nn@1.2.1")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_library_version_against_library_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "diff", WAKE_WORD, *ESP_NN)
    assert code == 0
    assert "target.kernels.version: 1.2.0 -> 1.2.1" in out
    assert "scratch in the head, by buffer" in out


def test_target_against_target(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("diff", "sample:sine", "--target", "cortex-m4", "--target", "x86_64", "--kernels", "reference")
    code, out, _ = run(capsys, *argv)
    assert code == 0
    assert out.splitlines()[3:9] == [
        "before  after  change  figure",
        " 1,068  1,608    +540  smallest arena",
        " 1,072  1,616    +544  its multiple of 16",
        "   676  1,184    +508  arena_used_bytes()",
        "    32     32       0  head (the plan)",
        "   644  1,152    +508  tail (persistent)",
    ]
    # Pointers of 8 bytes instead of 4: each TfLiteEvalTensor has 24 bytes instead of 12, and there are ten.
    assert "   120    240    +120  eval tensors" in out


def test_model_against_model(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "diff", "sample:sine", "sample:residual")
    assert code == 0
    assert "tensors in the head" in out


def test_the_document_follows_the_published_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "diff", WAKE_WORD, *ESP_NN, "--json")
    assert code == 0
    jsonschema.validate(json.loads(out), published("diff"))


def test_saved_documents_say_the_same_as_the_models(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, version in (("before", "1.2.0"), ("after", "1.2.1")):
        argv = ("size", WAKE_WORD, "--target", "esp32-s3", "--kernels", f"esp_nn@{version}", "--json")
        (tmp_path / f"{name}.json").write_text(run(capsys, *argv)[1], "utf-8")
    saved = run(capsys, "diff", str(tmp_path / "before.json"), str(tmp_path / "after.json"))
    assert saved == run(capsys, "diff", WAKE_WORD, *ESP_NN)
    mixed = run(capsys, "diff", str(tmp_path / "before.json"), WAKE_WORD, *ESP_NN[:2], "--kernels", "esp_nn@1.2.1")
    assert mixed == saved


def test_growth_fails_when_it_is_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "diff", WAKE_WORD, *ESP_NN, "--fail-on-increase")
    assert (code, out.splitlines()[-1]) == (1, "no: the smallest arena grew by 7,680 B, 0 B are allowed")
    code, out, _ = run(capsys, "diff", WAKE_WORD, *ESP_NN, "--fail-on-increase", "7679", "--json")
    assert (code, json.loads(out)["answer"]) == (1, "no")
    code, out, _ = run(capsys, "diff", WAKE_WORD, *ESP_NN, "--fail-on-increase", "7680")
    assert (code, out.splitlines()[-1]) == (0, "yes: the smallest arena did not grow by more than 7,680 B")


def test_a_model_that_stops_working_has_grown(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("diff", "sample:streaming", "--resource-variables", "20", "--resource-variables", "0")
    assert run(capsys, *argv)[0] == 0
    code, out, _ = run(capsys, *argv, "--fail-on-increase")
    assert (code, out.splitlines()[-1]) == (1, "no: now it fails in an arena of any size")
    backwards = ("diff", "sample:streaming", "--resource-variables", "0", "--resource-variables", "20")
    assert run(capsys, *backwards, "--fail-on-increase")[0] == 3


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("a.tflite", "b.tflite", "c.tflite"), "3 files are too many; give one before and one after"),
        (
            ("sample:sine", *("--target", "esp32") * 3),
            "--target is given 3 times; give it at most twice, for before and after",
        ),
        (("sample:sine",), "give one model with two settings, or two models, or --base COMMIT"),
        (("sample:sine", "--target", "esp32"), "give one model with two settings, or two models, or --base COMMIT"),
        (("sample:sine", "sample:sine", "--fail-on-increase", "1KB"), "ambiguous"),
        (("nowhere.json", "sample:sine"), "nowhere.json cannot be read: "),
    ],
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], message: str) -> None:
    code, _, err = run(capsys, "diff", *argv)
    assert code == 2
    assert message in err


def test_every_board_is_listed_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "boards")
    assert code == 0
    assert all(any(line.startswith(f"{name} ") for line in out.splitlines()) for name in BOARDS)
    rows = json.loads(run(capsys, "list", "boards", "--json")[1])
    assert [row["name"] for row in rows] == list(BOARDS)
    assert all(row["source"] for row in rows)


def test_a_program_is_compared_only_where_it_may_be_executed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "app.elf"
    program.write_bytes(b"\x7fELF" + bytes(60))
    code, _, err = run(capsys, "diff", "sample:sine", str(program))
    assert (code, err) == (
        2,
        f"tflm-sim diff: {program} is a linked program; add --executed to run it with its own model\n",
    )
