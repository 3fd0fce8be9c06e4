"""Processes of this machine that size batches, in a pool that pebble keeps.

pebble ends a process that takes too long for its batch, and puts another one in the place of each that ended; what such
a batch becomes is said in ``engine``. A process begins as a copy of this one where that is safe: on Linux, and while
this process has one thread, since a copy never gets a lock that another thread has. Elsewhere it is a new Python, which
imports the caller's script once more (``if __name__ == "__main__":``).
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FrameType
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from tflm_sim.answers.rows import Case, Row
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.engine import BATCH_SECONDS, Batch, Wait, size_batch
from tflm_sim.extensions.sweep.limits import Limits, memory_limited

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Objects between two collections of garbage: each looks at all that there is."""

Answer = TypeVar("Answer")

POLL_INTERVAL_S = 1.0
"""Seconds between two looks at whether the pool still works."""


class Processes:
    """Processes of this machine (mutable: another pool takes the place of one that broke).

    Raises:
        UsageError: No process can be started.
    """

    failures: tuple[type[BaseException], ...] = (TimeoutError, MemoryError, ProcessExpired, BrokenProcessPool)
    gone: tuple[type[BaseException], ...] = ()

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = self._started()

    def _started(self) -> ProcessPool:
        """Return a pool with a process that answers."""
        forks = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork") if forks else _Spawn()
        pool = ProcessPool(max_workers=self.workers, initializer=_begin, context=context)
        try:
            with nullcontext() if forks else _safe_path():
                answer = pool.schedule(os.getpid)
            _result(pool, answer)
        except (AssertionError, RuntimeError) as failure:  # multiprocessing asserts that it may start any
            _end(pool)
            hint = "" if forks else "; a script that calls sweep() does so below 'if __name__ == \"__main__\":'"
            raise UsageError(f"no process can be started ({failure.__cause__ or failure}){hint}") from failure
        return pool

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Wait:
        """Start a batch as soon as a process has time; a row alone has the time of a row."""
        seconds = limits.seconds and limits.seconds + (BATCH_SECONDS if len(batch) * len(cases) > 1 else 0)
        # Packed here, so that a process that dies of what it unpacks holds no lock of the pool.
        work = pickle.dumps((batch, cases)), limits.memory
        with _uninterrupted():
            try:
                future = self._pool.schedule(_size, work, timeout=seconds or None)
            except RuntimeError:  # The pool is broken.
                self.close()
                self._pool = self._started()
                future = self._pool.schedule(_size, work, timeout=seconds or None)
        return partial(_result, self._pool, future)

    def close(self) -> None:
        """End the processes without waiting for what they do."""
        _end(self._pool)


def _end(pool: ProcessPool) -> None:
    with _uninterrupted():
        pool.stop()  # type: ignore[no-untyped-call]
        # pebble closes the pool's channel before it ends the processes: one that is only just starting would look for
        # the channel's locks in vain, and print a traceback. So the processes end first, once no more are started.
        if pool._pool_manager_loop is not None:
            pool._pool_manager_loop.join()
        pool._pool_manager.worker_manager.force_stop_workers()  # type: ignore[no-untyped-call]
        pool.join()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait for the end of this block.

    A KeyboardInterrupt inside of a future or of the pool leaves a lock behind that nobody gives back; the pool's own
    thread would wait for it for ever, and so would who joins that thread.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(*came[0])


def _result(pool: ProcessPool, future: Future[Answer]) -> Answer:
    """Wait for an answer; a pool that broke says nothing to those who wait for a batch that it never sent."""
    while True:
        with _uninterrupted():
            if wait([future], POLL_INTERVAL_S).done:
                return future.result()
            if not pool.active:
                raise BrokenProcessPool


def _size(packed: bytes, memory: int) -> list[Row]:
    with memory_limited(memory):
        return size_batch(*pickle.loads(packed))


def _begin() -> None:
    # A copy that was made while Ctrl-C had to wait would ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()  # What a copy of a large program has is its own memory only as long as nobody writes to it.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process, whatever it does, when the one that started it has ended, however that did."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "somebody started this process"
    parent.join()
    os._exit(1)


class _Spawn(SpawnContext):
    """Starts processes as ``multiprocessing`` does, but for modules of the current folder."""

    class Process(SpawnProcess):
        def start(self) -> None:
            with _safe_path():
                super().start()


_ENVIRONMENT = threading.RLock()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let each Python that is started import nothing from the current folder on its way to what it is to do."""
    with _ENVIRONMENT:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before
