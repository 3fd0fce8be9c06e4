"""Programs that go their own way: without symbols, with arenas made again, with results that they look at."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError

sys.path.insert(0, str(Path(__file__).parent))
import message_program
import two_arenas_program

pytest.importorskip("unicorn")

# The allocator takes 24 B, the interpreter what it needs, and a temp of 64 B stands at the start.
PLAIN = 24 + 100 + 64


def stripped(program: Path) -> Path:
    """Return the program without its symbols."""
    tool = "riscv64-unknown-elf-strip" if program.read_bytes()[18] == 243 else "arm-none-eabi-strip"
    subprocess.run([tool, str(program)], check=True)
    return program


@pytest.mark.parametrize("core", message_program.COMPILERS)
def test_a_program_without_symbols_is_followed_by_its_messages(core: str, tmp_path: Path) -> None:
    program = message_program.built(tmp_path, core=core)
    (named,) = tflm_sim.execute(program, invokes=1).arenas
    found = tflm_sim.execute(stripped(program), invokes=1)
    (arena,) = found.arenas
    assert found.start == "started from reset, TFLM's functions found by their messages"
    assert (arena.smallest_arena, arena.succeeds_from, arena.address) == (PLAIN, PLAIN, named.address)
    assert arena.allocations[0].events == named.allocations[0].events
    assert [(row.kind, row.size) for row in arena.allocations[0].events] == [
        ("persist", 24), ("persist", 100), ("temp", 64), ("temp_reset", 1)
    ]  # fmt: skip
    assert arena.log_below == ("Failed to allocate temp memory. Requested: 64",)
    (invoke,), (same,) = arena.allocations[0].invocations, named.allocations[0].invocations
    assert (invoke.status, invoke.stack, invoke.instructions) == ("ok", same.stack, same.instructions)


@pytest.mark.parametrize(
    ("core", "layout"),
    [
        ("rv32imac", "-Ttext=0x80000000,-Tdata=0x80010000,--defsym=__StackTop=0x80020000"),
        (
            "cortex-m33",
            "--section-start=.vectors=0x10000000,-Ttext=0x10008000,-Tdata=0x38000000,--defsym=__StackTop=0x38010000",
        ),
    ],
)
def test_both_emulators_say_the_same_of_a_program_that_both_have_the_memory_for(
    core: str, layout: str, tmp_path: Path
) -> None:
    if shutil.which("qemu-system-arm") is None or shutil.which("qemu-system-riscv32") is None:
        pytest.skip("qemu not installed")
    program = message_program.built(tmp_path, message_program.PLAIN, core, f"-Wl,{layout}")
    ours, theirs = (
        tflm_sim.execute(program, invokes=1, emulator=emulator).arenas[0] for emulator in ("unicorn", "qemu")
    )
    assert (theirs.smallest_arena, theirs.succeeds_from, theirs.fits) == (PLAIN, PLAIN, True)
    (mine,), (other,) = ours.allocations, theirs.allocations
    assert (other.stack, other.events) == (mine.stack, mine.events)
    (called,), (same,) = mine.invocations, other.invocations
    assert (same.status, same.stack, same.instructions) == ("ok", called.stack, called.instructions)


def test_a_program_without_symbols_and_messages_is_refused_in_words(tmp_path: Path) -> None:
    program = stripped(message_program.built(tmp_path, message_program.PLAIN, "cortex-m4", "-DQUIET"))
    with pytest.raises(FirmwareError, match="it has neither symbols nor the messages by which"):
        tflm_sim.execute(program)


def test_a_function_that_only_holds_the_messages_of_allocate_tensors_is_not_taken_for_it(tmp_path: Path) -> None:
    # As link-time optimisation leaves it: what prints the message is a function whose argument has no model.
    program = message_program.built(tmp_path)
    program.write_bytes(program.read_bytes().replace((12 | 16 << 16).to_bytes(4, "little"), bytes(4)))
    with pytest.raises(FirmwareError, match="no AllocateTensors\\(\\) was reached"):
        tflm_sim.execute(stripped(program))


def test_an_arena_that_is_made_again_in_the_same_place_is_another_one(tmp_path: Path) -> None:
    again = "make(tensor_arena, 1024, 300); interpreter.AllocateTensors()"
    program = message_program.built(tmp_path, f"{message_program.PLAIN}; {again}")
    first, second = tflm_sim.execute(program).arenas
    assert (first.symbol, first.smallest_arena, len(first.allocations)) == ("tensor_arena", PLAIN, 1)
    assert (second.symbol, second.smallest_arena, len(second.allocations)) == ("tensor_arena", PLAIN + 200, 1)


def test_invoke_is_run_where_the_program_gives_up_without_its_result(tmp_path: Path) -> None:
    other = "make(other_arena, 1024, 300); interpreter.AllocateTensors()"
    program = message_program.built(tmp_path, f"{message_program.PLAIN}; if (interpreter.result != 7) abort(); {other}")
    found = tflm_sim.execute(program)
    assert [one.smallest_arena for one in found.arenas] == [PLAIN, PLAIN + 200]
    assert found.ending == "it ended"


def test_many_calls_of_invoke_are_not_yet_the_main_loop(tmp_path: Path) -> None:
    many = "for (volatile int at = 0; at < 50; at = at + 1) interpreter.Invoke()"
    other = "make(other_arena, 1024, 300); interpreter.AllocateTensors()"
    found = tflm_sim.execute(message_program.built(tmp_path, f"{message_program.PLAIN}; {many}; {other}"))
    assert [one.smallest_arena for one in found.arenas] == [PLAIN, PLAIN + 200]


def test_an_endless_loop_of_invoke_is_the_main_loop(tmp_path: Path) -> None:
    found = tflm_sim.execute(message_program.built(tmp_path, f"{message_program.PLAIN}; for (;;) interpreter.Invoke()"))
    assert (found.ending, len(found.arenas)) == ("it calls Invoke() again and again", 1)


def test_invoke_that_calls_allocate_tensors_returns_what_it_does(tmp_path: Path) -> None:
    # 24 B and 100 B do not fit into 112 B; Invoke() tries once more, on the stack that it was lent.
    program = message_program.built(tmp_path, message_program.PLAIN.replace("1024", "112"))
    (arena,) = (found := tflm_sim.execute(program, invokes=1)).arenas
    assert [one.status for one in arena.allocations] == ["error", "error"]
    assert [one.status for one in arena.allocations[0].invocations] == ["error"]
    assert (found.bad_stores, found.ending) == ((), "it ended")


@pytest.mark.parametrize(
    ("name", "main"), [("task", "(void)0"), ("setup", "if (*(volatile uint8_t *)other_arena == 77) setup()")]
)
def test_what_the_system_starts_is_started_before_the_function_that_it_calls(
    name: str, main: str, tmp_path: Path
) -> None:
    # Started in init_model() itself, the arena's size would not be set yet: 0 B.
    function = f"-DFUNCTION=void {name}() {{ arena_size = 1024; init_model(); }} void (*volatile entry)() = {name};"
    found = tflm_sim.execute(message_program.built(tmp_path, main, "cortex-m4", function))
    assert (found.start, found.is_guessed) == (f"started in {name}(), functions of vendors answered", True)
    assert [(one.size, one.smallest_arena) for one in found.arenas] == [(1024, PLAIN)]


def test_a_guessed_way_in_which_something_fails_gives_way_to_one_in_which_all_works(tmp_path: Path) -> None:
    # Nobody calls either; early() comes first, and sets nothing.
    functions = "void early() { init_model(); } void late() { arena_size = 1024; init_model(); }"
    pointers = "void (*volatile entries[])() = {early, late};"
    program = message_program.built(tmp_path, "(void)0", "cortex-m4", f"-DFUNCTION={functions} {pointers}")
    found = tflm_sim.execute(program)
    assert [(one.size, one.smallest_arena) for one in found.arenas] == [(1024, PLAIN)]
    assert found.start == "started in late(), functions of vendors answered"


def test_two_arenas_of_one_allocator_are_sized_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = two_arenas_program.built(tmp_path)
    stays, rest = tflm_sim.execute(program, invokes=1).arenas
    assert [(one.symbol, one.part, one.size) for one in (stays, rest)] == [
        ("arena_that_stays", "persistent", 1000), ("arena_of_the_rest", "rest", 1000)
    ]  # fmt: skip
    # What stays ends at a multiple of 16 and takes 8 B, 100 B and, at a multiple of 8, 8 B: the last ones lie at
    # 992 - 120 = 872, and 128 is the smallest size that ends so. The rest: 300 B from a multiple of 16 on, behind 12 B.
    assert (stays.smallest_arena, rest.smallest_arena) == (128, 312)
    assert [(row.kind, row.offset) for row in stays.allocations[0].events] == [
        ("persist", 984), ("persist", 884), ("temp", 0), ("persist", 872), ("temp_reset", 300)
    ]  # fmt: skip
    assert (rest.allocations, [one.status for one in stays.allocations[0].invocations]) == ((), ["ok"])
    assert main(["firmware", str(program), "--run"]) == 0
    assert "yes: arena_of_the_rest (1,000 B) needs 312 B" in capsys.readouterr().out


def test_two_arenas_whose_making_link_time_optimisation_hides_are_sized_one_by_one(tmp_path: Path) -> None:
    stays, rest = tflm_sim.execute(two_arenas_program.built(tmp_path, "-DHIDDEN"), invokes=1).arenas
    # What stays: 20 B, 8 B, 100 B and 8 B at a multiple of 8 below a multiple of 16 are 136 B. What is skipped at the
    # start of the rest is not seen.
    assert [(one.symbol, one.part, one.smallest_arena, one.is_exact) for one in (stays, rest)] == [
        ("arena_that_stays", "persistent", 144, True), ("arena_of_the_rest", "rest", 300, False)
    ]  # fmt: skip
    assert stays.allocations[0].arena_used_bytes == 136


def test_interpreters_that_are_all_made_before_the_first_allocates_are_kept_apart(tmp_path: Path) -> None:
    objects = "-DFUNCTION=static tflite::SingleArenaBufferAllocator other; static tflite::MicroInterpreter second;"
    both = "make(tensor_arena, 1024, 100); interpreter.result = (int)tensor_arena; "
    both += "other.start = other.head = other.temp = other_arena; other.end = other.tail = other_arena + 1024; "
    both += "other.AllocatePersistentBuffer(24, 4); second = {model + 3, &other, 0, 300, (int)other_arena}; "
    both += "interpreter.AllocateTensors(); second.AllocateTensors(); interpreter.Invoke(); second.Invoke()"
    program = message_program.built(tmp_path, both, "cortex-m4", objects)
    first, second = tflm_sim.execute(program, invokes=1).arenas
    assert (first.symbol, first.smallest_arena, len(first.allocations)) == ("tensor_arena", PLAIN, 1)
    assert (second.symbol, second.smallest_arena, len(second.allocations)) == ("other_arena", PLAIN + 200, 1)
    assert [len(one.allocations[0].invocations) for one in (first, second)] == [1, 1]


@pytest.mark.parametrize(
    ("end", "size", "is_exact"),
    # From the object's start to its end: 1,040 B. Alignment has skipped to the object's byte 8, so 1,027 - 8 are seen.
    [("room + 1040", 1040, True), ("room + 1027", 1019, False)],
)
def test_an_arena_within_an_object_begins_with_it_only_where_it_ends_with_it(
    end: str, size: int, is_exact: bool, tmp_path: Path
) -> None:
    objects = "-DFUNCTION=static tflite::SingleArenaBufferAllocator other; static tflite::MicroInterpreter second; "
    objects += '__attribute__((section(".room"), used)) uint8_t room[1040] = {1};'
    made = f"other.start = other.head = other.temp = room + 8; other.end = other.tail = {end}; "
    made += "other.AllocatePersistentBuffer(24, 4); second = {model + 3, &other, 0, 300, (int)room}; "
    program = message_program.built(
        tmp_path, f"{made} second.AllocateTensors()", "cortex-m4", objects, "-Wl,--section-start=.room=0x20008008"
    )
    (arena,) = tflm_sim.execute(program).arenas
    assert (arena.size, arena.is_exact) == (size, is_exact)


def test_each_of_two_interpreters_on_one_allocator_has_its_own_invoke(tmp_path: Path) -> None:
    both = f"{message_program.PLAIN.rpartition(';')[0]}; second = {{model + 3, &allocator, 0, 50, 0}}"
    both += "; second.AllocateTensors(); interpreter.Invoke(); second.Invoke(); second.Invoke()"
    second = "-DFUNCTION=static tflite::MicroInterpreter second;"
    (arena,) = tflm_sim.execute(message_program.built(tmp_path, both, "cortex-m4", second), invokes=2).arenas
    # The second one's 50 B, at a multiple of 4, follow the first one's.
    assert (arena.smallest_arena, len(arena.allocations)) == (PLAIN + 52, 2)
    assert [[one.status for one in each.invocations] for each in arena.allocations] == [["ok"], ["ok", "ok"]]


EXCEPTIONS = """
static volatile int ticks, calls, switches;
void tick() { ticks = ticks + 1; }
void called() { calls = calls + 1; }
void switched() { switches = switches + 1; }
static volatile uint32_t *system_register(uint32_t address) { return (volatile uint32_t *)address; }
static int exceptions() {
  *system_register(0xE000E010) = 3;
  while (ticks < 3) asm volatile(WAIT);
  register int kept asm("r0") = 40;
  asm volatile("svc 0" : "+r"(kept));
  int result = kept;
  *system_register(0xE000ED04) = 1 << 28;
  asm volatile("dsb\\n isb");
  return result + calls + switches;
}
"""
HANDLERS = ", 0, 0, 0, 0, (void *)called, 0, 0, (void *)switched, (void *)tick"


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33"])
@pytest.mark.parametrize("wait", ["wfi", "nop"])
def test_a_program_that_waits_for_its_clock_and_calls_its_supervisor_goes_on(
    wait: str, core: str, tmp_path: Path
) -> None:
    handled = [f"-DFUNCTION={EXCEPTIONS.replace(chr(10), ' ')}", f"-DHANDLERS={HANDLERS}", f'-DWAIT="{wait}"']
    # Each handler ran once, and the register that was stacked is as it was: 40 + 1 + 1.
    main = f"if (exceptions() != 42) for (;;); {message_program.PLAIN}"
    found = tflm_sim.execute(message_program.built(tmp_path, main, core, *handled), invokes=1)
    (arena,) = found.arenas
    assert (found.start, found.is_guessed, arena.smallest_arena) == ("started from reset", False, PLAIN)


@pytest.mark.nightly
def test_arithmetic_that_a_pico_leaves_to_its_boot_rom_is_answered(tmp_path: Path) -> None:
    loop = "while (*(volatile size_t *)&arena_size == 0) {}"
    rom = f'extern "C" __attribute__((noinline)) int __wrap___aeabi_idiv(int, int) {{ {loop} return 0; }}'
    main = f"if (__wrap___aeabi_idiv(84, 2) != 42) for (;;); {message_program.PLAIN}"
    found = tflm_sim.execute(message_program.built(tmp_path, main, "cortex-m0", f"-DFUNCTION={rom}"))
    assert (found.start, found.is_guessed) == ("started in main(), functions of vendors answered", True)
    assert [one.smallest_arena for one in found.arenas] == [PLAIN]


def test_the_emulator_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = message_program.built(tmp_path, f'{message_program.PLAIN}; for (;;) asm volatile("")')
    code = f"import tflm_sim; tflm_sim.execute({str(program)!r})"
    with subprocess.Popen([sys.executable, "-c", code]) as starter:
        children = Path(f"/proc/{starter.pid}/task/{starter.pid}/children")
        if not children.exists():
            pytest.skip("the system does not list a process's children")
        while not (worker := children.read_text("ascii").strip()):
            time.sleep(0.05)
        starter.kill()
    for _ in range(200):
        if not Path(f"/proc/{worker}").exists() or "State:\tZ" in Path(f"/proc/{worker}/status").read_text("ascii"):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {worker} goes on")
