"""Processes of this machine that size batches, each at the other end of two pipes.

    Processes --- a thread a process --- pickled batch --> stdin  [ worker.py ]
                                     <-- pickled rows --- stdout

They are started without the current folder on their path, which ``multiprocessing`` cannot do; and when one dies, the
batch that it had is all that it takes along.
"""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Lock
from typing import Any

from tflm_sim.answers.rows import Case, Row
from tflm_sim.child_python import child_python
from tflm_sim.extensions.sweep.engine import Batch
from tflm_sim.extensions.sweep.limits import Limits


class WorkerDied(Exception):
    """The process ended before it answered."""


class Worker:
    """A process that sizes one batch after the other (mutable).

    Args:
        limits: What it may take.
    """

    def __init__(self, limits: Limits) -> None:
        command = child_python("tflm_sim.extensions.sweep.worker")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._send(limits)

    def size(self, *work: Any) -> list[Row]:
        """Return the rows of a batch; ``work`` is what ``size_batch`` takes.

        Raises:
            WorkerDied: The process ended.
        """
        self._send(work)
        assert self.process.stdout is not None, "it was started with a pipe"
        try:
            rows: list[Row] = pickle.load(self.process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as end:
            raise WorkerDied from end
        return rows

    def _send(self, value: object) -> None:
        assert self.process.stdin is not None, "it was started with a pipe"
        try:
            pickle.dump(value, self.process.stdin)
            self.process.stdin.flush()
        except OSError as end:
            raise WorkerDied from end

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()


class Processes:
    """Processes of this machine (mutable: started when there is work, and restarted when they died)."""

    dead: tuple[type[BaseException], ...] = (WorkerDied,)
    gone: tuple[type[BaseException], ...] = ()

    def __init__(self, workers: int, limits: Limits) -> None:
        self.workers = workers
        self._limits = limits
        self._threads = ThreadPoolExecutor(workers)
        self._idle: SimpleQueue[Worker | None] = SimpleQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._lock = Lock()
        self._alive: set[Worker] = set()
        self._is_closed = False

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Future[list[Row]]:
        """Start a batch as soon as a process has time."""
        return self._threads.submit(self._size, batch, cases, limits)

    def _size(self, *work: Any) -> list[Row]:
        worker = self._idle.get()
        try:
            if worker is None:
                worker = self._start()
            rows = worker.size(*work)
        except BaseException:
            if worker is not None:
                worker.end()
                self._alive.discard(worker)
            self._idle.put(None)
            raise
        self._idle.put(worker)
        return rows

    def _start(self) -> Worker:
        with self._lock:
            if self._is_closed:
                raise WorkerDied
            worker = Worker(self._limits)
            self._alive.add(worker)
            return worker

    def close(self) -> None:
        """End the processes without waiting for what they do, and the threads that did."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            alive = list(self._alive)
        for worker in alive:
            worker.end()
        self._threads.shutdown()
