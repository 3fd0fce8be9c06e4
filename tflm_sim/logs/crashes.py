"""What the report of a fault says: which address was used, where the program was, who had called it.

Guru Meditation Error: ...          the kind of fault       (a STOPPED message)
PC : 0x400e4532   EXCVADDR: 0x0     where, and what it used  -> places of code, used_address
Backtrace: 0x400e452f:0x3ffb8460    who had called it        -> places of code, the innermost first
0x400e4532: f() at a/b.cc:79        what a monitor made of it -> function, file and line of a place
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tflm_sim.document_types import Count
from tflm_sim.logs.log_events import Message
from tflm_sim.logs.message_kinds import Role
from tflm_sim.logs.tflm_messages import BY_KIND

NULL_PAGE = 0x1000
"""Bytes: an address below is a null pointer, or a member of a struct at one."""
_USED = ("esp_dump", "zephyr_address", "arm_address")
_FRAME = re.compile(r"0x([0-9a-fA-F]{8}):0x[0-9a-fA-F]{8}")
_DECODED = re.compile(r"(?:^|\s)0x[0-9a-fA-F]{8}: (.+) at (.+?)(?::| line )(\d{1,7}|\?)(?:\D|$)")
_RETURN_BITS = 0xC0000000
_XTENSA_CALL, _XTENSA_CODE = 0x80000000, 0x40000000
_FAULTS = (
    (0, "code was fetched from where there is none (IACCVIOL)"),
    (1, "data were used where it is not allowed (DACCVIOL)"),
    (3, "the stack had no room on return from an exception (MUNSTKERR)"),
    (4, "the stack had no room for an exception (MSTKERR): it is too small"),
    (8, "code was fetched from an address that is none (IBUSERR)"),
    (9, "data were used at an address that is none (PRECISERR)"),
    (10, "data were used at an address that is none, some instructions before (IMPRECISERR)"),
    (11, "the stack had no room on return from an exception (UNSTKERR)"),
    (12, "the stack had no room for an exception (STKERR): it is too small"),
    (16, "an instruction that is none (UNDEFINSTR)"),
    (17, "a jump to an even address: a function pointer that was overwritten or null (INVSTATE)"),
    (18, "a return address that was overwritten (INVPC)"),
    (19, "the floating point unit is off: the library is built for another core (NOCP)"),
    (20, "the stack is too small (STKOF)"),
    (24, "an address that is not aligned (UNALIGNED): declare the arena and the model's array alignas(16)"),
    (25, "a division by 0 (DIVBYZERO)"),
)
"""Bits of the Configurable Fault Status Register. Source: Armv8-M Architecture Reference Manual, CFSR."""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """An address of code, and what is known of it; "" and 0 for what is not.

    Attributes:
        address: As the report has it.
        function: Its name.
        file: Its source file.
        line: The line there.
        operator: The operators whose kernel is in that file.
    """

    address: Count
    function: str = ""
    file: str = ""
    line: Count = 0
    operator: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line else self.file
        known = ", ".join(filter(None, (self.function, where, self.operator and f"the kernel of {self.operator}")))
        return f"0x{self.address:08x}" + (f"  {known}" if known else "")


def used_address(messages: Sequence[Message]) -> int | None:
    """Return the address of data that the program used when it was stopped, None where the report has none."""
    return next((each.number("address") for each in messages if each.kind in _USED and not each.cut), None)


def code_places(messages: Sequence[Message]) -> tuple[CodePlace, ...]:
    """Return where the program was when it was stopped, the innermost first."""
    found: dict[int, CodePlace] = {}
    for message in sorted(messages, key=lambda each: each.number("pc") is None):
        pc = message.number("pc") if message.number("pc") is not None else message.number("lr")
        frames = [int(text, 16) for text in _FRAME.findall(message.text)] if message.kind == "esp_backtrace" else []
        for address in frames or ([] if pc is None else [pc]):
            found.setdefault(_code(address), CodePlace(_code(address)))
        if message.kind == "decoded" and pc is not None:
            found[_code(pc)] = _decoded(message, found[_code(pc)])
    return tuple(found.values())


def _decoded(message: Message, place: CodePlace) -> CodePlace:
    found = _DECODED.search(message.text)
    if found is None:
        return place
    function, file, line = found.groups()
    return replace(place, function=function, file=file.strip("?"), line=int(line) if line.isdigit() else 0)


def _code(address: int) -> int:
    """Return a return address of an ESP32 as the address that it is: its upper bits say how the call was made."""
    return address & ~_RETURN_BITS | _XTENSA_CODE if address & _RETURN_BITS == _XTENSA_CALL else address


def crash_notes(messages: Sequence[Message]) -> list[str]:
    """Return what the registers of a report prove."""
    notes = []
    address = used_address(messages)
    if address is not None and any(BY_KIND[each.kind].role is not Role.ADDRESS for each in messages):
        is_null = address < NULL_PAGE
        notes.append(f"It used address 0x{address:x}" + (", a null pointer." if is_null else "."))
    for message in messages:
        if message.kind == "arm_cfsr" and (bits := message.number("cfsr")):
            notes += [f"CFSR says: {text}." for bit, text in _FAULTS if bits >> bit & 1]
    return notes
