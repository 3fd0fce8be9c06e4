"""Compiler layout rules and the C structs that they apply to.

    declaration                     x86-64            Cortex-M4 (short enums)
    ------------------------------  ----------------  -----------------------
    ptr dims; enum type; bool flag  0, 8, 12 -> 16    0, 4, 5 -> 8

An :class:`Abi` knows the size and alignment of the scalar types; :meth:`CStruct.layout` places members one after the
other, each at the next multiple of its own alignment, and pads the end to the largest one. C++ bases and vtable
pointers are members like any other: no class that TFLM puts in an arena has a base with tail padding to reuse, which
``tests/golden`` proves against debug information.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class Abi:
    """The rules of one compiler and target that decide struct sizes.

    Attributes:
        name: What it is called in reports: "lp64", "aapcs", ...
        pointer_size: Bytes of a pointer and of ``size_t``.
        int64_alignment: Alignment of ``int64_t`` inside a struct, in bytes (4 on i386).
        double_alignment: Alignment of ``double`` inside a struct, in bytes (4 on i386).
        short_enums: Whether an enum takes the smallest integer that holds it (1 byte here) instead of an ``int``.
    """

    name: str
    pointer_size: int
    int64_alignment: int
    double_alignment: int
    short_enums: bool

    def scalar(self, type_name: str) -> tuple[int, int] | None:
        """Return (size, alignment) of a scalar type in bytes, None for any other name."""
        if type_name in ("ptr", "size_t", "intptr"):
            return self.pointer_size, self.pointer_size
        if type_name in ("int64", "uint64"):
            return 8, self.int64_alignment
        if type_name == "double":
            return 8, self.double_alignment
        if type_name == "enum":
            return (1, 1) if self.short_enums else (4, 4)
        size = _FIXED_SIZES.get(type_name)
        return None if size is None else (size, size)


_FIXED_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int": 4,
    "int32": 4,
    "uint32": 4,
    "float": 4,
}

LP64 = Abi("lp64", pointer_size=8, int64_alignment=8, double_alignment=8, short_enums=False)
I386 = Abi("i386", pointer_size=4, int64_alignment=4, double_alignment=4, short_enums=False)
AAPCS = Abi("aapcs", pointer_size=4, int64_alignment=8, double_alignment=8, short_enums=True)
ILP32 = Abi("ilp32", pointer_size=4, int64_alignment=8, double_alignment=8, short_enums=False)


@dataclass(frozen=True, slots=True)
class StructLayout:
    """Where a compiler puts the members of a struct.

    Attributes:
        size: Bytes, padding included.
        alignment: Bytes.
        members: Offset of each member from the struct's start, in bytes, in declaration order.
    """

    size: int
    alignment: int
    members: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Field:
    """A member: a scalar or another struct, or an array of them.

    Attributes:
        type: A scalar type of :class:`Abi` or the name of a struct.
        name: The member's name; "base" for a C++ base class.
        count: Number of elements; 1 for what is not an array.
        flag: The build flag of the runtime without which the member is not compiled in, "" for none.
    """

    type: str
    name: str
    count: int = 1
    flag: str = ""


@dataclass(frozen=True, slots=True)
class CStruct:
    """A struct or class as it is declared.

    Attributes:
        name: Qualified name without ``tflite::``.
        fields: Members in declaration order; a vtable pointer is a ``ptr`` named "vtable".
        source: ``file:line`` at the snapshot.
    """

    name: str
    fields: tuple[Field, ...]
    source: str

    def layout(self, abi: Abi, structs: Mapping[str, StructLayout], flags: frozenset[str]) -> StructLayout:
        """Return the layout under ``abi``.

        Args:
            abi: The compiler's rules.
            structs: Layouts of the structs that the members name.
            flags: Build flags that are on; members of other flags are left out.
        """
        end, struct_alignment, members = 0, 1, {}
        for field in self.fields:
            if field.flag and field.flag not in flags:
                continue
            size, alignment = abi.scalar(field.type) or _extent(structs[field.type])
            offset = align_up(end, alignment)
            members[field.name] = offset
            end = offset + size * field.count
            struct_alignment = max(struct_alignment, alignment)
        return StructLayout(align_up(max(end, 1), struct_alignment), struct_alignment, members)


def _extent(layout: StructLayout) -> tuple[int, int]:
    """Return (size, alignment) of a nested struct."""
    return layout.size, layout.alignment


def declare(name: str, source: str, declarations: str) -> CStruct:
    """Return the struct that a line of declarations describes: ``"[?flag] type[count] name; ..."``.

    ``"?compression int[10] scratch_indices"`` is an array of ten that only a build with compression has.
    """
    return CStruct(name, tuple(_field(text.split()) for text in declarations.split(";") if text.strip()), source)


def _field(words: list[str]) -> Field:
    """Return the member of one declaration."""
    flag = words.pop(0)[1:] if words[0].startswith("?") else ""
    type_name, name = words
    type_name, _, count = type_name.partition("[")
    return Field(type_name, name, int(count[:-1]) if count else 1, flag)
