"""What every emulator here can do: memory, registers, stops at addresses, snapshots.

    machine.stop_at(address)      the program is halted there before the instruction runs
    machine.run(limit) -> Stop    ... until then, or until it cannot go on

``Core`` names the registers of a calling convention by what they are for, so that nothing above asks which processor
it is. A machine lives in a process of its own (``worker.py``) and has no way to the host: what a program asks its
debugger for is answered in ``semihosting.py``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.store_watch import Noted
from tflm_sim.extensions.firmware.emulation.xtensa import CALL_BYTES, RETURN_STUB

WAITS = "waits for an interrupt"
"""The text of a stop that is no fault of the program: nothing more happens in it."""


class Reason(Enum):
    """Why a machine stopped."""

    ADDRESS = "address"
    FAULT = "fault"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where and why a machine stopped.

    Attributes:
        reason: An address that was asked for, a fault, or the limit.
        address: The program counter.
        text: What the fault was, a clause.
        target: The address that the fault was about, for one that is about memory.
    """

    reason: Reason
    address: int
    text: str = ""
    target: int | None = None


@dataclass(frozen=True, slots=True)
class Core:
    """A processor and its calling convention.

    Attributes:
        name: For people.
        is_arm: Whether it is an Arm core in Thumb state.
        model: Which of Unicorn's models stands for it, "" where none can.
        board: Which machine of QEMU has it, "" where none has.
        arguments: The registers of arguments, in order.
        link: The register of the return address.
        is_windowed: Whether it is an Xtensa core, whose calls move a window of registers; where neither this nor an Arm
            core, it is a RISC-V of 32 bits.
    """

    name: str
    is_arm: bool
    model: str
    board: str
    arguments: tuple[str, ...]
    link: str
    is_windowed: bool = False

    @property
    def code_bit(self) -> int:
        """What is added to the address of a function where it stands as a value."""
        return 1 if self.is_arm else 0


_ENDLESS_ARM, _ENDLESS_RISCV = bytes.fromhex("fee7"), bytes.fromhex("6f000000")
"""An instruction that jumps to itself."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a machine at a moment.

    Attributes:
        processor: Its registers, as the emulator keeps them.
        devices: What was written to devices.
        memory: The bytes of what can be written, by address.
    """

    processor: Any
    devices: Any
    memory: Mapping[int, bytes]


class Emulator(Protocol):
    """An emulator with a program in it. Addresses of code have no Thumb bit."""

    core: Core
    ignores_alignment: bool
    """Whether it goes on where its core faults: at a word at an address that is no multiple of 4."""

    def check_alignment(self) -> None:
        """Stop there from now on as well, if that can be done; it takes time."""

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of memory; zeros where nothing was written yet."""

    def write(self, address: int, data: bytes) -> None:
        """Put bytes into memory."""

    def get(self, register: str) -> int:
        """Return a register: "pc", "sp", "lr", "r0", "ra", "a0"."""

    def set(self, register: str, value: int) -> None:
        """Change a register."""

    def stop_at(self, addresses: Iterable[int]) -> None:
        """Stop before the instructions at ``addresses``, as well as where it stops already."""

    def leave(self, address: int) -> None:
        """Remove the stop at ``address``."""

    def spare(self, size: int) -> int:
        """Return the address of ``size`` bytes of memory that the program does not use."""

    def place(self, data: bytes) -> int:
        """Put bytes into memory that the program does not use, for good; return their address."""

    def count(self) -> int | None:
        """Return how many instructions were executed since the first call; None where they are not counted."""

    def noted(self) -> Noted | None:
        """Return the recorder of stores; None where stores cannot be recorded."""

    def devices(self) -> tuple[Span, ...]:
        """Return the address ranges of devices, where stores damage no memory."""

    def run(self, limit: float, *, is_quiet: bool = False) -> Stop:
        """Run on, for at most ``limit`` seconds of processor time of the host; the clock does not tick if ``is_quiet``.

        The clock of QEMU always ticks.
        """

    def save(self) -> Snapshot:
        """Return the state."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state."""

    def close(self) -> None:
        """End the emulator."""


def word(machine: Emulator, address: int) -> int:
    """Return the 32-bit word at ``address``."""
    return int.from_bytes(machine.read(address, 4), "little")


def set_word(machine: Emulator, address: int, value: int) -> None:
    """Write a 32-bit word."""
    machine.write(address, (value & 0xFFFFFFFF).to_bytes(4, "little"))


def words(machine: Emulator, address: int, count: int) -> tuple[int, ...]:
    """Return ``count`` 32-bit words from ``address`` on."""
    return struct.unpack(f"<{count}I", machine.read(address, 4 * count))


def argument(machine: Emulator, index: int) -> int:
    """Return an argument of one word, counted from 0, at the entry of a function."""
    registers = machine.core.arguments
    if index < len(registers):
        return machine.get(registers[index])
    return word(machine, machine.get("sp") + 4 * (index - len(registers)))


def return_address(machine: Emulator) -> int:
    """Return where the function at whose entry the machine stands will return to."""
    return machine.get(machine.core.link) & ~machine.core.code_bit


def return_stub(machine: Emulator) -> int:
    """Return an address for a function that is called to return to; the machine stops there."""
    core = machine.core
    if core.is_windowed:
        address = machine.place(RETURN_STUB) + CALL_BYTES
    else:
        address = machine.place(_ENDLESS_ARM if core.is_arm else _ENDLESS_RISCV)
    machine.stop_at([address])
    return address


def give_back(machine: Emulator, value: int) -> None:
    """Return ``value`` from the function at whose entry the machine stands, without running it."""
    machine.set(machine.core.arguments[0], value)
    machine.set("pc", return_address(machine))


def text_at(machine: Emulator, address: int, longest: int = 500) -> str:
    """Return the string at ``address``, cut after ``longest`` bytes."""
    found = bytearray()
    while len(found) < longest:
        piece = machine.read(address + len(found), 32)
        end = piece.find(b"\0")
        found += piece if end < 0 else piece[:end]
        if end >= 0 or not piece:
            break
    return found.decode("utf-8", "replace")
