"""Rows of RAM, as the linker scripts of vendors lay it out: where it ends, and which bytes are the stack's.

Each script is text of ours with the sections and symbols of the vendor's, for 256 KiB of RAM with 4,004 B of data.

The Pico SDK's symbols are those of memmap_default.ld @ pico-sdk 2.0.0, those of nrfx of nrf_common.ld @ nrfx 4.2.1. The
other layouts are what such scripts have in common: STM32CubeMX's *_FLASH.ld, the nRF5 SDK's nrf_common.ld, Mbed's,
Zephyr's linker.ld, ESP-IDF's memory.ld.in, ArduinoCore-samd's, Renesas' fsp.ld, and those of MCUXpresso's SDK and IDE.
No version of them was read for this.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim.extensions.firmware.reading.firmware import read_firmware

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

COMPILER = "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"
SOURCE = """
int first = 1;
char rest[4000];
__attribute__((section(".stack.of"), aligned(8))) char stack[2048];
__attribute__((section(".heap.of"), aligned(4))) char heap[1024];
__attribute__((section(".second"))) char second[64];
void _start(void) { first = rest[0]; }
"""
HEAP = ".heap (NOLOAD) : { KEEP(*(.heap*)) } > RAM"
STACK_AT_THE_END = """
  .stack_dummy (COPY) : { KEEP(*(.stack*)) } > RAM
  __StackTop = ORIGIN(RAM) + LENGTH(RAM); __StackLimit = __StackTop - SIZEOF(.stack_dummy);
"""
SCRIPTS = {
    "Pico SDK": f"""
        {HEAP} __HeapLimit = ORIGIN(RAM) + LENGTH(RAM);
        .stack_dummy (NOLOAD) : {{ KEEP(*(.stack*)) }} > SCRATCH_Y
        __StackLimit = ORIGIN(RAM) + LENGTH(RAM);
        __StackOneTop = ORIGIN(SCRATCH_X) + LENGTH(SCRATCH_X); __StackOneBottom = __StackOneTop;
        __StackTop = ORIGIN(SCRATCH_Y) + LENGTH(SCRATCH_Y); __StackBottom = __StackTop - SIZEOF(.stack_dummy);
    """,
    "Pico SDK 1": f"""
        {HEAP} __HeapLimit = ORIGIN(RAM) + LENGTH(RAM);
        .stack_dummy (COPY) : {{ KEEP(*(.stack*)) }} > SCRATCH_Y
        __StackLimit = ORIGIN(RAM) + LENGTH(RAM); __StackOneTop = ORIGIN(SCRATCH_X) + LENGTH(SCRATCH_X);
        __StackTop = ORIGIN(SCRATCH_Y) + LENGTH(SCRATCH_Y); __StackBottom = __StackTop - SIZEOF(.stack_dummy);
    """,
    "STM32Cube": """
        _estack = ORIGIN(RAM) + LENGTH(RAM); _Min_Heap_Size = 0x200; _Min_Stack_Size = 0x400;
        ._user_heap_stack : { . = ALIGN(8); . = . + _Min_Heap_Size; . = . + _Min_Stack_Size; . = ALIGN(8); } > RAM
    """,
    "nrfx": f"""
        .copy.table : {{ LONG(0) LONG(0) LONG(0) }} > FLASH
        .heap (COPY) : {{ __HeapBase = .; KEEP(*(.heap*)) __HeapLimit = .; }} > RAM {STACK_AT_THE_END}
    """,
    "nRF5": f"{HEAP} __HeapLimit = .; {STACK_AT_THE_END}",
    "mbed": "__HeapLimit = ORIGIN(RAM) + LENGTH(RAM) - 0x1000; __StackLimit = __HeapLimit;"
    "__StackTop = ORIGIN(RAM) + LENGTH(RAM);",
    "Zephyr": """
        CONFIG_SRAM_SIZE = 256; CONFIG_SRAM_BASE_ADDRESS = ORIGIN(RAM);
        .dtcm (NOLOAD) : { KEEP(*(.second)) } > SECOND
    """,
    "ESP-IDF": "_heap_start = .; _heap_end = ORIGIN(RAM) + LENGTH(RAM);",
    "Arduino SAMD": f"_ram_end_ = ORIGIN(RAM) + LENGTH(RAM) - 1; {STACK_AT_THE_END}",
    "Renesas FSP": f"""
        {HEAP}
        .stack_dummy (NOLOAD) : {{ . = ALIGN(8); __StackLimit = .; KEEP(*(.stack*)) __StackTop = .; }} > RAM
    """,
    "MCUXpresso SDK": """
        HEAP_SIZE = 0x400; STACK_SIZE = 0x800;
        .heap (NOLOAD) : { . += HEAP_SIZE; } > RAM
        .stack (NOLOAD) : { . += STACK_SIZE; } > RAM
        __StackTop = ORIGIN(RAM) + LENGTH(RAM); __StackLimit = __StackTop - STACK_SIZE;
    """,
    "MCUXpresso IDE": "_HeapSize = 0x1000; _StackSize = 0x2000; _vStackTop = ORIGIN(RAM) + LENGTH(RAM);",
}
RAM = 256 * 1024
DATA = 4004


@pytest.mark.parametrize(
    ("vendor", "rows"),
    [
        ("Pico SDK", [(RAM, None, RAM - DATA - 1024, "__HeapLimit"), (4096, 2048, 2048, "__StackTop")]),
        ("Pico SDK 1", [(RAM, None, RAM - DATA - 1024, "__HeapLimit")]),
        ("STM32Cube", [(RAM, 1024, RAM - DATA - 1540, "_estack")]),
        ("nrfx", [(RAM, 2048, RAM - DATA - 1024 - 2048, "__StackTop")]),
        ("nRF5", [(RAM, 2048, RAM - DATA - 2048, "__StackTop")]),
        ("mbed", [(RAM, 4096, RAM - DATA - 4096, "__StackTop")]),
        ("Zephyr", [(RAM, None, RAM - DATA, "CONFIG_SRAM_SIZE"), (None, None, None, "")]),
        ("ESP-IDF", [(RAM, None, RAM - DATA, "_heap_end")]),
        ("Arduino SAMD", [(RAM, 2048, RAM - DATA - 2048, "__StackTop")]),
        ("Renesas FSP", [(None, None, None, "")]),
        ("MCUXpresso SDK", [(RAM, 2048, RAM - DATA - 3072, "__StackTop")]),
        ("MCUXpresso IDE", [(RAM, 8192, RAM - DATA - 4096 - 8192, "_vStackTop")]),
    ],
)
def test_the_rows_of_ram_are_those_of_the_linker_script(
    vendor: str, rows: list[tuple[int | None, int | None, int | None, str]], tmp_path: Path
) -> None:
    """A row: bytes from its first one to its end, of the stack, and that nothing takes; what says where it ends."""
    if not elf_program.is_there(COMPILER):
        pytest.skip("arm-none-eabi-gcc not installed")
    (tmp_path / "ram.ld").write_text(f"""
    MEMORY {{ FLASH : ORIGIN = 0, LENGTH = 1M  RAM : ORIGIN = 0x20000000, LENGTH = 256K
      SCRATCH_X : ORIGIN = 0x20040000, LENGTH = 4K  SCRATCH_Y : ORIGIN = 0x20041000, LENGTH = 4K
      SECOND : ORIGIN = 0x24000000, LENGTH = 64K }}
    SECTIONS {{
      .text : {{ *(.text*) }} > FLASH
      .data : {{ *(.data*) }} > RAM AT > FLASH
      .bss (NOLOAD) : {{ *(.bss*) *(COMMON) }} > RAM
      {SCRIPTS[vendor]}
      /DISCARD/ : {{ *(.stack*) *(.heap*) *(.second) *(.ARM*) *(.comment) }}
    }}
    """)
    elf = elf_program.build(
        tmp_path, COMPILER, {"main.c": SOURCE}, "-nostdlib", "-Wl,-T,ram.ld", "-Wl,--no-warn-rwx-segments"
    )
    if vendor == "Pico SDK":  # Its .data holds code as well, and GNU ld may mark it as read-only then.
        flags = ".data=alloc,load,readonly,code"
        subprocess.run(["arm-none-eabi-objcopy", "--set-section-flags", flags, elf], check=True)
    found = read_firmware(elf).regions
    assert [(one.top and one.top - one.start, one.stack, one.free, one.grounds) for one in found] == rows
