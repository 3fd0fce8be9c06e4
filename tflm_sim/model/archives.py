"""Members of a zip archive; their declared sizes are added up before anything is unpacked."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tflm_sim.errors import ModelError
from tflm_sim.limits import MAX_ARCHIVE_MEMBERS, MAX_UNPACKED_BYTES

if TYPE_CHECKING:
    from zipfile import ZipFile

SIGNATURE = b"PK\x03\x04"
_MEMBER = b"PK\x01\x02"


def members(data: bytes, suffixes: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of an archive's members whose names end in one of ``suffixes``.

    Args:
        data: The archive.
        suffixes: In lower case.

    Raises:
        ModelError: The archive is damaged, compressed by an unknown method, or would be too large.
    """
    with _opened(data) as archive:
        wanted = [row for row in archive.infolist() if row.filename.lower().endswith(tuple(suffixes))]
        size = sum(row.file_size for row in wanted)
        if size > MAX_UNPACKED_BYTES:
            raise ModelError(f"the archive would be {size:,} bytes unpacked; at most {MAX_UNPACKED_BYTES:,} are read")
        for row in wanted:
            yield row.filename, archive.read(row)


def names(data: bytes) -> frozenset[str]:
    """Return the names of an archive's members.

    Raises:
        ModelError: The archive is damaged.
    """
    with _opened(data) as archive:
        return frozenset(archive.namelist())


@contextmanager
def _opened(data: bytes) -> Iterator[ZipFile]:
    count = data.count(_MEMBER)
    if count > MAX_ARCHIVE_MEMBERS:
        raise ModelError(f"the archive has {count:,} members; at most {MAX_ARCHIVE_MEMBERS:,} are read")
    import struct  # Slow to import, as zipfile is; most inputs are no archive.
    import zipfile
    import zlib

    # What zipfile raises of damaged archives, the unpackers' own errors among it; MemoryError of a dictionary that LZMA
    # would need.
    errors: tuple[type[Exception], ...] = (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        MemoryError,
    )
    with suppress(ImportError):  # a browser's Python has none
        from lzma import LZMAError

        errors += (LZMAError,)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except errors as failure:
        raise ModelError(f"the archive cannot be read: {failure or 'it is damaged'}") from failure
