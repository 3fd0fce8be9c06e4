"""Places in a program -> the operators whose kernels they are in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from tflm_sim.logs.crashes import CodePlace
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target

_STEM = re.compile(r"([^/\\]+?)(?:_common|_int16|_int8)?\.(?:cc|cpp|c)$")
_MOST_NAMES = 4
"""Operators of one file that are named."""


def with_operators(places: Iterable[CodePlace], target: Target) -> tuple[CodePlace, ...]:
    """Return places of code with the operators that a target's kernel library has in their files."""
    if not (places := tuple(places)):
        return ()
    by_stem: dict[str, list[str]] = {}
    for op, row in registrations(target).items():
        if stem := _stem(row.file):
            by_stem.setdefault(stem, []).append(op)
    return tuple(replace(place, operator=_names(by_stem.get(_stem(place.file), []))) for place in places)


def _stem(file: str) -> str:
    """Return the name of a source file without what its variants add."""
    found = _STEM.search(file)
    return "" if found is None else found[1]


def _names(operators: list[str]) -> str:
    more = len(operators) - _MOST_NAMES
    return " or ".join(operators[:_MOST_NAMES]) + (f" or {more} others" if more > 0 else "")
