"""``check --board``: certain where the chip decides, 3 where only the firmware knows."""

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", "sample:sine", *arguments])
    return code, capsys.readouterr().out


def test_the_firmware_says_how_much_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--board", "nano33ble", "--ram-free", "180KiB")[0] == 0
    code, out = run(capsys, "--board", "nano33ble", "--ram-free", "1000")
    assert code == 1
    assert out.startswith("no: needs 1,")


def test_without_the_firmware_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "nano33ble")
    assert code == 3
    assert "--ram-free" in out
    assert json.loads(run(capsys, "--board", "nano33ble", "--json")[1])["fits"] is None


def test_what_no_bank_holds_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "sample:mobilenet_v1_025", "--board", "nicla-sense-me"])
    out = capsys.readouterr().out
    assert code == 1
    assert "the largest bank (RAM) has 65,536 B" in out.replace(" (64.0 KiB)", "")


def test_ram_free_goes_with_a_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--limit", "64K", "--ram-free", "64K")[0] == 2


def test_a_named_target_is_not_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "nano33ble", "--target", "cortex-m4", "--kernels", "reference", "--json")
    assert code == 3
    assert json.loads(out)["target"]["name"] == "cortex-m4"
    assert main(["check", "sample:sine", "--board", "nano33ble", "--target", "x86_64"]) == 2
    assert "nano33ble runs" in capsys.readouterr().err


def test_the_flash_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model of 600 kB does not fit into a board with 512 KiB of flash, however small its arena is."""
    model = tmp_path / "large.tflite"
    model.write_bytes(sample_path("sine").read_bytes() + bytes(600_000))
    assert main(["check", str(model), "--board", "nicla-sense-me", "--ram-free", "32KiB"]) == 1
    assert "the file alone has 60" in capsys.readouterr().out


def test_no_more_can_be_free_than_the_chip_has(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "sample:sine", "--board", "nicla-sense-me", "--ram-free", "8MiB"]
    assert main(arguments) == 2
    assert "is more than nicla-sense-me has: RAM 64 KiB" in capsys.readouterr().err
    assert main([*arguments, "--external-ram"]) == 0


def test_without_ram_free_the_boards_memory_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nicla-sense-me has RAM 64 KiB" in run(capsys, "--board", "nicla-sense-me")[1]


def test_several_models_are_judged_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(b"not a model")
    code = main(["check", str(bad), "sample:sine", "sample:keyword_spotter", "--limit", "4KiB"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert [line.split(": ")[0] for line in lines] == [str(bad), "sample:sine", "sample:keyword_spotter"]
    assert main(["check", str(bad), "sample:sine", "--limit", "4KiB", "--json"]) == 3
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["fits"] for row in documents] == [None, True]
    assert all(row["schema_version"] == 1 and row["target"]["name"] == "cortex-m4" for row in documents)
    assert documents[1]["model"]["bytes"] == sample_path("sine").stat().st_size


@pytest.mark.parametrize("verb", ["targets", "boards", "ops"])
def test_a_table_fits_a_terminal_of_80_columns(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([verb]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    "argv", [["size"], ["plan"], ["lifetimes"], ["check", "--limit", "1"]], ids=lambda argv: argv[0]
)
def test_every_line_fits_a_terminal_of_80_columns(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("tflm_sim.cli.terminal.is_shown", lambda: True)
    main([argv[0], "sample:mobilenet_v1_025", *argv[1:]])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_what_proves_a_target_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["targets"]) == 0
    assert "cm4_ref" not in (out := capsys.readouterr().out)
    assert "real TFLM, Cortex-M4 in qemu, CMSIS-NN kernels" in out
