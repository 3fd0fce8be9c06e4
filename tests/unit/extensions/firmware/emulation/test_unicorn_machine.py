"""A Cortex-M4 in Unicorn that executes a few instructions: where it stops, and what its memory is afterwards."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.emulator import Core, Reason, Stop
from tflm_sim.extensions.firmware.emulation.memory_map import CHUNK, MemoryMap, Span

pytest.importorskip("unicorn")
from tflm_sim.extensions.firmware.emulation import store_watch, unicorn_machine
from tflm_sim.extensions.firmware.emulation.unicorn_machine import UnicornMachine

CODE, RAM, DEVICE = 0x1_0000, 0x2000_0000, 0x4000_0000
LOAD, STORE, GO, ADD, STAY, WAIT, UNDEFINED = 0x6808, 0x6008, 0x4708, 0x3001, 0xE7FE, 0xBF30, 0xDE00
"""ldr r0, [r1]; str r0, [r1]; bx r1; adds r0, #1; b to itself; wfi; udf."""
CORTEX_M4 = Core("Cortex-M4", True, "UC_CPU_ARM_CORTEX_M4", "", ("r0", "r1", "r2", "r3"), "lr")
RISCV = Core("RISC-V 32", False, "UC_CPU_RISCV32_ANY", "virt", tuple(f"a{index}" for index in range(8)), "ra")
EVER = 2.0


@pytest.fixture
def made() -> Iterator[Any]:
    """Return what makes a machine that stands before its first instruction."""
    machines: list[UnicornMachine] = []

    def make(*code: int, core: Core = CORTEX_M4, **registers: int) -> UnicornMachine:
        written = (Span(RAM, RAM + 16),)
        memory = MemoryMap(
            is_arm=core.is_arm,
            loaded=((CODE, struct.pack(f"<{len(code)}H", *code)),),
            constant=(Span(CODE, CODE + 0x1000),),
            used=(Span(CODE, CODE + 0x1000),),
            written=written,
        )
        machine = UnicornMachine(core, memory)
        machines.append(machine)
        for name, value in {"pc": CODE, "sp": RAM + 0x1000, **registers}.items():
            machine.set(name, value)
        return machine

    yield make
    for machine in machines:
        machine.close()


@pytest.mark.parametrize(
    ("code", "target", "text"),
    [
        (LOAD, 0x8000, "reads"),  # no memory and no device
        (STORE, 0x8000, "writes"),
        (GO, 0x8001, "jumps to"),
        (STORE, CODE + 0x10, "writes"),  # a constant
        (GO, RAM + 1, "jumps to"),  # memory that nothing was written to
    ],
)
def test_an_access_that_the_chip_does_not_allow_is_where_it_stops(made: Any, code: int, target: int, text: str) -> None:
    stop = made(code, STAY, r1=target).run(EVER)
    assert (stop.reason, stop.text, stop.target) == (Reason.FAULT, text, target & ~1)


@pytest.mark.parametrize("address", [RAM, RAM + CHUNK - 4, 0x6000_0000, DEVICE])
def test_memory_appears_where_it_is_touched_and_devices_take_words(made: Any, address: int) -> None:
    machine = made(STORE, 0x2000, LOAD, STAY, r0=0x12345678, r1=address)  # 0x2000: movs r0, #0
    machine.stop_at([CODE + 6])
    assert machine.run(EVER) == Stop(Reason.ADDRESS, CODE + 6)
    assert machine.get("r0") == 0x12345678


def test_a_write_from_outside_goes_over_the_edge_of_a_piece(made: Any) -> None:
    machine = made(STAY)
    machine.write(RAM + CHUNK - 2, b"abcd")
    assert machine.read(RAM + CHUNK - 3, 6) == b"\0abcd\0"
    assert machine.read(RAM + CHUNK - 2, 2) == b"ab"
    assert machine.read(RAM + 2 * CHUNK - 1, 3) == bytes(3), "nothing is beyond it"


def test_more_memory_than_is_given_is_a_fault(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unicorn_machine, "_MAX_MEMORY", 2 * CHUNK)
    machine = made(STORE, STAY, r1=RAM)  # its code takes one piece
    machine.write(RAM + CHUNK, b"a")
    assert machine.run(EVER) == Stop(Reason.FAULT, CODE, "uses more memory than is given", RAM)


def test_spare_memory_grows_down_in_whole_pieces(made: Any) -> None:
    machine = made(STAY)
    assert machine.spare(1) == 0xDF00_0000 - CHUNK
    assert machine.spare(CHUNK + 1) == 0xDF00_0000 - 3 * CHUNK
    assert machine.read(machine.place(b"abc"), 4) == b"abc\0"


def test_registers_have_32_bits_and_code_addresses_no_thumb_bit(made: Any) -> None:
    machine = made(STAY)
    machine.set("r3", -1)
    assert (machine.get("r3"), machine.get("pc")) == (0xFFFF_FFFF, CODE)


def test_it_stops_before_an_instruction_and_goes_on_from_there_until_that_is_left(made: Any) -> None:
    machine = made(ADD, ADD, 0xE7FC, r0=0)  # 0xe7fc: b to the first
    machine.stop_at([CODE + 2])
    machine.stop_at([CODE + 2, CODE + 4])
    found = [(machine.run(EVER), machine.get("r0")) for _ in range(3)]
    assert [(stop.address, r0) for stop, r0 in found] == [(CODE + 2, 1), (CODE + 4, 2), (CODE + 2, 3)]
    machine.leave(CODE + 4)
    machine.leave(CODE + 8)
    assert (machine.run(EVER).address, machine.get("r0")) == (CODE + 2, 5)


def test_instructions_are_counted_from_the_first_call_on(made: Any) -> None:
    machine = made(ADD, ADD, ADD, 0xE7FB, r0=0)  # 0xe7fb: b to the first
    machine.stop_at([CODE + 2])
    machine.run(EVER)
    if machine.noted() is None:
        pytest.skip("was installed without a compiler")
    assert machine.count() == 0
    machine.run(EVER)
    assert machine.count() == 4  # at the same place a round later
    machine.stop_at([CODE + 4])  # The counter is asked before this stop is.
    counts = []
    for _ in range(3):
        machine.run(EVER)
        counts.append(machine.count())
    assert counts == [5, 8, 9]


LOOP = {
    CORTEX_M4: (
        0x9900, 0x9001,  # ldr r1, [sp]; str r0, [sp, #4]
        0x3801, 0xD1FB,  # subs r0, #1; bne to the first
        0x6023, STAY,  # str r3, [r4]
    ),
    RISCV: (
        0x4582, 0xC22A,  # lw a1, 0(sp); sw a0, 4(sp)
        0x157D, 0xFD6D,  # addi a0, a0, -1; bnez a0 to the first
        0xC214, 0xA001,  # sw a3, 0(a2); to itself
    ),
}  # fmt: skip
"""A loop that loads, and stores to the stack, and behind it a store to elsewhere."""


@pytest.mark.parametrize("core", LOOP, ids=lambda core: core.name)
@pytest.mark.parametrize("loud", [100, 10**9])
def test_code_that_stores_to_the_stack_alone_soon_runs_unwatched_and_all_else_is_seen(
    made: Any, monkeypatch: pytest.MonkeyPatch, core: Core, loud: int
) -> None:
    monkeypatch.setattr(unicorn_machine, "_LOUD", loud)
    counter, pointer = ("r0", "r4") if core.is_arm else ("a0", "a2")
    machine = made(*LOOP[core], core=core, **{counter: 1000, pointer: RAM + 64})
    noted = machine.noted()
    if noted is None:
        pytest.skip("was installed without a compiler")
    store_watch.begin(noted, [], [Span(RAM, RAM + 128)], [])
    machine.set("sp", machine.spare(16))
    machine.count()
    machine.stop_at([CODE + 10])
    assert machine.run(EVER, is_quiet=True) == Stop(Reason.ADDRESS, CODE + 10)
    assert machine.count() == 4001
    assert machine.quiet == ({CODE} if loud == 100 else set())
    assert [(one.code_address, one.low, one.times) for one in store_watch.end(noted)] == [(CODE + 8, RAM + 64, 1)]


@pytest.mark.parametrize(
    ("core", "code"),
    [
        *((CORTEX_M4, code) for code in (
            [0x6008], [0x7008], [0x8008], [0x5088], [0x5488], [0x5288], [0xC101],  # str, strb, strh, stmia r1!
            [0xF8C1, 0x0000], [0xF801, 0x0B01], [0xE9C1, 0x0200], [0xE881, 0x0005],  # str.w, strb post, strd, stm.w
        )),
        *((RISCV, code) for code in ([0xC188], [0xA023, 0x00A5], [0xA52F, 0x00B5])),  # c.sw, sw, amoadd.w
    ],
)  # fmt: skip
def test_code_that_may_store_elsewhere_is_watched_however_long_it_runs(
    made: Any, monkeypatch: pytest.MonkeyPatch, core: Core, code: list[int]
) -> None:
    monkeypatch.setattr(unicorn_machine, "_LOUD", 10)
    registers = {f"r{index}": RAM + 64 for index in range(3)} if core.is_arm else {"a0": RAM + 64, "a3": RAM + 64}
    registers |= {} if core.is_arm else {"a1": RAM + 64}
    machine = made(*20 * code, STAY, core=core, **registers)
    if machine.noted() is None:
        pytest.skip("was installed without a compiler")
    machine.count()
    machine.stop_at([CODE + 40 * len(code)])
    assert machine.run(EVER, is_quiet=True).reason is Reason.ADDRESS
    assert machine.quiet == set()


def test_a_program_that_does_not_end_is_stopped(made: Any) -> None:
    assert made(STAY).run(0.01, is_quiet=True) == Stop(Reason.LIMIT, CODE)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (WAIT, "waits for an interrupt"),
        (UNDEFINED, "stops the processor (Invalid instruction (UC_ERR_INSN_INVALID))"),
        (GO, "stops the processor (exception 3)"),  # No code lies among the devices.
    ],
)
def test_what_stops_the_processor_is_said(made: Any, monkeypatch: pytest.MonkeyPatch, code: int, text: str) -> None:
    monkeypatch.setattr(unicorn_machine, "_MAX_WAITS", 3)
    stop = made(*[code] * 8, STAY, r1=DEVICE + 1).run(EVER, is_quiet=True)
    assert (stop.reason, stop.text) == (Reason.FAULT, text)


def test_a_state_is_gone_back_to(made: Any) -> None:
    machine = made(STORE, ADD, 0xE7FC, r0=7, r1=RAM)
    machine.write(RAM, b"\1\0\0\0")
    machine.stop_at([CODE + 2])
    before = machine.save()
    machine.run(EVER)
    machine.write(RAM + CHUNK, b"later")
    machine.restore(before)
    assert (machine.get("pc"), machine.get("r0"), machine.read(RAM, 1)) == (CODE, 7, b"\1")
    assert machine.read(RAM + CHUNK, 5) == bytes(5)
    assert machine.run(EVER).address == CODE + 2
    again = machine.save()
    machine.restore(again)
    assert machine.run(EVER) == Stop(Reason.ADDRESS, CODE + 2), "who goes back has not begun there"


LDM, LDRD = (0xC90C,), (0xE9D1, 0x2300)
"""ldm r1!, {r2, r3}; ldrd r2, r3, [r1]."""


@pytest.mark.parametrize(
    ("code", "name", "address", "faults"),
    [
        ((LOAD,), "Cortex-M4", RAM + 1, False),
        ((LOAD,), "Cortex-M0", RAM + 1, True),
        ((LOAD,), "Cortex-M0", RAM + 4, False),
        ((STORE,), "Cortex-M23", RAM + 2, True),
        (LDM, "Cortex-M4", RAM + 2, True),
        (LDM, "Cortex-M4", RAM + 4, False),
        (LDRD, "Cortex-M4", RAM + 1, True),
        (LDRD, "Cortex-M4", RAM + 4, False),
    ],
)
def test_an_unaligned_access_faults_where_the_core_does(
    made: Any, code: tuple[int, ...], name: str, address: int, faults: bool
) -> None:
    machine = made(*code, ADD, STAY, core=replace(CORTEX_M4, name=name), r1=address)
    machine.check_alignment()
    assert not machine.ignores_alignment
    machine.stop_at([CODE + 2 * len(code)])
    expected = Stop(Reason.FAULT, CODE, "accesses the unaligned address", address)
    assert machine.run(EVER) == (expected if faults else Stop(Reason.ADDRESS, CODE + 2 * len(code)))


def test_a_risc_v_has_no_thumb_bit(made: Any) -> None:
    machine = made(0x0505, 0x0505, 0xA001, core=RISCV, a0=0)  # c.addi a0, 1, twice; c.j to itself
    machine.stop_at([CODE + 4])
    assert (machine.run(EVER), machine.get("a0")) == (Stop(Reason.ADDRESS, CODE + 4), 2)
    assert not machine.ignores_alignment
    stop = made(0x8502, core=RISCV, a0=0x2000).run(EVER)  # c.jr a0, to a device
    assert (stop.reason, stop.text, stop.target) == (Reason.FAULT, "jumps to", 0x2000)
