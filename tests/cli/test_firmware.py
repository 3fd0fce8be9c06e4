"""``firmware``: which models are judged, what is refused, and which exit code speaks for all."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware import cli as module
from tflm_sim.extensions.firmware.reading.symbol_names import ArenaSymbol
from tflm_sim.extensions.firmware.rooms import ArenaRoom


def args(**given: Any) -> argparse.Namespace:
    names = ("target", "kernels", "runtime", "library", "interpreter", "planner", "resource_variables", "ram", "model")
    known = dict.fromkeys((*names, "arena_symbol", "limit", "arena_address"))
    return argparse.Namespace(**{**known, "elf": "app.elf", "json": False, "into": 0, **given})


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what is said."""
    found: list[Any] = []
    monkeypatch.setattr(module, "_say", lambda *given, **more: found.append((given, more)))
    return found


@pytest.mark.parametrize(("answers", "code"), [("yes yes", 0), ("yes if", 3), ("no cannot", 1), ("if no", 1), ("", 0)])
def test_a_no_speaks_for_all_then_what_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, said: list[Any], answers: str, code: int
) -> None:
    left = iter(answers.split())
    asked: list[Any] = []

    def judge(*_: Any, settled: frozenset[str]) -> Any:
        asked.append(settled)
        return SimpleNamespace(answer=next(left).replace("cannot", "cannot tell"))

    target = SimpleNamespace(alternatives=("t",), conditions=())
    monkeypatch.setattr(module, "_subjects", lambda *_: answers.split())
    monkeypatch.setattr(module, "firmware_target", lambda *_, **__: target)
    monkeypatch.setattr(module, "configuration", lambda *_, **__: "c")
    monkeypatch.setattr(module, "judge", judge)
    assert module._judged(SimpleNamespace(), args(planner="greedy", resource_variables=0)) == code  # type: ignore[arg-type]
    assert {*asked} <= {frozenset({"planner", "resource_variables"})}
    assert len(said) == 1


def test_a_file_that_does_not_say_what_it_is_is_told_with_its_reasons(
    monkeypatch: pytest.MonkeyPatch, said: list[Any]
) -> None:
    def target(*_: Any, **__: Any) -> Any:
        raise FirmwareError("nobody knows")

    monkeypatch.setattr(module, "_subjects", lambda *_: [SimpleNamespace(model=name) for name in "abb"])
    monkeypatch.setattr(module, "firmware_target", target)
    monkeypatch.setattr(module, "configuration", lambda *_, **__: "c")
    monkeypatch.setattr(module, "unknown_operator", lambda model, _: "" if model == "a" else f"no {model}")
    assert module._judged(SimpleNamespace(), args()) == 3  # type: ignore[arg-type]
    assert said[0][1]["problem"] == "nobody knows; no b"


def test_the_arena_is_what_the_user_sized_or_what_the_program_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def sized(*arenas: str, address: int | None) -> list[Any]:
        named = [ArenaSymbol(name, 0x2000_0004, 64, ".bss") for name in arenas]
        program: Any = SimpleNamespace(arenas=named, set_up=SimpleNamespace(interpreters=()), regions=())
        rooms = module._rooms(program, None, args(limit="2KiB", arena_address=address))
        return [(room.name, room.size, room.address, room.addresses) for room in rooms]

    assert sized("a", address=None) == [("a", 2048, 0x2000_0004, (4,))]
    assert [row[0] for row in sized("a", "b", address=8)] == ["a", "b"]
    assert sized(address=4) == [("an arena", 2048, None, (4,))]
    rooms = (ArenaRoom("a", 2048, 0x2000_0014), ArenaRoom("heap", 2048))
    asked: list[bool] = []
    monkeypatch.setattr(module, "rooms_for", lambda *_, is_named, into: asked.append(is_named) or rooms)
    program: Any = SimpleNamespace()
    assert module._rooms(program, None, args()) == module._rooms(program, None, args(arena_address=4)) == rooms
    with pytest.raises(UsageError, match=r"^--arena-address 0: a lies at 0x20000014$"):
        module._rooms(program, None, args(arena_address=0, arena_symbol="a"))
    assert asked == [False, False, True]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--run --limit 9KiB", "--run does not go with --limit; remove one of them"),
        ("--run --arena-symbol a", "--run does not go with --arena-symbol; remove one of them"),
        ("--run --arena-address 4", "--run does not go with --arena-address; remove one of them"),
        ("--run --target esp32", "--run does not go with --target; remove one of them"),
        ("--run --library chirale", "--run does not go with --library; remove one of them"),
        ("--invoke 1", "--invoke needs --run, which executes the program"),
        ("--into 1", "--into N needs --model FILE, and N starts at 1"),
        ("--into -1 --model sample:sine", "--into N needs --model FILE, and N starts at 1"),
        ("--emulator qemu", "--emulator needs --run, which executes the program"),
        ("--time-limit 10m", "--time-limit needs --run, which executes the program"),
        ("--run --invoke -1", "--invoke -1: the number must be 0 to 1000"),
        ("--run --invoke 1001", "--invoke 1001: the number must be 0 to 1000"),
        ("--run --time-limit 999ms", "--time-limit must be 1s to 100000s"),
        ("--run --time-limit 100001s", "--time-limit must be 1s to 100000s"),
        ("--run --into -1 --model sample:sine", "--into N needs --model FILE, and N starts at 1"),
        ("--run --into 1", "--into N needs --model FILE, and N starts at 1"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_file_is_opened(
    options: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["firmware", "there-is-none.elf", *options.split()]) == 2
    assert capsys.readouterr().err == f"tflm-sim firmware: {sentence}\n"


@pytest.mark.parametrize("options", ["", "--run --invoke 1000 --time-limit 100000s --model sample:sine --into 1"])
def test_a_program_that_is_not_there_is_told(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["firmware", "there-is-none.elf", *options.split()]) == 3
    assert capsys.readouterr().err == "tflm-sim firmware: there-is-none.elf cannot be read: No such file or directory\n"
