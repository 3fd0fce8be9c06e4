"""How a field of a document is written in JSON: ``field(metadata=INLINE)``."""

from __future__ import annotations

INLINE = {"as": "inline"}
"""Its own fields stand in its place."""
HIDDEN = {"as": "hidden"}
"""For people only: JSON does not have it."""
OPTIONAL = {"as": "optional"}
"""Left out where it is None."""
INTERNED = {"as": "interned"}
"""Its texts are indices into the document's ``strings``."""


def columns(row: type) -> dict[str, type]:
    """Return the metadata of many named tuples of a kind: a column for each of their fields, texts interned."""
    return {"row": row}


def named(key: str) -> dict[str, str]:
    """Return the metadata of a field whose name Python does not have."""
    return {"key": key}
