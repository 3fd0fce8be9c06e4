"""Structs of our own tables, compiled for four processors, are read back from the debug information as laid out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from upstream.program_structs import compared

from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import parse_image
from tflm_sim.extensions.firmware.reading.measured_structs import debug_facts, units_of
from tflm_sim.targets.abi import AAPCS, ILP32, LP64, Abi
from tflm_sim.targets.presets import preset
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.structs import layouts

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

COMPILERS = {
    "ARM": ("arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb", AAPCS),
    "ARM with int enums": ("arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -fno-short-enums", ILP32),
    "RISC-V": ("riscv64-unknown-elf-g++ -march=rv32imc -mabi=ilp32", ILP32),
    "Xtensa": ("xtensa-lx106-elf-g++", ILP32),
    "x86-64": ("g++ -no-pie", LP64),
}


@pytest.mark.parametrize(
    "flags", ["-g", "-g -gdwarf-4", "-g -gdwarf-2 -gstrict-dwarf", "-g -fdebug-types-section", "-g -gz", "-g -O2"]
)
@pytest.mark.parametrize("name", COMPILERS)
def test_every_struct_has_the_size_and_alignment_of_the_table(name: str, flags: str, tmp_path: Path) -> None:
    compiler, abi = COMPILERS[name]
    if not elf_program.is_there(compiler):
        pytest.skip(f"{compiler.split()[0]} not installed")
    rows = elf_program.all_structs()
    named = [struct for struct in rows if "." not in struct and "::" not in struct]
    own = [rows[struct] for struct in ("concatenation.OpData", "cmsis_nn/conv.OpData", "elementwise.OpDataAbsRsqrt")]
    sources = {"main.cc": elf_program.source_of(elf_program.in_order(rows, named)) + "int main() { return 0; }\n"}
    for struct in own:
        stem = struct.name.partition(".")[0]
        sources[f"tensorflow/lite/micro/kernels/{stem}.cc"] = elf_program.own_struct(struct, rows)
    expected, day = {*named, *(struct.name for struct in own)}, "2026-08-20"
    if "types-section" in flags:
        # The type unit of a struct of C names nothing by which TFLM is found, where it stands in no namespace.
        day = "2026-10-08"
        # A type unit does not say which source file its type in an unnamed namespace is from.
        of_files = {name.rpartition(".")[2] for name in rows if "." in name}
        expected = {name for name in named if name not in of_files}
    path = elf_program.build(tmp_path, compiler, sources, *flags.split(), *elf_program.NAMESPACES[day])
    _assert_measured(Elf(memoryview(path.read_bytes())), abi, expected)


def _assert_measured(elf: Elf, abi: Abi, names: set[str]) -> None:
    facts = debug_facts(units_of(elf), set(elf_program.all_structs()), int64_alignment=abi.int64_alignment)
    assert facts is not None
    table = layouts(abi, Runtime())
    measured = {name: (struct.size, struct.alignment) for name, struct in facts.structs.items()}
    assert measured == {name: (table[name].size, table[name].alignment) for name in names}
    assert facts.enum_size == (1 if abi.short_enums else 4)
    assert facts.disagreeing == {}


def test_a_struct_of_another_size_in_a_newer_program_is_told(tmp_path: Path) -> None:
    compiler, _ = COMPILERS["ARM"]
    if not elf_program.is_there(compiler):
        pytest.skip("arm-none-eabi-g++ not installed")
    rows = elf_program.all_structs()
    structs = elf_program.in_order(rows, ["TfLiteNode", "TfLiteFullyConnectedParams"])
    path = elf_program.build(
        tmp_path, compiler, {"main.cc": elf_program.source_of(structs) + "int main() { return 0; }\n"}, "-g"
    )
    assert [decision for _, decision in compared(path, preset("cortex-m4")) if decision] == []
    (told,) = (decision for _, decision in compared(path, preset("cortex-m4", runtime="8f6596d")) if decision)
    assert told.startswith("a struct: TfLiteFullyConnectedParams has 5 bytes in ")


def test_a_file_without_debug_information_measures_nothing(tmp_path: Path) -> None:
    compiler, _ = COMPILERS["ARM"]
    if not elf_program.is_there(compiler):
        pytest.skip("arm-none-eabi-g++ not installed")
    sources = {
        "main.cc": elf_program.source_of([elf_program.all_structs()["TfLiteNode"]]) + "int main() { return 0; }\n"
    }
    path = elf_program.build(tmp_path, compiler, sources)
    assert examine(parse_image(path.read_bytes())).debug is None
