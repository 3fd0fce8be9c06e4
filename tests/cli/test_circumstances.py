"""Every answer says for what it is found: TFLM's day, the kernels, and which options were not named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.size_boards import OTHER_LIBRARIES

SINE = "sample:sine"
REFERENCE = ("--kernels", "reference")
FIRST = "for cortex-m4 (not named, so assumed: "
SECOND = "TFLM of 2026-08-20 (90b983c2b), reference"
LINE = f"for cortex-m4: {SECOND}"


@pytest.mark.parametrize("arguments", [
    ("size", SINE, "--arena-size", "4KiB"),
    ("size", SINE, "--map"),
    ("trace", SINE),
    ("trace", SINE, "--lifetimes"),
    ("trace", SINE, "--invoke", "2"),
    ("report", SINE, "--tensor", "input"),
    ("plan", SINE),
])  # fmt: skip
def test_the_first_line_says_it(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, *REFERENCE]) == 0
    verdict = "--arena-size" in arguments  # a question of yes or no, which is answered first
    assert capsys.readouterr().out.splitlines()[verdict : verdict + 2] == [f"{FIRST}--target, --library)", SECOND]
    named = ("--target", "cortex-m4", "--runtime", "2023-06-15")
    assert main([*arguments, *REFERENCE, *named]) == 0
    assert "not named" not in capsys.readouterr().out


def test_a_diff_says_it_of_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", SINE, SINE, *REFERENCE, "--target", "cortex-m4"]) == 0
    sides = capsys.readouterr().out.splitlines()[:2]
    assert all(" sine.tflite on cortex-m4 (not named, so assumed: --library), TFLM of 2026" in line for line in sides)


def test_shrink_names_the_options_that_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    main(["shrink", SINE, *REFERENCE])
    assert capsys.readouterr().out.splitlines()[:2] == [f"{FIRST}--target, --library)", SECOND]


def test_tables_of_targets_name_each_tflm_and_kernel_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", SINE, "--targets", "riscv32,cortex-m0plus"]) == 0
    line = "for TFLM of 2026-08-20 (90b983c2b), with the kernels of each target: "
    said = capsys.readouterr().out.splitlines()[:2]
    assert said == [f"{line}reference, cmsis_nn@4ab83cc (scalar)", OTHER_LIBRARIES]
    assert main(["sweep", SINE, *REFERENCE, "-o", str(tmp_path / "rows.csv")]) == 0
    summary, said = capsys.readouterr().out.splitlines()
    assert summary.endswith(": 1 ok; not named, so assumed: --targets, --library")
    assert said == f"{line}reference"


@pytest.mark.parametrize("arguments", [
    ("size", SINE),
    ("size", SINE, "--arena-size", "4KiB"),
    ("check", SINE, "--limit", "4KiB"),
    ("trace", SINE, "--lifetimes"),
    ("plan", SINE),
    ("explain", "Failed to allocate tail memory. Requested: 64, available 0, missing: 64", "--model", SINE),
])  # fmt: skip
def test_documents_list_what_was_not_named(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, *REFERENCE, "--json"]) == (arguments[0] == "explain")
    assert json.loads(capsys.readouterr().out)["assumed"] == ["--target", "--library"]


def test_bisect_which_tries_versions_assumes_target_and_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", SINE, "--between", "2021-04-09", "--and", "2021-06-20", "--json"])
    assert json.loads(capsys.readouterr().out)["assumed"] == ["--target", "--kernels"]


@pytest.mark.parametrize("form", ["svg", "html"])
def test_a_picture_says_it_in_its_title(form: str, tmp_path: Path) -> None:
    out = tmp_path / f"picture.{form}"
    assert main(["report", SINE, *REFERENCE, "-o", str(out)]) == 0
    title = "TFLM of 2026-08-20 (90b983c2b), reference kernels"
    assert f"cortex-m4 (not named, so assumed: --target, --library), {title}" in out.read_text("utf-8")


def test_a_summary_of_ci_says_it_in_its_heading(tmp_path: Path) -> None:
    out = tmp_path / "summary.md"
    assert main(["check", SINE, *REFERENCE, "--limit", "4KiB", "--markdown", str(out)]) == 0
    text = out.read_text("utf-8")
    assert text.startswith("### ✅ `sample:sine`; not named, so assumed: --target, --library\n")
    assert text.endswith(f"\n- `{LINE}`\n\n")


def test_between_says_it_beside_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", SINE, "--between", "2022-09-18", "--and", "2022-09-20"])
    assert capsys.readouterr().out.startswith(
        "smallest arena on cortex-m4 (not named, so assumed: --target, --kernels), reference kernels\n"
    )
