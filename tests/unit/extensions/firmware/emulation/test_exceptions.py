"""Exceptions of a Cortex-M in Unicorn: the frame on the stack, LR, the way back (Armv7-M manual, B1.5.6 to B1.5.8)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.devices import Devices

pytest.importorskip("unicorn")
import unicorn
from unicorn import arm_const as arm

from tflm_sim.extensions.firmware.emulation.exceptions import PENDSV, SVC, SYSTICK, Exceptions

TABLE, HANDLER, STACK = 0x400, 0x0801, 0x2000_1000
CONTROL, VECTOR_TABLE, TICKS = 0xE000_ED04, 0xE000_ED08, 0xE000_E010
NAMES = ("R0", "R1", "R2", "R3", "R12", "LR", "PC", "XPSR")


@pytest.fixture
def board() -> tuple[Any, Devices, Exceptions]:
    """Return a Cortex-M4 with a table of vectors at 0x400, all of whose functions are at 0x800."""
    uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    uc.mem_map(0, 0x10000)
    uc.mem_map(0x2000_0000, 0x10000)
    uc.mem_write(TABLE, struct.pack("<16I", *[HANDLER] * 16))
    for number, name in enumerate(NAMES[:6]):
        uc.reg_write(getattr(arm, f"UC_ARM_REG_{name}"), 0x100 + number)
    uc.reg_write(arm.UC_ARM_REG_PC, 0x1235)
    uc.reg_write(arm.UC_ARM_REG_SP, STACK)
    devices = Devices()
    return uc, devices, Exceptions(uc, devices, TABLE)


def words(uc: Any, address: int, count: int) -> list[int]:
    return [*struct.unpack(f"<{count}I", uc.mem_read(address, 4 * count))]


@pytest.mark.parametrize("skipped", [0, 4])
def test_eight_words_are_put_on_a_stack_of_whole_double_words(board: Any, skipped: int) -> None:
    uc, _, exceptions = board
    uc.reg_write(arm.UC_ARM_REG_SP, STACK + skipped)
    assert exceptions.enter(SVC)
    assert uc.reg_read(arm.UC_ARM_REG_SP) == STACK - 32
    frame = words(uc, STACK - 32, 8)
    assert frame[:7] == [0x100, 0x101, 0x102, 0x103, 0x104, 0x105, 0x1234]
    assert frame[7] >> 9 & 1 == skipped // 4  # a word was skipped
    assert uc.reg_read(arm.UC_ARM_REG_LR) == 0xFFFF_FFF9  # the thread, on the main stack, without floats
    assert (uc.reg_read(arm.UC_ARM_REG_PC), uc.reg_read(arm.UC_ARM_REG_IPSR)) == (HANDLER & ~1, SVC)
    for number, name in enumerate(NAMES[:6]):
        uc.reg_write(getattr(arm, f"UC_ARM_REG_{name}"), 0x900 + number)
    uc.reg_write(arm.UC_ARM_REG_PC, 0xFFFF_FFF9)
    exceptions.leave()
    assert [uc.reg_read(getattr(arm, f"UC_ARM_REG_{name}")) for name in NAMES[:7]] == frame[:7]
    assert uc.reg_read(arm.UC_ARM_REG_SP) == STACK + skipped
    assert (uc.reg_read(arm.UC_ARM_REG_IPSR), uc.reg_read(arm.UC_ARM_REG_CONTROL)) == (0, 0)


def test_a_thread_on_its_own_stack_that_used_floats_gets_both_back(board: Any) -> None:
    uc, _, exceptions = board
    uc.reg_write(arm.UC_ARM_REG_CONTROL, 2 | 4)
    uc.reg_write(arm.UC_ARM_REG_SP, STACK)
    uc.reg_write(arm.UC_ARM_REG_MSP, 0x2000_8000)
    for number in range(16):
        uc.reg_write(getattr(arm, f"UC_ARM_REG_S{number}"), 0x4000_0000 + number)
    assert exceptions.enter(PENDSV)
    assert words(uc, STACK - 104, 8)[:6] == [0x100, 0x101, 0x102, 0x103, 0x104, 0x105]
    assert words(uc, STACK - 72, 16) == [0x4000_0000 + number for number in range(16)]
    assert uc.reg_read(arm.UC_ARM_REG_LR) == 0xFFFF_FFED  # the thread, its own stack, with floats
    assert uc.reg_read(arm.UC_ARM_REG_CONTROL) & 4 == 0
    uc.reg_write(arm.UC_ARM_REG_S3, 0)
    uc.reg_write(arm.UC_ARM_REG_PC, 0xFFFF_FFED)
    exceptions.leave()
    assert uc.reg_read(arm.UC_ARM_REG_S3) == 0x4000_0003
    assert uc.reg_read(arm.UC_ARM_REG_CONTROL) == 6
    assert uc.reg_read(arm.UC_ARM_REG_PSP) == STACK


def test_an_exception_within_another_one_goes_back_to_it(board: Any) -> None:
    uc, _, exceptions = board
    uc.reg_write(arm.UC_ARM_REG_IPSR, SYSTICK)
    assert exceptions.enter(SVC)
    assert uc.reg_read(arm.UC_ARM_REG_LR) == 0xFFFF_FFF1
    uc.reg_write(arm.UC_ARM_REG_PC, 0xFFFF_FFF1)
    exceptions.leave()
    assert uc.reg_read(arm.UC_ARM_REG_IPSR) == SYSTICK


def test_the_table_of_vectors_is_where_the_program_put_it(board: Any) -> None:
    uc, devices, exceptions = board
    devices.writer(VECTOR_TABLE)(None, 0, 4, 0x2000_0000, None)
    assert not exceptions.enter(SVC)  # zeros: no function
    uc.mem_write(0x2000_0000 + 4 * SVC, struct.pack("<I", 0x0C01))
    assert exceptions.enter(SVC)
    assert uc.reg_read(arm.UC_ARM_REG_PC) == 0x0C00


def test_what_is_asked_for_waits_and_the_last_number_is_first(board: Any) -> None:
    uc, devices, exceptions = board
    write = devices.writer(CONTROL)
    write(None, 0, 4, 1 << 25, None)
    assert (exceptions.pending, exceptions.is_asked) == (set(), False)
    write(None, 0, 4, 1 << 28 | 1 << 26, None)
    assert (exceptions.pending, exceptions.is_asked) == ({PENDSV, SYSTICK}, True)
    assert exceptions.enter_pending()
    assert (uc.reg_read(arm.UC_ARM_REG_IPSR), exceptions.pending) == (SYSTICK, {PENDSV})
    assert not exceptions.enter_pending()  # it interrupts no other exception
    uc.reg_write(arm.UC_ARM_REG_IPSR, 0)
    uc.reg_write(arm.UC_ARM_REG_PRIMASK, 1)
    assert not exceptions.enter_pending()
    uc.reg_write(arm.UC_ARM_REG_PRIMASK, 0)
    assert exceptions.enter_pending()
    uc.reg_write(arm.UC_ARM_REG_IPSR, 0)
    assert not exceptions.enter_pending()  # none is left


@pytest.mark.parametrize(("control", "ticks"), [(0, False), (1, False), (2, False), (3, True), (7, True)])
def test_the_clock_ticks_where_it_is_on_and_interrupts(board: Any, control: int, ticks: bool) -> None:
    _, devices, exceptions = board
    devices.writer(TICKS)(None, 0, 4, control, None)
    assert exceptions.tick() is ticks
    assert exceptions.pending == ({SYSTICK} if ticks else set())
