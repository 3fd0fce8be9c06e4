"""A machine in QEMU, driven through its gdbstub, for cores that Unicorn lacks (Cortex-M55 with MVE, M7 with doubles).

    $c#63 ->     <- $T05...#b9      packets on qemu's own standard input and output

Only the memory of QEMU's board is there. Nothing of the host is: semihosting is off, and its calls are answered here,
where the program is stopped before each. QEMU is a program of its own that the user installs.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Core, Reason, Snapshot, Stop
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.qemu_monitor import COUNTING, QemuMonitor
from tflm_sim.extensions.firmware.emulation.qemu_plugin import QemuPlugin, store_plugin
from tflm_sim.extensions.firmware.emulation.store_watch import Noted
from tflm_sim.planners.deadline import Deadline

_BLOCK = 1024
"""Bytes of memory in a packet; QEMU takes packets of 4096 characters."""
_SPARE = {
    "mps2-an500": 0x60F0_0000, "mps2-an505": 0x80F0_0000, "mps3-an547": 0x6F00_0000, "virt": 0x8780_0000,
    "sim": 0x67F0_0000,
}  # fmt: skip
"""The end of memory that hardly any program uses, by board."""
_SPARE_ELSEWHERE = 0x21F0_0000
_INCLUDED = re.compile(r'<xi:include href="([^"]+)"')
_REGISTER = re.compile(r'<reg name="([^"]+)"(?:(?!regnum)[^>])*(?:regnum="(\d+)")?')
_PATIENCE_S = 20.0
_WALL_TIME_FACTOR = 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PIECE = 0x7F0
"""Bytes of a description in an answer."""
_SYSTEM = (0xE000_ED08, 0xE000_ED14, 0xE000_ED18, 0xE000_ED1C, 0xE000_ED20, 0xE000_ED24, 0xE000_ED88, 0xE000_EF34)
"""What start-up code sets in an Arm core and no debugger can write: vector table, CCR, priorities, handlers, which
coprocessors may be used, how floating-point registers are kept. Source: Armv8-M Architecture Reference Manual, D1.1."""
_STORE = bytes.fromhex("0160")
"""str r1, [r0]"""
_CALLERS = 1 << 16
"""Bytes of the stack above its pointer that snapshots hold, where nothing said before the start where it is."""
_CONTROL_REGISTERS = "csr"
"""Part of the name of a group of registers that a program at its own level seldom changes, and that are hundreds."""


class GdbMachine:
    """A program in QEMU.

    Args:
        core: Its processor.
        path: Its file.
        program: QEMU's, such as qemu-system-arm.
        kept: The memory that snapshots hold.
        devices: Where no memory is.
        faults: Where the processor goes on faults.
    """

    def __init__(
        self,
        core: Core,
        path: str,
        program: str,
        kept: Iterable[Span],
        devices: tuple[Span, ...],
        faults: Iterable[int],
    ) -> None:
        self.core = core
        self.ignores_alignment = False
        self._numbers: dict[str, int] = {}
        self._general: dict[str, str] = {}
        self._kept = tuple(kept)
        self._devices = devices
        self._faults = frozenset(faults)
        self._stops: set[int] = set()
        self._placed: dict[int, bytes] = {}
        self._spare = _SPARE.get(core.board, _SPARE_ELSEWHERE)
        self._command = [program, "-M", core.board, *self._arguments(), "-kernel", path, "-S", "-gdb", "stdio"]
        self._command += ["-nodefaults", "-display", "none", "-serial", "null", "-monitor", "none", *COUNTING]
        self._plugin = QemuPlugin() if core.is_windowed else store_plugin()
        self._launch()

    def _arguments(self) -> list[str]:
        """Return what else QEMU is told about the board."""
        return [] if self.core.is_arm else ["-bios", "none"]

    def _launch(self) -> None:
        if not self._start() and self._plugin.file is not None:  # It may be a QEMU that loads no plugins.
            self.close()
            self._plugin = QemuPlugin()
            self._start()
        self._received, self._is_gone, self._is_in_handler = b"", False, False
        self._numbers = dict(self._described())  # Who does not ask for it is not told of all registers.
        for address in self._faults | self._stops:
            self._ask(f"Z0,{address:x},2")
        for address, data in self._placed.items():
            self.write(address, data)

    def _start(self) -> bool:
        self._monitor = monitor = QemuMonitor()
        shared = [] if self._plugin.file is None else [self._plugin.file.fileno()]
        self._qemu = subprocess.Popen(
            [*self._command, *monitor.arguments, *self._plugin.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[monitor.number, *shared],
        )
        # QEMU goes on when its debugger is gone: it must not outlive a machine that nobody closed.
        self._end = weakref.finalize(self, _end, self._qemu)
        return monitor.is_answered()

    # -- packets --------------------------------------------------------------------------------------------------

    def _send(self, text: str) -> None:
        data = text.encode("ascii")
        assert self._qemu.stdin is not None, "it is a pipe"
        self._qemu.stdin.write(b"$%s#%02x" % (data, sum(data) % 256))
        self._qemu.stdin.flush()

    def _receive(self, patience: float) -> str | None:
        """Return the next packet; None after ``patience`` seconds without one."""
        assert self._qemu.stdin is not None, "it is a pipe"
        assert self._qemu.stdout is not None, "it is a pipe"
        deadline = Deadline(patience)
        while True:
            start = self._received.find(b"$")
            end = self._received.find(b"#", start) if start >= 0 else -1
            if end >= 0 and len(self._received) >= end + 3:
                packet, self._received = self._received[start + 1 : end], self._received[end + 3 :]
                self._qemu.stdin.write(b"+")
                self._qemu.stdin.flush()
                return packet.decode("latin-1")
            ready, _, _ = select.select([self._qemu.stdout], [], [], deadline.seconds_left)
            if not ready:
                return None
            piece = os.read(self._qemu.stdout.fileno(), 65536)
            if not piece:
                raise EOFError
            self._received += piece

    def _ask(self, text: str) -> str:
        try:
            self._send(text)
            answer = self._receive(_PATIENCE_S)
        except (EOFError, BrokenPipeError):
            answer = None
        if answer is None:
            raise FirmwareError(f"QEMU's board {self.core.board} ended, or does not answer: does the program fit it?")
        return answer

    def _described(self) -> Iterator[tuple[str, int]]:
        """Yield (name, number) of each register that the target's description has."""
        number = 0
        for group in _INCLUDED.findall(self._description("target.xml")):
            for name, said in _REGISTER.findall(self._description(group)):
                number = int(said or number)
                if _CONTROL_REGISTERS not in group:
                    yield name, number
                number += 1

    def _description(self, name: str) -> str:
        text = ""
        while True:
            answer = self._ask(f"qXfer:features:read:{name}:{len(text):x},{_PIECE:x}")
            text += answer[1:]
            if not answer.startswith("m"):
                return text

    # -- memory and registers -------------------------------------------------------------------------------------

    def check_alignment(self) -> None:
        """Nothing: QEMU faults as the core does."""

    def read(self, address: int, size: int) -> bytes:
        """Return bytes; zeros where the board has no memory."""
        found = b""
        for start, step in _blocks(address, size):
            answer = self._ask(f"m{start:x},{step:x}")
            found += bytes(step) if answer.startswith("E") else bytes.fromhex(answer)
        return found

    def write(self, address: int, data: bytes) -> None:
        for start, step in _blocks(address, len(data)):
            self._ask(f"M{start:x},{step:x}:{data[start - address : start - address + step].hex()}")

    def spare(self, size: int) -> int:
        """Return memory that the program knows nothing of."""
        self._spare -= size + -size % 16
        return self._spare

    def place(self, data: bytes) -> int:
        """Put bytes where the program knows nothing of them; return their address."""
        address = self.spare(len(data))
        self._placed[address] = data
        self.write(address, data)
        return address

    def get(self, register: str) -> int:
        if not self._general:
            answer = self._ask("g")
            self._general = {name: answer[8 * at : 8 * at + 8] for at, name in enumerate(self._numbers)}
        answer = self._general[register]
        if len(answer) < 8:
            raise FirmwareError(f"QEMU's board {self.core.board} does not say what is in its register {register}")
        value = int.from_bytes(bytes.fromhex(answer), "little")
        return value & ~self.core.code_bit if register == "pc" else value

    def set(self, register: str, value: int) -> None:
        self._forget()
        self._ask(f"P{self._numbers[register]:x}={(value & 0xFFFFFFFF).to_bytes(4, 'little').hex()}")

    def _forget(self) -> None:
        self._general = {}

    # -- running --------------------------------------------------------------------------------------------------

    def stop_at(self, addresses: Iterable[int]) -> None:
        """Stop before the instructions at ``addresses``."""
        for address in set(addresses) - self._stops:
            self._ask(f"Z0,{address:x},2")
            self._stops.add(address)

    def leave(self, address: int) -> None:
        if address in self._stops:
            self._stops.discard(address)
            self._ask(f"z0,{address:x},2")

    def count(self) -> int | None:
        """Return how many instructions were executed, those included whose condition did not hold."""
        return self._monitor.instructions()

    def devices(self) -> tuple[Span, ...]:
        """Return where no memory is that a program could damage."""
        return self._devices

    def noted(self) -> Noted | None:
        """Return where stores are noted; None where QEMU loads no plugin, or it is not installed."""
        return self._plugin.noted

    def run(self, limit: float, *, is_quiet: bool = False) -> Stop:
        start = self.get("pc")
        if start in self._stops:
            self._step(start)
            if self.get("pc") in self._stops:
                return Stop(Reason.ADDRESS, self.get("pc"))
        self._forget()
        self._send("vCont;c")
        began, spent = time.monotonic(), self._spent()
        try:
            while self._receive(0.2) is None:
                if self._spent() - spent > limit or time.monotonic() - began > _WALL_TIME_FACTOR * limit:
                    self._interrupt()
                    return Stop(Reason.LIMIT, self.get("pc"))
        except EOFError:
            self._is_gone = True
            if self._qemu.wait() == -signal.SIGXCPU:
                raise FirmwareError("QEMU was stopped at the time limit (a larger `timeout=` gives it more)") from None
            return Stop(Reason.FAULT, start, "runs on, and locks the processor up")
        address = self.get("pc")
        if address in self._faults and address not in self._stops:
            self._is_in_handler = True
            return Stop(Reason.FAULT, address, "faults, and goes on")
        return Stop(Reason.ADDRESS, address)

    def _step(self, start: int) -> None:
        self._ask("vCont;s:1")
        self._forget()
        if self.get("pc") == start:
            self._ask(f"z0,{start:x},2")
            self._ask("vCont;s:1")
            self._ask(f"Z0,{start:x},2")
            self._forget()

    def _interrupt(self) -> None:
        assert self._qemu.stdin is not None, "it is a pipe"
        self._qemu.stdin.write(b"\x03")
        self._qemu.stdin.flush()
        self._receive(_PATIENCE_S)

    def _spent(self) -> float:
        """Return how long QEMU has had a processor, in seconds; without /proc (macOS), how late it is."""
        if sys.platform != "linux":
            return time.monotonic()
        fields = Path(f"/proc/{self._qemu.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    # -- snapshots ------------------------------------------------------------------------------------------------

    def save(self) -> Snapshot:
        registers = {name: self._ask(f"p{number:x}") for name, number in self._numbers.items()}
        memory = {span.start: self.read(span.start, span.end - span.start) for span in self._kept}
        if not any(span.start <= self.get("sp") < span.end for span in self._kept):
            memory[self.get("sp")] = self.read(self.get("sp"), _CALLERS)
        system = {address: self.read(address, 4) for address in (_SYSTEM if self.core.is_arm else ())}
        return Snapshot({name: value for name, value in registers.items() if value[:1] != "E"}, system, memory)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state: in another QEMU where the processor locked up, after a reset where it handles a fault."""
        if self._is_gone:
            self.close()
            self._launch()
            self._set_system(snapshot)
        elif self._is_in_handler:
            self._ask("qRcmd," + b"system_reset".hex())
            self._is_in_handler = False
            self._set_system(snapshot)
        for address, data in snapshot.memory.items():
            self.write(address, data)
        for name, value in snapshot.processor.items():
            self._ask(f"P{self._numbers[name]:x}={value}")
        self._forget()

    def _set_system(self, snapshot: Snapshot) -> None:
        """Have the processor itself store what a debugger cannot write."""
        place = self.spare(16)
        self.write(place, _STORE)
        for address, value in snapshot.devices.items():
            for register, number in (("pc", place), ("r0", address), ("r1", int.from_bytes(value, "little"))):
                self.set(register, number)
            self._ask("vCont;s:1")
            self._forget()

    def close(self) -> None:
        """End QEMU."""
        self._monitor.close()
        self._end()


def _end(qemu: subprocess.Popen[bytes]) -> None:
    qemu.kill()
    qemu.wait()


def _blocks(address: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(address, address + size, _BLOCK):
        yield start, min(_BLOCK, address + size - start)
