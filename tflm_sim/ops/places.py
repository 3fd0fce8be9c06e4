"""Where a check stands in TFLM: lines by upstream file, version of the file, and what the check says.

``places.json`` is written by ``tools/check_places.py --write``; nobody types a line. Of each repository it has the
files whose kernels are modelled, and of each file its versions, newest last:

    {"tensorflow/tflite-micro": {"conv_common.cc": [[position, {key: line}], ...]}}

A key stands for what a check says (:func:`key`). A version without a key has no such check.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import blake2s
from pathlib import Path

from tflm_sim.targets.runtime import Runtime

KERNELS = "tensorflow/lite/micro/kernels/"

Version = tuple[int, dict[str, int]]
"""The position since when the file has these lines, and the line of each key."""


def key(text: str, function: str = "", number: int = 1) -> str:
    """Return the key of a check, six hexadecimal digits.

    Args:
        text: What it says; "!" before the condition of a TFLITE_DCHECK.
        function: The function around it, where its file has that text more than once.
        number: Which of them it is in the function.
    """
    scoped = f"{function}: {text}" if function else text
    numbered = scoped if number == 1 else f"{scoped} #{number}"
    return blake2s(numbered.encode(), digest_size=3).hexdigest()


def full_place(place: str) -> str:
    """Return the place with its directory: as given when it has one, else under ``KERNELS``."""
    return place if place.startswith(("tensorflow/", "signal/")) else KERNELS + place


def line(runtime: Runtime, file: str, text: str, function: str = "", number: int = 1) -> int | None:
    """Return the line of a check in a runtime's version of ``file``; None where that version has no such check."""
    versions, position = _versions(runtime, file)
    lines = next((lines for since, lines in reversed(versions) if since <= position), {})
    scoped = lines.get(key(text, function, number)) if function else None
    return scoped if scoped is not None else lines.get(key(text, "", number))


def is_newest(runtime: Runtime, file: str) -> bool:
    """Return whether a runtime has the newest version of ``file`` that there are lines of."""
    versions, position = _versions(runtime, file)
    return position >= versions[-1][0]


def _versions(runtime: Runtime, file: str) -> tuple[list[Version], int]:
    for tree, files in _table().items():
        if file in files:
            return files[file], runtime.position(tree)
    raise KeyError(f"ops/places.json has no lines of {file}")


@cache
def _table() -> dict[str, dict[str, list[Version]]]:
    table: dict[str, dict[str, list[Version]]] = json.loads(
        Path(__file__).with_name("places.json").read_text(encoding="utf-8")
    )
    return table
