"""What ``tflm-sim firmware`` takes for granted of a program is proved by its code, or said; programs compiled here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.cli import main

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import set_up_forms

ARENA = "alignas(16) static uint8_t tensor_arena[4000];"
ALLOCATOR = f"{ARENA} static MicroAllocator *make() {{ return MicroAllocator::Create(tensor_arena, 4000); }}"


def judged(
    capsys: pytest.CaptureFixture[str], folder: Path, source: str, *flags: str, options: tuple[str, ...] = ()
) -> tuple[int, Any]:
    """Return the exit code, and the verdict on a program's model."""
    elf = set_up_forms.program(folder, source, *flags)
    code = main(["firmware", str(elf), "--runtime", "90b983c2b", "--json", *options])
    [verdict] = json.loads(capsys.readouterr().out)["verdicts"]
    return code, verdict


def conditions(verdict: Any) -> list[str]:
    return [doubt["text"] for doubt in verdict["doubts"]]


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ("for (int i = 0; i < chosen; i++) it.AllocateTensors();", "AllocateTensors() is called once (it is called in"),
        ("for (int i = 0; i < chosen; i++) once(it);", "AllocateTensors() is called once (it is called in a loop"),
        ("for (int i = 0; i < chosen; i++) it.Invoke();", ""),  # which allocates where nobody did
        ("it.AllocateTensors();", ""),
        ("for (int i = 0; i < chosen; i++) fresh();", ""),
        ("for (int i = 0; i < chosen; i++) same();", "AllocateTensors() is called once (it is called in a loop"),
    ],
)
def test_tensors_that_are_allocated_in_a_loop_are_a_doubt_unless_the_interpreter_is_new_each_time(
    again: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "it(GetModel(g_model), resolver, tensor_arena, 4000);"
    source = f"""
    {ARENA}
    QUIET int once(MicroInterpreter &it) {{ return it.AllocateTensors(); }}
    QUIET int fresh() {{ MicroInterpreter {made} return it.AllocateTensors(); }}
    QUIET int same() {{ static MicroInterpreter {made} return it.AllocateTensors(); }}
    int main() {{ fill(); MicroInterpreter {made} {again} return it.state[1]; }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert verdict["answer"] != "no"
    assert [text for text in conditions(verdict) if text.startswith("AllocateTensors() is called once (it ")] == [
        text for text in conditions(verdict) if said and text.startswith(said)
    ]
    assert bool(said) == any(text.startswith(said) for text in conditions(verdict) if said)
    assert code == (3 if conditions(verdict) else 0)


def test_what_each_further_time_takes_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"""
    {ALLOCATOR}
    int main() {{
      fill();
      MicroAllocator *allocator = make();
      for (int i = 0; i < chosen; i++) {{
        MicroInterpreter it(GetModel(g_model), resolver, allocator);
        chosen += it.AllocateTensors();
      }}
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    (said,) = conditions(verdict)
    assert said.startswith("an interpreter is made once (it is made in a loop, on the same allocator: each time after ")
    assert code == 3


def test_interpreters_on_an_allocator_that_is_new_each_time_are_no_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ALLOCATOR}
    int main() {{
      fill();
      for (int i = 0; i < chosen; i++) {{
        MicroInterpreter it(GetModel(g_model), resolver, make());
        chosen += it.AllocateTensors();
      }}
    }}
    """
    assert judged(capsys, tmp_path, source)[0] == 0


@pytest.mark.parametrize(
    ("use", "needed"),
    [
        ("", 1068),
        ("chosen = (long)allocator->AllocatePersistentBuffer(160);", 1236),
        ("allocator->AllocatePersistentBuffer(160); allocator->AllocatePersistentBuffer(320);", 1556),
        ("allocator->AllocatePersistentBuffer(chosen);", None),
        ("for (int i = 0; i < chosen; i++) allocator->AllocatePersistentBuffer(160);", None),
        ("kept = allocator;", None),
        ("chosen = allocator->Other();", None),
    ],
)
def test_what_a_program_takes_of_its_allocator_itself_counts(
    use: str, needed: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ALLOCATOR}
    MicroAllocator *volatile kept;
    int main() {{
      fill();
      MicroAllocator *allocator = make();
      {use}
      MicroInterpreter it(GetModel(g_model), resolver, allocator);
      return it.AllocateTensors();
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert code == (3 if needed is None else 0)
    assert conditions(verdict) == ["the program takes nothing from its allocator itself"] * (needed is None)
    assert verdict["smallest_arena"] == (needed or 1068)


def test_allocator_objects_outside_of_the_arena_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ARENA}
    int main() {{
      fill();
      static SingleArenaBufferAllocator memory(tensor_arena, 4000);
      static GreedyMemoryPlanner planner;
      MicroInterpreter it(GetModel(g_model), resolver, MicroAllocator::Create(&memory, &planner));
      return it.AllocateTensors();
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert (code, verdict["arena"], verdict["arena_size"]) == (0, "tensor_arena", 4000)
    assert verdict["smallest_arena"] == 1068 - 36 - 44


def test_a_planner_or_a_resolver_of_the_programs_own_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ARENA}
    struct Stack : MicroMemoryPlanner {{ QUIET int GetOffsetForBuffer(int, int *) override {{ return chosen; }} }};
    struct Mine : MicroOpResolver {{
      TFLMRegistration row = Register_FULLY_CONNECTED();
      QUIET const TFLMRegistration *FindOp(BuiltinOperator) const override {{ return chosen ? &row : nullptr; }}
    }};
    int main() {{
      static Mine mine;
      static Stack planner;
      MicroInterpreter it(GetModel(g_model), mine, MicroAllocator::Create(tensor_arena, 4000, &planner));
      return it.AllocateTensors();
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert code == 3
    assert conditions(verdict) == [
        "its own planner (Stack) plans no more than TFLM's linear one, which shares nothing",
        "Mine, a resolver of the program's own, finds its operators, with TFLM's kernels",
    ]


def test_a_copy_of_the_model_at_an_odd_address_is_a_doubt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"""
    {ARENA}
    alignas(16) static uint8_t copied[4000];
    int main() {{
      fill();
      memcpy(copied + 2, g_model, 3000);
      MicroInterpreter it(GetModel(copied + 2), resolver, tensor_arena, 4000);
      return it.AllocateTensors();
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    (said,) = conditions(verdict)
    assert said.startswith("the processor loads words, pairs of words too, from addresses that are 2 modulo 4 (its ")
    assert code == 3
    assert judged(capsys, tmp_path, source.replace("copied + 2", "copied + 4"))[0] == 0


def test_another_model_takes_the_place_of_one_interpreters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
    alignas(16) static uint8_t workspace[6000];
    int main() {
      fill();
      MicroInterpreter one(GetModel(g_model), resolver, workspace, 2000);
      MicroInterpreter two(GetModel(g_model), resolver, workspace + 2000, 4000);
      return one.AllocateTensors() + two.AllocateTensors();
    }
    """
    for number, name, size in (("1", "workspace", 2000), ("2", "workspace + 2,000", 4000)):
        code, verdict = judged(capsys, tmp_path, source, options=("--model", "sample:sine", "--into", number))
        assert (code, verdict["arena"], verdict["arena_size"]) == (0, name, size)
        elf = str(set_up_forms.program(tmp_path, source))
        judgement = ["check", "sample:sine", "--limit", str(size), "--firmware", elf]
        assert main([*judgement, "--runtime", "90b983c2b", "--into", number, "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)["program"]
        assert [(one["arena"], one["arena_bytes"]) for one in facts["interpreters"]] == [(name, size)]
    for verb in (["firmware", elf, "--model"], ["size", "--firmware", elf], ["shrink", "--firmware", elf]):
        assert main([*verb, "sample:sine", "--into", "3"]) == 3
        assert "there is no interpreter 3: it has 2" in capsys.readouterr().err


def test_a_model_of_the_program_is_judged_where_the_program_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {elf_program.model_source("g_other", "residual")}
    alignas(16) static uint8_t tensor_arena[10000];
    int main() {{
      fill();
      MicroAllocator *shared = MicroAllocator::Create(tensor_arena, sizeof tensor_arena);
      static MicroInterpreter one(GetModel(g_model), resolver, shared), two(GetModel(g_other), resolver, shared);
      return one.AllocateTensors() + two.AllocateTensors();
    }}
    """
    elf = str(set_up_forms.program(tmp_path, source))
    of_program, of_its_model = ["firmware", elf], ["check", "sample:sine", "--limit", "10000", "--firmware", elf]
    sizes = {}
    for verb, part in ((of_program, "verdicts"), (of_its_model, "program")):
        main([*verb, "--runtime", "90b983c2b", "--json"])
        found = json.loads(capsys.readouterr().out)[part]
        verdict = next(one for one in found if one["model"] == "g_model") if part == "verdicts" else found
        sizes[part] = verdict["answer"], verdict["smallest_arena"]
    assert sizes == {"verdicts": ("no", 54876), "program": ("no", 54876)}


@pytest.mark.parametrize(
    ("limit", "answer", "first"),
    [
        ((), "if", "the arena that it is given has 1,072 B or more"),
        (("--limit", "1067"), "no", None),
        (("--limit", "1072"), "yes", None),
    ],
)
def test_of_an_arena_that_only_a_virtual_function_knows_it_is_said_what_it_must_have(
    limit: tuple[str, ...], answer: str, first: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
    alignas(16) static uint8_t pool[2000];
    struct Config { virtual uint8_t *where() = 0; virtual unsigned size() = 0; };
    struct Own : Config { uint8_t *where() override { return pool; } unsigned size() override { return 2000; } };
    static Own own;
    Config *volatile config = &own;
    int main() {
      fill();
      Config *it_is = config;
      MicroInterpreter it(GetModel(g_model), resolver, it_is->where(), it_is->size());
      return it.AllocateTensors();
    }
    """
    _, verdict = judged(capsys, tmp_path, source, options=limit)
    assert (verdict["answer"], verdict["smallest_arena_multiple_of_16"]) == (answer, 1072)
    assert first in conditions(verdict) or first is None


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (
            "while (!ready) chosen++;",
            "main() comes to AllocateTensors() (it waits for ready, which nothing sets, before)",
        ),
        ("while (!set) chosen++;", ""),
        (
            'if (answers() != 7) for (;;) __asm volatile("");',
            "main() comes to AllocateTensors() (by the device at 0x40005400, it may stay in a loop before)",
        ),
        ("if (answers() != 7) chosen++;", ""),
        ('if (chosen != 7) for (;;) __asm volatile("");', ""),
        ("for (int i = 0; i < chosen; i++) answers();", ""),
    ],
)
def test_a_loop_before_it_that_nothing_ends_is_a_doubt_about_all_that_comes_behind(
    before: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ARENA}
    volatile unsigned char ready, set;
    extern "C" __attribute__((used)) void Interrupt() {{ set = 1; }}
    QUIET int answers() {{ return *(volatile int *)0x40005400; }}
    int main() {{
      fill();
      {before}
      MicroInterpreter it(GetModel(g_model), resolver, tensor_arena, 4000);
      it.AllocateTensors();
      for (;;) if (!ready) chosen++;
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert [text for text in conditions(verdict) if "comes to AllocateTensors()" in text] == [said] * bool(said)
    assert code == (3 if said else 0)


WIPE = "wipe(tensor_arena + 100, 50);"
PASSED = "leaves alone what the model needs in its arena (it passes an address in it to wipe() while it is in use)"
MADE = "MicroInterpreter it(GetModel(g_model), resolver, tensor_arena, 4000);"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"{MADE} it.AllocateTensors(); {WIPE} it.Invoke();", f"main() {PASSED}"),
        (f"{MADE} {WIPE} it.AllocateTensors();", f"main() {PASSED}"),
        (
            f"{MADE} it.AllocateTensors(); for (volatile uint8_t &byte : tensor_arena) byte = 0; it.Invoke();",
            "main() leaves alone what the model needs in its arena (it stores there while it is in use)",
        ),
        ("for (int i = 0; i < chosen; i++) classify();", f"classify() {PASSED}"),
        (f"{WIPE} {MADE} it.AllocateTensors(); it.Invoke();", ""),
        (f"{MADE} it.AllocateTensors(); it.Invoke(); {WIPE}", ""),
        (f"for (int i = 0; i < chosen; i++) {{ {WIPE} {MADE} it.AllocateTensors(); it.Invoke(); }}", ""),
        (f"{MADE} it.AllocateTensors(); chosen = sum(tensor_arena, 50); it.Invoke();", ""),
    ],
)
def test_what_is_stored_in_an_arena_in_use_is_a_doubt(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ARENA}
    QUIET void wipe(volatile uint8_t *at, int size) {{ for (int i = 0; i < size; i++) at[i] = 0xff; }}
    QUIET int sum(const uint8_t *at, int size) {{ int n = 0; for (int i = 0; i < size; i++) n += at[i]; return n; }}
    QUIET static void classify() {{
      {WIPE}
      static {MADE}
      it.AllocateTensors();
    }}
    int main() {{ fill(); {body} return 0; }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    assert [text for text in conditions(verdict) if "leaves alone" in text] == [said] * bool(said)
    assert code == (3 if conditions(verdict) else 0)


@pytest.mark.parametrize(("size", "is_enough"), [(256, False), (4000, True)])
def test_a_small_stack_of_the_programs_own_is_a_doubt(
    size: int, is_enough: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    {ARENA}
    alignas(8) static uint8_t task_stack[{size}];
    QUIET void task() {{ {MADE} it.AllocateTensors(); for (;;) chosen++; }}
    int main() {{
      fill();
      void *top = task_stack + sizeof task_stack;
      __asm volatile("mov sp, %0\\n blx %1" : : "r"(top), "r"(task) : "memory");
    }}
    """
    code, verdict = judged(capsys, tmp_path, source)
    said = "the 256 B of task_stack, which main() makes its stack, are enough for AllocateTensors() and Invoke()"
    assert conditions(verdict) == [] if is_enough else [said]
    assert code == (0 if is_enough else 3)
