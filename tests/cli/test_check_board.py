"""``check --board``: certain where the chip decides, 3 where only the firmware knows."""

import json

import pytest

from tflm_sim.cli import main


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
