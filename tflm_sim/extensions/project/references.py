"""References in the texts of a configuration, such as ``${common.libs}``, replaced by what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_CHARACTERS = 10_000
MAX_ROUNDS = 10
"""References to texts with references; one that refers to itself is replaced as often as this."""


def substituted(text: str, reference: str, meaning: Callable[[re.Match[str]], str]) -> str:
    """Return a text with what its references mean; one that is or would become very long stays as it is.

    A few lines could otherwise become more text than a memory holds.

    Args:
        text: With references.
        reference: A pattern of a reference.
        meaning: Returns the text that takes a reference's place, which may have references.
    """
    for _ in range(MAX_ROUNDS if len(text) <= MAX_CHARACTERS else 0):
        longer = re.sub(reference, lambda found: meaning(found)[: MAX_CHARACTERS + 1], text)
        if longer == text or len(longer) > MAX_CHARACTERS:
            break
        text = longer
    return text
