"""A firmware's file as pieces of memory: ELF, or the formats that are flashed (.bin, Intel HEX, UF2).

A plain binary says nothing of addresses: its single piece starts at 0.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from struct import Struct

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.elf import COMPRESSED, MAGIC, Elf
from tflm_sim.files import read
from tflm_sim.limits import MAX_FIRMWARE_BYTES

MAX_LOADED_PER_FILE_BYTE = 4
"""How many times its size a file's sections and segments may hold together; overlapping ones would hold any amount."""

_UF2 = Struct("<8I")
_UF2_MAGIC = (0x0A324655, 0x9E5D5157)
_UF2_START = Struct("<2I").pack(*_UF2_MAGIC)
_UF2_END = 0x0AB16F30
_UF2_NOT_FLASH = 1


_OTHER_FILES = {
    **dict.fromkeys((b"!<arch>\n", b"!<thin>\n"), "a library of object files; name the linked program"),
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ\0": "compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"PK\x03\x04": "a .zip archive; unpack it first",
    **dict.fromkeys(
        (b"S0", b"S1", b"S2", b"S3"),
        "Motorola S-records; name the linked program, or convert it: objcopy -I srec -O ihex",
    ),
    b"MZ": "a Windows program (PE), which is not read; an ELF file is",
    **dict.fromkeys(
        (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
        "a macOS program (Mach-O), which is not read; an ELF file is",
    ),
}
"""Files that are no firmware that can be read, by how they begin, in words."""
_TEXT_SAMPLE_BYTES = 4096
_CONTROL = bytes(range(9)) + bytes(range(14, 32)) + b"\x7f"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that lie together in memory.

    Attributes:
        name: The section's name, "" where there are no sections.
        address: Where they lie.
        data: The bytes.
    """

    name: str
    address: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class Image:
    """A firmware's file.

    Attributes:
        path: Where it was read from, None for bytes in memory.
        format: "ELF", "UF2", "Intel HEX" or "binary".
        pieces: What is loaded and has bytes in the file.
        elf: The ELF file, None for other formats.
    """

    path: str | None
    format: str
    pieces: tuple[Piece, ...]
    elf: Elf | None = None


def load_image(path: str | os.PathLike[str]) -> Image:
    """Read a firmware's file.

    Raises:
        FirmwareError: It cannot be read, or contradicts itself.
    """
    return parse_image(read(path, most=MAX_FIRMWARE_BYTES, error=FirmwareError), path=os.fspath(path))


def parse_image(data: bytes, *, path: str | None = None) -> Image:
    """Return the image that ``data`` holds.

    Raises:
        FirmwareError: The bytes contradict themselves.
    """
    try:
        if not data:
            raise FirmwareError("the file is empty", offset=0)
        return replace(_image(data), path=path)
    except FirmwareError as problem:
        problem.path = path
        raise


def _image(data: bytes) -> Image:
    if data[:4] == MAGIC:
        elf = Elf(memoryview(data))
        if not elf.is_linked:
            raise FirmwareError("an object file; name the linked program", offset=16)
        return Image(None, "ELF", tuple(_elf_pieces(elf)), elf)
    if data[:8] == _UF2_START:
        return Image(None, "UF2", tuple(_joined(_uf2_blocks(data))))
    if data[:1] == b":" and data[1:9].isalnum():
        return Image(None, "Intel HEX", tuple(_joined(_hex_records(data))))
    if other := _other_file(data):
        raise FirmwareError(other, offset=0)
    return Image(None, "binary", (Piece("", 0, memoryview(data)),))


def _other_file(data: bytes) -> str:
    known = next((words for start, words in _OTHER_FILES.items() if data.startswith(start)), "")
    return known or ("a text file; name the linked program" if _is_text(data) else "")


def _is_text(data: bytes) -> bool:
    start = data[:_TEXT_SAMPLE_BYTES]
    return len(start.translate(None, _CONTROL)) == len(start) and start.isascii()


def _elf_pieces(elf: Elf) -> Iterator[Piece]:
    """Yield the allocated sections that have bytes; the segments where there is no section table."""
    sections = [section for section in elf.sections if section.is_allocated and section.has_bits and section.size]
    for section in sections:
        if section.flags & COMPRESSED:  # the ELF standard forbids it
            raise FirmwareError(f"section {section.name or '?'} is loaded and compressed", offset=section.offset)
        yield Piece(section.name, section.address, elf.bytes_of(section))
    _refuse_overlaps(elf)
    if not sections:
        for segment in elf.segments:
            yield Piece("", segment.address, elf.data[segment.offset : segment.offset + segment.file_size])


def _refuse_overlaps(elf: Elf) -> None:
    held = sum(section.size for section in elf.sections if section.has_bits)
    held += sum(segment.file_size for segment in elf.segments)
    if held > MAX_LOADED_PER_FILE_BYTE * len(elf.data):
        raise FirmwareError(f"its sections overlap: they hold {held:,} bytes of a file of {len(elf.data):,}")


def _uf2_blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    if len(data) % 512:
        raise FirmwareError("the last UF2 block is not whole: is it truncated?", offset=len(data) // 512 * 512)
    for start in range(0, len(data), 512):
        first, second, flags, address, size, *_ = _UF2.unpack_from(data, start)
        end = int.from_bytes(data[start + 508 : start + 512], "little")
        if (first, second) != _UF2_MAGIC or end != _UF2_END or size > 476:
            raise FirmwareError("this block is not UF2", offset=start)
        if not flags & _UF2_NOT_FLASH:
            yield address, data[start + 32 : start + 32 + size]


def _hex_record(line: bytes) -> bytes | None:
    """Return the bytes of a line, None where it is no record: length, address, kind, bytes, and a sum of 0."""
    try:
        record = bytes.fromhex(line[1:].decode("ascii")) if line[:1] == b":" else b""
    except (ValueError, UnicodeDecodeError):
        return None
    is_whole = len(record) >= 5 and len(record) == record[0] + 5
    return record if is_whole and not sum(record) & 0xFF else None


def _hex_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (address, bytes) of each data record. Types: 0 data, 1 end, 2 and 4 upper address bits, 3 and 5 start."""
    base = at = 0
    for line in data.split(b"\n"):
        offset, at = at, at + len(line) + 1
        line = line.strip()
        if not line:
            continue
        record = _hex_record(line)
        if record is None:
            raise FirmwareError("this line is not an Intel HEX record", offset=offset)
        kind, payload = record[3], record[4:-1]
        if kind == 0:
            yield base + int.from_bytes(record[1:3], "big"), payload
        elif kind == 1:
            return
        elif kind in (2, 4) and len(payload) == 2:
            base = int.from_bytes(payload, "big") << (4 if kind == 2 else 16)
        elif kind not in (3, 5):
            raise FirmwareError(f"an Intel HEX record of type {kind} with {len(payload)} bytes", offset=offset)
    raise FirmwareError("no record says that the file ends: is it truncated?", offset=len(data))


def _joined(blocks: Iterable[tuple[int, bytes]]) -> Iterator[Piece]:
    """Yield pieces of blocks that touch, or that say the same of what they share."""
    start, run = 0, bytearray()
    for address, block in sorted(blocks):
        if run and address > start + len(run):
            yield Piece("", start, memoryview(bytes(run)))
            run = bytearray()
        if not run:
            start = address
        shared = start + len(run) - address
        if block[:shared] != run[address - start : address - start + len(block)]:
            raise FirmwareError(f"it says twice what is at {address:#x}, and not the same")
        run += block[shared:]
        if start + len(run) > 1 << 32:
            raise FirmwareError(f"the {len(block)} bytes at {address:#x} do not lie below 4 GiB")
    if run:
        yield Piece("", start, memoryview(bytes(run)))


class AddressIndex:
    """Finds what lies at an address, among half-open intervals that do not overlap (of those that do, the last)."""

    def __init__(self, rows: Iterable[tuple[int, int, str]]) -> None:
        self._rows = sorted(rows)
        self._starts = [row[0] for row in self._rows]

    def at(self, address: int) -> tuple[int, int, str] | None:
        """Return (start, size, name) of the row that holds ``address``, None where none does."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start, size, _ = self._rows[index]
        return self._rows[index] if address < start + max(size, 1) else None
