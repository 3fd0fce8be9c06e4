"""Arrays of bytes in C sources are what a compiler makes of them, and cost no more than the source is long."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import ModelError
from tflm_sim.model.c_source import byte_arrays

MODEL = b"\x1c\0\0\0TFL3"
"""Bytes 28, 0, 0, 0, 84, 70, 76, 51: all that a source has to begin with here."""
NUMBERS = "28, 0, 0, 0, 84, 70, 76, 51"


def is_model(start: bytes) -> bool:
    return start == MODEL


def read(text: str) -> list[tuple[str, bytes]]:
    return [(found.name, found.data) for found in byte_arrays(text.encode(), is_model)]


def refusal(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("elements", "more"),
    [
        ("", b""),
        (",", b""),
        (", 0x1'0u, 0b1000'0001, 017, 0'1'7, 255ull, 0X1CuLL, 00, 0", bytes([16, 129, 15, 15, 255, 28, 0, 0])),
        (", -1, -128, - 2, +3", bytes([255, 128, 254, 3])),
        (", 1 /* 2, 3 */, // 4\n 5, \\\n 6", bytes([1, 5, 6])),
        (", " + "0" * 5000 + "7", b"\7"),
    ],
)
def test_numbers_are_read_as_a_compiler_reads_them(elements: str, more: bytes) -> None:
    assert read(f"const unsigned char m[] = {{{NUMBERS}{elements}}};") == [("m", MODEL + more)]


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ("256", "its element 8, '256', is no byte"),
        ("-129", "'-129', is no byte"),
        ("9" * 5000, "is no byte"),
        ("0x" + "f" * 5000, "is no byte"),
        ("08", "'08', is no number"),
        ("1.5", "'1.5', is no number"),
        ("SIZE", "'SIZE', is no number"),
        ("1 2", "'1 2', is no number"),
        ("1, , 2", "its element 9, '', is no number"),
        ("'T'", 'follows, which is no part of a number'),
        ("{1}", "'{' follows"),
        ('"x"', "'\"' follows"),
        ("\n#include <x.inc>\n", "'#' follows"),
    ],
)  # fmt: skip
def test_what_begins_as_a_model_and_goes_on_otherwise_is_refused_with_its_place(elements: str, words: str) -> None:
    said = refusal(f"const char m[] = {{{NUMBERS}, {elements}}};")
    assert said.startswith("the array m begins as a model, but ")
    assert words in said
    assert "(at byte " in said


def test_an_array_without_an_end_is_refused() -> None:
    assert "it has no end (at byte 45)" in refusal(f"const char m[] = {{{NUMBERS}")


@pytest.mark.parametrize(
    "text",
    [
        'const char* doc = "const char m[] = {NUMBERS};";',
        'const char* doc = R"x(const char m[] = {NUMBERS};)y" )x";',
        "/* const char m[] = {NUMBERS}; */",
        "// const char m[] = {NUMBERS};",
        "// spliced \\\nconst char m[] = {NUMBERS};",
        "#define MODEL const char m[] = {NUMBERS};",
        "#define MODEL \\\n const char m[] = {NUMBERS};",
        "#if 0\nconst char m[] = {NUMBERS};\n#endif",
        " #if 0\nconst char m[] = {NUMBERS};\n\t#endif",
        "  \t #if 0\nconst char m[] = {NUMBERS};\n#endif",
        "# if (0) // old\n#ifdef X\nconst char m[] = {NUMBERS};\n#else\n#endif\nconst char n[] = {NUMBERS};\n#endif",
        "#if 1\n#else\nconst char m[] = {NUMBERS};\n#endif",
        "#if 1\n#elif X\nconst char m[] = {NUMBERS};\n#endif",
        "#if X\n#elif 0\nconst char m[] = {NUMBERS};\n#endif",
        "const int32_t m[] = {NUMBERS};",
        "unsigned short m[] = {NUMBERS};",
        "const char m[][8] = {{NUMBERS}};",
        "int f(int a[]) {NUMBERS}",
    ],
)
def test_what_a_compiler_makes_no_array_of_bytes_of_is_none(text: str) -> None:
    assert read(text.replace("NUMBERS", NUMBERS)) == []


@pytest.mark.parametrize(
    "before",
    [
        'const char* url = "http://x/*"; ',
        "char q = '\"', r = '\\''; ",
        "long n = 1'000; ",
        'const char* s = u8R"(" [] = { )"; ',
        "#if 0\nint x[] = {1};\n#else\n",
        "#if 0\n#elif X\n",
        "#if 0\n#endif\n",
        "#if SOMETHING\n",
        "#error don't\n",
        "#define A /* two\n lines */ { \n",
        "int x[] = {1, 2}; struct { int a; } y = {1}; ",
        "/* // */ ",
        "\r\n  /* x */ #pragma once\r\n",
    ],
)
def test_an_array_is_found_whatever_stands_before_it(before: str) -> None:
    assert read(f"{before}const char m[8] = {{{NUMBERS}}};") == [("m", MODEL)]


@pytest.mark.parametrize(
    "declaration",
    [
        "alignas(16) const uint8_t m[2136] =",
        "[[gnu::aligned(16)]] const unsigned char m[] [[gnu::used]] =",
        'static const char m [ /* 8 */ SIZE + 1 ] __attribute__((aligned(16), section(".a;b={["))) =',
        "const unsigned char m[] PROGMEM \\\n = /* the model */ // it\n",
        "const std::uint8_t m[8]",
        "int x[2] = {1, 2}, y = 3; unsigned char m[] =",
    ],
)
def test_an_array_is_declared_in_any_way(declaration: str) -> None:
    assert read(f"{declaration} {{{NUMBERS}}};") == [("m", MODEL)]


PIECES = [
    "{",
    "}",
    "[",
    "]",
    "=",
    ";",
    "#",
    "#if 0",
    "#endif",
    "\n",
    " ",
    "/*",
    "*/",
    "//",
    '"',
    "'",
    "\\",
    'R"(',
    ')"',
]
PIECES += ["m[] = {", NUMBERS, ",", "0x1", "-", "a", "é", "\0"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_arrays_or_a_sentence(text: str) -> None:
    with contextlib.suppress(ModelError):
        assert all(data.startswith(MODEL) for _, data in read(text))


FORMS = st.sampled_from(["{}", "0x{:x}", "0{:o}", "0b{:b}u"])


@given(st.lists(st.integers(-128, 255)), FORMS, st.sampled_from([",", ", ", ",\n"]))
def test_what_is_written_is_read(values: list[int], form: str, comma: str) -> None:
    text = comma.join(("-" if value < 0 else "") + form.format(abs(value)) for value in (*MODEL, *values))
    assert read(f"char m[] = {{{text}}};") == [("m", MODEL + bytes(value & 255 for value in values))]


LONG = ["a", "a[", "a[] ", "/*a", "/**/", "{", "={", "a[]={0,", "#\n", "'", '"', 'R"(', "1'0", "//\n"]


@pytest.mark.parametrize("piece", [*LONG, f"a[]={{{NUMBERS}/**/"])
def test_a_long_text_of_one_piece_costs_what_it_is_long(piece: str) -> None:
    # 400 KB: a second at the most. Where a byte is looked at once more for each that follows, it is an hour.
    with contextlib.suppress(ModelError):
        assert read(piece * (400_000 // len(piece))) == []


def test_an_initializer_costs_what_it_is_long() -> None:
    assert read(f"char m[] = {{{NUMBERS}{' /**/' * 80_000}, 1}};") == [("m", MODEL + b"\1")]


def test_behind_a_raw_string_a_comment_begins_at_once() -> None:
    text = 'const char* doc = R"x()x"/* { */; const char m[] = {NUMBERS};'
    assert [name for name, _ in read(text.replace("NUMBERS", NUMBERS))] == ["m"]
    assert read(text.replace("NUMBERS", NUMBERS).replace("{ */; ", "").replace("};", "}; */")) == []


@pytest.mark.parametrize("before", [";", "{", "}", "= 3;"])
def test_a_declaration_begins_right_behind_what_ends_the_one_before(before: str) -> None:
    assert read(f"{before}unsigned char model[] = {{{NUMBERS}}};") == [("model", MODEL)]
    assert read(f"{before}int model[] = {{{NUMBERS}}};") == []
