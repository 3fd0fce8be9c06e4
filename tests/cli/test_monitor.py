"""``board listen`` and ``board replay`` around the board: when they end, and with which exit code."""

from __future__ import annotations

import argparse
import re
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.board import cli_listen as monitor
from tflm_sim.extensions.board import cli_replay as replay_on
from tflm_sim.extensions.board.link_events import Hello


def test_the_time_has_milliseconds() -> None:
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} ", monitor._utc())


def test_it_ends_after_the_seconds_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(monitor, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for_ever, in_time = monitor._until(None), monitor._until(2.5)
    for at, expected in ((100.0, True), (102.4, True), (102.5, False), (200.0, False)):
        now[0] = at
        assert (for_ever(), in_time()) == (True, expected)


def test_a_record_is_a_new_file(tmp_path: Any) -> None:
    path = tmp_path / "r.bin"
    monitor._open_record(str(path)).close()
    with pytest.raises(UsageError, match="exists; name another file to record to"):
        monitor._open_record(str(path))
    with pytest.raises(UsageError, match=r"absent/r\.bin cannot be written: No such file or directory$"):
        monitor._open_record(str(tmp_path / "absent" / "r.bin"))


def run(monkeypatch: pytest.MonkeyPatch, *, has_result: bool = True, code: int = 0, **given: Any) -> tuple[int, Any]:
    """Return the exit code, and how the port was watched."""
    printer = SimpleNamespace(exit_code=code, has_result=has_result, say="say", said=[])
    printer.say_all = printer.said.append
    watched = SimpleNamespace(printer=printer)
    known = dict.fromkeys(("timestamps", "quiet", "json", "live", "seconds", "exit_on_report", "record", "once"))
    monkeypatch.setattr(monitor, "expect_model", lambda _: given.get("expected"))
    monkeypatch.setattr(monitor, "header", lambda *_: ["for t"])
    monkeypatch.setattr(monitor, "EventPrinter", lambda *_, **__: printer)
    monkeypatch.setattr(monitor, "watch", lambda _, **how: vars(watched).update(how, keeps=how["keep_going"]()))
    return monitor.run(argparse.Namespace(**{**known, "port": "p", "arena_size": None, **given})), watched


@pytest.mark.parametrize(
    ("has_result", "exit_on_report", "code", "expected", "keeps"),
    [
        (True, False, 1, 1, True),
        (True, True, 1, 1, False),
        (False, True, 0, 3, True),
        (False, False, 0, 0, True),
        (True, True, 0, 0, False),
    ],
)
def test_without_a_report_it_is_inconclusive_where_one_was_waited_for(
    monkeypatch: pytest.MonkeyPatch, has_result: bool, exit_on_report: bool, code: int, expected: int, keeps: bool
) -> None:
    found, watched = run(monkeypatch, has_result=has_result, exit_on_report=exit_on_report, code=code)
    assert (found, watched.keeps, watched.on_status) == (expected, keeps, "say")


def test_what_is_expected_is_said_first_but_not_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SimpleNamespace(configuration="c")
    assert run(monkeypatch, expected=expected)[1].printer.said == [["for t"]]
    assert run(monkeypatch, expected=expected, json=True)[1].printer.said == []
    assert run(monkeypatch)[1].printer.said == []


def test_a_connection_is_looked_for_again_unless_once_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    assert run(monkeypatch)[1].reconnect is True
    assert run(monkeypatch, once=True)[1].reconnect is False
    _, watched = run(monkeypatch, record=str(tmp_path / "r.bin"), arena_size="2KiB")
    assert (watched.record.name, watched.arena_size) == (str(tmp_path / "r.bin"), 2048)
    assert run(monkeypatch)[1].record is None


def hello(room: int, buffers: int) -> Hello:
    return Hello(1, 0, "app", room, buffers)


def script(arena_size: int, buffers: int) -> Any:
    return SimpleNamespace(arena_size=arena_size, buffer_count=buffers, steps=range(9))


def test_a_board_has_room_to_the_byte_and_the_buffer() -> None:
    replay_on._check_room(hello(1024, 4), script(1024, 4))
    with pytest.raises(UsageError, match=r"^app has 1,023 B for an arena of 1,024 B$"):
        replay_on._check_room(hello(1023, 4), script(1024, 4))
    with pytest.raises(UsageError, match=r"^app plans up to 3 buffers, the model has 4$"):
        replay_on._check_room(hello(1024, 3), script(1024, 4))


def test_what_a_board_did_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    outcome: Any = SimpleNamespace(steps=7, head=1200, tail=3400, mark=4500, bad_bytes=0, bad_offset=0, mismatches=())
    replay_on._say(hello(1, 1), script(1024, 1), outcome)
    assert capsys.readouterr().out.splitlines() == [
        "app: 7 of 9 steps in an arena of 1,024 B",
        "head 1,200, tail 3,400, high-water mark 4,500 bytes",
        "memory check: every byte kept its pattern while its allocation was alive",
        "device and simulation agree on every offset and figure",
    ]
    mismatches = [SimpleNamespace(index=index, about="head", expected=5, got=6) for index in (-1, 0, 3)]
    outcome = SimpleNamespace(**{**vars(outcome), "bad_bytes": 1500, "bad_offset": 16, "mismatches": mismatches})
    replay_on._say(hello(1, 1), script(1024, 1), outcome)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2:] == ["memory check: 1,500 bytes were overwritten while in use, the first at 16"]
    assert printed.err.splitlines() == [
        f"{where}: head: simulation 5, device 6" for where in ("at the end", "step 0", "step 3")
    ]


@pytest.mark.parametrize(("mismatches", "code"), [((), 0), (("one",), 1)])
def test_the_arena_is_the_given_one_else_the_smallest(
    monkeypatch: pytest.MonkeyPatch, mismatches: tuple[str, ...], code: int
) -> None:
    asked: list[Any] = []
    port = SimpleNamespace(__enter__=lambda: None)
    monkeypatch.setattr(replay_on, "configuration", lambda _: "c")
    monkeypatch.setattr(replay_on, "load", lambda _: "m")
    monkeypatch.setattr(replay_on, "smallest_arena", lambda *_: SimpleNamespace(multiple_of_16=96))
    monkeypatch.setattr(replay_on, "simulate", lambda *_, arena_size: asked.append(arena_size))
    monkeypatch.setattr(replay_on, "replay_script", lambda _: "script")

    class Port:
        def __enter__(self) -> Any:
            return port

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(replay_on, "open_port", lambda *_, **__: Port())
    monkeypatch.setattr(replay_on, "Session", lambda _: SimpleNamespace(hello=lambda: "hello", ask=None))
    for name in ("_check_room", "_say"):
        monkeypatch.setattr(replay_on, name, lambda *_: None)
    monkeypatch.setattr(replay_on, "header", lambda *_: [])
    monkeypatch.setattr(replay_on, "run_script", lambda *_: SimpleNamespace(mismatches=mismatches))
    for size in (None, "2KiB"):
        assert replay_on.run(argparse.Namespace(model="m", arena_size=size, port="p", baud=1)) == code
    assert asked == [96, 2048]
