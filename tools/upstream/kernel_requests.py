"""Write the table of how often each operator's kernel asks for memory at most, in Init and Prepare.

    python tools upstream kernel_requests PATH/TO/tflite-micro/.git PATH/TO/esp-tflite-micro/.git

A line is "LIBRARY OPERATOR SINCE:PERSISTENT,SCRATCH ...": from a position on (as ``tflm_sim.targets.changes`` counts
them), how often the source of one of its registrations calls TfLiteContext's AllocatePersistentBuffer() and
RequestScratchBufferInArena() at most. A call in a function counts each time that the function is called, as a compiler
may copy it. Of esp-tflite-micro, only ESP-NN's kernels are read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

import frame
from upstream.checks import _LEXEMES, _blank, _functions

from tflm_sim.extensions.firmware.reading.kernel_requests import NONE, TABLE, Requests
from tflm_sim.extensions.firmware.reading.linked_kernels import operator_of
from tflm_sim.extensions.firmware.reading.symbol_names import COMPUTES
from tflm_sim.targets.kernel_library import REFERENCE

_FOLDERS = ("tensorflow/lite/micro/kernels", "signal/micro/kernels")
_LEFT_OUT = re.compile(r"_test\.|/testing/|runner|/(?:ceva|arc_mli|vexriscv|xtensa|hexagon|ethos_u)/")
_REQUESTS = (r"\bcontext->AllocatePersistentBuffer\s*\(", r"\bcontext->RequestScratchBufferInArena\s*\(")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;()]*>)?\s*\(")
_NAMED = re.compile(r"\b[A-Za-z_]\w*\b")


class _Body(NamedTuple):
    """What stands in a function's body: its own requests, what it calls, and all names."""

    own: Requests
    calls: tuple[str, ...]
    names: frozenset[str]


_Index = Mapping[str, list[tuple[str, _Body]]]
"""Name of a function -> (path, body) of each."""


@cache
def _bodies(repository: str, blob: str) -> tuple[tuple[str, _Body], ...]:
    code = _LEXEMES.sub(_blank, frame.git(repository, "cat-file", "blob", blob))
    found = []
    for name, start, end in _functions(code):
        body = code[start:end]
        own = Requests(*(len(re.findall(pattern, body)) for pattern in _REQUESTS))
        found.append((name, _Body(own, tuple(_CALLED.findall(body)), frozenset(_NAMED.findall(body)))))
    return tuple(found)


def _trees(repository: str) -> Iterator[tuple[int, _Index]]:
    """Yield the kernels' functions as they were after each commit that changed some, with its position."""
    commits = frame.git(repository, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    positions = {commit: number for number, commit in enumerate(commits, start=1)}
    files: dict[str, str] = {}
    shown = ("--first-parent", "-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=tformat:C %H")
    log = frame.git(repository, "log", *shown, "HEAD", "--", *_FOLDERS)
    for part in log.removeprefix("C ").split("\nC "):
        commit, *lines = part.splitlines()
        for line in filter(None, lines):
            path, blob = line.split("\t", 1)[1], line.split()[3]
            if set(blob) == {"0"}:
                files.pop(path, None)
            elif path.endswith((".cc", ".h")) and not _LEFT_OUT.search(path):
                files[path] = blob
        index = defaultdict(list)
        for path, blob in files.items():
            for name, body in _bodies(repository, blob):
                index[name].append((path, body))
        yield positions[commit], index


def _found(index: _Index, path: str, name: str) -> list[tuple[str, _Body]]:
    """Return the functions that a name means in a file: its own, or else those of its folder and of the one above."""
    places = index.get(name, [])
    folder = PurePosixPath(path).parent
    return [one for one in places if one[0] == path] or [
        one for one in places if PurePosixPath(one[0]).parent in (folder, folder.parent)
    ]


def _counted(index: _Index, path: str, name: str, above: frozenset[str] = frozenset()) -> Requests:
    """Return how often a function asks for memory, with those that it calls."""
    most = NONE
    for at, body in _found(index, path, name) if name not in above else ():
        total = body.own
        for called in body.calls:
            if called in index:
                total = total.plus(_counted(index, at, called, above | {name}))
        most = most.most(total)
    return most


def _most(index: _Index) -> dict[tuple[str, str], Requests]:
    """Return how often each operator's kernels ask at most, by library and operator."""
    found: defaultdict[tuple[str, str], Requests] = defaultdict(lambda: NONE)
    for name, bodies in index.items():
        operator = operator_of(name)
        for path, body in bodies if operator else ():
            total = NONE
            for root in body.names - {name}:
                if root in index and not COMPUTES.search(root):
                    total = total.plus(_counted(index, path, root))
            folder = PurePosixPath(path).parent.name
            key = (REFERENCE.name if folder == "kernels" else folder, operator or "")
            found[key] = found[key].most(total)
    return found


def _rows(repository: str, libraries: Collection[str]) -> Iterator[str]:
    """Yield the table's lines about some libraries."""
    table: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    last: dict[tuple[str, str], Requests] = {}
    for position, index in _trees(repository):
        for key, most in _most(index).items():
            if key[0] in libraries and last.get(key) != most:
                last[key] = most
                table[key].append(f"{position}:{most.persistent},{most.scratch}")
    for key, changes in table.items():
        yield " ".join((*key, *changes))


def main() -> None:
    """Write the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("upstream", metavar="PATH/TO/tflite-micro/.git")
    parser.add_argument("esp", metavar="PATH/TO/esp-tflite-micro/.git")
    given = parser.parse_args()
    rows = sorted((*_rows(given.upstream, (REFERENCE.name, "cmsis_nn")), *_rows(given.esp, ("esp_nn",))))
    TABLE.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
