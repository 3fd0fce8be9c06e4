"""A program of our own with TFLM's names, executed: every figure is known beforehand, byte by byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import tflm_sim
from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.event_rows import events_of
from tflm_sim.extensions.firmware.emulation.execution import Execution
from tflm_sim.schemas.generate import published

sys.path.insert(0, str(Path(__file__).parent))
import run_program

pytest.importorskip("unicorn")


def executed(folder: Path, core: str = "cortex-m4", arena: int = 1024, invokes: int = 0) -> Execution:
    """Return what the program does."""
    return tflm_sim.execute(run_program.built(folder, core, arena), invokes=invokes)


@pytest.mark.parametrize("core", ["cortex-m3", "cortex-m4", "cortex-m33"])
def test_the_smallest_arena_is_exact_where_bytes_are_not_handed_out_twice(core: str, tmp_path: Path) -> None:
    (arena,) = executed(tmp_path, core).arenas
    # The object takes 24 B, then 100 B: the tail stands at S - 124. A temp of 64 B fits from S = 188 on, but 40 B at a
    # multiple of 16 lie above it only where S - 124 - 40 >= 64: from 228 on.
    assert (arena.succeeds_from, arena.smallest_arena, arena.smallest_arena_multiple_of_16) == (188, 228, 240)
    # In 1,024 B: 1000, 900, and 860 rounded down to 848.
    assert (arena.arena_used_bytes, arena.fits, arena.symbol) == (1024 - 848, True, "tensor_arena")


@pytest.mark.parametrize(
    ("core", "emulator"), [("cortex-m4", "unicorn"), ("cortex-m3", "qemu"), ("cortex-m55", "qemu")]
)
def test_a_size_in_which_the_program_faults_does_not_work_and_the_next_one_starts_afresh(
    core: str, emulator: str, tmp_path: Path
) -> None:
    if emulator == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    # Instead of returning an error, AllocateTensors() runs into an undefined instruction.
    program = run_program.built(tmp_path, core, 1024, "-DFAILED=(__builtin_trap(),1)")
    (arena,) = tflm_sim.execute(program, emulator=emulator).arenas
    assert (arena.succeeds_from, arena.smallest_arena, arena.fits) == (188, 228, True)


def test_what_is_asked_for_is_seen_call_by_call(tmp_path: Path) -> None:
    (arena,) = executed(tmp_path).arenas
    kinds = [(row.kind, row.size, row.offset) for row in arena.allocations[0].events]
    expected = [
        ("persist", 24, 1000),
        ("persist", 100, 900),
        ("temp", 64, 0),
        ("persist", 40, 848),
        ("temp_reset", 1, 64),
    ]
    assert kinds == expected
    assert len(list(events_of(arena.allocations[0].events, 1024))) == 5


def test_an_allocator_on_the_stack_is_asked_before_others_use_its_place(tmp_path: Path) -> None:
    # Create() has a first one there, which it copies into the arena; then its bytes are something else.
    gone = 'own.start = own.end = own.head = own.tail = own.temp = buffer + 500; asm volatile("" : : "m"(own))'
    program = run_program.built(tmp_path, "cortex-m4", 1024, "-DFAILED=1", f"-DPASSING={gone}")
    (arena,) = tflm_sim.execute(program).arenas
    assert (arena.fits, arena.smallest_arena, arena.arena_used_bytes) == (True, 228, 1024 - 848)
    assert [row.offset for row in arena.allocations[0].events] == [1000, 900, 0, 848, 64]


def test_what_is_asked_for_after_allocate_tensors_returned_is_none_of_its_requests(tmp_path: Path) -> None:
    # As TFLM's Invoke() does after each operator.
    reset = "interpreter.allocator->ResetTempAllocations()"
    program = run_program.built(tmp_path, "cortex-m4", 1024, "-DFAILED=1", f"-DAFTERWARDS={reset}, {reset}")
    (arena,) = tflm_sim.execute(program, invokes=1).arenas
    assert [row.kind for row in arena.allocations[0].events] == ["persist", "persist", "temp", "persist", "temp_reset"]


@pytest.mark.parametrize(
    ("core", "emulator"),
    [
        ("cortex-m3", "unicorn"),
        ("cortex-m4", "unicorn"),
        ("cortex-m33", "unicorn"),
        ("cortex-m3", "qemu"),
        ("cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard", "qemu"),
        ("cortex-m55", "qemu"),
    ],
)
def test_stack_and_instructions_of_invoke_are_counted(core: str, emulator: str, tmp_path: Path) -> None:
    if emulator == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    (arena,) = tflm_sim.execute(run_program.built(tmp_path, core), invokes=1, emulator=emulator).arenas
    (invoke,) = arena.allocations[0].invocations
    # Four registers and 64 bytes; 4 instructions before the loop, 250 times 2 in it, 4 behind.
    assert (invoke.status, invoke.stack) == ("ok", 16 + 64)
    assert invoke.instructions == 4 + 500 + 4


def test_a_cortex_m7_with_doubles_is_executed_as_one(tmp_path: Path) -> None:
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    execution = tflm_sim.execute(run_program.built(tmp_path, "cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard"))
    (arena,) = execution.arenas
    assert (execution.core, arena.smallest_arena, arena.allocations[0].status) == ("Cortex-M7", 228, "ok")


@pytest.mark.nightly
def test_a_size_in_which_the_program_hangs_after_a_refused_request_is_too_small(tmp_path: Path) -> None:
    (tmp_path / "hangs").mkdir()
    hangs = '-DFAILED=({ for (;;) asm volatile(""); 1; })'
    (arena,) = tflm_sim.execute(run_program.built(tmp_path / "hangs", "cortex-m4", 1024, hangs)).arenas
    (returns,) = tflm_sim.execute(run_program.built(tmp_path, "cortex-m4")).arenas
    assert (arena.fits, arena.smallest_arena, arena.reason) == (True, returns.smallest_arena, "")


@pytest.mark.parametrize(
    ("flag", "says", "reserved"),
    [
        ("-Wl,--defsym=__StackLimit=0x2000f000", "__StackTop - __StackLimit", 0x1000),
        ("-Wl,--defsym=_Min_Stack_Size=0x60", "_Min_Stack_Size", 0x60),
    ],
)
def test_stack_is_held_against_what_the_linker_script_reserves(
    flag: str, says: str, reserved: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = run_program.built(tmp_path, "cortex-m4", 1024, "-DFAILED=1", flag)
    assert main(["firmware", str(program), "--run", "--invoke", "1"]) == 0
    shown = capsys.readouterr().out
    # Invoke() takes 80 B; main() has saved two registers at least, and four at most.
    (callers,) = [size for size in (8, 16) if f"): {size:,} B of its callers, 80 B of Invoke()" in shown]
    assert f"{callers + 80} of {reserved:,} B ({says})" in shown
    assert "overflows" not in shown


def test_a_stack_that_is_too_small_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = run_program.built(tmp_path, "cortex-m4", 1024, "-DFAILED=1", "-Wl,--defsym=_Min_Stack_Size=64")
    assert main(["firmware", str(program), "--run", "--invoke", "1"]) == 0
    shown = capsys.readouterr().out
    # 80 B of Invoke() alone are 16 more than there are, and 8 or 16 of main() come on top.
    assert any(f"the stack overflows by {size} B" in shown for size in (16 + 8, 16 + 16))


def test_an_arena_that_is_too_small_is_told_with_what_the_device_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = run_program.built(tmp_path, "cortex-m4", arena=112)
    assert main(["firmware", str(program), "--run"]) == 1
    shown = capsys.readouterr().out
    # 112 - 24 = 88 B are left for 100. Elsewhere there is room: 228 B are what it needs, as with a larger arena.
    assert "Failed to allocate tail memory. Requested: 100, available 88" in shown
    assert "no: tensor_arena (112 B): AllocateTensors() returned 1; it needs 228 B, 240 B as a multiple of 16" in shown


@pytest.mark.parametrize(
    ("core", "emulator"), [("cortex-m4", "unicorn"), ("cortex-m33", "unicorn"), ("cortex-m3", "qemu")]
)
def test_an_arena_that_is_too_small_is_tried_larger_in_memory_that_the_program_does_not_use(
    core: str, emulator: str, tmp_path: Path
) -> None:
    if emulator == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    (arena,) = tflm_sim.execute(run_program.built(tmp_path, core, 112), emulator=emulator).arenas
    assert (arena.fits, arena.smallest_arena, arena.succeeds_from, arena.size) == (False, 228, 188, 112)


def test_a_program_that_can_be_read_only_once_is_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = run_program.built(tmp_path, "cortex-m4")
    pipe = subprocess.Popen(["cat", str(program)], stdout=subprocess.PIPE)
    assert pipe.stdout is not None
    name = f"/dev/fd/{pipe.stdout.fileno()}"
    assert main(["firmware", name, "--run"]) == 0
    pipe.communicate()
    shown = capsys.readouterr().out
    assert f"file      {name}: executed for a Cortex-M4 in Unicorn" in shown


def test_a_program_without_symbols_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = run_program.built(tmp_path, "cortex-m4")
    subprocess.run(["arm-none-eabi-strip", str(program)], check=True)
    assert main(["firmware", str(program), "--run"]) == 3
    assert "it has neither symbols nor the messages by which TFLM's functions are found" in capsys.readouterr().err


def test_a_program_that_takes_too_long_is_given_up_with_its_time(tmp_path: Path) -> None:
    # AllocateTensors() fails in an endless loop: each size that is too small costs as long as a trial may take.
    program = run_program.built(tmp_path, "cortex-m4", 1024, '-DFAILED=({for (;;) asm volatile("");1;})')
    with pytest.raises(FirmwareError, match="the emulator was stopped after 1 s of the processor"):
        tflm_sim.execute(program, timeout=1)


@pytest.mark.parametrize(
    ("core", "emulator"), [("cortex-m4", "unicorn"), pytest.param("cortex-m55", "qemu", marks=pytest.mark.nightly)]
)
def test_an_invoke_that_takes_too_long_says_so_with_the_option_that_gives_it_more(
    core: str, emulator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if emulator == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    # Where Invoke() would return, it jumps to itself.
    program = run_program.built(tmp_path, core)
    code = program.read_bytes()
    end = b"\xf0\xbc\x00\x20\x70\x47"  # pop {r4-r7}; movs r0, #0; bx lr
    assert code.count(end) == 1
    program.write_bytes(code.replace(end, b"\xf0\xbc\x00\x20\xfe\xe7"))  # b .
    assert main(["firmware", str(program), "--run", "--invoke", "1", "--time-limit", "6s", "--emulator", emulator]) == 3
    shown = capsys.readouterr().out
    assert "Invoke(): stopped: it did not go on within 3 s of the host's time in Invoke() at 0x" in shown
    assert "a longer --time-limit gives it more" in shown


def test_the_document_says_what_the_text_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = run_program.built(tmp_path, "cortex-m4")
    assert main(["firmware", str(program), "--run", "--invoke", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, published("firmware-run"))
    (arena,) = document["arenas"]
    assert (arena["symbol"], arena["size"], arena["smallest_arena"], arena["fits"]) == ("tensor_arena", 1024, 228, True)
    assert main(["firmware", str(program), "--run", "--invoke", "1"]) == 0
    assert capsys.readouterr().out.startswith("yes: tensor_arena (1,024 B) needs 228 B, 240 B as a multiple of 16")
