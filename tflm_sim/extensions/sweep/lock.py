"""``file_lock()``: a lock beside a file, so that two sweeps do not write the same one.

The lock is the operating system's, on ``.NAME.lock``, which names the process that has it. It ends with its process,
however that ends: a file that a killed process left behind is locked by nobody, and taken over.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tflm_sim.errors import UsageError

MAX_OWNER_BYTES = 300
"""Bytes of what another process says about itself that are shown."""


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, whatever name it goes by, while the block runs.

    Raises:
        UsageError: Somebody else holds it, or there can be none in that folder.
    """
    real = Path(os.path.realpath(path))
    name = real.with_name(f".{real.name}.lock")
    try:
        lock = _locked(name)
    except OSError as error:
        raise UsageError(f"{path} cannot be locked with {name.name}: {error.strerror or error}") from None
    if lock is None:
        raise UsageError(f"{path} is being written by another sweep ({_owner(name)})")
    with lock:
        try:
            lock.truncate()
            lock.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            lock.flush()
            yield
        finally:
            if os.name != "nt":  # There a file that is open cannot be deleted; an unlocked one does no harm.
                name.unlink(missing_ok=True)


def _locked(name: Path) -> BinaryIO | None:
    """Return the lock's file, open and locked; None where somebody else has locked it."""
    while True:
        lock = os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        if not _lock(lock):
            lock.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock.fileno()), os.stat(name)):
                return lock
        lock.close()  # Whoever had it deleted it while we waited: it locks nothing any more.


def _lock(lock: BinaryIO) -> bool:
    """Lock an open file; tell whether it was free."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(lock: BinaryIO) -> bool:
    import msvcrt

    try:
        lock.seek(1 << 20)  # Apart from what is written: a locked byte cannot be read.
        msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        lock.seek(0)
    except PermissionError:
        return False
    return True


def _owner(name: Path) -> str:
    try:
        with open(name, "rb") as lock:
            return lock.read(MAX_OWNER_BYTES).decode("utf-8", "replace") or "just begun"
    except OSError:
        return "just ended"
