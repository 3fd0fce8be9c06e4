"""What a program asks its debugger for: text for the console, and the end. Everything else is refused as an error.

    Cortex-M    bkpt 0xAB                                          operation in r0, what it is about in r1
    RISC-V      slli x0, x0, 31; ebreak; srai x0, x0, 7            in a0 and a1

The instruction is found in the program's code and never executed, so no emulator comes to answer it. Source:
ARM-software/abi-aa semihosting; riscv-software-src/riscv-semihosting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, text_at, words

_ARM_CALL = bytes.fromhex("abbe")
_RISCV_CALL = bytes.fromhex("1310f0017300100013507040")

_OPEN, _CLOSE, _WRITE_CHARACTER, _WRITE_TEXT, _WRITE = 1, 2, 3, 4, 5
_IS_TERMINAL, _LENGTH, _CLOCK, _TIME, _ERROR_NUMBER = 9, 12, 16, 17, 19
_COMMAND_LINE, _HEAP, _EXIT, _EXIT_EXTENDED = 21, 22, 24, 32
_CONSOLE = ":tt"
_APPLICATION_EXIT = 0x20026
"""ADP_Stopped_ApplicationExit."""
_REFUSED = 0xFFFFFFFF
_MAX_WRITE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """The program ended itself.

    Attributes:
        status: 0 where it said that all is well.
    """

    status: int


def calls(address: int, code: bytes, *, is_arm: bool) -> Iterator[int]:
    """Yield the addresses of the instructions in ``code`` at ``address`` that ask the debugger."""
    pattern, into = (_ARM_CALL, 0) if is_arm else (_RISCV_CALL, 4)
    at = code.find(pattern)
    while at >= 0:
        if (address + at) % 2 == 0:
            yield address + at + into
        at = code.find(pattern, at + 2)


class Debugger:
    """Answers semihosting calls in place of a debugger.

    Attributes:
        output: What the program wrote so far.
    """

    def __init__(self, most: int) -> None:
        self.output = bytearray()
        self._most = most
        self._clock = 0

    def answer(self, machine: Emulator) -> Ended | None:
        """Answer the call at which the machine is, and step over it; return how the program ended, else None."""
        operation, about = (machine.get(name) for name in machine.core.arguments[:2])
        if operation in (_EXIT, _EXIT_EXTENDED):
            return Ended(_exit_status(machine, operation, about))
        machine.set(machine.core.arguments[0], self._result(machine, operation, about))
        machine.set("pc", machine.get("pc") + (2 if machine.core.is_arm else 4))
        return None

    def _result(self, machine: Emulator, operation: int, about: int) -> int:
        if operation == _OPEN:
            name, mode, _ = words(machine, about, 3)
            return 1 + (mode >= 4) if text_at(machine, name) == _CONSOLE else _REFUSED
        if operation == _WRITE_CHARACTER:
            self._say(machine.read(about, 1))
            return 0
        if operation == _WRITE_TEXT:
            self._say(text_at(machine, about, 4096).encode())
            return 0
        if operation == _WRITE:
            _, data, size = words(machine, about, 3)
            self._say(machine.read(data, min(size, _MAX_WRITE_BYTES)))
            return 0
        if operation in (_CLOCK, _TIME):
            self._clock += 1
            return self._clock
        if operation == _HEAP:
            block = words(machine, about, 1)[0]
            machine.write(block, bytes(16))
            return 0
        return {_CLOSE: 0, _IS_TERMINAL: 1, _LENGTH: 0, _ERROR_NUMBER: 0}.get(operation, _REFUSED)

    def _say(self, data: bytes) -> None:
        self.output += data[: max(self._most - len(self.output), 0)]


def _exit_status(machine: Emulator, operation: int, about: int) -> int:
    if operation == _EXIT_EXTENDED:
        reason, status = words(machine, about, 2)
        return status if reason == _APPLICATION_EXIT else 1
    return 0 if about == _APPLICATION_EXIT else 1
