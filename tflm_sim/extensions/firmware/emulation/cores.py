"""Which processor a program was built for, and which emulator supports it."""

from __future__ import annotations

from collections.abc import Mapping

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Core
from tflm_sim.extensions.firmware.emulation.xtensa import chip_of
from tflm_sim.extensions.firmware.reading.attributes import CPU_ARCHITECTURE, MVE, attributes
from tflm_sim.extensions.firmware.reading.elf import Elf

_ARM = (("r0", "r1", "r2", "r3"), "lr")
_RISCV = (tuple(f"a{index}" for index in range(8)), "ra")
_XTENSA = (tuple(f"a{index}" for index in range(2, 8)), "a0")

_FP_ARCHITECTURE, _FP_USE = 10, 27
_DOUBLE_PRECISION = frozenset({7, 8})
"""Values of Tag_FP_arch that allow double precision: FP for Armv8 with 32 registers, and with 16 (gcc's FPv5)."""
_SINGLE_ONLY = 1
"""Tag_ABI_HardFP_use of code that has no numbers of double precision. Source: ARM-software/abi-aa addenda32."""

_MODELS = {
    11: ("Cortex-M0", "UC_CPU_ARM_CORTEX_M0", "mps2-an385"),
    12: ("Cortex-M0", "UC_CPU_ARM_CORTEX_M0", "mps2-an385"),
    10: ("Cortex-M3", "UC_CPU_ARM_CORTEX_M3", "mps2-an385"),
    13: ("Cortex-M4", "UC_CPU_ARM_CORTEX_M4", "mps2-an386"),
    16: ("Cortex-M23", "UC_CPU_ARM_CORTEX_M33", "mps2-an505"),
    17: ("Cortex-M33", "UC_CPU_ARM_CORTEX_M33", "mps2-an505"),
    21: ("Cortex-M55", "", "mps3-an547"),
}
"""Tag_CPU_arch -> the core, Unicorn's model of it, QEMU's board with it. Unicorn has neither the low-overhead loops nor
the vectors of v8.1-M."""
_OTHERS = {
    "Xtensa": "of the chips with this processor, only the ESP32 is one whose programs were tried in an emulator; the "
    "board itself runs it, whose log 'tflm-sim board listen' compares",
    "x86-64": "it is a program for a computer: run it there",
    "i386": "it is a program for a computer: run it there",
    "AArch64": "its processor is an application processor: run it there",
}


def core_of(elf: Elf) -> Core:
    """Return the core.

    Raises:
        FirmwareError: No emulator here has it.
    """
    if elf.machine == "ARM" and elf.bits == 32:
        return _arm(attributes(elf, ".ARM.attributes", "aeabi"))
    if elf.machine == "RISC-V" and elf.bits == 32:
        return Core("RISC-V 32", False, "UC_CPU_RISCV32_ANY", "virt", *_RISCV)
    chip = chip_of(elf) if elf.machine == "Xtensa" else None
    if chip is not None:
        return Core(chip.name, False, "", "sim", *_XTENSA, is_windowed=True)
    why = _OTHERS.get(elf.machine, "no emulator here has this processor")
    raise FirmwareError(f"a program for {elf.machine} ({elf.bits} bits) cannot be executed here: {why}")


def _arm(said: Mapping[int, int | str]) -> Core:
    number = said.get(CPU_ARCHITECTURE, 13)
    if not isinstance(number, int) or number not in _MODELS:
        raise FirmwareError(f"it is built for an Arm core of architecture {number}, which is no Cortex-M")
    name, model, board = _MODELS[number]
    if said.get(MVE):
        model = ""
    has_doubles = said.get(_FP_ARCHITECTURE) in _DOUBLE_PRECISION and said.get(_FP_USE) != _SINGLE_ONLY
    if number == 13 and has_doubles:
        return Core("Cortex-M7", True, "", "mps2-an500", *_ARM)
    return Core(name, True, model, board, *_ARM)
