"""Models behind http(s) addresses, where somebody said that they may be fetched: nothing else asks the web."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.values import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any
    from urllib.request import OpenerDirector

ALLOWED = "TFLM_SIM_ALLOW_DOWNLOAD"
"""The variable that allows it where it is "1"; ``--allow-download`` sets it."""

LARGEST = 1 << 30
"""Bytes; a larger file is not fetched."""

_TIMEOUT_S = 60


def is_address(name: str) -> bool:
    """Tell whether a model's name is an address of the web."""
    return name.partition("://")[0].lower() in ("http", "https")


@contextmanager
def downloads(*, allowed: bool) -> Iterator[None]:
    """Allow them for a while, in processes that are started then too; else nothing changes."""
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
        UsageError: Nobody allowed it.
        ModelError: It cannot be fetched, leads from https to http, or is too large.
    """
    if os.environ.get(ALLOWED) != "1":
        raise UsageError(f"{address}: nothing is fetched from the web unless --allow-download (or {ALLOWED}=1) says so")
    try:
        with _opener().open(address, timeout=_TIMEOUT_S) as answer:
            data = bytes(answer.read(LARGEST + 1))
    except (OSError, ValueError) as failure:
        raise ModelError(f"it cannot be fetched: {failure}", path=address) from failure
    if len(data) > LARGEST:
        raise ModelError(f"it has more than {LARGEST:,} bytes", path=address)
    return data


def _opener() -> OpenerDirector:
    """Return what opens addresses; who asked for an encrypted connection gets no other."""
    from urllib.error import URLError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Careful(HTTPRedirectHandler):
        """Follows no address from https to anything else."""

        def redirect_request(self, req: Request, *args: Any) -> Request | None:
            """Return the next request."""
            following = super().redirect_request(req, *args)
            if following is not None and req.type == "https" != following.type:
                raise URLError(f"it leads to {following.full_url}, which is not https")
            return following

    return build_opener(Careful)
