"""``--executed``: the figures of size, check and report as a program of our own says them, which has other kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tflm_sim import ExecutedArena, Execution, execute, load, simulate
from tflm_sim.checks.doubts import Doubt
from tflm_sim.checks.judge import judge_measured
from tflm_sim.cli import main
from tflm_sim.device.configuration import configure
from tflm_sim.extensions.firmware import measured
from tflm_sim.extensions.firmware.emulation.event_rows import rows_of
from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation, TriedSize
from tflm_sim.extensions.firmware.executed_document import measured_document, measured_lines, measured_pictures
from tflm_sim.extensions.firmware.executed_places import ExecutedPlace
from tflm_sim.extensions.firmware.execution_text import execution_lines
from tflm_sim.extensions.firmware.programs import MeasuredProgram
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
import model_program

pytest.importorskip("unicorn")

MODEL = "sample:sine"
# Taken of the tail: the object of 24 B; 100 B for one subgraph; for input and output each an array of 4 B, a tensor of
# 12 B and, of the data's one byte, 4 B with alignment: 24 + 100 + 2 * 20 = 164.
NEEDED = 164


@pytest.fixture
def program(tmp_path: Path) -> str:
    return str(model_program.built(tmp_path / "own", sample_path("sine").read_bytes(), ((1, 1), (1, 1))))


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().out


def test_size_says_what_the_program_needs_and_where_the_simulation_differs(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["size", MODEL, "--firmware", program, "--executed"], capsys)
    assert code == 0
    assert "smallest arena  164 B  AllocateTensors() fails with one byte less" in text
    assert "tensor_arena[176]" in text
    assert "executed with this model in it, for a Cortex-M4 in Unicorn" in text
    assert "the simulation differs after 0 requests" in text


def test_the_comment_draws_the_arena_that_was_measured_and_no_simulated_one(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.tflite").write_bytes(sample_path("sine").read_bytes())
    firmware = Path(program).relative_to(tmp_path).as_posix()
    Path("tflm-sim.toml").write_text(
        f"models = ['m.tflite']\n[[firmware]]\nfirmware = '{firmware}'\nrun = true\nlimit = 163\n"
    )
    assert main(["diff", "--markdown", "comment.md"]) == 1
    said = Path("comment.md").read_text("utf-8")
    assert "needs 176 B, 13 B more than 163 B" in said
    assert f"shrink m.tflite --firmware {firmware} --executed --goal 163`" in said
    assert "\nprogram.elf, executed for a Cortex-M4" in said.replace(Path(program).name, "program.elf")
    assert "1,072 B" not in said  # what the simulation of it would need


def test_the_size_that_pytest_remembers_is_the_measured_one_which_check_compares_with(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.tflite").write_bytes(sample_path("sine").read_bytes())
    firmware = Path(program).relative_to(tmp_path).as_posix()
    Path("test_arena.py").write_text(
        f"import pytest\n@pytest.mark.arena('m.tflite', firmware='{firmware}', run=True, limit=176)\n"
        "def test_it(): pass\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir=.",
        "--arena-fail-on-increase",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    baseline = Path("arena_baseline.json").read_text("utf-8")
    assert [*json.loads(baseline)["sizes"].values()] == [176]
    Path("arena_baseline.json").write_text(baseline.replace("176", "160"))
    grown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "m.tflite needs 16 B more than before: 160 -> 176 B" in grown
    assert "tail" not in grown  # The simulation, whose kernels are others, does not know what grew.
    Path("arena_baseline.json").write_text(baseline)
    Path("tflm-sim.toml").write_text(
        "models = ['m.tflite']\nbaseline = 'arena_baseline.json'\n"
        f"[[firmware]]\nfirmware = '{firmware}'\nrun = true\nlimit = 176\n"
    )
    assert said(["check"], capsys)[0] == 0


def test_an_interpreter_that_a_program_does_not_have_is_refused(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "--firmware", program, "--executed", "--into", "2"]) == 3
    assert "there is no interpreter 2: it has 1" in capsys.readouterr().err


def test_the_document_of_size_has_what_was_seen_and_nothing_else(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["size", MODEL, "--firmware", program, "--executed", "--json"], capsys)
    document = json.loads(text)
    assert code == 0
    assert (document["smallest_arena_bytes"], document["arena_used_bytes"], document["tail_bytes"]) == (164, 164, 164)
    assert (document["buffers"], document["peak"], document["binding"], document["recorded"]) == ([], None, None, {})
    assert document["executed"]["arena"] == "tensor_arena"
    assert document["executed"]["compared"] == 0
    assert sum(group["used"] for group in document["tail"]["groups"]) == NEEDED


@pytest.mark.parametrize(("limit", "code"), [(NEEDED - 1, 1), (NEEDED, 0), (8 << 20, 0)])
def test_check_judges_by_the_very_size_that_is_asked_about(
    limit: int, code: int, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = said(["check", MODEL, "--firmware", program, "--executed", "--limit", str(limit), "--json"], capsys)
    document = json.loads(text)
    assert (found, document["fits"], document["smallest_arena_bytes"]) == (code, code == 0, NEEDED)
    assert bool(document["log"]) == bool(code)


def test_a_program_that_can_be_read_only_once_is_read_once(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["cat", program], stdout=subprocess.PIPE) as pipe:
        assert pipe.stdout is not None
        name = f"/dev/fd/{pipe.stdout.fileno()}"
        code, text = said(["size", MODEL, "--firmware", name, "--executed"], capsys)
    assert (code, "smallest arena  164 B" in text) == (0, True)


def test_report_draws_what_the_program_took(program: str, tmp_path: Path) -> None:
    page = tmp_path / "picture.json"
    assert main(["report", MODEL, "--firmware", program, "--executed", "-o", str(page)]) == 0
    (picture,) = json.loads(page.read_text("utf-8"))["pictures"]
    assert picture["size"]["executed"]["compared"] == 0
    assert picture["arena_bytes"] == 4096


@pytest.mark.parametrize("form", ["html", "svg", "json"])
def test_every_report_shows_what_the_program_took_before_tflms_own_steps(
    form: str, program: str, tmp_path: Path
) -> None:
    out = tmp_path / f"report.{form}"
    assert main(["report", "sample:residual", "--firmware", program, "--executed", "-o", str(out)]) == 0
    assert "allocator objects" in out.read_text("utf-8")


@pytest.mark.parametrize("model", [[], [MODEL]])
def test_trace_prints_what_the_programs_allocator_was_asked_for(
    model: list[str], program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["trace", *model, "--firmware", program, "--executed", "--jsonl"], capsys)
    rows = [json.loads(line) for line in text.splitlines()]
    assert code == 0
    assert sum(row["used"] for row in rows if row["e"] == "persist") == NEEDED
    assert rows[-1]["tail_used"] == NEEDED
    code, text = said(["trace", *model, "--firmware", program, "--executed"], capsys)
    assert (code, f"tail_used={NEEDED}" in text, "executed with this model in it" in text) == (0, True, True)


def test_diff_compares_programs_with_their_own_models(
    program: str, with_two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["diff", program, with_two, "--executed", "--json"], capsys)
    document = json.loads(text)
    assert code == 0
    assert {row["figure"]: (row["before"], row["after"]) for row in document["figures"]}["smallest_arena_bytes"] == (
        NEEDED, NEEDED,
    )  # fmt: skip
    assert [document[side]["executed"]["file"] for side in ("before", "after")] == [program, with_two]
    code, text = said(["diff", program, with_two, "--into", "1", "--executed"], capsys)
    assert (code, "after: measured: " in text) == (0, True)


def test_diff_compares_the_smallest_arenas_run_of_a_program_that_fails_in_its_own(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """128 B are less than 164: with 176, the next multiple of 16, it asks for what it asks for in the other's 4,096."""
    small = str(model_program.built(tmp_path / "small", sample_path("sine").read_bytes(), ((1, 1), (1, 1)), arena=128))
    code, text = said(["diff", small, program, "--executed"], capsys)
    fails = "before: it fails in its own arena of 128 B: figures are of the smallest that works, if one does"
    assert (code, fails in text) == (0, True)
    assert "after: it fails" not in text
    document = json.loads(said(["diff", small, program, "--executed", "--json"], capsys)[1])
    figures = {row["figure"]: (row["before"], row["after"]) for row in document["figures"]}
    assert figures["tail_bytes"] == (NEEDED, NEEDED)
    assert figures["head_bytes"] == (0, 0)
    assert figures["arena_used_bytes"] == (NEEDED, NEEDED)


def test_diff_of_a_simulation_and_a_program_has_only_what_is_seen_of_both(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(["diff", MODEL, program, "--executed", "--target", "cortex-m4", "--json"], capsys)
    document = json.loads(text)
    # What size sample:sine --target cortex-m4 says: 1,156.
    figures = {row["figure"]: row["bytes"] for row in document["figures"]}
    assert (code, figures["smallest_arena_bytes"]) == (0, NEEDED - 1156)
    assert [document[name] for name in ("scratch", "tensors", "categories", "recorded")] == [[]] * 4
    assert ("executed" in document["before"], "executed" in document["after"]) == (False, True)


def test_diff_takes_one_model_in_two_programs(program: str, with_two: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["diff", MODEL, "--firmware", program, "--firmware", program, "--executed", "--fail-on-increase"]
    code, text = said(arguments, capsys)
    assert (code, "yes: the smallest arena did not grow" in text) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trace"], "no model is given"),
        (["trace", MODEL, "--firmware", "APP", "--executed", "--arena-size", "64"], "with --arena-size; remove one"),
        (["diff", "APP", MODEL], "is a linked program; add --executed to run it with its own model"),
        (["diff", "APP", "--executed", "--split-arenas"], "with --split-arenas; remove one"),
        (["diff", MODEL, "--executed"], "--executed needs --firmware APP.elf"),
        (["size", MODEL, "--executed"], "--executed needs --firmware APP.elf"),
        (["size", MODEL, "--firmware", "APP", "--executed", "--jsonl"], "with --jsonl; remove one"),
        (["size"], "no model is given"),
        (["report", "-o", "report.html"], "no model is given"),
        (["check", MODEL, "--firmware", "APP", "--executed", "--board", "nano33ble"], "with --board; remove one"),
        (["report", MODEL, "--firmware", "APP", "--executed", "--advise", "-o", "-"], "with --executed; remove one"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str], words: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([program if each == "APP" else each for each in arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def with_two(tmp_path: Path) -> str:
    """Return a program with two interpreters, each with a model and an arena of its own."""
    models = (sample_path(name).read_bytes() for name in ("sine", "residual"))
    return str(model_program.built(tmp_path / "two", next(models), ((1, 1), (1, 1)), other=next(models)))


def test_of_several_models_one_is_replaced_that_is_named(
    with_two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["firmware", with_two, "--run"]) == 0
    shown = capsys.readouterr().out
    assert "result    AllocateTensors() of interpreter 1: 164 B used" in shown
    assert "result    AllocateTensors() of interpreter 2: 164 B used" in shown
    data = sample_path("sine").read_bytes()
    weight = next(one.address for one in load(MODEL).buffers if one.data)
    other = tmp_path / "other.tflite"
    other.write_bytes(data[:weight] + bytes([data[weight] ^ 1]) + data[weight + 1 :])
    assert main(["size", str(other), "--firmware", with_two, "--executed"]) == 3
    assert "it holds several models; --into N says whose is replaced" in capsys.readouterr().err
    for number, name in enumerate(("tensor_arena", "other_arena"), 1):
        code, text = said(
            ["size", MODEL, "--firmware", with_two, "--executed", "--into", str(number), "--json"], capsys
        )
        found = json.loads(text)
        assert (code, found["smallest_arena_bytes"]) == (0, 164)
        assert (found["executed"]["arena"], found["executed"]["interpreter"]) == (name, number)
    assert main(["firmware", with_two, "--run", "--model", MODEL, "--into", "3"]) == 3
    assert "there is no interpreter 3: it has 2" in capsys.readouterr().err


def test_of_two_interpreters_that_are_made_first_each_has_its_own_invoke(tmp_path: Path) -> None:
    first, second = (sample_path(name).read_bytes() for name in ("sine", "residual"))
    only_the_second = "if (model[12] == 48) outputs[0]->data[9999] = 1"  # 28 in the first.
    program = model_program.built(
        tmp_path, first, ((1, 1), (1, 1)), other=second, is_together=True, stray=only_the_second
    )
    found = execute(program, invokes=1)
    assert [arena.symbol for arena in found.arenas] == ["tensor_arena", "other_arena"]
    runs = [run for arena in found.arenas for run in arena.allocations[0].invocations]
    assert [len(run.stores or ()) for run in runs] == [0, 1]
    assert main(["firmware", str(program), "--run"]) == 1


@pytest.mark.parametrize("arguments", [["firmware", "APP", "--run", "--into", "1"], ["size", MODEL, "--into", "1"]])
def test_an_interpreter_is_named_only_for_a_model_that_is_put_into_it(
    arguments: list[str], with_two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([with_two if each == "APP" else each for each in arguments]) == 2
    assert "--into N needs" in capsys.readouterr().err


def split_execution(model: str, stays: int, rests: int) -> Execution:
    """Return what a program with two arenas says whose requests are those of the simulation."""
    simulation = simulate(model, "cortex-m4", arena_size=stays, non_persistent_arena_size=rests)
    assert simulation.split is not None
    one = execution_of(stays)
    allocation = replace(one.arenas[0].allocations[0], events=tuple(rows_of(simulation.events)))
    sizes = (("persistent", stays, simulation.split.persistent), ("rest", rests, simulation.split.non_persistent))
    arenas = tuple(
        replace(
            one.arenas[0], part=part, symbol=part, size=size, smallest_arena=least, succeeds_from=least,
            smallest_arena_multiple_of_16=-(-least // 16) * 16, allocations=(allocation,) if part != "rest" else (),
        )
        for part, size, least in sizes
    )  # fmt: skip
    return replace(one, arenas=arenas)


@pytest.mark.parametrize("agrees", [True, False])
def test_two_arenas_of_one_interpreter_are_both_sized(agrees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "execute", lambda *_, **__: split_execution(MODEL, 4096, 2048))
    model = load(MODEL)
    found = measured.measure("app.elf", model, [configure("cortex-m4" if agrees else "esp32")])
    # What size --split-arenas says for this model and target: 752 and 560.
    assert (found.is_simulated, found.smallest, found.multiple_of_16) == (agrees, 752 + 560, 752 + 560)
    split = measured_document(model, found).answer.smallest_split_arenas_bytes
    assert split is not None
    assert (split.persistent, split.non_persistent) == (752, 560)
    lines = measured_lines(model, found)
    assert "persistent for what stays, rest for the rest: each is sized with the other as the program has it" in lines
    (picture,) = measured_pictures(model, found)
    assert picture.split_at == (560 if agrees else 2048)


def execution_of(arena_size: int) -> Execution:
    """Return what a program says whose requests are those of the simulation."""
    simulation = simulate(MODEL, "cortex-m4", arena_size=arena_size)
    assert simulation.smallest is not None
    size = simulation.smallest.size
    allocation = ExecutedAllocation(
        interpreter=1, status="ok", arena_used_bytes=simulation.arena_used_bytes, refused=0, damage="", ending="",
        log=(), stack=None, stack_room=None,
        model=None, events=tuple(rows_of(simulation.events)), invocations=(), stores=(),
    )  # fmt: skip
    arena = ExecutedArena(
        symbol="arena", part="all", address=0x20000000, size=arena_size, is_exact=True, fits=True, works=True,
        arena_used_bytes=simulation.arena_used_bytes, smallest_arena=size, arena_used_bytes_at_smallest=size,
        smallest_arena_multiple_of_16=-(-size // 16) * 16, succeeds_from=size, log_below=(), reason="",
        allocations=(allocation,), trials=9, tried=(),
    )  # fmt: skip
    return Execution(
        file="app.elf", core="Cortex-M4", emulator="Unicorn", start="", is_guessed=True, ending="", output="",
        arenas=(arena,),
    )  # fmt: skip


def test_of_an_arena_that_two_interpreters_share_head_and_tail_are_those_of_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = simulate([MODEL, MODEL], "cortex-m4", arena_size=8192)
    one = execution_of(8192)
    rows = tuple(rows_of(both.events))
    turn = [at for at, row in enumerate(rows) if row.name == "builtin_data_allocator"][1]
    allocations = tuple(
        replace(one.arenas[0].allocations[0], interpreter=number, events=events)
        for number, events in ((1, rows[:turn]), (2, rows[turn:]))
    )
    arena = replace(one.arenas[0], allocations=allocations, arena_used_bytes=both.arena_used_bytes)
    monkeypatch.setattr(measured, "execute", lambda *_, **__: replace(one, arenas=(arena,)))
    model = load(MODEL)
    answer = measured_document(model, measured.measure("app.elf", model, [configure("esp32")])).answer
    assert (answer.head_bytes, answer.tail_bytes) == (both.head_bytes, both.tail_bytes)
    assert sum(group.used for group in answer.tail.groups) == both.tail_bytes
    assert [row.operator for row in answer.tail.ops] == [0, 1, 2]


@pytest.mark.parametrize(("second", "code", "is_left"), [(1, 0, True), (2, 1, False)])
def test_an_arena_that_its_interpreter_leaves_for_a_larger_one_does_not_count(
    second: int, code: int, is_left: bool
) -> None:
    one = execution_of(8192)
    allocation = replace(one.arenas[0].allocations[0], model=0x1010)
    small = replace(
        one.arenas[0], size=1000, fits=False, works=False, smallest_arena=None, reason="AllocateTensors() returned 1",
        allocations=(replace(allocation, status="error"),),
    )  # fmt: skip
    large = replace(one.arenas[0], allocations=(replace(allocation, interpreter=second),))
    execution = replace(one, arenas=(small, large))
    assert (execution.is_left(small), execution.is_left(large)) == (is_left, False)
    assert execution.exit_code == code
    assert any("it does not count" in line for line in execution_lines(execution)) == is_left


def test_of_equal_arenas_one_after_the_other_each_counts() -> None:
    one = execution_of(8192)
    twice = (one.arenas[0], replace(one.arenas[0]))
    assert [replace(one, arenas=twice).is_left(each) for each in twice] == [False, False]


def test_what_the_simulation_knows_holds_where_all_requests_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "execute", lambda *_, **__: execution_of(8192))
    other, right = configure("esp32"), configure("cortex-m4")
    model = load(MODEL)
    found = measured.measure("app.elf", model, [other, right])
    assert (found.configuration, found.is_simulated, found.facts.difference) == (right, True, "")
    document = measured_document(model, found)
    assert document.answer.peak is not None
    assert document.answer.buffers
    assert any("parts of the system around it were made up" in line for line in measured_lines(model, found))
    assert measured_pictures(model, found)[0].residents


def test_where_the_smallest_arena_is_another_one_only_what_was_seen_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "execute", lambda *_, **__: execution_of(8192))
    monkeypatch.setattr(measured, "_smallest", lambda *_: 1)
    model = load(MODEL)
    found = measured.measure("app.elf", model, [configure("cortex-m4")])
    assert not found.is_simulated
    answer = measured_document(model, found).answer
    assert answer.smallest_arena_bytes == found.arena.smallest_arena
    assert answer.operators == (("FULLY_CONNECTED",) * 3,)
    assert (answer.buffers, answer.peak) == ((), None)


PASSED = "8,192 B are passed for arena, which has 5,000 B there"
PARTS = "8,192 B are passed for s.arena, which has 5,000 B: the 3,192 B behind it belong to s"
MIDDLE = "the arena begins 64 B behind the start of pool"


@pytest.mark.parametrize(
    ("seen", "fault", "conditions", "limit", "answer", "reason"),
    [
        (PASSED, "", (), 8192, "no", f"needs 1,168 B; {PASSED}"),
        ("", PARTS, (), 8192, "no", f"needs 1,168 B; {PARTS}"),
        ("", "", (MIDDLE,), 8192, "if", ""),
        # An arena of another size would be another object.
        (PASSED, PARTS, (MIDDLE,), 4096, "yes", ""),
    ],
)
def test_the_size_that_a_program_has_must_lie_where_nothing_else_does(
    seen: str,
    fault: str,
    conditions: tuple[str, ...],
    limit: int,
    answer: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = execution_of(8192)
    arena = replace(one.arenas[0], works=not seen, reason=seen, tried=(TriedSize(limit, works=True),))
    place = ExecutedPlace(address=arena.address, fault=fault, conditions=conditions)
    monkeypatch.setattr(measured, "execute", lambda *_, **__: replace(one, arenas=(arena,)))
    monkeypatch.setattr(measured, "read_firmware", lambda _: SimpleNamespace(copies_of=lambda model: []))
    monkeypatch.setattr(measured, "executed_places", lambda *_: (place,))
    model = load(MODEL)
    program = MeasuredProgram(measured.measure("app.elf", model, [configure("cortex-m4")], [limit]))
    verdict = judge_measured(MODEL, model, program, limit, key="")
    assert (verdict.answer, verdict.reason) == (answer, reason)
    assert verdict.doubts == tuple(Doubt(text, settled_by="") for text in conditions if answer == "if")


def test_of_another_size_the_reason_is_not_that_of_the_programs_own_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    one = execution_of(8192)
    own = replace(
        one.arenas[0], size=1000, fits=False, works=False, reason="own", tried=(TriedSize(1170, works=False),)
    )
    monkeypatch.setattr(measured, "execute", lambda *_, **__: replace(one, arenas=(own,)))
    model = load(MODEL)
    program = MeasuredProgram(measured.measure("app.elf", model, [configure("cortex-m4")], [1170]))
    verdict = judge_measured(MODEL, model, program, 1170, key="")
    assert verdict.reason == "needs 1,168 B; 1,170 B are not a multiple of 16 and do not work"
