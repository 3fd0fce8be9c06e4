"""``check --baseline``, ``--update-baseline``, ``--markdown``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main

SINE = ("check", "sample:sine", "--limit", "64KiB", "--kernels", "reference")
KEY = "sample:sine on cortex-m4 (reference, plain, greedy)"


def test_a_model_that_grew_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(json.dumps({"schema_version": 1, "sizes": {KEY: 1000}}))
    assert main([*SINE, "--baseline", str(path)]) == 1
    assert "+72 B since the baseline of 1,000 B" in capsys.readouterr().out


def test_a_model_that_shrank_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(json.dumps({"schema_version": 1, "sizes": {KEY: 2000}}))
    assert main([*SINE, "--baseline", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["growth"] == -928


def test_updating_keeps_the_other_models(tmp_path: Path) -> None:
    path = tmp_path / "sizes.json"
    path.write_text(json.dumps({"schema_version": 1, "sizes": {"other": 7, KEY: 1}}))
    assert main([*SINE, "--baseline", str(path), "--update-baseline"]) == 0
    assert json.loads(path.read_text()) == {"schema_version": 1, "sizes": {"other": 7, KEY: 1072}}


def test_a_model_that_does_not_fit_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "sizes.json"
    arguments = [*SINE[:2], "--limit", "1000", "--baseline", str(path), "--update-baseline"]
    assert main(arguments) == 1
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"sizes": {"a": "b"}, "schema_version": 1}', '{"sizes": {}}'])
def test_a_file_that_is_no_baseline(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sizes.json").write_text(text)
    assert main([*SINE, "--baseline", str(tmp_path / "sizes.json")]) == 2
    assert str(tmp_path / "sizes.json") in capsys.readouterr().err


def test_updating_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SINE, "--update-baseline"]) == 2
    assert "--update-baseline needs --baseline FILE" in capsys.readouterr().err


def test_markdown_keeps_strangers_names_in_their_cells(tmp_path: Path) -> None:
    from tflm_sim.checks.verdict import Verdict
    from tflm_sim.report.verdict_text import verdict_markdown

    text = verdict_markdown(Verdict("a`|<b>\n.tflite", "a on cortex-m4 (x)", 1072, 2048, True))
    assert text.splitlines()[0] == "### ✅ `a\\x60\\x7c<b>\\x0a.tflite`"
    assert text.splitlines()[4] == "| 1,072 B | 2,048 B | - | `cortex-m4 (x)` |"


def test_a_baseline_that_is_not_there_is_not_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "typo.json"
    assert main([*SINE, "--baseline", str(path)]) == 3
    said = f"not compared: there is no size in {path}: run once with --update-baseline, which writes it"
    assert said in capsys.readouterr().out.splitlines()
    assert main([*SINE, "--baseline", str(path), "--update-baseline"]) == 0
    assert main([*SINE, "--baseline", str(path)]) == 0


def test_a_size_of_another_library_or_target_is_not_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "sizes.json")
    assert main([*SINE, "--library", "zephyr@v3.6.0", "--baseline", path, "--update-baseline"]) == 0
    key = "sample:sine on cortex-m4 (reference, plain, greedy, zephyr@v3.6.0)"
    assert json.loads(Path(path).read_text())["sizes"] == {key: 1056}
    capsys.readouterr()
    for options in (("--library", "zephyr@v4.4.0"), ("--target", "cortex-m4"), ("--target", "esp32")):
        assert main([*SINE, *options, "--baseline", path, "--json"]) == 3
        document = json.loads(capsys.readouterr().out)
        assert document["baseline"] is None
        assert (
            "it has that of cortex-m4 (reference, plain, greedy, zephyr@v3.6.0); run once"
            in (document["missing_baseline"])
        )
