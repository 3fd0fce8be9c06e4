"""Models at http(s) addresses, downloaded only if the user allows it. No other module uses the web."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tflm_sim.errors import UsageError

ALLOWED = "TFLM_SIM_ALLOW_DOWNLOAD"
"""The variable that allows it where it is "1"; ``--allow-download`` sets it."""


def is_address(name: str) -> bool:
    """Return whether a model's name is an http(s) address."""
    return name.partition("://")[0].lower() in ("http", "https")


@contextmanager
def downloads(*, allowed: bool) -> Iterator[None]:
    """If ``allowed``, allow downloads while the block runs, also in processes that are started in it."""
    before = os.environ.get(ALLOWED)
    if allowed:
        os.environ[ALLOWED] = "1"
    try:
        yield
    finally:
        if allowed:
            del os.environ[ALLOWED]
        if before is not None:
            os.environ[ALLOWED] = before


def download(address: str) -> bytes:
    """Return the file behind an address.

    Raises:
        UsageError: Downloads are not allowed.
        ModelError: The download fails, redirects to an address that is not allowed, is too large, is shorter than
            announced, or takes longer than ``DOWNLOAD_SECONDS``.
    """
    if os.environ.get(ALLOWED) != "1":
        raise UsageError(f"{address}: nothing is downloaded from the web without `allow_download=` (or {ALLOWED}=1)")
    from tflm_sim.model.fetch import fetch  # Slow to import, as all that speaks HTTP.

    return fetch(address)
