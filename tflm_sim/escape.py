"""Text from strangers (models, paths, logs), made harmless for terminals, notebooks and CIs that read what we print.

A control character would move the cursor or forge a line; GitHub's runner takes ``::error::`` at the start of a line
and ``##[error]`` anywhere in it for a command. All become visible escapes; what is JSON stays the same JSON.
Source: actions/runner ActionCommand.cs (both forms of a workflow command).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Control, format (right-to-left marks, zero width), surrogate, private use, unassigned; line and paragraph separators.
_HOSTILE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMMAND = r"^(\s*):(?=:)"
_COLOR = r"(\x1b\[[0-9;]{0,32}m)"


def printable(text: str, limit: int = 60) -> str:
    """Return ``text`` on one line: hostile characters as escapes, at most ``limit`` characters (the end is kept)."""
    shown = _no_command(_escaped(text[-limit:]))
    return shown if len(text) <= limit and len(shown) <= limit else f"…{shown[len(shown) - limit + 1 :]}"


def one_line(text: str, *, may_color: bool = False) -> str:
    """Return a line to print, of any length: hostile characters but the tab as escapes.

    Args:
        text: The line; a line end inside is hostile too.
        may_color: Keep SGR sequences; for lines whose names were made harmless before they were coloured.
    """
    pieces = re.split(_COLOR, text) if may_color else [text]
    return "".join(
        piece if index % 2 else "\t".join(map(_escaped, _no_command(piece).split("\t")))
        for index, piece in enumerate(pieces)
    )


_MARKED = r"x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}"
_FORMULA = tuple("=+-@\t'")
"""What a spreadsheet takes for a formula at the start of a cell, and the sign that says that it is none."""


def escaped(text: str, also: str = "") -> str:
    """Return ``text`` on one line with hostile characters as escapes, and two texts never alike.

    A backslash that would begin such an escape is one itself, so that :func:`unescaped` returns the text.

    Args:
        text: Any.
        also: Characters that are hostile where it is written.
    """
    plain = re.sub(rf"\\(?={_MARKED})", r"\\x5c", text)
    shown = _no_command(_escaped(plain))
    return "".join(_escape(letter) if letter in also else letter for letter in shown) if also else shown


def unescaped(text: str) -> str:
    """Return the text of which :func:`escaped` made ``text``."""
    return re.sub(rf"\\({_MARKED})", lambda found: chr(int(found[1][1:], 16)), text)


def csv_cell(text: str) -> str:
    """Return a cell that no spreadsheet and no terminal executes; :func:`csv_text` undoes it."""
    shown = escaped(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def csv_text(cell: str) -> str:
    """Return the text of which :func:`csv_cell` made a cell."""
    return unescaped(cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell)


def code_span(text: str, limit: int = 400) -> str:
    """Return text as code in Markdown: it cannot end the code, nor the cell that it is in; the end is kept."""
    shown = escaped(text[-limit:], also="`|")
    return f"`{shown}`" if len(shown) <= limit and len(text) <= limit else f"`…{shown[len(shown) - limit + 1 :]}`"


_WORDS_OF_CPP = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    std tflite i386 linux mips unix
"""
"""The keywords of C++20, two namespaces, and what compilers define."""


def cpp_name(path: str) -> str:
    """Return a name for C++ that a file's gives: net-int8.tflite is net_int8."""
    stem = os.path.splitext(os.path.basename(path.removeprefix("sample:")))[0]
    name = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_").lower() or "model"
    return f"model_{name}" if name[0].isdigit() or name in _WORDS_OF_CPP.split() else name


def json_text(document: Any, *, indent: int | None = None) -> str:
    """Return ``document`` as ASCII JSON, compact without an indent, that holds no command for a CI's runner."""
    import json  # slow to import, and needed only for JSON

    text = json.dumps(document, indent=indent, separators=(",", ":") if indent is None else None)
    return text.replace("##[", "#\\u0023[")


def html_table(title: str, rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> str:
    """Return a table for a notebook; every text in it is escaped.

    Args:
        title: The caption.
        rows: The cells; the first of a row names it.
        head: The columns' names, if they have any.
    """
    lines = [f'<table><caption style="text-align:left;font-weight:bold">{_html(title)}</caption>']
    if head:
        names = "".join(f'<th scope="col">{_html(cell)}</th>' for cell in head)
        lines.append(f"<thead><tr>{names}</tr></thead>")
    for first, *others in rows:
        cells = "".join(f'<td style="text-align:left">{_html(cell)}</td>' for cell in others)
        lines.append(f'<tr><th scope="row" style="text-align:left">{_html(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</table>"])


def _html(text: str) -> str:
    from html import escape  # Its table of entities costs a millisecond.

    return escape(printable(text, 200))


def _no_command(text: str) -> str:
    shown = re.sub(_COMMAND, r"\1\\x3a", text) if "::" in text else text
    return shown.replace("##[", "\\x23#[")


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    import unicodedata

    return "".join(_escape(letter) if unicodedata.category(letter) in _HOSTILE else letter for letter in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
