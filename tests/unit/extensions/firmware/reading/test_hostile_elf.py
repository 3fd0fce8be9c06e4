"""Files that lie: each ends in one sentence, or in what is true all the same, without work beyond its size."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading import dwarf, dwarf_units, elf, image
from tflm_sim.extensions.firmware.reading.firmware import Firmware, examine
from tflm_sim.extensions.firmware.reading.image import load_image, parse_image

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import Part, debug_parts, shape, symbol_parts, write_elf

STRINGS = b"\0TfLiteNode\0"
NAME = struct.pack("<I", 1)
COMPILE_UNIT = shape(1, 0x11, (3, 0x0E), children=True)
UNIT = b"\1" + NAME


def read(*parts: Part) -> Firmware:
    return examine(parse_image(write_elf(*parts)))


def refusal(data: bytes) -> str:
    with pytest.raises(FirmwareError) as caught:
        examine(parse_image(data))
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_section_of_4_gb_is_truncated() -> None:
    assert "is it truncated?" in refusal(write_elf(Part(".text", (64, 2**32 - 16), flags=6)))


def test_zeros_of_4_gb_take_nothing() -> None:
    assert read(Part(".bss", (0, 2**32 - 1), type=8, flags=3, address=0x20000000)).regions[0].zeroed == 2**32 - 1


def test_sections_that_overlap_are_refused() -> None:
    parts = [Part(".a", b"x" * 1000, flags=2), *(Part(".b", (52, 1000), flags=2) for _ in range(100))]
    assert "its sections overlap" in refusal(write_elf(*parts))


def test_an_object_called_arena_is_no_larger_than_any_arena() -> None:
    ram = Part(".bss", (0, 2**32 - 1), type=8, flags=3, address=0)
    assert read(ram, *symbol_parts(2, ("tensor_arena", 0, 2**31 - 1, 1, 1))).arenas[0].size == 2**31 - 1
    sentence = refusal(write_elf(ram, *symbol_parts(2, ("tensor_arena", 0, 2**31, 1, 1))))
    assert sentence == "the object tensor_arena has 2,147,483,648 bytes, more than any arena"


def test_objects_called_arenas_are_bounded() -> None:
    ram = Part(".bss", (0, 65536), type=8, flags=3, address=0)
    objects = [(f"arena{index}", index * 256, 256, 1, 1) for index in range(101)]
    assert len(read(ram, *symbol_parts(2, *objects[:100])).arenas) == 100
    assert "101 objects are called arenas, and 100 are judged at most" in refusal(
        write_elf(ram, *symbol_parts(2, *objects))
    )


def test_a_file_that_is_cut_short_anywhere_is_refused_or_read() -> None:
    whole = write_elf(Part(".text", b"abc", flags=6), *symbol_parts(2, ("main", 0, 4, 2, 1)))
    for size in range(len(whole)):
        if size == 0 or whole[:4] != whole[:size][:4]:
            continue
        assert "truncated" in refusal(whole[:size]) or "not an ELF file" in refusal(whole[:size])


def test_a_compressed_section_cannot_ask_for_more_than_deflate_gives() -> None:
    packed = struct.pack("<III", 1, 2**31, 1) + zlib.compress(bytes(1000))
    assert "claims 2147483648 bytes" in refusal(write_elf(Part(".debug_info", packed, flags=0x800)))


@pytest.mark.parametrize(
    ("entries", "shapes", "sentence"),
    [
        (UNIT + b"\5" * 3000, shape(5, 0x2E, children=True), "nests 2001 deep"),
        (UNIT + b"\x09", shape(5, 0x2E), "the unknown shape 9"),
        (UNIT + b"\x80" * 20, shape(5, 0x2E), "a number at"),
        (UNIT + b"\5abc", shape(5, 0x2E, (3, 0x08)), "has no end"),
        (UNIT + b"\5abc", shape(5, 0x2E, (3, 0x7F)), "unknown encoding 0x7f"),
        (UNIT + b"\5\x16", shape(5, 0x2E, (3, 0x16)), "names itself"),
    ],
)
def test_debug_information_that_contradicts_itself_is_refused(entries: bytes, shapes: bytes, sentence: str) -> None:
    assert sentence in refusal(write_elf(*debug_parts(entries, COMPILE_UNIT + shapes + b"\0", STRINGS)))


def test_more_entries_than_any_firmware_has_are_refused() -> None:
    parts = debug_parts(UNIT + b"\5" * 1_300_000, COMPILE_UNIT + shape(5, 0x34) + b"\0", STRINGS)
    assert "would have to be looked at" in refusal(write_elf(*parts))


def test_a_struct_that_is_made_of_itself_has_a_size_and_no_alignment() -> None:
    # struct TfLiteNode (8 bytes) with a member whose type is at 0x10, the struct itself.
    shapes = COMPILE_UNIT + shape(2, 0x13, (3, 0x0E), (0x0B, 0x0B), children=True)
    shapes += shape(3, 0x0D, (0x49, 0x13), (0x38, 0x0B)) + b"\0"
    entries = UNIT + b"\2" + NAME + b"\x08" + b"\3" + struct.pack("<I", 16) + b"\0" + b"\0\0"
    debug = read(*debug_parts(entries, shapes, STRINGS)).debug
    assert debug is not None
    assert debug.structs["TfLiteNode"] == ("TfLiteNode", 8, None)


def test_names_that_share_bytes_are_bounded() -> None:
    names = b"\0" + b"A" * 1999 + b"\0"
    rows = struct.pack("<IIIBBH", 1, 0, 8, 2, 0, 1) * 5000
    parts = (Part(".text", b"abc", flags=6), Part(".symtab", rows, 2, link=3), Part(".strtab", names, 3))
    assert "the names of the symbols overlap" in refusal(write_elf(*parts))


def test_an_identifier_of_models_everywhere_is_no_model() -> None:
    assert read(Part(".rodata", b"\x10\0\0\0TFL3" * 10_000, flags=2)).models == ()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"!<arch>\nrest", "name the linked program"),
        (write_elf(kind=1), "an object file"),
        (b"\x7fELF\x01\x02" + bytes(60), "big-endian"),
        (b"\x7fELF\x07\x01" + bytes(60), "unknown class 7"),
        (b":0000000100\n", "not an Intel HEX record"),
        (struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0, 0, 999, 0, 1, 0) + bytes(480), "not UF2"),
    ],
)
def test_what_is_no_program_is_named(data: bytes, sentence: str) -> None:
    assert sentence in refusal(data)


def test_a_loaded_section_is_never_inflated() -> None:
    packed = struct.pack("<III", 1, 2**20, 1) + zlib.compress(bytes(2**20))
    assert "section .text is loaded and compressed" in refusal(write_elf(Part(".text", packed, flags=0x802)))


def test_a_section_that_is_packed_in_another_way_names_it() -> None:
    packed = struct.pack("<III", 2, 600, 1) + zlib.compress(bytes(600))
    assert "section .debug_info is compressed by method 2, which is not zlib" in refusal(
        write_elf(Part(".debug_info", packed, flags=0x800), Part(".debug_abbrev", b"\0"))
    )


def test_work_is_bounded_to_the_last_entry_and_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dwarf, "MAX_WORK", 5)
    debug = dwarf.DwarfReader.__new__(dwarf.DwarfReader)
    debug._work = 0
    debug._count(5)
    with pytest.raises(FirmwareError, match="more than 5 entries"):
        debug._count(1)
    monkeypatch.setattr(dwarf_units, "MAX_VALUES", 5)
    units = dwarf_units.Units.__new__(dwarf_units.Units)
    units._value_count = 3
    units._charge(SimpleNamespace(attributes=(1, 2)))  # type: ignore[arg-type]
    with pytest.raises(FirmwareError, match="more than 5 values"):
        units._charge(SimpleNamespace(attributes=(1,)))  # type: ignore[arg-type]


def test_compressed_sections_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = struct.pack("<III", 1, 600, 1) + zlib.compress(bytes(600))
    info, shapes = Part(".debug_info", packed, flags=0x800), Part(".debug_abbrev", packed, flags=0x800)
    monkeypatch.setattr(elf, "MAX_INFLATED_BYTES", 1200)
    assert read(info, shapes).debug is None
    monkeypatch.setattr(elf, "MAX_INFLATED_BYTES", 1199)
    assert "section .debug_abbrev claims 600 bytes inflated" in refusal(write_elf(info, shapes))


def test_abbreviations_without_attributes_count() -> None:
    # Each unit has abbreviations of its own that start one later: 900 + 899 + ... = 405,450 of them.
    bare = b"\1\x34\0\0\0" * 900
    units = b"".join(struct.pack("<IHIBBI", 12, 4, 5 * start, 4, 0, STRINGS.index(b"TfLite")) for start in range(900))
    parts = (Part(".debug_info", units), Part(".debug_abbrev", bare), Part(".debug_str", STRINGS))
    assert "the abbreviations of the debug information overlap" in refusal(write_elf(*parts))


def test_values_that_take_no_room_count() -> None:
    # 4,000 units share one abbreviation with 3,000 attributes of no bytes (DW_FORM_flag_present).
    shapes = shape(1, 0x11, *((attribute % 100 + 1, 0x19) for attribute in range(3000))) + b"\0"
    units = struct.pack("<IHIBBI", 12, 4, 0, 4, 1, STRINGS.index(b"TfLite")) * 4000
    parts = (Part(".debug_info", units), Part(".debug_abbrev", shapes), Part(".debug_str", STRINGS))
    assert "values of debug information would have to be read" in refusal(write_elf(*parts))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev"])
def test_what_has_no_size_is_read_to_a_bound(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "MAX_FIRMWARE_BYTES", 1 << 20)
    with pytest.raises(FirmwareError, match="cannot be read: "):
        load_image(name)


def test_a_struct_is_aligned_as_its_own_members_not_as_those_of_what_stands_beside_it() -> None:
    # struct TfLiteNode { struct { double d; }; char c; } and a double behind it: DW_AT_type as DW_FORM_ref4.
    shapes = COMPILE_UNIT + shape(2, 0x13, (3, 0x0E), (0x0B, 0x0B), children=True)  # a struct: name, bytes
    shapes += shape(3, 0x0D, (0x49, 0x13))  # a member: its type
    shapes += shape(4, 0x13, (0x0B, 0x0B), children=True)  # a struct without a name
    shapes += shape(5, 0x24, (0x0B, 0x0B)) + b"\0"  # a base type: bytes
    # 11 bytes before the first entry: a header of 11, the unit's entry of 5 at 11, char at 16, double at 18.
    char, double = struct.pack("<I", 16), struct.pack("<I", 18)
    inner = b"\4\x08" + b"\3" + double + b"\0"
    own = b"\2" + NAME + b"\x08" + inner + b"\3" + char + b"\0"
    entries = UNIT + b"\5\1" + b"\5\x08" + own + b"\3" + double + b"\0"
    debug = read(*debug_parts(entries, shapes, STRINGS)).debug
    assert debug is not None
    assert debug.structs["TfLiteNode"] == ("TfLiteNode", 8, 1)


@pytest.mark.parametrize(("offsets", "is_known"), [(b"\1\0\0\0", True), (b"\1\0\0", False)])
def test_a_name_by_index_needs_its_whole_offset(offsets: bytes, is_known: bool) -> None:
    # struct TfLiteNode of 8 bytes, its name as DW_FORM_strx1 0: four bytes of .debug_str_offsets say 1.
    shapes = COMPILE_UNIT + shape(2, 0x13, (3, 0x25), (0x0B, 0x0B)) + b"\0"
    parts = debug_parts(UNIT + b"\2\0\x08", shapes, STRINGS)
    assert (read(*parts, Part(".debug_str_offsets", offsets)).debug is not None) == is_known


@pytest.mark.parametrize(
    ("form", "block"),
    [(0x0A, b"\2ab"), (0x03, b"\2\0ab"), (0x04, b"\2\0\0\0ab"), (0x09, b"\2ab"), (0x18, b"\2ab")],
    ids=["block1", "block2", "block4", "block", "exprloc"],
)
def test_what_stands_behind_a_block_is_read(form: int, block: bytes) -> None:
    # struct TfLiteNode: its name, a DW_AT_location of two bytes, 8 bytes.
    shapes = COMPILE_UNIT + shape(2, 0x13, (3, 0x0E), (0x02, form), (0x0B, 0x0B)) + b"\0"
    debug = read(*debug_parts(UNIT + b"\2" + NAME + block + b"\x08", shapes, STRINGS)).debug
    assert debug is not None
    assert debug.structs["TfLiteNode"].size == 8
