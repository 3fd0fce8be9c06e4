"""What the fields of documents hold, in types that say more than Python's; found by name where a document is read.

Whoever only annotates with them imports them for the type checker alone: ``typing`` takes milliseconds to import.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

__all__ = ["Annotated", "Any", "Count", "IndexOrNone", "Literal", "OneOf", "Pattern", "Range", "Sha256"]


class Range(NamedTuple):
    """The least and the most that a number is, both inclusive."""

    minimum: int
    maximum: int | None = None


class OneOf(tuple[Any, ...]):
    """The values that there are."""

    def __new__(cls, *values: Any) -> OneOf:
        return super().__new__(cls, values)


class Pattern(NamedTuple):
    """The regular expression that a text matches."""

    expression: str


Count = Annotated[int, Range(0)]
"""A number of bytes or things, or an index."""
IndexOrNone = Annotated[int, Range(-1)]
"""An index; -1 for none."""
Sha256 = Annotated[str, Pattern("^[0-9a-f]{64}$")]
