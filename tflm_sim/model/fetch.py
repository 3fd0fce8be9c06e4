"""The bytes behind an http(s) address: as many as it says, no more than there is room for, in a limited time."""

from __future__ import annotations

import time
from http.client import HTTPException
from ipaddress import ip_address
from socket import getaddrinfo
from threading import Thread
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from tflm_sim.errors import ModelError
from tflm_sim.files import MIN_READ_BYTES
from tflm_sim.limits import DOWNLOAD_SECONDS, MAX_DOWNLOAD_BYTES, SILENCE_SECONDS

POLL_INTERVAL_S = 0.2
"""Seconds between two looks, at each of which a sweep's limit for a row can end the wait."""


def fetch(address: str) -> bytes:
    """Return the file behind an address.

    Raises:
        ModelError: The download fails, redirects to an address that is not allowed, is too large, is shorter than
            announced, or takes longer than ``DOWNLOAD_SECONDS``.
    """
    answer = _Download(address)
    answer.start()
    end = time.monotonic() + DOWNLOAD_SECONDS
    while answer.is_alive() and time.monotonic() < end:
        answer.join(POLL_INTERVAL_S)
    if answer.is_alive():
        answer.is_given_up = True
        raise ModelError(f"it cannot be fetched: it takes longer than {DOWNLOAD_SECONDS:g} s", path=address)
    if answer.failure is not None:
        raise ModelError(f"it cannot be fetched: {answer.failure}", path=address) from answer.failure
    return answer.data


class _Download(Thread):
    """A download in a thread of its own, so that the caller can stop waiting at any time, even before the first byte.

    Attributes:
        data: The downloaded bytes.
        failure: The error, if it failed.
        is_given_up: Set when the caller no longer waits.
    """

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.data = b""
        self.failure: Exception | None = None
        self.is_given_up = False

    def run(self) -> None:
        try:
            self.data = self._fetched()
        except (OSError, ValueError, HTTPException) as failure:
            self.failure = failure

    def _fetched(self) -> bytes:
        pieces, count = [], 0
        with opener().open(self._address, timeout=SILENCE_SECONDS) as answer:
            said = answer.headers.get("Content-Length", "")
            size = int(said) if said.isascii() and said.isdecimal() else None
            if size is None or size <= MAX_DOWNLOAD_BYTES:
                while count <= MAX_DOWNLOAD_BYTES and not self.is_given_up and (piece := answer.read(MIN_READ_BYTES)):
                    pieces.append(piece)
                    count += len(piece)
        if max(count, size or 0) > MAX_DOWNLOAD_BYTES:
            raise ValueError(f"it has more than {MAX_DOWNLOAD_BYTES:,} bytes")
        if size is not None and count < size:
            raise ValueError(f"it ends after {count:,} of {size:,} bytes")
        return b"".join(pieces)


class SafeRedirects(HTTPRedirectHandler):
    """Follows redirections to http(s) only, not from https to http, and not from the web to a private address."""

    def redirect_request(self, req: Request, *args: Any) -> Request | None:
        following = super().redirect_request(req, *args)
        if following is not None:
            refusal = _refusal(req, following)
            if refusal:
                raise URLError(f"it leads to {following.full_url}, which is {refusal}")
        return following


def _refusal(request: Request, following: Request) -> str:
    """Return why a request must not be redirected to an address; "" where it may."""
    if following.type not in ("http", "https"):
        return "no address of the web"
    if request.type == "https" != following.type:
        return "not https"
    if _is_inside(following) and not _is_inside(request):
        return "inside of this machine or its network"
    return ""


def _is_inside(request: Request) -> bool:
    """Return whether one of the IP addresses of a request's host is not public."""
    rows = getaddrinfo(urlsplit(request.full_url).hostname, None)
    return not all(ip_address(str(row[4][0]).partition("%")[0]).is_global for row in rows)


def opener() -> OpenerDirector:
    """Return an opener of addresses, with safe redirections."""
    return build_opener(SafeRedirects)
