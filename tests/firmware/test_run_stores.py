"""Stores out of bounds, planted in a program of our own: who stored how many bytes where."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim import ExecutedStore, Execution
from tflm_sim.cli import main

sys.path.insert(0, str(Path(__file__).parent))
import operators_program

pytest.importorskip("unicorn")

NOWHERE = 0x20008000
"""RAM between the program's data, which ends below 0x20001000, and its stack, which begins at 0x20010000."""
HEAP = 0x20004000


def seen(execution: Execution) -> tuple[tuple[ExecutedStore, ...] | None, tuple[ExecutedStore, ...] | None]:
    """Return the stores of AllocateTensors() and of Invoke()."""
    allocation = execution.arenas[0].allocations[0]
    return allocation.stores, allocation.invocations[0].stores


def test_a_program_that_stays_within_its_memory_has_no_store_to_tell_of(tmp_path: Path) -> None:
    # ADD writes 8 bytes of the arena, all functions write their frames, AllocateTensors() writes its interpreter.
    execution = tflm_sim.execute(operators_program.built(tmp_path), invokes=1)
    assert seen(execution) == ((), ())
    assert execution.exit_code == 0


def test_where_too_many_instructions_store_to_nowhere_the_last_ones_are_told_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"movw r1, #{NOWHERE & 0xFFFF}; movt r1, #{NOWHERE >> 16}"
    many = f'asm volatile("{address}; .rept 1100; strb r0, [r1], #1; .endr" : : : "r1")'
    program = operators_program.built(tmp_path, in_eval=many)
    _, stores = seen(tflm_sim.execute(program, invokes=1))
    assert stores is not None
    assert [(one.address, one.size, one.times) for one in stores[:-1]] == [(NOWHERE + at, 1, 1) for at in range(1023)]
    # 1,024 rows in all: the last one is for the 1,100 - 1,023 = 77 that are left.
    last = stores[-1]
    assert (last.code_address, last.function, last.name, last.into) == (0, "", "", "nothing")
    assert (last.address, last.size, last.times) == (NOWHERE + 1023, 77, 77)
    assert main(["firmware", str(program), "--run", "--invoke", "1"]) == 1
    assert ", by instructions that are too many to be told apart\n" in capsys.readouterr().out


def test_a_store_to_nowhere_is_named_by_address_object_function_and_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = operators_program.built(tmp_path, in_eval=f"fill((uint8_t *){NOWHERE}, 4)")
    execution = tflm_sim.execute(program, invokes=1)
    in_allocation, in_invoke = seen(execution)
    assert in_allocation == ()
    assert in_invoke is not None
    (store,) = in_invoke
    assert (store.into, store.function, store.name, store.subgraph, store.op) == ("nothing", "fill", "MUL", 0, 1)
    assert (store.address, store.size, store.times) == (NOWHERE, 4, 4)
    assert execution.exit_code == 1
    assert main(["firmware", str(program), "--run", "--invoke", "1"]) == 1
    shown = capsys.readouterr().out
    assert f"outside   4 B at {NOWHERE:#x} in 4 stores, {store.symbol} + {store.offset:,}, by fill() at " in shown
    assert shown.count(" for MUL #1") == 2


def test_an_operator_that_writes_over_the_arenas_end_is_named_with_the_object_behind(tmp_path: Path) -> None:
    # 4 bytes from the arena's last but one on: 2 in the arena, 2 in what lies behind it.
    program = operators_program.built(tmp_path, in_prepare="*(volatile uint32_t *)(tensor_arena + 1022) = 7")
    in_allocation, in_invoke = seen(tflm_sim.execute(program, invokes=1))
    assert in_invoke == ()
    assert in_allocation is not None
    (store,) = in_allocation
    assert (store.into, store.name, store.op, store.function) == ("data", "ADD", 0, "PrepareAdd")
    assert (store.symbol, store.offset, store.size, store.times) == ("neighbour", 0, 2, 1)


def test_what_an_operator_writes_over_an_objects_end_is_not_counted_as_the_objects(tmp_path: Path) -> None:
    # From neighbour + 60 on: 4 bytes in it, 4 in the interpreter behind it, which TFLM may write.
    program = operators_program.built(tmp_path, in_eval="fill(neighbour + 60, 8)")
    _, stores = seen(tflm_sim.execute(program, invokes=1))
    assert stores is not None
    assert [(one.symbol, one.offset, one.size, one.times) for one in stores] == [("neighbour", 60, 4, 4)]


def test_a_block_of_the_heap_is_the_programs_own_data(tmp_path: Path) -> None:
    program = operators_program.built(tmp_path, in_eval="fill(block + 10, 5)")
    _, stores = seen(tflm_sim.execute(program, invokes=1))
    assert stores is not None
    assert [(one.into, one.address, one.size) for one in stores] == [("data", HEAP + 10, 5)]


def test_a_heap_that_grows_meanwhile_is_the_programs_own_data(tmp_path: Path) -> None:
    # So it is where newlib's first printf() is that of a failing AllocateTensors().
    program = operators_program.built(tmp_path, in_prepare="fill((uint8_t *)_sbrk(16), 5)")
    stores, _ = seen(tflm_sim.execute(program, invokes=1))
    assert stores is not None
    assert [(one.into, one.address, one.size) for one in stores] == [("data", 0x20006000, 5)]


def test_a_heap_that_has_no_block_to_give_hides_no_store_to_nowhere(tmp_path: Path) -> None:
    program = operators_program.built(tmp_path, in_eval="pvPortMalloc(8), fill((uint8_t *)0x20002000, 4)")
    _, stores = seen(tflm_sim.execute(program, invokes=1))
    assert stores is not None
    assert [(one.into, one.address, one.size) for one in stores] == [("nothing", 0x20002000, 4)]


def test_a_register_of_a_device_may_be_written(tmp_path: Path) -> None:
    program = operators_program.built(tmp_path, in_eval="*(volatile uint32_t *)0x40010000 = 1")
    assert seen(tflm_sim.execute(program, invokes=1)) == ((), ())


@pytest.mark.parametrize("place", ["tensor_arena", "neighbour", "(uint8_t *)0x20300000"])
def test_a_conditional_store_does_not_make_the_emulator_skip_what_follows(place: str, tmp_path: Path) -> None:
    # The last place is memory that nothing has touched before.
    program = operators_program.built(tmp_path, in_eval=f"return in_it_block({place})")
    assert tflm_sim.execute(program, invokes=1).arenas[0].allocations[0].invocations[0].status == "ok"


M7 = "cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard"
M55 = "cortex-m55 -mfloat-abi=hard"
MACHINES = [("cortex-m4", "unicorn"), ("cortex-m4", "qemu"), (M7, "qemu"), (M55, "qemu")]
IN_PREPARE = "*(volatile uint32_t *)(tensor_arena + 1022) = 7"
IN_EVAL = f"fill(below + 12, 6), fill(neighbour, 1), fill(block + 10, 5), fill((uint8_t *){NOWHERE}, 4)"
"""Over the arena's end; below it; into the object behind it; into the heap; to nowhere."""


def planted(folder: Path, core: str, emulator: str, **plants: str) -> Execution:
    """Build and execute a program whose operator #1 is a custom one."""
    if emulator == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    program = operators_program.built(folder, core=core, code='32, "MINE"', **plants)
    return tflm_sim.execute(program, invokes=1, emulator=emulator)


@pytest.mark.parametrize(("core", "emulator"), MACHINES)
def test_every_emulator_names_the_same_stores_to_the_byte(core: str, emulator: str, tmp_path: Path) -> None:
    execution = planted(tmp_path, core, emulator, in_prepare=IN_PREPARE, in_eval=IN_EVAL)
    in_allocation, in_invoke = seen(execution)
    assert in_allocation is not None
    assert in_invoke is not None
    assert [
        (one.into, one.function, one.name, one.op, one.symbol, one.address, one.size, one.times)
        for one in (*in_allocation, *in_invoke)
    ] == [
        ("data", "PrepareAdd", "ADD", 0, "neighbour", 0x20000410, 2, 1),
        # fill() stores byte by byte: of its 6 from below + 12 on, 4 lie below the arena.
        ("data", "fill", "MINE", 1, "below", 0x20000000 + 12, 4, 4),
        ("data", "fill", "MINE", 1, "neighbour", 0x20000410, 1, 1),
        ("data", "fill", "MINE", 1, "block", HEAP + 10, 5, 5),
        ("nothing", "fill", "MINE", 1, "block", NOWHERE, 4, 4),
    ]
    assert execution.exit_code == 1


@pytest.mark.parametrize(("core", "emulator"), MACHINES[1:])
def test_a_program_that_stays_within_its_memory_has_no_store_to_tell_of_in_qemu(
    core: str, emulator: str, tmp_path: Path
) -> None:
    execution = planted(tmp_path, core, emulator)
    assert seen(execution) == ((), ())
    assert execution.exit_code == 0


def test_a_store_of_the_value_that_was_there_is_named_too(tmp_path: Path) -> None:
    _, stores = seen(planted(tmp_path, M55, "qemu", in_eval="*(volatile uint8_t *)neighbour = *neighbour"))
    assert stores is not None
    assert [(one.symbol, one.offset, one.size, one.times) for one in stores] == [("neighbour", 0, 1, 1)]


VECTORS = """
__attribute__((naked)) void of_16(uint8_t *) { asm volatile(" vmov.i8 q0, #0\\n vstrb.8 q0, [r0]\\n bx lr"); }
__attribute__((naked)) void first_5(uint8_t *) {
  asm volatile(" movs r1, #5\\n vctp.8 r1\\n vmov.i8 q0, #0\\n vpst\\n vstrbt.8 q0, [r0]\\n bx lr");
}
__attribute__((naked)) void loop_of_21(uint8_t *) {
  asm volatile(" push {lr}\\n vmov.i8 q0, #0\\n movs r1, #21\\n dlstp.8 lr, r1\\n"
               "1: vstrb.8 q0, [r0], #16\\n letp lr, 1b\\n pop {pc}");
}
__attribute__((naked)) void scattered(uint8_t *) {
  asm volatile(" movs r2, #0\\n vidup.u32 q1, r2, #8\\n vstrw.32 q1, [r0, q1]\\n bx lr");
}
"""
MVE_ON = "*(volatile uint32_t *)0xE000ED88 = 0xF00000"
"""CPACR. Source: Armv8-M Architecture Reference Manual, D1.2.14."""


def test_a_vector_of_mve_is_named_by_the_elements_that_it_stores(tmp_path: Path) -> None:
    calls = f"of_16(tensor_arena + 1016), first_5(neighbour), loop_of_21((uint8_t *){NOWHERE}), scattered(neighbour)"
    more = " ".join(VECTORS.split("\n"))
    _, stores = seen(planted(tmp_path, M55, "qemu", in_eval=f"{MVE_ON}, {calls}", more=more))
    assert stores is not None
    assert [(one.into, one.function, one.symbol, one.offset, one.size, one.times) for one in stores] == [
        # 8 of 16 bytes lie behind the arena. 5 of 16, and 16 + 5, are not masked. 4 words at 0, 8, 16 and 24.
        ("data", "of_16", "neighbour", 0, 8, 8),
        ("data", "first_5", "neighbour", 0, 5, 5),
        ("nothing", "loop_of_21", "block", NOWHERE - 0x20000458, 21, 21),
        ("data", "scattered", "neighbour", 0, 28, 4),
    ]


def test_a_qemu_that_loads_no_plugin_watches_no_stores_and_that_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    qemu = shutil.which("qemu-system-arm")
    if qemu is None:
        pytest.skip("qemu-system-arm not installed")
    other = tmp_path / "qemu-system-arm"
    other.write_text(f'#!/bin/sh\ncase "$*" in *-plugin*) exit 1;; esac\nexec {qemu} "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program = operators_program.built(tmp_path, core="cortex-m3", in_eval=f"fill((uint8_t *){NOWHERE}, 4)")
    assert seen(tflm_sim.execute(program, invokes=1, emulator="qemu")) == (None, None)
    assert main(["firmware", str(program), "--run", "--emulator", "qemu"]) == 0
    assert "stores are not watched in this emulator" in capsys.readouterr().out


def test_explain_executes_the_program_and_tells_its_stack_and_its_stores_out_of_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = operators_program.built(tmp_path, in_eval=f"fill((uint8_t *){NOWHERE}, 4)")
    assert main(["explain", "CORRUPT HEAP", "--firmware", str(program), "--run", "--json"]) == 1
    executed = json.loads(capsys.readouterr().out)["executed"]
    assert any("B of stack" in line for line in executed), executed
    assert any("a store out of bounds" in line and f"{NOWHERE:#010x}" in line for line in executed), executed
