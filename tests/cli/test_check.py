"""``check``: which verdicts are printed, remembered and compared, and how a program's own measurement is one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.checks.verdict import Verdict, read_baseline
from tflm_sim.cli import check, main
from tflm_sim.device.configuration import configure
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS

SINE, M4, ESP32 = load("sample:sine"), configure("cortex-m4"), configure("esp32")
KEY = "sample:sine on cortex-m4 (reference, plain, greedy)"
NEEDED = 1072
"""Bytes of sine on a Cortex-M4 with reference kernels."""
CHECK = ("check", "--target", "cortex-m4", "--kernels", "reference", "--limit")


def verdict(needed: int | None = 16, fits: bool | None = True, key: str = "k", before: int | None = None) -> Verdict:
    return Verdict("m", key, needed, 100, fits, before)


def test_one_no_is_a_no_else_the_largest_code_counts() -> None:
    yes, no, unknown = verdict(), verdict(fits=False), verdict(fits=None)
    for rows, code in (([yes], 0), ([yes, unknown], 3), ([unknown, no, yes], 1), ([no], 1)):
        assert check._exit_code(rows) == code


def test_a_model_is_held_to_its_size_in_the_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.json"
    base = (*CHECK, "64KiB", "sample:sine", "--baseline", str(path))
    assert main([*base]) == 3
    assert "run once with --update-baseline, which writes it" in capsys.readouterr().out.replace("\n    ", " ")
    assert main([*base, "--update-baseline"]) == 0
    assert read_baseline(path) == {KEY: NEEDED}
    assert main([*base]) == 0
    path.write_text(json.dumps({"schema_version": 1, "sizes": {KEY: NEEDED - 16}}))
    capsys.readouterr()
    assert main([*base]) == 1
    assert "+16 B since the baseline of 1,056 B" in capsys.readouterr().out
    assert main([*base, "--update-baseline"]) == 0
    assert read_baseline(path) == {KEY: NEEDED}
    assert main(["check", "sample:sine", "--limit", "1", "--update-baseline"]) == 2
    assert "--update-baseline needs --baseline FILE" in capsys.readouterr().err


def test_what_the_baseline_has_instead_is_told() -> None:
    args = argparse.Namespace(baseline="b")
    once = "run once with --update-baseline, which writes it"
    known = {"m on a": 1, "m on b": 2, "m on c": 3, "n on a": 4}
    for given, sizes, words in (
        (verdict(None), {}, ""),
        (verdict(), {}, f"there is no size in b: {once}"),
        (verdict(), {"n on a": 4}, f"b has no size for k; {once}"),
        (verdict(), known, f"b has no size for k; it has that of a and b; {once}"),
    ):
        assert check._not_in_the_baseline(given, args, sizes) == words


def test_one_model_has_no_name_before_its_lines_and_several_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "64KiB", "sample:sine"]) == 0
    alone, *_, about = capsys.readouterr().out.splitlines()
    assert alone.startswith("yes: needs 1,072 B of 65,536 B")
    assert about.startswith("for cortex-m4: ")
    assert main([*CHECK, "64KiB", "sample:sine", "sample:residual"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head == "yes: all 2 fit; not named, so assumed: --library"
    assert first.startswith("sample:sine: yes: ")


def test_a_model_that_cannot_be_read_ends_a_check_of_one_and_is_a_row_of_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.tflite").write_bytes(b"no model")
    (tmp_path / "sine.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main([*CHECK, "64KiB", str(tmp_path / "cut.tflite")]) == 3
    printed = capsys.readouterr()
    assert (printed.out, bool(printed.err)) == ("", True)
    assert main([*CHECK, "64KiB", str(tmp_path)]) == 3
    printed = capsys.readouterr()
    assert "1 of 2 cannot be told; the others fit" in printed.out
    assert printed.err == ""


def test_json_names_what_was_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "64KiB", "sample:sine", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["assumed"], document["fits"]) == (["--library"], True)
    assert "libraries" not in document
    assert main(["check", "sample:sine", "--board", "nano33ble", "--ram-free", "64KiB", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["assumed"], len(document["libraries"])) == (["--library"], len(BOARDS["nano33ble"].libraries))


def options(**given: Any) -> argparse.Namespace:
    known = dict.fromkeys(("target", "firmware", "library", "runtime", "kernels"))
    return argparse.Namespace(**{**known, **given})


def test_markdown_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    assert main([*CHECK, "64KiB", "sample:sine", "--markdown", str(path)]) == 0
    text = path.read_text()
    assert text.startswith("before\n### ✅ `sample:sine`")
    assert text.split("\n\n")[-2].startswith("- `for cortex-m4: ")
