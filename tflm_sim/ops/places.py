"""Where a check is in TFLM's sources: its line in each version of each upstream file whose kernels are modelled.

``places.txt`` is written by ``tools upstream places --write``; nobody types a line. It has a section for each file,
with the repository and the versions of the file, then a row for each check, with tabs between the columns:

    tensorflow/tflite-micro  conv_common.cc  5=conv.cc  107  119
    filter != nullptr        5:50  107:72  119:-

A version is named by its position in the repository's history; "5=conv.cc": the code was in conv.cc then. The check
is at line 72 from position 107 on, and is gone from 119 on. A row begins with what the check says (:func:`key`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from tflm_sim.errors import TflmSimError
from tflm_sim.targets.changes import UPSTREAM
from tflm_sim.targets.runtime import Runtime

KERNELS = "tensorflow/lite/micro/kernels/"
OLD = "tensorflow/tensorflow"
"""The repository of the versions from before upstream, see :data:`~tflm_sim.targets.changes.BEFORE_UPSTREAM`."""


class Version(NamedTuple):
    """A version of a file.

    Attributes:
        since: The position since when it has these lines.
        lines: The line of each key.
        file: The name of the file in which the code was then, "" for its own.
    """

    since: int
    lines: dict[str, int]
    file: str = ""


_NONE = Version(0, {})


def key(text: str, function: str = "", number: int = 1) -> str:
    """Return the key of a check.

    Args:
        text: What it says; "!" before the condition of a TFLITE_DCHECK.
        function: The function around it, where its file has that text more than once.
        number: Which of them it is in the function.
    """
    scoped = f"{function}: {text}" if function else text
    return scoped if number == 1 else f"{scoped} #{number}"


def full_place(place: str) -> str:
    """Return the place with its directory: as given when it has one, else under ``KERNELS``."""
    return place if place.startswith(("tensorflow/", "signal/", "util/", "./")) else KERNELS + place


def place(runtime: Runtime, file: str, text: str, function: str = "", number: int = 1) -> tuple[str, int] | None:
    """Return file and line of a check in a runtime's version of ``file``; None where that version has no such check."""
    versions, position = _versions(runtime, file)
    version = version_at(versions, position)
    line = _line(version, text, function, number)
    return None if line is None else (re.sub(r"\.cc$", runtime.source_suffix, version.file or file), line)


def is_in_some_version(runtime: Runtime, file: str, text: str, function: str = "", number: int = 1) -> bool:
    """Return whether any version of ``file`` has a check."""
    return any(_line(version, text, function, number) is not None for version in _versions(runtime, file)[0])


def _line(version: Version, text: str, function: str, number: int) -> int | None:
    line = version.lines.get(key(text, function, number)) if function else None
    return version.lines.get(key(text, "", number)) if line is None else line


def version_at(versions: Sequence[Version], position: int) -> Version:
    """Return the version of a file at a position; one without lines where it did not exist."""
    return next((version for version in reversed(versions) if version.since <= position), _NONE)


def is_newest(runtime: Runtime, file: str) -> bool:
    """Return whether a runtime has the newest version of ``file`` that there are lines of."""
    versions, position = _versions(runtime, file)
    return position >= versions[-1].since


def _versions(runtime: Runtime, file: str) -> tuple[list[Version], int]:
    for tree, files in _table().items():
        if file in files:
            return files[file], runtime.position(tree)
    raise unknown(file, "any check")


def unknown(file: str, what: str) -> TflmSimError:
    """Return the error of an operator that names a check whose line nobody has looked up."""
    return TflmSimError(
        f"the line of {what} in {file} is not known; python tools upstream places CHECKOUT --write looks "
        "it up in a clone of the repository and writes tflm_sim/ops/places.txt"
    )


@cache
def _table() -> dict[str, dict[str, list[Version]]]:
    with open(os.path.join(os.path.dirname(__file__), "places.txt"), encoding="utf-8") as file:
        table = read(file)
    for name, versions in table.pop(OLD).items():
        table[UPSTREAM][name] = versions + table[UPSTREAM][name]
    return table


def read(rows: Iterable[str]) -> dict[str, dict[str, list[Version]]]:
    """Return the versions of each file of each repository, from the rows of ``places.txt``."""
    table: dict[str, dict[str, list[Version]]] = {}
    versions: list[Version] = []
    for row in rows:
        text, *columns = row.rstrip("\n").split("\t")
        if not columns[0].partition(":")[1]:
            file, *since = columns
            versions = [Version(int(one), {}, name) for one, _, name in (column.partition("=") for column in since)]
            table.setdefault(text, {})[file] = versions
            continue
        changes = {int(since): line for since, _, line in (column.partition(":") for column in columns)}
        line = "-"
        for version in versions:
            line = changes.get(version.since, line)
            if line != "-":
                version.lines[text.replace("\\n", "\n")] = int(line)
    return table


def _moves(text: str, versions: Sequence[Version]) -> list[str]:
    """Return in which versions a text came to another line, and to which; "-" is for none."""
    lines = [str(version.lines.get(text, "-")) for version in versions]
    moves = zip(versions, lines, ["-", *lines[:-1]], strict=True)
    return [f"{one.since}:{line}" for one, line, last in moves if line != last]


def written(table: Mapping[str, Mapping[str, Sequence[Version]]]) -> str:
    """Return the text of ``places.txt``."""
    rows = []
    for tree, files in sorted(table.items()):
        for file, versions in sorted(files.items()):
            since = [f"{one.since}={one.file}" if one.file else str(one.since) for one in versions]
            rows.append("\t".join((tree, file, *since)))
            for text in dict.fromkeys(text for version in reversed(versions) for text in version.lines):
                rows.append("\t".join((text.replace("\n", "\\n"), *_moves(text, versions))))
    return "".join(f"{row}\n" for row in rows)
