"""Espressif's Xtensa chips, and what of their machine code has to be known: calls in the windowed calling convention.

    call8 f          the caller's a10 is the first argument, a8 the return address under two bits that say "8"
    entry a1, 32     f begins: its window of registers moves on by 8, so that it finds them in a2 and a0

Source: Xtensa Instruction Set Architecture Reference Manual, 4.7.1 (windowed registers), 8 (instructions).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.reading.elf import Elf, Symbol
from tflm_sim.extensions.firmware.reading.jumps import Jump

_EXTERNAL = 4 << 20
ANSWERS = {
    "esp_psram_get_size": _EXTERNAL, "esp_spiram_get_size": _EXTERNAL, "esp_psram_is_initialized": 1,
    "printf": 0, "vprintf": 0, "fprintf": 0, "puts": 0, "putchar": 0, "fflush": 0,
}  # fmt: skip
"""What functions return that ask for memory outside of the chip, or write to what ESP-IDF opens when it starts."""
CALL_BYTES = 3
"""The length of a call, behind which its function returns to."""
RETURN_STUB = bytes.fromhex("e0080006ffff")
"""callx8 a8, which nothing executes; and behind it where a function returns to: an instruction that jumps to itself."""
_MAY_CALL = re.compile(b"[\x05\x15\x25\x35\x45\x55\x65\x75\x85\x95\xa5\xb5\xc5\xd5\xe5\xf5]")
_MAY_LOAD = re.compile(b"[\x81\x91\xa1\xb1\xc1\xd1\xe1\xf1]")
"""l32r into a8 to a15, with which calls to far functions begin."""
_FAR = 12
"""Bytes after the load within which such a call comes."""


class Chip(NamedTuple):
    """A chip, and what QEMU and its memory are called.

    Attributes:
        name: For people.
        cpu: What QEMU calls its core.
        constants: Where the flash is seen as data, by which a program is known to be for it.
        memory: Where its data memory is: the program's data and its heap.
        external: Where memory outside of the chip is seen, of 4 MiB.
        registers: How many address registers its core has.
        order: The registers that QEMU's gdbstub says behind them.
        words: The words of all that the gdbstub says, but for the registers of the window, which are among them.
        rom: The file in which QEMU has the boot ROM, "" where none is needed.
        rom_constants: (address, offset in that file, bytes) of what the ROM's functions read as data.
    """

    name: str
    cpu: str
    constants: Span
    memory: Span
    external: Span
    registers: int
    order: tuple[str, ...]
    words: int
    rom: str
    rom_constants: tuple[int, int, int]


ROM, _ROM_SIZE = 0x4000_0000, 0x7_0000
EXTERNAL_MEMORY = struct.pack("<3I", 1 << 10 | 1 << 12, 0, 1 << 1 | 1 << 2)
"""What the heap is told of memory outside of the chip: that it is such and to be used for anything, in bytes and words.
Source: esp-idf components/esp_psram/esp_psram.c, heap/include/esp_heap_caps.h @ v5.4."""
CHIPS = (
    Chip(
        name="ESP32",
        cpu="esp32",
        constants=Span(0x3F40_0000, 0x3F80_0000),
        memory=Span(0x3FFA_E000, 0x4000_0000),
        external=Span(0x3F80_0000, 0x3FC0_0000),
        registers=64,
        order=("lbeg", "lend", "lcount", "sar", "windowbase", "windowstart", "configid0", "configid1", "ps"),
        words=157,
        rom="esp32-v3-rom.bin",
        rom_constants=(0x3FF9_0000, 0x6_0000, 0x1_0000),
    ),
)
"""Source: esp-idf components/soc/esp32/include/soc/soc.h @ v5.4; espressif/qemu hw/xtensa/esp32.c,
target/xtensa/core-esp32/gdb-config.inc.c."""


def is_in_rom(symbol: Symbol) -> bool:
    """Whether a symbol is a place in a chip's boot ROM, whose functions a program knows by their addresses alone."""
    return ROM <= symbol.value < ROM + _ROM_SIZE


def chip_of(elf: Elf) -> Chip | None:
    """Return the chip that a program is for, None where it is none of those that are known."""
    starts = [segment.address for segment in elf.segments if segment.memory_size]
    return next((chip for chip in CHIPS if any(chip.constants.contains(start) for start in starts)), None)


def window_of_call(code: bytes) -> int | None:
    """Return by how many groups of four registers a call moves the window; None for what is no call.

    Args:
        code: The bytes of one instruction.
    """
    is_near, is_far = code[0] & 0x0F == 5, code[0] & 0xCF == 0xC0 and code[1] < 16 and not code[2]
    return code[0] >> 4 & 3 if is_near or is_far else None


def is_entry(code: bytes) -> bool:
    """Whether an instruction is the first one of a function of the windowed convention."""
    return code[0] == 0x36 and code[1] & 0x0F == 1


def calls(address: int, code: bytes) -> Iterator[Jump]:
    """Yield each call in code at ``address``; what looks like one is one here, too."""
    for match in _MAY_CALL.finditer(code, 0, max(len(code) - 2, 0)):
        at = match.start()
        offset = int.from_bytes(code[at : at + 3], "little") >> 6
        yield Jump(address + at, ((address + at) & -4) + 4 * (offset - (offset >> 17 << 18)) + 4, True)
    for match in _MAY_LOAD.finditer(code):
        at = match.start()
        literal = ((address + at + 3) & -4) + 4 * (int.from_bytes(code[at + 1 : at + 3], "little") - 0x1_0000) - address
        call = bytes([0xE0, code[at] >> 4, 0])
        if 0 <= literal <= len(code) - 4 and call in code[at + 3 : at + _FAR]:
            yield Jump(address + at, int.from_bytes(code[literal : literal + 4], "little"), True)
