"""Compiles small firmwares out of our own struct tables, so that what is read back has a known answer."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tflm_sim.samples import sample_path
from tflm_sim.targets.declarations import CStruct, Member, in_order
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.structs import declarations

_OF_C = ("TfLite", "TFLM")
"""How the names of structs of C begin."""
SCALARS = ("void *", "size_t", "intptr_t", "int", "bool", "float", "double")
"""The scalar types of the tables besides ``enum`` and the ``_t`` types of C."""

NAMESPACES = {
    "2026-08-20": ("-DKERNELS=tflite",),
    "2026-09-28": ("-DKERNELS=tflite::micro",),
    "2026-10-02": ("-DKERNELS=tflite::micro", "-DMOVED"),
    "2026-10-08": ("-Dtflite=tflite::micro", "-DKERNELS=tflite", "-DMOVED"),
}
"""A day of a pip wheel -> the flags with which our programs have TFLM's names where TFLM of that day has them.

Kernels stand in ``KERNELS``; ``MOVED``: structs and enums of C stand there, too. See reading/tflm_names.py.
"""

SCHEMA = """
#pragma push_macro("tflite")
#undef tflite
namespace tflite { struct Model; }
#pragma pop_macro("tflite")
"""
"""What the schema declares, which stands in ``tflite`` on every day."""


def of_c(text: str) -> str:
    """Return declarations of C where TFLM has them: in no namespace, or in that of the kernels."""
    return f"#ifdef MOVED\nnamespace KERNELS {{\n#endif\n{text}\n#ifdef MOVED\n}}\nusing namespace KERNELS;\n#endif\n"


PRELUDE = "#include <stddef.h>\n#include <stdint.h>\n" + of_c("""
enum TfLiteType { kTfLiteNoType = 0, kTfLiteFloat32 = 1 };
typedef enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 } TfLiteStatus;
struct TfLiteContext;
struct TfLiteNode;
""")


def type_name(name: str) -> str:
    """Return the C++ name of a field's type."""
    if name == "enum":
        return "TfLiteType"
    return name if name in SCALARS or re.fullmatch(r"u?int\d+_t", name) else cpp_name(name)


def cpp_name(struct: str) -> str:
    """Return a name that C++ can have: a file's own struct is called after both."""
    return re.sub(r"\W", "_", struct.replace("::", "__")) if "." in struct else struct.replace("::", "_")


def member(field: Member) -> str:
    """Return a member's declaration."""
    array = f"[{field.length}]" if field.length > 1 else ""
    return f"{type_name(field.type)} {field.name}{array};"


def source_of(structs: Iterable[CStruct]) -> str:
    """Return declarations, each in the namespace of its kind; names that C++ cannot have are replaced by others."""
    lines = [PRELUDE]
    for struct in structs:
        name = cpp_name(struct.name)
        members = " ".join(map(member, struct.members))
        declared = f"struct {name} {{ {members} }};\n{name} g_{name};"
        lines.append(of_c(declared) if name.startswith(_OF_C) else f"namespace tflite {{\n{declared}\n}}")
    return "\n".join([*lines, ""])


def own_struct(struct: CStruct, rows: Mapping[str, CStruct]) -> str:
    """Return the source file of a kernel with a struct of its own in an unnamed namespace."""
    parts = [row for row in in_order(rows, [struct.name]) if row is not struct]
    last = struct.name.rpartition(".")[2]
    members = " ".join(map(member, struct.members))
    shared = source_of(parts).replace("g_", "g_" + re.sub(r"\W", "_", struct.name) + "_")
    used = f"__attribute__((used)) {last} *user; __attribute__((used)) TfLiteStatus status;"
    body = f"struct {last} {{ {members} }};\n{used}"
    return f"{shared}\nnamespace KERNELS {{ namespace {{\n{body}\n}} }}\n"


def model_source(symbol: str, sample: str) -> str:
    """Return C++ that holds a sample model."""
    data = ",".join(str(byte) for byte in sample_path(sample).read_bytes())
    return f'extern "C" {{ alignas(16) extern const unsigned char {symbol}[] = {{{data}}}; }}\n'


def build(folder: Path, compiler: str, sources: dict[str, str], *flags: str) -> Path:
    """Compile and link ``sources`` (path below ``folder`` -> text) without a library; return the ELF file.

    ``flags`` may have those of a day of :data:`NAMESPACES`; without, TFLM stands in ``tflite``.
    """
    if not any(flag.startswith("-DKERNELS=") for flag in flags):
        flags = (*flags, *NAMESPACES["2026-08-20"])
    for name, text in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    program, *options = compiler.split()
    result = folder / "app.elf"
    command = [program, *options, "-std=c++17", "-fno-exceptions", "-fno-rtti", "-ffreestanding", "-nostdlib", *flags]
    done = subprocess.run(
        [*command, *sources, "-Wl,-e,main", "-o", result.name], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return result


def all_structs() -> Mapping[str, CStruct]:
    """Return the tables of the reference snapshot."""
    return declarations(Runtime())


def is_there(compiler: str) -> bool:
    """Whether a compiler is installed."""
    return shutil.which(compiler.split()[0]) is not None
