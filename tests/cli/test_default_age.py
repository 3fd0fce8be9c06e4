"""An answer for a default TFLM that is old by the clock says so on stderr, and nowhere else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tflm_sim.cli import main

LINE = (
    "TFLM of 2026-08-20 (90b983c2b) was assumed; it is 61 days old. Newer: --runtime 8f6596d (2026-10-23), or a newer "
    "tflm_sim (pip index versions tflm_sim)"
)


def on(day: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock."""
    seconds = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC).timestamp()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(seconds)))


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what a command prints to stderr, as one line."""
    main([*arguments])
    return " ".join(capsys.readouterr().err.split())


SIZE = ("size", "sample:sine", "--target", "cortex-m4")


def test_after_sixty_days_the_line_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on("2026-10-19", monkeypatch)
    assert told(capsys, *SIZE) == ""
    on("2026-10-20", monkeypatch)
    assert told(capsys, *SIZE) == LINE
    assert told(capsys, *SIZE[:3], "esp32", "--kernels", "reference") == LINE
    assert told(capsys, "size", "sample:sine") == LINE


@pytest.mark.parametrize(
    "command",
    [
        ("size", "sample:sine", "--target", "esp32"),
        ("size", "sample:sine", "--board", "esp32-s3"),
        ("diff", "sample:sine", "--target", "cortex-m4", "--target", "esp32"),
    ],
)
def test_no_runtime_is_offered_that_the_kernels_do_not_go_with(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ESP-NN comes with esp-tflite-micro: ``--runtime 8f6596d`` is refused there."""
    on("2026-10-20", monkeypatch)
    assert told(capsys, *command) == (
        "TFLM of 2026-08-20 (90b983c2b) was assumed; it is 61 days old. Newer: a newer tflm_sim "
        "(pip index versions tflm_sim)"
    )


def test_a_board_alone_has_a_row_with_a_day_for_each_library_instead(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on("2026-10-20", monkeypatch)
    assert told(capsys, "check", "sample:sine", "--board", "esp32-s3") == ""


@pytest.mark.parametrize(
    "named",
    [
        ("--runtime", "2026-08-20"),
        ("--runtime", "90b983c2b"),
        ("--library", "esp-tflite-micro@1.4.0"),
        ("--target", "esp32-s3-esphome"),
    ],
)
def test_where_a_tflm_is_named_there_is_no_line(
    named: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on("2027-10-20", monkeypatch)
    assert told(capsys, "size", "sample:sine", *named) == ""


def test_the_pip_wheels_default_has_a_day_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on("2026-12-22", monkeypatch)
    assert told(capsys, "size", "sample:sine", "--target", "x86_64-pip") == ""
    on("2026-12-24", monkeypatch)
    assert told(capsys, "size", "sample:sine", "--target", "x86_64-pip").startswith(
        "TFLM of 2026-10-23 (8f6596d) was assumed; it is 62 days old. Newer: a newer tflm_sim"
    )


def test_it_is_in_no_document_and_changes_no_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = []
    for day in ("2026-08-21", "2030-01-01"):
        on(day, monkeypatch)
        assert main([*SIZE, "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
        assert main(["report", "sample:sine", "-o", str(tmp_path / f"{day}.html")]) == 0
    assert documents[0] == documents[1]
    assert (tmp_path / "2026-08-21.html").read_bytes() == (tmp_path / "2030-01-01.html").read_bytes()


def test_a_project_a_document_and_a_list_say_themselves_which_tflm_they_are_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on("2030-01-01", monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("tflm-sim.toml").write_text(
        'models = ["sample:sine"]\n[[firmware]]\nname = "bell"\ntarget = "cortex-m4"\nlimit = "64KiB"\n'
    )
    assert main([*SIZE, "--json", "--runtime", "2026-08-20"]) == 0
    Path("size.json").write_text(capsys.readouterr().out)
    assert told(capsys, "check") == ""
    assert told(capsys, "diff", "size.json", "size.json") == ""
    assert told(capsys, "list", "targets") == ""
    assert told(capsys, "diff", "sample:sine", "sample:residual").startswith(
        "TFLM of 2026-08-20 (90b983c2b) was assumed"
    )
