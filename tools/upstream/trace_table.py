"""Write the table of traces: when each message and each function of TFLM was in upstream's sources.

    python tools upstream trace_table PATH/TO/tflite-micro/.git

A firmware without debug information still holds messages, and names of functions where it has symbols. Those that
were not there all the time bound the commit that it was built from. So does the name of a kernel's source file, which
an image holds only if a check of that file prints it. The table keeps hashes of the texts, not the texts.
A line is "HASH FIRST END": the text is in the sources at positions FIRST to END - 1 (as ``tflm_sim.targets.changes``
counts them); texts that came and went more than once are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import frame
from upstream.commit_table import write_table

from tflm_sim.extensions.firmware.reading.dated_texts import KERNEL_FILE, TABLE, kernel_text, text_key
from tflm_sim.targets.reference import LAST_COUNTED

FIRST_POSITION = 4
SOURCE = re.compile(r"(?:tensorflow/lite|tensorflow/compiler|signal)/[\w/]+\.(?:cc|c|h|cpp)")
OTHERS = re.compile(r"_test|/test|mock_|fake_|/benchmarks/|/examples/|/tools/|schema_generated|/python/")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_GAP = re.compile(r'"\s*\n?\s*"')
_FUNCTION = re.compile(r"\b([A-Z][a-z]\w{8,})\(")
_MESSAGE = re.compile(r".* .*|[A-Z0-9_]+", re.DOTALL)
"""What tells: a sentence or an enumerator, and not a word that anybody's program may hold."""
_PRINTS_ITS_FILE = re.compile(r"\b(?:TF_LITE_ENSURE|TF_LITE_UNSUPPORTED|TF_LITE_ASSERT|__FILE__|assert\s*\()")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}
_SHORTEST = 12


def texts(source: str) -> set[str]:
    """Return the messages and the functions of a source file."""
    code = re.sub(r"^\s*#\s*include.*$|//.*$", "", source, flags=re.MULTILINE)
    joined = _GAP.sub("", code)
    found = {
        re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), literal[1])
        for literal in _LITERAL.finditer(joined)
    }
    functions = {match[1] for match in _FUNCTION.finditer(_LITERAL.sub("", code))}
    return {text for text in found if len(text) >= _SHORTEST and _MESSAGE.fullmatch(text)} | functions


def file_text(path: str, source: str) -> set[str]:
    """Return what a kernel's file is called in an image, if anything in it may print that."""
    name = KERNEL_FILE.search(path.encode())
    return {kernel_text(name[1].decode())} if name and _PRINTS_ITS_FILE.search(source) else set()


def changes(repository: str) -> Iterator[tuple[int, str, str]]:
    """Yield (position, path, blob) of every change of a source file, blob "" where it goes."""
    main = frame.git(repository, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    positions = {commit: index for index, commit in enumerate(main, start=1)}
    assert len(main) == LAST_COUNTED, f"{len(main)} commits; set targets/reference.py first"
    log = frame.git(
        repository, "log", "--first-parent", "-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=C %H",
        "HEAD", "--", "tensorflow/lite", "tensorflow/compiler", "signal",
    )  # fmt: skip
    position = 0
    for line in log.splitlines():
        if line.startswith("C "):
            position = positions[line[2:]]
        elif line.startswith(":"):
            fields, path = line.split("\t", 1)
            if SOURCE.fullmatch(path) and not OTHERS.search(path):
                blob = fields.split()[3]
                yield position, path, "" if set(blob) == {"0"} else blob


def rows(repository: str) -> list[str]:
    """Return the lines of the table."""
    known: dict[tuple[str, str], set[str]] = {}
    held: dict[str, set[str]] = {}
    count: dict[str, int] = defaultdict(int)
    spans: dict[str, list[list[int]]] = defaultdict(list)
    for position, path, blob in changes(repository):
        if (path, blob) not in known:
            source = frame.git(repository, "cat-file", "blob", blob) if blob else ""
            known[path, blob] = texts(source) | file_text(path, source)
        before, after = held.get(path, set()), known[path, blob]
        held[path] = after
        for text in after - before:
            count[text] += 1
            if count[text] == 1:
                if spans[text] and spans[text][-1][1] == position:
                    spans[text][-1][1] = LAST_COUNTED + 1
                else:
                    spans[text].append([position, LAST_COUNTED + 1])
        for text in before - after:
            count[text] -= 1
            if count[text] == 0:
                spans[text][-1][1] = position
    lines = []
    for text, found in sorted(spans.items()):
        lived = [span for span in found if span[0] < span[1]]
        if len(lived) == 1 and (lived[0][0] > FIRST_POSITION or lived[0][1] <= LAST_COUNTED):
            lines.append(f"{text_key(text)} {lived[0][0]} {lived[0][1]}")
    return sorted(lines)


if __name__ == "__main__":
    write_table(__doc__, "traces", rows, TABLE)
