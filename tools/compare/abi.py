"""Measure with a cross compiler what our struct tables compute.

    python tools compare abi --target cortex-m4 -- arm-none-eabi-gcc -mcpu=cortex-m4
    python tools compare abi --target i386 --runtime 2026-10-12 -- gcc -m32

The tables of a target are written out as C declarations; the compiler turns sizes, alignments and offsets into arrays
of that many bytes, and ``nm`` reads them back from the object. Nothing runs on the target and no header is needed.
Exit 1 on any difference.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import frame

from tflm_sim.errors import UsageError
from tflm_sim.targets.declarations import CStruct, in_order
from tflm_sim.targets.presets import preset
from tflm_sim.targets.structs import declarations
from tflm_sim.targets.target import Target

_TYPES = {
    "void *": "void *",
    "size_t": "__SIZE_TYPE__",
    "intptr_t": "__INTPTR_TYPE__",
    "int64_t": "__INT64_TYPE__",
    "uint64_t": "__UINT64_TYPE__",
    "double": "double",
    "enum": "enum some_enum",
    "bool": "_Bool",
    "int8_t": "__INT8_TYPE__",
    "uint8_t": "__UINT8_TYPE__",
    "int16_t": "__INT16_TYPE__",
    "uint16_t": "__UINT16_TYPE__",
    "int": "int",
    "int32_t": "__INT32_TYPE__",
    "uint32_t": "__UINT32_TYPE__",
    "float": "float",
}


def c_name(struct: str) -> str:
    """Return a C identifier for a struct of the tables."""
    return "s_" + "".join(c if c.isalnum() else "_" for c in struct)


def c_source(of: Target) -> str:
    """Return C declarations of every struct of a target, and arrays whose sizes are the answers."""
    rows = declarations(of.runtime)
    lines = ["enum some_enum { zero_value };"]
    for struct in in_order(rows, rows):
        lines += [*_declaration(struct), *_arrays(struct.name, of)]
    return "\n".join(lines) + "\n"


def _declaration(struct: CStruct) -> Iterator[str]:
    """Yield the lines of one struct."""
    yield f"struct {c_name(struct.name)} {{"
    for field in struct.members:
        type_name = _TYPES.get(field.type) or f"struct {c_name(field.type)}"
        yield f"  {type_name} {field.name}" + (f"[{field.length}];" if field.length > 1 else ";")
    yield "};"


def _arrays(struct: str, of: Target) -> Iterator[str]:
    """Yield one array per answer: size, alignment, and offset + 1 of each member (an array cannot be empty)."""
    name = c_name(struct)
    yield f"char size_{name}[sizeof(struct {name})];"
    yield f"char alignment_{name}[_Alignof(struct {name})];"
    for member in of.structs[struct].members:
        yield f"char offset_{name}__{member}[__builtin_offsetof(struct {name}, {member}) + 1];"


def expected(of: Target) -> dict[str, int]:
    """Return the size in bytes that each array of :func:`c_source` must have."""
    answers: dict[str, int] = {}
    for struct, layout in of.structs.items():
        name = c_name(struct)
        answers[f"size_{name}"] = layout.size
        answers[f"alignment_{name}"] = layout.alignment
        answers.update((f"offset_{name}__{member}", offset + 1) for member, offset in layout.members.items())
    return answers


def measure(source: str, compiler: Sequence[str], nm: str) -> dict[str, int]:
    """Compile ``source`` and return the size of every object in it, in bytes.

    Args:
        source: C text.
        compiler: The command and its flags; the file names are appended.
        nm: The ``nm`` of the same toolchain.
    """
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder, "abi.c"), Path(folder, "abi.o")
        text.write_text(source)
        subprocess.run([*compiler, "-fno-common", "-c", str(text), "-o", str(binary)], check=True)
        listing = subprocess.run([nm, "-S", str(binary)], check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in listing.splitlines())
    return {row[3]: int(row[1], 16) for row in rows if len(row) == 4}


def differences(of: Target, measured: dict[str, int]) -> list[str]:
    """Return one line per answer of the compiler that is not ours."""
    return [
        f"{name}: computed {value}, measured {measured.get(name)}"
        for name, value in expected(of).items()
        if measured.get(name) != value
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--target", required=True, help="a preset, see 'tflm-sim list targets'")
    parser.add_argument("--runtime", help="another TFLM than the preset's, by commit or day; with reference kernels")
    parser.add_argument("--nm", help="the toolchain's nm (default: the compiler's name with gcc replaced)")
    parser.add_argument("compiler", nargs="+", help="-- compiler command and flags")
    arguments = parser.parse_args(argv)
    try:
        of = preset(arguments.target, kernels=arguments.runtime and "reference", runtime=arguments.runtime)
    except UsageError as error:
        parser.error(str(error))
    nm = arguments.nm or arguments.compiler[0].removesuffix("gcc").removesuffix("clang") + "nm"
    found = differences(of, measure(c_source(of), arguments.compiler, nm))
    print("\n".join(found) or f"{arguments.target}: {len(of.structs)} structs agree with {arguments.compiler[0]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
