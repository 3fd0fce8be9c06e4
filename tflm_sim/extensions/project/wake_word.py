"""ESPHome's manifest of a wake word: a JSON file with the model, and the arena that micro_wake_word reserves for it.

Source: esphome/components/micro_wake_word/__init__.py, manifests of version 1 and 2
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from contextlib import suppress
from typing import NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.files import inside, parse_json, read

MAX_MANIFEST_BYTES = 1 << 16
_SIZE = re.compile(r'"tensor_arena_size"\s*:\s*([0-9]{1,18})')
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
    if not path.endswith(".json") or not os.path.isfile(path) or os.path.getsize(path) > MAX_MANIFEST_BYTES:
        return None
    data = read(path, most=MAX_MANIFEST_BYTES)
    try:
        found = parse_json(data, path=path)
    except UsageError:
        return None
    if not isinstance(found, dict) or found.get("type") != "micro" or not isinstance(found.get("micro"), dict):
        return None
    size, model = found["micro"].get("tensor_arena_size"), found.get("model")
    arena = size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None
    text = data.removeprefix(BOM_UTF8).decode("latin-1")
    # The last of several counts; one whose name is spelled with escapes is not found, and cannot be mended.
    places = [place.span(1) for place in _SIZE.finditer(text) if place[1] == str(arena)]
    start, end = places[-1] if places else (0, 0)
    beside = ""
    with suppress(UsageError):  # a model in another folder is not followed
        beside = inside(os.path.dirname(path), model) if isinstance(model, str) else ""
    return WakeWord(path, beside if os.path.isfile(beside) else "", arena, start, end, text)


def manifest_in(path: str) -> WakeWord | None:
    """Return the manifest that a file is, or the only one in a folder; None for neither."""
    if not os.path.isdir(path):
        return wake_word(path)
    found = [one for name in sorted(os.listdir(path)) if (one := wake_word(os.path.join(path, name)))]
    return found[0] if len(found) == 1 else None
