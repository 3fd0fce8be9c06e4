"""Where a check stands in TFLM: lines by upstream file, version of the file, and what the check says.

``places.json`` is written by ``tools/check_places.py --write``; nobody types a line. Of each repository it has the
files whose kernels are modelled, and of each file its versions, newest last:

    {"tensorflow/tflite-micro": {"conv_common.cc": [[position, {key: line}], ...]}}

A key stands for what a check says (:func:`key`). A version without a key has no such check. A version may have a third
member: the file in which the code was then, before it moved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache

from tflm_sim.targets.changes import UPSTREAM
from tflm_sim.targets.runtime import Runtime
from tflm_sim.values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

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
    """Return the key of a check, six hexadecimal digits.

    Args:
        text: What it says; "!" before the condition of a TFLITE_DCHECK.
        function: The function around it, where its file has that text more than once.
        number: Which of them it is in the function.
    """
    scoped = f"{function}: {text}" if function else text
    numbered = scoped if number == 1 else f"{scoped} #{number}"
    from hashlib import blake2s  # Slow to import; most models are not refused.

    return blake2s(numbered.encode(), digest_size=3).hexdigest()


def full_place(place: str) -> str:
    """Return the place with its directory: as given when it has one, else under ``KERNELS``."""
    return place if place.startswith(("tensorflow/", "signal/", "./")) else KERNELS + place


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
    raise KeyError(f"ops/places.json has no lines of {file}")


@cache
def _table() -> dict[str, dict[str, list[Version]]]:
    import json  # Slow to import, as hashlib above.

    with open(os.path.join(os.path.dirname(__file__), "places.json"), encoding="utf-8") as file:
        table = {tree: versions_by_file(files) for tree, files in json.load(file).items()}
    for name, versions in table.pop(OLD).items():
        table[UPSTREAM][name] = versions + table[UPSTREAM][name]
    return table


def versions_by_file(files: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[Version]]:
    """Return the versions of each file of a tree, as they stand in ``places.json``."""
    return {file: [Version(*row) for row in rows] for file, rows in files.items()}
