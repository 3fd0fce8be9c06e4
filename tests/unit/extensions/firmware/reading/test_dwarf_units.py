"""How debug information is encoded: pyelftools' tables beside ours, and units written out byte by byte."""

from __future__ import annotations

import io
import struct
from itertools import product
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.dwarf_units import (
    UNIT_TAGS,
    At,
    Sections,
    Tag,
    Unit,
    Units,
    sleb,
    string_at,
    uleb,
)
from tflm_sim.extensions.firmware.reading.object_parts import ObjectPart, part_of

enums = pytest.importorskip("elftools.dwarf.enums")
structs = pytest.importorskip("elftools.dwarf.structs")
OTHER_NAMES = {
    "DW_AT_offset": "DW_AT_data_member_location",
    "DW_TAG_pointer_to_member": "DW_TAG_ptr_to_member_type",
    "DW_TAG_subroutine": "DW_TAG_subroutine_type",
}
"""What we call by another name than the standard."""
VALUES = bytes([3, 0, 0, 0, 0, 0, 0, 0]) + bytes(40)
LARGE = bytes([0x83, 0x82, 0, 0, 5, 6, 7, 8]) + bytes(range(1, 200)) + bytes(0x1_0000 + 1000)
FORMS = [  # pyelftools takes 8 bytes for DW_FORM_strx4, the standard 4: a test below has it
    name
    for name in structs.DWARFStructs(True, 32, 4, 5).Dwarf_dw_form
    if name in enums.ENUM_DW_FORM and name not in ("DW_FORM_indirect", "DW_FORM_ref", "DW_FORM_strx4")
]


@pytest.mark.parametrize(("ours", "theirs", "kind"), [(Tag, "ENUM_DW_TAG", "DW_TAG"), (At, "ENUM_DW_AT", "DW_AT")])
def test_numbers_are_those_of_the_standard(ours: type, theirs: str, kind: str) -> None:
    table = getattr(enums, theirs)
    for name, number in vars(ours).items():
        if isinstance(number, int):
            called = f"{kind}_{name.lower()}"
            called = OTHER_NAMES.get(called, called if called in table else f"{called}_type")
            assert table[called] == number, name


def sections(info: bytes = b"", abbreviations: bytes = b"", **others: bytes) -> Sections:
    empty = dict.fromkeys(Sections._fields, b"")
    return Sections(**{**empty, "info": info, "abbreviations": abbreviations, **others})


def header(version: int, offset_size: int, address_size: int, size: int, kind: int = 1) -> bytes:
    """Return the header of a unit with ``size`` bytes behind it, whose shapes are the first."""
    offset = bytes(offset_size)
    if version == 5:
        rest = struct.pack("<HBB", 5, kind, address_size) + offset
    else:
        rest = struct.pack("<H", version) + offset + bytes([address_size])
    length = len(rest) + size
    return (b"\xff\xff\xff\xff" + struct.pack("<Q", length) if offset_size == 8 else struct.pack("<I", length)) + rest


def one_form(name: str, version: int, offset_size: int, address_size: int, values: bytes) -> tuple[Units, Unit]:
    """Return a unit whose shape 1 has an attribute of a form, and what follows the unit's header."""
    form = enums.ENUM_DW_FORM[name]
    implicit = b"\x7b" if name == "DW_FORM_implicit_const" else b""
    shapes = b"\1\x24\0\x02" + _uleb(form) + implicit + b"\0\0\0"
    whole = header(version, offset_size, address_size, len(values)) + values
    units = Units(sections(whole, shapes))
    (unit,) = units.all
    return units, unit


def _uleb(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80]) + _uleb(number >> 7)


@pytest.mark.parametrize("name", FORMS)
def test_a_value_is_read_as_pyelftools_reads_it(name: str) -> None:
    for version, offset_size, address_size, data in product((2, 4, 5), (4, 8), (4, 8), (VALUES, LARGE)):
        units, unit = one_form(name, version, offset_size, address_size, data)
        parser = structs.DWARFStructs(True, 8 * offset_size, address_size, version).Dwarf_dw_form[name]
        stream = io.BytesIO(data)
        theirs: Any = None if name == "DW_FORM_implicit_const" else parser.parse_stream(stream)
        where = unit.first
        values, end = units.values_of(unit, units.data(unit), where, unit.shapes[1])
        assert end - where == stream.tell()
        assert units.skip(unit, units.data(unit), where, unit.shapes[1]) == end
        size = unit.shapes[1].size
        assert size in (-1, stream.tell())
        assert unit.shapes[1].is_plain is (size >= 0)
        form, number = values[2]
        assert form == enums.ENUM_DW_FORM[name]
        if name == "DW_FORM_implicit_const":
            assert number == -5
        elif name == "DW_FORM_string":
            assert (number, string_at(units.data(unit), number)) == (where, theirs.decode("utf-8", "replace"))
        elif name == "DW_FORM_data16":
            assert list(number.to_bytes(16, "little")) == theirs
        elif isinstance(theirs, list):  # a block: where its bytes are
            assert list(units.data(unit)[number:end]) == theirs
        else:
            assert number == (1 if name == "DW_FORM_flag_present" else int(theirs))


def test_an_encoding_may_stand_before_each_value() -> None:
    units, unit = one_form("DW_FORM_indirect", 4, 4, 4, b"\x05\x34\x12" + b"\x16\x05\0\0" + b"\x21\x05")
    data, shape = units.data(unit), unit.shapes[1]
    assert units.values_of(unit, data, unit.first, shape) == ({2: (0x16, 0x1234)}, unit.first + 3)
    for at in (3, 7):  # itself, and one whose value stands in the shape
        with pytest.raises(FirmwareError, match="names itself"):
            units.values_of(unit, data, unit.first + at, shape)


def test_an_unknown_encoding_is_named() -> None:
    units = Units(sections(header(4, 4, 4, 1) + b"\0", b"\1\x24\0\x02\x02\0\0\0"))
    (unit,) = units.all
    with pytest.raises(FirmwareError, match="unknown encoding 0x2 at 0xb "):
        units.skip(unit, units.data(unit), 11, unit.shapes[1])


@pytest.mark.parametrize(
    ("version", "kind", "extra"),
    [(2, 1, 0), (3, 1, 0), (4, 1, 0), (5, 1, 0), (5, 2, 12), (5, 6, 12), (5, 3, 0), (5, 4, 8), (5, 5, 8)],
)
def test_where_the_first_entry_of_a_unit_is(version: int, kind: int, extra: int) -> None:
    before = header(version, 4, 8, 1)  # another one first, 12 or 13 bytes long
    before += b"\0"
    own = header(version, 4, 4, 20, kind)
    units = Units(sections(before + own + bytes(20) + bytes(5), b"\0"))
    _, unit = units.all
    start = len(before)
    assert (unit.start, unit.first, unit.end) == (start, start + len(own) + extra, start + len(own) + 20)
    assert (unit.version, unit.address_size, unit.offset_size, unit.in_types) == (version, 4, 4, False)


def test_a_type_unit_is_known_by_its_signature() -> None:
    types = header(4, 4, 4, 13) + struct.pack("<QI", 0x0102_0304_0506_0708, 23) + b"\0"
    modern = header(5, 4, 4, 13, kind=2) + struct.pack("<QI", 77, 24) + b"\0"
    units = Units(sections(modern, b"\0", types=types))
    one, other = units.all
    assert (one.in_types, other.in_types, units.data(other)) == (False, True, types)
    assert units.resolve(one, (0x20, 0x0102_0304_0506_0708)) == (other, 23)
    assert units.resolve(one, (0x20, 77)) == (one, 24)
    assert units.resolve(one, (0x20, 78)) is None


def test_references_lead_to_units_by_their_starts() -> None:
    one = header(4, 4, 4, 9) + bytes(9)  # 20 bytes
    units = Units(sections(one + one, b"\0"))
    first, second = units.all
    assert [units.resolve(second, (form, 11)) for form in (0x11, 0x12, 0x13, 0x14, 0x15)] == [(second, 31)] * 5
    assert [units.reference(second, (form, 11)) for form in (0x11, 0x15, 0x10, 0x20)] == [31, 31, -1, -1]
    assert units.resolve(second, (0x10, 19)) == (first, 19)
    assert units.resolve(first, (0x10, 20)) == (second, 20)
    assert units.resolve(first, (0x0B, 20)) is None


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (struct.pack("<IHIB", 9, 4, 0, 4) + b"\0", "would end at 0xd of 0xc"),
        (struct.pack("<IHIB", 7, 4, 0, 4) + b"\0", "would end at 0xb"),
        (struct.pack("<IHIB", 8, 6, 0, 4) + b"\0", "version 6 at 0x0"),
        (struct.pack("<IHIB", 8, 1, 0, 4) + b"\0", "version 1 at 0x0"),
        (struct.pack("<IHIB", 8, 4, 1, 4) + b"\0", "abbreviations at 0x1 of 0x1"),
    ],
)
def test_a_header_that_cannot_be_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(FirmwareError, match=told):
        assert Units(sections(data, b"\0")).all


def test_padding_between_units_is_passed() -> None:
    one = header(4, 4, 4, 1) + b"\0"
    units = Units(sections(one + bytes(8) + one + bytes(20), b"\0")).all
    assert [unit.start for unit in units] == [0, 20]


STRINGS = b"\0main.cc\0GNU C++\0"


def named(attributes: bytes, values: bytes, version: int = 4, tag: int = 0x11, **others: bytes) -> Unit:
    """Return a unit whose first entry has these attributes."""
    info = header(version, 4, 4, 1 + len(values)) + b"\1" + values
    (unit,) = Units(sections(info, bytes([1, tag, 0]) + attributes + b"\0\0\0", strings=STRINGS, **others)).all
    return unit


@pytest.mark.parametrize("tag", [0x11, 0x3C, 0x41, 0x4A])
def test_a_unit_has_the_name_and_the_compiler_of_its_first_entry(tag: int) -> None:
    assert tag in UNIT_TAGS
    unit = named(b"\x03\x0e\x25\x0e", struct.pack("<II", 1, 9), tag=tag)
    assert (unit.name, unit.producer) == ("main.cc", "GNU C++")
    assert named(b"\x03\x08", b"x.c\0").name == "x.c"
    assert named(b"\x03\x1f", struct.pack("<I", 2), line_strings=b"a\0y.c\0").name == "y.c"
    assert named(b"\x03\x0e", struct.pack("<I", 1), tag=0x13).name == ""


@pytest.mark.parametrize(
    ("form", "index"), [(0x1A, b"\1"), (0x25, b"\1"), (0x26, b"\1\0"), (0x27, b"\1\0\0"), (0x28, b"\1\0\0\0")]
)
def test_a_name_by_index_is_in_the_units_part_of_the_table(form: int, index: bytes) -> None:
    offsets = struct.pack("<4I", 0xBAD, 0xBAD, 9, 1)  # of version 5, 8 bytes stand before the first
    assert named(bytes([3, form]), index, version=5, string_offsets=offsets).name == "main.cc"
    based = bytes([3, form, 0x72, 0x17])  # DW_AT_str_offsets_base as DW_FORM_sec_offset
    assert named(based, index + struct.pack("<I", 4), version=5, string_offsets=offsets[:4] + offsets[8:] * 2).name == (
        "main.cc"
    )
    assert named(bytes([3, form]), index, version=5, string_offsets=offsets[:15]).name == ""
    assert named(bytes([3, form]), index, version=4, string_offsets=offsets[8:]).name == "main.cc"


@pytest.mark.parametrize("addresses", [bytes(8), b"\1\0\0\0\x20\2\3\4"])
def test_a_variable_may_have_its_address_by_index(addresses: bytes) -> None:
    """As clang writes it: DW_OP_addrx 2, among addresses that start behind a header of 8 bytes."""
    shapes = (
        b"\1\x11\1\x73\x17\0\0" + b"\2\x13\1\x0b\x06\0\0" + b"\3\x0d\0\3\x08\x49\x13\x38\x06\0\0"
        b"\4\x34\0\x49\x13\2\x18\0\0" + b"\5\x24\0\x0b\x06\0\0\0"
    )
    entries = b"\1" + struct.pack("<I", 8) + b"\2" + struct.pack("<I", 200)
    entries += b"".join(
        b"\3" + name + b"\0" + struct.pack("<II", 53, at) for name, at in ((b"arena", 0), (b"other", 100))
    )
    entries += b"\0\5" + struct.pack("<I", 1) + b"\4" + struct.pack("<I", 17) + b"\2\xa1\2\0"
    table = bytes(8) + addresses + struct.pack("<I", 0x20000000)
    units = Units(sections(header(5, 4, 4, len(entries)) + entries, shapes, addresses=table))
    assert part_of(units, 0x20000000, 200, 0) == ObjectPart(".arena", 0, 100)
    assert part_of(units, 0x20000004, 200, 0) == ObjectPart("", 0, 200)


def test_the_sibling_reference_lies_behind_what_stands_before_it() -> None:
    # A struct: name of 4 bytes, sibling of 2; and one whose sibling has a number of unknown length.
    shapes = b"\1\x13\1\x03\x0e\x01\x12\0\0" + b"\2\x13\1\x01\x15\0\0" + b"\3\x13\1\x03\x0f\x01\x12\0\0\0"
    info = header(4, 4, 4, 8) + b"\1\1\0\0\0\x34\x12\0"
    units = Units(sections(bytes(12) + info, shapes))
    (unit,) = units.all
    assert (unit.shapes[1].sibling, unit.shapes[2].sibling, unit.shapes[3].sibling) == ((4, 2), None, None)
    assert (unit.shapes[1].size, unit.shapes[1].is_plain) == (6, False)
    data = units.data(unit)
    assert [units.sibling(unit, data, unit.first + 1, unit.shapes[code]) for code in (1, 2)] == [12 + 0x1234, 0]


@pytest.mark.parametrize(
    ("data", "unsigned", "number"),
    [
        ("00", 0, 0),
        ("3f", 63, 63),
        ("40", 64, -64),
        ("7f", 127, -1),
        ("ff00", 127, 127),
        ("c000", 64, 64),
        ("8001", 128, 128),
        ("e58e26", 624485, 624485),  # the standard's examples
        ("c0bb78", 0x1E1DC0, -123456),
    ],
)
def test_numbers_of_any_length(data: str, unsigned: int, number: int) -> None:
    code = bytes.fromhex("ff" + data + "ff")
    end = len(code) - 1
    assert (uleb(code, 1, end), sleb(code, 1, end)) == ((unsigned, end), (number, end))
    with pytest.raises(FirmwareError, match="has no end"):
        uleb(code, 1, end - 1)


def test_a_number_has_11_bytes_at_the_most() -> None:
    assert uleb(b"\x80" * 10 + b"\1", 0, 99) == (1 << 70, 11)
    with pytest.raises(FirmwareError, match="a number at 0xb has no end"):
        uleb(b"\x80" * 11 + b"\1", 0, 99)


def test_a_string_is_cut_after_1000_bytes() -> None:
    assert string_at(b"ab\0cd\0", 1) == "b"
    assert string_at(b"ab", 0) == "ab"
    assert string_at(b"x" * 999 + b"\0", 0) == "x" * 999
    assert string_at(b"x" * 2000 + b"\0", 0) == "x" * 1000
