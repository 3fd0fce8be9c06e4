"""Sizes and alignments of structs, read out of debug information (DWARF 2 to 5) without walking all of it.

    .debug_abbrev   shapes: code -> tag, attributes and their encodings
    .debug_info     units, each a tree of entries:  [code][attribute values] children... [0]

What decides speed is what is stepped over. A unit that never mentions TFLM is skipped whole; an entry that cannot hold
a struct that we look for is jumped over by its sibling reference where the compiler writes one (GCC does, clang does
not), and else by its size, which the shape tells for most.

Invariant: the position only grows inside a unit, and the entries that are looked at are bounded by ``MOST_ENTRIES``: a
loop in the references costs nothing, since types are followed with a memory of where one has been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tflm_sim.errors import FirmwareError

MOST_ENTRIES = 3_000_000
MOST_SHAPES = 400_000
DEEPEST_TYPE = 40
DEEPEST_TREE = 2_000

ANONYMOUS = "(anon)"
"""Stands for an unnamed namespace in a name."""


class Tag:
    """``DW_TAG_*`` that are looked at."""

    ARRAY, CLASS, ENUMERATION, MEMBER, POINTER, COMPILE_UNIT = 0x01, 0x02, 0x04, 0x0D, 0x0F, 0x11
    REFERENCE, STRUCTURE, SUBROUTINE, TYPEDEF, UNION, INHERITANCE = 0x10, 0x13, 0x15, 0x16, 0x17, 0x1C
    POINTER_TO_MEMBER, BASE, CONST, NAMESPACE, VOLATILE = 0x1F, 0x24, 0x26, 0x39, 0x35
    PARTIAL_UNIT, TYPE_UNIT, RVALUE_REFERENCE, SKELETON_UNIT, ATOMIC, SUBRANGE = 0x3C, 0x41, 0x42, 0x4A, 0x47, 0x21


class At:
    """``DW_AT_*`` that are looked at."""

    SIBLING, NAME, BYTE_SIZE, PRODUCER, COMP_DIR, DECLARATION, TYPE, OFFSET = 0x01, 0x03, 0x0B, 0x25, 0x1B, 0x3C, 0x49, 0x38
    EXTERNAL, STR_OFFSETS_BASE, SIGNATURE, ALIGNMENT, DATA_BIT_OFFSET, BIT_SIZE = 0x3F, 0x72, 0x69, 0x88, 0x6B, 0x0D


_RECORDS = frozenset({Tag.STRUCTURE, Tag.CLASS, Tag.UNION})
_POINTERS = frozenset({Tag.POINTER, Tag.REFERENCE, Tag.RVALUE_REFERENCE, Tag.POINTER_TO_MEMBER, Tag.SUBROUTINE})
_WRAPPERS = frozenset({Tag.TYPEDEF, Tag.CONST, Tag.VOLATILE, Tag.ATOMIC, Tag.ARRAY})
_UNITS = frozenset({Tag.COMPILE_UNIT, Tag.PARTIAL_UNIT, Tag.TYPE_UNIT, Tag.SKELETON_UNIT})
_LOOKED_AT = _RECORDS | _UNITS | {Tag.NAMESPACE, Tag.TYPEDEF, Tag.ENUMERATION}
_NOT_STORED = frozenset({At.EXTERNAL, At.DECLARATION})
"""Attributes of a static member."""
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
_UNIT_REFERENCES = frozenset({0x11, 0x12, 0x13, 0x14, 0x15})


class Sections(NamedTuple):
    """The bytes of the sections that are needed; empty where the file has none."""

    info: bytes
    abbreviations: bytes
    strings: bytes
    line_strings: bytes
    string_offsets: bytes
    types: bytes


@dataclass(slots=True)
class _Shape:
    """An abbreviation: what an entry with its code looks like.

    Attributes:
        tag: What it is.
        has_children: Whether entries follow that lie inside of it.
        attributes: (attribute, form, implicit value).
        size: Bytes of all values where that is the same for every entry, else -1.
        sibling: Where the sibling reference is, in bytes from the first value, and its size; None without one there.
    """

    tag: int
    has_children: bool
    attributes: list[tuple[int, int, int]]
    size: int = -1
    sibling: tuple[int, int] | None = None


@dataclass(slots=True)
class Unit:
    """One unit: what a compiler made of one source file.

    Attributes:
        start: Where it starts in its section.
        end: Where the next one starts.
        first: Where its first entry is.
        version: DWARF version.
        address_size: Bytes of an address.
        offset_size: 4, or 8 in the 64-bit format.
        shapes: By code.
        in_types: Whether it lies in ``.debug_types``.
        name: The source file, "" for none.
        producer: The compiler and its options, "" where they are not said.
        string_base: Where the unit's string offsets start.
    """

    start: int
    end: int
    first: int
    version: int
    address_size: int
    offset_size: int
    shapes: Mapping[int, _Shape]
    in_types: bool = False
    name: str = ""
    producer: str = ""
    string_base: int = 0


@dataclass(frozen=True, slots=True)
class StructFact:
    """A struct as one unit describes it.

    Attributes:
        name: Qualified, unnamed namespaces as :data:`ANONYMOUS`.
        size: Bytes.
        unit: The unit.
        position: Where its entry is, to ask for more.
        is_enum: Whether it is an enumeration and no struct.
    """

    name: str
    size: int
    unit: Unit
    position: int
    is_enum: bool = False


@dataclass(slots=True)
class DebugInformation:
    """What was found.

    Attributes:
        units: The units that were looked into.
        unit_count: All units, also those that were stepped over.
        structs: Every named struct, class and typedef of an unnamed struct of those units, by name.
        enums: Bytes of every named enumeration.
    """

    units: list[Unit] = field(default_factory=list)
    unit_count: int = 0
    structs: dict[str, list[StructFact]] = field(default_factory=dict)
    enums: dict[str, set[int]] = field(default_factory=dict)


class DwarfReader:
    """Reads debug information (mutable: it remembers shapes, strings and how much it has looked at)."""

    def __init__(self, sections: Sections) -> None:
        self.sections = sections
        self._shapes: dict[tuple[int, int, int], dict[int, _Shape]] = {}
        self._shape_count = 0
        self._entries = 0
        self._texts: dict[int, str] = {}
        self._alignments: dict[tuple[bool, int], int | None] = {}

    def read(self, *, markers: Iterable[bytes], wanted: Callable[[str], bool]) -> DebugInformation:
        """Return the structs of all units that mention one of ``markers``.

        Args:
            markers: Names, one of which every unit of interest has, such as ``b"TfLiteNode"``.
            wanted: Tells for a qualified name whether it is kept.

        Raises:
            FirmwareError: The debug information contradicts itself.
        """
        found = DebugInformation()
        marks = self._marks(markers)
        for unit in self._units():
            found.unit_count += 1
            data = self.sections.types if unit.in_types else self.sections.info
            if marks is None or any(data.find(mark, unit.first, unit.end) >= 0 for mark in marks):
                self._walk(unit, data, found, wanted)
                found.units.append(unit)
        return found

    def _marks(self, markers: Iterable[bytes]) -> list[bytes] | None:
        """Return what a unit that has such a name holds; None where names are indices, which can be anything."""
        if self.sections.string_offsets:
            return None
        marks, strings = [], self.sections.strings
        for marker in markers:
            ended = marker + b"\0"
            marks.append(ended)
            at = strings.find(b"\0" + ended) + 1
            if at == 0:
                # First of all strings, or the tail of a longer one: a linker merges them.
                at = 0 if strings.startswith(ended) else strings.find(ended)
            if at >= 0:
                marks.append(at.to_bytes(4, "little"))
        return marks

    def _units(self) -> Iterator[Unit]:
        for in_types, data in ((False, self.sections.info), (True, self.sections.types)):
            at = 0
            while at + 11 < len(data):
                unit = self._unit_header(data, at, in_types)
                if unit is not None:
                    yield unit
                    at = unit.end
                else:
                    at += 4

    def _unit_header(self, data: bytes, start: int, in_types: bool) -> Unit | None:
        """Return the unit at ``start``; None for padding."""
        length, at, offset_size = _number(data, start, 4), start + 4, 4
        if length == 0:
            return None
        if length == 0xFFFFFFFF:
            length, at, offset_size = _number(data, start + 4, 8), start + 12, 8
        end = at + length
        if end > len(data) or length < 7:
            raise FirmwareError(f"unit at {start:#x} of the debug information would end at {end:#x} of {len(data):#x}")
        version = _number(data, at, 2)
        at += 2
        kind = 0
        if version == 5:
            kind, address_size, abbreviations = data[at], data[at + 1], _number(data, at + 2, offset_size)
            at += 2 + offset_size + {2: 8 + offset_size, 6: 8 + offset_size, 4: 8, 5: 8}.get(kind, 0)
        elif 2 <= version <= 4:
            abbreviations, address_size = _number(data, at, offset_size), data[at + offset_size]
            at += offset_size + 1 + (8 + offset_size if in_types else 0)
        else:
            raise FirmwareError(f"debug information of version {version} at {start:#x}; 2 to 5 can be read")
        shapes = self._shapes_at(abbreviations, address_size, offset_size, version)
        unit = Unit(start, end, at, version, address_size, offset_size, shapes, in_types)
        self._name_unit(unit, data)
        return unit

    def _name_unit(self, unit: Unit, data: bytes) -> None:
        """Read name and producer off the unit's first entry."""
        unit.string_base = 2 * unit.offset_size if unit.version == 5 else 0
        code, at = _uleb(data, unit.first, unit.end)
        shape = unit.shapes.get(code)
        if shape is None or shape.tag not in _UNITS:
            return
        values, _ = self._values(unit, data, at, shape)
        base = values.get(At.STR_OFFSETS_BASE)
        if base is not None:
            unit.string_base = base[1]
            values, _ = self._values(unit, data, at, shape)
        unit.name = self._text(unit, values.get(At.NAME))
        unit.producer = self._text(unit, values.get(At.PRODUCER))

    def _shapes_at(self, start: int, address_size: int, offset_size: int, version: int) -> dict[int, _Shape]:
        """Return the abbreviations of a unit by code."""
        key = (start, address_size | version << 8, offset_size)
        if key in self._shapes:
            return self._shapes[key]
        data, at, shapes = self.sections.abbreviations, start, dict[int, _Shape]()
        if start >= len(data):
            raise FirmwareError(f"abbreviations at {start:#x} of {len(data):#x}")
        while at < len(data):
            code, at = _uleb(data, at, len(data))
            if code == 0:
                break
            tag, at = _uleb(data, at, len(data))
            has_children = at < len(data) and data[at] == 1
            at += 1
            attributes: list[tuple[int, int, int]] = []
            while at < len(data):
                attribute, at = _uleb(data, at, len(data))
                form, at = _uleb(data, at, len(data))
                implicit = 0
                if form == _IMPLICIT:
                    implicit, at = _sleb(data, at, len(data))
                if attribute == form == 0:
                    break
                attributes.append((attribute, form, implicit))
                self._shape_count += 1
            shape = _Shape(tag, has_children, attributes)
            _measure(shape, address_size, offset_size, version)
            shapes[code] = shape
            if self._shape_count > MOST_SHAPES:
                raise FirmwareError("the abbreviations of the debug information overlap")
        self._shapes[key] = shapes
        return shapes

    def _walk(self, unit: Unit, data: bytes, found: DebugInformation, wanted: Callable[[str], bool]) -> None:
        """Collect the structs of a unit; only namespaces and structs are entered."""
        at, end, shapes = unit.first, unit.end, unit.shapes
        # What each open entry adds to names: None for one that is not entered on purpose, whose children are skipped.
        scope: list[str | None] = []
        hidden = 0
        unnamed: dict[int, StructFact] = {}
        typedefs: list[tuple[str, int]] = []
        while at < end:
            position = at
            code = data[at]
            at += 1
            if code > 127:
                code, at = _uleb(data, at - 1, end)
            if code == 0:
                if not scope:
                    break
                hidden -= scope.pop() is None
                continue
            shape = shapes.get(code)
            if shape is None:
                raise FirmwareError(f"entry at {position:#x} of the debug information has the unknown shape {code}")
            self._entries += 1
            if hidden or shape.tag not in _LOOKED_AT:
                if not shape.has_children:
                    at = at + shape.size if shape.size >= 0 else self._skip(unit, data, at, shape)
                    continue
                target = self._sibling(unit, data, at, shape)
                if position < target <= end:
                    at = target
                    continue
                at = at + shape.size if shape.size >= 0 else self._skip(unit, data, at, shape)
                scope.append(None)
                hidden += 1
                continue
            values, at = self._values(unit, data, at, shape)
            name = self._text(unit, values.get(At.NAME))
            opened = self._collect(unit, shape, values, name, position, scope, found, wanted, unnamed, typedefs)
            if shape.has_children:
                sibling = values.get(At.SIBLING)
                target = sibling[1] + unit.start if sibling else 0
                if opened is None and position < target <= end:
                    at = target
                    continue
                scope.append(opened)
                hidden += opened is None
                if len(scope) > DEEPEST_TREE:
                    raise FirmwareError(f"the debug information nests {len(scope)} deep at {position:#x}")
        if self._entries > MOST_ENTRIES:
            raise FirmwareError(f"more than {MOST_ENTRIES:,} entries of debug information had to be looked at")
        for name, target in typedefs:
            if target in unnamed:
                _keep(found, replace(unnamed[target], name=name), wanted)

    def _collect(
        self,
        unit: Unit,
        shape: _Shape,
        values: dict[int, tuple[int, int]],
        name: str,
        position: int,
        scope: list[str | None],
        found: DebugInformation,
        wanted: Callable[[str], bool],
        unnamed: dict[int, StructFact],
        typedefs: list[tuple[str, int]],
    ) -> str | None:
        """Keep what an entry says; return what it adds to the names of its children, None to step over them."""
        tag = shape.tag
        if tag in _UNITS:
            return ""
        if tag == Tag.NAMESPACE:
            return name or ANONYMOUS
        qualified = "::".join([*(part for part in scope if part), name])
        if tag == Tag.TYPEDEF:
            if At.TYPE in values:
                typedefs.append((qualified, self._reference(unit, values[At.TYPE])))
            return None
        size = values.get(At.BYTE_SIZE)
        if size is None or At.DECLARATION in values:
            return None
        fact = StructFact(qualified, size[1], unit, position, tag == Tag.ENUMERATION)
        if not name:
            unnamed[position] = fact
        else:
            _keep(found, fact, wanted)
        return name if name and not fact.is_enum else None

    def _sibling(self, unit: Unit, data: bytes, at: int, shape: _Shape) -> int:
        """Return where the entry after this one's children is, 0 where the shape does not say."""
        if shape.sibling is None:
            return 0
        offset, size = shape.sibling
        return unit.start + _number(data, at + offset, size)

    def _reference(self, unit: Unit, value: tuple[int, int]) -> int:
        """Return the position in ``.debug_info`` that a reference means; -1 for one into elsewhere."""
        form, number = value
        return unit.start + number if form in _UNIT_REFERENCES else number if form == _REF_ADDRESS else -1

    def _skip(self, unit: Unit, data: bytes, at: int, shape: _Shape) -> int:
        """Return where an entry's values end."""
        for _, form, _ in shape.attributes:
            at = self._value(unit, data, at, form, 0)[1]
        return at

    def _values(
        self, unit: Unit, data: bytes, at: int, shape: _Shape
    ) -> tuple[dict[int, tuple[int, int]], int]:
        """Return an entry's values, attribute -> (form, number), and where they end; strings are their position."""
        values = {}
        for attribute, form, implicit in shape.attributes:
            number, at = self._value(unit, data, at, form, implicit)
            values[attribute] = form, number
        return values, at

    def _value(self, unit: Unit, data: bytes, at: int, form: int, implicit: int) -> tuple[int, int]:
        """Return (number, end) of one value."""
        size = _FIXED_FORMS.get(form)
        if size is None and form in _SECTION_OFFSETS:
            size = unit.offset_size
        elif form == _ADDRESS:
            size = unit.address_size
        elif form == _REF_ADDRESS:
            size = unit.address_size if unit.version == 2 else unit.offset_size
        if size is not None:
            if form == _IMPLICIT:
                return implicit, at
            return (_number(data, at, size) if size else 1), at + size
        if form in _UNSIGNED:
            return _uleb(data, at, unit.end)
        if form == _SIGNED:
            return _sleb(data, at, unit.end)
        if form == _STRING:
            end = data.find(b"\0", at, unit.end)
            if end < 0:
                raise FirmwareError(f"a string at {at:#x} of the debug information has no end")
            return at, end + 1
        if form in _BLOCKS:
            width = _BLOCKS[form]
            length, start = (_number(data, at, width), at + width) if width else _uleb(data, at, unit.end)
            return start, start + length
        if form == _INDIRECT:
            actual, at = _uleb(data, at, unit.end)
            if actual in (_INDIRECT, _IMPLICIT):
                raise FirmwareError(f"an encoding at {at:#x} of the debug information names itself")
            return self._value(unit, data, at, actual, 0)
        raise FirmwareError(f"unknown encoding {form:#x} at {at:#x} of the debug information")

    def _text(self, unit: Unit, value: tuple[int, int] | None) -> str:
        """Return the string that a value means, "" for none."""
        if value is None:
            return ""
        form, number = value
        if form == _STRP:
            text = self._texts.get(number)
            if text is None:
                text = self._texts[number] = _string(self.sections.strings, number)
            return text
        if form == _LINE_STRP:
            return _string(self.sections.line_strings, number)
        if form == _STRING:
            return _string(self.sections.types if unit.in_types else self.sections.info, number)
        if form in _STRING_INDEX:
            at = unit.string_base + number * unit.offset_size
            offsets = self.sections.string_offsets
            if at + unit.offset_size > len(offsets):
                return ""
            return _string(self.sections.strings, _number(offsets, at, unit.offset_size))
        return ""

    def alignment(self, fact: StructFact, *, int64_alignment: int) -> int | None:
        """Return the alignment that a struct's members give it, in bytes; None where a member's type is not said."""
        return self._alignment(fact.unit, fact.position, int64_alignment, 0)

    def _alignment(self, unit: Unit, position: int, int64_alignment: int, depth: int) -> int | None:
        key = (unit.in_types, position)
        if key not in self._alignments:
            self._alignments[key] = None  # what refers to itself has none
            self._alignments[key] = self._aligned(unit, position, int64_alignment, depth)
        return self._alignments[key]

    def _aligned(self, unit: Unit, position: int, int64_alignment: int, depth: int) -> int | None:
        data = self.sections.types if unit.in_types else self.sections.info
        if depth > DEEPEST_TYPE or not unit.first <= position < unit.end:
            return None
        code, at = _uleb(data, position, unit.end)
        shape = unit.shapes.get(code)
        if shape is None:
            return None
        values, at = self._values(unit, data, at, shape)
        if At.ALIGNMENT in values:
            return values[At.ALIGNMENT][1] or None
        if shape.tag in _POINTERS:
            return unit.address_size
        size = values.get(At.BYTE_SIZE, (0, 0))[1]
        if shape.tag in (Tag.BASE, Tag.ENUMERATION):
            return min(size, int64_alignment) or None
        if shape.tag in _WRAPPERS and At.TYPE in values:
            return self._alignment(unit, self._reference(unit, values[At.TYPE]), int64_alignment, depth + 1)
        if shape.tag in _RECORDS and size:
            return self._largest_member(unit, data, at, shape, int64_alignment, depth)
        return None

    def _largest_member(
        self, unit: Unit, data: bytes, at: int, shape: _Shape, int64_alignment: int, depth: int
    ) -> int | None:
        """Return the largest alignment among the members of the record whose children start at ``at``."""
        largest, level = 1, 0
        while shape.has_children and at < unit.end:
            code, at = _uleb(data, at, unit.end)
            if code == 0:
                if level == 0:
                    break
                level -= 1
                continue
            child = unit.shapes.get(code)
            if child is None:
                return None
            self._entries += 1
            values, after = self._values(unit, data, at, child)
            is_stored = child.tag in (Tag.MEMBER, Tag.INHERITANCE) and not values.keys() & _NOT_STORED
            if level == 0 and is_stored and At.TYPE in values:
                member = self._alignment(unit, self._reference(unit, values[At.TYPE]), int64_alignment, depth + 1)
                if member is None:
                    return None
                largest = max(largest, member)
            level += child.has_children
            at = after
        return largest


def _keep(found: DebugInformation, fact: StructFact, wanted: Callable[[str], bool]) -> None:
    """File a named type."""
    if fact.is_enum:
        found.enums.setdefault(fact.name, set()).add(fact.size)
    elif wanted(fact.name):
        found.structs.setdefault(fact.name, []).append(fact)


def _measure(shape: _Shape, address_size: int, offset_size: int, version: int) -> None:
    """Note the size of a shape's values where it is fixed, and where the sibling reference lies."""
    total = 0
    for attribute, form, _ in shape.attributes:
        size = _FIXED_FORMS.get(form)
        if size is None:
            if form in _SECTION_OFFSETS:
                size = offset_size
            elif form == _ADDRESS or (form == _REF_ADDRESS and version == 2):
                size = address_size
            elif form == _REF_ADDRESS:
                size = offset_size
            else:
                return
        if attribute == At.SIBLING and form in (0x11, 0x12, 0x13, 0x14):
            shape.sibling = total, size
        total += size
    shape.size = total


def _number(data: bytes, at: int, size: int) -> int:
    """Return an unsigned little-endian number; what lies behind the end is 0, the caller's position tells."""
    return int.from_bytes(data[at : at + size], "little")


def _uleb(data: bytes, at: int, end: int) -> tuple[int, int]:
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
    raise FirmwareError(f"a number at {at:#x} of the debug information has no end")


def _sleb(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return (number, end) of a signed LEB128."""
    number, after = _uleb(data, at, end)
    bits = 7 * (after - at)
    return number - (1 << bits) if number >> (bits - 1) & 1 else number, after


def _string(table: bytes, at: int) -> str:
    """Return the string at ``at`` of a string section, cut after 1,000 bytes."""
    end = table.find(b"\0", at, at + 1000)
    return table[at : end if end >= 0 else at + 1000].decode("utf-8", "replace")
