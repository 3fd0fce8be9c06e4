"""What the compiler noted about the processor: ``.ARM.attributes``, ``.riscv.attributes``, the header's flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.dwarf_units import uleb
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64, Abi

# Source: ARM-software/abi-aa addenda32: Tag_CPU_raw_name, Tag_CPU_name, Tag_compatibility, Tag_also_compatible_with,
# Tag_conformance are strings; from 33 on odd tags are.
_ARM_STRINGS = frozenset({4, 5, 65, 67})
_ARM_NUMBER_AND_STRING = 32
CPU_NAME, CPU_ARCHITECTURE, ENUM_SIZE, DSP, MVE = 5, 6, 26, 46, 48
_V7E_M, _V8_M_MAIN, _V8_1_M = 13, 17, 21
_ARCHITECTURES = {
    6: "v6", 9: "v6KZ", 10: "v7", 11: "v6-M", 12: "v6S-M", 13: "v7E-M", 14: "v8-A", 15: "v8-R", 16: "v8-M.baseline",
    17: "v8-M.mainline", 21: "v8.1-M.mainline", 22: "v9-A",
}  # fmt: skip
"""Values of Tag_CPU_arch that firmware has."""
_ENUM_SIZES = {1: True, 2: False}
"""Tag_ABI_enum_size: 1 the smallest integer, 2 an int."""
_RISCV_ARCHITECTURE = 5


@dataclass(frozen=True, slots=True)
class Processor:
    """What the file says about the processor and the ABI.

    Attributes:
        description: For people: "ARM v7E-M (7E-M)".
        abi: The layout rules that the attributes prove; None where they leave a choice.
        grounds: What proves the rules, or what is missing.
        hint: Where they leave the choice between short and int enums: what they say nevertheless.
        isa: The variant of CMSIS-NN for it: "scalar", "dsp" or "mve"; "" where that does not apply or is not said.
    """

    description: str
    abi: Abi | None
    grounds: str
    isa: str = ""
    hint: Abi | None = None


def processor(elf: Elf) -> Processor:
    """Return what header and attributes say.

    Raises:
        FirmwareError: The attributes contradict themselves.
    """
    if elf.machine == "ARM" and elf.bits == 32:
        return _arm(attributes(elf, ".ARM.attributes", "aeabi"))
    if elf.machine == "RISC-V":
        said = attributes(elf, ".riscv.attributes", "riscv").get(_RISCV_ARCHITECTURE)
        abi, name = (ILP32, "ilp32") if elf.bits == 32 else (LP64, "lp64")
        return Processor(f"RISC-V {elf.bits}" + (f" ({said})" if said else ""), abi, f"e_flags {elf.flags:#x}: {name}")
    if elf.machine == "Xtensa":
        return Processor("Xtensa", ILP32, "Xtensa has one ABI")
    if elf.machine in ("x86-64", "AArch64") and elf.bits == 64:
        return Processor(elf.machine, LP64, "a 64-bit ELF file")
    if elf.machine == "i386":
        return Processor("i386", I386, "a 32-bit ELF file for x86")
    return Processor(elf.machine, None, f"{elf.machine} with {elf.bits} bits has no layout rules here")


def _arm(said: Mapping[int, int | str]) -> Processor:
    if not said:
        return Processor("ARM", None, "no .ARM.attributes: whether enums are short is not said")
    number, name = said.get(CPU_ARCHITECTURE, 0), said.get(CPU_NAME)
    architecture = _ARCHITECTURES.get(number, f"architecture {number}") if isinstance(number, int) else "?"
    description = f"ARM {architecture}" + (f" ({name})" if name else "")
    is_short = _ENUM_SIZES.get(int(said.get(ENUM_SIZE, 0)))
    if is_short is None:
        return Processor(description, None, "Tag_ABI_enum_size is not said", _isa(said), AAPCS)
    # A linker takes the first object file's word for all: that is the start file's, not TFLM's.
    grounds = f"Tag_ABI_enum_size says {'small' if is_short else 'int'}, of one object file at least"
    return Processor(description, None, grounds, _isa(said), AAPCS if is_short else ILP32)


def _isa(said: Mapping[int, int | str]) -> str:
    """Return which of its code CMSIS-NN compiles: by __ARM_FEATURE_MVE, by __ARM_FEATURE_DSP, or neither."""
    architecture = said.get(CPU_ARCHITECTURE)
    if said.get(MVE):
        return "mve"
    if architecture == _V7E_M or (architecture in (_V8_M_MAIN, _V8_1_M) and said.get(DSP)):
        return "dsp"
    return "scalar" if isinstance(architecture, int) and architecture else ""


def attributes(elf: Elf, section_name: str, vendor: str) -> dict[int, int | str]:
    """Return a vendor's attributes of the whole file by tag; {} without the section.

        'A' [size: u32]["aeabi\\0"] [scope: 1][size: u32] [tag][value] [tag][value] ...

    Raises:
        FirmwareError: A size or a string leads out of the section.
    """
    section = elf.section(section_name)
    if section is None:
        return {}
    data = bytes(elf.bytes_of(section))
    found: dict[int, int | str] = {}
    at = 1
    while data[:1] == b"A" and at + 4 <= len(data):
        end = at + int.from_bytes(data[at : at + 4], "little")
        name_end = data.find(b"\0", at + 4, end)
        if end > len(data) or end <= at or name_end < 0:
            raise FirmwareError(f"the attributes in {section_name} contradict themselves", offset=section.offset + at)
        if data[at + 4 : name_end] == vendor.encode():
            _read_scope(data, name_end + 1, end, _IS_TEXT[vendor], found)
        at = end
    return found


def _is_arm_text(tag: int) -> bool:
    return tag in _ARM_STRINGS or (tag >= _ARM_NUMBER_AND_STRING and tag % 2 == 1)


_IS_TEXT: dict[str, Callable[[int], bool]] = {"aeabi": _is_arm_text, "riscv": lambda tag: tag % 2 == 1}
"""Which tags have a string as their value, by vendor. Source: riscv-elf-psabi: odd tags are strings."""


def _read_scope(data: bytes, at: int, end: int, is_text: Callable[[int], bool], found: dict[int, int | str]) -> None:
    """Read the attributes that hold for the file (scope 1)."""
    while at + 5 <= end:
        scope, stop = data[at], at + int.from_bytes(data[at + 1 : at + 5], "little")
        position = at + 5
        if stop <= at or stop > end:
            return
        while scope == 1 and position < stop:
            tag, position = uleb(data, position, stop)
            has_both = tag == _ARM_NUMBER_AND_STRING and is_text is _is_arm_text
            if has_both:
                _, position = uleb(data, position, stop)
            if has_both or is_text(tag):
                text = data[position:stop].partition(b"\0")[0]
                found[tag], position = text.decode("ascii", "replace"), position + len(text) + 1
            else:
                found[tag], position = uleb(data, position, stop)
        at = stop
