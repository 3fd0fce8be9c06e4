"""Measure structs in a pip wheel of TFLM: what its parsers and Init functions allocate, beside our tables.

    python tools upstream wheel_structs NEW.whl              structs of another size than in our tables, exit code 1
    python tools upstream wheel_structs NEW.whl OLD.whl      as well what differs between two wheels

A parser allocates the builtin data of its operator, an Init what the kernel keeps; both pass the size as a constant:

    mov    $0x20,%esi        32 bytes, TfLiteFullyConnectedParams
    mov    $0x8,%edx         aligned to 8
    call   *(%rax)           allocator->Allocate(size, alignment)

So a struct that grew shows on x86-64 in the wheel alone, before its header can be read. Which members it has is not
known then; that a parser of the new wheel writes where none of the old one wrote says where they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import capstone  # type: ignore[import-untyped]
import frame
from capstone import x86
from upstream.printed_checks import Registers, Wheel

from tflm_sim.ops.registry import registrations
from tflm_sim.ops.roles import StructInit
from tflm_sim.targets.presets import preset

_LARGEST = 4096
"""Bytes: what is larger is no size of a struct."""


class Allocations(NamedTuple):
    """What a function allocates: (size, alignment) of each call with constants, alignment 0 for an Init; and to which
    distances from a pointer it writes."""

    sizes: frozenset[tuple[int, int]]
    written: frozenset[int]

    def __str__(self) -> str:
        sizes = (f"{size} bytes" + (f" aligned to {align}" if align else "") for size, align in sorted(self.sizes))
        return ", ".join(sizes) or "nothing that is constant"


def allocations(wheel: Wheel) -> dict[str, Allocations]:
    """Return what each parser and Init of a wheel allocates, by the function's name."""
    found: dict[str, Allocations] = {}
    for name, code, calls in wheel.functions(_is_asked):
        before = found.get(name, Allocations(frozenset(), frozenset()))
        sizes = {one for registers in calls if (one := _allocated(name, registers))}
        found[name] = Allocations(before.sizes | sizes, before.written | set(_written(code)))
    return found


def _is_asked(name: str) -> bool:
    return name.startswith("Parse") or name.endswith("Init")


def _allocated(name: str, registers: Registers) -> tuple[int, int] | None:
    size, alignment = registers.get("rsi"), registers.get("rdx", 0)
    if size is None or not 0 < size <= _LARGEST:
        return None
    if not name.startswith("Parse"):
        return size, 0
    return (size, alignment) if alignment in (1, 2, 4, 8, 16) else None


def _written(code: Sequence[capstone.CsInsn]) -> Iterator[int]:
    """Yield the distances from pointers, but for the stack's, to which instructions write."""
    for one in code:
        if one.mnemonic.startswith("mov") and one.operands and one.operands[0].type == x86.X86_OP_MEM:
            place = one.operands[0].mem
            if place.base not in (x86.X86_REG_RSP, x86.X86_REG_RBP, x86.X86_REG_RIP) and not place.index:
                yield place.disp


def ours(runtime: str | None = None) -> dict[str, tuple[str, int, int]]:
    """Return (struct, size, alignment) in our tables by function: of the parser and of the Init of each operator.

    An Init that does more than to allocate its struct is left out.
    """
    target = preset("x86_64-pip", runtime=runtime)
    found = {}
    for op, row in registrations(target).items():
        name = op.replace("_", "").lower()
        if row.builtin_data:
            struct = target.structs[row.builtin_data]
            found[f"parse{name}"] = (row.builtin_data, struct.size, struct.alignment)
        if isinstance(row.init, StructInit):
            found[f"{name}init"] = (row.init.struct, target.structs[row.init.struct].size, 0)
    return found


def against_ours(found: dict[str, Allocations], known: dict[str, tuple[str, int, int]]) -> tuple[list[str], int]:
    """Return a line for each struct that has another size in the wheel than in our tables, and how many have one."""
    lines, compared = [], 0
    for name, one in sorted(found.items()):
        if one.sizes and name.lower() in known:
            struct, size, alignment = known[name.lower()]
            compared += 1
            if (size, alignment) not in one.sizes:
                here = f"{size} bytes" + (f" aligned to {alignment}" if alignment else "")
                lines.append(f"{name} allocates {one}; {struct} has {here} in targets/struct_tables")
    return lines, compared


def between(old: dict[str, Allocations], new: dict[str, Allocations]) -> list[str]:
    """Return a line for each parser or Init that came, went, or allocates something else than in the wheel before."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            lines.append(f"{name} is gone")
        elif name not in old:
            lines.append(f"{name} is new: it allocates {new[name]}")
        elif old[name].sizes != new[name].sizes:
            places = ", ".join(hex(place) for place in sorted(new[name].written - old[name].written))
            writes = f"; it writes to {places} of what it was given, where it did not" if places else ""
            lines.append(f"{name} allocates {new[name]}, in the wheel before {old[name]}{writes}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Compare, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("new", type=Path, metavar="NEW.whl")
    parser.add_argument("old", type=Path, nargs="?", metavar="OLD.whl")
    args = parser.parse_args(arguments)
    found = allocations(Wheel(args.new))
    lines, compared = against_ours(found, ours())
    print(*lines, f"{compared} structs compared with our tables, {len(lines)} differ", sep="\n")
    if args.old:
        lines += (moved := between(allocations(Wheel(args.old)), found))
        print(*moved, f"{len(moved)} functions allocate something else than in {args.old.name}", sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
