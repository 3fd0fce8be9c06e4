"""Facts about an executed program that follow from others: what it exits with, whose address one is, which emulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.emulation import backends
from tflm_sim.extensions.firmware.emulation.execution import Execution
from tflm_sim.extensions.firmware.emulation.follower import Follower
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.seen import Arena


@pytest.mark.parametrize(
    ("fits", "outside", "code"),
    [
        ([True], 0, 0),
        ([True, True], 0, 0),
        ([True, None], 0, 3),
        ([True, False], 0, 1),
        ([None, False], 0, 1),
        ([True, "left"], 0, 0),  # It goes on in another arena.
        (["left"], 0, 3),
        ([], 0, 3),
        ([True], 1, 1),
        ([None], 1, 1),
    ],
)
def test_an_execution_exits_with_what_its_worst_arena_says(fits: list[Any], outside: int, code: int) -> None:
    arenas = [SimpleNamespace(works=False if one == "left" else one, is_left=one == "left") for one in fits]
    ran = SimpleNamespace(arenas=arenas, is_left=lambda arena: arena.is_left, bad_stores=outside)
    ran.answer = Execution.answer.fget(ran)  # type: ignore[attr-defined]
    assert Execution.exit_code.fget(ran) == code  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("address", "found", "current"),
    [
        (1000, "b of 1000", "first"),  # its last one
        (1099, "b of 1000", "first"),
        (1100, "c of 1100", "second"),  # the nearest before it
        (1100 + 255, "c of 1100", "second"),
        (1100 + 256, "b of 1000", "first"),  # of nobody: the last one in the current arena
        (999, "b of 1000", "first"),
    ],
)
def test_an_address_in_an_interpreter_leads_to_its_last_allocation(address: int, found: str, current: str) -> None:
    def result(interpreter: int, name: str) -> Any:
        return SimpleNamespace(interpreter=interpreter, name=f"{name} of {interpreter}")

    first = SimpleNamespace(name="first", results=[result(1000, "a"), result(1000, "b")])
    second = SimpleNamespace(name="second", results=[result(1100, "c")])
    book = SimpleNamespace(current=first)
    at = Follower._result_of(SimpleNamespace(arenas=[first, second], _book=book), address)  # type: ignore[arg-type]
    assert at is not None
    assert (at.name, book.current.name) == (found, current)  # type: ignore[attr-defined]


def test_before_any_allocation_an_address_leads_nowhere() -> None:
    for current in (None, SimpleNamespace(results=[])):
        book = SimpleNamespace(current=current)
        assert Follower._result_of(SimpleNamespace(arenas=[], _book=book), 1000) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("owner", "size_argument", "is_later"), [(None, 0, True), (None, 1, False), (0x20000000, 0, False), (1, 1, False)]
)
def test_an_arena_whose_size_nobody_was_told_is_made_later(
    owner: int | None, size_argument: int, is_later: bool
) -> None:
    arena = SimpleNamespace(owner=owner, size_argument=size_argument)
    assert Arena.is_made_later.fget(arena) is is_later  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "has_unicorn", "has_qemu", "wanted", "sentence"),
    [
        ("M4", False, False, "", "executing a program needs an emulator"),
        ("M4", False, False, "unicorn", "executing a program needs an emulator"),
        ("", True, True, "unicorn", "Unicorn has no Cortex-M7; QEMU has one"),
        ("", True, False, "", "qemu"),
        ("M4", True, False, "qemu", "qemu"),
    ],
)
def test_unicorn_executes_the_cores_that_it_has_and_qemu_the_others(
    monkeypatch: pytest.MonkeyPatch, model: str, has_unicorn: bool, has_qemu: bool, wanted: str, sentence: str
) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: "spec" if has_unicorn else None)
    monkeypatch.setattr(backends, "_qemu", lambda program: "qemu" if has_qemu else None)
    core = SimpleNamespace(name="Cortex-M7", model=model, board="mps2", is_windowed=False, is_arm=True)
    with pytest.raises((FirmwareError, UsageError), match=f"(?i){sentence}"):
        backends.backend(SimpleNamespace(core=core), "app.elf", wanted)  # type: ignore[arg-type]


KIB = 1024


@pytest.mark.parametrize(
    ("top", "kept"),
    [
        (None, []),
        (0x2000_1000, []),  # the end of its data, and a place within
        (0x2000_0001, []),
        (0x2000_0000, [(0, 256 * KIB - 64 * KIB), (0x2000_0000 - 64 * KIB, 0x2000_0000)]),
        (0x2000_1000 + 256 * KIB, [(0x2000_1000, 0x2000_1000 + 256 * KIB)]),
        (
            0x2000_1001 + 256 * KIB,
            [(0x2000_1000, 0x2000_1000 + 192 * KIB), (0x2000_1001 + 192 * KIB, 0x2000_1001 + 256 * KIB)],
        ),
    ],
)
def test_what_lies_between_data_and_stack_is_kept_up_to_256_kib(top: int | None, kept: list[tuple[int, int]]) -> None:
    data = Span(0x2000_0000, 0x2000_1000)
    state = {} if top is None else {"sp": top}
    spans = backends._kept(SimpleNamespace(reset_state=lambda: state), (data,))  # type: ignore[arg-type]
    assert spans[0] == data
    assert sorted((span.start, span.end) for span in spans[1:]) == kept


def test_an_arena_is_left_where_each_interpreter_in_it_goes_on_in_another() -> None:
    def arena(fits: bool, *interpreters: int, part: str = "all") -> Any:
        allocations = [SimpleNamespace(interpreter=one) for one in interpreters]
        return SimpleNamespace(fits=fits, part=part, allocations=allocations)

    def left(*arenas: Any) -> list[bool]:
        ran: Any = SimpleNamespace(arenas=arenas)
        return [Execution.is_left(ran, each) for each in arenas]

    assert left(arena(False, 1), arena(False, 1), arena(True, 1)) == [True, True, False]
    assert left(arena(False, 1), arena(True, 2)) == [False, False]
    assert left(arena(False, 1, 2), arena(True, 1)) == [False, False]
    assert left(arena(False, 1, 2), arena(True, 1), arena(True, 2)) == [True, False, False]
    assert left(arena(True, 1), arena(True, 1)) == [False, False], "it works"
    assert left(arena(False), arena(True, 1)) == [False, False], "nobody was in it"
    pair = (arena(False, 1, part="persistent"), arena(False, part="rest"))
    assert left(*pair, arena(True, 1)) == [True, True, False], "what two arenas are used for stands with the first"
