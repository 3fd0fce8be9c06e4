"""What an executed program did, in lines, out of facts alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.contradictions import Contradiction
from tflm_sim.extensions.firmware.emulation.execution import ExecutedInvoke, ExecutedOperator, ExecutedStore
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom
from tflm_sim.extensions.firmware.execution import Agreement
from tflm_sim.extensions.firmware.execution_text import document_lines, execution_lines, verdicts


def allocation(**facts: Any) -> Any:
    known = {"interpreter": 1, "status": "ok", "arena_used_bytes": 1500, "damage": "", "ending": "", "log": ("said",)}
    rest = {"stack": None, "invocations": (), "stores": (), "stack_room": None}
    return SimpleNamespace(**{**known, **rest, **facts})


def arena(*allocations: Any, **facts: Any) -> Any:
    known = {
        "symbol": "tensor_arena",
        "part": "all",
        "size": 4096,
        "address": 0x2000,
        "is_exact": True,
        "fits": True,
        "works": True,
        "banks": (),
    }
    sizes = {"smallest_arena": 1600, "smallest_arena_multiple_of_16": 1600, "reason": "", "log_below": ()}
    return SimpleNamespace(**{**known, **sizes, "allocations": allocations or (allocation(),), **facts})


def execution(*arenas: Any, **facts: Any) -> Any:
    known = {"core": "Cortex-M4", "file": "app.elf", "emulator": "qemu", "start": "at reset", "ending": "it waits"}
    return SimpleNamespace(
        **{**known, "is_guessed": False, "arenas": arenas or (arena(),), "is_left": lambda _: False, **facts}
    )


def document(*arenas: Any, compared: tuple[Any, ...] = ()) -> Any:
    return SimpleNamespace(execution=execution(*arenas), compared=compared, contradictions=(), places=())


ARENA = "arena     tensor_arena: 4,096 B at 0x00002000"
RESULT = "result    AllocateTensors(): 1,500 B used"


def test_a_program_that_did_what_it_should() -> None:
    assert execution_lines(execution()) == [
        "file      app.elf: executed for a Cortex-M4 in qemu",
        "run       at reset; it waits",
        "",
        ARENA,
        RESULT,
    ]


def test_what_was_made_up_is_a_caution() -> None:
    lines = execution_lines(execution(core="ESP32", file="", is_guessed=True))
    assert lines[0] == "file      -: executed for an ESP32 in qemu"
    assert lines[2] == "caution   parts of the system around it were made up: on its board it may go another way"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"stores": ()}, ""),
        ({"stores": None, "stack": 5}, "stores are not watched in this emulator: what goes out of bounds is not known"),
        ({"stores": None}, "neither the stack nor stores out of bounds were measured"),
        ({"stores": None, "status": "error"}, ""),
    ],
)
def test_what_was_not_watched_is_a_caution(facts: dict[str, Any], words: str) -> None:
    cautions = [line for line in execution_lines(execution(arena(allocation(**facts)))) if line.startswith("caution")]
    assert cautions == ([f"caution   {words}"] if words else [])


def test_several_allocations_and_interpreters_are_counted() -> None:
    def results(*rows: Any) -> list[str]:
        return [line[10:] for line in execution_lines(execution(*rows)) if line.startswith("result")]

    assert results(arena(allocation(), allocation())) == [
        "AllocateTensors() 1 of 2: 1,500 B used",
        "AllocateTensors() 2 of 2: 1,500 B used",
    ]
    assert results(arena(allocation()), arena(allocation(interpreter=2, stack=1200))) == [
        "AllocateTensors() of interpreter 1: 1,500 B used",
        "AllocateTensors() of interpreter 2: 1,500 B used, 1,200 B of stack",
    ]
    assert results(arena(allocation(status="error"))) == ["AllocateTensors(): error"]
    assert results(arena(allocation(status="stopped", ending="it waits"))) == ["AllocateTensors(): stopped it waits"]


def test_an_arena_says_what_it_is_for_and_what_was_not_seen_of_it() -> None:
    lines = execution_lines(execution(arena(part="persistent", symbol="", is_exact=False), is_left=lambda _: True))
    assert lines[3:] == [
        "arena     an arena, for what stays: 4,096 B at 0x00002000",
        "caution   what alignment skips at its start, less than 16 B, was not seen: add it to all sizes",
        RESULT,
        "          it does not count: the program goes on in another arena",
    ]
    assert "arena     tensor_arena, for the rest: 4,096 B at 0x00002000" in execution_lines(
        execution(arena(part="rest"))
    )


@pytest.mark.parametrize(
    ("status", "fits", "is_shown"),
    [("ok", True, False), ("ok", False, True), ("ok", None, True), ("error", True, True)],
)
def test_the_log_is_shown_where_something_failed(status: str, fits: bool | None, is_shown: bool) -> None:
    lines = execution_lines(execution(arena(allocation(status=status, log=("l" * 301,)), fits=fits)))
    assert (f"log       …{'l' * 299}" in lines) is is_shown


def test_damage_is_a_caution() -> None:
    assert "caution   bytes in use are handed out again: d" in execution_lines(execution(arena(allocation(damage="d"))))


def invoked(**facts: Any) -> list[str]:
    known = {"status": "ok", "ending": "", "stack": None, "instructions": None, "operators": (), "stores": ()}
    invoke = ExecutedInvoke(**{**known, "stack_room": None, **facts})
    return execution_lines(execution(arena(allocation(invocations=(invoke,)))))[5:]


def test_invoke_is_told_with_the_share_of_each_operator() -> None:
    assert invoked() == ["result    Invoke(): ok"]
    assert invoked(status="error", stack=1200) == ["result    Invoke(): error, 1,200 B of stack"]
    assert invoked(status="stopped", ending="e" * 301) == [f"result    Invoke(): stopped: …{'e' * 299}"]
    operators = (ExecutedOperator(0, 0, "A" * 61, 2500), ExecutedOperator(1, 3, "B", 125))
    assert invoked(instructions=5000, operators=operators) == [
        "result    Invoke(): ok, 5,000 instructions",
        f"                   2,500  50.0 %  …{'A' * 59} #0",
        "                     125   2.5 %  B #3 of subgraph 1",
    ]
    assert invoked(instructions=0, operators=operators) == ["result    Invoke(): ok, 0 instructions"]


def store(**facts: Any) -> ExecutedStore:
    known = {"into": "nothing", "function": "f", "code_address": 0x800, "subgraph": -1, "op": -1, "name": ""}
    where = {"address": 0x2000_0000, "size": 8, "times": 1, "symbol": "s", "offset": 0}
    return ExecutedStore(**{**known, **where, **facts})


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "outside   8 B at 0x20000000, s + 0, by f() at 0x800"),
        ({"into": "data"}, "own data  8 B at 0x20000000, s + 0, by f() at 0x800"),
        ({"into": "arena"}, "in arena  8 B at 0x20000000, s + 0, by f() at 0x800"),
        ({"into": "behind"}, "behind    8 B at 0x20000000, s + 0, by f() at 0x800"),
        ({"size": 1200, "times": 1500}, "outside   1,200 B at 0x20000000 in 1,500 stores, s + 0, by f() at 0x800"),
        ({"times": 2}, "outside   8 B at 0x20000000 in 2 stores, s + 0, by f() at 0x800"),
        ({"offset": -1200}, "outside   8 B at 0x20000000, 1,200 B before s, by f() at 0x800"),
        ({"offset": 1200}, "outside   8 B at 0x20000000, s + 1,200, by f() at 0x800"),
        ({"symbol": ""}, "outside   8 B at 0x20000000, where no object is, by f() at 0x800"),
        ({"function": ""}, "outside   8 B at 0x20000000, s + 0, by 0x800"),
        ({"code_address": 0}, "outside   8 B at 0x20000000, s + 0, by instructions that are too many to be told apart"),
        ({"name": "ADD", "op": 2, "subgraph": 0}, "outside   8 B at 0x20000000, s + 0, by f() at 0x800 for ADD #2"),
        (
            {"name": "ADD", "op": 2, "subgraph": 1},
            "outside   8 B at 0x20000000, s + 0, by f() at 0x800 for ADD #2 of subgraph 1",
        ),
    ],
)
def test_a_store_is_told_with_what_is_beside_it(facts: dict[str, Any], line: str) -> None:
    lines = execution_lines(execution(arena(allocation(stores=(store(**facts),)))))
    assert lines[-1] == line


@pytest.mark.parametrize(
    ("callers", "reserved", "lines"),
    [
        (100, 1300, ["stack     1,300 of 1,300 B (main): 100 B of its callers, 1,200 B of AllocateTensors()"]),
        (
            100,
            1299,
            [
                "stack     1,300 of 1,299 B (main): 100 B of its callers, 1,200 B of AllocateTensors()",
                "caution   the stack overflows by 1 B",
            ],
        ),
        (None, 1300, ["stack     1,200 of 1,300 B (main): its callers not counted, 1,200 B of AllocateTensors()"]),
    ],
)
def test_the_stack_is_told_with_its_room(callers: int | None, reserved: int, lines: list[str]) -> None:
    room = StackRoom(reserved=reserved, reserved_by="main", callers=callers)
    given = execution(arena(allocation(stack=1200, stack_room=room)))
    assert execution_lines(given)[5:] == lines
    assert execution_lines(execution(arena(allocation(stack=None, stack_room=room))))[5:] == []


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "yes: tensor_arena (4,096 B) needs 1,600 B"),
        (
            {"smallest_arena": 1601, "smallest_arena_multiple_of_16": 1616},
            "yes: tensor_arena (4,096 B) needs 1,601 B, 1,616 B as a multiple of 16",
        ),
        ({"works": False, "fits": False, "reason": "r"}, "no: tensor_arena (4,096 B): r; it needs 1,600 B"),
        ({"works": False, "reason": "r"}, "no: tensor_arena (4,096 B): r; AllocateTensors() needs 1,600 B"),
        ({"log_below": ("  first ", "b")}, "yes: tensor_arena (4,096 B) needs 1,600 B; with one byte less: first"),
        ({"works": None, "smallest_arena": None, "reason": "r", "symbol": ""}, "cannot be told: an arena (4,096 B): r"),
    ],
)
def test_an_arena_has_a_verdict(facts: dict[str, Any], line: str) -> None:
    assert verdicts(document(arena(**facts))) == [line]


@pytest.mark.parametrize(
    ("agreement", "reason", "lines"),
    [
        (None, "why", ["simulated not compared: why"]),
        (Agreement(1200), "", ["simulated all 1,200 requests to the allocator are those of the simulation"]),
        (
            Agreement(5, settings="s"),
            "why",
            ["simulated all 5 requests to the allocator are those of the simulation with: s", "          why"],
        ),
        (
            Agreement(1200, "a", "b", "#0 X", "m"),
            "",
            ["simulated 1,200 requests are those of the simulation; then, in #0 X, a instead of b: m"],
        ),
    ],
)
def test_how_far_the_simulation_agrees(agreement: Agreement | None, reason: str, lines: list[str]) -> None:
    one: Any = SimpleNamespace(address=0x2000, agreement=agreement, reason=reason)
    found = document_lines(document(compared=(one,)))
    assert found[found.index(RESULT) + 2 :] == lines
    several = document_lines(document(compared=(one, one)))
    assert several[-1].startswith(("simulated tensor_arena: ", "          tensor_arena: "))


def test_what_reading_says_otherwise_is_a_finding_with_both_figures() -> None:
    known: Any = {"address": 0x2000, "model": "g_kws", "executed_smallest_arena": 49396}
    loops = Contradiction(**known, read_answer="if", read_smallest_arena=22772, conditions=("it has one arena",))
    never = Contradiction(**known, read_answer="no", read_smallest_arena=None, conditions=())
    shown = SimpleNamespace(execution=execution(), compared=(), contradictions=(loops, never), places=())
    assert [line for line in document_lines(shown) if line.startswith("finding")] == [  # type: ignore[arg-type]
        "finding   g_kws needs 49,396 B, as executed; reading the file says 22,772 B (if it has one arena)",
        "finding   g_kws needs 49,396 B, as executed; reading the file says no size (no)",
    ]
