"""Sizes and alignments of structs, read out of debug information (DWARF 2 to 5) without walking all of it.

What decides speed is what is stepped over. A unit that never mentions TFLM is skipped whole; an entry that cannot hold
a struct that we look for is jumped over by its sibling reference where the compiler writes one (GCC does, clang does
not), and else by its size, which the shape tells for most.

Invariant: the position only grows inside a unit, and the entries that are looked at are bounded by ``MAX_WORK``: a
loop in the references costs nothing, since types are followed with a memory of where one has been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.dwarf_units import UNIT_TAGS, At, Shape, Tag, Unit, Units, Values, uleb

MAX_WORK = 1_200_000
ENTRY_WORK = 6
"""The work that is counted for reading an entry; skipping one counts 1."""
MAX_TYPE_DEPTH = 40
MAX_TREE_DEPTH = 2_000
MAX_NAME_DEPTH = 8
"""Nested scopes around a name; TFLM has no deeper names, so deeper entries are skipped."""
MAX_NAME_CHARACTERS = 200
"""Characters of a name with its scopes; TFLM has no longer names."""

ANONYMOUS = "(anon)"
"""Stands for an unnamed namespace in a name."""


_RECORDS = frozenset({Tag.STRUCTURE, Tag.CLASS, Tag.UNION})
_POINTERS = frozenset({Tag.POINTER, Tag.REFERENCE, Tag.RVALUE_REFERENCE, Tag.POINTER_TO_MEMBER, Tag.SUBROUTINE})
_WRAPPERS = frozenset({Tag.TYPEDEF, Tag.CONST, Tag.VOLATILE, Tag.ATOMIC, Tag.ARRAY})
_TAGS_READ = _RECORDS | UNIT_TAGS | {Tag.NAMESPACE, Tag.TYPEDEF, Tag.ENUMERATION}
_NOT_STORED = frozenset({At.EXTERNAL, At.DECLARATION})
"""Attributes of a static member."""


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
        structs: Every named struct, class and typedef of an unnamed struct of those units, by name.
        enums: Bytes of every named enumeration.
    """

    units: list[Unit] = field(default_factory=list)
    structs: dict[str, list[StructFact]] = field(default_factory=dict)
    enums: dict[str, set[int]] = field(default_factory=dict)


class DwarfReader:
    """Reads debug information (mutable: it caches alignments and counts its work)."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self._work = 0
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
        marks = self._search_bytes(markers)
        for unit in self.units.all:
            data = self.units.data(unit)
            if marks is None or any(data.find(mark, unit.first, unit.end) >= 0 for mark in marks):
                walk = _Walk(self.units, unit, found, wanted)
                walk.run(MAX_WORK - self._work)
                self._count(walk.work)
                found.units.append(unit)
        return found

    def _count(self, work: int) -> None:
        """Count work, and give up where it exceeds what the debug information of any real firmware needs."""
        self._work += work
        if self._work > MAX_WORK:
            raise FirmwareError(f"more than {MAX_WORK:,} entries of debug information would have to be looked at")

    def _search_bytes(self, markers: Iterable[bytes]) -> list[bytes] | None:
        """Return the bytes to search for in a unit with such a name; None where units refer to names by index."""
        if self.units.sections.string_offsets:
            return None
        marks, strings = [], self.units.sections.strings
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

    def alignment(self, fact: StructFact, *, int64_alignment: int) -> int | None:
        """Return the alignment that a struct's members give it, in bytes; None where a member's type is not said."""
        return self._alignment(fact.unit, fact.position, int64_alignment, 0)

    def _alignment(self, unit: Unit, position: int, int64_alignment: int, depth: int) -> int | None:
        key = (unit.in_types, position)
        if key not in self._alignments:
            self._alignments[key] = None  # what refers to itself has none
            self._alignments[key] = self._aligned(unit, position, int64_alignment, depth)
        return self._alignments[key]

    def _of_type(self, unit: Unit, reference: tuple[int, int], int64_alignment: int, depth: int) -> int | None:
        found = self.units.resolve(unit, reference)
        if found is None or depth >= MAX_TYPE_DEPTH:
            return None
        return self._alignment(*found, int64_alignment, depth + 1)

    def _aligned(self, unit: Unit, position: int, int64_alignment: int, depth: int) -> int | None:
        if not unit.first <= position < unit.end:
            return None
        data = self.units.data(unit)
        code, at = uleb(data, position, unit.end)
        shape = unit.shapes.get(code)
        if shape is None:
            return None
        values, at = self.units.values_of(unit, data, at, shape)
        if At.ALIGNMENT in values:
            return values[At.ALIGNMENT][1] or None
        if At.SIGNATURE in values or shape.tag in _WRAPPERS:
            of = values.get(At.SIGNATURE, values.get(At.TYPE))
            return None if of is None else self._of_type(unit, of, int64_alignment, depth)
        size = values.get(At.BYTE_SIZE, (0, 0))[1]
        if shape.tag in _RECORDS and size:
            return self._largest_member(unit, data, at, shape, int64_alignment, depth)
        return _scalar_alignment(shape.tag, unit.address_size, min(size, int64_alignment))

    def _largest_member(
        self, unit: Unit, data: bytes, at: int, shape: Shape, int64_alignment: int, depth: int
    ) -> int | None:
        """Return the largest alignment among the members of the record whose children start at ``at``."""
        largest = 1
        for child, values in self._children(unit, data, at) if shape.has_children else ():
            if child is None:
                return None
            is_stored = child.tag in (Tag.MEMBER, Tag.INHERITANCE) and not values.keys() & _NOT_STORED
            if is_stored and At.TYPE in values:
                member = self._of_type(unit, values[At.TYPE], int64_alignment, depth)
                if member is None:
                    return None
                largest = max(largest, member)
        return largest

    def _children(self, unit: Unit, data: bytes, at: int) -> Iterator[tuple[Shape | None, Values]]:
        """Yield the entries that follow, up to the end of their list, without their own; None for an unknown one."""
        level = 0
        while at < unit.end and level >= 0:
            code, at = uleb(data, at, unit.end)
            if code == 0:
                level -= 1
                continue
            child = unit.shapes.get(code)
            if child is None:
                yield None, {}
                return
            self._count(ENTRY_WORK)
            values, at = self.units.values_of(unit, data, at, child)
            if level == 0:
                yield child, values
            level += child.has_children


def _scalar_alignment(tag: int, pointer_size: int, own: int) -> int | None:
    if tag in _POINTERS:
        return pointer_size
    return own or None if tag in (Tag.BASE, Tag.ENUMERATION) else None


class _Walk:
    """One pass over a unit; only namespaces and structs are entered (mutable).

    Attributes:
        work: How many entries have been passed, one looked at counted as ``ENTRY_WORK``.
    """

    def __init__(self, units: Units, unit: Unit, found: DebugInformation, wanted: Callable[[str], bool]) -> None:
        self.work = 0
        self._units, self._unit, self._found, self._wanted = units, unit, found, wanted
        self._data = units.data(unit)
        # What each open entry adds to names: None for one whose children are only passed, of which there are _hidden.
        self._scope: list[str | None] = []
        self._hidden = 0
        self._unnamed: dict[int, StructFact] = {}
        self._typedefs: list[tuple[str, int]] = []

    def run(self, most: int) -> None:
        """Collect the unit's types, and stop where that has taken more than ``most``."""
        data, shapes, end = self._data, self._unit.shapes, self._unit.end
        at = self._unit.first
        while at < end:
            position, code = at, data[at]
            at += 1
            if code > 127:
                code, at = uleb(data, position, end)
            if code == 0:
                if not self._scope:
                    break
                self._hidden -= self._scope.pop() is None
                continue
            shape = shapes.get(code) or self._unknown(position, code)
            self.work += 1
            if self._hidden or shape.tag not in _TAGS_READ:
                at = at + shape.size if shape.is_plain else self._skip_entry(position, at, shape)
            else:
                at = self._read_entry(position, at, shape)
                self.work += ENTRY_WORK
            if self.work > most:
                break
        self._name_by_typedefs()

    def _name_by_typedefs(self) -> None:
        for name, target in self._typedefs:
            if target in self._unnamed:
                self._keep(replace(self._unnamed[target], name=name))

    @staticmethod
    def _unknown(position: int, code: int) -> NoReturn:
        raise FirmwareError(f"entry at {position:#x} of the debug information has the unknown shape {code}")

    def _skip_entry(self, position: int, at: int, shape: Shape) -> int:
        """Return the position behind an entry that is skipped, behind its children too where the entry says where."""
        if shape.has_children:
            target = self._units.sibling(self._unit, self._data, at, shape)
            if position < target <= self._unit.end:
                return target
            self._open(None, position)
        return at + shape.size if shape.size >= 0 else self._units.skip(self._unit, self._data, at, shape)

    def _read_entry(self, position: int, at: int, shape: Shape) -> int:
        """Store what an entry says, and return the position behind it."""
        values, at = self._units.values_of(self._unit, self._data, at, shape)
        opened = self._collect(shape.tag, values, position)
        if shape.has_children:
            sibling = values.get(At.SIBLING)
            target = sibling[1] + self._unit.start if sibling else 0
            if opened is None and position < target <= self._unit.end:
                return target
            self._open(opened, position)
        return at

    def _open(self, name: str | None, position: int) -> None:
        self._scope.append(name)
        self._hidden += name is None
        if len(self._scope) > MAX_TREE_DEPTH:
            raise FirmwareError(f"the debug information nests {len(self._scope)} deep at {position:#x}")

    def _collect(self, tag: int, values: Values, position: int) -> str | None:
        """Store what an entry says; return the scope that it adds to its children's names, None to skip them."""
        if tag in UNIT_TAGS:
            return ""
        if len(self._scope) > MAX_NAME_DEPTH:
            return None
        name = self._units.text(self._unit, values.get(At.NAME))
        if tag == Tag.NAMESPACE:
            return name or ANONYMOUS
        qualified = "::".join([*(part for part in self._scope if part), name])
        if len(qualified) > MAX_NAME_CHARACTERS:
            return None
        if tag != Tag.TYPEDEF:
            return self._collect_struct(tag, values, position, name, qualified)
        if At.TYPE in values:
            self._typedefs.append((qualified, self._units.reference(self._unit, values[At.TYPE])))
        return None

    def _collect_struct(self, tag: int, values: Values, position: int, name: str, qualified: str) -> str | None:
        size = values.get(At.BYTE_SIZE)
        if size is None or At.DECLARATION in values:
            return None
        fact = StructFact(qualified, size[1], self._unit, position, tag == Tag.ENUMERATION)
        if not name:
            self._unnamed[position] = fact
            return None
        self._keep(fact)
        return None if fact.is_enum else name

    def _keep(self, fact: StructFact) -> None:
        """Store a named type."""
        if fact.is_enum:
            self._found.enums.setdefault(fact.name, set()).add(fact.size)
        elif self._wanted(fact.name):
            self._found.structs.setdefault(fact.name, []).append(fact)
