"""A model in an executed program: which arena counts, which configuration is proved, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.device.configuration import configure
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware import closest, measured
from tflm_sim.extensions.firmware.execution import Agreement
from tflm_sim.model.load import load

SINE = load("sample:sine")
M4, ESP32 = configure("cortex-m4"), configure("esp32")
SMALLEST = 1156
"""Bytes of the smallest arena of sine on a Cortex-M4."""


def arena(smallest: int | None = SMALLEST, *interpreters: int, **facts: Any) -> Any:
    allocations = tuple(SimpleNamespace(interpreter=number) for number in interpreters or (1,))
    known = {"smallest_arena": smallest, "smallest_arena_multiple_of_16": smallest and -(-smallest // 16) * 16}
    rest = {
        "fits": True,
        "reason": "r",
        "address": 0x20000010,
        "size": 4096,
        "symbol": "a",
        "allocations_at_smallest": (),
        "allocations": allocations,
        "banks": (),
    }
    return SimpleNamespace(**{**known, **rest, **facts})


Measure = Callable[..., Any]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Return what measures sine in pairs of arenas; ``agreements`` are those of the possible configurations."""

    def run(
        *found: tuple[Any, Any],
        left: tuple[Any, ...] = (),
        agreements: tuple[Agreement, ...] = (Agreement(9),),
        possible: tuple[Any, ...] = (M4,),
        model: Any = SINE,
        **how: Any,
    ) -> Any:
        answers = iter(agreements)
        execution = SimpleNamespace(
            is_left=lambda one: one in left, core="core", emulator="qemu", is_guessed=True, asked=[]
        )
        monkeypatch.setattr(measured, "execute", lambda *_, **asked: execution.asked.append(asked) or execution)
        monkeypatch.setattr(measured, "pairs", lambda _: found)
        monkeypatch.setattr(closest, "requests", lambda *_: ())
        monkeypatch.setattr(closest, "agreement", lambda *_: next(answers))
        monkeypatch.setattr(closest, "possible_settings", lambda *_: ())
        monkeypatch.setattr(measured, "read_firmware", lambda path: path)
        monkeypatch.setattr(measured, "executed_places", lambda *_: ())
        monkeypatch.setattr(measured, "own_model", lambda path, allocation: how.get("own"))
        given = {name: value for name, value in how.items() if name != "own"}
        answer = measured.measure("app.elf", model, possible, **given)
        return answer, execution.asked[0]

    return run


def test_a_simulation_that_asks_for_the_same_and_needs_the_same_is_proved(measure: Measure) -> None:
    found, asked = measure((arena(), None))
    assert (found.is_simulated, found.smallest, found.multiple_of_16) == (True, SMALLEST, 1168)
    assert (found.configuration, asked["into"], asked["model"]) == (M4, 0, SINE)
    facts = found.facts
    assert (facts.file, facts.core, facts.emulator, facts.is_guessed) == ("app.elf", "core", "qemu", True)
    assert (facts.arena, facts.arena_bytes, facts.other_arena, facts.other_arena_bytes) == ("a", 4096, "", None)
    assert (facts.interpreter, facts.sharing, facts.compared, facts.difference) == (1, 1, 9, "")
    assert not measure((arena(SMALLEST + 8), None))[0].is_simulated
    differs = Agreement(3, "a", "b", "", "it is so")
    found, _ = measure((arena(), None), agreements=(differs,))
    assert (found.is_simulated, found.facts.difference) == (False, "a instead of b: it is so")
    found, _ = measure((arena(), None), agreements=(Agreement(3, "a", "b", "#0 X", "it is so"),))
    assert found.facts.difference == "#0 X: a instead of b: it is so"
    found, _ = measure((arena(), None), agreements=(Agreement(3, "", "", "#0 X"),))
    assert found.facts.difference == ""


def test_the_configuration_that_agrees_is_taken_else_the_one_that_does_longest(measure: Measure) -> None:
    longer, shorter, whole = Agreement(8, "a", "b"), Agreement(7, "a", "b"), Agreement(5)
    for agreements, chosen in (
        ((longer, shorter), M4),
        ((shorter, longer), ESP32),
        ((longer, whole), ESP32),
        ((whole, longer), M4),
        ((whole, whole), M4),
    ):
        assert measure((arena(), None), agreements=agreements, possible=(M4, ESP32))[0].configuration == chosen


def test_the_arena_that_needs_most_counts_and_those_that_were_left_do_not(measure: Measure) -> None:
    small, large, endless = arena(16), arena(32), arena(None, fits=False)
    for rows, chosen in (((small, large), large), ((large, small), large), ((endless, large), endless)):
        assert measure(*((row, None) for row in rows))[0].arena is chosen
    assert measure((large, None), (small, None), left=(large,))[0].arena is small
    nothing = arena(0)
    assert measure((nothing, None), (arena(16), None))[0].arena is not nothing


def test_two_arenas_are_summed_and_make_the_configuration_one_of_two(measure: Measure) -> None:
    rest = arena(24, size=512, symbol="rest")
    found, _ = measure((arena(), rest))
    assert (found.smallest, found.multiple_of_16) == (SMALLEST + 24, 1168 + 32)
    assert found.configuration.split_arenas
    assert (found.facts.other_arena, found.facts.other_arena_bytes) == ("rest", 512)
    assert not found.is_simulated


def test_of_the_programs_own_models_one_interpreter_is_asked_about(measure: Measure) -> None:
    first, second = arena(16, 1), arena(8, 2, 3)
    found, asked = measure((first, None), (second, None), into=2, model=None, own=SINE)
    assert (found.arena, found.model, found.facts.interpreter, found.facts.sharing) == (second, SINE, 2, 2)
    assert asked["into"] == 0  # each has a model of its own
    assert measure((first, None), (second, None), into=2)[1]["into"] == 2
    assert measure((first, None), (second, None), model=None, own=SINE)[0].arena is first
    with pytest.raises(FirmwareError, match=r"^app\.elf: there is no interpreter 4: it has 3$"):
        measure((first, None), (second, None), into=4)
    with pytest.raises(FirmwareError, match="this interpreter uses an arena that another one used before"):
        measure((first, None), (second, None), into=3)
    with pytest.raises(FirmwareError, match="the program's file does not contain its model; name the model"):
        measure((first, None), model=None)


def test_an_arena_of_which_nothing_is_known_is_no_answer(measure: Measure) -> None:
    with pytest.raises(FirmwareError, match=r"^app\.elf: r$"):
        measure((arena(fits=None), None))


def test_what_is_simulated_lies_where_the_program_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def simulate(model: Any, configuration: Any, **sizes: Any) -> Any:
        asked.append((configuration.target.arena_address, configuration.split_arenas, sizes))
        raise UsageError("it cannot be")

    monkeypatch.setattr(closest, "simulate", simulate)
    monkeypatch.setattr(closest, "requests", lambda *_: ())
    monkeypatch.setattr(closest, "possible_settings", lambda *_: ())
    here = 0x20000004
    found = closest.closest(arena(address=here), None, SINE, [M4])
    assert found.agreement == Agreement(0, "another request", "nothing", "", "it cannot be")
    closest.closest(arena(address=here), arena(24, size=512), SINE, [M4])
    # 0x20000004 is 4 modulo 16.
    assert asked == [
        (4, False, {"arena_size": 4096, "non_persistent_arena_size": None}),
        (4, True, {"arena_size": 4096, "non_persistent_arena_size": 512}),
    ]


@pytest.mark.parametrize(
    ("split_arenas", "answer", "smallest"),
    [
        (False, {"smallest": SimpleNamespace(size=7)}, 7),
        (False, {"smallest": None}, None),
        (True, {"split": SimpleNamespace(persistent=5, non_persistent=3)}, 8),
        (True, {"split": None}, None),
    ],
)
def test_the_smallest_arena_of_a_simulation(
    monkeypatch: pytest.MonkeyPatch, split_arenas: bool, answer: Any, smallest: int | None
) -> None:
    monkeypatch.setattr(measured, "simulate", lambda *_: SimpleNamespace(**answer))
    configuration: Any = SimpleNamespace(split_arenas=split_arenas)
    assert measured._smallest(SINE, configuration) == smallest
