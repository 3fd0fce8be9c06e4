"""Write the table of checks' texts: since when and until when a kernel's Prepare said what.

    python tools upstream texts PATH/TO/tflite-micro/.git

A firmware that holds a kernel's source file among its messages holds all that the checks of its Prepare say. A text
that is not there tells that the firmware is of no day on which upstream's file had it. The table keeps hashes of the
texts, not the texts. A line is "FILE HASH LENGTH FIRST END": the text, of LENGTH bytes, is in the file at positions
FIRST to END - 1 (as ``tflm_sim.targets.changes`` counts them); what a file always said is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict

import frame
from upstream.checks import checks
from upstream.commit_table import write_table

from tflm_sim.extensions.firmware.reading.absent_checks import TABLE
from tflm_sim.extensions.firmware.reading.dated_texts import text_key
from tflm_sim.targets.reference import LAST_COUNTED

KERNELS = "tensorflow/lite/micro/kernels/"
_LIBRARIES = "(?:cmsis_nn/)?"
_FILE = re.compile(rf"{KERNELS}({_LIBRARIES}\w+)\.cc")
_WHOLE, _IN_TWO = ("",), ("EQ", "TYPES_EQ")
"""Macros that print what they check as it stands, and those that print its two sides, each a text of its own."""
_SHORTEST = 6
"""Shorter texts may be in the image for another reason, which proves nothing but costs time."""


def texts(source: str) -> frozenset[str]:
    """Return what the checks of a file's Prepare functions put into an image."""
    found = [check for check in checks(source) if re.search(r"(?<!Parse)Prepare", check.function)]
    parts = [check.text for check in found if check.macro in _WHOLE]
    parts += [part for check in found if check.macro in _IN_TWO for part in check.text.split(" != ")]
    return frozenset(part for part in parts if len(part) >= _SHORTEST)


def rows(repository: str) -> list[str]:
    """Return the lines of the table."""
    main = frame.git(repository, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    positions = {commit: index for index, commit in enumerate(main, start=1)}
    assert len(main) == LAST_COUNTED, f"{len(main)} commits; set targets/reference.py first"
    shown = ("--first-parent", "-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=C %H")
    versions: dict[str, list[tuple[int, frozenset[str]]]] = defaultdict(list)
    position = 0
    for line in frame.git(repository, "log", *shown, "HEAD", "--", KERNELS).splitlines():
        if line.startswith("C "):
            position = positions[line[2:]]
        elif line.startswith(":") and (match := _FILE.fullmatch(line.split("\t", 1)[1])):
            blob = line.split()[3]
            says = texts(frame.git(repository, "cat-file", "blob", blob)) if set(blob) != {"0"} else frozenset()
            versions[match[1]].append((position, says))
    return sorted(line for file, found in versions.items() for line in _lines(file, found))


def _lines(file: str, versions: list[tuple[int, frozenset[str]]]) -> list[str]:
    ends = [position for position, _ in versions[1:]] + [LAST_COUNTED + 1]
    lines = []
    for text in sorted(frozenset().union(*(says for _, says in versions))):
        spans: list[list[int]] = []
        for (first, says), end in zip(versions, ends, strict=True):
            if text in says and spans and spans[-1][1] == first:
                spans[-1][1] = end
            elif text in says:
                spans.append([first, end])
        if spans != [[versions[0][0], LAST_COUNTED + 1]]:
            lines += [f"{file} {text_key(text)} {len(text.encode())} {first} {end}" for first, end in spans]
    return lines


if __name__ == "__main__":
    write_table(__doc__, "texts", rows, TABLE)
