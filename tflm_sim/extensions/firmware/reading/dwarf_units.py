"""Units of debug information (DWARF 2 to 5) and how their entries are encoded.

    .debug_abbrev   shapes: code -> tag, attributes and their encodings (forms)
    .debug_info     units, each a tree of entries:  [code][attribute values] children... [0]

Invariant: what is read lies in its section, or a :class:`FirmwareError` says where it does not; shapes, values and the
characters of names are bounded over all units, however many share or overlap the same bytes.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tflm_sim.errors import FirmwareError

MAX_SHAPES = 400_000
"""Abbreviations and their attributes."""
MAX_UNITS = 20_000
MAX_VALUES = 8_000_000
"""Values of attributes that are read or stepped over one by one."""
MAX_TEXT_BYTES = 64 * 1024**2
"""Characters of names."""


class Tag:
    """The ``DW_TAG_*`` that are read."""

    ARRAY, CLASS, ENUMERATION, MEMBER, POINTER, COMPILE_UNIT = 0x01, 0x02, 0x04, 0x0D, 0x0F, 0x11
    REFERENCE, STRUCTURE, SUBROUTINE, TYPEDEF, UNION, INHERITANCE = 0x10, 0x13, 0x15, 0x16, 0x17, 0x1C
    POINTER_TO_MEMBER, BASE, CONST, VARIABLE, NAMESPACE, VOLATILE = 0x1F, 0x24, 0x26, 0x34, 0x39, 0x35
    PARTIAL_UNIT, TYPE_UNIT, RVALUE_REFERENCE, SKELETON_UNIT, ATOMIC = 0x3C, 0x41, 0x42, 0x4A, 0x47


class At:
    """The ``DW_AT_*`` that are read."""

    SIBLING, NAME, BYTE_SIZE, PRODUCER, DECLARATION, TYPE, OFFSET = 0x01, 0x03, 0x0B, 0x25, 0x3C, 0x49, 0x38
    EXTERNAL, STR_OFFSETS_BASE, SIGNATURE, ALIGNMENT = 0x3F, 0x72, 0x69, 0x88
    LOCATION, SPECIFICATION, ADDR_BASE = 0x02, 0x47, 0x73


UNIT_TAGS = frozenset({Tag.COMPILE_UNIT, Tag.PARTIAL_UNIT, Tag.TYPE_UNIT, Tag.SKELETON_UNIT})
_FIXED_FORMS: dict[int, int] = {
    0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x19: 0, 0x1C: 4, 0x1E: 16,
    0x20: 8, 0x21: 0, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
"""Bytes of the forms whose size does not depend on the unit."""
_SECTION_OFFSETS = frozenset({0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21})
_STRP, _LINE_STRP, _STRING, _ADDRESS, _REF_ADDRESS, _INDIRECT, _IMPLICIT = 0x0E, 0x1F, 0x08, 0x01, 0x10, 0x16, 0x21
_UNSIGNED, _SIGNED = frozenset({0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02}), 0x0D
_BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4, 0x09: 0, 0x18: 0}
_STRING_INDEX = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28})
_SIGNATURE = 0x20
_TYPE_UNIT, _SPLIT_TYPE_UNIT, _SPLIT = 2, 6, frozenset({4, 5})
"""``DW_UT_*``: what kind of unit it is; skeleton and split compile units have an identifier in the header."""
_UNIT_REFERENCES = frozenset({0x11, 0x12, 0x13, 0x14, 0x15})


Values = dict[int, tuple[int, int]]
"""An entry's attributes: (form, number); of a string the number is where it is."""
_LAYOUTS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Sections(NamedTuple):
    """The bytes of the sections that are needed; empty where the file has none."""

    info: bytes
    abbreviations: bytes
    strings: bytes
    line_strings: bytes
    string_offsets: bytes
    types: bytes
    addresses: bytes = b""


@dataclass(slots=True)
class Shape:
    """An abbreviation: what an entry with its code looks like.

    Attributes:
        tag: What it is.
        has_children: Whether entries follow that lie inside of it.
        attributes: (attribute, form, implicit value).
        size: Bytes of all values where that is the same for every entry, else -1.
        is_plain: Whether the next entry follows after that size: it is known, and there are no children.
        sibling: Where the sibling reference is, in bytes from the first value, and its size; None without one there.
        layout: Reads all values at once where their sizes allow it; None where they do not.
        laid_out: Attributes and forms of what it reads, in its order.
        constants: Attributes whose values stand in the shape.
        varying: Forms whose values each have a size of their own, with the bytes before each.
        behind: Bytes behind the last of these.
    """

    tag: int
    has_children: bool
    attributes: list[tuple[int, int, int]]
    size: int = -1
    is_plain: bool = False
    sibling: tuple[int, int] | None = None
    layout: struct.Struct | None = None
    laid_out: list[tuple[int, int]] = field(default_factory=list)
    constants: Values = field(default_factory=dict)
    varying: list[tuple[int, int]] = field(default_factory=list)
    behind: int = 0


@dataclass(eq=False)
class Unit:
    """One unit: what a compiler made of one source file.

    Attributes:
        units: All units; its shapes and its first entry are read when they are asked for, as most units are not.
        start: Where it starts in its section.
        end: Where the next one starts.
        first: Where its first entry is.
        version: DWARF version.
        address_size: Bytes of an address.
        offset_size: 4, or 8 in the 64-bit format.
        abbreviations: Where its shapes are.
        in_types: Whether it lies in ``.debug_types``.
    """

    units: Units
    start: int
    end: int
    first: int
    version: int
    address_size: int
    offset_size: int
    abbreviations: int
    in_types: bool = False

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Bytes of each form's values; without those each of whose values says its own."""
        own = {_ADDRESS: self.address_size, **dict.fromkeys(_SECTION_OFFSETS, self.offset_size)}
        own[_REF_ADDRESS] = self.address_size if self.version == 2 else self.offset_size
        return {**_FIXED_FORMS, **own}

    @cached_property
    def shapes(self) -> dict[int, Shape]:
        """By code."""
        return self.units.shapes_of(self)

    @cached_property
    def _about(self) -> Values:
        """What its first entry says of the unit."""
        data = self.units.data(self)
        code, at = uleb(data, self.first, self.end)
        shape = self.shapes.get(code)
        return {} if shape is None or shape.tag not in UNIT_TAGS else self.units.values_of(self, data, at, shape)[0]

    @property
    def name(self) -> str:
        """The source file, "" for none."""
        return self.units.text(self, self._about.get(At.NAME))

    @property
    def producer(self) -> str:
        """The compiler and its options, "" where they are not said."""
        return self.units.text(self, self._about.get(At.PRODUCER))

    @cached_property
    def string_base(self) -> int:
        """Where the unit's string offsets start."""
        return self._about.get(At.STR_OFFSETS_BASE, (0, self._header_of_table))[1]

    @property
    def address_base(self) -> int:
        """Where its addresses start that expressions have by their index."""
        return self._about.get(At.ADDR_BASE, (0, self._header_of_table))[1]

    @property
    def _header_of_table(self) -> int:
        return 2 * self.offset_size if self.version == 5 else 0


_NOT_ZERO = re.compile(rb"[^\x00]")


class Units:
    """The units of a file (mutable: it remembers shapes and strings).

    Attributes:
        sections: Where they are.
    """

    def __init__(self, sections: Sections) -> None:
        self.sections = sections
        self._shapes: dict[tuple[int, int, int], dict[int, Shape]] = {}
        self._shape_count = self._unit_count = self._value_count = self._text_size = 0
        self._texts: dict[int, str] = {}
        self._signatures: dict[int, tuple[Unit, int]] = {}
        self._seen: list[Unit] = []
        self._starts: list[int] = []

    def data(self, unit: Unit) -> bytes:
        return self.sections.types if unit.in_types else self.sections.info

    @cached_property
    def all(self) -> Sequence[Unit]:
        """Every unit; padding between them is passed."""
        return list(self._read())

    def _read(self) -> Iterator[Unit]:
        for in_types, data in ((False, self.sections.info), (True, self.sections.types)):
            at = 0
            while at + 11 < len(data):
                if little_endian(data, at, 4) == 0:
                    something = _NOT_ZERO.search(data, at)
                    at = something.start() & ~3 if something else len(data)
                    continue
                unit = self._unit_at(data, at, in_types)
                self._unit_count += 1
                if self._unit_count > MAX_UNITS:
                    raise FirmwareError(f"more than {MAX_UNITS:,} units of debug information")
                if not in_types:
                    self._seen.append(unit)
                    self._starts.append(unit.start)
                yield unit
                at = unit.end

    def _unit_at(self, data: bytes, start: int, in_types: bool) -> Unit:
        """Return the unit at ``start``.

        [length][version: u16] 5: [kind][address size][shapes] 2 to 4: [shapes][address size] [signature][offset]
        """
        length, at, offset_size = little_endian(data, start, 4), start + 4, 4
        if length == 0xFFFFFFFF:
            length, at, offset_size = little_endian(data, start + 4, 8), start + 12, 8
        end = at + length
        if end > len(data) or length < 4 + offset_size:
            raise FirmwareError(f"unit at {start:#x} of the debug information would end at {end:#x} of {len(data):#x}")
        version = little_endian(data, at, 2)
        if version == 5:
            kind, address_size, abbreviations = data[at + 2], data[at + 3], little_endian(data, at + 4, offset_size)
            at += 4 + offset_size
        elif 2 <= version <= 4:
            kind = _TYPE_UNIT if in_types else 0
            abbreviations, address_size = little_endian(data, at + 2, offset_size), data[at + 2 + offset_size]
            at += 3 + offset_size
        else:
            raise FirmwareError(f"debug information of version {version} at {start:#x}; 2 to 5 can be read")
        signature, type_offset = little_endian(data, at, 8), little_endian(data, at + 8, offset_size)
        at += {_TYPE_UNIT: 8 + offset_size, _SPLIT_TYPE_UNIT: 8 + offset_size}.get(kind, 8 if kind in _SPLIT else 0)
        if abbreviations >= len(self.sections.abbreviations):
            raise FirmwareError(f"abbreviations at {abbreviations:#x} of {len(self.sections.abbreviations):#x}")
        unit = Unit(self, start, end, at, version, address_size, offset_size, abbreviations, in_types)
        if kind == _TYPE_UNIT:
            self._signatures[signature] = unit, start + type_offset
        return unit

    def shapes_of(self, unit: Unit) -> dict[int, Shape]:
        """Return the abbreviations of a unit by code."""
        key = (unit.abbreviations, unit.address_size | unit.version << 8, unit.offset_size)
        if key in self._shapes:
            return self._shapes[key]
        data, at, shapes = self.sections.abbreviations, unit.abbreviations, dict[int, Shape]()
        while at < len(data):
            code, at = uleb(data, at, len(data))
            if code == 0:
                break
            self._count_shape()
            tag, at = uleb(data, at, len(data))
            has_children = at < len(data) and data[at] == 1
            at += 1
            attributes: list[tuple[int, int, int]] = []
            while at < len(data):
                attribute, at = uleb(data, at, len(data))
                form, at = uleb(data, at, len(data))
                implicit = 0
                if form == _IMPLICIT:
                    implicit, at = sleb(data, at, len(data))
                if attribute == form == 0:
                    break
                attributes.append((attribute, form, implicit))
                self._count_shape()
            shape = Shape(tag, has_children, attributes)
            _measure(shape, unit.sizes)
            shapes[code] = shape
        self._shapes[key] = shapes
        return shapes

    def _count_shape(self) -> None:
        self._shape_count += 1
        if self._shape_count > MAX_SHAPES:
            raise FirmwareError("the abbreviations of the debug information overlap")

    def sibling(self, unit: Unit, data: bytes, at: int, shape: Shape) -> int:
        """Return where the entry after this one's children is, 0 where the shape does not say."""
        if shape.sibling is None:
            return 0
        offset, size = shape.sibling
        return unit.start + little_endian(data, at + offset, size)

    def reference(self, unit: Unit, value: tuple[int, int]) -> int:
        """Return the position in its section that a reference inside of a unit means; -1 for one to elsewhere."""
        form, number = value
        return unit.start + number if form in _UNIT_REFERENCES else -1

    def resolve(self, unit: Unit, value: tuple[int, int]) -> tuple[Unit, int] | None:
        """Return the unit and the position that any reference means, None for one that leads nowhere."""
        form, number = value
        if form in _UNIT_REFERENCES:
            return unit, unit.start + number
        if form == _SIGNATURE:
            return self._signatures.get(number)
        if form == _REF_ADDRESS:
            index = bisect_right(self._starts, number) - 1
            return (self._seen[index], number) if index >= 0 else None
        return None

    def skip(self, unit: Unit, data: bytes, at: int, shape: Shape) -> int:
        """Return where an entry's values end."""
        self._charge(shape)
        for before, form in shape.varying:
            at = self._value(unit, data, at + before, form, 0)[1]
        return at + shape.behind

    def values_of(self, unit: Unit, data: bytes, at: int, shape: Shape) -> tuple[Values, int]:
        """Return an entry's values, attribute -> (form, number), and where they end; strings are their position."""
        self._charge(shape)
        if shape.layout is not None and at + shape.size <= len(data):
            values = dict(shape.constants)
            for (attribute, form), number in zip(shape.laid_out, shape.layout.unpack_from(data, at), strict=True):
                values[attribute] = form, number
            return values, at + shape.size
        values = {}
        for attribute, form, implicit in shape.attributes:
            number, at = self._value(unit, data, at, form, implicit)
            values[attribute] = form, number
        return values, at

    def _charge(self, shape: Shape) -> None:
        """Count the values of an entry, and give up where they exceed those of any real firmware."""
        self._value_count += len(shape.attributes)
        if self._value_count > MAX_VALUES:
            raise FirmwareError(f"more than {MAX_VALUES:,} values of debug information would have to be read")

    def _value(self, unit: Unit, data: bytes, at: int, form: int, implicit: int) -> tuple[int, int]:
        """Return (number, end) of one value."""
        if form == _IMPLICIT:
            return implicit, at
        size = unit.sizes.get(form)
        if size is not None:
            return (little_endian(data, at, size) if size else 1), at + size
        if form in _UNSIGNED:
            return uleb(data, at, unit.end)
        if form == _SIGNED:
            return sleb(data, at, unit.end)
        if form == _STRING:
            return at, _behind_string(data, at, unit.end)
        if form in _BLOCKS:
            return _block(data, at, _BLOCKS[form], unit.end)
        if form != _INDIRECT:
            raise FirmwareError(f"unknown encoding {form:#x} at {at:#x} of the debug information")
        actual, at = uleb(data, at, unit.end)
        if actual in (_INDIRECT, _IMPLICIT):
            raise FirmwareError(f"an encoding at {at:#x} of the debug information names itself")
        return self._value(unit, data, at, actual, 0)

    def text(self, unit: Unit, value: tuple[int, int] | None) -> str:
        if value is None:
            return ""
        form, number = value
        if form == _STRP:
            text = self._texts.get(number)
            if text is None:
                text = self._texts[number] = string_at(self.sections.strings, number)
                self._text_size += len(text)
                if self._text_size > MAX_TEXT_BYTES:
                    raise FirmwareError("the names of the debug information overlap")
            return text
        if form == _LINE_STRP:
            return string_at(self.sections.line_strings, number)
        if form == _STRING:
            return string_at(self.sections.types if unit.in_types else self.sections.info, number)
        if form in _STRING_INDEX:
            at = unit.string_base + number * unit.offset_size
            offsets = self.sections.string_offsets
            if at + unit.offset_size > len(offsets):
                return ""
            return string_at(self.sections.strings, little_endian(offsets, at, unit.offset_size))
        return ""


def _measure(shape: Shape, sizes_by_form: Mapping[int, int]) -> None:
    """Note the size of a shape's values where it is fixed, and where the sibling reference lies."""
    before, sizes = 0, []
    for attribute, form, implicit in shape.attributes:
        size = sizes_by_form.get(form)
        if size is None:
            shape.varying.append((before, form))
            before = 0
            continue
        if attribute == At.SIBLING and form in (0x11, 0x12, 0x13, 0x14) and not shape.varying:
            shape.sibling = before, size
        if size:
            shape.laid_out.append((attribute, form))
            sizes.append(size)
        else:
            shape.constants[attribute] = form, implicit if form == _IMPLICIT else 1
        before += size
    shape.behind = before
    if not shape.varying:
        shape.size, shape.is_plain = before, not shape.has_children
        if all(size in _LAYOUTS for size in sizes):
            shape.layout = struct.Struct("<" + "".join(_LAYOUTS[size] for size in sizes))


def _block(data: bytes, at: int, width: int, end: int) -> tuple[int, int]:
    """Return the (start, end) of bytes whose number comes before them, in ``width`` bytes or in as many as it takes."""
    length, start = (little_endian(data, at, width), at + width) if width else uleb(data, at, end)
    return start, start + length


def _behind_string(data: bytes, at: int, end: int) -> int:
    found = data.find(b"\0", at, end)
    if found < 0:
        raise FirmwareError(f"a string at {at:#x} of the debug information has no end")
    return found + 1


def little_endian(data: bytes, at: int, size: int) -> int:
    """Return an unsigned little-endian number; what lies behind the end is 0, the caller's position tells."""
    return int.from_bytes(data[at : at + size], "little")


def uleb(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return (number, end) of an unsigned LEB128."""
    result = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 128:
            return result, at
        shift += 7
        if shift > 70:
            break
    raise FirmwareError(f"a number at {at:#x} has no end")


def sleb(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return (number, end) of a signed LEB128."""
    number, after = uleb(data, at, end)
    bits = 7 * (after - at)
    return number - (1 << bits) if number >> (bits - 1) & 1 else number, after


def string_at(table: bytes, at: int) -> str:
    """Return the string at ``at`` of a string section, cut after 1,000 bytes."""
    end = table.find(b"\0", at, at + 1000)
    return table[at : end if end >= 0 else at + 1000].decode("utf-8", "replace")
