"""The error for a name that is not in a table: it lists the likely ones, or all."""

from __future__ import annotations

from collections.abc import Collection

from tflm_sim.errors import UsageError


def unknown(kind: str, name: str, known: Collection[str]) -> UsageError:
    """Return the error for ``name``, which is no ``kind``: with the near matches, or with all that there are."""
    from difflib import get_close_matches  # only on the way out, and slow to import

    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"use one of: {', '.join(known)}"
    return UsageError(f"unknown {kind} '{name}'; {hint}")
