"""``board listen`` on pairs of pseudo-terminals: one is the board's port, another the user's screen."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.extensions.board.transport import SerialPort, open_port

MARK = "[RecordingMicroAllocator] Arena allocation"
REPORT = f"boot\r\n{MARK} total 928 bytes\r\n{MARK} head 64 bytes\r\n{MARK} tail 864 bytes\r\n".encode()


@contextmanager
def board() -> Iterator[tuple[int, str]]:
    """Return the board's end of a port, and the port's path."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    try:
        yield master, os.ttyname(slave)
    finally:
        for end in (master, slave):
            with suppress(OSError):
                os.close(end)


@pytest.fixture
def at_each_opening(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a board do something as soon as the monitor has its port: one action an opening."""

    def arrange(*actions: Callable[[], object]) -> None:
        still_to_do = iter(actions)

        def open_and_act(name: str, *, baud: int) -> SerialPort:
            port = open_port(name, baud=baud)  # What was there before is dropped by pyserial.
            threading.Thread(target=next(still_to_do, lambda: None), daemon=True).start()
            return port

        monkeypatch.setattr("tflm_sim.extensions.board.cli_listen.open_port", open_and_act)

    return arrange


Arrange = Callable[..., None]


def rows_of(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[dict]]:
    code = main(["board", "listen", *argv, "--json", "--seconds", "20", "--exit-on-report"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_report_ends_the_monitor_and_every_line_has_a_time(
    capsys: pytest.CaptureFixture[str], at_each_opening: Arrange
) -> None:
    with board() as (master, path):
        at_each_opening(lambda: os.write(master, REPORT))
        code, rows = rows_of(capsys, path, "--timestamps")
    assert code == 0
    assert rows[0]["text"] == "boot"
    (report,) = [row for row in rows if row["event"] == "AllocationReport"]
    assert (report["total"], report["head"], report["tail"]) == (928, 64, 864)
    assert all(len(row["time"]) == len("12:34:56.789") for row in rows)


def test_a_report_that_the_first_one_cuts_off_does_not_count(
    capsys: pytest.CaptureFixture[str], at_each_opening: Arrange
) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/board.md").read_text("utf-8")
    report = "".join(f"{line}\r\n" for line in re.findall(r"^    (\$TSIM,.*)$", page, re.MULTILINE))
    with board() as (master, path):
        at_each_opening(lambda: os.write(master, (report + report[:200]).encode()))
        code, rows = rows_of(capsys, path)
    assert (code, [row["event"] for row in rows]) == (0, ["ArenaReport"])


def test_a_trace_pin_is_read(capsys: pytest.CaptureFixture[str], at_each_opening: Arrange) -> None:
    packets = b"".join(b"\x01" + bytes([byte]) for byte in REPORT)
    with board() as (master, path):
        at_each_opening(lambda: os.write(master, bytes(5) + b"\x80" + packets))
        code, rows = rows_of(capsys, path, "--swo")
    assert (code, rows[0]["text"]) == (0, "boot")


def test_a_board_that_comes_back_as_another_device_is_followed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, at_each_opening: Arrange
) -> None:
    link, record = tmp_path / "by-id", tmp_path / "run.log"
    before = b"before\r\nhalf a li"
    with board() as (first, first_path), board() as (second, second_path):
        link.symlink_to(first_path)

        def unplug() -> None:
            os.write(first, before)
            while not record.exists() or record.stat().st_size < len(before):
                time.sleep(0.01)  # What nobody has read yet goes with the port.
            link.unlink()
            link.symlink_to(second_path)
            os.close(first)

        at_each_opening(unplug, lambda: os.write(second, REPORT))
        code, rows = rows_of(capsys, str(link), "--record", str(record))
    said = [row["text"] for row in rows if row["event"] in ("Text", "Status")]
    assert code == 0
    assert said[0] == "before"
    assert record.read_bytes() == before + REPORT
    assert any("the connection is lost" in text for text in said)
    assert said.index("connected again") < said.index("boot")


def test_the_live_view_keeps_what_was_recognised_on_the_screen() -> None:
    screen, terminal = pty.openpty()
    with board() as (master, path):
        command = [sys.executable, "-m", "tflm_sim", "board", "listen", path, "--live", "--seconds", "60"]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
        child = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
        os.close(terminal)
        shown = read_until(screen, b"nothing recognised yet")
        os.write(master, b"\x1b[2J<b>hello</b>\r\n" + REPORT)
        shown += read_until(screen, b"1 reports, 0 different")
        child.send_signal(signal.SIGINT)
        shown += read_until(screen, b"tflm-sim| lines 3-5")
        child.wait(timeout=20)
    os.close(screen)
    assert b"<b>hello</b>" in shown
    assert b"\x1b[2J" not in shown  # The board's control sequences do not reach the screen.
    assert b"total 928, head 64, tail 864" in shown


def read_until(screen: int, wanted: bytes) -> bytes:
    """Return what a terminal shows until it shows this; a minute is long enough for any machine."""
    shown, end = b"", time.monotonic() + 60
    while wanted not in shown:
        assert time.monotonic() < end, shown.decode("utf-8", "replace")[-2000:]
        shown += os.read(screen, 4096)
    return shown


def test_without_a_terminal_the_live_view_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", "listen", "loop://", "--live"]) == 2
    assert "--live needs a terminal" in capsys.readouterr().err


def test_a_pipe_is_read_as_it_comes() -> None:
    command = [sys.executable, "-m", "tflm_sim", "board", "read", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"x" * 100 + b"\r\n" + REPORT)
        child.stdin.flush()
        assert child.stdout.readline() == b"x" * 100 + b"\n"  # Though the pipe stays open.
        child.stdin.close()
        assert b"total 928, head 64, tail 864" in child.stdout.read()
