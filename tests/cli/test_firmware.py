"""``firmware``: which models are judged, what is refused, and which exit code speaks for all."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware import cli as module
from tflm_sim.extensions.firmware import judge_measured as firmware_measured
from tflm_sim.extensions.firmware.emulation import execute as execute_module
from tflm_sim.extensions.firmware.rooms import ArenaRoom


def args(**given: Any) -> argparse.Namespace:
    names = ("target", "kernels", "runtime", "library", "interpreter", "planner", "resource_variables", "ram", "model")
    known = dict.fromkeys((*names, "arena_symbol", "limit", "arena_address"))
    return argparse.Namespace(**{**known, "elf": "app.elf", "executed": False, "strict": False, "json": False, **given})


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what is said."""
    found: list[Any] = []
    monkeypatch.setattr(module, "_say", lambda *given, **more: found.append((given, more)))
    return found


def test_an_arena_that_is_named_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def read(elf: str, **how: Any) -> Any:
        asked.append(how)
        return SimpleNamespace(arenas=found)

    monkeypatch.setattr(module, "read_firmware", read)
    monkeypatch.setattr(module, "_judged", lambda *_: 7)
    monkeypatch.setattr(module, "_executed", lambda *_: 8)
    found: tuple[str, ...] = ("a",)
    for symbol in (None, "a"):
        assert module.run(args(arena_symbol=symbol, ram="2KiB")) == 7
    found = ()
    assert module.run(args()) == 7
    with pytest.raises(FirmwareError, match=r"^app\.elf: there is no object named a$"):
        module.run(args(arena_symbol="a"))
    assert module.run(args(executed=True)) == 8
    assert asked[0] == {"arena_symbol": None, "ram": 2048}
    assert asked[-1]["ram"] is None


@pytest.mark.parametrize(("codes", "code"), [((0, 0), 0), ((0, 3), 3), ((1, 3), 1), ((3, 1), 1), ((), 0)])
def test_a_no_speaks_for_all_then_what_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, said: list[Any], codes: tuple[int, ...], code: int
) -> None:
    answers = iter(codes)
    asked: list[Any] = []

    def judge(*_: Any, settled: frozenset[str]) -> Any:
        asked.append(settled)
        return SimpleNamespace(exit_code=lambda is_strict: next(answers))

    target = SimpleNamespace(alternatives=("t",), conditions=())
    monkeypatch.setattr(module, "_subjects", lambda *_: codes)
    monkeypatch.setattr(module, "firmware_target", lambda *_, **__: target)
    monkeypatch.setattr(module, "configuration", lambda *_, **__: "c")
    monkeypatch.setattr(module, "judge", judge)
    assert module._judged(SimpleNamespace(), args(planner="greedy", resource_variables=0)) == code  # type: ignore[arg-type]
    assert {*asked} <= {frozenset({"planner", "resource_variable_count"})}
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
        program: Any = SimpleNamespace(arenas=[SimpleNamespace(name=name) for name in arenas])
        rooms = module._rooms(program, None, args(limit="2KiB", arena_address=address))
        return [(room.name, room.size, room.address, room.addresses) for room in rooms]

    assert sized("a", address=None) == [("a", 2048, None, (0,))]
    assert sized("a", "b", address=4) == sized(address=4) == [("an arena", 2048, 4, (4,))]
    rooms = (ArenaRoom("a", 2048, 0x2000_0014), ArenaRoom("heap", 2048))
    asked: list[bool] = []
    monkeypatch.setattr(module, "rooms_for", lambda *_, is_named: asked.append(is_named) or rooms)
    program: Any = SimpleNamespace()
    assert module._rooms(program, None, args()) == module._rooms(program, None, args(arena_address=4)) == rooms
    with pytest.raises(UsageError, match=r"^--arena-address 0: a lies at 0x20000014$"):
        module._rooms(program, None, args(arena_address=0, arena_symbol="a"))
    assert asked == [False, False, True]


@pytest.mark.parametrize("option", ["limit", "arena_symbol", "arena_address", "target"])
def test_a_program_that_is_executed_is_measured_as_it_is(option: str) -> None:
    with pytest.raises(UsageError, match=f"remove --{option.replace('_', '-')}$"):
        module._executed(SimpleNamespace(models=()), args(**{option: "x"}))  # type: ignore[arg-type]


def test_the_models_of_a_program_that_is_executed_are_all_or_the_named_one(
    monkeypatch: pytest.MonkeyPatch, said: list[Any]
) -> None:
    execution = SimpleNamespace(core="core", emulator="qemu")
    monkeypatch.setattr(execute_module, "execute", lambda _: execution)
    monkeypatch.setattr(
        firmware_measured, "measured_verdict",
        lambda model, name, _: SimpleNamespace(name=name, exit_code=lambda is_strict: model.code),
    )  # fmt: skip
    models = [
        SimpleNamespace(symbol="a", code=0),
        SimpleNamespace(symbol="b", code=3),
        SimpleNamespace(symbol="c", code=1),
    ]
    program: Any = SimpleNamespace(models=models, image=None)
    assert module._executed(program, args()) == 1
    assert module._executed(program, args(model="b")) == 3
    assert module._executed(program, args(model="a")) == 0
    assert [[one.name for one in given[2]] for given, _ in said] == [["a", "b", "c"], ["b"], ["a"]]
    assert said[0][1]["measured"] == "core in qemu"
    with pytest.raises(UsageError, match="--executed measures the models in the program"):
        module._executed(program, args(model="d"))
