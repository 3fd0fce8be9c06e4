"""The recipes of docs/recipes.md run as they stand there, and a SARIF document says what is not a yes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def run(title: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Execute the block of Python below a heading, in this folder; return what it defines."""
    text = PAGE.read_text("utf-8")
    (block,) = re.findall(rf"^## [^\n]*{title}[^\n]*\n+```python\n(.*?)^```", text, re.M | re.S)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(block, str(PAGE), "exec"), names)
    return names


@pytest.mark.nightly
def test_optuna_finds_the_best_trade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna")
    run("Optuna", tmp_path, monkeypatch)
    assert "'width'" in capsys.readouterr().out


@pytest.mark.nightly
def test_mlflow_logs_an_arena_for_each_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"file:{tmp_path / 'runs'}")
    run("MLflow", tmp_path, monkeypatch)
    (row,) = mlflow.search_runs(output_format="list")
    assert row.data.metrics["arena.cortex-m4"] == 55008


def test_a_model_card_gets_its_table_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("# Net\n\n<!-- arena -->old<!-- /arena -->\n\nThe end.\n")
    run("Hugging Face", tmp_path, monkeypatch)
    text = (tmp_path / "README.md").read_text()
    run("Hugging Face", tmp_path, monkeypatch)
    assert (tmp_path / "README.md").read_text() == text
    assert "| 55,008 B |" in text
    assert "old" not in text
    assert text.endswith("<!-- /arena -->\n\nThe end.\n")


def test_a_manifest_whose_arena_is_too_small_for_a_release_of_esphome_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate = run("wake word", tmp_path, monkeypatch)["validate"]
    (tmp_path / "word.tflite").write_bytes(sample_path("streaming").read_bytes())
    manifest = tmp_path / "word.json"
    manifest.write_text(json.dumps({"model": "word.tflite", "micro": {"tensor_arena_size": 13696}}))
    assert validate(manifest, "2026.6.5").answer == "yes"
    manifest.write_text(json.dumps({"model": "word.tflite", "micro": {"tensor_arena_size": 13600}}))
    with pytest.raises(ValueError, match="13600 is too small, 13696 bytes are needed"):
        validate(manifest, "2026.6.5")


@pytest.mark.parametrize(
    ("limit", "results"), [("64KiB", []), ("50KiB", [("arena-too-small", "error", "no: needs 55,008 B")])]
)
def test_code_scanning_gets_what_is_not_a_yes(
    tmp_path: Path, limit: str, results: list[tuple[str, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.sarif"
    main(["check", "sample:residual", "--limit", limit, "--sarif", str(path)])
    (document,) = json.loads(path.read_text())["runs"]
    found = [(row["ruleId"], row["level"], row["message"]["text"][:18]) for row in document["results"]]
    assert found == results
    assert {rule["id"] for rule in document["tool"]["driver"]["rules"]} == {"arena-too-small", "arena-unknown"}
