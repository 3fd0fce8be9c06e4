"""Compiler layout rules: the sizes and alignments of the scalar types.

declaration                         x86-64            Cortex-M4 (short enums)
----------------------------------  ----------------  -----------------------
void *dims; enum type; bool flag;   0, 8, 12 -> 16    0, 4, 5 -> 8
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Annotated, TypeAlias

    from tflm_sim.document_types import OneOf

Alignment: TypeAlias = "Annotated[int, OneOf(4, 8)]"
"""Bytes."""


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
    pointer_size: Alignment
    int64_alignment: Alignment
    double_alignment: Alignment
    short_enums: bool

    def scalar(self, type_name: str) -> tuple[int, int] | None:
        """Return (size, alignment) of a scalar type in bytes, None for any other name."""
        if type_name in ("void *", "size_t", "intptr_t"):
            return self.pointer_size, self.pointer_size
        if type_name in ("int64_t", "uint64_t"):
            return 8, self.int64_alignment
        if type_name == "double":
            return 8, self.double_alignment
        if type_name == "enum":
            return (1, 1) if self.short_enums else (4, 4)
        size = _FIXED_SIZES.get(type_name)
        return None if size is None else (size, size)


_FIXED_SIZES = {
    "bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "int16_t": 2,
    "uint16_t": 2,
    "int": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "float": 4,
}

LP64 = Abi("lp64", pointer_size=8, int64_alignment=8, double_alignment=8, short_enums=False)
I386 = Abi("i386", pointer_size=4, int64_alignment=4, double_alignment=4, short_enums=False)
AAPCS = Abi("aapcs", pointer_size=4, int64_alignment=8, double_alignment=8, short_enums=True)
ILP32 = Abi("ilp32", pointer_size=4, int64_alignment=8, double_alignment=8, short_enums=False)
