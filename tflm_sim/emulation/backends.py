"""Which emulator runs a program, and a machine in it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from tflm_sim.emulation.emulator import Emulator
from tflm_sim.emulation.memory_map import Span, memory_map
from tflm_sim.emulation.program import Program
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extras import command_for
from tflm_sim.values import NamedTuple

UNICORN, QEMU = "unicorn", "qemu"
EMULATORS = (UNICORN, QEMU)
_STACK = 1 << 16
"""Bytes below the first stack pointer that snapshots of QEMU hold, where nothing else says how large it is."""
_LARGEST_GAP = 1 << 18


class Backend(NamedTuple):
    """An emulator: its name for people, and what makes a machine in it.

    ``make`` is told whether the program's data stand where its start-up code would put them.
    """

    name: str
    make: Callable[[bool], Emulator]


def backend(program: Program, path: str, wanted: str = "") -> Backend:
    """Return the emulator for a program.

    Args:
        program: The program.
        path: Its file.
        wanted: One of :data:`EMULATORS`, "" for the first that has its core.

    Raises:
        UsageError: It is not installed.
        FirmwareError: It has not the program's core.
    """
    core = program.core
    name = wanted or (UNICORN if core.model and (find_spec("unicorn") or not _qemu(program)) else QEMU)
    if name == UNICORN:
        if not core.model:
            raise FirmwareError(f"Unicorn has no {core.name}; QEMU has one")
        if find_spec("unicorn") is None:
            raise UsageError(f"executing a program needs an emulator: {command_for('run')}")
        import unicorn

        return Backend(f"Unicorn {unicorn.__version__}", partial(_in_unicorn, program))
    found = _qemu(program)
    if found is None:
        raise UsageError(f"a program for a {core.name} needs {_qemu_name(program)}, which is not on PATH: install QEMU")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    version = said.split("version", 1)[-1].split()[0] if "version" in said else "of an unknown version"
    return Backend(f"QEMU {version} ({core.board})", partial(_in_qemu, program, path, found))


def _qemu_name(program: Program) -> str:
    return "qemu-system-arm" if program.core.is_arm else "qemu-system-riscv32"


def _qemu(program: Program) -> str | None:
    return shutil.which(_qemu_name(program))


def _in_unicorn(program: Program, is_started: bool) -> Emulator:
    from tflm_sim.emulation.unicorn_machine import UnicornMachine

    return UnicornMachine(program.core, memory_map(program.elf, is_started=is_started), program.vector_table)


def _in_qemu(program: Program, path: str, qemu: str, is_started: bool) -> Emulator:
    from tflm_sim.emulation.gdb_machine import GdbMachine

    memory = memory_map(program.elf, is_started=is_started)
    machine = GdbMachine(
        program.core, path, qemu, _kept(program, memory.written), memory.devices(), program.fault_handlers()
    )
    if is_started:
        for address, data in memory.loaded:
            machine.write(address, data)
    return machine


def _kept(program: Program, written: tuple[Span, ...]) -> list[Span]:
    """Return the memory that a program changes: its data, what lies between them and the stack, and the stack."""
    spans = list(written)
    top = program.reset_state().get("sp")
    if top is not None and not any(span.start < top <= span.end for span in spans):
        below = max((span.end for span in spans if span.end <= top), default=0)
        spans.append(Span(max(below, top - _STACK) if top - below > _LARGEST_GAP else below, top))
        if top - below > _LARGEST_GAP:
            spans.append(Span(below, below + _LARGEST_GAP - _STACK))
    return spans
