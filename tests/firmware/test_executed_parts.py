"""An executed program whose kernels are not TFLM's has all parts of a simulated model: its own kernels as seen."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim import ExecutedArena, ExecutedEvent, Execution, Lifetimes, Node, OpModel, load, measure, simulate
from tflm_sim.arena.events import Event, OpEvent, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.cli import main
from tflm_sim.device.configuration import Settings, configure
from tflm_sim.extensions.firmware import measured
from tflm_sim.extensions.firmware.emulation.event_rows import rows_of
from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation, TriedSize
from tflm_sim.ops import requests
from tflm_sim.report.picture import Picture
from tflm_sim.report.picture_document import read_document

MODEL = "sample:sine"
OWN_BYTES, SCRATCH_BYTES = 5000, 2000
TARGET = "cortex-m4"
SEEN_PHASES = (Stage.BUILTIN_DATA_ALLOCATOR, Stage.PLAN)
SEEN_STEPS = (Stage.OP_PARSE, Stage.OP_INIT, Stage.OP_PREPARE)


def own_init(node: Node) -> requests.Steps[None]:
    yield requests.Persistent(40, "own_init()")


def own_prepare(node: Node) -> requests.Steps[None]:
    yield requests.Persistent(OWN_BYTES, "own_prepare()")
    temp = yield requests.TempBuffer(100, 4)
    yield requests.Scratch(SCRATCH_BYTES + node.index, "own_prepare()")
    yield requests.FreeTempBuffer(temp)


OWN = OpModel("FULLY_CONNECTED", builtin_data="TfLiteFullyConnectedParams", init=own_init, prepare=own_prepare)


def as_seen(events: Iterable[Event]) -> Iterator[Event]:
    """Yield what an emulator sees of a simulation: functions with names, and the requests."""
    for event in events:
        if isinstance(event, Phase) and event.stage not in SEEN_PHASES:
            continue
        if isinstance(event, OpEvent) and not (event.has and event.stage in SEEN_STEPS):
            continue
        yield event


def rows(arena_size: int, address: int = 0) -> tuple[ExecutedEvent, ...]:
    found = simulate(MODEL, TARGET, custom_ops=[OWN], arena_size=arena_size, arena_address=address)
    return tuple(rows_of(as_seen(found.events)))


SMALLEST = simulate(MODEL, TARGET, custom_ops=[OWN]).smallest


def execution_of(arena_size: int, *, fits: bool = True, address: int = 0x20000000) -> Execution:
    """Return what a program with OWN says that has an arena of this size."""
    assert SMALLEST is not None
    lost = -address % 16
    size, enough = SMALLEST.size + lost, -(-(SMALLEST.size + lost) // 16) * 16
    allocation = ExecutedAllocation(
        interpreter=1, status="ok" if fits else "error", arena_used_bytes=SMALLEST.arena_used_bytes, refused=0,
        damage="", ending="", log=() if fits else ("Failed to allocate tail memory.",), stack=None, stack_room=None,
        model=None, events=rows(arena_size, address % 16), invocations=(), stores=(),
    )  # fmt: skip
    at_smallest = replace(allocation, status="ok", log=(), events=rows(enough, address % 16))
    arena = ExecutedArena(
        symbol="arena", part="all", address=address, size=arena_size, is_exact=True, fits=fits, works=fits,
        arena_used_bytes=SMALLEST.arena_used_bytes, smallest_arena=size,
        arena_used_bytes_at_smallest=SMALLEST.arena_used_bytes, smallest_arena_multiple_of_16=enough,
        succeeds_from=size, log_below=(), reason="" if fits else "AllocateTensors() returned 1",
        allocations=(allocation,), trials=9, tried=(), allocations_at_smallest=() if fits else (at_smallest,),
    )  # fmt: skip
    return Execution(
        file="app.elf", core="Cortex-M4", emulator="Unicorn", start="", is_guessed=False, ending="", output="",
        arenas=(arena,),
    )  # fmt: skip


def pictures(path: Path) -> tuple[Picture, ...]:
    return tuple(read_document(path.read_bytes(), path=str(path)).pictures)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Return the name of a program that is executed as ``execution_of`` says, and whose file says nothing else."""
    executed_as(monkeypatch, execution_of(20_000))
    path = tmp_path / "app.elf"
    path.write_bytes(b"\x7fELF")
    return str(path)


def executed_as(monkeypatch: pytest.MonkeyPatch, execution: Execution) -> None:
    from tflm_sim.extensions.firmware import programs

    monkeypatch.setattr(measured, "execute", lambda *_, **__: execution)
    monkeypatch.setattr(programs, "possible_targets", lambda *_, **__: (configure(TARGET).target,))


def test_its_own_kernels_are_taken_as_seen_and_all_else_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    executed_as(monkeypatch, execution_of(20_000))
    found = measured.measure("app.elf", load(MODEL), [configure("esp32"), configure(TARGET)])
    assert (found.is_simulated, found.facts.kernels_as_seen) == (True, ("FULLY_CONNECTED",))
    assert found.configuration == configure(TARGET)
    assert [row.op for row in found.exact.custom_ops] == ["FULLY_CONNECTED"]
    assert "40 B of the tail (align 16)" in found.facts.difference
    assert "for own_init()" in found.facts.difference


@pytest.mark.parametrize("address", [0x20000000, 0x20000004, 0x20000008])
def test_an_arena_that_is_not_aligned_is_simulated_where_it_lies(address: int, monkeypatch: pytest.MonkeyPatch) -> None:
    executed_as(monkeypatch, execution_of(20_000, address=address))
    found = measured.measure("app.elf", load(MODEL), [configure(TARGET)])
    assert (found.is_simulated, found.exact.target.arena_address) == (True, address % 16)


def test_kernels_that_ask_for_something_unknown_leave_only_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tail block without alignment is one whose request was not seen."""
    execution = execution_of(20_000)
    (arena,) = execution.arenas
    (allocation,) = arena.allocations
    events = tuple(row._replace(alignment=0) if row.size == OWN_BYTES else row for row in allocation.events)
    arena = replace(arena, allocations=(replace(allocation, events=events),))
    executed_as(monkeypatch, replace(execution, arenas=(arena,)))
    found = measured.measure("app.elf", load(MODEL), [configure(TARGET)])
    assert (found.is_simulated, found.facts.kernels_as_seen, found.exact.custom_ops) == (False, (), ())


def test_size_names_who_asked_for_what(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", MODEL, "--firmware", program, "--executed", "--all"]) == 0
    text = capsys.readouterr().out
    assert "with the program's own FULLY_CONNECTED as seen, all requests are those of the simulation" in text
    assert "in 3 of own_prepare()" in text
    assert "in 3 of own_init()" in text
    assert main(["size", MODEL, "--firmware", program, "--executed"]) == 0
    assert "every byte: --all" in capsys.readouterr().out


def test_the_documents_have_buffers_peak_and_what_decides(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = simulate(MODEL, TARGET, custom_ops=[OWN])
    assert main(["size", MODEL, "--firmware", program, "--executed", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert expected.smallest is not None
    assert expected.peak is not None
    assert document["smallest_arena_bytes"] == expected.smallest.size
    assert document["peak"]["live_bytes"] == expected.peak.live_bytes
    assert document["binding"]["size"] == expected.smallest.binding.size
    scratch = [row for row in document["buffers"] if row["kind"] == "scratch"]
    assert [(row["name"], row["size"], row["operator"]) for row in scratch] == [
        ("own_prepare()", SCRATCH_BYTES + number, number) for number in range(3)
    ]
    assert document["executed"]["kernels_as_seen"] == ["FULLY_CONNECTED"]


def test_the_report_is_of_the_programs_own_arena_down_to_invoke(program: str, tmp_path: Path) -> None:
    out = tmp_path / "picture.json"
    assert main(["report", MODEL, "--firmware", program, "--executed", "-o", str(out)]) == 0
    (picture,) = pictures(out)
    assert picture.arena_bytes == 20_000
    assert "FULLY_CONNECTED as executed, all other requests as simulated" in picture.title
    assert [picture.op_at(scope) for scope in range(len(picture.scopes))] == [
        "inputs", "#0 FULLY_CONNECTED", "#1 FULLY_CONNECTED", "#2 FULLY_CONNECTED",
    ]  # fmt: skip
    assert len(picture.live_bytes) == 4
    assert sum(row.name == "own_prepare()" for row in picture.residents) == 3
    assert any(block.label == "own_prepare()" for block in picture.blocks)


def test_the_report_of_an_arena_that_is_too_small_shows_what_is_missing(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert SMALLEST is not None
    small = SMALLEST.multiple_of_16 - 32
    executed_as(monkeypatch, execution_of(small, fits=False))
    out = tmp_path / "picture.json"
    assert main(["report", MODEL, "--firmware", program, "--executed", "-o", str(out)]) == 4
    (picture,) = pictures(out)
    assert picture.shortage is not None
    assert (picture.arena_bytes, picture.shortage.missing) == (small, 20)
    assert picture.device_log == ("Failed to allocate tail memory.",)
    assert sum(row.name == "own_prepare()" for row in picture.residents) == 3


def test_the_report_compares_what_was_executed_with_planners_models_and_targets(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = execution_of(20_000)
    arena = replace(one.arenas[0], tried=(TriedSize(30_000, works=True),))
    executed_as(monkeypatch, replace(one, arenas=(arena,)))
    out = tmp_path / "picture.json"
    arguments = ["report", MODEL, "--firmware", program, "--executed", "-o", str(out), "--arena-size", "30000"]
    assert main([*arguments, "--compare-planner", "linear", "--compare-target", "esp32"]) == 0
    first, other, linear = pictures(out)
    assert first.arena_bytes == 30_000
    found = [sum(row.name == "own_prepare()" for row in each.residents) for each in (first, linear, other)]
    assert found == [3, 3, 0]
    capsys.readouterr()
    monkeypatch.setattr(measured, "_smallest", lambda *_: 1)  # The simulation asks for something else.
    assert main(arguments) == 0
    assert [one.arena_bytes for one in pictures(out)] == [20_000]
    assert "the picture is of what the program has, not of 30,000 B" in capsys.readouterr().err


def test_another_model_with_a_kernel_that_was_not_seen_with_it_is_refused(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["report", MODEL, "--firmware", program, "--executed", "-o", str(tmp_path / "r.html")]
    assert main([*arguments, "--compare-model", "sample:keyword_spotter"]) == 3
    assert "FULLY_CONNECTED is a kernel of the program's own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trace"], "own_prepare()"),
        (["trace", "--lifetimes"], "FULLY_CONNECTED #1 overwrites bytes 2,000 to 2,000 with scratch 1 (own_prepare())"),
        (["trace", "--preserve", "input"], "to the end of Invoke() costs 16 B: the smallest arena goes from 17,728"),
        (["trace", "--invoke", "1"], "nothing wrong in AllocateTensors() and 1 invocation"),
        (["report", "--tensor", "input"], "measured: "),
        (["size", "--map"], "own"),
    ],
)
def test_what_is_asked_of_a_model_is_asked_of_an_executed_program(
    arguments: list[str], words: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *rest = arguments
    assert main([verb, MODEL, "--firmware", program, "--executed", *rest]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["trace", "--lifetimes"], ["report", "--tensor", "input"], ["size", "--map"]])
def test_what_only_a_simulation_knows_is_refused_where_none_asks_for_the_same(
    arguments: list[str], program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measured, "_smallest", lambda *_: 1)
    verb, *rest = arguments
    assert main([verb, MODEL, "--firmware", program, "--executed", *rest]) == 3
    assert "asks its allocator for something else than any simulation" in capsys.readouterr().err


def test_diff_has_tensors_and_scratch_of_both_sides(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["diff", MODEL, "--firmware", program, "--firmware", program, "--executed", "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    figures = {row["figure"]: row["bytes"] for row in document["figures"]}
    assert set(figures.values()) == {0}
    assert "head_bytes" in figures


def test_in_python_a_measured_program_is_a_simulation_and_a_picture(program: str) -> None:
    found = measure(program, MODEL)
    assert found.simulation is not None
    assert SMALLEST is not None
    assert (found.smallest, found.simulation.arena_size) == (SMALLEST.size, 20_000)
    assert found.simulation.peak is not None
    assert {row.name for row in Lifetimes(found.simulation).buffers} >= {"own_prepare()"}
    assert repr(found) == "<MeasuredProgram app.elf: 17,716 B>"
    assert repr(pickle.loads(pickle.dumps(found)).simulation) == repr(found.simulation)
    page = found._repr_html_()
    assert "with the program&#x27;s own FULLY_CONNECTED as seen" in page
    assert "<svg" in page
    table = execution_of(20_000)._repr_html_()
    assert [cell in table for cell in (">20,000 B<", ">17,716 B<", ">works<")] == [True] * 3


@pytest.mark.parametrize(
    "settings",
    [{"planner": "linear"}, {"planner": "linear", "own_planner": True}, {"own_requests": (1000,)}],
    ids=["linear", "own linear", "takes memory itself"],
)
def test_what_a_program_sets_up_and_its_file_does_not_say_is_found(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = simulate("sample:keyword_spotter", TARGET, arena_size=200_000, custom_ops=[OWN], **settings)
    assert simulation.smallest is not None
    execution = execution_of(200_000)
    (arena,) = execution.arenas
    (allocation,) = arena.allocations
    allocation = replace(allocation, events=tuple(rows_of(as_seen(simulation.events))))
    arena = replace(arena, allocations=(allocation,), smallest_arena=simulation.smallest.size)
    executed_as(monkeypatch, replace(execution, arenas=(arena,)))
    found = measured.measure("app.elf", load("sample:keyword_spotter"), [configure(TARGET)])
    assert (found.is_simulated, found.facts.kernels_as_seen) == (True, ("FULLY_CONNECTED",))
    assert {name: getattr(found.configuration, name) for name in settings} == settings


def test_a_program_may_stand_among_the_models(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", program, MODEL, "--executed"]) == 0
    assert "sine.tflite on" in capsys.readouterr().out
