"""The error for a name that is not in a table: it lists the likely ones, or all."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tflm_sim.errors import UsageError


def unknown(kind: str, name: str, known: Collection[str]) -> UsageError:
    """Return the error for ``name``, which is no ``kind``: with the near matches, or with all that there are."""
    from difflib import get_close_matches  # only on the way out, and slow to import

    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"use one of: {', '.join(known)}"
    return UsageError(f"unknown {kind} '{name}'; {hint}")


def plain(text: str) -> str:
    """Return the letters and digits of a name, so that different spellings compare equal."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def names_with(word: str, known: Mapping[str, str]) -> list[str]:
    """Return the name that ``word`` is, else the names in which it occurs, whatever the spelling; all for "".

    Args:
        word: What is looked for.
        known: Name -> what is said about it, in which the word may occur too.
    """
    same = [name for name in known if plain(name) == plain(word)]
    return same or [name for name, about in known.items() if plain(word) in plain(f"{name} {about}")]
