"""An Xtensa chip of Espressif's in QEMU, whose core the user's own QEMU has.

Its board is QEMU's simulator of bare cores with the chip's core: memory at each address at which the chip has some, the
boot ROM, and no devices. There a program is never run from reset.

Registers are those of the function at whose entry the machine stands, or of the function that has just returned: "a2"
is its first argument before its ``entry``, and its result where it returns to.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Core, Reason, Snapshot, Stop
from tflm_sim.extensions.firmware.emulation.gdb_machine import GdbMachine
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.xtensa import CALL_BYTES, ROM, Chip, is_entry, window_of_call

_STACK, _FIRST_FRAME = 1 << 15, 64
_PIECE = 1024
"""Bytes that are written again where any of them changed."""
_WORD = 4
_GROUP = 4
_SP = 1
_ADDRESS = 0x3FFF_FFFF
_STATE = 0x6_0020
"""The processor's state at the start: windows are on, the last call moved them by 8, no interrupt is masked."""
_CALL_SHIFT, _CALL_MASK, _CALL8 = 16, 3 << 16, 2
_VECTORS, _COPROCESSORS, _CAUSE, _FAULT_AT, _FAULT_ABOUT = 0xE7, 0xE0, 0xE8, 0xB1, 0xEE
"""Numbers of special registers: VECBASE, CPENABLE, EXCCAUSE, EPC1, EXCVADDR."""
_ATOMIC, _ALLOWED = 0x63, 0x15
"""ATOMCTL, and what allows atomic stores to all memory."""
_EXCEPTIONS = (0x300, 0x340, 0x3C0)
"""Where, from VECBASE on, exceptions go: kernel, user, double."""
_OWN = frozenset({1, 5})
"""Causes that are no faults: a program's own call of its system, and alloca()."""
_WORDS = {
    0: "runs into an undefined instruction",
    6: "divides by zero",
    9: "accesses what is not aligned, at",
    14: "executes what is no memory, at",
    15: "accesses what is no memory, at",
    28: "reads what cannot be read, at",
    29: "writes what cannot be written, at",
}
_ABOUT_MEMORY = range(9, 64)
_READ_TO_A2, _WRITE_A2 = 0x03, 0x13


class XtensaMachine(GdbMachine):
    """A program in QEMU, its data in place.

    Args:
        core: Its processor.
        path: Its file.
        program: QEMU's.
        kept: The memory that snapshots hold.
        chip: The chip.
        vectors: Where the program's exception vectors are.
        rom: The file of the boot ROM, None where there is none.
    """

    def __init__(
        self, core: Core, path: str, program: str, kept: Iterable[Span], chip: Chip, vectors: int, rom: Path | None
    ) -> None:
        self._chip = chip
        self._vectors = vectors
        self._rom = rom
        self._state: bytearray | None = None
        self._stub = self._top = 0
        super().__init__(core, path, program, kept, (), (vectors + offset for offset in _EXCEPTIONS))
        self._stub = self.place(bytes(2 * CALL_BYTES))
        self._top = self.spare(_STACK) + _STACK
        self._kept += (Span(self._top - _STACK, self._top),)
        self._begin()

    def _arguments(self) -> list[str]:
        rom = [] if self._rom is None else ["-device", f"loader,file={self._rom},addr={ROM:#x},force-raw=on"]
        return ["-cpu", self._chip.cpu, *rom]

    def _begin(self) -> None:
        """Put the processor into the state in which a program's functions can be called."""
        if self._rom is not None:
            address, offset, size = self._chip.rom_constants
            self.write(address, self._rom.read_bytes()[offset : offset + size])
        first = self._top - _FIRST_FRAME  # Below it lies the stack pointer of its caller, as each function's does.
        self.write(first - 12, self._top.to_bytes(_WORD, "little"))
        state = {"windowbase": 0, "windowstart": 1, "ps": _STATE, "ar1": first}
        for name, value in state.items():
            self._patch(self._place(name), value)
        self._put()
        self._put()
        self._special(_VECTORS, self._vectors)
        self._special(_COPROCESSORS, 0xFF)
        self._special(_ATOMIC, _ALLOWED)

    # -- registers ------------------------------------------------------------------------------------------------

    def _registers(self) -> bytearray:
        if self._state is None:
            self._state = bytearray.fromhex(self._ask("g"))[: _WORD * self._chip.words]
        return self._state

    def _forget(self) -> None:
        super()._forget()
        self._state = None

    def _place(self, name: str) -> int:
        """Return where a register is in what QEMU says: pc, the address registers, then those of the core."""
        if name.startswith("ar"):
            return _WORD * (1 + int(name[2:]))
        return 0 if name == "pc" else _WORD * (1 + self._chip.registers + self._chip.order.index(name))

    def _word(self, place: int) -> int:
        return int.from_bytes(self._registers()[place : place + _WORD], "little")

    def _patch(self, place: int, value: int) -> None:
        self._registers()[place : place + _WORD] = (value & 0xFFFFFFFF).to_bytes(_WORD, "little")

    def _put(self) -> None:
        """Write all registers but those of the window, which QEMU takes from the address registers."""
        state = self._registers()
        if self._ask("G" + state.hex()) != "OK":
            raise FirmwareError(f"QEMU does not take the registers of its core {self._chip.cpu}")

    def _in_window(self, number: int) -> int:
        """Return where a register of the current window is."""
        base = self._word(self._place("windowbase"))
        return self._place(f"ar{(_GROUP * base + number) % self._chip.registers}")

    def _moved(self) -> int:
        """Return by how many registers the window of the function that is called, or has returned, is further on."""
        address = self._word(0)
        if is_entry(self.read(address, CALL_BYTES)):
            return _GROUP * ((self._word(self._place("ps")) & _CALL_MASK) >> _CALL_SHIFT)
        return _GROUP * (window_of_call(self.read(address - CALL_BYTES, CALL_BYTES)) or 0)

    def get(self, register: str) -> int:
        if register == "pc":
            return self._word(0)
        if register == "sp":
            return self._word(self._in_window(_SP))
        number = int(register[1:])
        value = self._word(self._in_window(self._moved() + number))
        return value if number else value & _ADDRESS | self._word(0) & ~_ADDRESS

    def set(self, register: str, value: int) -> None:
        """Change a register; the return address as a call by 8 has it, and before the arguments."""
        if register == "pc":
            self._patch(0, value)
        elif register == "sp":
            self._patch(self._in_window(_SP), value)
        else:
            number = int(register[1:])
            if not number:
                state = self._place("ps")
                self._patch(state, self._word(state) & ~_CALL_MASK | _CALL8 << _CALL_SHIFT)
                value = value & _ADDRESS | _CALL8 << 30
            self._patch(self._in_window(self._moved() + number), value)
        self._put()

    def _special(self, number: int, value: int | None = None) -> int:
        """Return a special register, or write it, by an instruction: debuggers number them by core."""
        places = 0, self._in_window(2)
        before = [self._word(place) for place in places]
        self.write(self._stub, bytes([0x20, number, _READ_TO_A2 if value is None else _WRITE_A2]))
        self._change(places, (self._stub, value or 0))
        self._ask("vCont;s:1")
        self._forget()
        found = self._word(places[1])
        self._change(places, before)
        return found

    def _change(self, places: Iterable[int], values: Iterable[int]) -> None:
        for place, value in zip(places, values, strict=True):
            self._patch(place, value)
        self._put()

    # -- running --------------------------------------------------------------------------------------------------

    def run(self, limit: float, *, is_quiet: bool = False) -> Stop:
        """Run on; exceptions that are a program's own are left to it."""
        while True:
            stop = super().run(limit, is_quiet=is_quiet)
            if stop.reason is not Reason.FAULT or self._is_gone:
                return stop
            cause = self._special(_CAUSE)
            if cause not in _OWN:
                text = _WORDS.get(cause, f"gets an exception (cause {cause})")
                about = self._special(_FAULT_ABOUT) if cause in _ABOUT_MEMORY and cause in _WORDS else None
                return Stop(Reason.FAULT, self._special(_FAULT_AT), text, about)
            self._step(stop.address)

    # -- snapshots ------------------------------------------------------------------------------------------------

    def save(self) -> Snapshot:
        memory = {span.start: self._monitor.memory(span.start, span.end - span.start) for span in self._kept}
        return Snapshot(bytes(self._registers()), {}, memory)

    def restore(self, snapshot: Snapshot) -> None:
        if self._is_gone:
            self.close()
            self._launch()
            self._begin()
        for address, data in snapshot.memory.items():
            now = self._monitor.memory(address, len(data))
            for at in range(0, len(data), _PIECE):
                if now[at : at + _PIECE] != data[at : at + _PIECE]:
                    self.write(address + at, data[at : at + _PIECE])
        self._state = bytearray(snapshot.processor)
        self._put()
        self._put()
