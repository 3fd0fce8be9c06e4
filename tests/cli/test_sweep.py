"""``sweep`` around its rows: what is refused, how they are counted, and the lines about them."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from tflm_sim.answers.rows import Row
from tflm_sim.cli import main
from tflm_sim.extensions.sweep import cli as sweep
from tflm_sim.extensions.sweep.cli import Tally
from tflm_sim.extensions.sweep.tables import open_writer
from tflm_sim.samples import sample_path


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "9" * 5000])
def test_a_time_that_is_none_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    assert main(["sweep", "sample:sine", "-o", str(tmp_path / "r.csv"), f"--row-seconds={seconds}"]) == 2
    assert "' is not a time; write 60s, 500ms or 2m; see 'tflm-sim sweep --help'\n" in capsys.readouterr().err
    assert not (tmp_path / "r.csv").exists()


def test_what_is_missing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep"]) == 2
    assert "no models are given; name files, folders or patterns" in capsys.readouterr().err
    assert main(["sweep", "sample:sine"]) == 2
    assert "no output is given; add -o FILE (.csv, .jsonl or .parquet)" in capsys.readouterr().err


def test_a_plot_alone_is_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "sample:sine", "--plot", str(tmp_path / "p.svg"), "--jobs", "1"]) == 0
    assert 'aria-label="1 dots"' in (tmp_path / "p.svg").read_text()
    said = capsys.readouterr().out.replace("\n", " ")
    assert "1 models, 1 rows in " in said
    assert "not named, so assumed: --targets, --library, --kernels" in said
    assert main(["sweep", "sample:sine", "--targets", "cortex-m4", "--kernels", "reference", "--jobs", "1",
                 "-o", str(tmp_path / "r.csv")]) == 0  # fmt: skip
    assert "not named, so assumed: --library" in capsys.readouterr().out.replace("\n", " ")
    assert main(["sweep", "sample:sine", "--boards", "nano33ble", "--jobs", "1", "-o", str(tmp_path / "b.csv")]) == 0
    assert "--targets" not in capsys.readouterr().out


def test_a_list_on_stdin_is_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sweep, "sys", SimpleNamespace(stdin=io.StringIO("a\n\n  \nb\n")))
    assert list(sweep._names(["x", "-", "y"])) == ["x", "a", "b", "y"]
    (tmp_path / "sub").mkdir()
    for name in ("a.tflite", "b.tflite", "sub/c.tflite", "notes.md"):
        (tmp_path / name).write_bytes(sample_path("sine").read_bytes())
    assert sweep._files([str(tmp_path), f"{tmp_path}/a.tflite", f"{tmp_path}/*.tflite"]) == 3 + 1 + 2
    assert sweep._files([str(tmp_path), "-"]) is None


def row(model: str, status: str = "ok", error: str = "") -> Row:
    return Row(model, status=status, error=error)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(sweep, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_rows_are_counted_by_status_and_models_by_name(clock: list[float]) -> None:
    tally = Tally(())
    assert tally.lines() == ["0 models, 0 rows in 0.0 s (0 a second): none"]
    tally.count([row("a"), row("a"), row("b", "error", "e"), row("c", "unreadable")])
    clock[0] = 102
    assert tally.lines() == [
        "3 models, 4 rows in 2.0 s (2 a second): 2 ok, 1 error, 1 unreadable",
        "error: b: e",
        "unreadable: c",
    ]
    document = tally.document()
    assert (document.models, document.rows, document.statuses) == (3, 4, {"error": 1, "ok": 2, "unreadable": 1})
    assert (document.interrupted, document.schema_version, tally.read_none()) == (False, 1, False)
    tally.interrupted = True
    assert tally.lines()[0].startswith("interrupted: what is done is kept; --resume goes on. 3 models")
    nothing = Tally(())
    assert not nothing.read_none()
    nothing.count([row("a", "unreadable")])
    assert nothing.read_none()


def test_a_difference_is_the_worse_ones_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, sizes in (("a.csv", (16, 16)), ("b.csv", (32, 16)), ("none.csv", ())):
        writer = open_writer(tmp_path / name)
        writer.write([Row(f"m{number}", multiple_of_16=size) for number, size in enumerate(sizes)])
        writer.close()
    a, b, none = (str(tmp_path / name) for name in ("a.csv", "b.csv", "none.csv"))
    for pair, code, last in (
        ((a, b), 1, "1 changed, 1 for the worse"),
        ((b, a), 0, "1 changed, 0 for the worse"),
        ((a, a), 0, "0 changed, 0 for the worse"),
    ):
        assert main(["sweep", "--diff", *pair]) == code
        assert capsys.readouterr().out.splitlines()[-1] == last
    assert main(["sweep", "--diff", a, b, "--json"]) == 1
    assert '"worse": 1' in capsys.readouterr().out
    assert main(["sweep", "--diff", a, none]) == 2
    assert f"{none} holds no rows of a sweep" in capsys.readouterr().err.replace("\n    ", " ")
