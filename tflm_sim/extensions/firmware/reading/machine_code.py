"""Reads machine code: the steps of the instruction at an address, for the processor of an ELF file.

Capstone decodes the instructions; it is an extra (``pip install tflm_sim[firmware]``), and without it nothing is read
of code.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from tflm_sim.extensions.firmware.reading import arm_code, riscv_code, x86_code
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.machine_steps import Convention, Decoder, Step


def decoder(elf: Elf) -> Decoder | None:
    """Return what reads the file's code; None without Capstone, or for a processor that is not read."""
    try:
        import capstone  # type: ignore[import-untyped]
    except ImportError:
        return None
    if elf.machine == "ARM":
        machine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
        return _decoder(machine, arm_code.ARM, arm_code.steps_of)
    if elf.machine == "RISC-V" and elf.bits == 32:
        mode = capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        pointer = next((s.value for s in elf.symbols if s.name == "__global_pointer$"), None)
        return _decoder(capstone.Cs(capstone.CS_ARCH_RISCV, mode), riscv_code.riscv(pointer), riscv_code.steps_of)
    if elf.machine == "x86-64" and elf.bits == 64:
        return _decoder(capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64), x86_code.X86, x86_code.steps_of)
    return None


def _decoder(machine: Any, convention: Convention, steps: Callable[[Any], list[Step]]) -> Decoder:
    machine.detail = True
    known: dict[int, tuple[int, list[Step]]] = {}

    def decode(code: bytes, address: int) -> tuple[int, list[Step]] | None:
        if address not in known:
            for instruction in _together(machine, code, address):
                known[instruction.address] = (instruction.size, steps(instruction))
        return known.get(address)

    return Decoder(convention, decode)


def _together(machine: Any, code: bytes, address: int) -> list[Any]:
    """Return the instruction at an address; IT of Thumb with those that it makes conditional, which do not say so."""
    found = list(machine.disasm(code, address, 1))
    if found and found[0].mnemonic in _CONDITIONAL_BLOCKS:
        return list(machine.disasm(code, address, 1 + len(found[0].mnemonic) - len("i")))
    return found


_CONDITIONAL_BLOCKS = frozenset("it" + "".join(rest) for n in range(4) for rest in product("te", repeat=n))
