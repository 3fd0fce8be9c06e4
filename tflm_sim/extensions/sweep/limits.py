"""How long a row may take: a watchdog stops a computation that takes longer, on every system and in any thread.

A hang in Python ends with :class:`OutOfTime` at the next byte code. Memory is limited for a whole process, by the
operating system where it can (``RLIMIT_AS``).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tflm_sim.answers.rows import OutOfTime

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of time and memory for one row.

    Attributes:
        seconds: Wall seconds; 0 for no end.
        memory: Bytes of a worker process; 0 for no end. Not every system can hold it.
    """

    seconds: float = DEFAULT_SECONDS
    memory: int = 0

    def apply(self) -> None:
        """Limit this process's memory."""
        if not self.memory:
            return
        try:
            import resource
        except ImportError:
            return
        resource.setrlimit(resource.RLIMIT_AS, (self.memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


class Watchdog:
    """Raises an error in its creator's thread when that takes too long (mutable); a context manager with a thread.

    Args:
        seconds: Wall seconds that a block of :meth:`guard` may take; 0 for no end.
    """

    INTERVAL_S = 0.05

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._watched = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._deadline: float | None = None
        self._is_over = False
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._end_overdue, name="tflm_sim row-seconds", daemon=True)

    def __enter__(self) -> Watchdog:
        if self._seconds:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        if self._seconds:
            self._thread.join()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Run the block and raise :class:`OutOfTime` in it when it takes too long."""
        if not self._seconds:
            yield
            return
        with self._lock:
            self._deadline, self._is_over = time.monotonic() + self._seconds, False
        try:
            yield
        finally:
            with self._lock:
                self._deadline = None
                if self._is_over:  # What was raised and has not arrived is taken back.
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._watched, None)

    def _end_overdue(self) -> None:
        while not self._ends.wait(self.INTERVAL_S):
            with self._lock:
                if self._deadline is not None and self._deadline < time.monotonic():
                    self._deadline, self._is_over = None, True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._watched, ctypes.py_object(OutOfTime))
