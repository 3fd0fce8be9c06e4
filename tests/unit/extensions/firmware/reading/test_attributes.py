"""What compilers note about the processor, beside pyelftools' tables."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading import attributes as ours
from tflm_sim.extensions.firmware.reading import elf as our_elf
from tflm_sim.extensions.firmware.reading.attributes import attributes, processor
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import ARM, Part, write_elf

RISCV = 243


def scope(values: bytes, kind: int = 1) -> bytes:
    return bytes([kind]) + struct.pack("<I", 5 + len(values)) + values


def vendor(name: bytes, *scopes: bytes) -> bytes:
    rows = name + b"\0" + b"".join(scopes)
    return struct.pack("<I", 4 + len(rows)) + rows


def program(*vendors: bytes, machine: int = ARM) -> Elf:
    name = ".ARM.attributes" if machine == ARM else ".riscv.attributes"
    return Elf(memoryview(write_elf(Part(name, b"A" + b"".join(vendors), type=0x70000003), machine=machine)))


def arm(*values: int) -> Elf:
    return program(vendor(b"aeabi", scope(bytes(values))))


def read(elf: Elf) -> dict[int, int | str]:
    return attributes(elf, ".ARM.attributes", "aeabi")


def test_numbers_are_those_of_pyelftools() -> None:
    enums, constants = pytest.importorskip("elftools.elf.enums"), pytest.importorskip("elftools.elf.constants")
    names = {
        "CPU_NAME": "TAG_CPU_NAME",
        "CPU_ARCHITECTURE": "TAG_CPU_ARCH",
        "ENUM_SIZE": "TAG_ABI_ENUM_SIZE",
        "DSP": "TAG_DSP_EXTENSION",
        "MVE": "TAG_MVE_ARCH",
    }
    assert {name: getattr(ours, name) for name in names} == {
        name: enums.ENUM_ATTR_TAG_ARM[theirs] for name, theirs in names.items()
    }
    machines = ("EM_386", "EM_ARM", "EM_X86_64", "EM_XTENSA", "EM_AARCH64", "EM_RISCV")
    assert [*our_elf.MACHINES] == [enums.ENUM_E_MACHINE[name] for name in machines]
    flags = constants.SH_FLAGS
    assert (our_elf.WRITE, our_elf.ALLOCATED, our_elf.EXECUTABLE, our_elf.COMPRESSED) == (
        flags.SHF_WRITE,
        flags.SHF_ALLOC,
        flags.SHF_EXECINSTR,
        flags.SHF_COMPRESSED,
    )
    types = enums.ENUM_SH_TYPE_BASE
    assert [types[name] for name in ("SHT_NOBITS", "SHT_SYMTAB", "SHT_DYNSYM")] == [
        our_elf.NO_BITS,
        our_elf.SYMBOL_TABLE,
        our_elf.DYNAMIC_SYMBOLS,
    ]
    kinds, indices = enums.ENUM_ST_INFO_TYPE, enums.ENUM_ST_SHNDX
    assert enums.ENUM_P_TYPE_BASE["PT_LOAD"] == our_elf.LOAD
    assert (kinds["STT_FUNC"], frozenset({kinds["STT_NOTYPE"], kinds["STT_OBJECT"]})) == (
        our_elf.FUNCTION,
        our_elf.DATA,
    )
    assert (indices["SHN_ABS"], indices["SHN_UNDEF"]) == (our_elf.ABSOLUTE, our_elf.UNDEFINED)
    segment = our_elf.Segment(0, 0, 0, 0, 0, constants.P_FLAGS.PF_W)
    assert segment.is_writable
    assert not our_elf.Segment(0, 0, 0, 0, 0, constants.P_FLAGS.PF_R | constants.P_FLAGS.PF_X).is_writable


# Tag_CPU_arch of abi-aa's addenda32; pyelftools ends at 17.
@pytest.mark.parametrize(
    ("number", "name"),
    [
        (5, "architecture 5"),
        (6, "v6"),
        (7, "architecture 7"),
        (9, "v6KZ"),
        (10, "v7"),
        (11, "v6-M"),
        (12, "v6S-M"),
        (13, "v7E-M"),
        (14, "v8-A"),
        (15, "v8-R"),
        (16, "v8-M.baseline"),
        (17, "v8-M.mainline"),
        (21, "v8.1-M.mainline"),
        (22, "v9-A"),
    ],
)
def test_an_arm_core_is_described_by_its_architecture(number: int, name: str) -> None:
    assert processor(arm(6, number)).description == f"ARM {name}"
    assert processor(arm(5, *b"7E-M", 0, 6, number)).description == f"ARM {name} (7E-M)"


@pytest.mark.parametrize(
    ("values", "isa"),
    [
        ((6, 11), "scalar"),
        ((6, 10), "scalar"),
        ((6, 13), "dsp"),
        ((6, 17), "scalar"),
        ((6, 17, 46, 1), "dsp"),
        ((6, 21), "scalar"),
        ((6, 21, 46, 1), "dsp"),
        ((6, 21, 46, 1, 48, 1), "mve"),
        ((6, 16, 46, 1), "scalar"),
        ((26, 1), ""),
        ((6, 0, 26, 1), ""),
    ],
)
def test_cmsis_nn_compiles_what_the_core_has(values: tuple[int, ...], isa: str) -> None:
    assert processor(arm(*values)).isa == isa


@pytest.mark.parametrize(
    ("values", "hint", "grounds"),
    [
        ((6, 13, 26, 1), AAPCS, "Tag_ABI_enum_size says small, of one object file at least"),
        ((6, 13, 26, 2), ILP32, "Tag_ABI_enum_size says int, of one object file at least"),
        ((6, 13, 26, 3), AAPCS, "Tag_ABI_enum_size is not said"),
        ((6, 13), AAPCS, "Tag_ABI_enum_size is not said"),
    ],
)
def test_the_size_of_enums_is_a_hint(values: tuple[int, ...], hint: object, grounds: str) -> None:
    said = processor(arm(*values))
    assert (said.abi, said.hint, said.grounds) == (None, hint, grounds)


def test_without_attributes_nothing_is_said() -> None:
    elf = Elf(memoryview(write_elf(Part(".text", b"\0"))))
    assert (processor(elf).description, processor(elf).abi, processor(elf).hint, processor(elf).isa) == (
        "ARM",
        None,
        None,
        "",
    )


@pytest.mark.parametrize(
    ("machine", "description", "abi"),
    [(3, "i386", I386), (94, "Xtensa", ILP32), (40 + 1000, "machine 1040", None), (62, "x86-64", None)],
)
def test_other_processors_have_one_abi_for_their_bits(machine: int, description: str, abi: object) -> None:
    said = processor(Elf(memoryview(write_elf(Part(".text", b"\0"), machine=machine))))
    assert (said.description, said.abi) == (description, abi)


@pytest.mark.parametrize(("machine", "description"), [(62, "x86-64"), (183, "AArch64"), (RISCV, "RISC-V 64")])
def test_64_bits_are_lp64(machine: int, description: str) -> None:
    data = bytearray(64)
    data[:6] = b"\x7fELF\x02\x01"
    data[16:20] = struct.pack("<HH", 2, machine)
    said = processor(Elf(memoryview(bytes(data))))
    assert (said.description, said.abi) == (description, LP64)


def test_risc_v_says_its_extensions() -> None:
    said = processor(program(vendor(b"riscv", scope(b"\x04\x10\x05rv32imac\0")), machine=RISCV))
    assert (said.description, said.abi, said.grounds) == ("RISC-V 32 (rv32imac)", ILP32, "e_flags 0x0: ilp32")


def test_strings_and_numbers_stand_one_behind_the_other() -> None:
    # 32 is a number and a string; 65, 67 and odd tags from 33 on strings; 34 a number; numbers of several bytes.
    values = b"\x04a\0\x05b\0\x06\x0d\x20\x01gnu\0\x21c\0\x22\x01\x41d\0\x43\x65\0\x07\x80\x01\x40\x02"
    assert read(program(vendor(b"aeabi", scope(values)))) == {
        4: "a",
        5: "b",
        6: 13,
        32: "gnu",
        33: "c",
        34: 1,
        65: "d",
        67: "e",
        7: 128,
        64: 2,
    }


def test_other_vendors_and_what_is_said_of_single_sections_are_passed() -> None:
    elf = program(
        vendor(b"gnu", scope(b"\x06\x01")),
        vendor(b"aeabi", scope(b"\1\0\x06\x02", 2), scope(b"\x06\x0d"), scope(b"\x06\x03", 3)),
        vendor(b"aeabi", scope(b"\x1a\x01")),
    )
    assert read(elf) == {6: 13, 26: 1}


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<I", 12) + b"aeabi\0",  # longer than the section
        struct.pack("<I", 0) + b"aeabi\0",
        struct.pack("<I", 9) + b"aeabi",  # a name without an end
    ],
)
def test_a_vendor_that_contradicts_itself_is_refused(data: bytes) -> None:
    with pytest.raises(FirmwareError, match=r"the attributes in \.ARM\.attributes contradict themselves") as caught:
        read(program(data))
    assert caught.value.offset == 52 + 1


@pytest.mark.parametrize("size", [0, 8])
def test_a_scope_that_contradicts_itself_says_nothing(size: int) -> None:
    assert read(program(vendor(b"aeabi", b"\1" + struct.pack("<I", size) + b"\x06\x0d"))) == {}
    assert read(program(vendor(b"aeabi", b"\1" + struct.pack("<I", 7) + b"\x06\x0d"))) == {6: 13}


def test_what_does_not_begin_with_an_a_is_of_another_format() -> None:
    data = b"B" + vendor(b"aeabi", scope(b"\x06\x0d"))
    assert read(Elf(memoryview(write_elf(Part(".ARM.attributes", data))))) == {}


def test_a_scope_of_five_bytes_has_no_attributes_and_another_may_follow_it() -> None:
    assert read(program(vendor(b"aeabi", scope(b""), scope(bytes([6, 13]))))) == {6: 13}
    assert read(program(vendor(b"aeabi", scope(bytes([6, 13])), b"\1\5\0\0"))) == {6: 13}
    assert read(program(vendor(b"aeabi", scope(bytes([6, 13])), scope(b"")))) == {6: 13}
    assert read(program(vendor(b"aeabi", scope(bytes([6, 12]), kind=2), scope(bytes([8, 1]))))) == {8: 1}
