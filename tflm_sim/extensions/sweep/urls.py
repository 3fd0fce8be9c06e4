"""Models on shared storage: fsspec URLs (s3://, gs://, file://). The web is not read here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extras import install_command
from tflm_sim.files import FIRST_READ_BYTES, MIN_READ_BYTES
from tflm_sim.model.download import is_address
from tflm_sim.model.inputs import MODEL_SUFFIXES, most_bytes, read_input, unpack


def is_url(name: str) -> bool:
    """Tell whether a model's name is a URL."""
    return "://" in name


def expand_url(url: str) -> Iterator[str]:
    """Yield the URLs of a pattern (``*``), or of a folder whose URL ends in a slash, sorted; any other as it is.

    What cannot be listed is yielded as it is too; reading it then fails with the reason.
    """
    found = []
    if not is_address(url) and (url.endswith("/") or any(sign in url for sign in "*?[")):
        with suppress(OSError, ValueError, ImportError, UsageError):
            system, path = _fsspec(url).core.url_to_fs(url)
            names = system.find(path) if url.endswith("/") else system.glob(path)
            models = (name for name in names if os.path.splitext(name)[1].lower() in MODEL_SUFFIXES)
            found = [system.unstrip_protocol(name) for name in sorted(models)]
    yield from found or [url]


def read_url(url: str) -> bytes:
    """Return the bytes of the one model behind a URL.

    Raises:
        UsageError: Nobody allowed to fetch it, or fsspec is not installed.
        ModelError: It cannot be read, or holds no model, or several.
    """
    if is_address(url):
        return read_input(url).data
    try:
        with _fsspec(url).open(url, "rb") as file:
            data = _whole(file, url)
    except FileNotFoundError as failure:
        raise ModelError("No such file or directory", path=url) from failure
    except (OSError, ValueError, ImportError) as failure:
        raise ModelError(str(failure), path=url) from failure
    found = list(unpack(url, data))
    if len(found) > 1:
        raise ModelError(f"it contains {len(found)} models", path=url)
    return found[0].data


def _whole(file: Any, url: str) -> bytes:
    pieces = [bytes(file.read(FIRST_READ_BYTES))]
    most, count = most_bytes(url, pieces[0]), len(pieces[0])
    while pieces[-1] and count <= most:
        pieces.append(bytes(file.read(MIN_READ_BYTES)))
        count += len(pieces[-1])
    if count > most:
        raise ModelError(f"it has more than {most:,} bytes", path=url)
    return b"".join(pieces)


def _fsspec(url: str) -> Any:
    if any(part.lower().startswith(("ftp:", "ftps:", "http:", "https:")) for part in url.split("::")):
        raise UsageError(f"{url}: models are not fetched by FTP, nor from the web through another file system")
    try:
        import fsspec
    except ImportError as missing:
        raise UsageError(f"{url} needs fsspec: {install_command('sweep')}") from missing
    return fsspec
