"""Find the checks in TFLM's sources: where each ``TF_LITE_ENSURE*`` and ``TFLITE_DCHECK*`` stands, and what it says.

A check is known by its text as the preprocessor makes it of the macro's arguments, which is what the device prints.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_COMPARISONS = {"EQ": "==", "NE": "!=", "GE": ">=", "LE": "<=", "GT": ">", "LT": "<"}
_MACRO = re.compile(r"\b(TF_LITE_ENSURE(?:_EQ|_TYPES_EQ|_NEAR|_MSG)?|TFLITE_D?CHECK(?:_EQ|_NE|_GE|_LE|_GT|_LT)?)\s*\(")
_LEXEMES = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_RUNS = ("Eval", "Invoke")


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        function: The function around it.
        text: What it says: "a" of TF_LITE_ENSURE, "a != b" of TF_LITE_ENSURE_EQ, the message of TF_LITE_ENSURE_MSG;
            the condition of a TFLITE_DCHECK, with "!" before it.
        line: Where its macro begins, 1 and up.
        macro: "", "EQ", "TYPES_EQ", "NEAR", "MSG" or "CHECK".
    """

    function: str
    text: str
    line: int
    macro: str


def checks(source: str) -> list[Check]:
    """Return the checks of a C++ file, in its order, without those of functions that only run when a model does."""
    code = _LEXEMES.sub(_blank, source)
    ends = list(accumulate(len(line) + 1 for line in code.split("\n")))
    spans = list(_functions(code))
    found = []
    for match in _MACRO.finditer(code):
        function = next((name for name, start, end in spans if start <= match.start() < end), "")
        if function and not function.startswith(_RUNS) and not function.endswith(_RUNS):
            arguments = list(_arguments(source, code, match.end()))
            found.append(_check(function, match[1], arguments, bisect_right(ends, match.start()) + 1))
    return [check for check in found if check is not None]


def keys(found: list[Check]) -> dict[str, Check]:
    """Return the checks by key: the text, with its function where several have it, and its number in the function.

    What a TF_LITE_ENSURE_MSG prints has no line in it, so that it is enough to know the first.
    """
    functions: dict[str, set[str]] = {}
    for check in found:
        functions.setdefault(check.text, set()).add(check.function)
    seen: Counter[str] = Counter()
    rows: dict[str, Check] = {}
    for check in found:
        if check.macro == "MSG":
            rows.setdefault(check.text, check)
            continue
        scoped = check.text if len(functions[check.text]) == 1 else f"{check.function}: {check.text}"
        seen[scoped] += 1
        rows[scoped if seen[scoped] == 1 else f"{scoped} #{seen[scoped]}"] = check
    return rows


def _blank(match: re.Match[str]) -> str:
    """Blank out a comment or a literal: same length, same lines."""
    return re.sub(r"[^\n]", " ", match[0])


def _functions(code: str) -> Iterator[tuple[str, int, int]]:
    """Yield (name, start, end) of each function body: braces inside namespaces and classes open no function."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: _blank(match), code)
    opened: list[int] = []
    start, name, body = 0, "", 0
    for match in re.finditer(r"[{};]", code):
        head = code[start : match.start()]
        if match[0] == "{":
            called = _NAME.search(head)
            is_scope = called is None or re.search(r"\b(namespace|class|struct|enum)\b", head)
            if opened or not is_scope:
                if not opened:
                    name, body = called[1] if called else "", match.start()
                opened.append(match.start())
        elif match[0] == "}" and opened:
            opened.pop()
            if not opened:
                yield name, body, match.start()
        start = match.end()


def _arguments(source: str, code: str, start: int) -> Iterator[str]:
    """Yield the arguments of a macro whose parenthesis opens before ``start``, as ``#`` makes them text."""
    depth, begin = 0, start
    for position in range(start, len(code)):
        letter = code[position]
        if letter in "([{":
            depth += 1
        elif letter in ")]}" and depth:
            depth -= 1
        elif letter == ")" or (letter == "," and not depth):
            yield _text(source[begin:position])
            begin = position + 1
            if letter == ")":
                return


def _text(argument: str) -> str:
    without_comments = _LEXEMES.sub(lambda match: " " if match[0][0] == "/" else match[0], argument)
    return " ".join(without_comments.split())


def _check(function: str, macro: str, arguments: list[str], line: int) -> Check | None:
    name, _, suffix = macro.removeprefix("TF_LITE_").removeprefix("TFLITE_").partition("_")
    if name == "ENSURE":
        values = arguments[1:]
        if suffix == "MSG":
            message = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', values[1])).replace("\\n", "\n")
            return Check(function, message, line, suffix) if message else None
        text = values[0] if not suffix else (" not near " if suffix == "NEAR" else " != ").join(values[:2])
        return Check(function, text, line, suffix)
    comparison = _COMPARISONS.get(suffix)
    text = arguments[0] if comparison is None else f" {comparison} ".join(arguments[:2])
    return Check(function, f"!{text}", line, "CHECK")
