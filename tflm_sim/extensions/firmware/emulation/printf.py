"""What a program prints with MicroPrintf(): format and arguments as they lie in registers and memory.

Source: MicroVsnprintf() in tflite_bridge and micro_string.cc, and the C library's printf, which newer DebugLog() use.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, argument, text_at, word

_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d+|\*)?(?:\.(\d+))?(hh|h|ll|l|z|j|t)?([diuxXpcsfFeEgG%])")
_WIDEST = 200


class Arguments:
    """The variable arguments of a function, taken one after another; at its entry, or from a ``va_list``."""

    def __init__(self, machine: Emulator, taken: int, pointer: int | None = None) -> None:
        self._machine = machine
        self._next = taken
        self._pointer = pointer

    def word(self) -> int:
        if self._pointer is not None:
            self._pointer += 4
            return word(self._machine, self._pointer - 4)
        self._next += 1
        return argument(self._machine, self._next - 1)

    def double_word(self) -> int:
        """Return the next argument of two words, which begins at an even one."""
        if self._pointer is not None:
            self._pointer += self._pointer % 8
        else:
            self._next += self._next % 2
        low = self.word()
        return low | self.word() << 32


def formatted(machine: Emulator, text: str, arguments: Arguments) -> str:
    return "".join(_parts(machine, text, arguments))


def _parts(machine: Emulator, text: str, arguments: Arguments) -> Iterator[str]:
    at = 0
    for found in _DIRECTIVE.finditer(text):
        yield text[at : found.start()]
        at = found.end()
        yield _converted(machine, found, arguments)
    yield text[at:]


def _converted(machine: Emulator, found: re.Match[str], arguments: Arguments) -> str:
    flags, width, precision, length, kind = found.groups()
    if kind == "%":
        return "%"
    width = str(min(arguments.word() if width == "*" else int(width or 0), _WIDEST) or "")
    shown = f"%{flags}{width}" + (f".{min(int(precision), _WIDEST)}" if precision else "")
    if kind == "s":
        return f"%{flags}{width}s" % text_at(machine, arguments.word())
    if kind == "c":
        return chr(arguments.word() & 0xFF)
    if kind == "p":
        return f"0x{arguments.word():x}"
    if kind in "fFeEgG":
        number: float = struct.unpack("<d", arguments.double_word().to_bytes(8, "little"))[0]
        return (shown + kind) % number
    return (shown + kind.replace("u", "d")) % _integer(arguments, length, is_signed=kind in "di")


def _integer(arguments: Arguments, length: str | None, *, is_signed: bool) -> int:
    value, bits = (arguments.double_word(), 64) if length in ("ll", "j") else (arguments.word(), 32)
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value
