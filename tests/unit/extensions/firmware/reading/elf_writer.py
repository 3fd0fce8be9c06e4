"""Writes 32-bit ELF files out of sections, honest or not."""

from __future__ import annotations

import struct
from typing import NamedTuple

ARM = 40


class Part(NamedTuple):
    """A section: ``data`` is its bytes, or the (offset, size) that its header claims."""

    name: str
    data: bytes | tuple[int, int]
    type: int = 1
    flags: int = 0
    address: int = 0
    link: int = 0
    entry_size: int = 0


def write_elf(*parts: Part, machine: int = ARM, kind: int = 2) -> bytes:
    """Return an ELF file with ``parts`` as sections 1, 2, ..."""
    names, blob, rows = b"\0", bytearray(52), [(0,) * 10]
    starts = []
    for part in (*parts, Part(".shstrtab", b"")):
        starts.append(len(names))
        names += part.name.encode() + b"\0"
    for start, part in zip(starts, (*parts, Part(".shstrtab", names, 3)), strict=True):
        if isinstance(part.data, tuple):
            offset, size = part.data
        else:
            offset, size = len(blob), len(part.data)
            blob += part.data
        rows.append((start, part.type, part.flags, part.address, offset, size, part.link, 0, 1, part.entry_size))
    table = len(blob)
    for row in rows:
        blob += struct.pack("<10I", *row)
    header = struct.pack("<HHIIIIIHHHHHH", kind, machine, 1, 0, 0, table, 0, 52, 32, 0, 40, len(rows), len(rows) - 1)
    blob[:52] = b"\x7fELF\x01\x01\x01" + bytes(9) + header
    return bytes(blob)


def symbol_parts(index: int, *symbols: tuple[str, int, int, int, int]) -> tuple[Part, Part]:
    """Return .symtab and .strtab as sections ``index`` and ``index + 1``: (name, value, size, type, section) each."""
    names, rows = b"\0", b"\0" * 16
    for name, value, size, kind, section in symbols:
        rows += struct.pack("<IIIBBH", len(names), value, size, kind, 0, section)
        names += name.encode() + b"\0"
    return Part(".symtab", rows, 2, link=index + 1, entry_size=16), Part(".strtab", names, 3)


def debug_parts(entries: bytes, shapes: bytes, strings: bytes) -> tuple[Part, Part, Part]:
    """Return one unit of DWARF 4 with its shapes and strings."""
    unit = struct.pack("<IHIB", len(entries) + 7, 4, 0, 4) + entries
    return Part(".debug_info", unit), Part(".debug_abbrev", shapes), Part(".debug_str", strings)


def shape(code: int, tag: int, *attributes: tuple[int, int], children: bool = False) -> bytes:
    """Return an abbreviation; the table ends with a zero byte."""
    return bytes([code, tag, children]) + b"".join(bytes(pair) for pair in attributes) + b"\0\0"
