"""What a row may take: seconds and memory. Who runs the batches keeps the seconds, by ending the process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tflm_sim.errors import UsageError

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of time and memory for one row.

    Attributes:
        seconds: Wall seconds; 0 for no end.
        memory: Bytes that a process may take for sizing, beside what it has anyway; 0 for no end. Not every system can
            hold it.

    Raises:
        UsageError: The seconds are no time.
    """

    seconds: float = DEFAULT_SECONDS
    memory: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seconds <= threading.TIMEOUT_MAX:  # also where they are not a number
            raise UsageError(f"a row cannot take {self.seconds:g} seconds at the most; 0 is no limit")


@contextmanager
def memory_limited(size: int) -> Iterator[None]:
    """Let this process take so many bytes more than it has, where the system can hold it; 0 for no end."""
    try:
        import resource
    except ImportError:
        size = 0
    used = _address_space()
    if not size or not used:  # macOS refuses a limit below what is mapped, and does not say what that is.
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(used + size, sys.maxsize, *most), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int:
    """Return the bytes of this process's address space, as the limit counts them; 0 where nobody says."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
