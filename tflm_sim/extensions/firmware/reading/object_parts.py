"""Which member of an object holds an address, and how many bytes it has there, by debug information.

    static struct { uint8_t arena[5000]; uint32_t counts[2000]; } g;      &g + 16 --> g.arena, from 0 to 5,000

A member reaches up to the next one. The members of a union lie over each other, so the others are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading.dwarf_units import At, Shape, Tag, Unit, Units, Values, little_endian, uleb

_ADDRESS_OPERATION = b"\x03"
"""DW_OP_addr, before the address of a static variable."""
_INDEX_OPERATION = b"\xa1"
"""DW_OP_addrx, before its index among the unit's addresses, as clang writes it in DWARF 5."""
_PLUS_CONSTANT = 0x23
"""DW_OP_plus_uconst, before a member's offset in DWARF 2."""
_BLOCK_FORMS = frozenset({0x03, 0x04, 0x09, 0x0A, 0x18})
_RECORDS = frozenset({Tag.STRUCTURE, Tag.CLASS, Tag.UNION})
_WRAPPERS = frozenset({Tag.TYPEDEF, Tag.CONST, Tag.VOLATILE, Tag.ATOMIC, Tag.ARRAY})
_MAX_DEPTH = 40
_MAX_ENTRIES = 2_000_000
"""Entries of debug information that are looked at to find a variable."""


@dataclass(frozen=True, slots=True)
class ObjectPart:
    """A member of an object, or the whole of it.

    Attributes:
        path: ".arena", ".buffers.arena"; "" for the whole object.
        start: Bytes from the object's start to its own.
        end: Bytes from the object's start to what follows it.
        over: Members of unions that lie in the same bytes: ".dma".
    """

    path: str
    start: int
    end: int
    over: tuple[str, ...] = ()


class _Type(NamedTuple):
    """A type's entry: where it is, what it says, and where its children begin."""

    unit: Unit
    shape: Shape
    values: Values
    children: int


class _Member(NamedTuple):
    name: str
    offset: int
    type: _Type | None


def part_of(units: Units, start: int, size: int, offset: int) -> ObjectPart:
    """Return the innermost member of the object at ``start``, of ``size`` bytes, that holds the byte at ``offset``.

    Args:
        units: The file's debug information.
        start: The object's address.
        size: Its bytes.
        offset: From the object's start.

    Raises:
        FirmwareError: The debug information contradicts itself.
    """
    whole = ObjectPart("", 0, size)
    kind = _type_of_variable(units, start)
    return whole if kind is None else _innermost(units, kind, whole, offset, _MAX_DEPTH)


def _innermost(units: Units, kind: _Type, part: ObjectPart, offset: int, depth: int) -> ObjectPart:
    """Return the part of ``part``, which has the type ``kind``, that holds ``offset``; all from the object's start."""
    record = _record(units, kind)
    if record is None or not depth:
        return part
    size, at = record.values.get(At.BYTE_SIZE, (0, 0))[1], offset - part.start
    if size and size < part.end - part.start:  # an array of records: the one that holds the byte
        start = part.start + at // size * size
        part, at = replace(part, start=start, end=min(part.end, start + size)), at % size
    members = list(_members(units, record))
    holding = max((member.offset for member in members if member.offset <= at), default=None)
    if holding is None:
        return part
    end = min((member.offset for member in members if member.offset > at), default=part.end - part.start)
    found, *others = [member for member in members if member.offset == holding]
    over = tuple(_path(part, other) for other in others)
    inner = ObjectPart(_path(part, found), part.start + holding, part.start + end, (*part.over, *over))
    return inner if found.type is None else _innermost(units, found.type, inner, offset, depth - 1)


def _path(part: ObjectPart, member: _Member) -> str:
    """Return the path to a member; a base and an unnamed struct add nothing to it."""
    return f"{part.path}.{member.name}" if member.name else part.path


def _type_of_variable(units: Units, address: int) -> _Type | None:
    """Return the type of the static variable at an address; None where none is described there."""
    data = units.sections.info
    for unit in units.all:
        for place in () if unit.in_types else _locations(units, unit, address):
            at = data.find(place, unit.first, unit.end)
            while at >= 0:
                values = _entry_around(units, unit, at)
                if values is not None and At.TYPE in values:
                    return _entry(units, units.resolve(unit, values[At.TYPE]))
                at = data.find(place, at + 1, unit.end)
    return None


def _locations(units: Units, unit: Unit, address: int) -> Iterator[bytes]:
    """Yield the expressions by which a unit's variable may lie at an address."""
    if unit.address_size not in (4, 8):
        return
    said, addresses = address.to_bytes(unit.address_size, "little"), units.sections.addresses
    yield _ADDRESS_OPERATION + said
    at = addresses.find(said, unit.address_base) if said in addresses else -1
    while at >= 0 and (at - unit.address_base) % unit.address_size:
        at = addresses.find(said, at + 1)
    if at >= 0:
        yield _INDEX_OPERATION + _uleb_of((at - unit.address_base) // unit.address_size)


def _uleb_of(number: int) -> bytes:
    """Return a number as ULEB128, seven bits a byte."""
    more = []
    while number > 0x7F:
        more.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*more, number])


def _entry_around(units: Units, unit: Unit, place: int) -> Values | None:
    """Return the variable's entry whose location is at ``place``, with the type of its declaration; None for others."""
    data, at = units.data(unit), unit.first
    for _ in range(_MAX_ENTRIES):
        if not at < place:
            break
        code, first = uleb(data, at, unit.end)
        shape = unit.shapes.get(code)
        if shape is None:
            if code:
                break
            at = first
            continue
        end = first + shape.size if shape.size >= 0 else units.skip(unit, data, first, shape)
        if place < end:
            values, _ = units.values_of(unit, data, first, shape)
            if shape.tag != Tag.VARIABLE or values.get(At.LOCATION, (0, 0))[1] != place:
                return None
            declared = _entry(units, units.resolve(unit, values.get(At.SPECIFICATION, (0, 0))))
            return {**(declared.values if declared else {}), **values}
        behind = units.sibling(unit, data, first, shape) if shape.has_children else 0
        at = behind if end < behind <= place else end
    return None


def _entry(units: Units, place: tuple[Unit, int] | None) -> _Type | None:
    if place is None:
        return None
    unit, position = place
    if not unit.first <= position < unit.end:
        return None
    data = units.data(unit)
    code, at = uleb(data, position, unit.end)
    shape = unit.shapes.get(code)
    if shape is None:
        return None
    values, behind = units.values_of(unit, data, at, shape)
    return _Type(unit, shape, values, behind)


def _record(units: Units, kind: _Type) -> _Type | None:
    """Return the record that a type is, or is an array of; None for others."""
    for _ in range(_MAX_DEPTH):
        following = kind.values.get(At.SIGNATURE) or (kind.values.get(At.TYPE) if kind.shape.tag in _WRAPPERS else None)
        if following is None:
            break
        found = _entry(units, units.resolve(kind.unit, following))
        if found is None:
            return None
        kind = found
    return kind if kind.shape.tag in _RECORDS and kind.shape.has_children else None


def _members(units: Units, record: _Type) -> Iterator[_Member]:
    """Yield what a record stores: its members and bases, without static ones."""
    data, unit, at, level = units.data(record.unit), record.unit, record.children, 0
    while at < unit.end and level >= 0:
        code, at = uleb(data, at, unit.end)
        if code == 0:
            level -= 1
            continue
        shape = unit.shapes.get(code)
        if shape is None:
            return
        values, at = units.values_of(unit, data, at, shape)
        is_stored = shape.tag in (Tag.MEMBER, Tag.INHERITANCE) and At.EXTERNAL not in values and At.TYPE in values
        if level == 0 and is_stored:
            name = units.text(unit, values.get(At.NAME))
            kind = _entry(units, units.resolve(unit, values[At.TYPE]))
            yield _Member(name, _offset(data, unit, values.get(At.OFFSET)), kind)
        level += shape.has_children


def _offset(data: bytes, unit: Unit, value: tuple[int, int] | None) -> int:
    """Return a member's offset, which DWARF 2 has as an expression; a union's members have none."""
    if value is None:
        return 0
    form, number = value
    if form not in _BLOCK_FORMS:
        return number
    return uleb(data, number + 1, unit.end)[0] if little_endian(data, number, 1) == _PLUS_CONSTANT else 0
