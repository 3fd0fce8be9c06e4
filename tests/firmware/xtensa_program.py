"""The program of ``run_program.py`` for an Xtensa core whose calls move a window of registers, as an ESP32's do.

Debian's compiler for Xtensa writes such code, but its assembler, for a core without windows, knows no such instruction:
macros put their bytes in place.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import run_program

_STORE, _LOAD = 0x49, 0x09
_END_OF_SPILL, _END_OF_FILL = (0x3400,), (0x3500,)


def _rows(operation: int, base: int, first: int, last: int, lowest: int) -> Iterable[int]:
    """Yield s32e or l32e for registers ``first`` to ``last``, one word after the other from ``lowest`` on."""
    for number in range(first, last + 1):
        offset = lowest + 4 * (number - first)
        yield operation << 16 | (offset + 64) // 4 << 12 | base << 8 | number << 4


def _vectors() -> dict[int, list[int]]:
    """Return the instructions of the handlers that spill and fill windows, by where they stand."""
    own_stack = [_LOAD << 16 | 13 << 12 | 1 << 8]  # l32e a0, a1, -12: the stack pointer of the caller's caller
    far_stack = [_LOAD << 16 | 13 << 12 | 1 << 8 | 7 << 4]  # the same to a7
    return {
        0x00: [*_rows(_STORE, 5, 0, 3, -16), *_END_OF_SPILL],
        0x40: [*_rows(_LOAD, 5, 0, 3, -16), *_END_OF_FILL],
        0x80: [
            *_rows(_STORE, 9, 0, 0, -16), *own_stack, *_rows(_STORE, 9, 1, 3, -12), *_rows(_STORE, 0, 4, 7, -32),
            *_END_OF_SPILL,
        ],
        0xC0: [
            *_rows(_LOAD, 9, 0, 2, -16), *far_stack, *_rows(_LOAD, 9, 3, 3, -4), *_rows(_LOAD, 7, 4, 7, -32),
            *_END_OF_FILL,
        ],
        0x340: [0xFFFF06],
    }  # fmt: skip


def _assembly() -> str:
    """Return macros for what the assembler does not know, and the vectors."""
    lines = [".macro entry register, size", ".byte 0x36, 0x01 | ((\\size >> 3) & 15) << 4, \\size >> 7", ".endm"]
    lines += [".macro retw", ".byte 0x90, 0, 0", ".endm", ".macro retw.n", ".byte 0x1d, 0xf0", ".endm"]
    for moved, number in (("4", 4), ("8", 8)):
        code = 0xC0 | number << 2
        lines += [f".macro call{moved} target", f"movi a{number}, \\target", f".byte {code}, {number}, 0", ".endm"]
        lines += [f".macro callx{moved} register"]
        for each in range(16):
            lines += [f".ifc \\register,a{each}", f".byte {code}, {each}, 0", ".endif"]
        lines += [".endm"]
    lines += ['.section .vectors,"ax"', ".global _WindowOverflow4", "_WindowOverflow4:"]
    for place, codes in _vectors().items():
        lines += [f".org {place}", *(f".byte {code & 255}, {code >> 8 & 255}, {code >> 16}" for code in codes)]
    return "\n".join([*lines, ".text", ""])


SOURCE = (
    'asm(".include \\"windows.s\\"");\n'
    + run_program.SOURCE.split("__attribute__((naked)) int MicroInterpreter::Invoke")[0].replace("udf #0", "ill")
    + """__attribute__((noinline)) int depth(int left) { return left ? depth(left - 1) + 1 : 0; }
int MicroInterpreter::Invoke() {
  for (volatile int i = 0; i < 250; i = i + 1) {}
  return depth(DEPTH) - DEPTH;
}
}  // namespace tflite
extern "C" void *memcpy(void *to, const void *from, size_t size) {
  for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
alignas(16) uint8_t tensor_arena[1024] = {1};
int made = 0;
tflite::MicroInterpreter interpreter = {nullptr};
extern "C" void construct() { made = 1; }
__attribute__((section(".init_array"), used)) void (*const constructors[])() = {construct};
extern "C" __attribute__((noinline)) int esp_log_write(int) { return 7; }
extern "C" void app_main() {
  if (!made || esp_log_write(1) != 0) return;
  interpreter.allocator = tflite::SingleArenaBufferAllocator::Create(tensor_arena, ARENA);
  int status = interpreter.AllocateTensors();
  AFTERWARDS;
  if (status == 0) interpreter.Invoke();
}
"""
)
_SECTIONS = {".rodata": 0x3F40_0000, ".data": 0x3FFB_0000, ".vectors": 0x4008_0000, ".text": 0x400D_0000}


def built(folder: Path, arena: int = 1024, *more: str) -> Path:
    """Return the program for an ESP32, with an arena of so many bytes."""
    if shutil.which("xtensa-lx106-elf-g++") is None:
        pytest.skip("xtensa-lx106-elf-g++ not installed")
    (folder / "windows.s").write_text(_assembly())
    places = [f"-Wl,--section-start={name}={address:#x}" for name, address in _SECTIONS.items()]
    flags = ["-O1", "-fno-inline", "-mabi=windowed", "-fno-toplevel-reorder", f"-DARENA={arena}", *places, "-eapp_main"]
    for name, value in (("FAILED", "1"), ("AFTERWARDS", ""), ("DEPTH", "40")):
        if not any(flag.startswith(f"-D{name}=") for flag in more):
            flags.append(f"-D{name}={value}")
    flags += ["-Wl,--defsym=__init_array_start=ADDR(.init_array)"]
    flags += ["-Wl,--defsym=__init_array_end=ADDR(.init_array)+SIZEOF(.init_array)"]
    return elf_program.build(folder, "xtensa-lx106-elf-g++", {"main.cc": SOURCE}, *flags, *more)
