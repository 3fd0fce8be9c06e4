"""How a source of the EON compiler is recognised without reading all of it."""

from __future__ import annotations

_MARKERS = (b"kTensorArenaSize", b"used_operators_e")


def is_eon_source(data: bytes) -> bool:
    """Tell whether a file is what the EON compiler writes, by the names in it."""
    return all(sign in data for sign in _MARKERS)
