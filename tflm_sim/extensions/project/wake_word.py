"""ESPHome's manifest of a wake word: a JSON file with the model, and the arena that micro_wake_word reserves for it.

Source: esphome/components/micro_wake_word/__init__.py, manifests of version 1 and 2
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from tflm_sim.files import read

MAX_MANIFEST_BYTES = 1 << 16
KIND_OF_WAKE_WORD = "the manifest of a wake word for ESPHome"


class WakeWord(NamedTuple):
    """A manifest.

    Attributes:
        path: Its file.
        model: The model's path, beside it; "" where there is none: the manifest names an address, or another folder.
        arena: The bytes of ``tensor_arena_size``; None where it does not say.
        start, end: Where that number stands, in bytes (exclusive); 0 without one.
        text: The whole file, in Latin-1.
    """

    path: str
    model: str
    arena: int | None
    start: int
    end: int
    text: str


def wake_word(path: str) -> WakeWord | None:
    """Return the manifest in a file; None where it is none."""
    if not path.endswith(".json") or not os.path.isfile(path) or os.path.getsize(path) > MAX_MANIFEST_BYTES:
        return None
    data = read(path, most=MAX_MANIFEST_BYTES)
    try:
        found: Any = json.loads(data)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("type") != "micro" or not isinstance(found.get("micro"), dict):
        return None
    size, model = found["micro"].get("tensor_arena_size"), found.get("model")
    arena = size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None
    text = data.decode("latin-1")
    start = end = 0
    if arena is not None:
        start = text.index(str(arena), text.index('"tensor_arena_size"'))
        end = start + len(str(arena))
    folder = os.path.join(os.path.realpath(os.path.dirname(path)), "")
    beside = os.path.join(os.path.dirname(path), model) if isinstance(model, str) and "\0" not in model else ""
    if not os.path.realpath(beside).startswith(folder) or not os.path.isfile(beside):
        beside = ""
    return WakeWord(path, beside, arena, start, end, text)


def manifest_in(path: str) -> WakeWord | None:
    """Return the manifest that a file is, or the only one in a folder; None for neither."""
    if not os.path.isdir(path):
        return wake_word(path)
    found = [one for name in sorted(os.listdir(path)) if (one := wake_word(os.path.join(path, name)))]
    return found[0] if len(found) == 1 else None
