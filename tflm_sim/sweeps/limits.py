"""What one row may take: a watchdog that stops a computation in its own thread, on every system and in any thread.

A hang in Python ends with :class:`OutOfTime` at the next byte code. Memory is limited for a whole process, by the
operating system where it can (``RLIMIT_AS``).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tflm_sim.values import dataclass

DEFAULT_SECONDS = 60.0


class OutOfTime(BaseException):
    """A row took longer than it may; no ``Exception``, so that nobody on the way takes it for something else."""

    def __str__(self) -> str:
        return "sizing it took longer than --row-seconds allows"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one row may take.

    Attributes:
        seconds: Wall seconds; 0 for no end.
        memory: Bytes of a worker process; 0 for no end. Not every system can hold it.
    """

    seconds: float = DEFAULT_SECONDS
    memory: int = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Run the block and raise :class:`OutOfTime` in it when it takes too long."""
        if not self.seconds:
            yield
            return
        watch = _WATCHDOG.start(self.seconds)
        try:
            yield
        finally:
            _WATCHDOG.stop(watch)

    def apply(self) -> None:
        """Limit this process's memory."""
        if not self.memory:
            return
        try:
            import resource
        except ImportError:
            return
        resource.setrlimit(resource.RLIMIT_AS, (self.memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


class _Watch:
    __slots__ = ("deadline", "is_over", "thread")

    def __init__(self, deadline: float, thread: int) -> None:
        self.deadline, self.thread, self.is_over = deadline, thread, False


class _Watchdog:
    """One thread that looks at the clock for all who run (mutable)."""

    INTERVAL_S = 0.05

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: set[_Watch] = set()
        self._thread: threading.Thread | None = None

    def start(self, seconds: float) -> _Watch:
        """Watch the calling thread."""
        watch = _Watch(time.monotonic() + seconds, threading.get_ident())
        with self._lock:
            self._watches.add(watch)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        return watch

    def stop(self, watch: _Watch) -> None:
        """Look away; what was already raised and has not arrived is taken back."""
        with self._lock:
            self._watches.discard(watch)
            if watch.is_over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(watch.thread), None)

    def _run(self) -> None:
        while True:
            time.sleep(self.INTERVAL_S)
            with self._lock:
                now = time.monotonic()
                for watch in [watch for watch in self._watches if watch.deadline < now]:
                    watch.is_over = True
                    self._watches.discard(watch)
                    exception = ctypes.py_object(OutOfTime)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(watch.thread), exception)


_WATCHDOG = _Watchdog()
