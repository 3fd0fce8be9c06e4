"""A source of which not every macro is known: what is compiled stays in its place."""

from __future__ import annotations

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.model.preprocess import blanked


def test_every_character_stays_in_its_place() -> None:
    text = 'int a; // one\n#if 0\nint b;\n#else\nint c = /* two\nlines */ 3;\n#endif\nchar d[] = "//";\n'
    found = blanked(text, {})
    assert [len(line) for line in found.text.split("\n")] == [len(line) for line in text.split("\n")]
    assert found.text.split() == ["int", "a;", "int", "c", "=", "3;", "char", "d[]", "=", '"//";']
    assert found.text.index("3;") == text.index("3;")


def test_a_macro_over_several_lines_is_one_line() -> None:
    found = blanked("#define A 1 + \\\n  2\nint a;\n", {})
    assert found.macros["A"].split() == ["1", "+", "2"]
    assert found.text.index("int") == 20


def test_what_nobody_defined_is_not_defined_and_is_named() -> None:
    text = "#ifdef A\nint a;\n#elif B > 1 || defined(C)\nint b;\n#elif D(1)\nint d;\n#else\n#error no\nint e;\n#endif\n"
    found = blanked(text, {"C": "0"} | {"K": "1"})
    assert found.undecided == {"A", "B"}
    assert found.text.split() == ["int", "b;"]
    found = blanked(text, {})
    assert found.undecided == {"A", "B", "C", "D(1)"}
    assert found.text.split() == ["int", "e;"]


def test_an_if_without_an_end_is_refused() -> None:
    with pytest.raises(ModelError, match="no #endif"):
        blanked("#if 1\n", {})
