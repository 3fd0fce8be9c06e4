"""Write the table of what TFLM's kernels and parsers print when they refuse a model, in any version.

    python tools upstream kernel_texts PATH/TO/tflite-micro/.git [PATH/TO/esp-tflite-micro/.git ...]

A line is "FILE<tab>FORMAT": a printf format of a message of that file, as it stood in some commit; where several files
have it, FILE is what their paths have in common. ``explain`` knows a line of a log by it. What
``logs/tflm_messages.py`` has is there with more to say, and goes first.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import frame
from upstream.checks import _LEXEMES

TABLE = Path(__file__).parents[2] / "tflm_sim" / "logs" / "kernel_texts.txt"
_KEPT = re.compile(
    r"tensorflow/(lite/micro/kernels|lite/kernels|lite/core/(api|c)|lite/c|compiler/mlir/lite/core/(api|c))/.*\.(cc|h)$"
)
_LEFT_OUT = re.compile(
    r"(_test|_test_common|/testing/.*|test_helpers|kernel_runner|test_utils)\.|/testdata/|/examples/"
)
_CALL = re.compile(
    r"\b(?:MicroPrintf|TF_LITE_(?:MAYBE_)?KERNEL_LOG|TF_LITE_REPORT_ERROR|TF_LITE_ENSURE_MSG|Report|ReportError)\s*\("
)
_STRINGS = re.compile(r'"((?:\\.|[^"\\\n])*)"(\s*PRI[udixX]\d+)?\s*')
_NO_REFUSALS = ("Prepared Float!",)
_MANY = 5000
"""Characters after a call in which its format stands."""


def formats(source: str) -> Iterator[str]:
    """Yield the formats that a C++ source prints."""
    code = _LEXEMES.sub(lambda match: " " if match[0].startswith(("//", "/*")) else match[0], source)
    for call in _CALL.finditer(code):
        literal = _STRINGS.search(code, call.end(), call.end() + _MANY)
        if literal is None or re.search(r"[;{}]", code[call.end() : literal.start()]):
            continue
        text = ""
        while literal is not None:
            text += literal[1] + (literal[2] or "").strip()[3:4]
            literal = _STRINGS.match(code, literal.end())
        text = re.sub(r'\\(["\\%])', r"\1", re.sub(r"\\[nrt]", " ", text))
        yield " ".join(text.split())


def sources(repository: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every version of every file that may print, the oldest first."""
    shown = ("--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=", "-m", "--first-parent")
    seen: set[str] = set()
    for line in frame.git(repository, "log", *shown, "HEAD", "--", "tensorflow").splitlines():
        fields, _, path = line.partition("\t")
        blob = fields.split()[3]
        if _KEPT.match(path) and not _LEFT_OUT.search(path) and blob not in seen and set(blob) != {"0"}:
            seen.add(blob)
            yield path, frame.git(repository, "cat-file", "blob", blob)


def is_telling(text: str) -> bool:
    """Return whether a format is of a refusal, and has enough words of its own to be known by."""
    if text in _NO_REFUSALS:
        return False
    return len(re.findall(r"[A-Za-z_]{3,}", re.sub(r"%[-+ #0-9.]*(?:hh|h|ll|l|z)?[a-zA-Z]", " ", text))) >= 2


def place(paths: Iterable[str]) -> str:
    """Return a path, or the innermost folder of several."""
    return os.path.commonpath(list(paths))


def main() -> None:
    """Write the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("repositories", nargs="+", metavar="PATH/TO/.git")
    found: defaultdict[str, set[str]] = defaultdict(set)
    for repository in parser.parse_args().repositories:
        for path, source in sources(repository):
            for text in filter(is_telling, formats(source)):
                found[text].add(path)
    rows = sorted((place(paths), text) for text, paths in found.items())
    TABLE.write_text("".join(f"{path}\t{text}\n" for path, text in rows))


if __name__ == "__main__":
    main()
