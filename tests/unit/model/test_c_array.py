"""A model as a C array, in the place of another one and in a new file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.model.c_array import new_source, with_array
from tflm_sim.model.inputs import unpack
from tflm_sim.samples import sample_path

OLD = sample_path("sine").read_bytes()
NEW = sample_path("residual").read_bytes()
SMALL = b"\x1c\x00\x00\x00TFL3" + bytes(range(8, 24))
"""No model, but it begins as one."""


def text(data: bytes, *, row: int = 8, spell: str = "0x%02x", indent: str = "  ", end: str = ",") -> str:
    """Return the elements of an array."""
    rows = (", ".join(spell % byte for byte in data[at : at + row]) for at in range(0, len(data), row))
    return indent + f",\n{indent}".join(rows) + end


@pytest.mark.parametrize(("row", "spell", "indent", "end"), [
    (8, "0x%02x", "  ", ","), (12, "0x%02X", "\t", ""), (20, "%d", "    ", ""), (16, "0x%02x", "", ","),
])  # fmt: skip
def test_another_model_is_written_as_the_first_was(row: int, spell: str, indent: str, end: str) -> None:
    def source(data: bytes) -> bytes:
        elements = text(data, row=row, spell=spell, indent=indent, end=end)
        return (
            f"// 2136 bytes\n#include <x.h>\n#define MODEL_LEN {len(data)}\n"
            f"alignas(8) const unsigned char g_model[{len(data)}] PROGMEM = {{\n{elements}\n}};\n"
            f"const unsigned int g_model_len = {len(data)}u;\nconst int other = 2136;\n"
        ).encode()

    assert len(OLD) == 2136
    assert with_array(source(OLD), NEW, path="m.h") == source(NEW)


def test_a_length_in_words_of_its_own_stays() -> None:
    source = f"unsigned char m[kLen] = {{{text(OLD)}}};\nunsigned m_len = sizeof(m);".encode()
    after = with_array(source, NEW, path="m.h")
    assert after.endswith(b"};\nunsigned m_len = sizeof(m);")
    assert b"m[kLen]" in after
    assert next(unpack("m.h", after)).data == NEW


def test_lines_end_as_they_did() -> None:
    after = with_array(
        f"char m[] = {{\n{text(OLD)}\n}};\n".encode().replace(b"\n", b"\r\n"), SMALL, path="m.h", notes=["a"]
    )
    assert after.startswith(b"// tflm-sim: a\r\nchar m[] = {\r\n  0x1c, 0x00, ")
    assert after.count(b"\n") == after.count(b"\r\n") > 4


def test_an_array_on_one_line_stays_on_one() -> None:
    source = ("char m[] = { " + ", ".join(map(str, OLD)) + " };\n").encode()
    after = with_array(source, SMALL, path="m.h")
    assert after == ("char m[] = { " + ", ".join(map(str, SMALL)) + " };\n").encode()


def test_notes_of_an_earlier_call_are_replaced() -> None:
    source = b"// mine\n" + f"char m[] = {{\n{text(OLD)}\n}};\n".encode()
    once = with_array(source, NEW, path="m.h", notes=["1,152 B", "evil\nint x; \x1b"])
    assert once.startswith(b"// tflm-sim: 1,152 B\n// tflm-sim: evil\\x0aint x; \\x1b\n// mine\nchar m")
    again = with_array(once, OLD, path="m.h", notes=["now"])
    assert again == b"// tflm-sim: now\n" + source


@pytest.mark.parametrize(("source", "name", "says"), [
    ("extern const unsigned char m[];", "", "m.h is not overwritten: it has no array that is a model"),
    ("a", "b", "m.h is not overwritten: it has no array that is a model"),
    (f"char a[] = {{{text(SMALL)}}}; char b[] = {{{text(SMALL)}}};", "", "m.h is not overwritten: it has several "
     "models, a and b: name one as FILE:NAME"),
])  # fmt: skip
def test_what_has_no_place_for_it_is_not_overwritten(source: str, name: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_array(source.encode(), NEW, path="m.h", name=name)
    assert str(refused.value) == says


def test_of_several_models_the_one_that_is_named_is_replaced() -> None:
    source = f"char a[] = {{{text(SMALL)}}}; char b[] = {{{text(SMALL)}}};".encode()
    after = with_array(source, OLD, path="m.h", name="b")
    assert [found.data for found in unpack("m.h", after)] == [SMALL, OLD]


@pytest.mark.parametrize(("path", "name", "compiler"), [
    ("model.h", "model", "g++ -x c++"), ("a/model-2.hpp", "model_2", "g++ -x c++"), ("2.cc", "model_2", "g++"),
    ("m.cpp", "m", "g++"), ("m.c", "m", "gcc"),
])  # fmt: skip
def test_a_new_source_is_called_after_its_file_and_compiles(
    path: str, name: str, compiler: str, tmp_path: Path
) -> None:
    source = new_source(OLD, path=path, notes=["1,152 B"])
    assert source.startswith(b"// tflm-sim: 1,152 B\n")
    assert [(found.label, found.data) for found in unpack("x", source)] == [(f"x:{name}", OLD)]
    assert f"const unsigned int {name}_len = 2136;".encode() in source
    tool, *flags = compiler.split()
    if shutil.which(tool) is not None:
        (tmp_path / Path(path).name).write_bytes(source)
        command = [tool, "-Wall", "-Werror", "-fsyntax-only", *flags, str(tmp_path / Path(path).name)]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        assert told.returncode == 0 or "pragma once in main file" in told.stderr
