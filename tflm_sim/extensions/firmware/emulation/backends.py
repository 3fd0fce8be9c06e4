"""Which emulator runs a program, and a machine in it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.execution import QEMU, UNICORN
from tflm_sim.extensions.firmware.emulation.memory_map import MemoryMap, Span, memory_map, writable
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.xtensa import Chip, chip_of
from tflm_sim.extras import install_command

_STACK = 1 << 16
"""Bytes below the first stack pointer that snapshots of QEMU hold, where nothing else says how large it is."""
_MAX_GAP = 1 << 18
_WINDOW_VECTORS = "_WindowOverflow4"
"""The first of an Xtensa program's vectors."""


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
        wanted: A name of ``execution.EMULATORS``, "" for the first that has its core.

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
            raise UsageError(f"executing a program needs an emulator: {install_command('run')}")
        import unicorn

        return Backend(f"Unicorn {unicorn.__version__}", partial(_in_unicorn, program))
    found = _qemu(program)
    if program.core.is_windowed:
        return _of_espressif(program, path, found)
    if found is None:
        raise UsageError(f"a program for a {core.name} needs {_qemu_name(program)}, which is not on PATH: install QEMU")
    return Backend(f"QEMU {_version(found)} ({core.board})", partial(_in_qemu, program, path, found))


def _version(qemu: str) -> str:
    said = _qemu_says(qemu, "--version")
    return said.split("version", 1)[-1].split()[0] if "version" in said else "of an unknown version"


def _qemu_says(qemu: str, *arguments: str) -> str:
    return subprocess.run([qemu, *arguments], capture_output=True, text=True, timeout=60, check=False).stdout


def _of_espressif(program: Program, path: str, qemu: str | None) -> Backend:
    """Return the QEMU of Espressif.

    Raises:
        FirmwareError: It is not there, has no boot ROM, or the program says not where its vectors are.
    """
    chip = chip_of(program.elf)
    assert chip is not None, "the program's core is that of a chip"
    if qemu is None or chip.cpu not in _qemu_says(qemu, "-cpu", "help").split():
        problem = "there is none" if qemu is None else f"{qemu} has not this core"
        raise FirmwareError(
            f"a program for an {chip.name} is executed by qemu-system-xtensa of Espressif (github.com/espressif/qemu, "
            f"or 'idf_tools.py install qemu-xtensa'): put it on PATH; {problem}. Or use the board, whose "
            "log 'tflm-sim board listen' compares"
        )
    rom = _boot_rom(qemu, chip)
    vectors = next((one.value for one in program.elf.symbols if one.name == _WINDOW_VECTORS), None)
    if vectors is None:
        raise FirmwareError(f"it has no symbol {_WINDOW_VECTORS}: name the ELF file from before it was stripped")
    name = f"QEMU {_version(qemu)} of Espressif (core {chip.cpu})"
    return Backend(name, partial(_in_xtensa, program, path, qemu, (chip, vectors, rom)))


def _boot_rom(qemu: str, chip: Chip) -> Path:
    folders = [Path(line) for line in _qemu_says(qemu, "-L", "help").splitlines()]
    for rom in (folder / chip.rom for folder in folders):
        if rom.is_file():
            return rom
    raise FirmwareError(f"{qemu} has not its file {chip.rom}, the boot ROM of an {chip.name}: install it whole")


def _in_xtensa(program: Program, path: str, qemu: str, its: tuple[Chip, int, Path], is_started: bool) -> Emulator:
    from tflm_sim.extensions.firmware.emulation.xtensa_machine import XtensaMachine

    chip, *_ = its
    kept = [chip.memory, *(span for span in writable(program.elf) if not chip.memory.contains(span.start))]
    kept += [] if program.external_heap is None else [chip.external]
    return XtensaMachine(program.core, path, qemu, kept, *its)


def _qemu_name(program: Program) -> str:
    if program.core.is_windowed:
        return "qemu-system-xtensa"
    return "qemu-system-arm" if program.core.is_arm else "qemu-system-riscv32"


def _qemu(program: Program) -> str | None:
    return shutil.which(_qemu_name(program))


def _in_unicorn(program: Program, is_started: bool) -> Emulator:
    from tflm_sim.extensions.firmware.emulation.unicorn_machine import UnicornMachine

    return UnicornMachine(program.core, memory_map(program.elf, is_started=is_started), program.vector_table)


def _in_qemu(program: Program, path: str, qemu: str, is_started: bool) -> Emulator:
    from tflm_sim.extensions.firmware.emulation.gdb_machine import GdbMachine

    memory = memory_map(program.elf, is_started=is_started)
    machine = GdbMachine(program.core, path, qemu, _kept(program, memory), memory.devices(), program.fault_handlers())
    if is_started:
        for address, data in memory.loaded:
            machine.write(address, data)
    return machine


def _kept(program: Program, memory: MemoryMap) -> list[Span]:
    """Return the memory that a program changes: its data, what lies between them and the stack, and the stack."""
    spans = [*memory.written, *memory.code_near_null]
    top = program.reset_state().get("sp")
    if top is not None and not any(span.start < top <= span.end for span in spans):
        below = max((span.end for span in spans if span.end <= top), default=0)
        spans.append(Span(max(below, top - _STACK) if top - below > _MAX_GAP else below, top))
        if top - below > _MAX_GAP:
            spans.append(Span(below, below + _MAX_GAP - _STACK))
    return spans
