"""What a MicroPython script says about arena and model: the call of ``microlite.interpreter``, by Python's own parser.

    interpreter = microlite.interpreter(model, 8 * 1024, input_callback, output_callback)

microlite and OpenMV register their operators themselves, so there is no resolver to compare. ``ml.Model(file)`` and
``tf.load(file)`` of OpenMV take the arena's size from the model.
Source: src/tensorflow-microlite.c @ mocleiri/tensorflow-micropython-examples (main, 2025-01-26).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import accumulate

from tflm_sim.extensions.project.cpp import Constant, Sources

_ARENA_ARGUMENT = 1


def read_python(texts: Mapping[str, str]) -> Sources:
    """Return what the scripts of a project say; a file that is no Python of today says nothing.

    Args:
        texts: By file, in Latin-1.
    """
    sources = Sources(texts=dict(texts))
    for file, text in texts.items():
        try:
            tree = ast.parse(text.encode("latin-1"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        source = _Source(file, text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                sources.constants.setdefault(node.targets[0].id, []).append(source.constant(_length(node.value)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".tflite"):
                sources.models.append(source.constant(node)._replace(text=re.split(r"[/\\]", node.value)[-1]))
            elif isinstance(node, ast.Call) and _is_interpreter(node.func) and len(node.args) > _ARENA_ARGUMENT:
                sources.arenas.append(source.constant(node.args[_ARENA_ARGUMENT]))
    return sources


class _Source:
    """A script, and where its lines begin."""

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text = file, text
        self._starts = [0, *accumulate(map(len, text.encode("latin-1").splitlines(keepends=True)))]

    def constant(self, node: ast.expr) -> Constant:
        """Return what is written there, with its place."""
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return Constant(self._text[start:end], self._file, start, end)


def _length(value: ast.expr) -> ast.expr:
    """Return the N of ``bytearray(N)``, whose size microlite takes where it is given the arena; else the value."""
    is_array = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "bytearray"
    return value.args[0] if is_array and isinstance(value, ast.Call) and len(value.args) == 1 else value


def _is_interpreter(function: ast.expr) -> bool:
    """Return whether ``microlite.interpreter`` is called, or the name that was imported from it."""
    if isinstance(function, ast.Attribute):
        return function.attr == "interpreter"
    return isinstance(function, ast.Name) and function.id == "interpreter"
