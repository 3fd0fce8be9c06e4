"""Models on shared storage: fsspec URLs (s3://, gs://, file://). the web only where somebody says so."""

from __future__ import annotations

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.model.download import is_address
from tflm_sim.model.inputs import read_input, unpack


def is_url(name: str) -> bool:
    """Tell whether a model's name is a URL."""
    return "://" in name


def read_url(url: str) -> bytes:
    """Return the bytes of the one model behind a URL.

    Raises:
        UsageError: Nobody allowed to fetch it, or fsspec is not installed.
        ModelError: It cannot be read, or holds no model, or several.
    """
    if is_address(url):
        return read_input(url).data
    if url.lower().startswith("ftp:"):
        raise UsageError(f"{url}: models are not fetched by FTP; download it first")
    try:
        import fsspec
    except ImportError as missing:
        raise UsageError(f"{url} needs fsspec: pip install 'tflm_sim[sweep]'") from missing
    try:
        with fsspec.open(url, "rb") as file:
            data = bytes(file.read())
    except (OSError, ValueError, ImportError) as failure:
        raise ModelError(str(failure), path=url) from failure
    found = list(unpack(url, data))
    if len(found) > 1:
        raise ModelError(f"it holds {len(found)} models", path=url)
    return found[0].data
