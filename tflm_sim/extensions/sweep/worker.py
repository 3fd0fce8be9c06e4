"""A process of a sweep, which ``processes`` starts: batches come in on stdin, rows go out on stdout."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any

from tflm_sim.extensions.sweep.engine import size_batch

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Objects between two collections of garbage: each looks at all that there is."""


def main() -> None:
    """Size batch after batch until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent writes what is done, then ends its workers.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # What a library prints is no answer.
        work: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=_read, args=(work,), daemon=True).start()
        work.get().apply()
        while True:
            rows = size_batch(*work.get())
            pickle.dump(rows, answers)
            answers.flush()


def _read(work: SimpleQueue[Any]) -> None:
    """Read on while a batch is sized: stdin ends with the parent, however that ended, and so does this process."""
    try:
        while True:
            work.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(1)
