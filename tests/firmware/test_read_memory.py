"""``tflm-sim firmware`` looks at memory itself: whose bytes TFLM would write to. Programs are compiled here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tflm_sim.cli import main

sys.path.insert(0, str(Path(__file__).parent))
import set_up_forms

MAKE = "MicroInterpreter it(GetModel(g_model), resolver, {}); chosen = it.AllocateTensors();"


def verdict(capsys: pytest.CaptureFixture[str], elf: Path) -> tuple[int, str]:
    """Return the exit code, and the line with the verdict from the arena's name on."""
    code = main(["firmware", str(elf), "--runtime", "90b983c2b"])
    return code, capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("objects", "passed", "words"),
    [
        (
            "alignas(16) static uint8_t pool[2000]; alignas(16) static int after[200];",
            "pool, 2200",
            "in pool (2,200 B): 2,200 B are passed for pool, which has 2,000 B: the 200 B behind it belong to ",
        ),
        (
            "static struct { alignas(16) uint8_t arena[2000]; int after[200]; } g; static int *after = g.after;",
            "g.arena, 2200",
            "in g.arena (2,200 B): 2,200 B are passed for g.arena, which has 2,000 B: the 200 B behind it belong to g; "
            "the model needs 1,072 B",
        ),
        (
            "static struct Pools { char n; struct { alignas(16) uint8_t in[2000]; char rest[80]; } of[3]; } g;"
            "static char *after = g.of[1].rest;",
            "g.of[1].in, 2160",
            "in g.of.in (2,160 B): 2,160 B are passed for g.of.in, which has 2,000 B: the 160 B behind it belong to g; "
            "the model needs 1,072 B",
        ),
        (
            "static int after[1];",
            "(uint8_t *)0x7f000, 8192",
            "reaches 4,096 B past _estack (0x80000), from where the stack grows down; the model needs 1,072 B",
        ),
        (
            "static int after[1];",
            "(uint8_t *)malloc(500), 2000",
            "in the heap (2,000 B): 2,000 B are passed, and 500 B are taken from the heap; the model needs 1,0",
        ),
        (
            "extern const uint8_t fixed[2000]; const uint8_t fixed[2000] = {1}; static int after[1];",
            "(uint8_t *)fixed, 2000",
            "in fixed (2,000 B): fixed lies in memory that cannot be written; the model needs 1,0",
        ),
    ],
)
def test_an_arena_over_bytes_of_somebody_else_is_a_no(
    objects: str, passed: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"{objects} int main() {{ fill(); {MAKE.format(passed)} return after[chosen]; }}"
    code, line = verdict(capsys, set_up_forms.program(tmp_path, source))
    assert (code, line.startswith("no: model g_model ")) == (1, True)
    assert words in line


def test_the_same_arena_with_room_for_what_is_passed_is_a_yes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = "static struct { alignas(16) uint8_t arena[2000]; int after[200]; } g;"
    source = f"{objects} int main() {{ fill(); {MAKE.format('g.arena, 2000')} return g.after[chosen]; }}"
    code, line = verdict(capsys, set_up_forms.program(tmp_path, source))
    assert code == 0
    assert line.startswith("yes: model g_model ")
    assert line.endswith("in g.arena (2,000 B): needs 1,072 B; you can give back 928 B")


@pytest.mark.parametrize(
    ("objects", "passed", "condition"),
    [
        (
            "static union { alignas(16) uint8_t arena[2000]; int samples[500]; } u; static int *after = u.samples;",
            "u.arena, 2000",
            "if nothing is stored in u.samples while the model is in use: ",
        ),
        (
            "alignas(16) static int table[1000]; static int *after = table;",
            "(uint8_t *)table + 1024, 2000",
            "if table is there for it (the arena begins 1,024 B behind its start): ",
        ),
        (
            "static int after[1];",
            "(uint8_t *)0x60000, 8192",
            "if the stack needs no more than the 122,880 B between the arena and _estack and the heap stays below the "
            "arena at 0x60000: ",
        ),
        ("static int after[1];", "(uint8_t *)0x20000000, 8192", "if there is free RAM from 0x20000000 to 0x20002000: "),
    ],
)
def test_what_a_file_does_not_say_of_the_arenas_place_is_a_condition(
    objects: str, passed: str, condition: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heap = "after[0] = *(int *)malloc(4);"
    source = f"{objects} int main() {{ fill(); {MAKE.format(passed)} {heap} return after[chosen]; }}"
    _, line = verdict(capsys, set_up_forms.program(tmp_path, source))
    assert line.startswith(f"yes, {condition}model g_model ")


def test_two_interpreters_in_the_same_bytes_are_not_to_be_used_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
    alignas(16) static uint8_t tensor_arena[4000];
    QUIET int one() {
      MicroInterpreter it(GetModel(g_model), resolver, tensor_arena, 4000);
      return it.AllocateTensors();
    }
    QUIET int two() {
      MicroInterpreter it(GetModel(g_model), resolver, tensor_arena + 2000, 2000);
      return it.AllocateTensors();
    }
    int main() { fill(); return one() + two(); }
    """
    _, line = verdict(capsys, set_up_forms.program(tmp_path, source))
    assert "it is not used at the same time as the interpreter that is made at 0x" in line


@pytest.mark.parametrize(
    ("arena", "where", "condition"),
    [
        ("__builtin_alloca(2000)", "the stack", "the stack has room for the 2,000 B of the arena"),
        (
            "somewhere()",
            "the arena that it is given",
            "the 2,000 B that are passed are its own (where they lie is not ",
        ),
    ],
)
def test_of_an_arena_whose_place_is_not_read_the_size_that_is_passed_is_judged(
    arena: str, where: str, condition: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""
    QUIET uint8_t *somewhere() {{ return (uint8_t *)malloc(2000) + chosen; }}
    int main() {{ fill(); {MAKE.format(f"(uint8_t *){arena}, 2000")} return chosen; }}
    """
    code, line = verdict(capsys, set_up_forms.program(tmp_path, source))
    assert code == 3
    assert line.startswith(f"yes, if {condition}")
    assert f" in {where} (2,000 B): needs 1,0" in line


@pytest.mark.parametrize(
    ("arena", "first"),
    [
        ("__builtin_alloca_with_align(2000, 128)", "yes, if the stack has room for the 2,000 B of the arena: model "),
        ("((unsigned)malloc(2015) + 15 & -16)", "yes: model "),
        (
            "((unsigned)malloc(2000) + 15 & -16)",
            "yes, if the heap has the 2,000 B that are passed (1,985 B are taken from there, behind a multiple of 16)",
        ),
    ],
)
def test_an_arena_that_the_program_aligns_needs_what_a_static_one_does(
    arena: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = f"int main() {{ fill(); {MAKE.format(f'(uint8_t *){arena}, 2000')} return chosen; }}"
    _, line = verdict(capsys, set_up_forms.program(tmp_path, whole))
    assert line.startswith(first)
    assert " (2,000 B): needs 1,072 B" in line


@pytest.mark.parametrize(
    ("source", "arena", "where"),
    [
        ("alignas(16) static uint8_t pool[2000]; QUIET uint8_t *get() { return pool; }", "get(), 2000", "pool"),
        ("QUIET uint8_t *get() { return (uint8_t *)malloc(2000); }", "get(), 2000", "the heap"),
        (
            'extern "C" QUIET void *calloc(int n, size_t s) { return malloc(n * s); }',
            "(uint8_t *)calloc(1, 2000), 2000",
            "the heap",
        ),
        ("", "(uint8_t *)((unsigned)malloc(2015) + 15 & -16), 2000", "the heap"),
        (
            "alignas(16) static uint8_t pool[2096]; QUIET uint8_t *behind(uint8_t *p) { return p + 96; }",
            "behind(pool), 2000",
            "pool + 96",
        ),
        (
            "static uint8_t *arena; static unsigned size;"
            "QUIET void prepare() { size = 2000; arena = (uint8_t *)malloc(size); }",
            "(prepare(), arena), size",
            "the heap",
        ),
    ],
)
def test_an_arena_that_a_function_returns_or_a_variable_holds_is_found(
    source: str, arena: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = f"{source} int main() {{ fill(); {MAKE.format(arena)} return chosen; }}"
    _, line = verdict(capsys, set_up_forms.program(tmp_path, whole, "-fno-ipa-ra"))
    assert line.startswith("yes")
    assert f" in {where} (2,000 B): needs 1,0" in line
