"""Exceptions of a Cortex-M, which Unicorn does not implement: SVC, PendSV and SysTick.

    svc, a bit of ICSR, a tick  -->  8 words on the stack, 26 with those of the FPU; the vector's function  -->  bx lr

A scheduler uses them to switch between its tasks, and a program to wait. There is no clock: if SysTick is enabled, a
tick occurs when the program waits for an interrupt, or does not end. Priorities are as operating systems set them:
PendSV and SysTick interrupt no other exception.

Source: Armv7-M Architecture Reference Manual, B1.5.6 to B1.5.8 (entry and return), B3.2.4 (ICSR), B3.3 (SysTick).
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from unicorn import arm_const

from tflm_sim.extensions.firmware.emulation.devices import Devices

if TYPE_CHECKING:
    import unicorn

SVC, PENDSV, SYSTICK = 11, 14, 15
SVC_REACHED, RETURN_REACHED = 2, 8
"""Unicorn's numbers of what it stops for. Source: qemu/target/arm/cpu.h @ c24c9ebe."""
_CONTROL, _VECTORS, _TICKS = 0xE000_ED04, 0xE000_ED08, 0xE000_E010
_PENDING = {1 << 28: PENDSV, 1 << 26: SYSTICK}
_IS_TICKING = 3
_WORD = Struct("<I")
_FRAMES = {False: 8 * 4, True: 26 * 4}
"""Bytes that are put on the stack, by whether the FPU's are among them."""
_BASIC = tuple(getattr(arm_const, f"UC_ARM_REG_{name}") for name in ("R0", "R1", "R2", "R3", "R12", "LR", "PC", "XPSR"))
_FLOATS = (*(getattr(arm_const, f"UC_ARM_REG_S{number}") for number in range(16)), arm_const.UC_ARM_REG_FPSCR)
_PSP_BIT, _FPU_BIT = 2, 4
"""Of CONTROL: the thread's stack is PSP, and it has used the FPU."""
_ALIGNED_BIT = 1 << 9
"""Of the state that is saved: a word was skipped so that the stack is a multiple of 8."""
_IN_IT_BLOCK = 0x0600_FC00
_NEVER = 0xFFFF_FFFE


class Exceptions:
    """Enters and leaves exceptions of one machine.

    Args:
        uc: It.
        devices: What was written to its system registers.
        table: Where its table of vectors lies as long as the program has not said.

    Attributes:
        pending: Exceptions that wait until they may interrupt.
        is_asked: Whether the program has just asked for one: it stands before the store that did, which runs again.
    """

    def __init__(self, uc: unicorn.Uc, devices: Devices, table: int) -> None:
        self.pending: set[int] = set()
        self.is_asked = False
        self._uc = uc
        self._devices = devices
        self._table = table
        devices.when_written[_CONTROL] = self._ask

    def _ask(self, value: int) -> None:
        asked = {number for bit, number in _PENDING.items() if value & bit}
        if asked and not self.is_asked:
            self.pending |= asked
            self.is_asked = True
            self._uc.emu_stop()

    def end_store(self) -> None:
        """Run the store that asked for an exception."""
        self._uc.emu_start(self._uc.reg_read(arm_const.UC_ARM_REG_PC) | 1, _NEVER, count=1)
        self.is_asked = False

    def tick(self) -> bool:
        """Have the clock tick; whether the program has switched it on."""
        if self._devices.written(_TICKS) & _IS_TICKING != _IS_TICKING:
            return False
        self.pending.add(SYSTICK)
        return True

    def enter_pending(self) -> bool:
        """Enter the first exception that waits and may interrupt; whether there was one."""
        masks = (arm_const.UC_ARM_REG_IPSR, arm_const.UC_ARM_REG_PRIMASK, arm_const.UC_ARM_REG_BASEPRI)
        if not self.pending or any(map(self._uc.reg_read, masks)):
            return False
        if self._uc.reg_read(arm_const.UC_ARM_REG_XPSR) & _IN_IT_BLOCK:
            return False
        number = max(self.pending)
        self.pending.discard(number)
        return self.enter(number)

    def enter(self, number: int) -> bool:
        """Go to the function of an exception; False where the table has none."""
        read, write = self._uc.reg_read, self._uc.reg_write
        table = self._devices.written(_VECTORS) or self._table
        (handler,) = _WORD.unpack(self._uc.mem_read(table + 4 * number, 4))
        if not handler & 1:
            return False
        control, is_nested = read(arm_const.UC_ARM_REG_CONTROL), read(arm_const.UC_ARM_REG_IPSR) != 0
        uses_psp, has_floats = not is_nested and bool(control & _PSP_BIT), bool(control & _FPU_BIT)
        saved = [read(register) for register in (*_BASIC, *(_FLOATS if has_floats else ()))]
        stack = read(arm_const.UC_ARM_REG_SP)
        saved[7] = saved[7] & ~_ALIGNED_BIT | (_ALIGNED_BIT if stack & 4 else 0)
        frame = (stack & -8) - _FRAMES[has_floats]
        self._uc.mem_write(frame, b"".join(map(_WORD.pack, saved)))
        write(arm_const.UC_ARM_REG_SP, frame)
        write(arm_const.UC_ARM_REG_CONTROL, control & ~_FPU_BIT)
        write(arm_const.UC_ARM_REG_IPSR, number)
        write(arm_const.UC_ARM_REG_LR, 0xFFFFFFE1 | (not has_floats) << 4 | (not is_nested) << 3 | uses_psp << 2)
        write(arm_const.UC_ARM_REG_PC, handler)
        return True

    def leave(self) -> None:
        """Go back to where the exception was entered whose function has just returned."""
        read, write = self._uc.reg_read, self._uc.reg_write
        said = read(arm_const.UC_ARM_REG_PC)
        uses_psp, has_floats, is_thread = said & 4, not said & 16, said & 8
        pointer = arm_const.UC_ARM_REG_PSP if uses_psp else arm_const.UC_ARM_REG_MSP
        registers = (*_BASIC, *(_FLOATS if has_floats else ()))
        frame = read(pointer)
        saved = [value for (value,) in _WORD.iter_unpack(self._uc.mem_read(frame, 4 * len(registers)))]
        write(pointer, frame + _FRAMES[has_floats] + (saved[7] >> 7 & 4))
        control = read(arm_const.UC_ARM_REG_CONTROL) & ~(_PSP_BIT | _FPU_BIT if is_thread else _FPU_BIT)
        write(arm_const.UC_ARM_REG_CONTROL, control | (_PSP_BIT if uses_psp else 0) | (_FPU_BIT if has_floats else 0))
        write(arm_const.UC_ARM_REG_XPSR, saved[7] & ~_ALIGNED_BIT)
        for register, value in zip(registers, saved, strict=True):
            if register != arm_const.UC_ARM_REG_XPSR:
                write(register, value | (register == arm_const.UC_ARM_REG_PC))
