"""Our reader of ELF files and debug information gives what pyelftools gives, which walks everything."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from tflm_sim.extensions.firmware.reading.attributes import attributes
from tflm_sim.extensions.firmware.reading.dwarf import DwarfReader
from tflm_sim.extensions.firmware.reading.elf import UNDEFINED, Elf
from tflm_sim.extensions.firmware.reading.measured_structs import units_of

sys.path.insert(0, str(Path(__file__).parents[1] / "firmware"))
import elf_program

COMPILERS = {
    "ARM": "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb",
    "RISC-V": "riscv64-unknown-elf-g++ -march=rv32imc -mabi=ilp32",
    "x86-64": "g++ -no-pie",
}
RECORDS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")


@pytest.fixture(params=[(name, flags) for name in COMPILERS for flags in ("-g", "-g -gdwarf-4 -gz")], ids=str)
def data(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    name, flags = request.param
    compiler = COMPILERS[name]
    if not elf_program.is_there(compiler):
        pytest.skip(f"{compiler.split()[0]} not installed")
    rows = elf_program.all_structs()
    named = [struct for struct in rows if "." not in struct and "::" not in struct]
    main = elf_program.source_of(elf_program.in_order(rows, named)) + "int main() { return 0; }\n"
    kernel = elf_program.own_struct(rows["cmsis_nn/conv.OpData"], rows)
    sources = {"main.cc": main, "tensorflow/lite/micro/kernels/cmsis_nn/conv.cc": kernel}
    return elf_program.build(tmp_path, compiler, sources, *flags.split()).read_bytes()


def test_sections_and_segments(data: bytes) -> None:
    theirs, ours = ELFFile(io.BytesIO(data)), Elf(memoryview(data))
    assert [(s.name, s.flags, s.address, s.offset, s.size) for s in ours.sections] == [
        (s.name, s["sh_flags"], s["sh_addr"], s["sh_offset"], s["sh_size"]) for s in theirs.iter_sections()
    ]
    assert [bytes(ours.bytes_of(section)) for section in ours.sections[1:]] == [
        section.data() if section["sh_type"] != "SHT_NOBITS" else b"" for section in list(theirs.iter_sections())[1:]
    ]
    assert [(s.address, s.load_address, s.offset, s.file_size, s.memory_size) for s in ours.segments] == [
        (s["p_vaddr"], s["p_paddr"], s["p_offset"], s["p_filesz"], s["p_memsz"])
        for s in theirs.iter_segments()
        if s["p_type"] == "PT_LOAD"
    ]


def test_symbols(data: bytes) -> None:
    table: Any = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
    theirs = [(s.name, s["st_value"], s["st_size"]) for s in table.iter_symbols() if s["st_shndx"] != "SHN_UNDEF"]
    ours = [(s.name, s.value, s.size) for s in Elf(memoryview(data)).symbols]
    assert all(symbol.section != UNDEFINED for symbol in Elf(memoryview(data)).symbols)
    # Sections' own symbols have no name in the table; pyelftools gives them their section's.
    named = set(ours)
    assert named <= set(theirs)
    assert {symbol for symbol in theirs if symbol[0] and not symbol[0].startswith(".")} <= named


def test_attributes(data: bytes) -> None:
    elf = Elf(memoryview(data))
    for section, vendor in ((".ARM.attributes", "aeabi"), (".riscv.attributes", "riscv")):
        found: Any = ELFFile(io.BytesIO(data)).get_section_by_name(section)
        if found is None:
            assert attributes(elf, section, vendor) == {}
            continue
        (part,) = found.iter_subsections()
        (scope,) = part.iter_subsubsections()
        theirs = [str(item.value) for item in scope.iter_attributes() if item.tag not in ("TAG_FILE",)]
        assert [str(value) for value in attributes(elf, section, vendor).values()] == theirs


def test_every_struct_of_a_unit(data: bytes) -> None:
    theirs = set()
    for unit in ELFFile(io.BytesIO(data)).get_dwarf_info().iter_CUs():
        for entry in unit.iter_DIEs():
            if entry.tag in RECORDS and "DW_AT_byte_size" in entry.attributes and "DW_AT_name" in entry.attributes:
                name = entry.attributes["DW_AT_name"].value.decode()
                theirs.add((name, entry.attributes["DW_AT_byte_size"].value))
    reader = DwarfReader(units_of(Elf(memoryview(data))))
    found = reader.read(markers=[b"tflite", b"TfLiteStatus", b"TfLiteType"], wanted=lambda name: True)
    ours = {(re.split("::", fact.name)[-1], fact.size) for facts in found.structs.values() for fact in facts}
    assert ours == theirs
    assert len(ours) > 100
