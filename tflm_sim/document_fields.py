"""How a field of a document is written in JSON: ``field(metadata=INLINE)``."""

from __future__ import annotations

INLINE = {"as": "inline"}
"""The keys of the field's object are inserted into the surrounding object."""
HIDDEN = {"as": "hidden"}
"""The field is for the text output only; JSON does not contain it."""
OPTIONAL = {"as": "optional"}
"""The key is omitted where the field is None."""
DERIVED = {"as": "derived"}
"""The field follows from the others: it is written, but what is read has no say in it."""
INTERNED = {"as": "interned"}
"""Texts are stored once in the document's ``strings``; the field has indices into that list."""


PARTS = {"as": "parts"}
"""A mapping whose keys are inserted into the surrounding object: what extensions say (``registry.Part``)."""


def columns(row: type) -> dict[str, type]:
    """Return the metadata of a field with many named tuples of one class: JSON has a column for each field of it."""
    return {"row": row}


def named(key: str) -> dict[str, str]:
    """Return the metadata of a field that has another name in JSON, such as a keyword of Python."""
    return {"key": key}
