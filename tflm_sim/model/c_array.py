r"""A model as an array in a C or C++ source: in the place of the one that a source has, or in a new file.

// NOTE                                                  what was said of an earlier model there is replaced
alignas(16) const unsigned char NAME[2136] = {           all that is not of the array stays as it is
  0x1c, 0x00, 0x00, 0x00, 0x54, 0x46, 0x4c, 0x33,        as many in a line, spelt as before
};
const unsigned int NAME_len = 2136;                      the old length, where it is called a length or a size
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from tflm_sim.errors import UsageError
from tflm_sim.escape import printable
from tflm_sim.model.c_source import ByteArray, byte_arrays
from tflm_sim.model.inputs import C_SUFFIXES, is_model

_IN_A_LINE = 12
_MARK = "// tflm-sim: "
_ALIGNED = 16
"""Bytes: TFLM reads a model's tables and weights where they lie."""


def is_source_name(path: str) -> bool:
    """Return whether a file of this name is a C or C++ source."""
    return PurePath(path).suffix.lower() in C_SUFFIXES


def with_array(source: bytes, model: bytes, *, path: str, name: str = "", notes: Sequence[str] = ()) -> bytes:
    """Return a source with another model in the place of the one that is in it.

    Args:
        source: The source.
        model: The bytes of the model.
        path: The source's name, for messages.
        name: The array's name, where there are several that are models.
        notes: Lines for a comment in front, in the place of those of an earlier call.

    Raises:
        UsageError: No array of it is a model, or several are and none is named.
        ModelError: An array begins as a model, and cannot be read.
    """
    found = [array for array in byte_arrays(source, is_model) if not name or array.name == name]
    if len(found) != 1:
        those = " and ".join(array.name for array in found)
        wrong = f"it has several models, {those}: name one as FILE:NAME" if found else "it has no array that is a model"
        raise UsageError(f"{path} is not overwritten: {wrong}")
    (array,) = found
    line_end = b"\r\n" if b"\r\n" in source else b"\n"
    before, after = (_with_length(part, array, len(model)) for part in (source[: array.start], source[array.end :]))
    elements = _elements_like(source[array.start : array.end], model, line_end)
    return _with_notes(before + elements + after, notes, line_end)


def _with_length(text: bytes, array: ByteArray, size: int) -> bytes:
    """Return text in which the array's old length is the new one: in its brackets, and where a name says length."""
    old, own = str(len(array.data)).encode(), re.escape(array.name.encode())
    new = str(size).encode()
    text = re.sub(rb"(\b" + own + rb"\s*\[\s*)" + old + rb"(?=\s*\])", rb"\g<1>" + new, text)
    called = rb"(\b\w*(?i:len|length|size|bytes)\w*[ \t]*(?:=[ \t]*|[ \t]+|\{[ \t]*))"
    return re.sub(called + old + rb"(?=[uUlL]*\b)", rb"\g<1>" + new, text)


def _elements_like(before: bytes, model: bytes, line_end: bytes) -> bytes:
    """Return the text of a model's elements, spelt as others are: indent, elements in a line, hexadecimal or not."""
    lines = [line for line in re.sub(rb"//[^\n]*|/\*.*?\*/", b"", before, flags=re.DOTALL).splitlines() if line.strip()]
    first = lines[0] if lines else b""
    is_single = len(lines) == 1
    in_a_line = len(model) if is_single else first.count(b",") or _IN_A_LINE
    indent = first[: len(first) - len(first.lstrip())] if first.strip() else b"  "
    has_capitals = re.search(rb"0[xX][0-9a-f]*[A-F]", before) is not None
    is_decimal = re.match(rb"\s*[0-9]+\s*,", first) is not None
    spell = "{}" if is_decimal else "0x{:02X}" if has_capitals else "0x{:02x}"
    between = b", " if b", " in before else b","
    rows = [
        between.join(spell.format(byte).encode() for byte in model[at : at + in_a_line])
        for at in range(0, len(model), in_a_line)
    ]
    comma = b"," if before.rstrip().endswith(b",") else b""
    text = (b"," + line_end + indent).join(rows) + comma
    if is_single:
        return indent + text + before[len(before.rstrip()) :]
    return line_end + indent + text + line_end


def _with_notes(source: bytes, notes: Sequence[str], line_end: bytes) -> bytes:
    """Return a source with comments in front instead of those of an earlier call."""
    mark = _MARK.encode()
    lines = source.splitlines(keepends=True)
    rest = [line for line in lines if not line.startswith(mark)]
    return b"".join([*(mark + printable(note, 500).encode() + line_end for note in notes), *rest])


def new_source(model: bytes, *, path: str, notes: Sequence[str] = ()) -> bytes:
    """Return a source with a model, for a file that is not there yet; the array is called after the file.

    Args:
        model: The bytes of the model.
        path: The file; what it is, C or C++, a header or not, its name says.
        notes: Lines for a comment in front.
    """
    suffix, stem = PurePath(path).suffix.lower(), re.sub(r"\W", "_", PurePath(path).stem, flags=re.ASCII)
    name = stem if stem[:1].isalpha() else f"model_{stem}"
    is_header, is_c = suffix in (".h", ".hh", ".hpp", ".inc"), suffix == ".c"
    lines = ["#pragma once", ""] if is_header else []
    if not is_header and not is_c:  # Else a constant of C++ is not seen from other files.
        lines += [f"extern const unsigned char {name}[];", f"extern const unsigned int {name}_len;", ""]
    declared = f"const unsigned char {name}[]"
    aligned = f"{declared} __attribute__((aligned({_ALIGNED})))" if is_c else f"alignas({_ALIGNED}) {declared}"
    rows = (model[at : at + _IN_A_LINE] for at in range(0, len(model), _IN_A_LINE))
    lines += [f"{aligned} = {{", *(f"  {', '.join(f'0x{byte:02x}' for byte in row)}," for row in rows), "};"]
    lines += [f"const unsigned int {name}_len = {len(model)};", ""]
    return _with_notes("\n".join(lines).encode(), notes, b"\n")
